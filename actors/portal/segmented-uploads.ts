/**
 * Uploads that come in pieces. Each piece is a file of its own under `segments/<id>/<from>-<to>`, durable before it is
 * acknowledged, so that a client may go on after any restart. What is left of unfinished ones is swept.
 *
 * Source: portal-gaps §4, "Segmented upload".
 */
import { createReadStream, mkdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parsePortalId, type UploadId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import {
  isWhole,
  type PieceRange,
  SEGMENTED_EXPIRED,
  type SegmentedUploadContext,
  segmentedUploadMachine,
} from '../../machines/segmented-upload.ts';
import type { ActorDefinition, ActorStore, ActorSystem, Clock, Faults, Ids } from '../../runtime/index.ts';
import type { DiskSync } from '../disk-sync.ts';
import type { Tenant } from './api.ts';
import { type BlobSink, type Blobs, type KeptBlob, unavailable } from './blobs.ts';
import type { Tickets } from './tickets.ts';
import './upload-faults.ts';
import { cleanContentType, cleanName } from './upload-names.ts';

export const SEGMENTED_UPLOAD = 'segmented-upload';

/** Uploads in pieces that one organization may have open at a time. */
export const MOST_OPEN = 64;

export const segmentedUploadDefinition: ActorDefinition = {
  kind: SEGMENTED_UPLOAD,
  machine: segmentedUploadMachine,
  version: 1,
  ends: ({ state }) => state === SEGMENTED_EXPIRED,
  counters: ({ state, context }): { readonly [name: string]: number } =>
    state === 'Open' ? { [openCounter((context as SegmentedUploadContext).organizationId)]: 1 } : {},
};

function openCounter(organization: string): string {
  return `segmented-open/${organization}`;
}

export interface ContentRange {
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

/** All pieces in one file. */
export interface WholeUpload extends Omit<SegmentedUploadContext, 'total' | 'pieces'> {
  readonly id: UploadId;
  readonly kept: KeptBlob;
}

/** An upload that was made of its pieces earlier. */
export interface MadeUpload {
  readonly made: UploadId;
}

export interface SegmentedUploadsParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly disk: DiskSync;
  readonly blobs: Blobs;
  readonly tickets: Tickets;
  readonly faults: Faults;
}

export class SegmentedUploads {
  readonly #folder: string;
  readonly #parts: SegmentedUploadsParts;
  /** Uploads that are being put together; whoever sends a last piece again waits for the same. */
  readonly #joining = new Map<UploadId, Promise<KeptBlob>>();

  /** @param root absolute path of `{Storage:Root}/portal`, on the file system of the blobs */
  constructor(root: string, parts: SegmentedUploadsParts) {
    this.#folder = join(root, 'segments');
    this.#parts = parts;
    mkdirSync(this.#folder, { recursive: true, mode: 0o750 });
  }

  /** The ticket of a new upload. */
  async open({ organization, application }: Tenant): Promise<string> {
    const { system, store, clock, ids, disk, tickets } = this.#parts;
    const counter = openCounter(organization.id);
    if (((await store.counters(counter))[counter] ?? 0) >= MOST_OPEN) {
      throw new PortalRefusal(
        'LimitExceeded',
        `An organization may have ${MOST_OPEN} uploads in pieces open.`,
      );
    }
    const id = ids.uuid() as UploadId;
    const at = clock.now();
    const made = await system.create(
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
    );
    if (!made.accepted) throw new PortalRefusal('ServiceBusy');
    await made.durable;
    await mkdir(join(this.#folder, id), { mode: 0o750 });
    await disk.directory(this.#folder);
    return tickets.issue('segment', [id], at);
  }

  /** Takes one piece; resolves with the whole once nothing is missing. Refusals: see `Uploads.acceptSegment`. */
  async accept(
    ticket: string,
    range: ContentRange,
    sink: BlobSink,
    file: { readonly name: string; readonly contentType: string },
    maxBytes: number,
  ): Promise<WholeUpload | MadeUpload | undefined> {
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
  ): Promise<WholeUpload | MadeUpload | undefined> {
    const { system, faults } = this.#parts;
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
    const told = await system.tell(address, {
      type: 'PIECE',
      from,
      to,
      total,
      name: cleanName(file.name),
      contentType: cleanContentType(file.contentType),
    });
    if (!told.accepted) return this.#refused(id, told.because);
    await told.durable;
    const context = told.actor.context as SegmentedUploadContext;
    return isWhole(context) ? this.#wholeOrMade(id, context) : undefined;
  }

  /** Forgets the pieces of an upload that was made. */
  async complete(id: UploadId): Promise<void> {
    const told = await this.#parts.system.tell({ kind: SEGMENTED_UPLOAD, id }, { type: 'COMPLETE' });
    if (told.accepted) await told.durable;
    await rm(join(this.#folder, id), { recursive: true, force: true });
  }

  /** Removes the pieces of uploads that were made or given up. */
  async sweep(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of await readdir(this.#folder)) {
      if (signal?.aborted === true) break;
      const id = parsePortalId('UploadId', name);
      const actor = id && (await this.#parts.system.read({ kind: SEGMENTED_UPLOAD, id }));
      if (actor?.state === 'Open') continue;
      await rm(join(this.#folder, name), { recursive: true, force: true });
      removed += 1;
    }
    return removed;
  }

  #idOf(ticket: string): UploadId {
    const { tickets, clock } = this.#parts;
    const read = tickets.read('segment', ticket, clock.now());
    const id = read?.expired === false ? read.claims[0] : undefined;
    if (id === undefined) throw new PortalRefusal('NotFound');
    return id as UploadId;
  }

  /** Meanwhile somebody else sent the last piece, or this one does not belong to the others. */
  async #refused(id: UploadId, because: string): Promise<MadeUpload> {
    const actor = await this.#parts.system.read({ kind: SEGMENTED_UPLOAD, id });
    if (actor?.state === 'Done') return { made: id };
    if (actor === undefined || because === 'gone') throw new PortalRefusal('NotFound');
    if (because !== 'not-accepted') throw new PortalRefusal('ServiceBusy');
    const { total } = actor.context as SegmentedUploadContext;
    throw badRange(`The piece does not fit the ones before; they are of ${total} bytes in all.`);
  }

  /**
   * The piece stands durably under its name; one that came before is replaced as a whole. False when there is no place
   * for pieces any more.
   */
  async #place(id: UploadId, { from, to }: ContentRange, sink: BlobSink): Promise<boolean> {
    const folder = join(this.#folder, id);
    const { path } = await sink.finish();
    try {
      await rename(path, join(folder, pieceName([from, to])));
      await this.#parts.disk.directory(folder);
      return true;
    } catch (error) {
      await rm(path, { force: true });
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw unavailable(error);
    }
  }

  /** Of several last pieces at once, a late one may find that the pieces are gone. */
  async #wholeOrMade(id: UploadId, context: SegmentedUploadContext): Promise<WholeUpload | MadeUpload> {
    try {
      return await this.#whole(id, context);
    } catch (error) {
      const actor = await this.#parts.system.read({ kind: SEGMENTED_UPLOAD, id });
      if (actor?.state === 'Done') return { made: id };
      throw error;
    }
  }

  async #whole(id: UploadId, context: SegmentedUploadContext): Promise<WholeUpload> {
    let joining = this.#joining.get(id);
    if (joining === undefined) {
      joining = this.#join(id, context).finally(() => this.#joining.delete(id));
      this.#joining.set(id, joining);
    }
    const { total: _, pieces: __, ...about } = context;
    return { ...about, id, kept: await joining };
  }

  async #join(id: UploadId, { pieces, total }: SegmentedUploadContext): Promise<KeptBlob> {
    const { blobs, faults } = this.#parts;
    const sink = await blobs.open();
    try {
      for (const piece of pieces) {
        const [from, to] = piece;
        // What an earlier piece holds already is not read again.
        if (to < sink.length) continue;
        const path = join(this.#folder, id, pieceName(piece));
        const reading = createReadStream(path, { start: sink.length - from, highWaterMark: 256 * 1024 });
        for await (const bytes of reading) await sink.write(bytes as Buffer);
      }
      if (sink.length !== total) throw new TypeError('The pieces of an upload changed while they were read.');
      const kept = await blobs.keep(sink);
      await faults.at('portal.segment.whole');
      return kept;
    } finally {
      await sink.abort();
    }
  }
}

function pieceName([from, to]: PieceRange): string {
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
