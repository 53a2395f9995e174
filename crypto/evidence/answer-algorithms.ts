/** Algorithms that a revocation answer relies on. */
import type { AlgorithmUse } from '../core/validation-report.ts';
import type { Certificate } from '../x509/certificate.ts';
import { keyBits } from '../x509/key-types.ts';
import { signatureMethod } from '../x509/signature-algorithms.ts';
import type { Crl } from './crl.ts';
import type { OcspAnswer } from './ocsp.ts';

const NAMES = { ocsp: 'OCSP answer', crl: 'CRL' } as const;

const cache = new WeakMap<Crl | OcspAnswer, Map<Certificate, readonly AlgorithmUse[]>>();

/** Algorithms that a signed response relies on, computed once for each of its signers. */
export function answerAlgorithms(
  answer: Crl | OcspAnswer,
  signer: Certificate,
  kind: keyof typeof NAMES,
): readonly AlgorithmUse[] {
  const bySigner = cache.get(answer) ?? new Map<Certificate, readonly AlgorithmUse[]>();
  cache.set(answer, bySigner);
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
