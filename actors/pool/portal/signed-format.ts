/** Detects the format of a signed file from its content, else from its declared type. */

import { formatOfHeader, type ValidationReport } from '@sealwright/signatures';
import { fileHeader } from '../co-sign.ts';

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
