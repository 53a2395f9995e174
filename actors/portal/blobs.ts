/**
 * The portal's files, named by the SHA-256 of what they hold: `blobs/<2 hex>/<64 hex>`. A file appears whole or not at
 * all, is written once and never changed, and stands once however often its content comes.
 *
 * Who refers to a file counts it: each actor adds 1 to the counter `blob/<sha256>` for each reference it holds
 * (`blobCounters`). `sweep` removes files that nobody counts and nobody has lately put here.
 *
 * Source: architecture §5.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { type FileHandle, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Millis } from '../../machines/ids.ts';
import type { BlobRef } from '../../machines/portal-words.ts';
import { type ActorStore, type Clock, type Ids, Retryable } from '../../runtime/index.ts';
import type { DiskSync } from '../disk-sync.ts';
import type { StoredFile, UploadSink } from './api.ts';

/** For the service and its group. */
const FOLDER_MODE = 0o750;
const FILE_MODE = 0o640;

/**
 * How long a file that nobody counts is left alone after it was last put here, milliseconds: what put it may still be
 * on the way to the step that counts it, even over a restart.
 */
export const UNCOUNTED_GRACE = 60 * 60_000;

/**
 * Time of modification of every blob, which never moves: whoever reads a file for signing takes one that moves for
 * another file. When it was last put here is its time of access; reading can only make that later.
 */
const MADE_AT = 0;

/** How long a file on its way here is waited for, milliseconds; then whoever wrote it has failed. */
const INCOMING_GRACE = 24 * 60 * 60_000;

/** Files looked at before others get their turn. */
const PIECE = 64;

/** A file that stands durably under its name. */
export interface KeptBlob {
  readonly blob: BlobRef;
  /** Base64. */
  readonly md5: string;
}

export interface SweepReport {
  readonly removed: number;
  readonly bytes: number;
}

/** The counters of an actor that holds these references; one that is held twice counts twice. */
export function blobCounters(blobs: Iterable<Pick<BlobRef, 'sha256'>>): { readonly [name: string]: number } {
  const counters: { [name: string]: number } = {};
  for (const { sha256 } of blobs) {
    const name = counterName(sha256);
    counters[name] = (counters[name] ?? 0) + 1;
  }
  return counters;
}

function counterName(sha256: string): string {
  return `blob/${sha256}`;
}

export interface BlobParts {
  readonly ids: Pick<Ids, 'uuid'>;
  readonly disk: DiskSync;
  readonly clock: Pick<Clock, 'now'>;
}

export class Blobs {
  readonly #folder: string;
  readonly #incoming: string;
  readonly #parts: BlobParts;
  /** Content that is being put here now, by how many. */
  readonly #underWay = new Map<string, number>();

