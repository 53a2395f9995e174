/**
 * Uploads of the portal: stored by content, identified within an organization, removed when unreferenced. Segmented
 * uploads are in `segmented-uploads.ts`.
 *
 * View `participant-uploads` [documentId, id] → SHA-256, of uploads of participants.
 *
 * Source: docs/portal-values.md §4; §21; docs/decisions/0149-uploads-of-participants.md.
 */

import { type ActorStore, type ActorView, accepted, defineActor, type Json } from '@sealwright/runtime';
import type { Value } from '../../../contracts/operation.ts';
import type { upload } from '../../../contracts/portal/uploads.ts';
import { type DocumentId, type OrganizationId, parsePortalId, type UploadId } from '../../../machines/ids.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { isPdfFile, mediaTypeOf } from '../../../machines/portal/portal-types.ts';
import {
  UPLOAD_EXPIRED,
  type UploadContext,
  type UploadParticipant,
  uploadMachine,
} from '../../../machines/portal/upload.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { type DeclaredFile, isPdfContent } from '../../shared/files/pdf-content.ts';
import { GrowingIds } from '../../shared/ids/growing-ids.ts';
import type { Tenant } from '../api/callers.ts';
import { busyUnlessMade } from '../shared/records.ts';
import type { Tickets } from '../shared/tickets.ts';
import type { BlobSink } from './blob-sink.ts';
import { type Blobs, blobCounters, type StoredBlob, type StoredFile } from './blobs.ts';
import type { InspectedUploads } from './inspected-uploads.ts';
import type { ContentRange, SegmentedUploads } from './segmented-uploads.ts';
import './upload-faults.ts';
import { cleanContentType, cleanName } from './upload-names.ts';

const PARTICIPANT_UPLOADS = 'participant-uploads';

export const UPLOAD = defineActor('upload', {
  machine: uploadMachine,
  version: 2,
  migrations: {
    // Version 1 had no rows.
    1: { migrate: (stored) => stored, facts: (upload) => ({ rows: [], counters: uploadCounters(upload) }) },
  },
  ends: ({ state }) => state === UPLOAD_EXPIRED,
  rows: ({ id, context: { blob, participant } }) =>
    participant === undefined
      ? []
      : [{ view: PARTICIPANT_UPLOADS, key: [participant.documentId, id], value: blob.sha256 }],
  counters: uploadCounters,
});

function uploadCounters({ context: { blob, participant } }: ActorView<UploadContext>) {
  const counters = blobCounters([blob]);
  if (participant) {
    counters[`${participantCounters(participant)}files`] = 1;
    counters[`${participantCounters(participant)}bytes`] = blob.length;
  }
  return counters;
}

/** Prefix of the counters of a participant's uploads: `files` and `bytes`. */
function participantCounters({ documentId, flowActionId, userId }: UploadParticipant): string {
  return `${documentCounters(documentId)}${flowActionId}/${userId}/`;
}

/** Prefix of the counters of all participants of a document. */
function documentCounters(documentId: DocumentId): string {
  return `participant-uploads/${documentId}/`;
}

/** Uploads that have not expired, and their bytes in all. */
export interface UploadUsage {
  readonly files: number;
  readonly bytes: number;
}

/** Uploads of participants of a document that have not expired, by id. */
export async function participantUploads(
  store: Pick<ActorStore, 'rows'>,
  documentId: DocumentId,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
): Promise<readonly { readonly id: string; readonly sha256: string }[]> {
  const rows = await store.rows({
    view: PARTICIPANT_UPLOADS,
    prefix: [documentId],
    limit,
    ...(after !== undefined && { after: [documentId, after] }),
  });
  return rows.map(({ key, value }) => ({ id: String(key[1]), sha256: String(value) }));
}

/** An upload as documents need it. */
export interface StoredUpload extends UploadContext {
  readonly id: UploadId;
}

export interface UploadView extends Value<typeof upload> {
  readonly id: UploadId;
  readonly size: number;
  /** MD5, Base64. */
  readonly md5: string;
  /** Lower-case hex. */
  readonly sha256: string;
}

type Runtime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'faults'>;

export class Uploads {
  readonly #runtime: Runtime;
  readonly #ids: GrowingIds;
  /** Maximum size of an upload, bytes. */
  readonly maxBytes: number;

  /** @param inspected learns of files inspected while they were stored */
  constructor(
    private readonly needs: {
      readonly runtime: Runtime;
      readonly blobs: Blobs;
      readonly tickets: Tickets;
      readonly segmented: SegmentedUploads;
      readonly maxBytes: number;
      readonly inspected?: InspectedUploads | undefined;
    },
  ) {
    this.#runtime = needs.runtime;
    this.#ids = new GrowingIds(needs.runtime.ids);
    this.maxBytes = needs.maxBytes;
  }

  /** A place for the bytes of one upload; nothing is known of it until `accept`. */
  open(): Promise<BlobSink> {
    return this.needs.blobs.open();
  }

