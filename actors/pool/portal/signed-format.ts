/** Detects the format of a signed file from its content, else from its declared type. */

import { closeSync, openSync, readSync } from 'node:fs';
import { formatOfHeader, HEADER_BYTES, type ValidationReport } from '@sealwright/signatures';

/** First bytes of a file, for format detection. */
export function fileHeader(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_BYTES);
    return head.subarray(0, readSync(file, head, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** Undefined for a file without a signature format in content or declared type. */
export function signedFormat(
  path: string,
  contentType: string | null,
): ValidationReport['format'] | undefined {
  return formatOfHeader(fileHeader(path)) ?? byName(contentType?.toLowerCase() ?? '');
}

function byName(type: string): ValidationReport['format'] | undefined {
  if (type.includes('pdf')) return 'Pades';
  if (type.includes('pkcs7') || type.includes('cms')) return 'Cades';
  return type.includes('xml') ? 'Xades' : undefined;
}
