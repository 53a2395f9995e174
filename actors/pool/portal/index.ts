/** The portal's tasks by name; the type requires all of them. Short ones are here. */
import { hash } from 'node:crypto';
import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { crc32 } from 'node:zlib';
import { describeFailure } from '@sealwright/runtime/core';
import {
  type ComposeRequest,
  composePdf,
  countPdfSignatures,
  firstPageSize,
  isPicture,
  pictureFault,
  pictureFaultIn,
  ZipWriter,
} from '@sealwright/signatures';
import { fileDigest } from '../../shared/files/digest.ts';
import { manifestPages } from '../../shared/rendition/rendition-manifest.ts';
import type { RenditionModel } from '../../shared/rendition/rendition-model.ts';
import { footerItems, markItems, type Pictures, tagItems } from '../../shared/rendition/rendition-pages.ts';
import type {
  FirstPageSizeTask,
  InspectedFile,
  MergeTask,
  PictureTask,
  PortalResults,
  PortalTask,
  RenderTask,
  StoreTask,
  ZipTask,
} from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { applyServiceSignature } from './apply-service-signature.ts';
import { checkSignatures } from './check.ts';
import { describe } from './describe.ts';
import { fill, readGeneration } from './generation.ts';
import { inspect } from './inspect.ts';
import { beginParticipantSigning, finishParticipantSigning } from './participant-signing.ts';
import { beginSync, placeOutput, syncFile } from './place-output.ts';
import type { PortalTaskContext } from './portal-task-context.ts';
import { findTextTags } from './text-tags.ts';

/**
 * Renders a version of a document: its pages with marks and tags, the manifest, or both.
 * @throws {TaskFailure} `document.unreadable` when the pages of the file cannot be drawn on
 */
function render({ model, original, images, output }: RenderTask): PortalResults['portal.render'] {
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

const PIECE_BYTES = 1024 * 1024;

/** Writes files into a ZIP file. Stores the members as they are: signed PDFs and signatures hardly shrink. */
function zipFiles({ members, at, output }: ZipTask): PortalResults['portal.zip'] {
  const file = openSync(output, 'wx');
  try {
    const writer = new ZipWriter(
      {
        write(...parts) {
          for (const part of parts)
            for (let done = 0; done < part.length; ) done += writeSync(file, part, done);
        },
      },
      at,
    );
    for (const { name, path } of members) {
      let size = 0;
      let checksum = 0;
      for (const piece of piecesOf(path)) {
        size += piece.length;
        checksum = crc32(piece, checksum);
      }
      writer.add({ name, size, crc32: checksum }, piecesOf(path));
    }
    writer.finish();
    return { members: members.length };
  } finally {
    closeSync(file);
  }
}

/** Pieces in one buffer: each is valid until the next is read. */
function* piecesOf(path: string): Generator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  const file = openSync(path, 'r');
  try {
    for (;;) {
      const length = readSync(file, buffer, 0, buffer.length, null);
      if (length === 0) return;
      yield buffer.subarray(0, length);
    }
  } finally {
    closeSync(file);
  }
}

/** For the service and its group. */
const FILE_MODE = 0o640;

/** Stores a small upload: hashes, writes, places and inspects it in one task. Resolves when the file is durable under the name of its content. */
async function storeBytes(
  task: StoreTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.store']> {
  const { bytes, output } = task;
  const blob = { sha256: hash('sha256', bytes), length: bytes.length };
  const md5 = hash('md5', bytes, 'base64');
  try {
    writeFileSync(output, bytes, { mode: FILE_MODE });
    const synced = beginSync(task, thread);
    const inspected = inspectedFile(task, thread);
    await placeOutput(task, blob, thread, synced);
    return { blob, md5, ...(inspected && { inspected }) };
  } catch (error) {
    rmSync(output, { force: true });
    throw error;
  }
}

/** Undefined: it is not to be inspected, or cannot be signed; the reason is found when a document is made of it. */
function inspectedFile(task: StoreTask, thread: PortalTaskContext): InspectedFile | undefined {
  if (task.inspect === undefined) return undefined;
  const { documentId, output: path, bytes } = task;
  const whole = { documentId, path, forceCades: false, xades: [], countPagesTo: 0 } as const;
  try {
    return inspect({ task: 'portal.inspect', ...whole, ...task.inspect }, thread, bytes);
  } catch {
    return undefined;
  }
}

/**
 * Merges the files of an envelope into one document.
 * @throws {TaskFailure} `document.unreadable` for a file that cannot be merged, naming it; `document.too-large` above
 * the limits of one document
 */
function merge(task: MergeTask): PortalResults['portal.merge'] {
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

/** Checks a picture of a signature whose faults only its samples or the document show. */
function checkPicture({ picture, pdf }: PictureTask): PortalResults['portal.picture'] {
  return { fault: (pdf === null ? pictureFault(picture) : pictureFaultIn(pdf, picture)) ?? null };
}

/** @throws {TaskFailure} `document.unreadable` for a file without a page that can be read */
function readFirstPageSize({ path, isRepaired }: FirstPageSizeTask): PortalResults['portal.first-page-size'] {
  try {
    return firstPageSize(path, isRepaired);
  } catch (error) {
    throw new TaskFailure('document.unreadable', describeFailure(error).message);
  }
}

type Result<Name extends PortalTask['task']> = PortalResults[Name] | Promise<PortalResults[Name]>;

const PERFORM: {
  readonly [Name in PortalTask['task']]: (
    task: Extract<PortalTask, { readonly task: Name }>,
    thread: PortalTaskContext,
  ) => Result<Name>;
} = {
  'portal.store': storeBytes,
  'portal.seal': applyServiceSignature,
  'portal.begin': beginParticipantSigning,
  'portal.finish': finishParticipantSigning,
  'portal.inspect': inspect,
  'portal.text-tags': findTextTags,
  'portal.first-page-size': readFirstPageSize,
  // Loaded by threads that draw.
  'portal.first-page': async (task) => (await import('../drawing/first-page.ts')).drawFirstPage(task),
  'portal.picture': checkPicture,
  'portal.check': checkSignatures,
  'portal.describe': describe,
  'portal.merge': merge,
  'portal.zip': zipFiles,
  'portal.render': render,
  'portal.generation': readGeneration,
  'portal.fill': fill,
};

export function isPortalTask(task: { readonly task: string }): task is PortalTask {
  return Object.hasOwn(PERFORM, task.task);
}

export function performPortal<Name extends PortalTask['task']>(
  task: Extract<PortalTask, { readonly task: Name }>,
  thread: PortalTaskContext,
): Result<Name> {
  const perform = PERFORM[task.task as Name];
  return perform(task, thread);
}
