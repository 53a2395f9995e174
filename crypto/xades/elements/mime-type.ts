import { extname } from 'node:path';
import { CryptoError } from '../../core/types.ts';

const BY_EXTENSION: { readonly [extension: string]: string } = {
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.txt': 'text/plain',
  '.xml': 'application/xml',
  '.zip': 'application/zip',
};

/** Checks a media type and escapes it for an attribute or text. @throws {CryptoError} `request.invalid` */
export function mimeTypeText(given: string): string {
  if (/^[A-Za-z0-9.+-]+\/[A-Za-z0-9.+-]+(?:; ?[A-Za-z0-9-]+=[A-Za-z0-9._-]+)*$/.test(given)) return given;
  throw new CryptoError('request.invalid', `"${given}" is not a media type.`);
}

/** Returns the media type for the extension of a file's name (RFC 2046 §4.5.1 for unknown ones). */
export function mimeTypeOf(path: string): string {
  return BY_EXTENSION[extname(path).toLowerCase()] ?? 'application/octet-stream';
}
