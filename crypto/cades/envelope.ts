/** The bytes around content that is carried inside its CMS signature (RFC 5652 §5.2, EN 319 122-1 §6.3). */
import { ID } from '../asn1/oids.ts';
import { TAG } from '../asn1/tags.ts';
import { fitsUtcTime } from '../asn1/time.ts';
import { header } from '../asn1/write.ts';
import { buildSignerInfos, signerInfosLength, usualSignatureLength } from '../cms/build.ts';
import { partsOf } from '../cms/signer-parts.ts';
import type { DigestName, Signer } from '../types.ts';

export interface EnvelopeRequest {
  readonly signer: Signer;
  readonly digest: DigestName;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly at: number;
}

/** File = `head`, content, `tail`. */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/**
 * Everything around content of `contentLength` bytes whose digest is known.
 * @param messageDigest of the content, made with `request.digest`
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
  const { signer, digest, at } = request;
  const form = fitsUtcTime(at) ? 'utc' : 'generalized';
  const signers = signerInfosLength({ signer, digest }, form, usualSignatureLength(signer));
  const { certificates } = partsOf({ signer, digest });
  return headOf(request, contentLength, certificates.length + signers);
}

/** The tail for a `promisingHead`. @throws {CryptoError} `key.unsupported` */
export function promisedTail(request: EnvelopeRequest, messageDigest: Uint8Array): Buffer {
  return envelopeTail(request, messageDigest, usualSignatureLength(request.signer));
}

function envelopeTail(
  { signer, digest, at }: EnvelopeRequest,
  messageDigest: Uint8Array,
  signatureLength?: number,
): Buffer {
  const wanted = signatureLength === undefined ? {} : { signatureLength };
  const signers = buildSignerInfos({ signer, digest, messageDigest, signingTime: at, ...wanted });
  return Buffer.concat([partsOf({ signer, digest }).certificates, signers]);
}

function headOf({ signer, digest }: EnvelopeRequest, contentLength: number, tailLength: number): Buffer {
  // From the inside out, since every header holds the length of all that follows it.
  const { start } = partsOf({ signer, digest });
  const octets = header(TAG.octetString, contentLength);
  const explicit = header(TAG.context0Constructed, octets.length + contentLength);
  const inner = ID.data.length + explicit.length + octets.length + contentLength;
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
    ID.data,
    explicit,
    octets,
  ]);
}
