/** How a signed file is signed: by what it is; what its sender calls it decides where that says nothing. */
import type { ValidationReport } from '../../../crypto/index.ts';
import { headOfFile } from './head-of-file.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Undefined for a file that neither looks like a signed one nor is called one. */
export function signedFormat(
  path: string,
  contentType: string | null,
): ValidationReport['format'] | undefined {
  const head = headOfFile(path);
  if (head.includes('%PDF-')) return 'Pades';
  if (head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return 'Asic';
  if (looksLikeXml(head)) return 'Xades';
  if (head[0] === 0x30 || head.includes('-----BEGIN')) return 'Cades';
  return byName(contentType?.toLowerCase() ?? '');
}

function looksLikeXml(head: Buffer): boolean {
  if (head[0] === 0xfe && head[1] === 0xff) return true;
  if (head[0] === 0xff && head[1] === 0xfe) return true;
  const start = head.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  return head.toString('latin1', start).trimStart().startsWith('<');
}

function byName(type: string): ValidationReport['format'] | undefined {
  if (type.includes('pdf')) return 'Pades';
  if (type.includes('pkcs7') || type.includes('cms')) return 'Cades';
  return type.includes('xml') ? 'Xades' : undefined;
}
