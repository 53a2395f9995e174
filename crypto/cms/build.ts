/**
 * Makes CMS SignedData in DER with the attributes of a CAdES baseline B signature (RFC 5652, EN 319 122-1 §6.3):
 * what is to be signed, and from it and a signature value the whole. With a key at hand both happen in one call.
 */
import { ID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { fitsUtcTime, timeText } from '../asn1/time.ts';
import { encodedLength, octetString, sequence, setOf, tlv } from '../asn1/write.ts';
import { CryptoError, type SignatureAlgorithm, type Signer, type SignerIdentity } from '../types.ts';
import { DIGEST_LENGTH } from './algorithm-identifier.ts';
import type { TimeForm } from './attributes-template.ts';
import { partsOf, type SignerForm, type SignerParts } from './signer-parts.ts';

export interface SignedDataRequest extends SignerForm {
  /** Digest of the content, made with the digest of `algorithmOf(signer, request)`. */
  readonly messageDigest: Uint8Array;
  /** Claimed time for the signing-time attribute, milliseconds since the epoch; left out, there is none (PAdES). */
  readonly signingTime?: number;
}

/** As `SignedDataRequest`, with the key at hand. */
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
 * What the key has to sign.
 * @throws {CryptoError} `key.unsupported` also when the digest has the wrong length; as `partsOf`
 */
export function prepareSignedData(request: SignedDataRequest): PreparedSignedData {
  const { algorithm, attributes } = partsOf(request);
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
 * A detached SignedData in its ContentInfo: signer's certificate and chain, one SignerInfo, DER throughout.
 * @param toBeSigned as `prepareSignedData` gave it for the same request
 * @param value over `toBeSigned`; ECDSA in DER
 * @param unsigned DER of each unsigned Attribute
 */
export function completeSignedData(
  request: SignerForm,
  toBeSigned: Buffer,
  value: Uint8Array,
  unsigned: readonly Buffer[] = [],
): Buffer {
  const parts = partsOf(request);
  return contentInfo(parts, tlv(TAG.set, signerInfoOf(parts, toBeSigned, value, unsigned)));
}

/** One SignerInfo in DER; for the parameters see `completeSignedData`. */
export function completeSignerInfo(
  request: SignerForm,
  toBeSigned: Buffer,
  value: Uint8Array,
  unsigned: readonly Buffer[] = [],
): Buffer {
  return signerInfoOf(partsOf(request), toBeSigned, value, unsigned);
}

/** Prepares, signs and completes. @throws {CryptoError} as `prepareSignedData` and the key */
export function buildSignedData(request: BuildRequest): Buffer {
  return contentInfo(partsOf(request), buildSignerInfos(request));
}

/** `signerInfos SET OF`, with one element. @throws {CryptoError} as `buildSignedData` */
export function buildSignerInfos(request: BuildRequest): Buffer {
  const prepared = prepareSignedData(request);
  const value = signatureValue(request, prepared);
  return tlv(TAG.set, signerInfoOf(partsOf(request), prepared.toBeSigned, value, []));
}

const CONTEXT_0 = Buffer.from([TAG.context0Constructed]);

function signerInfoOf(
  parts: SignerParts,
  toBeSigned: Buffer,
  value: Uint8Array,
  unsigned: readonly Buffer[],
): Buffer {
  return sequence(
    parts.signerStart,
    // Signed as a SET OF, carried under [0] IMPLICIT (RFC 5652 §5.4).
    CONTEXT_0,
    toBeSigned.subarray(1),
    parts.signatureAlgorithm,
    octetString(value),
    ...(unsigned.length === 0 ? [] : [setOf(unsigned, TAG.context1Constructed)]),
  );
}

function contentInfo(parts: SignerParts, signerInfos: Buffer): Buffer {
  return sequence(
    ID.signedData,
    tlv(
      TAG.context0Constructed,
      sequence(parts.start, parts.detachedContent, parts.certificates, signerInfos),
    ),
  );
}

/** How often a value of a wanted length is tried for; each try has a chance above a third. */
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

function timeForm(at: number | undefined): TimeForm {
  if (at === undefined) return 'none';
  return fitsUtcTime(at) ? 'utc' : 'generalized';
}

/**
 * Most bytes a SignedData can take that `completeSignedData` makes: exact for RSA and Ed25519, at most a few bytes more
 * for ECDSA, whose values vary in length.
 * @param options.signingTime whether the signing-time attribute is asked for. Defaults to false.
 * @param options.unsignedLength bytes of all unsigned attributes together. Defaults to 0: none.
 * @throws {CryptoError} as `partsOf`
 */
export function maxSignedDataLength(
  signer: SignerIdentity,
  parameters: Omit<SignerForm, 'signer'>,
  options: { readonly signingTime?: boolean; readonly unsignedLength?: number } = {},
): number {
  const time: TimeForm = options.signingTime === true ? 'generalized' : 'none';
  const form = { ...parameters, signer };
  const { start, detachedContent, certificates } = partsOf(form);
  const signers = signerInfosLength(form, time, maxSignatureLength(signer), options.unsignedLength);
  const signedData = encodedLength(start.length + detachedContent.length + certificates.length + signers);
  return encodedLength(ID.signedData.length + encodedLength(signedData));
}

/** Bytes of `signerInfos` whose signature value has `signatureLength` bytes. */
export function signerInfosLength(
  form: SignerForm,
  time: TimeForm,
  signatureLength: number,
  unsignedLength = 0,
): number {
  const parts = partsOf(form);
  const signerInfo =
    parts.signerStart.length +
    parts.attributes[time].bytes.length +
    parts.signatureAlgorithm.length +
    encodedLength(signatureLength) +
    (unsignedLength === 0 ? 0 : encodedLength(unsignedLength));
  return encodedLength(encodedLength(signerInfo));
}

/** Most bytes of one signature value. */
function maxSignatureLength(signer: SignerIdentity): number {
  if (signer.keyType !== 'ec') return fixedLength(signer);
  const bits = signer.keyBits;
  // SEQUENCE of two INTEGERs; one more octet each where the top bit can be set (X9.62 §E.8).
  const integer = encodedLength(Math.floor(bits / 8) + 1);
  return encodedLength(2 * integer);
}

/** The most frequent length of one signature value: the only one for RSA, that of about half of all for ECDSA. */
export function usualSignatureLength(signer: SignerIdentity): number {
  if (signer.keyType !== 'ec') return fixedLength(signer);
  // With whole octets one of the two integers has its top bit set; with 521 bits both fit 66 octets mostly.
  return signer.keyBits % 8 === 0 ? maxSignatureLength(signer) - 1 : maxSignatureLength(signer);
}

function fixedLength({ keyType, keyBits }: SignerIdentity): number {
  return keyType === 'ed25519' ? 64 : Math.ceil(keyBits / 8);
}
