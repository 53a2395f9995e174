/**
 * Segmented uploads. Each segment is a file under `segments/<id>/<from>-<to>`, durable before it is acknowledged, so
 * that a client may continue after a restart. Unfinished uploads are swept.
 *
 * Source: docs/portal-values.md §4.
 */
import { createReadStream, mkdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { actorKind, defineActor, durable, durableIfAccepted } from '@sealwright/runtime';
import { parsePortalId, type UploadId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  isWhole,
  SEGMENTED_EXPIRED,
  type SegmentedUploadContext,
  type SegmentRange,
  segmentedUploadMachine,
} from '../../../machines/portal/segmented-upload.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { DiskSync } from '../../shared/disk-sync.ts';
import type { Tenant } from '../api/callers.ts';
import type { Tickets } from '../shared/tickets.ts';
import { type BlobSink, unavailable } from './blob-sink.ts';
import type { Blobs, StoredBlob } from './blobs.ts';
import './upload-faults.ts';
import { cleanContentType, cleanName } from './upload-names.ts';

const SEGMENTED_UPLOAD = actorKind<typeof segmentedUploadMachine>('segmented-upload');

/** Maximum number of open segmented uploads per organization. */
export const MAX_OPEN_UPLOADS = 64;

export const segmentedUploadDefinition = defineActor(SEGMENTED_UPLOAD, {
  machine: segmentedUploadMachine,
  version: 1,
  ends: ({ state }) => state === SEGMENTED_EXPIRED,
  counters: ({ state, context }): { readonly [name: string]: number } =>
    state === 'Open' ? { [openCounter(context.organizationId)]: 1 } : {},
});

function openCounter(organization: string): string {
  return `segmented-open/${organization}`;
}

export interface ContentRange {
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

/** All segments in one file. */
export interface JoinedUpload extends Omit<SegmentedUploadContext, 'total' | 'pieces'> {
  readonly id: UploadId;
  readonly stored: StoredBlob;
}

/** An upload completed earlier. */
export interface CompletedUpload {
  readonly made: UploadId;
}

type Runtime = Pick<ServiceRuntime, 'system' | 'store' | 'clock' | 'ids' | 'faults'>;

export class SegmentedUploads {
  readonly #folder: string;
  readonly #runtime: Runtime;
  readonly #disk: DiskSync;
  readonly #blobs: Blobs;
  readonly #tickets: Tickets;
  /** Uploads being completed; a repeated last segment waits for the same result. */
  readonly #joining = new Map<UploadId, Promise<StoredBlob>>();

  /** @param root absolute path of `{Storage:Root}/portal`, on the file system of the blobs */
  constructor(root: string, runtime: Runtime, disk: DiskSync, blobs: Blobs, tickets: Tickets) {
    this.#folder = join(root, 'segments');
    this.#runtime = runtime;
    this.#disk = disk;
    this.#blobs = blobs;
    this.#tickets = tickets;
    mkdirSync(this.#folder, { recursive: true, mode: 0o750 });
  }

  /** The ticket of a new upload. */
  async open({ organization, application }: Tenant): Promise<string> {
    const { system, store, clock, ids } = this.#runtime;
    const counter = openCounter(organization.id);
    if (((await store.counters(counter))[counter] ?? 0) >= MAX_OPEN_UPLOADS) {
      throw new PortalRefusal(
        'LimitExceeded',
        `An organization may have ${MAX_OPEN_UPLOADS} uploads in pieces open.`,
      );
    }
    const id = ids.uuid() as UploadId;
    const at = clock.now();
    await durable(
      system.create(
        { kind: SEGMENTED_UPLOAD, id },
        {
          organizationId: organization.id,
          applicationId: application.id,
          createdAt: at,
          total: null,
          name: '',
          contentType: '',
          pieces: [],
        },
      ),
      () => new PortalRefusal('ServiceBusy'),
    );
    await mkdir(join(this.#folder, id), { mode: 0o750 });
    await this.#disk.directory(this.#folder);
    return this.#tickets.issue('segment', [id], at);
  }

  /** Resolves when there is an upload that the ticket names. Refusals: `NotFound`. */
  async check(ticket: string): Promise<void> {
    const actor = await this.#runtime.system.read({ kind: SEGMENTED_UPLOAD, id: this.#idOf(ticket) });
    if (actor === undefined) throw new PortalRefusal('NotFound');
  }

  /** Accepts one segment; resolves with the upload when it is complete. Refusals: see `Uploads.acceptSegment`. */
  async accept(
    ticket: string,
    range: ContentRange,
    sink: BlobSink,
    file: { readonly name: string; readonly contentType: string },
    maxBytes: number,
  ): Promise<JoinedUpload | CompletedUpload | undefined> {
    try {
      return await this.#accept(ticket, range, sink, file, maxBytes);
    } finally {
      await sink.abort();
    }
  }

  async #accept(
    ticket: string,
    range: ContentRange,
    sink: BlobSink,
    file: { readonly name: string; readonly contentType: string },
    maxBytes: number,
  ): Promise<JoinedUpload | CompletedUpload | undefined> {
    const { system, faults } = this.#runtime;
    const id = this.#idOf(ticket);
    const address = { kind: SEGMENTED_UPLOAD, id };
    const actor = await system.read(address);
    if (actor === undefined) throw new PortalRefusal('NotFound');
    checkRange(range, sink.length, maxBytes);
    // The answer was lost on its way.
    if (actor.state === 'Done') return { made: id };
    if (!(await this.#place(id, range, sink))) return this.#refused(id, 'gone');
    await faults.at('portal.segment.placed');
    const { from, to, total } = range;
    const outcome = await system.send(address, {
      type: 'PIECE',
      from,
      to,
      total,
      name: cleanName(file.name),
      contentType: cleanContentType(file.contentType),
    });
    if (!outcome.accepted) return this.#refused(id, outcome.reason);
    await outcome.durable;
    const context = outcome.actor.context;
    return isWhole(context) ? this.#wholeOrMade(id, context) : undefined;
  }

  /** Removes the segments of a completed upload. */
  async complete(id: UploadId): Promise<void> {
    await durableIfAccepted(this.#runtime.system.send({ kind: SEGMENTED_UPLOAD, id }, { type: 'COMPLETE' }));
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }

  /** Removes the segments of completed and abandoned uploads. */
  async sweep(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of await readdir(this.#folder)) {
      if (signal?.aborted === true) break;
      const id = parsePortalId('UploadId', name);
      const actor = id && (await this.#runtime.system.read({ kind: SEGMENTED_UPLOAD, id }));
      if (actor?.state === 'Open') continue;
      await rm(join(this.#folder, name), { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  #idOf(ticket: string): UploadId {
    const read = this.#tickets.read('segment', ticket, this.#runtime.clock.now());
    const id = read?.expired === false ? read.claims[0] : undefined;
    if (id === undefined) throw new PortalRefusal('NotFound');
    return id as UploadId;
  }

  /** Another request sent the last segment meanwhile, or this one does not fit the others. */
  async #refused(id: UploadId, reason: string): Promise<CompletedUpload> {
    const actor = await this.#runtime.system.read({ kind: SEGMENTED_UPLOAD, id });
    if (actor?.state === 'Done') return { made: id };
    if (actor === undefined || reason === 'gone') throw new PortalRefusal('NotFound');
    if (reason !== 'not-accepted') throw new PortalRefusal('ServiceBusy');
    const { total } = actor.context;
    throw badRange(`The piece does not fit the ones before; they are of ${total} bytes in all.`);
  }

  /** Stores the segment durably; replaces an earlier one. False when the limit of segments is reached. */
  async #place(id: UploadId, { from, to }: ContentRange, sink: BlobSink): Promise<boolean> {
    const folder = join(this.#folder, id);
    const { path } = await sink.finish();
    try {
      await rename(path, join(folder, segmentName([from, to])));
      await this.#disk.directory(folder);
      return true;
    } catch (error) {
      await rm(path, { force: true });
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw unavailable(error);
    }
  }

  /** Of concurrent last segments, a late one may find the segments removed. */
  async #wholeOrMade(id: UploadId, context: SegmentedUploadContext): Promise<JoinedUpload | CompletedUpload> {
    try {
      return await this.#whole(id, context);
    } catch (error) {
      const actor = await this.#runtime.system.read({ kind: SEGMENTED_UPLOAD, id });
      if (actor?.state === 'Done') return { made: id };
      throw error;
    }
  }

  async #whole(id: UploadId, context: SegmentedUploadContext): Promise<JoinedUpload> {
    let joining = this.#joining.get(id);
    if (joining === undefined) {
      joining = this.#join(id, context).finally(() => this.#joining.delete(id));
      this.#joining.set(id, joining);
    }
    const { total: _, pieces: __, ...about } = context;
    return { ...about, id, stored: await joining };
  }

  async #join(id: UploadId, { pieces, total }: SegmentedUploadContext): Promise<StoredBlob> {
    const sink = await this.#blobs.open();
    try {
      for (const piece of pieces) {
        const [from, to] = piece;
        // Skips bytes that an earlier segment contains.
        if (to < sink.length) continue;
        const path = join(this.#folder, id, segmentName(piece));
        const reading = createReadStream(path, { start: sink.length - from, highWaterMark: 256 * 1024 });
        for await (const bytes of reading) await sink.write(bytes as Buffer);
      }
      if (sink.length !== total) throw new TypeError('The pieces of an upload changed while they were read.');
      const stored = await this.#blobs.store(sink);
      await this.#runtime.faults.at('portal.segment.whole');
      return stored;
    } finally {
      await sink.abort();
    }
  }
}

function segmentName([from, to]: SegmentRange): string {
  return `${from}-${to}`;
}

function checkRange({ from, to, total }: ContentRange, length: number, maxBytes: number): void {
  if (total > maxBytes)
    throw new PortalRefusal('PayloadTooLarge', `A file may have at most ${maxBytes} bytes.`);
  const whole = [from, to, total].every((number) => Number.isSafeInteger(number) && number >= 0);
  if (!whole || from > to || to >= total) throw badRange('The range lies outside of the file.');
  if (length !== to - from + 1)
    throw badRange(`The range has ${to - from + 1} bytes and the piece ${length}.`);
}

function badRange(message: string): PortalRefusal {
  return new PortalRefusal('BadRequest', message, { errors: { 'Content-Range': [message] } });
}
