/** The bytes around content that is carried inside its CMS signature (RFC 5652 §5.2, EN 319 122-1 §6.3). */
import { ID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { fitsUtcTime } from '../asn1/time.ts';
import { header } from '../asn1/write.ts';
import { type AroundContent, aroundContent } from '../cms/amend.ts';
import { buildSignerInfos, signerInfosLength, usualSignatureLength } from '../cms/build.ts';
import { partsOf } from '../cms/signer-parts.ts';
import type { SignatureParameters, Signer } from '../types.ts';

/** Who signs, and how. */
export interface EnvelopeRequest extends SignatureParameters {
  readonly signer: Signer;
  /** As in `CadesForm`. */
  readonly contentIdentifier?: string | undefined;
}

/** File = `head`, content, `tail`. */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/**
 * Everything around content of `contentLength` bytes whose digest is known.
 * @param messageDigest of the content, made with the digest of `algorithmOf(signer, request)`
 */
export function envelope(
  request: EnvelopeRequest,
  contentLength: number,
  messageDigest: Uint8Array,
): Envelope {
  const tail = envelopeTail(request, messageDigest);
  return { head: headOf(request, contentLength, tail.length), tail };
}

/**
 * What comes before the content, when the content is yet to be read: the lengths in it promise a tail of the usual
 * length, which `promisedTail` then keeps.
 */
export function promisingHead(request: EnvelopeRequest, contentLength: number): Buffer {
  const form = fitsUtcTime(request.at) ? 'utc' : 'generalized';
  const signers = signerInfosLength(request, form, usualSignatureLength(request.signer));
  const { certificates } = partsOf(request);
  return headOf(request, contentLength, certificates.length + signers);
}

/** The tail for a `promisingHead`. @throws {CryptoError} `key.unsupported` */
export function promisedTail(request: EnvelopeRequest, messageDigest: Uint8Array): Buffer {
  return envelopeTail(request, messageDigest, usualSignatureLength(request.signer));
}

/**
 * What stands around content of `contentLength` bytes in a signature that is complete but for it.
 * @param der SignedData with its content left out
 * @throws {Asn1Error}
 */
export function envelopeOf(der: Buffer, contentLength: number): Envelope {
  const around = aroundContent(der);
  return { head: headAround(around, contentLength, around.tail.length), tail: around.tail };
}

function envelopeTail(request: EnvelopeRequest, messageDigest: Uint8Array, signatureLength?: number): Buffer {
  const wanted = signatureLength === undefined ? {} : { signatureLength };
  const signers = buildSignerInfos({ ...request, messageDigest, signingTime: request.at, ...wanted });
  return Buffer.concat([partsOf(request).certificates, signers]);
}

function headOf(request: EnvelopeRequest, contentLength: number, tailLength: number): Buffer {
  return headAround({ start: partsOf(request).start, contentType: ID.data }, contentLength, tailLength);
}

function headAround(
  { start, contentType }: Omit<AroundContent, 'tail'>,
  contentLength: number,
  tailLength: number,
): Buffer {
  // From the inside out, since every header holds the length of all that follows it.
  const octets = header(TAG.octetString, contentLength);
  const explicit = header(TAG.context0Constructed, octets.length + contentLength);
  const inner = contentType.length + explicit.length + octets.length + contentLength;
  const encapsulated = header(TAG.sequence, inner);
  const fields = start.length + encapsulated.length + inner + tailLength;
  const signedData = header(TAG.sequence, fields);
  const wrapped = header(TAG.context0Constructed, signedData.length + fields);
  const contentInfo = header(
    TAG.sequence,
    ID.signedData.length + wrapped.length + signedData.length + fields,
  );
  return Buffer.concat([
    contentInfo,
    ID.signedData,
    wrapped,
    signedData,
    start,
    encapsulated,
    contentType,
    explicit,
    octets,
  ]);
}
