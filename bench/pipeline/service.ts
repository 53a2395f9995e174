/** The batch service in this process, without HTTP, with counters on what it does for each file. */
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Services, type StorageLayout, storageLayout } from '../../actors/index.ts';
import { type LoadedSigner, loadSigner, makeDevelopmentCertificates } from '../../crypto/index.ts';
import type { FolderName, ProfileName } from '../../machines/ids.ts';
import { type ActorStore, Faults, openLmdbStore, systemClock, systemIds } from '../../runtime/index.ts';
import { THREADS } from './bare.ts';
import { fill } from './inputs.ts';
import { ThreadTimes, type TimesByRole } from './thread-times.ts';

/** `Pipeline:MaxConcurrency`. */
export const IN_FLIGHT = 16;

const SILENT = { debug() {}, info() {}, warn() {}, error: console.error };

/** Milliseconds that threads are given to load what they run. */
const LOADING = 1_500;
const LOOK = 20;

/** Totals since the service was opened. */
export interface Totals {
  readonly steps: number;
  /** Transactions of the store. */
  readonly groups: number;
  /** By task: how many, what their thread worked, and from asking to the answer; milliseconds. */
  readonly tasks: ReadonlyMap<
    string,
    { readonly tasks: number; readonly busyMs: number; readonly wholeMs: number }
  >;
  readonly cpu: TimesByRole;
}

/** Counts the transactions of the store, each of which passes a named point. */
class CountingFaults extends Faults {
  groups = 0;

  override at(name: string, subject?: string): void | Promise<void> {
    if (name === 'store.group.before-transaction') this.groups += 1;
    return super.at(name, subject);
  }
}

interface Parts {
  readonly services: Services;
  readonly store: ActorStore;
  readonly faults: CountingFaults;
  readonly steps: () => number;
  readonly threads: ThreadTimes;
  readonly layout: StorageLayout;
  readonly signer: LoadedSigner;
  readonly rootFile: string;
}

export class PipelineService {
  readonly layout: StorageLayout;
  readonly signer: LoadedSigner;
  /** PEM. */
  readonly rootFile: string;
  readonly #parts: Parts;
  #given = 0;

  private constructor(parts: Parts) {
    this.#parts = parts;
    this.layout = parts.layout;
    this.signer = parts.signer;
    this.rootFile = parts.rootFile;
  }

  /** @param root absolute, empty */
  static async open(root: string): Promise<PipelineService> {
    const layout = storageLayout(root);
    const now = systemClock.now();
    const made = await makeDevelopmentCertificates({
      label: 'bench',
      now,
      random: (n) => systemIds.bytes(n),
    });
    const keyFile = join(root, 'signer.pem');
    await mkdir(root, { recursive: true });
    await writeFile(keyFile, `${made.certificate}\n${made.caCertificate}\n${made.key}`, { mode: 0o600 });
    const rootFile = join(root, 'root.pem');
    await writeFile(rootFile, made.caCertificate);
    const signer = await loadSigner({ source: 'Pem', certificatePath: keyFile, keyPath: keyFile }, now);
    const threads = new ThreadTimes();
    const faults = new CountingFaults();
    const store = openLmdbStore({ folder: layout.db, faults });
    const steps = countSteps(store);
    threads.name('store');
    const services = await Services.open(
      { batch: batchOptions(layout, signer) },
      { store, clock: systemClock, ids: systemIds, log: SILENT, faults, faultsText: '' },
    );
    await systemClock.sleep(LOADING);
    threads.name('pool');
    await services.start();
    return new PipelineService({ services, store, faults, steps, threads, layout, signer, rootFile });
  }

  /**
   * Drops so many files into the folder at once; resolves when each is signed, published and put away.
   * @returns seconds from the first job to the last one completed
   */
  async through(name: string, count: number, done: (files: number) => void = () => {}): Promise<number> {
    const { batch } = this.#parts.services;
    const { input, root } = this.layout;
    const drop = join(root, `drop-${name}`);
    await fill(drop, name, count);
    const ended = () => batch.count(['Completed', 'Failed']) - this.#given;
    for (const file of await readdir(drop)) await rename(join(drop, file), join(input, file));
    while (batch.count() === this.#given) await systemClock.sleep(1);
    const begun = performance.now();
    for (let files = ended(); files < count; files = ended()) {
      done(files);
      await systemClock.sleep(LOOK);
    }
    const seconds = (performance.now() - begun) / 1000;
    while ((await readdir(input)).length > 0) await systemClock.sleep(LOOK);
    this.#given += count;
    return seconds;
  }

  totals(): Totals {
    const { services, faults, steps, threads } = this.#parts;
    return {
      steps: steps(),
      groups: faults.groups,
      tasks: new Map([...services.stages].map(([task, cost]) => [task, { ...cost }])),
      cpu: threads.read(),
    };
  }

  /** Jobs that failed. */
  get failed(): number {
    return this.#parts.services.batch.count(['Failed']);
  }

  async close(): Promise<void> {
    const { services, store } = this.#parts;
    await services.stop(10_000);
    await store.close();
  }
}

function countSteps(store: ActorStore): () => number {
  let steps = 0;
  const commit = store.commit.bind(store);
  store.commit = (step) => {
    steps += 1;
    return commit(step);
  };
  return () => steps;
}

function batchOptions(
  layout: StorageLayout,
  signer: LoadedSigner,
): Parameters<typeof Services.open>[0]['batch'] {
  const name = 'default';
  return {
    layout,
    folders: [
      {
        name: name as FolderName,
        path: layout.input,
        profile: name as ProfileName,
        budget: 10,
        settings: {
          stability: { intervalMs: 500, requiredSamples: 3, timeoutMs: 60_000 },
          concurrency: 64,
          ignoredExtensions: ['.part'],
          ignoredPrefixes: ['.'],
          sweepIntervalMs: 30_000,
        },
      },
    ],
    profiles: [
      {
        method: 'Local',
        verify: true,
        encrypt: false,
        name: name as ProfileName,
        format: undefined,
        signer,
        anchors: signer.root ? [signer.root] : [],
        validTo: signer.notAfter,
        certificate: signer.subject,
      },
    ],
    maxConcurrency: IN_FLIGHT,
    pollEvery: 2000,
    outputCollision: 'suffix',
    threads: THREADS,
  };
}
