/** Number of signatures in a PDF file. */
import { openSource } from '../files/source.ts';
import { withPdf } from '../pdf/index.ts';
import { findSignatures } from './fields/signatures.ts';

const MAX_SIGNATURES = 500;

/**
 * Counts the signature fields with a value, document time-stamps among them, valid or not; at most 500.
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`
 */
export function countPdfSignatures(path: string): number {
  const source = openSource(path);
  try {
    return withPdf(source, (pdf) => findSignatures(pdf, MAX_SIGNATURES).length);
  } finally {
    source.close();
  }
}
