/** The batch service in this process, without HTTP, with counters per file. */
import { readdirSync, readFileSync, renameSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorStore, Faults, systemClock, systemIds } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import {
  type LoadedIdentity,
  type LoadedSigner,
  type LocalSigner,
  loadSigner,
  makeDevelopmentCertificates,
  verifyFile,
} from '@sealwright/signatures';
import { type ServiceSigner, Services, type StorageLayout, storageLayout } from '../../actors/index.ts';
import type { FolderName, ProfileName } from '../../machines/ids.ts';
import { type BenchContext, Unverified } from '../frame/bench.ts';
import { verifiedByOtherTool } from '../frame/judges.ts';
import { fill, INPUTS, type InputKind, makeSpread, THREADS } from './bare.ts';

/** `Pipeline:MaxConcurrency`: what is ready together shares messages, transactions and syncs. Also the signatures in flight at a service. */
export const IN_FLIGHT = 32;

const SILENT = { debug() {}, info() {}, warn() {}, error: console.error };

/** Files moved into the folder in one turn of the event loop. */
const MOVED_AT_ONCE = 16;

/** Milliseconds for threads to load their code. */
const LOADING = 1_500;
const CHECK_INTERVAL_MS = 20;
/** Outputs that another program verifies. */
const JUDGED_BY_OTHERS = 5;

/** Totals since the service was opened. */
export interface Totals {
  readonly steps: number;
  /** Transactions of the store. */
  readonly groups: number;
  /** By task: number, thread time, and time from request to response; milliseconds. */
  readonly tasks: ReadonlyMap<
    string,
    { readonly tasks: number; readonly busyMs: number; readonly wholeMs: number }
  >;
  readonly cpu: TimesByRole;
}

/** Counts store transactions, each of which passes a named fault point. */
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
  readonly signer: BenchSigner;
  readonly rootFile: string;
  readonly kind: InputKind;
}

/** A loaded key, or another one in its place. */
type BenchSigner = (Omit<LoadedSigner, 'root'> | (ServiceSigner & LoadedIdentity)) & {
  readonly root?: LoadedSigner['root'] | undefined;
};

export class PipelineService {
  readonly layout: StorageLayout;
  readonly signer: BenchSigner;
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

  /**
   * @param root absolute, empty
   * @param options `kind` of the files; `signer`, default one with an RSA-2048 key; `served` gives that key, as PEM, to a
   *   transit engine of Vault with the returned address; `jobs` in flight, default `IN_FLIGHT`
   */
  static async open(
    root: string,
    {
      kind = INPUTS.Pades,
      signer: given,
      served,
      jobs = IN_FLIGHT,
    }: { kind?: InputKind; signer?: LocalSigner; served?: (key: string) => string; jobs?: number } = {},
  ): Promise<PipelineService> {
    const layout = storageLayout(root);
    const now = systemClock.now();
    const made = await makeDevelopmentCertificates({
      label: 'bench',
      now,
      random: (n) => systemIds.bytes(n),
    });
    const keyFile = join(root, 'signer.pem');
    makeSpread(root);
    await writeFile(keyFile, `${made.certificate}\n${made.caCertificate}\n${made.key}`, { mode: 0o600 });
    const rootFile = join(root, 'root.pem');
    await writeFile(rootFile, made.caCertificate);
    const loaded = await loadSigner({ source: 'Pem', certificatePath: keyFile, keyPath: keyFile });
    const own: BenchSigner = given === undefined ? loaded : { ...loaded, ...given, root: undefined };
    const signer = served === undefined ? own : atService(loaded, served(made.key));
    const threads = new ThreadTimes();
    const faults = new CountingFaults();
    const store = openLmdbStore({ folder: layout.db, faults });
    const steps = countSteps(store);
    threads.name('store');
    const services = await Services.open(
      { batch: batchOptions(layout, signer, jobs) },
      { store, clock: systemClock, ids: systemIds, log: SILENT, faults, faultsText: '' },
    );
    await systemClock.sleep(LOADING);
    threads.name('pool');
    await services.start();
    return new PipelineService({ services, store, faults, steps, threads, layout, signer, rootFile, kind });
  }

