/** Merges the files of an envelope into one document. */
import { rmSync, statSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import { composePdf, countPdfSignatures } from '@sealwright/signatures';
import { fileDigest } from '../../shared/files/digest.ts';
import type { MergeTask, PortalResults } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { syncFile } from './place-output.ts';

/**
 * @throws {TaskFailure} `document.unreadable` for a file that cannot be merged, naming it; `document.too-large` above
 * the limits of one document
 */
export function merge(task: MergeTask): PortalResults['portal.merge'] {
  const { files, title, at, maxBytes, output } = task;
  rmSync(output, { force: true });
  const parts = files.map(({ path, title: outline }) => ({ path, outline }));
  try {
    const { pages, pagesOfParts } = composePdf({ output, parts, title, at, maxBytes });
    syncFile(output);
    return {
      output: { sha256: fileDigest(output), length: statSync(output).size },
      pages,
      pagesOfFiles: pagesOfParts,
      signaturesOfFiles: files.map(({ path }) => countPdfSignatures(path)),
    };
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code === 'input.too-large') throw new TaskFailure('document.too-large', message);
    if (code.startsWith('pdf.')) throw new TaskFailure('document.unreadable', message);
    throw error;
  }
}
