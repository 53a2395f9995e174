/**
 * Creates the file of a document from uploads: detects the format, merges the files of an envelope. Source: docs/portal-values.md
 * §§5, 13, 14, 21.
 */

import type { Clock } from '@sealwright/runtime';
import { isBlank } from '../../../contracts/plain-text.ts';
import type { NewFile } from '../../../contracts/portal/flow.ts';
import { MAX_ENVELOPE_FILES } from '../../../contracts/portal/new-documents.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import type { DocumentFile } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  type ActionPlan,
  type Attachment,
  type BlobRef,
  type FileEntry,
  isPdfFile,
  type XadesOptions,
} from '../../../machines/portal/portal-types.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { PortalResults, SignatureContent, TextTag } from '../../pool/portal-tasks.ts';
import { inAscii, poolRefusal } from '../shared/pool-refusal.ts';
import type { Blobs } from '../uploads/blobs.ts';
import type { InspectedUploads } from '../uploads/inspected-uploads.ts';
import { cleanContentType, cleanName, cleanTitle } from '../uploads/upload-names.ts';
import type { Uploads } from '../uploads/uploads.ts';
import { answersToTry, formContent } from './form-content.ts';
import type { MarkedFile } from './mark-plans.ts';
import { MAX_TEXT_TAGS } from './text-tags.ts';
import { assertSignaturesCoexist } from './xades-plans.ts';

const PDF = 'application/pdf';

/** A file with what its marks are counted by. */
export interface PreparedFile extends DocumentFile {
  readonly marked: readonly MarkedFile[];
  /** Signed files of an envelope, whose signatures the envelope does not contain. */
  readonly signedOriginals: readonly Omit<Attachment, 'id'>[];
}

export class DocumentFiles {
  constructor(
    private readonly needs: {
      readonly uploads: Pick<Uploads, 'lookUp' | 'use'>;
      readonly pool: SigningPool;
      readonly blobs: Blobs;
      readonly clock: Pick<Clock, 'now'>;
      /** Largest file of a document, bytes. */
      readonly maxBytes: number;
      /** Profile of the service's seals. */
      readonly sealProfile: string;
      /** True where the organization refuses signed files in envelopes. */
      readonly refusesSignedFiles: (organization: OrganizationId) => Promise<boolean>;
      /** Of files that were inspected while they were stored. */
      readonly inspected?: Pick<InspectedUploads, 'resultOf'> | undefined;
    },
  ) {}

  /** Keeps the uploads of files that a call has put into documents: beside the step that does so, not before it. */
  use(files: readonly FileEntry[]): Promise<void> {
    return this.needs.uploads.use(files.flatMap(({ uploadId }) => uploadId ?? []));
  }

  /** A file that is looked up, not yet used. Refusals: `UploadNotFound`. */
  async entry(organization: OrganizationId, input: NewFile): Promise<FileEntry> {
    const upload = await this.needs.uploads.lookUp(organization, input.id);
    const contentType = cleanContentType(input.contentType);
    return {
      uploadId: upload.id,
      displayName: cleanTitle(input.displayName),
      name: cleanName(input.name),
      contentType,
      ...(isPdfFile(upload) && !isPdfFile({ contentType }) && { isPdf: true }),
      blob: upload.blob,
      md5: upload.md5,
    };
  }

  /**
   * Prepares the one file of a document.
   * @param highestPage highest page that a mark names. Refusals: `UploadNotFound`, `DocumentUnreadable`.
   */
  async single(
    organization: OrganizationId,
    input: NewFile,
    forceCades: boolean,
    highestPage: number,
  ): Promise<PreparedFile> {
    const entry = await this.entry(organization, input);
    const cached =
      forceCades || highestPage > 0 ? undefined : this.needs.inspected?.resultOf(entry.blob, entry);
    const { format, pages, warnings } =
      cached === undefined
        ? await this.#inspect(organization, entry, { forceCades, countPagesTo: highestPage })
        : { ...cached, pages: null };
    const file: FileEntry = {
      ...entry,
      ...(format === 'Pades' && !isPdfFile(entry) && { isPdf: true }),
      ...(warnings && { warnings }),
    };
    const marked = { uploadId: file.uploadId ?? '', pagesBefore: 0, pages: undefined, lastPage: pages };
    return { file, format, parts: [], marked: [marked], signedOriginals: [] };
  }

