import { createHash } from 'node:crypto';

/** SHA-1 of a DER certificate, upper-case hex, as other programs name certificates. */
export function thumbprintOf(der: Buffer): string {
  return createHash('sha1').update(der).digest('hex').toUpperCase();
}

/** A thumbprint as people write it (colons, blanks, small letters) in the form of `thumbprintOf`. */
export function normalThumbprint(text: string): string {
  return text.replace(/[\s:]/g, '').toUpperCase();
}
