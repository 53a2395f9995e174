/**
 * Downloads: the uploaded document, the signed document, and renditions that are drawn at the first request.
 *
 * Renditions are blobs without a reference count. The sweep removes those that were not requested for some time, also after
 * the removal of their document; a later request draws the same bytes again. The process maps renditions to blobs in memory
 * only: drawing takes 20 ms of processor time for three pages and 100 ms for a hundred, so a stored index is not worth its
 * cost.
 *
 * Source: docs/portal-values.md §13.
 */

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { Clock } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import { DOWNLOAD_TYPES, type DownloadType } from '../../../contracts/portal/words.ts';
import { type DocumentId, type Millis, parsePortalId } from '../../../machines/ids.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type BlobRef, documentType } from '../../../machines/portal/portal-types.ts';
import type { SigningPool } from '../../pool/pool.ts';
import {
  RENDITION_EVENT_TYPES,
  type RenderedType,
  type RenditionModel,
} from '../../shared/rendition/rendition-model.ts';
import type { LanguageOf } from '../accounts/organization-settings.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentHistory } from '../document-records/document-history.ts';
import {
  type DocumentReader,
  documentOf,
  hasSignature,
  type ReadDocument,
} from '../document-records/document-reader.ts';
import { poolRefusal } from '../shared/pool-refusal.ts';
import type { Tickets } from '../shared/tickets.ts';
import type { Blobs, StoredFile } from '../uploads/blobs.ts';
import { attachmentFile } from './attachments.ts';
import type { DescribedFiles } from './described-files.ts';
import { describedSignatures } from './document-signatures.ts';
import { renditionModelOf } from './rendition-data.ts';
import { assertAvailable, renditionName, signedName } from './rendition-rules.ts';

const PDF = 'application/pdf';
/** Entries of the history that are read, and that the manifest shows. */
const MAX_TRAIL_READ = 3_000;
const MAX_TRAIL = 500;
/** Number of renditions whose blobs are cached. */
const CACHE_SIZE = 5_000;

/** The file of a ticket. */
export interface TicketFile extends StoredFile {
  readonly inline: boolean;
  readonly documentId: DocumentId;
  readonly type: DownloadType;
}

export class Renditions {
  readonly #cached = new LRUCache<string, Promise<BlobRef>>({ max: CACHE_SIZE });

  constructor(
    private readonly needs: {
      readonly documents: DocumentReader;
      readonly described: DescribedFiles;
      readonly pool: Pick<SigningPool, 'run'>;
      readonly blobs: Blobs;
      readonly tickets: Tickets;
      readonly clock: Pick<Clock, 'now'>;
      /** Without a slash at its end. */
      readonly publicUrl: () => string;
      readonly languageOf: LanguageOf;
      readonly history: Pick<DocumentHistory, 'page'>;
    },
  ) {}

  /** Refusals: those of `documentOf` and `assertAvailable`. */
  async content(tenant: Tenant, id: DocumentId, type: DownloadType): Promise<StoredFile> {
    return this.fileOf(await documentOf(this.needs.documents, tenant, id), type);
  }

  /** Refusals: those of `documentOf`, `AttachmentNotFound`. */
  async attachment(tenant: Tenant, id: DocumentId, attachmentId: string): Promise<StoredFile> {
    const { context } = await documentOf(this.needs.documents, tenant, id);
    return attachmentFile(this.needs.blobs, context.attachments, attachmentId);
  }

  /** A path with a ticket, of one hour by default. Refusals: as `content`. */
  async contentTicket(
    tenant: Tenant,
    id: DocumentId,
    {
      type,
      preview,
      lifetime,
    }: { readonly type: DownloadType; readonly preview: boolean; readonly lifetime?: Millis | undefined },
  ): Promise<string> {
    const { documents, tickets, clock } = this.needs;
    available(await documentOf(documents, tenant, id), type);
    const claims = [id, type, preview ? 'inline' : 'attachment'];
    return `/api/documents/${id}/download?ticket=${tickets.issue('download', claims, clock.now(), lifetime)}`;
  }

  /** As `contentTicket`, for a page that draws a PDF; undefined for other files. */
  async previewTicket(tenant: Tenant, id: DocumentId, lifetime: Millis): Promise<string | undefined> {
    const { context } = await documentOf(this.needs.documents, tenant, id);
    return documentType(context) === PDF
      ? this.contentTicket(tenant, id, { type: 'Original', preview: true, lifetime })
      : undefined;
  }

