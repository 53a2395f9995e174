/**
 * Fields of a SignedData that depend only on signer and parameters, encoded once (RFC 5652 §5).
 * Each signature then adds a digest, a time and the private-key operation.
 */

import { LRUCache } from 'lru-cache';
import { OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/read.ts';
import { oid, sequence, setOf, small } from '../asn1/write.ts';
import {
  CryptoError,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignaturePolicy,
  type SignerIdentity,
} from '../core/types.ts';
import {
  algorithmOf,
  DIGEST_LENGTH,
  digestIdentifier,
  kindOf,
  signatureIdentifier,
} from '../x509/algorithm-identifier.ts';
import { readCertificate } from '../x509/certificate.ts';
import { type AttributesTemplate, attributesTemplate, type TimeFormat } from './attributes-template.ts';

/** Signer and parameters that the template depends on. */
export interface SignerFormat
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

export interface SignerInfoTemplate {
  readonly algorithm: SignatureAlgorithm;
  /** CMSVersion and digestAlgorithms of SignedData. */
  readonly start: Buffer;
  /** `certificates [0]`: the signer's certificate and, unless excluded, the chain. */
  readonly certificates: Buffer;
  /** SignerInfo up to the signed attributes: version, issuer and serial, digest algorithm. */
  readonly signerStart: Buffer;
  /** EncapsulatedContentInfo without content. */
  readonly detachedContent: Buffer;
  readonly signatureAlgorithm: Buffer;
  readonly attributes: { readonly [form in TimeFormat]: AttributesTemplate };
}

const EMPTY = Buffer.alloc(0);

/** Most templates kept for one signer; policies are few in configuration, but requests may name others. */
const CACHE_SIZE = 32;

interface TemplateCache {
  readonly byForm: LRUCache<string, SignerInfoTemplate>;
  /** Format requested last and its template: one signature requests it several times, the next mostly the same. */
  last: { readonly form: SignerFormat; readonly parts: SignerInfoTemplate } | undefined;
}

const cache = new WeakMap<SignerIdentity, TemplateCache>();

/**
 * Returns the template for a signer and its parameters.
 * @throws {CryptoError} `key.unsupported` for a key or digest that is too weak or unknown, or a key that is not the
 *   certificate's; `request.invalid` for a policy or content type that can't be written; `certificate.malformed`
 */
export function signerInfoTemplate(form: SignerFormat): SignerInfoTemplate {
  let cached = cache.get(form.signer);
  if (cached === undefined) {
    cached = { byForm: new LRUCache({ max: CACHE_SIZE }), last: undefined };
    cache.set(form.signer, cached);
  }
  if (cached.last !== undefined && isSameFormat(cached.last.form, form)) return cached.last.parts;
  const key = keyOf(form);
  let parts = cached.byForm.get(key);
  if (parts === undefined) {
    parts = createTemplate(form);
    // A content identifier belongs to one signature, so only the last template is kept for it.
    if (form.contentIdentifier === undefined) {
      cached.byForm.set(key, parts);
    }
  }
  const { signer, digest, padding, includeChain, policy, contentType, contentIdentifier } = form;
  // Absent optional members are undefined here and compare equal.
  cached.last = {
    form: { signer, digest, padding, includeChain, policy, contentType, contentIdentifier } as SignerFormat,
    parts,
  };
  return parts;
}

function isSameFormat(one: SignerFormat, other: SignerFormat): boolean {
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
}: SignerFormat): string {
  const named = policy === undefined ? '' : policyKey(policy);
  return `${digest} ${padding} ${includeChain ?? true} ${contentType} ${contentIdentifier} ${named}`;
}

function policyKey({ oid, digest, hash, uri = '' }: SignaturePolicy): string {
  return `${oid} ${digest} ${hash.toString('hex')} ${uri}`;
}

/**
 * Encodes the fields that every signature of the signer shares (RFC 5652 §5.1, §5.3).
 *
 *     SignedData ::= SEQUENCE { version CMSVersion, digestAlgorithms SET OF AlgorithmIdentifier, …,
 *       certificates [0] IMPLICIT CertificateSet, … }
 *     EncapsulatedContentInfo ::= SEQUENCE { eContentType OBJECT IDENTIFIER }      -- detached: without eContent
 *     SignerInfo ::= SEQUENCE { version CMSVersion, sid IssuerAndSerialNumber, digestAlgorithm AlgorithmIdentifier, … }
 *     IssuerAndSerialNumber ::= SEQUENCE { issuer Name, serialNumber CertificateSerialNumber }
 */
function createTemplate(form: SignerFormat): SignerInfoTemplate {
  const { signer, policy, includeChain = true, contentType = OID.data, contentIdentifier } = form;
  const certificate = readCertificate(signer.certificate);
  const algorithm = algorithmOf(signer, form);
  assertStrong(form, algorithm);
  const digestAlgorithm = digestIdentifier(algorithm.digest);
  const template = (time: TimeFormat) =>
    attributesTemplate(
      { certificate, digest: algorithm.digest, policy, contentType, contentIdentifier },
      time,
    );
  const attributes = { none: template('none'), utc: template('utc'), generalized: template('generalized') };
  return {
    algorithm,
    // Other content than data requires version 3 (RFC 5652 §5.1).
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

/**
 * Rejects weak keys and digests that types can't exclude: identities and parameters may come from stored or typed
 * text.
 */
function assertStrong({ signer, padding = 'pkcs1' }: SignerFormat, { digest }: SignatureAlgorithm): void {
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
