/** Makes CMS SignedData in DER with the attributes of a CAdES baseline B signature (RFC 5652, EN 319 122-1 §6.3). */
import { ID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { fitsUtcTime, timeText } from '../asn1/time.ts';
import { encodedLength, octetString, sequence, tlv } from '../asn1/write.ts';
import { algorithmOf } from '../keys/algorithm.ts';
import { CryptoError, type DigestName, type Signer, type SignerIdentity } from '../types.ts';
import { DIGEST_LENGTH, partsOf, type TimeForm } from './signer-parts.ts';

export interface SignedDataRequest {
  readonly signer: Signer;
  readonly digest: DigestName;
  /** Digest of the content, made with `digest`. */
  readonly messageDigest: Uint8Array;
  /** Claimed time for the signing-time attribute, milliseconds since the epoch; left out, there is none (PAdES). */
  readonly signingTime?: number;
  /**
   * Signs again until the signature value takes exactly this many bytes; see `usualSignatureLength`.
   * Only ECDSA values vary.
   */
  readonly signatureLength?: number;
}

/**
 * A detached SignedData in its ContentInfo: signer's certificate and chain, one SignerInfo, DER throughout.
 * @throws {CryptoError} `key.unsupported` when the digest has the wrong length
 */
export function buildSignedData(request: SignedDataRequest): Buffer {
  const parts = partsOf(request.signer, request.digest);
  return sequence(
    ID.signedData,
    tlv(
      TAG.context0Constructed,
      sequence(parts.start, DETACHED_CONTENT, parts.certificates, buildSignerInfos(request)),
    ),
  );
}

/** EncapsulatedContentInfo of data that is elsewhere. */
const DETACHED_CONTENT = sequence(ID.data);

/** `signerInfos SET OF`, with one element. @throws {CryptoError} `key.unsupported` */
export function buildSignerInfos(request: SignedDataRequest): Buffer {
  const parts = partsOf(request.signer, request.digest);
  const template = parts.attributes[timeForm(request.signingTime)];
  const { length } = request.messageDigest;
  if (length !== DIGEST_LENGTH[request.digest]) {
    throw new CryptoError('key.unsupported', `A ${request.digest} digest can't have ${length} bytes.`);
  }
  const attributes = Buffer.from(template.bytes);
  attributes.set(request.messageDigest, template.digestAt);
  if (request.signingTime !== undefined) {
    const text = timeText(request.signingTime);
    attributes.write(fitsUtcTime(request.signingTime) ? text.slice(2) : text, template.timeAt, 'latin1');
  }
  const signature = signAttributes(request, attributes);
  // Signed as a SET OF, carried under [0] IMPLICIT (RFC 5652 §5.4).
  attributes[0] = TAG.context0Constructed;
  return tlv(
    TAG.set,
    sequence(parts.signerStart, attributes, parts.signatureAlgorithm, octetString(signature)),
  );
}

/** How often a value of a wanted length is tried for; each try has a chance above a third. */
const SIGNATURE_TRIES = 200;

function signAttributes(request: SignedDataRequest, attributes: Buffer): Buffer {
  const { key } = request.signer;
  const algorithm = algorithmOf(request.signer, request);
  if (request.signatureLength === undefined) return key.sign(attributes, algorithm);
  for (let tries = 0; tries < SIGNATURE_TRIES; tries++) {
    const signature = key.sign(attributes, algorithm);
    if (signature.length === request.signatureLength) return signature;
  }
  throw new CryptoError('key.unsupported', 'The key makes no signature of the usual length.');
}

function timeForm(at: number | undefined): TimeForm {
  if (at === undefined) return 'none';
  return fitsUtcTime(at) ? 'utc' : 'generalized';
}

/**
 * Most bytes `buildSignedData` can give for this signer: exact for RSA, at most a few bytes more for ECDSA, whose
 * values vary in length.
 * @param options.signingTime whether the signing-time attribute is asked for. Defaults to false.
 */
export function maxSignedDataLength(
  signer: Signer,
  digest: DigestName,
  options: { readonly signingTime?: boolean } = {},
): number {
  const form: TimeForm = options.signingTime === true ? 'generalized' : 'none';
  const { start, certificates } = partsOf(signer, digest);
  const signers = signerInfosLength(signer, digest, form, maxSignatureLength(signer));
  const signedData = encodedLength(start.length + DETACHED_CONTENT.length + certificates.length + signers);
  return encodedLength(ID.signedData.length + encodedLength(signedData));
}

/** Bytes of `signerInfos` whose signature value has `signatureLength` bytes. */
export function signerInfosLength(
  signer: Signer,
  digest: DigestName,
  form: TimeForm,
  signatureLength: number,
): number {
  const parts = partsOf(signer, digest);
  const signerInfo =
    parts.signerStart.length +
    parts.attributes[form].bytes.length +
    parts.signatureAlgorithm.length +
    encodedLength(signatureLength);
  return encodedLength(encodedLength(signerInfo));
}

/** Most bytes of one signature value. */
export function maxSignatureLength(signer: SignerIdentity): number {
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
