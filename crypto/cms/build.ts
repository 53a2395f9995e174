/**
 * Builds CMS SignedData in DER with the attributes of a CAdES baseline B signature (RFC 5652, EN 319 122-1 §6.3):
 * first the bytes to be signed, then the SignedData from a signature value. With a local key, one call does both.
 */

import { LRUCache } from 'lru-cache';
import { ID, OID } from '../asn1/oids.ts';
import { TAG } from '../asn1/read.ts';
import { fitsUtcTime, timeText } from '../asn1/time.ts';
import { encodedLength, octetString, oid, sequence, setOf, small, tlv } from '../asn1/write.ts';
import {
  CryptoError,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignaturePolicy,
  type Signer,
  type SignerIdentity,
} from '../core/types.ts';
import { readCertificate } from '../x509/certificate.ts';
import { kindOf } from '../x509/key-types.ts';
import {
  algorithmOf,
  DIGEST_LENGTH,
  digestIdentifier,
  signatureIdentifier,
} from '../x509/signature-algorithms.ts';
import { type AttributesTemplate, attributesTemplate, type TimeFormat } from './attributes-template.ts';

/** Signer and parameters that the template depends on. */
interface SignerFormat
  extends Pick<SignatureParameters, 'digest' | 'padding' | 'includeChain' | 'policy' | 'claimedRole'> {
  readonly signer: SignerIdentity;
  /**
   * Dotted type of the signed content; `none` in a counter-signature, which has no such attribute (RFC 5652 §11.4).
   * @default id-data
   */
  readonly contentType?: string;
  /** Of this one signature (RFC 5035 §2.10). @default none */
  readonly contentIdentifier?: string | undefined;
}

/**
 * Fields of a SignedData that depend only on signer and parameters, encoded once (RFC 5652 §5).
 * Each signature then adds a digest, a time and the private-key operation.
 */
interface SignerInfoTemplate {
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
  // They belong to one signature, so that only the last template with one is kept.
  const isOfOne = form.contentIdentifier !== undefined || form.claimedRole !== undefined;
  const key = keyOf(form);
  let parts = isOfOne ? undefined : cached.byForm.get(key);
  if (parts === undefined) {
    parts = createTemplate(form);
    if (!isOfOne) cached.byForm.set(key, parts);
  }
  const { signer, digest, padding, includeChain, policy, contentType, contentIdentifier, claimedRole } = form;
  // Absent optional members are undefined here and compare equal.
  cached.last = {
    form: {
      signer,
      digest,
      padding,
      includeChain,
      policy,
      contentType,
      contentIdentifier,
      claimedRole,
    } as SignerFormat,
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
    one.contentIdentifier === other.contentIdentifier &&
    one.claimedRole === other.claimedRole
  );
}

