/**
 * Files of the portal, named by the SHA-256 of their content: `blobs/<2 hex>/<64 hex>`. A file is created atomically, never
 * changes, and is stored once for equal content.
 *
 * References are counted: each actor adds 1 to the counter `blob/<sha256>` for each reference it holds (`blobCounters`).
 * `sweep` removes files without a reference that were not stored recently.
 *
 * With an object store, that store holds the files, and the folder is a cache of this node.
 *
 * Source: docs/architecture.md.
 */
import { createHash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { type FileHandle, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorStore, type Clock, Retryable } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Millis } from '../../../machines/ids.ts';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { InspectedFile, PdfInspection } from '../../pool/portal-tasks.ts';
import type { PoolReply } from '../../pool/tasks.ts';
import {
  BLOB_FOLDER_MODE,
  BLOB_MODIFICATION_TIME,
  blobPath,
  placeBlob,
} from '../../shared/files/blob-placement.ts';
import { makeDirectories } from '../../shared/files/directories.ts';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import type { ObjectReader } from '../../shared/objects/object-reader.ts';
import { type ObjectStore, refusalOf } from '../../shared/objects/object-store.ts';
import { BlobSink, unavailable } from './blob-sink.ts';
import type { FileDescription } from './inspected-uploads.ts';
import { RemoteBlobs, type SweepReport } from './remote-blobs.ts';

/**
 * Stores small files in the pool, whose threads write, sync and rename a file without a way to this thread and back.
 * The task rejects with a `Retryable` `storage.unavailable`.
 * @param inspection what a PDF is inspected with while it is stored; missing: it is not inspected
 */
export function storeInPool(
  pool: Pick<SigningPool, 'run'>,
  inspection?: { readonly profile: string; readonly clock: Pick<Clock, 'now'> },
): SmallFileStore {
  return async ({ bytes, output, blobs, file }) => {
    const store = (inspect?: PdfInspection): Promise<PoolReply<'portal.store'>> => {
      const task = { task: 'portal.store', documentId: '', bytes, output, blobs } as const;
      return pool.run({ ...task, ...(inspect && { inspect }) }, { bytes: bytes.length });
    };
    let answer: PoolReply<'portal.store'>;
    if (inspection === undefined || file?.isPdf !== true) answer = await store();
    else {
      const { profile, clock } = inspection;
      answer = await store({
        profile,
        at: clock.now(),
        contentType: file.contentType,
        fileName: file.name,
        isPdf: true,
      });
      // A file that blocks or ends a thread can be stored; its inspection fails when a document is made of it.
      if (!answer.ok && answer.code.startsWith('pool.')) answer = await store();
    }
    if (answer.ok) return answer.result;
    throw new Retryable('storage.unavailable', `The portal's folder cannot be used (${answer.code}).`);
  };
}

/**
 * Grace period of an unreferenced file after it was last written, milliseconds: its writer may still be about to commit
 * a reference, even across a restart.
 */
export const UNCOUNTED_GRACE_MS = 60 * 60_000;

/**
 * Age of a known time of access up to which a file counts as touched, milliseconds: far below the grace period, also for
 * nodes whose clocks differ by minutes.
 */
const TOUCHED_FOR_MS: Millis = 10 * 60_000;

/** Files whose time of access is known. */
const MAX_TOUCHED = 10_000;

/** Bytes of all files that are held in memory. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;

/** Maximum duration of a write, milliseconds; afterwards it counts as failed. */
const INCOMING_GRACE_MS = 24 * 60 * 60_000;

/** Files checked per turn of the event loop. */
const BATCH_SIZE = 64;

/** Bytes of all files in the cache of an object store. */
const MAX_CACHED_BYTES = 2 * 1024 ** 3;

/** A file leaves the cache when it was not used for so long, milliseconds. */
const CACHED_FOR_MS: Millis = 24 * 60 * 60_000;

/** A stored file to send. */
export interface StoredFile {
  /** Place on this machine; with an object store, the file may be there only after `bring`. */
  readonly path: string;
  /** Brings a file that is elsewhere to `path`; resolves with it. */
  readonly bring: () => Promise<string>;
  /** Opens it where it is. @throws `ENOENT` */
  readonly open: () => Promise<FileHandle | ObjectReader>;
  readonly length: number;
  readonly contentType: string;
  readonly fileName: string;
  /** Strong entity tag, quoted. */
  readonly etag: string;
}

/** A durable file. */
export interface StoredBlob {
  readonly blob: BlobRef;
  /** Base64. */
  readonly md5: string;
}

