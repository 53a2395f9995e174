/** The batch service inside the test's own process: real store, real pool, real folders, no HTTP. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ActorStore, type Clock, Faults, systemClock, systemIds } from '@sealwright/runtime';
import type { ExecutionContext } from 'ava';
import type { BatchObserver } from '../../../actors/batch/observer.ts';
import {
  type Batch,
  type BatchOptions,
  type FolderOptions,
  Services,
  type StorageLayout,
  storageLayout,
} from '../../../actors/index.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { FolderName, JobId, ProfileName } from '../../../machines/ids.ts';
import { pki } from '../../pki/pki.ts';
import { openTestStore } from '../../postgres/test-store.ts';
import { SHARDS } from '../../project/shards.ts';
import { reached } from '../../project/waiting.ts';

export interface BatchFixture {
  readonly batch: Batch;
  readonly services: Services;
  readonly store: ActorStore;
  readonly layout: StorageLayout;
  readonly faults: Faults;
  /** Every line the service logged as a warning or worse. */
  readonly complaints: string[];
  /** Resolves once as many jobs as given stand in the state. */
  reach(state: JobState, count: number): Promise<void>;
  upload(fileName: string, content: string | Buffer, profile?: string): Promise<JobId>;
  /** Ends the service, so that another can be opened on its folder. Done by the test's end otherwise. */
  close(): Promise<void>;
}

export interface BatchFixtureOptions extends Partial<Omit<BatchOptions, 'layout'>> {
  /** Root of an earlier fixture, to open it again. */
  readonly root?: string;
  /** False leaves the service open and not started. @default true */
  readonly start?: boolean;
  readonly budget?: number;
  /** Fault points of the pool's threads, as `name=throw:n`. */
  readonly poolFaults?: string;
  /** True: directories below the watched folders count too. @default false */
  readonly recursive?: boolean;
  /** False: the upload folder is not watched. @default true */
  readonly watch?: boolean;
  /** `Storage:Inputs[].StabilitySeconds` of the folders, in milliseconds. @default none */
  readonly quietMs?: number;
  /** Path of a second watched folder, `other`. */
  readonly otherFolder?: string;
  /** @default the machine's */
  readonly clock?: Clock;
  readonly observer?: BatchObserver;
  /** Threads that host actors. @default `SEALWRIGHT_SHARDS` */
  readonly shards?: number;
  /** Comes between the service and the real store. */
  readonly wrapStore?: (store: ActorStore) => ActorStore;
}

export async function batchFixture(
  t: ExecutionContext,
  options: BatchFixtureOptions = {},
): Promise<BatchFixture> {
  const root = options.root ?? (await mkdtemp(join(tmpdir(), 'sealwright-batch-')));
  const layout = storageLayout(root);
  const signer = pki().signer('p-256');
  const profile = 'default' as ProfileName;
  const faults = new Faults();
  const real = await openTestStore({ folder: layout.db, faults });
  const store = options.wrapStore?.(real) ?? real;
  const complaints: string[] = [];
  const complain = (text: string, properties?: object) =>
    complaints.push(`${text} ${JSON.stringify(properties ?? {})}`);
  const {
    root: _,
    start: __,
    wrapStore: ___,
    shards: ____,
    budget = 10,
    recursive = false,
    poolFaults = '',
    watch = true,
    clock = systemClock,
    otherFolder,
    quietMs,
    observer,
    ...more
  } = options;
  const folder = (name: string, path: string): FolderOptions => ({
    name: name as FolderName,
    path,
    profile,
    budget,
    settings: {
      stability: { intervalMs: 50, requiredSamples: 2, timeoutMs: 10_000, quietMs },
      concurrency: 64,
      ignoredExtensions: ['.part'],
      ignoredPrefixes: ['.'],
      recursive,
      sweepIntervalMs: 5_000,
    },
  });
  const services = await Services.open(
    {
      // A store that is wrapped or a clock that is set are those of one thread only.
      shards: options.wrapStore === undefined && clock === systemClock ? (options.shards ?? SHARDS) : 1,
      batch: {
        layout,
        folders: [
          ...(watch ? [folder('default', layout.input)] : []),
          ...(otherFolder === undefined ? [] : [folder('other', otherFolder)]),
        ],
        profiles: [
          {
            method: 'Local',
            verify: true,
            encrypt: false,
            name: profile,
            format: undefined,
            signer,
            anchors: [pki().root.certificate],
            validTo: Date.now() + 30 * 86_400_000,
            certificate: 'test',
          },
        ],
        maxConcurrency: 2,
        pollEvery: 500,
        outputCollision: 'suffix',
        threads: 1,
        // Most tests sign nothing; the thread starts with the first task.
        eagerThreads: 0,
        ...more,
      },
    },
    {
      store,
      clock,
      ids: systemIds,
      faults,
      ...(observer && { observer }),
      faultsText: poolFaults,
      log: { debug() {}, info() {}, warn: complain, error: complain },
    },
  );
  const { batch } = services;
  let closed = false;
  const close = async () => {
    if (closed) return;
    closed = true;
    await services.stop(5_000);
    await store.close();
  };
  t.teardown(async () => {
    await close();
    if (options.root === undefined) await rm(root, { recursive: true, force: true });
  });
  if (options.start !== false) await services.start();
  return {
    batch,
    services,
    store,
    layout,
    faults,
    complaints,
    close,
    async reach(state, count) {
      await reached(() => batch.count([state]) >= count).catch((error: Error) => {
        throw new Error(`${count} jobs should be ${state}; ${batch.count([state])} are`, { cause: error });
      });
    },
    async upload(fileName, content, profile) {
      const sink = await batch.jobs.uploads.openUpload(fileName);
      await sink.write(Buffer.from(content));
      const { head } = sink;
      const { format, profile: named } = batch.jobs.uploads.plan({
        fileName,
        format: undefined,
        profile,
        head,
      });
      return (await batch.jobs.uploads.acceptUpload(sink, { fileName, format, profile: named })).id;
    },
  };
}
