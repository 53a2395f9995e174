/** Starts the editor of a document: files, people, fields on the pages, review. */
import './early-pdf.ts';
import { startEditor } from '../sender/start-editor.tsx';

startEditor();
