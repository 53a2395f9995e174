/** Renders a version of a document: its pages with marks and tags, the manifest, or both. */
import { readFileSync, rmSync, statSync } from 'node:fs';
import { describeFailure } from '@sealwright/runtime/core';
import { type ComposeRequest, composePdf, isPicture } from '@sealwright/signatures';
import { fileDigest } from '../../shared/files/digest.ts';
import { manifestPages } from '../../shared/rendition/rendition-manifest.ts';
import type { RenditionModel } from '../../shared/rendition/rendition-model.ts';
import { footerItems, markItems, type Pictures, tagItems } from '../../shared/rendition/rendition-pages.ts';
import type { PortalResults, RenderTask } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { syncFile } from './place-output.ts';

/** @throws {TaskFailure} `document.unreadable` when the pages of the file cannot be drawn on */
export function render({ model, original, images, output }: RenderTask): PortalResults['portal.render'] {
  rmSync(output, { force: true });
  const pictures = new Map(images.map(({ sha256, path }) => [sha256, readFileSync(path)] as const));
  for (const [sha256, bytes] of pictures) if (!isPicture(bytes)) pictures.delete(sha256);
  const { name } = model.document;
  try {
    composePdf({ output, parts: partsOf(model, original, pictures), title: name, at: model.at });
    syncFile(output);
    return { output: { sha256: fileDigest(output), length: statSync(output).size } };
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code.startsWith('pdf.') || code === 'input.too-large') {
      throw new TaskFailure('document.unreadable', message);
    }
    throw error;
  }
}

/** @param original null for a document without pages */
function partsOf(
  model: RenditionModel,
  original: string | null,
  pictures: Pictures,
): ComposeRequest['parts'] {
  const manifest = { pages: manifestPages(model) };
  if (original === null || model.type === 'SignaturesManifest') return [manifest];
  switch (model.type) {
    case 'PrinterFriendlyVersion':
      return [
        {
          path: original,
          draw: (page) => [...markItems(model, page, pictures), ...footerItems(model, page)],
        },
        manifest,
      ];
    case 'SigningTags':
      return [{ path: original, draw: (page) => tagItems(model, page) }];
    case 'OriginalWithMarks':
      return [{ path: original, draw: (page) => markItems(model, page, pictures) }];
    case 'SignatureMarks': {
      const visible = { ...model, marks: model.marks.filter(({ type }) => type !== 'AuthenticationStamp') };
      return [{ path: original, blank: true, draw: (page) => markItems(visible, page, pictures) }];
    }
  }
}
