/** QR codes that pages draw. */
import { encode } from 'uqr';

/** Squares of a side with the quiet zone, and the dark ones as a path of SVG. */
export interface QrCode {
  readonly size: number;
  readonly path: string;
}

export function qrCode(text: string): QrCode {
  const rows = encode(text, { ecc: 'M', border: 4 }).data;
  const path = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return { size: rows.length, path: path.join('') };
}
