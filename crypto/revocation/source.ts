import type { Certificate } from '../certificates/certificate.ts';
import { keyBits, signatureMethod } from '../cms/signature-value.ts';
import type { AlgorithmUse } from '../validation/facts.ts';
import type { Crl } from './crl.ts';
import type { OcspAnswer } from './ocsp.ts';

/** The answer a status rests on. */
export interface RevocationSource {
  readonly kind: 'ocsp' | 'crl';
  /** DER of the BasicOCSPResponse or CertificateList. */
  readonly der: Buffer;
  /** Milliseconds since the epoch. */
  readonly thisUpdate: number;
  readonly nextUpdate: number | undefined;
  /** Who signed it: the issuer, or a delegated OCSP responder. */
  readonly signer: Certificate;
  readonly algorithms: readonly AlgorithmUse[];
}

const NAMES = { ocsp: 'OCSP answer', crl: 'CRL' } as const;

const known = new WeakMap<Crl | OcspAnswer, Map<Certificate, readonly AlgorithmUse[]>>();

/** What a signed answer rests on, worked out once for each of its signers. */
export function answerAlgorithms(
  answer: Crl | OcspAnswer,
  signer: Certificate,
  kind: RevocationSource['kind'],
): readonly AlgorithmUse[] {
  const bySigner = known.get(answer) ?? new Map<Certificate, readonly AlgorithmUse[]>();
  known.set(answer, bySigner);
  let algorithms = bySigner.get(signer);
  if (algorithms === undefined) {
    algorithms = algorithmsOf(answer, signer, NAMES[kind]);
    bySigner.set(signer, algorithms);
  }
  return algorithms;
}

function algorithmsOf({ signature }: Crl | OcspAnswer, signer: Certificate, what: string): AlgorithmUse[] {
  const scheme = signatureMethod(signature.algorithm.id)?.scheme ?? signature.algorithm.id;
  const bits = keyBits(signer.publicKey);
  const uses = [{ name: scheme, ...(bits === undefined ? {} : { bits }), where: `signature of the ${what}` }];
  if (signature.hash === undefined || scheme === 'ed25519') return uses;
  return [...uses, { name: signature.hash, where: `digest of the ${what}` }];
}
