/** Number of pages of a PDF file. */
import { openSource } from '../../files/source.ts';
import { withPdf } from './document.ts';
import { pages } from './page.ts';

/**
 * Counts the pages of the file at `path`, at most up to `limit`.
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`, `pdf.no-pages`
 */
export function countPdfPages(path: string, limit: number): number {
  const source = openSource(path);
  try {
    return withPdf(source, (pdf) => {
      let count = 0;
      for (const _ of pages(pdf)) {
        count += 1;
        if (count >= limit) break;
      }
      return count;
    });
  } finally {
    source.close();
  }
}
