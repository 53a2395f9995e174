import { encode } from 'uqr';

/** The squares of a QR code, row by row; true = dark. Without the quiet zone. */
export function codeCells(text: string): readonly (readonly boolean[])[] {
  return encode(text, { ecc: 'M', border: 0 }).data;
}
