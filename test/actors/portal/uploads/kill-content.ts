/** Everything both sides of the kill test know of the files in pieces. */
export const PIECE_BYTES = 5_000;
export const TOTAL_BYTES = 4 * PIECE_BYTES;

/** The piece that begins there: another one for each. */
export function pieceContent(from: number): Buffer {
  return Buffer.alloc(PIECE_BYTES, `piece at ${from}; `);
}

export function wholeContent(): Buffer {
  return Buffer.concat(
    Array.from({ length: TOTAL_BYTES / PIECE_BYTES }, (_, at) => pieceContent(at * PIECE_BYTES)),
  );
}
