/** Encodes the bytes around content inside its CMS signature (RFC 5652 §5.2, EN 319 122-1 §6.3). */
import { ID } from '../asn1/oids.ts';
import { TAG } from '../asn1/read.ts';
import { fitsUtcTime } from '../asn1/time.ts';
import { header } from '../asn1/write.ts';
import { type AroundContent, aroundContent } from '../cms/amend.ts';
import {
  buildSignerInfos,
  signerInfosLength,
  signerInfoTemplate,
  usualSignatureLength,
} from '../cms/build.ts';
import type { Source } from '../core/files.ts';
import { CryptoError, type SignatureParameters, type Signer } from '../core/types.ts';
import { type ContentDigests, hashSource } from './content-digests.ts';
import type { SignatureOutput } from './signature-files.ts';

/** Signer and parameters. */
export interface EnvelopeRequest extends SignatureParameters {
  readonly signer: Signer;
  /** As in `CadesFormat`. */
  readonly contentIdentifier?: string | undefined;
}

/** File = `head`, content, `tail`. */
export interface Envelope {
  readonly head: Buffer;
  readonly tail: Buffer;
}

/**
 * Encodes the envelope of content of `contentLength` bytes whose digest is known.
 *     ContentInfo ::= SEQUENCE { contentType, content [0] EXPLICIT SignedData }
 *     SignedData ::= SEQUENCE {                                    -- head
 *      version, digestAlgorithms,
 *      encapContentInfo SEQUENCE { eContentType, eContent [0] EXPLICIT OCTET STRING },
 *      certificates, crls, signerInfos }                          -- tail
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
 * Encodes the bytes before content whose digest is not yet known: the lengths in it assume a tail of the usual
 * length,
 * which `indefiniteTail` then has.
 */
export function indefiniteHead(request: EnvelopeRequest, contentLength: number): Buffer {
  const form = fitsUtcTime(request.at) ? 'utc' : 'generalized';
  const signers = signerInfosLength(request, form, usualSignatureLength(request.signer));
  const { certificates } = signerInfoTemplate(request);
  return headOf(request, contentLength, certificates.length + signers);
}

/** Encodes the tail for an `indefiniteHead`. @throws {CryptoError} `key.unsupported` */
export function indefiniteTail(request: EnvelopeRequest, messageDigest: Uint8Array): Buffer {
  return envelopeTail(request, messageDigest, usualSignatureLength(request.signer));
}

/**
 * Encodes the envelope of content of `contentLength` bytes in an existing signature.
 * @param der SignedData without its content
 * @throws {Asn1Error}
 */
export function envelopeOf(der: Buffer, contentLength: number): Envelope {
  const around = aroundContent(der);
  return { head: headAround(around, contentLength, around.tail.length), tail: around.tail };
}

function envelopeTail(request: EnvelopeRequest, messageDigest: Uint8Array, signatureLength?: number): Buffer {
  const wanted = signatureLength === undefined ? {} : { signatureLength };
  const signers = buildSignerInfos({ messageDigest, signingTime: request.at, ...request, ...wanted });
  return Buffer.concat([signerInfoTemplate(request).certificates, signers]);
}

function headOf(request: EnvelopeRequest, contentLength: number, tailLength: number): Buffer {
  return headAround(
    { start: signerInfoTemplate(request).start, contentType: ID.data },
    contentLength,
    tailLength,
  );
}

function headAround(
  { start, contentType }: Omit<AroundContent, 'tail'>,
  contentLength: number,
  tailLength: number,
): Buffer {
  // From the innermost element outwards, since every header has the length of all that follows it.
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

/**
 * Copies the bytes of `source` into the signature as its content: a second pass, which must read the same bytes.
 * @param der SignedData without content
 * @throws {CryptoError} `input.changed`
 */
export function writeEnveloping(
  der: Buffer,
  source: Source,
  expected: Pick<ContentDigests, 'sha256'>,
  output: SignatureOutput,
): void {
  const { head, tail } = envelopeOf(der, source.size);
  output.write(head);
  const { sha256 } = hashSource(source, [], (piece) => output.write(piece));
  if (sha256 !== expected.sha256) {
    throw new CryptoError('input.changed', `${source.path} changed while it was being signed.`);
  }
  output.write(tail);
}
