/** Requests pdf.js, the largest of all files of a page, before the script of the page asks for it. */
import { pdfLibrary } from '../pdf-library.ts';

void pdfLibrary().catch(() => undefined);
