/**
 * Monitors the folders of the service for free space and write access. While one fails, the pipeline is held: no job is
 * claimed, and the work of jobs in flight waits and is repeated. The hold ends by itself.
 *
 * Source: docs/decisions/0047-held-pipeline.md; docs/batch-values.md §3 (no room, folders not writable).
 */

import { access, constants, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeFailure } from '@sealwright/runtime';
import type { PipelineHold } from '../../../contracts/batch/pipeline.ts';
import { type Backoff, pauseAfter } from '../../../machines/backoff.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { StorageLayout } from '../../shared/files/storage-layout.ts';
import { SPARE_PREFIX } from '../../shared/files/working-folders.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { type HealthCheck, healthy, unhealthy } from './health.ts';

export interface WatchedStorage {
  /** Suffix of the check name `folder:<name>`. */
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  /** Name of a file written and removed before a hold ends; undefined: the folder must hold no other files. */
  readonly probe: string | undefined;
}

/** Failure of a folder or of the object store. */
export interface StorageFault {
  readonly code: 'disk.full' | 'disk.not-writable';
  readonly reason: string;
}

interface FolderCheck {
  readonly folder: WatchedStorage;
  readonly freeBytes: number;
  readonly fault: StorageFault | undefined;
}

/** Interval between two checks, milliseconds. */
const CHECK_INTERVAL_MS: Millis = 2_000;
/** Free bytes below which the store may fail to write its next step. */
const RESERVE_BYTES = 1 << 20;
/** Content written before a hold ends; the size of a small job. */
const PROBE = Buffer.alloc(64 * 1024);
/** Additional free bytes since the failure that end a hold … */
const GAIN_BYTES = 1 << 20;
/**
 * … or the time after which it ends. Free space does not show quotas, and room that was made between the failure and the
 * measurement is no gain.
 */
const RETRY: Backoff = { firstMs: 2_000, maxMs: 30_000 };
/** Time without a hold after which the next one is the first again, milliseconds. */
const CALM_MS: Millis = 60_000;

const MEBIBYTE = 1 << 20;

export class StorageMonitor {
  #hold: (PipelineHold & { readonly code: StorageFault['code'] }) | undefined;
  /** Results of the last check. */
  #checks: readonly FolderCheck[] = [];
  /** Time of a task's failure and the free bytes of each folder then; undefined for a hold caused by a check. */
  #failure: { readonly at: Millis; readonly free: ReadonlyMap<string, number> } | undefined;
  /** Holds in a row caused by failed tasks, and the end of the last one. */
  #holds = 0;
  #endedAt: Millis = Number.NEGATIVE_INFINITY;
  #waiting: (() => void)[] = [];
  #checking: Promise<void> = Promise.resolve();
  #cancel = () => {};
  #running = false;

  constructor(
    private readonly runtime: Pick<BatchRuntime, 'clock' | 'log'>,
    private readonly folders: readonly WatchedStorage[],
    /** Called when a hold begins or ends. */
    private readonly changed: () => void,
  ) {}

  /** Checks now and then at intervals. */
  async start(): Promise<void> {
    this.#running = true;
    await this.#check();
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#cancel();
    await this.#checking;
  }

