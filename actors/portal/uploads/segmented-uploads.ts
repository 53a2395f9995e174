/**
 * Segmented uploads. Each segment is durable before it is acknowledged, so that a client may continue after a restart, and
 * at another node. Unfinished uploads are swept.
 *
 * Source: docs/portal-values.md §4.
 */
import { accepted, defineActor } from '@sealwright/runtime';
import { parsePortalId, type UploadId } from '../../../machines/ids.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  isWhole,
  SEGMENTED_EXPIRED,
  type SegmentedUploadContext,
  segmentedUploadMachine,
} from '../../../machines/portal/segmented-upload.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { isPdfContent } from '../../shared/files/pdf-content.ts';
import { refusalOf } from '../../shared/objects/object-store.ts';
import type { Tenant } from '../api/callers.ts';
import type { Tickets } from '../shared/tickets.ts';
import type { BlobSink } from './blob-sink.ts';
import type { Blobs, StoredBlob } from './blobs.ts';
import type { Segments } from './segments.ts';
import './upload-faults.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import { cleanContentType, cleanName } from './upload-names.ts';

/** Maximum number of open segmented uploads per organization. */
export const MAX_OPEN_UPLOADS = 64;

export const SEGMENTED_UPLOAD = defineActor('segmented-upload', {
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
  readonly isPdf: boolean;
}

type JoinedFile = Pick<JoinedUpload, 'stored' | 'isPdf'>;

/** An upload completed earlier. */
export interface CompletedUpload {
  readonly made: UploadId;
}

type Runtime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'faults'>;

/** Bytes of a segment that have arrived, and what the request says of the file. */
interface Segment {
  readonly sink: BlobSink;
  readonly file: { readonly name: string; readonly contentType: string };
  readonly maxBytes: number;
}

export class SegmentedUploads {
  /** Uploads being completed; a repeated last segment waits for the same result. */
  readonly #joining = new Map<UploadId, Promise<JoinedFile>>();

  constructor(
    private readonly segments: Segments,
    private readonly runtime: Runtime,
    private readonly blobs: Blobs,
    private readonly tickets: Tickets,
  ) {}

  /** The ticket of a new upload. */
  async open({ organization, application }: Tenant): Promise<string> {
    const { actors, store, clock, ids } = this.runtime;
    if ((await countOf(store, openCounter(organization.id))) >= MAX_OPEN_UPLOADS) {
      throw new PortalRefusal(
        'LimitExceeded',
        `An organization may have ${MAX_OPEN_UPLOADS} uploads in pieces open.`,
      );
    }
    const id = ids.uuid() as UploadId;
    const at = clock.now();
    await accepted(
      actors.create(SEGMENTED_UPLOAD, id, {
        organizationId: organization.id,
        applicationId: application.id,
        createdAt: at,
        total: null,
        name: '',
        contentType: '',
        pieces: [],
      }),
      () => new PortalRefusal('ServiceBusy'),
    );
    await this.segments.open(id);
    return this.tickets.issue('segment', [id], at);
  }

  /** Resolves when there is an upload that the ticket names. Refusals: `NotFound`. */
  async check(ticket: string): Promise<void> {
    const actor = await this.runtime.actors.read(SEGMENTED_UPLOAD, this.#idOf(ticket));
    if (actor === undefined) throw new PortalRefusal('NotFound');
  }

  /** Accepts one segment; resolves with the upload when it is complete. Refusals: see `Uploads.acceptSegment`. */
  async accept(
    ticket: string,
    range: ContentRange,
    segment: Segment,
  ): Promise<JoinedUpload | CompletedUpload | undefined> {
    try {
      return await this.#accept(ticket, range, segment);
    } finally {
      await segment.sink.abort();
    }
  }

  async #accept(
    ticket: string,
    range: ContentRange,
    { sink, file, maxBytes }: Segment,
  ): Promise<JoinedUpload | CompletedUpload | undefined> {
    const { actors, faults } = this.runtime;
    const id = this.#idOf(ticket);
    const actor = await actors.read(SEGMENTED_UPLOAD, id);
    if (actor === undefined) throw new PortalRefusal('NotFound');
    checkRange(range, sink.length, maxBytes);
    // The answer was lost on its way.
    if (actor.state === 'Done') return { made: id };
    if (!(await this.segments.place(id, [range.from, range.to], sink))) return this.#refused(id, 'gone');
    await faults.at('portal.segment.placed');
    const { from, to, total } = range;
    const outcome = await actors.send(SEGMENTED_UPLOAD, id, {
      type: 'PIECE',
      from,
      to,
      total,
      name: cleanName(file.name),
      contentType: cleanContentType(file.contentType),
    });
    if (!outcome.accepted) return this.#refused(id, outcome.reason);
    const { context } = outcome;
    return isWhole(context) ? this.#wholeOrMade(id, context) : undefined;
  }

  /** Removes the segments of a completed upload. */
  async complete(id: UploadId): Promise<void> {
    await this.runtime.actors.send(SEGMENTED_UPLOAD, id, { type: 'COMPLETE' });
    await this.segments.remove(id);
  }

  /** Removes the segments of completed and abandoned uploads. */
  async sweep(signal?: AbortSignal): Promise<number> {
    let removed = 0;
    for (const name of await this.segments.names()) {
      if (signal?.aborted === true) break;
      const id = parsePortalId('UploadId', name);
      const actor = id && (await this.runtime.actors.read(SEGMENTED_UPLOAD, id));
      if (actor?.state === 'Open') continue;
      // What an object store refuses stays, and is tried again.
      if ((await refusalOf(() => this.segments.remove(name))) === undefined) removed += 1;
    }
    return removed;
  }

  #idOf(ticket: string): UploadId {
    const read = this.tickets.read('segment', ticket, this.runtime.clock.now());
    const id = read?.expired === false ? read.claims[0] : undefined;
    if (id === undefined) throw new PortalRefusal('NotFound');
    return id as UploadId;
  }

  /** Another request sent the last segment meanwhile, or this one does not fit the others. */
  async #refused(id: UploadId, reason: string): Promise<CompletedUpload> {
    const actor = await this.runtime.actors.read(SEGMENTED_UPLOAD, id);
    if (actor?.state === 'Done') return { made: id };
    if (actor === undefined || reason === 'gone') throw new PortalRefusal('NotFound');
    if (reason !== 'not-accepted') throw new PortalRefusal('ServiceBusy');
    const { total } = actor.context;
    throw badMember(
      'Content-Range',
      `The piece does not fit the ones before; they are of ${total} bytes in all.`,
    );
  }

  /** Of concurrent last segments, a late one may find the segments removed. */
  async #wholeOrMade(id: UploadId, context: SegmentedUploadContext): Promise<JoinedUpload | CompletedUpload> {
    try {
      return await this.#whole(id, context);
    } catch (error) {
      const actor = await this.runtime.actors.read(SEGMENTED_UPLOAD, id);
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
    return { ...about, id, ...(await joining) };
  }

  async #join(id: UploadId, context: SegmentedUploadContext): Promise<JoinedFile> {
    const { pieces, total } = context;
    const sink = await this.blobs.open();
    try {
      for (const piece of pieces) {
        const [from, to] = piece;
        // Skips bytes that an earlier segment contains.
        if (to < sink.length) continue;
        const bytes = await this.segments.read(id, piece, sink.length - from);
        for await (const chunk of bytes) await sink.write(chunk);
      }
      if (sink.length !== total) throw new TypeError('The pieces of an upload changed while they were read.');
      const stored = await this.blobs.store(sink);
      await this.runtime.faults.at('portal.segment.whole');
      return { stored, isPdf: isPdfContent(sink.head, context) };
    } finally {
      await sink.abort();
    }
  }
}

function checkRange({ from, to, total }: ContentRange, length: number, maxBytes: number): void {
  if (total > maxBytes)
    throw new PortalRefusal('PayloadTooLarge', `A file may have at most ${maxBytes} bytes.`);
  const whole = [from, to, total].every((number) => Number.isSafeInteger(number) && number >= 0);
  if (!whole || from > to || to >= total)
    throw badMember('Content-Range', 'The range lies outside of the file.');
  if (length !== to - from + 1)
    throw badMember('Content-Range', `The range has ${to - from + 1} bytes and the piece ${length}.`);
}
