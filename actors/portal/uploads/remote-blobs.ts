/**
 * Files of the portal in an object store: `blobs/<2 hex>/<64 hex>`, as in the folder.
 *
 * A file without references is moved to `trash/<64 hex>` and removed from there an hour later. Another node may count a
 * reference between the last look at the counters and the move: then the file is moved back, by whoever needs it first or
 * by the next sweep.
 *
 * Source: docs/decisions/0279-object-store.md.
 */
import type { Readable } from 'node:stream';
import type { Clock } from '@sealwright/runtime';
import type { Millis } from '../../../machines/ids.ts';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import { ObjectReader } from '../../shared/objects/object-reader.ts';
import { type ObjectStore, refusalOf, type StoredObject } from '../../shared/objects/object-store.ts';

export interface SweepReport {
  readonly removed: number;
  readonly bytes: number;
  /** Reason for which the store refuses to remove others, which stay. */
  readonly refusal?: string;
}

/** Refusals in a row that end a sweep: each file is copied before it is removed, again at each sweep. */
const MAX_REFUSALS = 16;

const BLOBS = 'blobs/';
const TRASH = 'trash/';

/** Bytes of a file that is sent although it may be there. */
const MAX_SENT_UNASKED = 1024 * 1024;
/** Age up to which an object counts as just stored, milliseconds. */
const FRESH_FOR_MS: Millis = 10 * 60_000;

export class RemoteBlobs {
  constructor(
    private readonly objects: ObjectStore,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /** Stores a file, or begins the grace of the one that is there anew. @throws {Retryable} `storage.unavailable` */
  async store(path: string, { sha256, length }: BlobRef): Promise<void> {
    const key = keyOf(sha256);
    // Most files are new; to send one that is there costs less than to ask first.
    if (length <= MAX_SENT_UNASKED && (await this.objects.put(key, { path, length })) === 'stored') return;
    const found = await this.objects.head(key);
    // An object of another length is damage; the new one heals it.
    const isDamaged = found !== undefined && found.length !== length;
    if (!isDamaged && (await this.#refresh(sha256, found))) return;
    await this.objects.put(key, { path, length }, { replace: isDamaged });
  }

  async holds({ sha256, length }: BlobRef): Promise<boolean> {
    return (await this.objects.head(keyOf(sha256)))?.length === length;
  }

  /** Begins the grace of a file anew. False when it is not there. */
  async touch(sha256: string): Promise<boolean> {
    return this.#refresh(sha256, await this.objects.head(keyOf(sha256)));
  }

  /** Undefined when it is not there. */
  async read(sha256: string, from = 0): Promise<Readable | undefined> {
    const key = keyOf(sha256);
    const range = from === 0 ? undefined : { from };
    const found = await this.objects.get(key, range);
    if (found !== undefined || !(await this.objects.copy(TRASH + sha256, key))) return found?.stream;
    return (await this.objects.get(key, range))?.stream;
  }

  /** Undefined when it is not there. */
  async open(blob: BlobRef): Promise<ObjectReader | undefined> {
    if (!(await this.holds(blob)) && !(await this.touch(blob.sha256))) return undefined;
    return new ObjectReader(blob.length, (from) => this.read(blob.sha256, from));
  }

  /** Removes files that are free and were stored before a time. */
  async sweep(
    isFree: (sha256: string) => Promise<boolean>,
    before: Millis,
    signal?: AbortSignal,
  ): Promise<SweepReport> {
    let removed = 0;
    let bytes = 0;
    let refusal = await refusalOf(() => this.objects.removeParts(before));
    let inARow = 0;
    for await (const { key, length, modifiedAt } of this.#all(BLOBS, signal)) {
      if (inARow >= MAX_REFUSALS) break;
      const sha256 = digestOf(key);
      if (sha256 === undefined || modifiedAt > before || !(await isFree(sha256))) continue;
      let isRemoved = false;
      const refused = await refusalOf(async () => {
        isRemoved = await this.removeOne(sha256, before);
      });
      refusal = refused ?? refusal;
      inARow = refused === undefined ? 0 : inARow + 1;
      if (!isRemoved) continue;
      removed += 1;
      bytes += length;
    }
    for await (const { key, modifiedAt } of this.#all(TRASH, signal)) {
      const sha256 = digestOf(key);
      if (sha256 === undefined || modifiedAt > before) continue;
      const isNeeded = !(await isFree(sha256)) && (await this.objects.head(keyOf(sha256))) === undefined;
      if (isNeeded && !(await this.objects.copy(key, keyOf(sha256)))) continue;
      refusal = (await refusalOf(() => this.objects.remove(key))) ?? refusal;
    }
    return { removed, bytes, ...(refusal !== undefined && { refusal }) };
  }

  /** Moves a free file to the trash. False when it was stored after that time. */
  async removeOne(sha256: string, before: Millis): Promise<boolean> {
    const key = keyOf(sha256);
    const found = await this.objects.head(key);
    if (found === undefined) return true;
    if (found.modifiedAt > before) return false;
    if (await this.objects.copy(key, TRASH + sha256)) await this.objects.remove(key);
    return true;
  }

  async #refresh(sha256: string, found: StoredObject | undefined): Promise<boolean> {
    const key = keyOf(sha256);
    if (found !== undefined && Math.abs(this.clock.now() - found.modifiedAt) < FRESH_FOR_MS) return true;
    if (found !== undefined && (await this.objects.copy(key, key))) return true;
    return this.objects.copy(TRASH + sha256, key);
  }

  async *#all(prefix: string, signal?: AbortSignal): AsyncGenerator<StoredObject> {
    let next: string | undefined;
    do {
      const page = await this.objects.list(prefix, next);
      for (const object of page.objects) {
        if (signal?.aborted === true) return;
        yield object;
      }
      next = page.next;
    } while (next !== undefined);
  }
}

function keyOf(sha256: string): string {
  return `${BLOBS}${sha256.slice(0, 2)}/${sha256}`;
}

function digestOf(key: string): string | undefined {
  return /(?:^|\/)([0-9a-f]{64})$/.exec(key)?.[1];
}