  /**
   * Refusals: `UploadNotFound`, `EnvelopeRequiresPdf`, `EnvelopeNameRequired`, `LimitExceeded`, `DocumentUnreadable`,
   * `EnvelopeFileSigned` where the organization refuses signed files.
   */
  async envelope(
    organization: OrganizationId,
    inputs: readonly NewFile[],
    name: string,
    forceCades: boolean,
  ): Promise<PreparedFile> {
    if (isBlank(name)) throw new PortalRefusal('EnvelopeNameRequired');
    if (inputs.length > MAX_ENVELOPE_FILES)
      throw new PortalRefusal('LimitExceeded', `An envelope holds at most ${MAX_ENVELOPE_FILES} files.`);
    const parts: FileEntry[] = [];
    for (const input of inputs) parts.push(await this.entry(organization, input));
    if (!parts.every(isPdfFile)) throw new PortalRefusal('EnvelopeRequiresPdf');
    const { clock, refusesSignedFiles } = this.needs;
    const merged = await this.#merged(organization, parts, name);
    const title = cleanTitle(name);
    const fileName = cleanName(title.replace(/[/\\]/g, '-'));
    const made: FileEntry = {
      uploadId: null,
      displayName: title,
      name: /\.pdf$/i.test(fileName) ? fileName : `${fileName}.pdf`,
      contentType: PDF,
      blob: merged.blob,
      md5: merged.md5,
    };
    const { format, warnings } = await this.#inspect(organization, made, { forceCades });
    const file: FileEntry = warnings === undefined ? made : { ...made, warnings };
    let pagesBefore = 0;
    const marked = parts.map(({ uploadId }, index): MarkedFile => {
      const pages = merged.pages[index] ?? 0;
      const markedFile = { uploadId: uploadId ?? '', pagesBefore, pages, lastPage: pages };
      pagesBefore += pages;
      return markedFile;
    });
    const signedOriginals = parts.flatMap((part, index) => {
      const signatures = merged.signatures[index] ?? 0;
      return signatures === 0
        ? []
        : [{ file: part, signatures, isPrivate: false, creationDate: clock.now() }];
    });
    const [signed] = signedOriginals;
    if (signed !== undefined && (await refusesSignedFiles(organization)))
      throw new PortalRefusal('EnvelopeFileSigned', undefined, {
        details: { file: inAscii(signed.file.name) },
      });
    return { file, format, parts, marked, signedOriginals };
  }

  /** Number of the last page of a document, counted up to the highest page a mark names; null = not counted. */
  async lastPage(
    organization: OrganizationId,
    { file, current }: Pick<DocumentFile, 'file'> & { readonly current: BlobRef },
    highestPage: number,
  ): Promise<number | null> {
    if (highestPage === 0) return null;
    const asIs = { forceCades: true, countPagesTo: highestPage };
    const { pages } = await this.#inspect(organization, { ...file, blob: current }, asIs);
    return pages;
  }

