/** Checks a picture against the file that it is to be drawn in. */
import { openSource } from '../../files/source.ts';
import { pdfARules } from '../../pdf/graphics/pdfa-rules.ts';
import { withPdf } from '../../pdf/index.ts';
import { pictureFault } from '../../pdf/pages/drawing.ts';

/**
 * Returns the reason why a picture cannot be drawn in a PDF, as a sentence; undefined when it can.
 * @throws {CryptoError} `input.unreadable`, `pdf.malformed`, `pdf.encrypted`
 */
export function pictureFaultIn(path: string, picture: Uint8Array): string | undefined {
  const source = openSource(path);
  try {
    return withPdf(source, (pdf) => pictureFault(picture, pdfARules(pdf)));
  } finally {
    source.close();
  }
}