  /**
   * The upload is durable when this resolves. Refusals: `BadRequest` for a file without bytes, `PayloadTooLarge`. The sink is
   * used up in any case.
   */
  async accept(
    { organization, application }: Tenant,
    sink: BlobSink,
    file: DeclaredFile,
  ): Promise<UploadView> {
    const { clock, faults } = this.#runtime;
    await this.#check(sink, this.maxBytes);
    const description = { name: cleanName(file.name), contentType: cleanContentType(file.contentType) };
    const isPdf = isPdfContent(sink.head, description);
    const stored = await this.needs.blobs.store(sink, { ...description, isPdf });
    if (stored.inspected !== undefined) this.needs.inspected?.add(stored.blob, description, stored.inspected);
    await faults.at('portal.upload.kept');
    return this.#record(this.#ids.next(clock.now()) as UploadId, stored, {
      organizationId: organization.id,
      applicationId: application.id,
      ...description,
      isPdf,
    });
  }

  /**
   * Takes a file of a participant, which no call of anybody else finds. Refusals: `BadRequest` for a file without bytes,
   * `PayloadTooLarge`. The sink is used up in any case.
   */
  async acceptOf(
    organizationId: OrganizationId,
    participant: UploadParticipant,
    sink: BlobSink,
    file: DeclaredFile & { readonly maxBytes: number },
  ): Promise<UploadView> {
    const { clock, faults } = this.#runtime;
    await this.#check(sink, file.maxBytes);
    const stored = await this.needs.blobs.store(sink);
    await faults.at('portal.upload.kept');
    return this.#record(this.#ids.next(clock.now()) as UploadId, stored, {
      organizationId,
      applicationId: null,
      participant,
      name: cleanName(file.name),
      contentType: file.contentType,
      isPdf: false,
    });
  }

  /** Counts the uploads of a participant, and of all participants of the document. */
  async usedBy(
    participant: UploadParticipant,
  ): Promise<{ readonly own: UploadUsage; readonly document: UploadUsage }> {
    const all = await this.#runtime.store.counters(documentCounters(participant.documentId));
    const prefix = participantCounters(participant);
    const sum = (name: keyof UploadUsage) =>
      Object.entries(all).reduce(
        (total, [key, count]) => (key.endsWith(`/${name}`) ? total + count : total),
        0,
      );
    return {
      own: { files: all[`${prefix}files`] ?? 0, bytes: all[`${prefix}bytes`] ?? 0 },
      document: { files: sum('files'), bytes: sum('bytes') },
    };
  }

  /** Ends an upload of a participant that no signature names. */
  async forget(id: UploadId): Promise<void> {
    await this.#runtime.actors.send(UPLOAD, id, { type: 'FORGET' });
  }

  /** The ticket of a segmented upload. Refusals: `LimitExceeded` when the organization has too many open. */
  openSegmented(tenant: Tenant): Promise<string> {
    return this.needs.segmented.open(tenant);
  }

  /** Resolves when the ticket of a segmented upload is valid. Refusals: `NotFound`. */
  checkSegmentTicket(ticket: string): Promise<void> {
    return this.needs.segmented.check(ticket);
  }

  /**
   * Accepts one segment, `from`-`to` inclusive of `total`. Resolves with the upload when it is complete; segments may
   * be repeated and arrive in any order. No API key: the ticket names the organization. The sink is used up in any case.
   * Refusals: `NotFound` for the ticket, `BadRequest`, `PayloadTooLarge`.
   */
  async acceptSegment(
    ticket: string,
    range: ContentRange,
    sink: BlobSink,
    file: DeclaredFile,
  ): Promise<UploadView | undefined> {
    const whole = await this.needs.segmented.accept(ticket, range, { sink, file, maxBytes: this.maxBytes });
    if (whole === undefined) return undefined;
    if ('made' in whole) return this.#made(whole.made);
    // The upload has the id of its segments: idempotent.
    const view = await this.#record(whole.id, whole.stored, whole);
    await this.needs.segmented.complete(whole.id);
    return view;
  }

  /** Refusals: `NotFound`. */
  async preview(ticket: string): Promise<StoredFile> {
    const read = this.needs.tickets.read('preview', ticket, this.#runtime.clock.now());
    const id = read?.expired === false ? (read.claims[0] as UploadId) : undefined;
    const upload = id && (await this.#read(id));
    if (!upload) throw new PortalRefusal('NotFound');
    return this.needs.blobs.file(upload.blob, upload.name, mediaTypeOf(upload));
  }

  /**
   * An upload of the organization, for a call that uses it: it is kept for further days, and its file is there until
   * the caller's own step counts it.
   * Refusals: `UploadNotFound`, also for what is no id at all.
   * @param participant the only one whose uploads are found; absent = those of applications are
   */
  async findUpload(
    organization: OrganizationId,
    id: string,
    participant?: UploadParticipant,
  ): Promise<StoredUpload> {
    const upload = await this.lookUp(organization, id, participant);
    if (!(await this.#use(upload.id))) throw notFound(id);
    return upload;
  }

  /** As `findUpload`, without use of it: the caller says what it has used. */
  async lookUp(
    organization: OrganizationId,
    id: string,
    participant?: UploadParticipant,
  ): Promise<StoredUpload> {
    const uploadId = parsePortalId('UploadId', id);
    const upload = uploadId && (await this.#read(uploadId));
    if (!upload || upload.organizationId !== organization || !isOf(upload, participant)) throw notFound(id);
    if (!(await this.needs.blobs.touchUnlessRecent(upload.blob))) throw notFound(id);
    return upload;
  }

  /**
   * Keeps uploads that a call uses for further days; those that have expired since it looked them up stay so. Never
   * rejects: the call makes its documents at the same time, and who is told that it failed makes them again.
   */
  async use(ids: Iterable<UploadId>): Promise<void> {
    await Promise.allSettled(Array.from(ids, (id) => this.#use(id)));
  }

  async #use(id: UploadId): Promise<boolean> {
    return (await this.#runtime.actors.send(UPLOAD, id, { type: 'USE' })).accepted;
  }

  /** Records an upload again that has expired, for a request that was kept with its files. */
  async restore({ id, ...upload }: StoredUpload): Promise<void> {
    if (!(await this.needs.blobs.touchUnlessRecent(upload.blob))) throw notFound(id);
    await accepted(this.#runtime.actors.create(UPLOAD, id, upload), busyUnlessMade);
  }

  /** As `restore`, of uploads that may be named several times. */
  async restoreAll(uploads: readonly StoredUpload[]): Promise<void> {
    for (const upload of new Map(uploads.map((one) => [one.id, one])).values()) await this.restore(upload);
  }

  /** As `findUpload`, in the order of the ids. */
  findUploads(organization: OrganizationId, ids: Iterable<string>): Promise<readonly StoredUpload[]> {
    return Promise.all(Array.from(ids, (id) => this.findUpload(organization, id)));
  }

  /** Paths with a ticket of the files of a saved request, by upload id. */
  async locationsOf(uploads: readonly StoredUpload[]): Promise<{ readonly [uploadId: string]: string }> {
    // Uploads are swept after a day; the request keeps their content.
    await this.restoreAll(uploads);
    return Object.fromEntries(uploads.map(({ id }) => [id, this.locationOf(id)]));
  }

  /** Path with a ticket that shows an upload without a key. */
  locationOf(id: UploadId): string {
    const ticket = this.needs.tickets.issue('preview', [id], this.#runtime.clock.now());
    return `/api/uploads/${id}/preview?ticket=${ticket}`;
  }

  async #check(sink: BlobSink, maxBytes: number): Promise<void> {
    if (sink.length > 0 && sink.length <= maxBytes) return;
    await sink.abort();
    if (sink.length > 0)
      throw new PortalRefusal('PayloadTooLarge', `A file may have at most ${maxBytes} bytes.`);
    throw badMember('File', 'The file has no bytes.');
  }

  async #read(id: UploadId): Promise<StoredUpload | undefined> {
    const actor = await this.#runtime.actors.read(UPLOAD, id);
    return actor && { id, ...actor.context };
  }

  async #made(id: UploadId): Promise<UploadView> {
    const upload = await this.#read(id);
    if (upload === undefined) throw new PortalRefusal('NotFound');
    return this.#view(upload);
  }

  #view({
    id,
    name,
    contentType,
    blob,
    md5,
  }: Pick<StoredUpload, 'id' | 'name' | 'contentType' | 'blob' | 'md5'>): UploadView {
    const location = this.locationOf(id);
    return { id, name, contentType, size: blob.length, md5, sha256: blob.sha256, location };
  }

  async #record(
    id: UploadId,
    { blob, md5 }: StoredBlob,
    about: Pick<
      UploadContext,
      'organizationId' | 'applicationId' | 'participant' | 'name' | 'contentType'
    > & {
      readonly isPdf: boolean;
    },
  ): Promise<UploadView> {
    const { actors, clock } = this.#runtime;
    const { organizationId, applicationId, participant, name, contentType, isPdf } = about;
    const stored = {
      organizationId,
      applicationId,
      name,
      contentType,
      md5,
      createdAt: clock.now(),
      blob: { sha256: blob.sha256, length: blob.length },
      ...(isPdf && !isPdfFile({ contentType }) && { isPdf }),
      ...(participant && { participant: { ...participant } }),
    } satisfies Json;
    await accepted(actors.create(UPLOAD, id, stored), busyUnlessMade);
    return this.#view({ id, name, contentType, blob, md5 });
  }
}

function isOf(upload: UploadContext, participant: UploadParticipant | undefined): boolean {
  const owner = upload.participant;
  if (owner === undefined || participant === undefined) return owner === participant;
  return participantCounters(owner) === participantCounters(participant);
}

function notFound(id: string): PortalRefusal {
  const shown = id.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  return new PortalRefusal('UploadNotFound', undefined, { details: { uploadId: shown } });
}
