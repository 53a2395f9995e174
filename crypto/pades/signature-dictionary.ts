/**
 * Signature dictionaries (ISO 32000-2, 12.8.1) as they are laid out: with zeros where the signature goes and blanks
 * where its byte range goes, both filled in later at the same length.
 */
import { type PdfDocument, type Reference, writeRevision } from '../pdf/index.ts';
import type { Draft } from './draft.ts';

/** An incremental update that is complete but for the signature in it. */
export interface PreparedUpdate {
  /** To be appended to the original, once the signature is in its place. */
  readonly update: Buffer;
  /** Index in `update` of the `<` before the signature, which is not signed. */
  readonly holeStart: number;
  /** Index in `update` after the `>` behind it. */
  readonly holeEnd: number;
}

/** What an update is written after. */
export interface Original {
  readonly pdf: PdfDocument;
  /** Bytes. */
  readonly size: number;
  readonly lastByte: number | undefined;
  /** As in `writeRevision`. */
  readonly seed: string;
}

export interface SignatureValue {
  readonly body: string;
  /** Index in `body` of the first blank for the byte range. */
  readonly rangeStart: number;
  readonly holeStart: number;
  readonly holeEnd: number;
}

/**
 * @param start keys before the byte range: type, filter, sub-filter. No strings: an encrypted file exchanges them,
 *   and what stands before the signature must not move
 * @param space bytes of the longest signature that has to fit
 * @param end keys after the signature
 */
export function signatureValue(
  originalSize: number,
  start: string,
  space: number,
  end: string,
): SignatureValue {
  const head = `<<${start}/ByteRange`;
  // Room for three numbers of ten digits, or one digit more than the original's size has: no update comes near
  // nine times the size of a file that large.
  const digits = Math.max(10, String(originalSize).length + 1);
  const before = `${head}${' '.repeat('[0 '.length + 3 * (digits + 1))}/Contents `;
  const hole = `<${'00'.repeat(space)}>`;
  return {
    body: `${before}${hole}${end}>>`,
    rangeStart: head.length,
    holeStart: before.length,
    holeEnd: before.length + hole.length,
  };
}

/**
 * Writes the update; the signature dictionary comes first in it.
 * @throws {CryptoError} as `writeRevision`
 */
export function writeUpdate(
  { pdf, size, lastByte, seed }: Original,
  draft: Draft,
  value: SignatureValue & { readonly reference: Reference },
): PreparedUpdate {
  const { number, generation } = value.reference;
  const objects = [{ number, generation, body: value.body }, ...draft.objects()];
  const { bytes, bodies } = writeRevision({ xref: pdf.xref, size, lastByte, seed }, objects);
  const body = bodies[0] ?? 0;
  const holeStart = body + value.holeStart;
  const holeEnd = body + value.holeEnd;
  const range = [size + holeStart, size + holeEnd, bytes.length - holeEnd];
  bytes.write(`[0 ${range.join(' ')}]`, body + value.rangeStart, 'latin1');
  return { update: bytes, holeStart, holeEnd };
}

/** Bytes of the longest signature the hole takes. */
export function spaceIn({ holeStart, holeEnd }: PreparedUpdate): number {
  return (holeEnd - holeStart - 2) / 2;
}

/** Puts a signature into its place; false, and nothing changed, when it is longer than the space. */
export function fillHole(prepared: PreparedUpdate, signature: Buffer): boolean {
  if (signature.length > spaceIn(prepared)) return false;
  prepared.update.write(signature.toString('hex'), prepared.holeStart + 1, 'latin1');
  return true;
}
