/**
 * Files of jobs in an object store: `batch/input/`, `batch/output/`, `batch/error/`. A node works on copies in its own
 * folders, which may be lost at any time.
 *
 * The owner of an output is its job: what an attempt published before no step recorded it is known by that.
 *
 * Source: docs/decisions/0285-jobs-in-an-object-store.md.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { describeFailure, Fatal, type Millis, Retryable } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { FileStamp } from '../../../machines/batch/job-context.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { LEASE_NOT_HELD } from '../../pool/task-failure.ts';
import { type StorageLayout, VOLUME_FOLDER } from '../../shared/files/storage-layout.ts';
import { ObjectReader } from '../../shared/objects/object-reader.ts';
import {
  type LinkedFile,
  type ObjectFile,
  type ObjectStore,
  refusalOf,
  StoreRefusal,
} from '../../shared/objects/object-store.ts';
import { BucketRefusals } from './bucket-refusals.ts';
import { OutputClaims } from './output-claims.ts';

/** Folder of copies, among the working folders of a node; emptied at each start. */
export const COPIES_FOLDER = '.objects';

/** Begins the path of an original that is in the object store. */
const LOCATION = 'objects:/';

const INPUT = 'batch/input/';
const OUTPUT = 'batch/output/';
const ERROR = 'batch/error/';

/** Uploads whose copies stay until their job is signed on the same node, bytes and number. */
const MAX_COPY_BYTES = 256 * 1024 * 1024;
const MAX_COPIES = 2000;

/** Attempts to remove an original that the bucket refuses. */
const MAX_REFUSED_REMOVALS = 3;

/** Maximum wait for the lease of this node before an output is stored, milliseconds. */
const MAX_LEASE_WAIT_MS = 4000;

export function isObject(originalPath: string): boolean {
  return originalPath.startsWith(LOCATION);
}

/** A verified file, and the names it may get. */
export interface Publication {
  readonly jobId: string;
  readonly path: string;
  /** Below the output folder. */
  readonly subfolder: string;
  readonly names: readonly string[];
}

/** An output in the store. */
export interface StoredOutput {
  readonly length: number;
  open(): ObjectReader;
  /** Makes an address that sends it with these headers for a minute. Undefined: clients do not reach the store. */
  readonly link: ((file: LinkedFile) => Promise<string>) | undefined;
}

export class JobObjects {
  readonly #folder: string;
  readonly #errors: string;
  readonly #claims: OutputClaims;
  readonly #refusals = new BucketRefusals();
  /** Copies of uploads by location. */
  readonly #kept: LRUCache<string, { readonly path: string; readonly length: number }>;

