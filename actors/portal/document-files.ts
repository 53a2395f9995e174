/**
 * From uploads to the file of a document: looked at by what it is, merged where it is an envelope.
 * Source: portal-gaps §§5, 13, 14, 21.
 */
import type { DocumentFile } from '../../machines/document-context.ts';
import type { OrganizationId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { ActionPlan, BlobRef, FileEntry, XadesOptions } from '../../machines/portal-words.ts';
import type { Clock } from '../../runtime/index.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { FileInput } from './api.ts';
import type { Blobs } from './blobs.ts';
import type { MarkedFile } from './document-plans.ts';
import { cleanContentType, cleanName, cleanTitle } from './upload-names.ts';
import type { Uploads } from './uploads.ts';
import { assertSignaturesCoexist } from './xades-plans.ts';

/** Files of one envelope. Source: portal-gaps §21. */
const MOST_ENVELOPE_FILES = 20;
/** Documents of one call. Source: portal-gaps §21. */
export const MOST_DOCUMENTS = 50;

const PDF = 'application/pdf';

export interface DocumentFilesParts {
  readonly uploads: Pick<Uploads, 'findUpload'>;
  readonly pool: SigningPool;
  readonly blobs: Blobs;
  readonly clock: Pick<Clock, 'now'>;
  /** Largest file of a document, bytes. */
  readonly maxBytes: number;
  /** The profile that seals electronic signatures. */
  readonly sealProfile: string;
}

/** A file with what its marks are counted by. */
export interface PreparedFile extends DocumentFile {
  readonly marked: readonly MarkedFile[];
}

export class DocumentFiles {
  readonly #parts: DocumentFilesParts;

  constructor(parts: DocumentFilesParts) {
    this.#parts = parts;
  }

  /** Refusals: `UploadNotFound`. */
  async entry(organization: OrganizationId, input: FileInput): Promise<FileEntry> {
    const upload = await this.#parts.uploads.findUpload(organization, input.id);
    return {
      uploadId: upload.id,
      displayName: cleanTitle(input.displayName),
      name: cleanName(input.name),
      contentType: cleanContentType(input.contentType),
      blob: upload.blob,
      md5: upload.md5,
    };
  }

  /** Refusals: `UploadNotFound`, `DocumentUnreadable`. */
  async single(organization: OrganizationId, input: FileInput, forceCades: boolean): Promise<PreparedFile> {
    const file = await this.entry(organization, input);
    const format = await this.#inspect(file, forceCades);
    const uploadId = file.uploadId ?? '';
    return { file, format, parts: [], marked: [{ uploadId, pagesBefore: 0, pages: undefined }] };
  }

  /** Refusals: `UploadNotFound`, `EnvelopeRequiresPdf`, `EnvelopeNameRequired`, `LimitExceeded`, `DocumentUnreadable`. */
  async envelope(
    organization: OrganizationId,
    inputs: readonly FileInput[],
    name: string,
    forceCades: boolean,
  ): Promise<PreparedFile> {
    if (name.trim() === '') throw new PortalRefusal('EnvelopeNameRequired');
    if (inputs.length > MOST_ENVELOPE_FILES)
      throw new PortalRefusal('LimitExceeded', `An envelope holds at most ${MOST_ENVELOPE_FILES} files.`);
    const parts: FileEntry[] = [];
    for (const input of inputs) parts.push(await this.entry(organization, input));
    if (parts.some(({ contentType }) => contentType.toLowerCase() !== PDF))
      throw new PortalRefusal('EnvelopeRequiresPdf');
    const merged = await this.#merged(parts, name);
    const title = cleanTitle(name);
    const fileName = cleanName(title.replace(/[/\\]/g, '-'));
    const file: FileEntry = {
      uploadId: null,
      displayName: title,
      name: /\.pdf$/i.test(fileName) ? fileName : `${fileName}.pdf`,
      contentType: PDF,
      blob: merged.blob,
      md5: merged.md5,
    };
    const format = await this.#inspect(file, forceCades);
    let pagesBefore = 0;
    const marked = parts.map(({ uploadId }, index): MarkedFile => {
      const pages = merged.pages[index] ?? 0;
      const here = { uploadId: uploadId ?? '', pagesBefore, pages };
      pagesBefore += pages;
      return here;
    });
    return { file, format, parts, marked };
  }

  async #merged(
    parts: readonly FileEntry[],
    title: string,
  ): Promise<{ readonly blob: BlobRef; readonly md5: string; readonly pages: readonly number[] }> {
    const { pool, blobs, clock, maxBytes } = this.#parts;
    const output = blobs.temporaryPath();
    const answer = await pool.run({
      task: 'portal.merge',
      documentId: parts[0]?.uploadId ?? '',
      files: parts.map(({ blob, displayName }) => ({ path: blobs.pathOf(blob), title: displayName })),
      title,
      at: clock.now(),
      maxBytes,
      output,
    });
    if (answer.ok) return { ...(await blobs.adoptWhole(output)), pages: answer.result.pagesOfFiles };
    if (answer.code === 'document.unreadable')
      throw new PortalRefusal('DocumentUnreadable', inAscii(withoutPaths(answer.message, parts, blobs)));
    if (answer.code === 'document.too-large') throw new PortalRefusal('PayloadTooLarge');
    throw new PortalRefusal('ServiceBusy');
  }

  /**
   * That an XML document can be signed by all these actions, each in the way it is asked for.
   * @param added the actions that are new to the document. Refusals: `InvalidFlowAction`.
   */
  async assertSignable(
    { file, format }: Pick<DocumentFile, 'file' | 'format'>,
    actions: readonly Pick<ActionPlan, 'type' | 'numberRequiredSignatures' | 'xadesOptions'>[],
    added = actions,
  ): Promise<void> {
    if (format !== 'Xades') return;
    assertSignaturesCoexist(actions);
    const asked = added.flatMap(({ xadesOptions }) => (xadesOptions === null ? [] : [xadesOptions]));
    const different = new Map(asked.map((options) => [JSON.stringify(options), options]));
    if (different.size > 0) await this.#inspect(file, false, [...different.values()]);
  }

  async #inspect(
    file: FileEntry,
    forceCades: boolean,
    xades: readonly XadesOptions[] = [],
  ): Promise<DocumentFile['format']> {
    const { pool, blobs, clock, sealProfile } = this.#parts;
    const answer = await pool.run({
      task: 'portal.inspect',
      documentId: file.uploadId ?? file.blob.sha256,
      path: blobs.pathOf(file.blob),
      contentType: file.contentType,
      fileName: file.name,
      ...{ forceCades, xades },
      profile: sealProfile,
      at: clock.now(),
    });
    if (answer.ok) return answer.result.format;
    if (answer.code === 'document.unreadable')
      throw new PortalRefusal('DocumentUnreadable', inAscii(answer.message));
    if (answer.code === 'document.unfit')
      throw new PortalRefusal('InvalidFlowAction', inAscii(answer.message));
    throw new PortalRefusal('ServiceBusy');
  }
}

/** Files are called what their sender calls them. */
function withoutPaths(message: string, parts: readonly FileEntry[], blobs: Blobs): string {
  return parts.reduce((text, { blob, name }) => text.replaceAll(blobs.pathOf(blob), name), message);
}

/** One client decodes messages in the character set of its platform. Source: portal-gaps §2. */
export function inAscii(message: string): string {
  return message.replace(/[^ -~]/g, '?').slice(0, 500);
}
