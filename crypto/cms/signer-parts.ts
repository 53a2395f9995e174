/**
 * The parts of a SignedData that depend only on the signer and on how it signs, encoded once (RFC 5652 §5).
 * What is left per signature is a digest, a time and the private-key operation.
 */
import { OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { oid, sequence, setOf, small } from '../asn1/write.ts';
import { readCertificate } from '../certificates/certificate.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { kindOf } from '../keys/local-key.ts';
import {
  CryptoError,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignaturePolicy,
  type SignerIdentity,
} from '../types.ts';
import { DIGEST_LENGTH, digestIdentifier, signatureIdentifier } from './algorithm-identifier.ts';
import { type AttributesTemplate, attributesTemplate, type TimeForm } from './attributes-template.ts';

/** Who signs, and how: all that the parts depend on. */
export interface SignerForm
  extends Pick<SignatureParameters, 'digest' | 'padding' | 'includeChain' | 'policy'> {
  readonly signer: SignerIdentity;
  /**
   * Dotted type of the signed content; `none` in a counter-signature, which has no such attribute (RFC 5652 §11.4).
   * @default id-data
   */
  readonly contentType?: string;
  /** Of this one signature (RFC 5035 §2.10). @default none */
  readonly contentIdentifier?: string | undefined;
}

export interface SignerParts {
  readonly algorithm: SignatureAlgorithm;
  /** CMSVersion and digestAlgorithms of SignedData. */
  readonly start: Buffer;
  /** `certificates [0]`: signer and, unless it is to be left out, chain. */
  readonly certificates: Buffer;
  /** SignerInfo up to the signed attributes: version, issuer and serial, digest algorithm. */
  readonly signerStart: Buffer;
  /** EncapsulatedContentInfo of content that is elsewhere. */
  readonly detachedContent: Buffer;
  readonly signatureAlgorithm: Buffer;
  readonly attributes: { readonly [form in TimeForm]: AttributesTemplate };
}

const EMPTY = Buffer.alloc(0);

/** Forms remembered for one signer; policies are configuration and few, but they may come from outside too. */
const KEPT = 32;

interface Known {
  readonly byForm: Map<string, SignerParts>;
  /** The form asked for last and its parts: one signature asks several times, and the next one mostly for the same. */
  last: { readonly form: SignerForm; readonly parts: SignerParts } | undefined;
}

const known = new WeakMap<SignerIdentity, Known>();

/**
 * @throws {CryptoError} `key.unsupported` for a key or digest that is too weak or unknown, or a key that is not the
 *   certificate's; `request.invalid` for a policy or content type that can't be written; `certificate.malformed`
 */
export function partsOf(form: SignerForm): SignerParts {
  let kept = known.get(form.signer);
  if (kept === undefined) {
    kept = { byForm: new Map(), last: undefined };
    known.set(form.signer, kept);
  }
  if (kept.last !== undefined && sameForm(kept.last.form, form)) return kept.last.parts;
  const key = keyOf(form);
  let parts = kept.byForm.get(key);
  if (parts === undefined) {
    parts = makeParts(form);
    // What names one signature is asked for again only while that one is made.
    if (form.contentIdentifier === undefined) {
      if (kept.byForm.size >= KEPT) kept.byForm.clear();
      kept.byForm.set(key, parts);
    }
  }
  const { signer, digest, padding, includeChain, policy, contentType, contentIdentifier } = form;
  // Optional fields stand here as undefined, which is what they are compared as.
  kept.last = {
    form: { signer, digest, padding, includeChain, policy, contentType, contentIdentifier } as SignerForm,
    parts,
  };
  return parts;
}

function sameForm(one: SignerForm, other: SignerForm): boolean {
  return (
    one.digest === other.digest &&
    one.padding === other.padding &&
    one.includeChain === other.includeChain &&
    one.policy === other.policy &&
    one.contentType === other.contentType &&
    one.contentIdentifier === other.contentIdentifier
  );
}

function keyOf({
  digest,
  padding,
  includeChain,
  policy,
  contentType,
  contentIdentifier,
}: SignerForm): string {
  const named = policy === undefined ? '' : policyKey(policy);
  return `${digest} ${padding} ${includeChain ?? true} ${contentType} ${contentIdentifier} ${named}`;
}

function policyKey({ oid, digest, hash, uri = '' }: SignaturePolicy): string {
  return `${oid} ${digest} ${hash.toString('hex')} ${uri}`;
}

function makeParts(form: SignerForm): SignerParts {
  const { signer, policy, includeChain = true, contentType = OID.data, contentIdentifier } = form;
  const certificate = readCertificate(signer.certificate);
  const algorithm = algorithmOf(signer, form);
  assertStrong(form, algorithm);
  const digestAlgorithm = digestIdentifier(algorithm.digest);
  const template = (time: TimeForm) =>
    attributesTemplate(
      { certificate, digest: algorithm.digest, policy, contentType, contentIdentifier },
      time,
    );
  const attributes = { none: template('none'), utc: template('utc'), generalized: template('generalized') };
  return {
    algorithm,
    // Other content than data asks for version 3 (RFC 5652 §5.1).
    start: Buffer.concat([small(contentType === OID.data ? 1 : 3), setOf([digestAlgorithm])]),
    certificates: setOf(
      includeChain ? [signer.certificate, ...signer.chain] : [signer.certificate],
      TAG.context0Constructed,
    ),
    detachedContent: contentType === 'none' ? EMPTY : sequence(oid(contentType)),
    signerStart: Buffer.concat([small(1), sequence(certificate.issuer, certificate.serial), digestAlgorithm]),
    signatureAlgorithm: signatureIdentifier(algorithm),
    attributes,
  };
}

/** Types keep weak choices out of our own code; identities and parameters may also come from stored or typed text. */
function assertStrong({ signer, padding = 'pkcs1' }: SignerForm, { digest }: SignatureAlgorithm): void {
  if (!Object.hasOwn(DIGEST_LENGTH, digest)) {
    throw new CryptoError('key.unsupported', `Signatures with the digest ${digest} are not made.`);
  }
  if (padding !== 'pkcs1' && padding !== 'pss') {
    throw new CryptoError('key.unsupported', `Signatures with the padding ${padding} are not made.`);
  }
  const { type, bits } = kindOf(readCertificate(signer.certificate).publicKey);
  if (type !== signer.keyType || bits !== signer.keyBits) {
    throw new CryptoError(
      'key.unsupported',
      `The certificate holds a key of type ${type} with ${bits} bits, not ${signer.keyType} with ${signer.keyBits}.`,
    );
  }
}