/**
 * The counters of an actor that holds these references; one that is held twice counts twice.
 */
export function blobCounters(blobs: Iterable<Pick<BlobRef, 'sha256'>>): { [name: string]: number } {
  const counters: { [name: string]: number } = Object.create(null);
  for (const { sha256 } of blobs) countOne(counters, counterName(sha256));
  return counters;
}

/** Adds 1 to a counter. */
export function countOne(counters: { [name: string]: number }, name: string): void {
  counters[name] = (counters[name] ?? 0) + 1;
}

function counterName(sha256: string): string {
  return `blob/${sha256}`;
}

/** Stores a small file on another thread: hashes it, writes it to `output` and moves it below `blobs`. */
export type SmallFileStore = (file: {
  readonly bytes: Uint8Array;
  readonly output: string;
  readonly blobs: string;
  /** Missing: its format is not needed. */
  readonly file?: FileDescription | undefined;
}) => Promise<StoredBlob & { readonly inspected?: InspectedFile }>;

export class Blobs {
  readonly #folder: string;
  readonly #incoming: string;
  /** Number of concurrent writers of each blob. */
  readonly #underWay = new Map<string, number>();
  /** For each placement by another thread: the files removed since it began. */
  readonly #placements = new Set<Set<string>>();
  /** Time of the last placement or touch by this process, of the files used last. */
  readonly #touchedAt = new LRUCache<string, Millis>({ max: MAX_TOUCHED });
  /** Bytes held in memory by sinks. */
  readonly #held = { bytes: 0 };
  readonly #remote: RemoteBlobs | undefined;
  /** Files on their way into the cache. */
  readonly #fetches = new Map<string, Promise<void>>();

