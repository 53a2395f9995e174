/**
 * Lays out signature dictionaries (ISO 32000-2, 12.8.1): zeros as the placeholder of /Contents and blanks
 * for /ByteRange, both filled later without a change of length.
 */
import { type PdfDocument, type Reference, writeRevision } from '../../pdf/index.ts';
import type { IncrementalUpdate } from '../../pdf/update/incremental-update.ts';

/** An incremental update that is complete except for the signature value. */
export interface PreparedUpdate {
  /** To be appended to the original, once the signature is in its place. */
  readonly update: Buffer;
  /** Index in `update` of the `<` of /Contents, which is not signed. */
  readonly placeholderStart: number;
  /** Index in `update` after the `>` of /Contents. */
  readonly placeholderEnd: number;
}

/** The file before the update. */
interface Original {
  readonly pdf: PdfDocument;
  /** Bytes. */
  readonly size: number;
  readonly lastByte: number | undefined;
  /** As in `writeRevision`. */
  readonly seed: string;
}

interface SignatureValue {
  readonly body: string;
  /** Index in `body` of the first blank for the byte range. */
  readonly rangeStart: number;
  readonly placeholderStart: number;
  readonly placeholderEnd: number;
}

/**
 * @param start keys before the byte range: type, filter, sub-filter. No strings: encryption changes their length,
 * and offsets before the signature must not change
 * @param space bytes of the longest signature
 * @param end keys after the signature
 */
export function signatureValue(
  originalSize: number,
  start: string,
  space: number,
  end: string,
): SignatureValue {
  const head = `<<${start}/ByteRange`;
  // Reserves three numbers of ten digits, or one digit more than the original's size: no update is
  // nine times the size of such a large file.
  // nine times the size of a file that large.
  const digits = Math.max(10, String(originalSize).length + 1);
  const before = `${head}${' '.repeat('[0 '.length + 3 * (digits + 1))}/Contents `;
  const hole = `<${'00'.repeat(space)}>`;
  return {
    body: `${before}${hole}${end}>>`,
    rangeStart: head.length,
    placeholderStart: before.length,
    placeholderEnd: before.length + hole.length,
  };
}

/**
 * Writes the update; the signature dictionary is its first object.
 * @throws {CryptoError} as `writeRevision`
 */
export function writeUpdate(
  { pdf, size, lastByte, seed }: Original,
  draft: IncrementalUpdate,
  value: SignatureValue & { readonly reference: Reference },
): PreparedUpdate {
  const { number, generation } = value.reference;
  const objects = [{ number, generation, body: value.body }, ...draft.objects()];
  const { bytes, bodies } = writeRevision({ xref: pdf.xref, size, lastByte, seed }, objects);
  const body = bodies[0] ?? 0;
  const placeholderStart = body + value.placeholderStart;
  const placeholderEnd = body + value.placeholderEnd;
  const range = [size + placeholderStart, size + placeholderEnd, bytes.length - placeholderEnd];
  bytes.write(`[0 ${range.join(' ')}]`, body + value.rangeStart, 'latin1');
  return { update: bytes, placeholderStart, placeholderEnd };
}

/** Returns the bytes of the longest signature that the placeholder can hold. */
export function placeholderBytes({ placeholderStart, placeholderEnd }: PreparedUpdate): number {
  return (placeholderEnd - placeholderStart - 2) / 2;
}

/** Writes a signature into the placeholder; returns false, without a change, when it is too long. */
export function fillPlaceholder(prepared: PreparedUpdate, signature: Buffer): boolean {
  if (signature.length > placeholderBytes(prepared)) return false;
  prepared.update.write(signature.toString('hex'), prepared.placeholderStart + 1, 'latin1');
  return true;
}
