import { createHash } from 'node:crypto';

/** Returns the SHA-1 of a DER certificate, upper-case hex, as other programs identify certificates. */
export function thumbprintOf(der: Buffer): string {
  return createHash('sha1').update(der).digest('hex').toUpperCase();
}

/** Normalises a thumbprint (colons, white space, lower case) to the form of `thumbprintOf`. */
export function normalThumbprint(text: string): string {
  return text.replace(/[\s:]/g, '').toUpperCase();
}