  /**
   * Creates the folders and removes incomplete writes of an earlier run.
   * @param root absolute path of `{Storage:Root}/portal`
   */
  constructor(
    private readonly needs: {
      readonly root: string;
      readonly runtime: Pick<ServiceRuntime, 'ids' | 'clock'>;
      readonly disk: DiskSync;
      /** Missing: every file is written by this thread. */
      readonly storeSmall?: SmallFileStore | undefined;
      /** True: other nodes write to the same folders; incomplete writes are removed by age only. @default false */
      readonly isShared?: boolean | undefined;
      /** Missing: the folder holds the files. */
      readonly objects?: ObjectStore | undefined;
    },
  ) {
    this.#remote = needs.objects && new RemoteBlobs(needs.objects, needs.runtime.clock);
    this.#folder = join(needs.root, 'blobs');
    this.#incoming = join(needs.root, 'incoming');
    makeDirectories(needs.root, BLOB_FOLDER_MODE);
    for (const path of [this.#incoming, this.#folder])
      mkdirSync(path, { recursive: true, mode: BLOB_FOLDER_MODE });
    if (needs.isShared) return;
    for (const name of readdirSync(this.#incoming)) {
      rmSync(join(this.#incoming, name), { recursive: true, force: true });
    }
  }

  /** Resolves once the folders themselves are durable. */
  async ready(): Promise<void> {
    await this.needs.disk.directory(this.#folder);
    await this.needs.disk.directory(join(this.#folder, '..'));
  }

  /**
   * Path of the content of a reference, existing or not. What an object store holds is brought here first, and stays for
   * an hour at least.
   * @throws {Retryable} `storage.unavailable`
   */
  async localPath({ sha256 }: Pick<BlobRef, 'sha256'>): Promise<string> {
    const path = this.pathOf({ sha256 });
    if (this.#remote === undefined || (await this.pathHere({ sha256 })) !== undefined) return path;
    let fetch = this.#fetches.get(sha256);
    if (fetch === undefined) {
      fetch = this.#fetch(this.#remote, sha256).finally(() => this.#fetches.delete(sha256));
      this.#fetches.set(sha256, fetch);
    }
    await fetch;
    return path;
  }

  /** As `localPath`, but brings nothing; undefined: an object store alone has it. */
  async pathHere({ sha256 }: Pick<BlobRef, 'sha256'>): Promise<string | undefined> {
    const path = this.pathOf({ sha256 });
    return this.#remote === undefined || (await this.#refresh(path)) ? path : undefined;
  }

  /** A blob as HTTP sends it. */
  file(blob: BlobRef, fileName: string, contentType: string): StoredFile {
    const { sha256, length } = blob;
    return {
      path: this.pathOf(blob),
      bring: () => this.localPath(blob),
      open: () => this.#open(blob),
      length,
      contentType,
      fileName,
      etag: `"${sha256}"`,
    };
  }

  /** Place of the content of a reference on this machine, existing or not; see `localPath`. */
  pathOf({ sha256 }: Pick<BlobRef, 'sha256'>): string {
    return blobPath(this.#folder, sha256);
  }

  async #open(blob: BlobRef): Promise<FileHandle | ObjectReader> {
    try {
      return await open(this.pathOf(blob), 'r');
    } catch (error) {
      const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
      const file = isMissing ? await this.#remote?.open(blob) : undefined;
      if (file === undefined) throw error;
      return file;
    }
  }

  async #fetch(remote: RemoteBlobs, sha256: string): Promise<void> {
    const sink = new BlobSink(this.temporaryPath(), this.#held);
    // First: a stream that nobody reads keeps its connection.
    await sink.useFile();
    try {
      const bytes = await remote.read(sha256);
      if (bytes === undefined) return;
      for await (const chunk of bytes) await sink.write(chunk as Buffer);
      const { path, sha256: read } = await sink.finish();
      if (read === sha256) await this.#placeHere(path, { sha256, length: sink.length });
      else {
        await rm(path, { force: true });
        throw new Retryable(
          'storage.unavailable',
          `The object ${sha256} holds other bytes than its name says.`,
        );
      }
    } finally {
      await sink.abort();
    }
  }

  /** A new path on the same file system, for a file to `adopt`. Removed at the next start. */
  temporaryPath(): string {
    return join(this.#incoming, this.needs.runtime.ids.uuid());
  }

  /** Folder of all files, for threads that place files themselves; see `placing`. */
  get folder(): string {
    return this.#folder;
  }

  /**
   * Runs work that lets another thread place a file, and confirms that no sweep has removed it meanwhile. With an object
   * store, the file is then stored there.
   * @param work resolves with the placed file; undefined = none was
   * @throws {Retryable} `storage.unavailable`: it was removed, or cannot be stored
   */
  async placing<Result>(
    work: () => Promise<Result>,
    placed: (result: Result) => BlobRef | undefined,
  ): Promise<Result> {
    const removed = new Set<string>();
    this.#placements.add(removed);
    const startedAt = this.needs.runtime.clock.now();
    try {
      const result = await work();
      const blob = placed(result);
      if (blob === undefined) return result;
      await this.#remote?.store(this.pathOf(blob), blob);
      if (!removed.has(blob.sha256)) this.#touchedAt.set(blob.sha256, startedAt);
      else if (!(await this.touch(blob)))
        throw new Retryable('storage.unavailable', 'The file was removed while it was stored.');
      return result;
    } finally {
      this.#placements.delete(removed);
    }
  }

  /** A place for bytes that arrive; nothing is known of them until `store`. @throws {Retryable} `storage.unavailable` */
  async open(): Promise<BlobSink> {
    const path = this.temporaryPath();
    const sink = new BlobSink(path, this.#held);
    if (this.needs.storeSmall === undefined || this.#held.bytes >= MAX_HELD_BYTES) await sink.useFile();
    return sink;
  }

  /**
   * Resolves when the bytes are durable under their name; closes the sink. `inspected`: of a small file that was inspected
   * meanwhile and can be signed.
   */
  async store(
    sink: BlobSink,
    file?: FileDescription,
  ): Promise<StoredBlob & { readonly inspected?: InspectedFile }> {
    const { storeSmall } = this.needs;
    const held = sink.takeHeld();
    if (held !== undefined && storeSmall !== undefined) {
      const output = this.temporaryPath();
      const store = () => storeSmall({ bytes: held.bytes, output, blobs: this.#folder, file });
      return this.placing(store, ({ blob }) => blob).finally(held.release);
    }
    const { path, sha256, md5 } = await sink.finish();
    const blob = { sha256, length: sink.length };
    await this.#place(path, blob);
    return { blob, md5 };
  }

  /** Stores a buffer in the same way. */
  async put(bytes: Uint8Array): Promise<StoredBlob> {
    const sink = await this.open();
    try {
      await sink.write(bytes);
      return await this.store(sink);
    } catch (error) {
      await sink.abort();
      throw error;
    }
  }

  /**
   * Takes over a file on the same file system; removes it from `path`.
   * @param known its digest, when already computed
   */
  async adopt(path: string, known?: BlobRef): Promise<BlobRef> {
    const blob = known ?? (await describeFile(path)).blob;
    await this.needs.disk.file(path);
    await this.#place(path, blob);
    return blob;
  }

  /** As `adopt`, with the MD5 as well. */
  async adoptWhole(path: string): Promise<StoredBlob> {
    const described = await describeFile(path);
    await this.adopt(path, described.blob);
    return described;
  }

  /** As `touch`, but relies on a placement or touch by this process within the last minutes, and then does nothing. */
  async touchUnlessRecent(blob: Pick<BlobRef, 'sha256'>): Promise<boolean> {
    const age =
      this.needs.runtime.clock.now() - (this.#touchedAt.get(blob.sha256) ?? Number.NEGATIVE_INFINITY);
    return (age >= 0 && age < TOUCHED_FOR_MS) || this.touch(blob);
  }

  /** Begins the grace of a file anew, before a further reference to it is committed. False when it is not there. */
  async touch({ sha256 }: Pick<BlobRef, 'sha256'>): Promise<boolean> {
    const now = this.needs.runtime.clock.now();
    this.#begin(sha256);
    try {
      const isThere = await (this.#remote?.touch(sha256) ?? this.#refresh(this.pathOf({ sha256 })));
      if (isThere) this.#touchedAt.set(sha256, now);
      return isThere;
    } finally {
      this.#end(sha256);
    }
  }

  /** `path`: synced, on the same file system. */
  async #place(path: string, blob: BlobRef): Promise<void> {
    this.#begin(blob.sha256);
    try {
      await this.#remote?.store(path, blob);
      await this.#placeHere(path, blob);
    } catch (error) {
      await rm(path, { force: true });
      throw unavailable(error);
    } finally {
      this.#end(blob.sha256);
    }
  }

  /** @param path of a file whose data is durable */
  async #placeHere(path: string, blob: BlobRef): Promise<void> {
    const { disk, runtime } = this.needs;
    this.#begin(blob.sha256);
    try {
      const at = runtime.clock.now();
      await placeBlob(path, { ...blob, folder: this.#folder, at, disk, synced: Promise.resolve() });
    } catch (error) {
      await rm(path, { force: true });
      throw unavailable(error);
    } finally {
      this.#end(blob.sha256);
    }
  }

  async #refresh(path: string): Promise<boolean> {
    const now = this.needs.runtime.clock.now() / 1000;
    try {
      await utimes(path, now, BLOB_MODIFICATION_TIME);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  #begin(sha256: string): void {
    this.#underWay.set(sha256, (this.#underWay.get(sha256) ?? 0) + 1);
  }

  #end(sha256: string): void {
    const left = (this.#underWay.get(sha256) ?? 0) - 1;
    if (left > 0) this.#underWay.set(sha256, left);
    else this.#underWay.delete(sha256);
  }

  /** Those with files: one for each first byte of a digest that has occurred. */
  async #folders(): Promise<string[]> {
    const names = await readdir(this.#folder);
    return names.filter((name) => /^[0-9a-f]{2}$/.test(name)).map((name) => join(this.#folder, name));
  }

  /** Removes unreferenced files and incomplete writes. `signal` aborts. */
  async sweep(store: Pick<ActorStore, 'counters' | 'flushed'>, signal?: AbortSignal): Promise<SweepReport> {
    const before = this.needs.runtime.clock.now() - UNCOUNTED_GRACE_MS;
    let removed = 0;
    let bytes = 0;
    await this.#sweepIncoming();
    if (this.#remote !== undefined)
      return this.#remote.sweep((sha256) => this.#isFree(store, sha256), before, signal);
    for (const folder of await this.#folders()) {
      for (const [at, name] of (await readdir(folder)).entries()) {
        if (signal?.aborted === true) return { removed, bytes };
        if (at % BATCH_SIZE === BATCH_SIZE - 1) await nextTurn();
        const freed = await this.#sweepOne(store, join(folder, name), name, before);
        if (freed === undefined) continue;
        removed += 1;
        bytes += freed;
      }
    }
    return { removed, bytes };
  }

  /** Removes unreferenced files of these; returns those still in their grace period. */
  async sweepSome(
    store: Pick<ActorStore, 'counters' | 'flushed'>,
    blobs: readonly Pick<BlobRef, 'sha256'>[],
  ): Promise<readonly string[]> {
    const before = this.needs.runtime.clock.now() - UNCOUNTED_GRACE_MS;
    const left: string[] = [];
    for (const sha256 of new Set(blobs.map((blob) => blob.sha256))) {
      const path = this.pathOf({ sha256 });
      if (this.#remote !== undefined) {
        const isFree = await this.#isFree(store, sha256);
        if (!isFree) continue;
        const remote = this.#remote;
        // What is refused stays for the sweep of all, which says so.
        await refusalOf(async () => {
          if (await remote.removeOne(sha256, before)) await rm(path, { force: true });
          else left.push(sha256);
        });
        continue;
      }
      if ((await this.#sweepOne(store, path, sha256, before)) !== undefined) continue;
      if ((await stat(path).catch(() => undefined)) !== undefined && !(await isCounted(store, sha256)))
        left.push(sha256);
    }
    return left;
  }

  async #sweepIncoming(): Promise<void> {
    const before = this.needs.runtime.clock.now() - INCOMING_GRACE_MS;
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      const stats = await stat(path).catch(() => undefined);
      if (stats !== undefined && stats.mtimeMs < before) await rm(path, { recursive: true, force: true });
    }
  }

  /**
   * Removes files from the cache of an object store: those not used for a day, and the oldest ones while there are too
   * many. A file of an earlier run without that store is stored there first.
   */
  async trim(
    store: Pick<ActorStore, 'counters' | 'flushed'>,
    signal?: AbortSignal,
    maxBytes = MAX_CACHED_BYTES,
  ): Promise<void> {
    const remote = this.#remote;
    if (remote === undefined) return;
    // One node alone runs `sweep`, and each has incomplete writes of its own.
    await this.#sweepIncoming();
    const now = this.needs.runtime.clock.now();
    const files: { sha256: string; usedAt: Millis; length: number }[] = [];
    for (const folder of await this.#folders()) {
      for (const sha256 of await readdir(folder)) {
        const stats = await stat(join(folder, sha256)).catch(() => undefined);
        if (stats !== undefined) files.push({ sha256, usedAt: stats.atimeMs, length: stats.size });
      }
    }
    let bytes = files.reduce((sum, { length }) => sum + length, 0);
    for (const { sha256, usedAt, length } of files.sort((a, b) => a.usedAt - b.usedAt)) {
      if (signal?.aborted === true || usedAt > now - UNCOUNTED_GRACE_MS) return;
      if (usedAt > now - CACHED_FOR_MS && bytes <= maxBytes) return;
      const path = this.pathOf({ sha256 });
      if (!(await remote.holds({ sha256, length })) && (await isCounted(store, sha256)))
        await remote.store(path, { sha256, length });
      // Synchronous to the end: a user of the file has refreshed it before or finds it missing.
      const last = statSync(path, { throwIfNoEntry: false });
      if (last === undefined || last.atimeMs > usedAt || this.#underWay.has(sha256)) continue;
      unlinkSync(path);
      bytes -= length;
    }
  }

  /** True for a file without a reference and without a writer on this node. */
  async #isFree(store: Pick<ActorStore, 'counters' | 'flushed'>, sha256: string): Promise<boolean> {
    if (await isCounted(store, sha256)) return false;
    // A power cut must not bring back the step that counted it.
    await store.flushed();
    return !(await isCounted(store, sha256)) && !this.#underWay.has(sha256);
  }

  /** Bytes freed; undefined when the file stays. */
  async #sweepOne(
    store: Pick<ActorStore, 'counters' | 'flushed'>,
    path: string,
    sha256: string,
    before: Millis,
  ): Promise<number | undefined> {
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined || stats.atimeMs > before || (await isCounted(store, sha256))) return undefined;
    // A power cut must not bring back the step that counted it.
    await store.flushed();
    if (await isCounted(store, sha256)) return undefined;
    // Synchronous to the end: a concurrent writer of the same content has registered before or starts after.
    if (this.#underWay.has(sha256)) return undefined;
    const last = statSync(path, { throwIfNoEntry: false });
    if (last === undefined || last.atimeMs > before) return undefined;
    unlinkSync(path);
    this.#touchedAt.delete(sha256);
    for (const removed of this.#placements) removed.add(sha256);
    return last.size;
  }
}

async function isCounted(store: Pick<ActorStore, 'counters'>, sha256: string): Promise<boolean> {
  return (await countOf(store, counterName(sha256))) > 0;
}

/** Reads a file once, in chunks. */
async function describeFile(path: string): Promise<StoredBlob> {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  let length = 0;
  for await (const piece of createReadStream(path, { highWaterMark: 256 * 1024 })) {
    sha256.update(piece as Buffer);
    md5.update(piece as Buffer);
    length += (piece as Buffer).length;
  }
  return { blob: { sha256: sha256.digest('hex'), length }, md5: md5.digest('base64') };
}
