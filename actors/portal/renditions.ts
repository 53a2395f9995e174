/**
 * Downloads: the document as it was uploaded, as it was signed, and versions of it that are drawn at first asking.
 *
 * Drawn versions are blobs that nobody counts: they are found again as long as they are asked for now and then, swept
 * some time after, also when their document is gone, and drawn again to the same bytes when that was too early. Which blob
 * is which version is known until the next start: drawing again takes 20 ms of processor for three pages and a tenth of
 * a second for a hundred, less than keeping an index of versions right would be worth.
 *
 * Source: portal-gaps §13.
 */
import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { type DocumentId, parsePortalId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { type BlobRef, DOWNLOAD_TYPES, type DownloadType } from '../../machines/portal-words.ts';
import type { Clock } from '../../runtime/index.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { StoredFile, Tenant } from './api.ts';
import type { Blobs } from './blobs.ts';
import type { DescribedFiles } from './described-files.ts';
import { type DocumentReader, documentOf, hasSignature, type ReadDocument } from './document-reader.ts';
import { describedSignatures } from './document-signatures.ts';
import type { LanguageOf } from './languages.ts';
import { renditionModel } from './rendition-facts.ts';
import type { RenderedType, RenditionModel } from './rendition-model.ts';
import { assertAvailable, renditionName, signedName } from './rendition-rules.ts';
import type { Tickets } from './tickets.ts';

/** Versions whose blobs are remembered. */
const REMEMBERED = 5_000;

export interface RenditionsParts {
  readonly documents: DocumentReader;
  readonly described: DescribedFiles;
  readonly pool: Pick<SigningPool, 'run'>;
  readonly blobs: Blobs;
  readonly tickets: Tickets;
  readonly clock: Pick<Clock, 'now'>;
  /** Without a slash at its end. */
  readonly publicUrl: string;
  readonly languageOf: LanguageOf;
}

export class Renditions {
  readonly #parts: RenditionsParts;
  readonly #drawn = new Map<string, Promise<BlobRef>>();

  constructor(parts: RenditionsParts) {
    this.#parts = parts;
  }

  /** Refusals: those of `documentOf` and `assertAvailable`. */
  async content(tenant: Tenant, id: DocumentId, type: DownloadType): Promise<StoredFile> {
    return this.#file(await documentOf(this.#parts.documents, tenant, id), type);
  }

  /** A path with a ticket of one hour. Refusals: as `content`. */
  async contentTicket(tenant: Tenant, id: DocumentId, type: DownloadType, preview: boolean): Promise<string> {
    const { documents, tickets, clock } = this.#parts;
    available(await documentOf(documents, tenant, id), type);
    const claims = [id, type, preview ? 'inline' : 'attachment'];
    return `/api/documents/${id}/download?ticket=${tickets.issue('download', claims, clock.now())}`;
  }

  /** Refusals: `NotFound` for a ticket that is none or too old; as `content`. */
  async ticketContent(ticket: string): Promise<StoredFile & { readonly inline: boolean }> {
    const { documents, tickets, clock } = this.#parts;
    const read = tickets.read('download', ticket, clock.now());
    const [claimed, named, way] = read?.expired === false ? read.claims : [];
    const id = parsePortalId('DocumentId', claimed ?? '');
    const type = DOWNLOAD_TYPES.find((one) => one === named);
    if (id === undefined || type === undefined) throw new PortalRefusal('NotFound');
    const file = await this.#file(await documentOf(documents, undefined, id), type);
    return { ...file, inline: way === 'inline' };
  }

  async #file(document: ReadDocument, type: DownloadType): Promise<StoredFile> {
    available(document, type);
    const { blobs } = this.#parts;
    const { file, format, current, signatures } = document.context;
    if (type === 'Original') return blobs.file(file.blob, file.name, file.contentType);
    if (type === 'Signatures') {
      const { fileName, contentType } = signedName(file.name, format);
      return blobs.file(signatures ?? current, fileName, contentType);
    }
    const blob = await this.#rendition(document, type);
    return blobs.file(blob, renditionName(file.name, type), 'application/pdf');
  }

  async #rendition({ state, context }: ReadDocument, type: RenderedType): Promise<BlobRef> {
    const { described, languageOf, publicUrl } = this.#parts;
    const model = renditionModel({
      type,
      state,
      context,
      signatures: await describedSignatures(described, context),
      language: await languageOf(context.organization.id),
      checkUrl: `${publicUrl}/check/${context.key}`,
    });
    const original = context.format === 'Pades' ? context.file.blob : null;
    const key = createHash('sha256')
      .update(JSON.stringify([model, original?.sha256 ?? null]))
      .digest('hex');
    for (let known = this.#drawn.get(key); known !== undefined; known = this.#drawn.get(key)) {
      const blob = await known.catch(() => undefined);
      if (blob !== undefined && (await this.#parts.blobs.touch(blob))) return blob;
      if (this.#drawn.get(key) === known) this.#drawn.delete(key);
    }
    return this.#remember(key, () => this.#draw(context.id, model, original));
  }

  /** Who asks while a version is being drawn waits for the same drawing. */
  async #remember(key: string, draw: () => Promise<BlobRef>): Promise<BlobRef> {
    const drawing = draw();
    this.#drawn.delete(key);
    this.#drawn.set(key, drawing);
    const [oldest] = this.#drawn.keys();
    if (this.#drawn.size > REMEMBERED && oldest !== undefined) this.#drawn.delete(oldest);
    try {
      return await drawing;
    } catch (error) {
      if (this.#drawn.get(key) === drawing) this.#drawn.delete(key);
      throw error;
    }
  }

  async #draw(documentId: DocumentId, model: RenditionModel, original: BlobRef | null): Promise<BlobRef> {
    const { pool, blobs } = this.#parts;
    const images = [...new Set(model.marks.flatMap(({ image }) => (image === null ? [] : [image])))];
    const output = blobs.temporaryPath();
    const answer = await pool.run({
      task: 'portal.render',
      documentId,
      model,
      original: original && blobs.pathOf(original),
      images: images.map((sha256) => ({ sha256, path: blobs.pathOf({ sha256 }) })),
      output,
    });
    if (answer.ok) return blobs.adopt(output, answer.result.output);
    await rm(output, { force: true });
    if (answer.code === 'document.unreadable') {
      throw new PortalRefusal('DownloadTypeNotAvailable', 'The pages of the document cannot be drawn on.');
    }
    throw new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 5 });
  }
}

function available({ state, context }: ReadDocument, type: DownloadType): void {
  assertAvailable(type, {
    state,
    hasSignature: hasSignature(context),
    hasPages: context.format === 'Pades',
  });
}