  /** Reason and start of the hold; null while the pipeline is not held. */
  get held(): PipelineHold | null {
    if (this.#hold === undefined) return null;
    const { reason, since } = this.#hold;
    return { reason, since };
  }

  /** Free bytes of the folder with the least, by the last check. */
  get freeBytes(): number {
    return Math.min(...this.#checks.map(({ freeBytes }) => freeBytes));
  }

  /** Records that a task failed on a full disk or a folder that is not writable. */
  report(fault: StorageFault): void {
    const free = new Map(this.#checks.map(({ folder, freeBytes }) => [folder.name, freeBytes]));
    const at = this.runtime.clock.elapsed();
    if (this.#failure === undefined) this.#holds = at - this.#endedAt < CALM_MS ? this.#holds + 1 : 1;
    this.#failure = { at, free };
    this.#begin(fault);
    // Measures free space after the failed task has removed its files.
    void this.#checkNow().then(() => {
      if (this.#failure === undefined) return;
      const now = new Map(this.#checks.map(({ folder, freeBytes }) => [folder.name, freeBytes]));
      this.#failure = { at: this.#failure.at, free: now };
    });
  }

  /** Resolves at once or at the end of the hold. Rejects with the signal's reason when `signal` is aborted. */
  async writable(signal: AbortSignal): Promise<void> {
    while (this.#hold !== undefined) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    signal.throwIfAborted();
  }

  /** Checks `room` and `folder:<name>` of the last run. */
  readonly probe = (): readonly HealthCheck[] => {
    const full = this.#checks.find(({ fault }) => fault?.code === 'disk.full')?.fault ?? this.#hold;
    const least = Math.min(...this.#checks.map(({ freeBytes }) => freeBytes));
    return [
      full?.code === 'disk.full'
        ? unhealthy('room', full.reason)
        : healthy('room', Number.isFinite(least) ? `${Math.floor(least / MEBIBYTE)} MiB are free` : null),
      ...this.#checks.map(({ folder, fault }) =>
        fault?.code === 'disk.not-writable'
          ? unhealthy(`folder:${folder.name}`, fault.reason)
          : healthy(`folder:${folder.name}`),
      ),
    ];
  };

  #schedule(): void {
    if (!this.#running) return;
    this.#cancel = this.runtime.clock.after(CHECK_INTERVAL_MS, () => {
      void this.#check().then(() => this.#schedule());
    });
  }

  #checkNow(): Promise<void> {
    this.#checking = this.#checking.then(async () => {
      this.#checks = await Promise.all(this.folders.map(checkFolder));
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    await this.#checkNow();
    const fault = this.#checks.find((check) => check.fault !== undefined)?.fault;
    if (fault !== undefined) this.#begin(fault);
    else if (this.#hold !== undefined && this.#hasGained() && (await this.#canWrite())) this.#end();
  }

  /** True when a retry may succeed. */
  #hasGained(): boolean {
    const failure = this.#failure;
    if (failure === undefined) return true;
    if (this.runtime.clock.elapsed() - failure.at >= pauseAfter(this.#holds, RETRY)) return true;
    if (this.#hold?.code === 'disk.not-writable') return true;
    return this.#checks.some(
      ({ folder, freeBytes }) => freeBytes >= (failure.free.get(folder.name) ?? 0) + GAIN_BYTES,
    );
  }

  async #canWrite(): Promise<boolean> {
    for (const { path, probe } of this.folders) {
      if (probe === undefined) continue;
      const file = join(path, probe);
      try {
        await writeFile(file, PROBE, { flush: true });
      } catch (error) {
        this.#begin(faultOf(path, error));
        return false;
      } finally {
        await rm(file, { force: true }).catch(() => {});
      }
    }
    return true;
  }

  #begin({ code, reason }: StorageFault): void {
    if (this.#hold !== undefined) {
      this.#hold = { code, reason, since: this.#hold.since };
      return;
    }
    this.#hold = { code, reason, since: this.runtime.clock.now() };
    this.runtime.log.error(
      'The pipeline is held: nothing is claimed until there is room and folders can be written.',
      {
        Code: code,
        Reason: reason,
      },
    );
    this.changed();
  }

  #end(): void {
    const since = this.#hold?.since ?? 0;
    this.#hold = undefined;
    this.#failure = undefined;
    this.#endedAt = this.runtime.clock.elapsed();
    this.runtime.log.warn('The pipeline goes on: there is room and folders can be written.', {
      HeldSince: new Date(since).toISOString(),
    });
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.changed();
  }
}

/** Folders that jobs or the store write to. The store's folder must hold no other files. */
export function storageFolders({ processing, output, db, input }: StorageLayout): readonly WatchedStorage[] {
  return [
    { name: 'processing', path: processing, probe: `${SPARE_PREFIX}probe` },
    { name: 'output', path: output, probe: '.sealwright-probe.tmp' },
    { name: 'input', path: input, probe: undefined },
    { name: 'db', path: db, probe: undefined },
  ];
}

async function checkFolder(folder: WatchedStorage): Promise<FolderCheck> {
  const { path } = folder;
  try {
    await access(path, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(path);
    const freeBytes = bavail * bsize;
    const fault: StorageFault | undefined =
      freeBytes >= RESERVE_BYTES
        ? undefined
        : { code: 'disk.full', reason: `The disk of ${path} has no room left: ${freeBytes} bytes are free.` };
    return { folder, freeBytes, fault };
  } catch (error) {
    return { folder, freeBytes: 0, fault: faultOf(path, error) };
  }
}

function faultOf(path: string, error: unknown): StorageFault {
  const { code } = describeFailure(error);
  return code === 'ENOSPC' || code === 'EDQUOT'
    ? { code: 'disk.full', reason: `The disk of ${path} has no room left (${code}).` }
    : { code: 'disk.not-writable', reason: `The folder ${path} cannot be written (${code}).` };
}