  /** Writes that many files beside the folder, for `through`; its cost is not one of the service. */
  async prepare(name: string, count: number): Promise<void> {
    await fill(this.#drop(name), name, count, this.#parts.kind);
  }

  /**
   * Moves prepared files into the folder at once; resolves when all are signed, published and archived.
   * @returns seconds from the first job to the last completed one
   */
  async through(name: string, count: number, done: (files: number) => void = () => {}): Promise<number> {
    const { batch } = this.#parts.services;
    const { input } = this.layout;
    const drop = this.#drop(name);
    const ended = () => batch.count(['Completed', 'Failed']) - this.#given;
    for (const [at, file] of (await readdir(drop)).entries()) {
      renameSync(join(drop, file), join(input, file));
      if (at % MOVED_AT_ONCE === 0) await nextTurn();
    }
    while (batch.count() === this.#given) await systemClock.sleep(1);
    const startedAt = performance.now();
    for (let files = ended(); files < count; files = ended()) {
      done(files);
      await systemClock.sleep(CHECK_INTERVAL_MS);
    }
    const seconds = (performance.now() - startedAt) / 1000;
    while ((await readdir(input)).length > 0) await systemClock.sleep(CHECK_INTERVAL_MS);
    this.#given += count;
    return seconds;
  }

  #drop(name: string): string {
    return join(this.layout.root, `drop-${name}`);
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

  /** Number of failed jobs. */
  get failed(): number {
    return this.#parts.services.batch.count(['Failed']);
  }

  /**
   * Verifies that each file has its output and that outputs are good, a few of them by a program that we did not write.
   * @param which `by`: name of the check in the result; `most` outputs are looked at, @default all
   */
  async verify(
    expected: number,
    context: BenchContext,
    { by, most }: { by: string; most?: number },
  ): Promise<void> {
    const { format } = this.#parts.kind;
    const outputs = readdirSync(this.layout.output);
    if (this.failed > 0 || outputs.length !== expected)
      throw new Unverified(`${this.failed} jobs failed; ${outputs.length} outputs of ${expected}.`);
    const paths = outputs.slice(0, most).map((name) => join(this.layout.output, name));
    for (const path of paths) {
      const { fingerprint } = this.signer;
      const { ok, checks } = verifyFile({ format, path, signer: fingerprint, at: systemClock.now() });
      const bad = checks.filter((check) => !check.ok);
      if (!ok) throw new Unverified(`${basename(path)} does not verify: ${JSON.stringify(bad)}`);
    }
    context.verified(by, paths.length);
    // A given signer has another root.
    if (this.signer.root === undefined) return;
    for (const path of paths.slice(0, JUDGED_BY_OTHERS)) {
      const trusted = { folder: this.layout.root, rootFile: this.rootFile };
      const other = await verifiedByOtherTool({ name: basename(path), format, path }, trusted);
      if (other !== undefined) context.verified(other, 1);
    }
  }

  async close(): Promise<void> {
    const { services, store } = this.#parts;
    await services.stop(10_000);
    await store.close();
  }
}

/** The signer with its key at a service. */
function atService({ key: _, ...identity }: LoadedSigner, address: string): BenchSigner {
  const place = {
    service: 'Vault',
    address,
    key: 'bench',
    token: 'bench',
    namespace: undefined,
    tokenPath: undefined,
  } as const;
  const limits = { maxInFlight: IN_FLIGHT, timeoutMs: 30_000 };
  return { ...identity, where: 'service', place, limits, isTried: false };
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
  signer: BenchSigner,
  maxConcurrency: number,
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
    maxConcurrency,
    pollEvery: 2000,
    outputCollision: 'suffix',
    threads: THREADS,
  };
}

const TASKS = '/proc/self/task';

/** Milliseconds by role. */
type TimesByRole = ReadonlyMap<string, number>;

class ThreadTimes {
  readonly #roles = new Map<string, string>([[String(process.pid), 'main']]);

  /** Existing threads without a name belong to the runtime of the language. */
  constructor() {
    this.name('rest');
  }

  /** Names the threads started since the last call; later unnamed ones count as `rest`. */
  name(role: string): void {
    for (const thread of threads()) if (!this.#roles.has(thread)) this.#roles.set(thread, role);
  }

  /** Returns the processor time of each role so far. */
  read(): TimesByRole {
    const used = new Map<string, number>();
    for (const thread of threads()) {
      const role = this.#roles.get(thread) ?? 'rest';
      used.set(role, (used.get(role) ?? 0) + timeOf(thread));
    }
    return used;
  }

  since(before: TimesByRole): TimesByRole {
    return new Map([...this.read()].map(([role, ms]) => [role, ms - (before.get(role) ?? 0)]));
  }
}

function threads(): readonly string[] {
  try {
    return readdirSync(TASKS);
  } catch {
    return [];
  }
}

/** Milliseconds of processor time; 0 for a thread that has just ended. */
function timeOf(thread: string): number {
  try {
    const [nanoseconds = '0'] = readFileSync(`${TASKS}/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    return 0;
  }
}