function keyOf({ digest, padding, includeChain, policy, contentType }: SignerFormat): string {
  const named = policy === undefined ? '' : policyKey(policy);
  return `${digest} ${padding} ${includeChain ?? true} ${contentType} ${named}`;
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
  const {
    signer,
    policy,
    includeChain = true,
    contentType = OID.data,
    contentIdentifier,
    claimedRole,
  } = form;
  const certificate = readCertificate(signer.certificate);
  const algorithm = algorithmOf(signer, form);
  assertStrong(form, algorithm);
  const digestAlgorithm = digestIdentifier(algorithm.digest);
  const template = (time: TimeFormat) =>
    attributesTemplate(
      { certificate, digest: algorithm.digest, policy, contentType, contentIdentifier, claimedRole },
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

export interface SignedDataRequest extends SignerFormat {
  /** Digest of the content, made with the digest of `algorithmOf(signer, request)`. */
  readonly messageDigest: Uint8Array;
  /** Claimed time for the signing-time attribute, milliseconds since the epoch; left out, there is none (PAdES). */
  readonly signingTime?: number;
}

/** `SignedDataRequest` with a local key. */
export interface BuildRequest extends SignedDataRequest {
  readonly signer: Signer;
  /**
   * Signs again until the signature value takes exactly this many bytes; see `usualSignatureLength`.
   * Only ECDSA values vary.
   */
  readonly signatureLength?: number;
}

export interface PreparedSignedData {
  /** DER of the signed attributes as a SET OF: what the key signs, hashing it (RFC 5652 §5.4). */
  readonly toBeSigned: Buffer;
  readonly algorithm: SignatureAlgorithm;
}

/**
 * Builds the bytes that the key has to sign.
 * @throws {CryptoError} `key.unsupported` also when the digest has the wrong length; as `signerInfoTemplate`
 */
export function prepareSignedData(request: SignedDataRequest): PreparedSignedData {
  const { algorithm, attributes } = signerInfoTemplate(request);
  const template = attributes[timeForm(request.signingTime)];
  const { length } = request.messageDigest;
  if (length !== DIGEST_LENGTH[algorithm.digest]) {
    throw new CryptoError('key.unsupported', `A ${algorithm.digest} digest can't have ${length} bytes.`);
  }
  const toBeSigned = Buffer.from(template.bytes);
  toBeSigned.set(request.messageDigest, template.digestAt);
  if (request.signingTime !== undefined) {
    const text = timeText(request.signingTime);
    toBeSigned.write(fitsUtcTime(request.signingTime) ? text.slice(2) : text, template.timeAt, 'latin1');
  }
  return { toBeSigned, algorithm };
}

/**
 * Builds a detached SignedData in its ContentInfo: signer's certificate and chain, one SignerInfo, all in DER.
 * @param toBeSigned result of `prepareSignedData` for the same request
 * @param value signature over `toBeSigned`; ECDSA in DER
 * @param unsigned DER of each unsigned Attribute
 */
export function completeSignedData(
  request: SignerFormat,
  toBeSigned: Buffer,
  value: Uint8Array,
  unsigned: readonly Buffer[] = [],
): Buffer {
  const parts = signerInfoTemplate(request);
  return contentInfo(parts, tlv(TAG.set, signerInfoOf(parts, toBeSigned, value, unsigned)));
}

/** Builds one SignerInfo in DER; for the parameters see `completeSignedData`. */
export function completeSignerInfo(
  request: SignerFormat,
  toBeSigned: Buffer,
  value: Uint8Array,
  unsigned: readonly Buffer[] = [],
): Buffer {
  return signerInfoOf(signerInfoTemplate(request), toBeSigned, value, unsigned);
}

/** Prepares, signs and completes. @throws {CryptoError} as `prepareSignedData` and the key */
export function buildSignedData(request: BuildRequest): Buffer {
  return contentInfo(signerInfoTemplate(request), buildSignerInfos(request));
}

/** Builds `signerInfos SET OF` with one element. @throws {CryptoError} as `buildSignedData` */
export function buildSignerInfos(request: BuildRequest): Buffer {
  const prepared = prepareSignedData(request);
  const value = signatureValue(request, prepared);
  return tlv(TAG.set, signerInfoOf(signerInfoTemplate(request), prepared.toBeSigned, value, []));
}

const CONTEXT_0 = Buffer.from([TAG.context0Constructed]);

/**
 * Encodes a SignerInfo (RFC 5652 §5.3).
 *
 *     SignerInfo ::= SEQUENCE {
 *       version CMSVersion, sid SignerIdentifier, digestAlgorithm AlgorithmIdentifier,   -- signerStart
 *       signedAttrs [0] IMPLICIT SET OF Attribute, signatureAlgorithm AlgorithmIdentifier,
 *       signature OCTET STRING, unsignedAttrs [1] IMPLICIT SET OF Attribute OPTIONAL }
 */
function signerInfoOf(
  parts: SignerInfoTemplate,
  toBeSigned: Buffer,
  value: Uint8Array,
  unsigned: readonly Buffer[],
): Buffer {
  return sequence(
    parts.signerStart,
    // The signature covers a SET OF; the SignerInfo carries it under [0] IMPLICIT (RFC 5652 §5.4).
    CONTEXT_0,
    toBeSigned.subarray(1),
    parts.signatureAlgorithm,
    octetString(value),
    ...(unsigned.length === 0 ? [] : [setOf(unsigned, TAG.context1Constructed)]),
  );
}

/**
 * Encodes a ContentInfo with SignedData (RFC 5652 §3, §5.1).
 *
 *     ContentInfo ::= SEQUENCE { contentType OBJECT IDENTIFIER, content [0] EXPLICIT SignedData }
 *     SignedData ::= SEQUENCE {
 *       version CMSVersion, digestAlgorithms SET OF AlgorithmIdentifier,                 -- start
 *       encapContentInfo EncapsulatedContentInfo, certificates [0] IMPLICIT CertificateSet,
 *       signerInfos SET OF SignerInfo }
 */
function contentInfo(parts: SignerInfoTemplate, signerInfos: Buffer): Buffer {
  return sequence(
    ID.signedData,
    tlv(
      TAG.context0Constructed,
      sequence(parts.start, parts.detachedContent, parts.certificates, signerInfos),
    ),
  );
}

/** Attempts to get a signature value of a wanted length; each succeeds with a probability above one third. */
const SIGNATURE_TRIES = 200;

function signatureValue({ signer, signatureLength }: BuildRequest, prepared: PreparedSignedData): Buffer {
  const { toBeSigned, algorithm } = prepared;
  if (signatureLength === undefined) return signer.key.sign(toBeSigned, algorithm);
  for (let tries = 0; tries < SIGNATURE_TRIES; tries++) {
    const value = signer.key.sign(toBeSigned, algorithm);
    if (value.length === signatureLength) return value;
  }
  throw new CryptoError('key.unsupported', 'The key makes no signature of the usual length.');
}

function timeForm(at: number | undefined): TimeFormat {
  if (at === undefined) return 'none';
  return fitsUtcTime(at) ? 'utc' : 'generalized';
}

/**
 * Returns the most bytes of a SignedData that `completeSignedData` builds: exact for RSA and Ed25519, at most a few
 * bytes more for ECDSA, whose values vary in length.
 * @param options.signingTime true when the signing-time attribute is included. Defaults to false.
 * @param options.unsignedLength bytes of all unsigned attributes together. Defaults to 0: none.
 * @throws {CryptoError} as `signerInfoTemplate`
 */
export function maxSignedDataLength(
  signer: SignerIdentity,
  parameters: Omit<SignerFormat, 'signer'>,
  options: { readonly signingTime?: boolean; readonly unsignedLength?: number } = {},
): number {
  const time: TimeFormat = options.signingTime === true ? 'generalized' : 'none';
  const form = { signer, ...parameters };
  const { start, detachedContent, certificates } = signerInfoTemplate(form);
  const signers = signerInfosLength(form, time, maxSignatureLength(signer), options.unsignedLength);
  const signedData = encodedLength(start.length + detachedContent.length + certificates.length + signers);
  return encodedLength(ID.signedData.length + encodedLength(signedData));
}

/** Returns the bytes of `signerInfos` whose signature value has `signatureLength` bytes. */
export function signerInfosLength(
  form: SignerFormat,
  time: TimeFormat,
  signatureLength: number,
  unsignedLength = 0,
): number {
  const parts = signerInfoTemplate(form);
  const signerInfo =
    parts.signerStart.length +
    parts.attributes[time].bytes.length +
    parts.signatureAlgorithm.length +
    encodedLength(signatureLength) +
    (unsignedLength === 0 ? 0 : encodedLength(unsignedLength));
  return encodedLength(encodedLength(signerInfo));
}

/** Returns the most bytes of one signature value. */
function maxSignatureLength(signer: SignerIdentity): number {
  if (signer.keyType !== 'ec') return fixedLength(signer);
  const bits = signer.keyBits;
  // SEQUENCE of two INTEGERs, each one octet longer when its top bit is set (X9.62 §E.8).
  const integer = encodedLength(Math.floor(bits / 8) + 1);
  return encodedLength(2 * integer);
}

/**
 * Returns the most frequent length of one signature value: the only one for RSA, that of about half of all for ECDSA.
 */
export function usualSignatureLength(signer: SignerIdentity): number {
  if (signer.keyType !== 'ec') return fixedLength(signer);
  // With whole octets one of the two integers has its top bit set; with 521 bits both mostly fit 66 octets.
  return signer.keyBits % 8 === 0 ? maxSignatureLength(signer) - 1 : maxSignatureLength(signer);
}

function fixedLength({ keyType, keyBits }: SignerIdentity): number {
  return keyType === 'ed25519' ? 64 : Math.ceil(keyBits / 8);
}