  async #merged(
    organization: OrganizationId,
    parts: readonly FileEntry[],
    title: string,
  ): Promise<{
    readonly blob: BlobRef;
    readonly md5: string;
    readonly pages: readonly number[];
    readonly signatures: readonly number[];
  }> {
    const { pool, blobs, clock, maxBytes } = this.needs;
    const output = blobs.temporaryPath();
    const merge = {
      task: 'portal.merge',
      documentId: parts[0]?.uploadId ?? '',
      files: await Promise.all(
        parts.map(async ({ blob, displayName }) => ({
          path: await blobs.localPath(blob),
          title: displayName,
        })),
      ),
      title,
      at: clock.now(),
      maxBytes,
      output,
    } as const;
    const bytes = parts.reduce((sum, { blob }) => sum + blob.length, 0);
    const answer = await pool.run(merge, { organization, bytes });
    if (answer.ok) {
      const { pagesOfFiles: pages, signaturesOfFiles: signatures } = answer.result;
      return { ...(await blobs.adoptWhole(output)), pages, signatures };
    }
    if (answer.code === 'document.unreadable')
      throw new PortalRefusal('DocumentUnreadable', inAscii(answer.message));
    if (answer.code === 'document.too-large') throw new PortalRefusal('PayloadTooLarge');
    throw poolRefusal(answer);
  }

  /**
   * Asserts that a document can have these fields, and that an XML document can be signed by all these actions, each in
   * the way it is asked for.
   * @param added the actions that are new to the document. Refusals: `InvalidFlowAction`.
   */
  async assertSignable(
    organization: OrganizationId,
    { file, format }: Pick<DocumentFile, 'file' | 'format'>,
    actions: readonly Pick<
      ActionPlan,
      'id' | 'type' | 'numberRequiredSignatures' | 'xadesOptions' | 'fields'
    >[],
    added = actions,
  ): Promise<void> {
    const fields = formContent({ actions: added }, []);
    if (fields.length > 0) {
      if (format !== 'Pades')
        throw new PortalRefusal('InvalidFlowAction', 'Only a PDF that is signed as PDF has fields.');
      await this.#inspect(organization, file, {
        content: { fields: [...fields, ...answersToTry(added)], marks: [] },
      });
    }
    if (format !== 'Xades') return;
    assertSignaturesCoexist(actions);
    const asked = added.flatMap(({ xadesOptions }) => (xadesOptions === null ? [] : [xadesOptions]));
    const different = new Map(asked.map((options) => [JSON.stringify(options), options]));
    if (different.size > 0) await this.#inspect(organization, file, { xades: [...different.values()] });
  }

  /** Tags in the text of a PDF. Refusals: `DocumentUnreadable`, `LimitExceeded`. */
  async textTags(organization: OrganizationId, file: FileEntry): Promise<readonly TextTag[]> {
    const { pool, blobs } = this.needs;
    const path = await blobs.localPath(file.blob);
    const task = {
      task: 'portal.text-tags',
      documentId: file.uploadId ?? file.blob.sha256,
      path,
      most: MAX_TEXT_TAGS,
    } as const;
    const answer = await pool.run(task, { organization, bytes: file.blob.length });
    if (answer.ok) return answer.result.tags;
    const message = inAscii(answer.message.replaceAll(path, 'The file'));
    if (answer.code === 'document.unreadable') throw new PortalRefusal('DocumentUnreadable', message);
    if (answer.code === 'document.too-large') throw new PortalRefusal('LimitExceeded', message);
    throw poolRefusal(answer);
  }

  async #inspect(
    organization: OrganizationId,
    file: FileEntry,
    {
      forceCades = false,
      xades = [],
      countPagesTo = 0,
      content,
    }: {
      readonly forceCades?: boolean;
      readonly xades?: readonly XadesOptions[];
      readonly countPagesTo?: number;
      readonly content?: SignatureContent;
    },
  ): Promise<PortalResults['portal.inspect']> {
    const { pool, blobs, clock, sealProfile } = this.needs;
    const inspect = {
      task: 'portal.inspect',
      documentId: file.uploadId ?? file.blob.sha256,
      path: await blobs.localPath(file.blob),
      contentType: file.contentType,
      fileName: file.name,
      isPdf: isPdfFile(file),
      forceCades,
      xades,
      countPagesTo,
      ...(content !== undefined && { content }),
      profile: sealProfile,
      at: clock.now(),
    } as const;
    const answer = await pool.run(inspect, { organization, bytes: file.blob.length });
    if (answer.ok) return answer.result;
    if (answer.code === 'document.unreadable')
      throw new PortalRefusal('DocumentUnreadable', inAscii(answer.message));
    if (answer.code === 'document.options-unsupported')
      throw new PortalRefusal('InvalidFlowAction', inAscii(answer.message));
    throw poolRefusal(answer);
  }
}