  constructor(
    private readonly objects: ObjectStore,
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids' | 'log' | 'faults'>,
    layout: Pick<StorageLayout, 'processing' | 'error'>,
  ) {
    this.#folder = join(layout.processing, COPIES_FOLDER);
    this.#errors = layout.error;
    this.#claims = new OutputClaims(runtime.actors);
    this.#kept = new LRUCache({
      max: MAX_COPIES,
      maxSize: MAX_COPY_BYTES,
      sizeCalculation: ({ length }) => Math.max(1, length),
      dispose: ({ path }, _, reason) => {
        if (reason === 'evict') void rm(path, { force: true }).catch(() => {});
      },
    });
    rmSync(this.#folder, { recursive: true, force: true });
    mkdirSync(this.#folder, { mode: 0o750 });
  }

  /** Folder of copies, for uploads. */
  get folder(): string {
    return this.#folder;
  }

  /** Place of an upload of this stored name. */
  locationOf(name: string): string {
    return `${LOCATION}input/${name}`;
  }

  /** Stores an upload durably. @throws {Retryable} `storage.unavailable` */
  async storeInput(location: string, file: ObjectFile): Promise<void> {
    await this.objects.put(inputKey(location), file);
  }

  /** Keeps the copy of a stored upload for its job, while there is room. */
  async keepCopy(location: string, from: string, to: string): Promise<void> {
    await rename(from, to);
    const { size: length } = await stat(to);
    if (length > MAX_COPY_BYTES) await rm(to, { force: true });
    else this.#kept.set(location, { path: to, length });
  }

  /**
   * Gives a copy of an original to `use`, and removes it afterwards.
   * @throws {Fatal} `input.missing`; {Retryable} `storage.unavailable`
   */
  async withCopy<Result>(location: string, use: (path: string) => Promise<Result>): Promise<Result> {
    const kept = this.#kept.get(location);
    this.#kept.delete(location);
    const path = kept?.path ?? join(this.#folder, `${this.runtime.ids.uuid()}.copy`);
    try {
      if (kept === undefined) await this.#copy(location, path);
      return await use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** Undefined when the original is gone. */
  async stampOf(location: string): Promise<FileStamp | undefined> {
    const found = await this.objects.head(inputKey(location));
    return found && { size: found.length, mtimeMs: found.modifiedAt };
  }

  /** @throws {Fatal} `job.input-not-removed` after refusals in a row; {Retryable} `storage.unavailable` */
  async removeInput(location: string): Promise<void> {
    const key = inputKey(location);
    const remove = () => this.objects.remove(key);
    await this.#refusals.upTo(MAX_REFUSED_REMOVALS, location, remove, (error) =>
      error instanceof StoreRefusal
        ? new Fatal(
            'job.input-not-removed',
            `Remove the object ${key}, and give the service the right (${error.message}).`,
          )
        : undefined,
    );
    const kept = this.#kept.get(location);
    this.#kept.delete(location);
    if (kept !== undefined) await rm(kept.path, { force: true });
  }

  /** Removes uploads that were stored before a time and are lost. @returns their number, and why others are refused and stay */
  async removeLost(
    before: Millis,
    isLost: (location: string) => Promise<boolean>,
    isStopped: () => boolean,
  ): Promise<{ readonly removed: number; readonly refusal: string | undefined }> {
    let removed = 0;
    let refusal = await refusalOf(() => this.objects.removeParts(before));
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = await this.objects.list(INPUT, next === '' ? undefined : next);
      for (const { key, modifiedAt } of page.objects) {
        if (isStopped()) return { removed, refusal };
        const location = this.locationOf(key.slice(INPUT.length));
        if (modifiedAt >= before || !(await isLost(location))) continue;
        const refused = await refusalOf(() => this.objects.remove(key));
        if (refused === undefined) removed += 1;
        else refusal = refused;
      }
      next = page.next;
    }
    return { removed, refusal };
  }

  /**
   * Publishes under the first free name and returns it; never replaces the output of another job.
   * @throws {Fatal} `output.exists`; {Retryable} `storage.unavailable`, or `LEASE_NOT_HELD`
   */
  async publish({ jobId, path, subfolder, names }: Publication): Promise<string> {
    await this.#leaseHeld();
    const file = { path, length: (await stat(path)).size };
    const isExclusive = await this.objects.isExclusive();
    for (const name of names) {
      const key = outputKey(subfolder, name);
      const isPublished = isExclusive
        ? await this.#putUnlessTaken(key, file, jobId)
        : await this.#putWithClaim(key, file, jobId);
      if (!isPublished) continue;
      await this.runtime.faults.at('job.output.stored');
      // A node that was suspended meanwhile has lost the job: no step will name this output.
      await this.#leaseHeld().catch(async (error: unknown) => {
        await this.#withdraw(key, jobId);
        throw error;
      });
      return name;
    }
    throw new Fatal('output.exists', `The output already exists: ${names[0]}`);
  }

  /** Removes outputs that this job may have published without a commit. */
  async withdraw(jobId: string, subfolder: string, names: readonly string[]): Promise<void> {
    const keys = names.map((name) => outputKey(subfolder, name));
    const isExclusive = await this.objects.isExclusive();
    for (const key of isExclusive ? await this.#existing(keys) : keys) {
      await this.#withdraw(key, jobId);
      if (!isExclusive) await this.#claims.release(key, jobId);
    }
  }

  /** Those of the keys that may exist. */
  async #existing(keys: readonly string[]): Promise<readonly string[]> {
    const { objects, next } = await this.objects.list(commonStart(keys));
    if (next !== undefined) return keys;
    const found = new Set(objects.map(({ key }) => key));
    return keys.filter((key) => found.has(key));
  }

  /** Undefined when it is gone. */
  async openOutput(name: string): Promise<StoredOutput | undefined> {
    const key = `${OUTPUT}${name}`;
    const found = await this.objects.head(key);
    if (found === undefined) return undefined;
    const { length } = found;
    const { link } = this.objects;
    return {
      length,
      link: link && ((file) => link(key, file)),
      open: () => new ObjectReader(length, (from) => this.#read(key, from)),
    };
  }

  /** Moves what this node put aside for a job from its error folder into the store. */
  async moveErrors(jobId: string): Promise<void> {
    const folder = join(this.#errors, jobId);
    const files = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
      const { code, message } = describeFailure(error);
      if (code === 'ENOENT') return [];
      // What cannot be read is not removed either.
      throw new Retryable(code, message);
    });
    for (const file of files) {
      if (!file.isFile()) continue;
      const path = join(file.parentPath, file.name);
      const { size: length } = await stat(path);
      const key = `${ERROR}${basename(folder)}/${path.slice(folder.length + 1)}`;
      await this.objects.put(key, { path, length }, { replace: true });
    }
    await rm(folder, { recursive: true, force: true });
  }

  /** Moves the folders that earlier runs left in the error folder; what fails stays until the next start. */
  async moveAllErrors(): Promise<void> {
    for (const entry of await readdir(this.#errors, { withFileTypes: true })) {
      const { name } = entry;
      if (!entry.isDirectory() || name === VOLUME_FOLDER) continue;
      try {
        await this.moveErrors(name);
      } catch (error) {
        const { code, message } = describeFailure(error);
        this.runtime.log.warn(
          'The files of a failed job could not be moved into the object store; they stay.',
          {
            Folder: name,
            Error: message,
          },
        );
        // Each further one would wait as long, and the start with it.
        if (code === 'storage.unavailable') return;
      }
    }
  }

  async #copy(location: string, path: string): Promise<void> {
    const key = inputKey(location);
    const missing = () =>
      new Fatal('input.missing', `${location} is no longer in the object store: it was removed.`);
    const begun = await this.objects.get(key);
    if (begun === undefined) throw missing();
    const { stream } = begun;
    let isFirst = true;
    try {
      const length = begun.length ?? (await this.objects.head(key))?.length;
      if (length === undefined) throw missing();
      const reader = new ObjectReader(length, async (from) => {
        const isBegun = isFirst && from === 0;
        isFirst = false;
        return isBegun ? stream : this.#read(key, from);
      });
      await reader.copyTo(path);
    } finally {
      // Also one that nobody has read: it holds a connection.
      stream.destroy();
    }
  }

  async #read(key: string, from: number): Promise<Readable | undefined> {
    return (await this.objects.get(key, { from }))?.stream;
  }

  async #putUnlessTaken(key: string, file: ObjectFile, owner: string): Promise<boolean> {
    if ((await this.objects.put(key, file, { owner })) === 'stored') return true;
    if ((await this.objects.head(key))?.owner !== owner) return false;
    // Of an earlier attempt of this job, or of this one where its answer was lost: no step names it yet.
    await this.objects.put(key, file, { owner, replace: true });
    return true;
  }

  /** The claim outlasts a failure: what was sent may still arrive. The job publishes again or withdraws. */
  async #putWithClaim(key: string, file: ObjectFile, owner: string): Promise<boolean> {
    if (!(await this.#claims.claim(key, owner))) return false;
    const found = await this.objects.head(key);
    const isFree = found === undefined || found.owner === owner;
    if (isFree) await this.objects.put(key, file, { owner, replace: true });
    await this.#claims.release(key, owner);
    return isFree;
  }

  async #withdraw(key: string, jobId: string): Promise<void> {
    if ((await this.objects.head(key))?.owner === jobId) await this.objects.remove(key);
  }

  /** @throws {Retryable} when this node may have lost its jobs to another one */
  async #leaseHeld(): Promise<void> {
    const { clock, store } = this.runtime;
    const isHeld = await store.nodes?.deadline.held((ms) => clock.sleep(ms), MAX_LEASE_WAIT_MS);
    if (isHeld === false)
      throw new Retryable(LEASE_NOT_HELD, 'The database does not answer; the output is stored again.');
  }
}

function inputKey(location: string): string {
  return `batch/${location.slice(LOCATION.length)}`;
}

function commonStart([first = '', ...others]: readonly string[]): string {
  let length = first.length;
  while (!others.every((other) => other.startsWith(first.slice(0, length)))) length -= 1;
  return first.slice(0, length);
}

function outputKey(subfolder: string, name: string): string {
  return `${OUTPUT}${join(subfolder, name)}`;
}
