/** Starts the editor of a document: files, people, fields on the pages, review. */
import { pdfLibrary } from '../pdf-library.ts';
import { startEditor } from '../sender/start-editor.tsx';

void pdfLibrary().catch(() => undefined);
startEditor();
