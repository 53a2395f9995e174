/** Detects the format of a signed file from its first bytes. */
import type { ValidationReport } from './validation-report.ts';

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** Bytes of a file that `formatOfHeader` needs. Source: PDF reference, Annex H: the header is in the first 1024 bytes. */
export const HEADER_BYTES = 1024;

/** Undefined for a file without a signature format. @param head first bytes of the file */
export function formatOfHeader(head: Buffer): ValidationReport['format'] | undefined {
  if (head.includes('%PDF-')) return 'Pades';
  if (head.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'))) return 'Asic';
  if (looksLikeXml(head)) return 'Xades';
  return head[0] === 0x30 || head.includes('-----BEGIN') ? 'Cades' : undefined;
}

function looksLikeXml(head: Buffer): boolean {
  if (head[0] === 0xfe && head[1] === 0xff) return true;
  if (head[0] === 0xff && head[1] === 0xfe) return true;
  const start = head.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0;
  return head.toString('latin1', start).trimStart().startsWith('<');
}