  /** Refusals: `NotFound` for a ticket that is none or too old; as `content`. */
  async ticketContent(ticket: string): Promise<TicketFile> {
    const { documents, tickets, clock } = this.needs;
    const read = tickets.read('download', ticket, clock.now());
    const [claimed, named, disposition] = read?.expired === false ? read.claims : [];
    const id = parsePortalId('DocumentId', claimed ?? '');
    const type = DOWNLOAD_TYPES.find((one) => one === named);
    if (id === undefined || type === undefined) throw new PortalRefusal('NotFound');
    const file = await this.fileOf(await documentOf(documents, undefined, id), type);
    return { ...file, inline: disposition === 'inline', documentId: id, type };
  }

  /** Refusals: those of `assertAvailable`. */
  async fileOf(document: ReadDocument, type: DownloadType): Promise<StoredFile> {
    available(document, type);
    const { blobs } = this.needs;
    const { file, format, current, signatures } = document.context;
    if (type === 'Original') return blobs.file(file.blob, file.name, documentType(document.context));
    if (type === 'Signatures') {
      const { fileName, contentType } = signedName(file.name, format);
      return blobs.file(signatures ?? current, fileName, contentType);
    }
    const blob = await this.#rendition(document, type);
    return blobs.file(blob, renditionName(file.name, type), PDF);
  }

  async #rendition({ state, context }: ReadDocument, type: RenderedType): Promise<BlobRef> {
    const { described, languageOf, publicUrl } = this.needs;
    const model = renditionModelOf({
      type,
      state,
      context,
      signatures: await describedSignatures(described, context),
      language: await languageOf(context.organization.id),
      checkUrl: `${publicUrl()}/check/${context.key}`,
      ...(await this.#trail(context.id, type)),
    });
    const original = context.format === 'Pades' ? context.file.blob : null;
    const key = createHash('sha256')
      .update(JSON.stringify([model, original?.sha256 ?? null]))
      .digest('hex');
    for (let cached = this.#cached.get(key); cached !== undefined; cached = this.#cached.get(key)) {
      const blob = await cached.catch(() => undefined);
      if (blob !== undefined && (await this.needs.blobs.touch(blob))) return blob;
      if (this.#cached.get(key) === cached) this.#cached.delete(key);
    }
    return this.#cacheRendition(key, () => this.#draw(context, model, original));
  }

  /** Only the versions with the manifest show the history. */
  async #trail(id: DocumentId, type: RenderedType): Promise<Pick<RenditionModel, 'trail' | 'trailOmitted'>> {
    if (type !== 'SignaturesManifest' && type !== 'PrinterFriendlyVersion')
      return { trail: [], trailOmitted: 0 };
    const { items } = await this.needs.history.page(id, { limit: MAX_TRAIL_READ, offset: 0 });
    const shown = items.flatMap(({ type: recorded, date: at, by, ipAddress, userAgent }) => {
      const type = RENDITION_EVENT_TYPES.find((one) => one === recorded);
      return type === undefined ? [] : [{ type, at, by, ipAddress, userAgent }];
    });
    return { trail: shown.slice(0, MAX_TRAIL), trailOmitted: Math.max(0, shown.length - MAX_TRAIL) };
  }

  /** Concurrent requests for one rendition share its rendering. */
  async #cacheRendition(key: string, draw: () => Promise<BlobRef>): Promise<BlobRef> {
    const drawing = draw();
    this.#cached.set(key, drawing);
    try {
      return await drawing;
    } catch (error) {
      if (this.#cached.get(key) === drawing) this.#cached.delete(key);
      throw error;
    }
  }

  async #draw(
    { id: documentId, organization }: Pick<DocumentContext, 'id' | 'organization'>,
    model: RenditionModel,
    original: BlobRef | null,
  ): Promise<BlobRef> {
    const { pool, blobs } = this.needs;
    const images = [...new Set(model.marks.flatMap(({ image }) => (image === null ? [] : [image])))];
    const output = blobs.temporaryPath();
    const task = {
      task: 'portal.render',
      documentId,
      model,
      original: original && (await blobs.localPath(original)),
      images: await Promise.all(
        images.map(async (sha256) => ({ sha256, path: await blobs.localPath({ sha256 }) })),
      ),
      output,
    } as const;
    const answer = await pool.run(task, { organization: organization.id, bytes: original?.length ?? 0 });
    if (answer.ok) return blobs.adopt(output, answer.result.output);
    await rm(output, { force: true });
    if (answer.code === 'document.unreadable') {
      throw new PortalRefusal('DownloadTypeNotAvailable', 'The pages of the document cannot be drawn on.');
    }
    throw poolRefusal(answer);
  }
}

function available({ state, context }: ReadDocument, type: DownloadType): void {
  assertAvailable(type, {
    state,
    hasSignature: hasSignature(context),
    hasApproval: context.made.length > 0,
    hasPages: context.format === 'Pades',
  });
}
