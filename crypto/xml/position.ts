import { CryptoError } from '../core/types.ts';
import { LF } from './characters.ts';

/** Computes line and column (both from 1, columns in characters) of a byte offset in a UTF-8 document. */
function positionOf(bytes: Buffer, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = bytes.indexOf(LF); at >= 0 && at < offset; at = bytes.indexOf(LF, at + 1)) {
    line++;
    lineStart = at + 1;
  }
  let column = 1;
  for (let at = lineStart; at < offset && at < bytes.length; at++) {
    // Continuation bytes belong to the preceding character.
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) column++;
  }
  return { line, column };
}

/** Creates the error `xml.malformed` with position and problem. */
export function malformed(bytes: Buffer, offset: number, problem: string): CryptoError {
  const { line, column } = positionOf(bytes, offset);
  return new CryptoError(
    'xml.malformed',
    `The XML is not well-formed at line ${line}, column ${column}: ${problem}.`,
  );
}