  /**
   * Makes the folders and forgets what an earlier run was still writing.
   * @param root absolute path of `{Storage:Root}/portal`; nobody else may use it meanwhile
   */
  constructor(root: string, parts: BlobParts) {
    this.#folder = join(root, 'blobs');
    this.#incoming = join(root, 'incoming');
    this.#parts = parts;
    makeFolder(root);
    makeFolder(this.#incoming);
    makeFolder(this.#folder);
    for (let first = 0; first < 256; first++) makeFolder(join(this.#folder, shard(first)));
    for (const name of readdirSync(this.#incoming)) {
      rmSync(join(this.#incoming, name), { recursive: true, force: true });
    }
  }

  /** Resolves once the folders themselves are durable. */
  async ready(): Promise<void> {
    await this.#parts.disk.directory(this.#folder);
    await this.#parts.disk.directory(join(this.#folder, '..'));
  }

  /** Where the content of a reference is, whether it is there or not. */
  pathOf({ sha256 }: Pick<BlobRef, 'sha256'>): string {
    if (!/^[0-9a-f]{64}$/.test(sha256)) throw new TypeError('A blob is named by 64 hex digits.');
    return join(this.#folder, sha256.slice(0, 2), sha256);
  }

  /** A blob as HTTP sends it. */
  file(blob: BlobRef, fileName: string, contentType: string): StoredFile {
    const { sha256, length } = blob;
    return { path: this.pathOf(blob), length, contentType, fileName, etag: `"${sha256}"` };
  }

  /** A fresh path beside the blobs, for whoever makes a file to `adopt`. What is left there is gone after a restart. */
  temporaryPath(): string {
    return join(this.#incoming, this.#parts.ids.uuid());
  }

  /** A place for bytes that arrive; nothing is known of them until `keep`. @throws {Retryable} `storage.unavailable` */
  async open(): Promise<BlobSink> {
    const path = this.temporaryPath();
    try {
      return new BlobSink(path, await open(path, 'wx', FILE_MODE));
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** Resolves when the bytes stand durably under their name; the sink is used up. */
  async keep(sink: BlobSink): Promise<KeptBlob> {
    const { path, sha256, md5 } = await sink.finish();
    const blob = { sha256, length: sink.length };
    await this.#place(path, blob);
    return { blob, md5 };
  }

  /** The same for bytes at hand. */
  async put(bytes: Uint8Array): Promise<KeptBlob> {
    const sink = await this.open();
    try {
      await sink.write(bytes);
      return await this.keep(sink);
    } catch (error) {
      await sink.abort();
      throw error;
    }
  }

  /**
   * Takes over a file on the same file system; it is gone from `path` afterwards.
   * @param known what it holds, where that has been computed already
   */
  async adopt(path: string, known?: BlobRef): Promise<BlobRef> {
    const blob = known ?? (await describeFile(path)).blob;
    await this.#parts.disk.file(path);
    await this.#place(path, blob);
    return blob;
  }

  /** As `adopt`, with the MD5 as well. */
  async adoptWhole(path: string): Promise<KeptBlob> {
    const kept = await describeFile(path);
    await this.adopt(path, kept.blob);
    return kept;
  }

  /** Begins the grace of a file anew, before a further reference to it is committed. False when it is not there. */
  async touch(blob: Pick<BlobRef, 'sha256'>): Promise<boolean> {
    this.#begin(blob.sha256);
    try {
      return await this.#refresh(this.pathOf(blob));
    } finally {
      this.#end(blob.sha256);
    }
  }

  /** `path`: synced, on the same file system. */
  async #place(path: string, blob: BlobRef): Promise<void> {
    const target = this.pathOf(blob);
    this.#begin(blob.sha256);
    try {
      const there = await stat(target).catch(() => undefined);
      // A file of another length is damage; the new one heals it.
      if (there?.size === blob.length && (await this.#refresh(target))) await rm(path, { force: true });
      else {
        const now = this.#parts.clock.now() / 1000;
        await utimes(path, now, MADE_AT);
        await rename(path, target);
      }
      // Also where the file was there already: whoever put it may not have come this far.
      await this.#parts.disk.directory(join(target, '..'));
    } catch (error) {
      await rm(path, { force: true });
      throw unavailable(error);
    } finally {
      this.#end(blob.sha256);
    }
  }

  async #refresh(path: string): Promise<boolean> {
    const now = this.#parts.clock.now() / 1000;
    try {
      await utimes(path, now, MADE_AT);
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

  /** Removes what nobody counts, and what was left on its way here. `signal` ends it early. */
  async sweep(store: Pick<ActorStore, 'counters' | 'flushed'>, signal?: AbortSignal): Promise<SweepReport> {
    const before = this.#parts.clock.now() - UNCOUNTED_GRACE;
    let removed = 0;
    let bytes = 0;
    await this.#sweepIncoming();
    for (let first = 0; first < 256; first++) {
      const folder = join(this.#folder, shard(first));
      for (const [at, name] of (await readdir(folder)).entries()) {
        if (signal?.aborted === true) return { removed, bytes };
        if (at % PIECE === PIECE - 1) await nextTurn();
        const freed = await this.#sweepOne(store, join(folder, name), name, before);
        if (freed === undefined) continue;
        removed += 1;
        bytes += freed;
      }
    }
    return { removed, bytes };
  }

  /** Removes these, where nobody counts them; those that were put here too lately are given back. */
  async sweepSome(
    store: Pick<ActorStore, 'counters' | 'flushed'>,
    blobs: readonly Pick<BlobRef, 'sha256'>[],
  ): Promise<readonly string[]> {
    const before = this.#parts.clock.now() - UNCOUNTED_GRACE;
    const left: string[] = [];
    for (const sha256 of new Set(blobs.map((blob) => blob.sha256))) {
      const path = this.pathOf({ sha256 });
      if ((await this.#sweepOne(store, path, sha256, before)) !== undefined) continue;
      if ((await stat(path).catch(() => undefined)) !== undefined && !(await isCounted(store, sha256)))
        left.push(sha256);
    }
    return left;
  }

  async #sweepIncoming(): Promise<void> {
    const before = this.#parts.clock.now() - INCOMING_GRACE;
    for (const name of await readdir(this.#incoming)) {
      const path = join(this.#incoming, name);
      const there = await stat(path).catch(() => undefined);
      if (there !== undefined && there.mtimeMs < before) await rm(path, { recursive: true, force: true });
    }
  }

  /** Bytes freed; undefined when the file stays. */
  async #sweepOne(
    store: Pick<ActorStore, 'counters' | 'flushed'>,
    path: string,
    sha256: string,
    before: Millis,
  ): Promise<number | undefined> {
    const there = await stat(path).catch(() => undefined);
    if (there === undefined || there.atimeMs > before || (await isCounted(store, sha256))) return undefined;
    // A power cut must not bring back the step that counted it.
    await store.flushed();
    if (await isCounted(store, sha256)) return undefined;
    // From here to the end in one go: whoever puts the same content here has either said so or comes later.
    if (this.#underWay.has(sha256)) return undefined;
    const last = statSync(path, { throwIfNoEntry: false });
    if (last === undefined || last.atimeMs > before) return undefined;
    unlinkSync(path);
    return last.size;
  }
}

async function isCounted(store: Pick<ActorStore, 'counters'>, sha256: string): Promise<boolean> {
  const name = counterName(sha256);
  return ((await store.counters(name))[name] ?? 0) > 0;
}

/** Bytes on their way into a file, hashed as they pass. */
export class BlobSink implements UploadSink {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #sha256: Hash = createHash('sha256');
  readonly #md5: Hash = createHash('md5');
  #length = 0;
  #done = false;

  constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  get length(): number {
    return this.#length;
  }

  /** The memory is the caller's again once the promise has settled. */
  async write(bytes: Uint8Array): Promise<void> {
    this.#sha256.update(bytes);
    this.#md5.update(bytes);
    this.#length += bytes.length;
    let written = 0;
    while (written < bytes.length) {
      try {
        written += (await this.#file.write(bytes, written, bytes.length - written)).bytesWritten;
      } catch (error) {
        throw unavailable(error);
      }
    }
  }

  /** Makes the bytes durable under their temporary name. Once. */
  async finish(): Promise<{ readonly path: string; readonly sha256: string; readonly md5: string }> {
    if (this.#done) throw new TypeError('The sink is used up.');
    try {
      await this.#file.datasync();
    } catch (error) {
      await this.abort();
      throw unavailable(error);
    }
    this.#done = true;
    await this.#file.close();
    return { path: this.#path, sha256: this.#sha256.digest('hex'), md5: this.#md5.digest('base64') };
  }

  async abort(): Promise<void> {
    if (this.#done) return;
    this.#done = true;
    await this.#file.close().catch(() => {});
    await rm(this.#path, { force: true });
  }
}

/** Reads a file once, in pieces. */
async function describeFile(path: string): Promise<KeptBlob> {
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

function shard(first: number): string {
  return first.toString(16).padStart(2, '0');
}

function makeFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE });
}

/** A disk that refuses now may not later; anything else is a mistake of ours. */
export function unavailable(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  return new Retryable('storage.unavailable', `The portal's folder cannot be used (${code}).`);
}
