/**
 * Files given to the portal: stored by content, known by an id of their organization, forgotten when nobody uses
 * them. Implements `PortalUploads`; uploads in pieces are in `segmented-uploads.ts`.
 *
 * Source: portal-gaps §4; §21 "Upload size".
 */
import { type OrganizationId, parsePortalId, type UploadId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import { UPLOAD_EXPIRED, type UploadContext, uploadMachine } from '../../machines/upload.ts';
import type { ActorDefinition, ActorSystem, Clock, Faults, Ids, Json } from '../../runtime/index.ts';
import type { PortalUploads, StoredFile, Tenant, UploadSink, UploadView } from './api.ts';
import { BlobSink, type Blobs, blobCounters, type KeptBlob } from './blobs.ts';
import type { SegmentedUploads } from './segmented-uploads.ts';
import type { Tickets } from './tickets.ts';
import './upload-faults.ts';
import { cleanContentType, cleanName } from './upload-names.ts';

export const UPLOAD = 'upload';

export const uploadDefinition: ActorDefinition = {
  kind: UPLOAD,
  machine: uploadMachine,
  version: 1,
  ends: ({ state }) => state === UPLOAD_EXPIRED,
  counters: ({ context }) => blobCounters([(context as UploadContext).blob]),
};

/** An upload as documents need it. */
export interface StoredUpload extends UploadContext {
  readonly id: UploadId;
}

export interface UploadsParts {
  readonly system: ActorSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly blobs: Blobs;
  readonly tickets: Tickets;
  readonly segmented: SegmentedUploads;
  readonly faults: Faults;
  /** Largest upload, bytes. */
  readonly maxBytes: number;
}

export class Uploads implements PortalUploads {
  readonly maxBytes: number;
  readonly #parts: UploadsParts;

  constructor(parts: UploadsParts) {
    this.#parts = parts;
    this.maxBytes = parts.maxBytes;
  }

  open(): Promise<BlobSink> {
    return this.#parts.blobs.open();
  }

  /** Refusals: `BadRequest` for a file without bytes, `PayloadTooLarge`. The sink is used up in any case. */
  async accept(
    { organization, application }: Tenant,
    sink: UploadSink,
    file: { readonly name: string; readonly contentType: string },
  ): Promise<UploadView> {
    const { blobs, ids, faults } = this.#parts;
    const given = ownSink(sink);
    await this.#check(given);
    const kept = await blobs.keep(given);
    await faults.at('portal.upload.kept');
    return this.#record(ids.uuid() as UploadId, kept, {
      organizationId: organization.id,
      applicationId: application.id,
      name: cleanName(file.name),
      contentType: cleanContentType(file.contentType),
    });
  }

  /** Refusals: `LimitExceeded` when the organization has too many open. */
  openSegmented(tenant: Tenant): Promise<string> {
    return this.#parts.segmented.open(tenant);
  }

  /** Refusals: `NotFound` for the ticket, `BadRequest`, `PayloadTooLarge`. The sink is used up in any case. */
  async acceptSegment(
    ticket: string,
    range: { readonly from: number; readonly to: number; readonly total: number },
    sink: UploadSink,
    file: { readonly name: string; readonly contentType: string },
  ): Promise<UploadView | undefined> {
    const whole = await this.#parts.segmented.accept(ticket, range, ownSink(sink), file, this.maxBytes);
    if (whole === undefined) return undefined;
    if ('made' in whole) return this.#made(whole.made);
    // The upload has the id of its pieces, so that making it twice makes one.
    const view = await this.#record(whole.id, whole.kept, whole);
    await this.#parts.segmented.complete(whole.id);
    return view;
  }

  async preview(ticket: string): Promise<StoredFile> {
    const { tickets, clock, blobs } = this.#parts;
    const read = tickets.read('preview', ticket, clock.now());
    const id = read?.expired === false ? (read.claims[0] as UploadId) : undefined;
    const upload = id && (await this.#read(id));
    if (!upload) throw new PortalRefusal('NotFound');
    return blobs.file(upload.blob, upload.name, upload.contentType);
  }

  /**
   * An upload of the organization, for a call that uses it: it is kept for further days, and its file is there until
   * the caller's own step counts it.
   * Refusals: `UploadNotFound`, also for what is no id at all.
   */
  async findUpload(organization: OrganizationId, id: string): Promise<StoredUpload> {
    const { system, blobs } = this.#parts;
    const uploadId = parsePortalId('UploadId', id);
    const upload = uploadId && (await this.#read(uploadId));
    if (!upload || upload.organizationId !== organization) throw notFound(id);
    const used = await system.tell({ kind: UPLOAD, id: upload.id }, { type: 'USE' });
    if (!used.accepted || !(await blobs.touch(upload.blob))) throw notFound(id);
    return upload;
  }

  /** Path with a ticket that shows an upload without a key. */
  locationOf(id: UploadId): string {
    const { tickets, clock } = this.#parts;
    return `/api/uploads/${id}/preview?ticket=${tickets.issue('preview', [id], clock.now())}`;
  }

  async #check(sink: BlobSink): Promise<void> {
    if (sink.length > 0 && sink.length <= this.maxBytes) return;
    await sink.abort();
    if (sink.length > 0)
      throw new PortalRefusal('PayloadTooLarge', `A file may have at most ${this.maxBytes} bytes.`);
    const message = 'The file has no bytes.';
    throw new PortalRefusal('BadRequest', message, { errors: { File: [message] } });
  }

  async #read(id: UploadId): Promise<StoredUpload | undefined> {
    const actor = await this.#parts.system.read({ kind: UPLOAD, id });
    return actor && { ...(actor.context as UploadContext), id };
  }

  async #made(id: UploadId): Promise<UploadView> {
    const upload = await this.#read(id);
    if (upload === undefined) throw new PortalRefusal('NotFound');
    return this.#view(upload);
  }

  #view({ id, name, contentType, blob, md5 }: StoredUpload): UploadView {
    const location = this.locationOf(id);
    return { id, name, contentType, size: blob.length, md5, sha256: blob.sha256, location };
  }

  async #record(
    id: UploadId,
    { blob, md5 }: KeptBlob,
    about: Pick<UploadContext, 'organizationId' | 'applicationId' | 'name' | 'contentType'>,
  ): Promise<UploadView> {
    const { system, clock } = this.#parts;
    const { organizationId, applicationId, name, contentType } = about;
    const context = { organizationId, applicationId, name, contentType, md5, createdAt: clock.now() };
    const made = await system.create({ kind: UPLOAD, id }, { ...context, blob: { ...blob } } satisfies Json);
    if (made.accepted) await made.durable;
    else if (made.because !== 'exists') throw new PortalRefusal('ServiceBusy');
    return this.#view({ ...context, blob, id });
  }
}

function ownSink(sink: UploadSink): BlobSink {
  if (sink instanceof BlobSink) return sink;
  throw new TypeError('The sink of an upload comes from `open`.');
}

function notFound(id: string): PortalRefusal {
  const shown = id.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  return new PortalRefusal('UploadNotFound', undefined, { details: { uploadId: shown } });
}
