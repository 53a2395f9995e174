/**
 * How many durable steps a second, one step in flight and many, beside plain LMDB writing the same rows.
 *
 * One step = one message to one actor: read (cached), pure transition, one group commit with snapshot, journal line,
 * two rows, an effect asked for or settled, two counters; answered once durable. The baseline writes the same keys
 * and values with nothing around it. Run: `node dist/bench/step.js [milliseconds per figure]`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assign, setup } from 'xstate';
import {
  type ActorDefinition,
  createRuntime,
  firstStep,
  nextStep,
  openLmdbStore,
  type Step,
  type StoredActor,
  systemClock,
  systemIds,
} from '../runtime/index.ts';
import { write } from '../runtime/store/lmdb-changes.ts';
import { type PlannedStep, planStep } from '../runtime/store/lmdb-step-text.ts';
import { openTables, transact } from '../runtime/store/lmdb-tables.ts';

/** One figure. */
export interface StepFigure {
  readonly bench: 'step';
  readonly what: 'runtime' | 'plain lmdb' | 'pure step';
  readonly inFlight: number;
  readonly perSecond: number;
  /** Time this thread computed per step, microseconds; waiting for the disk is not in it. */
  readonly mainThreadMicros: number;
  /** The same of the whole process: this thread, the one that writes, and those of the engine. */
  readonly processMicros: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
}

export type Report = (figure: StepFigure) => void;

interface Context {
  readonly turns: number;
  readonly fileName: string;
  readonly path: string;
  readonly createdAt: number;
  readonly folder: string;
}

const machine = setup({
  types: { context: {} as Context, input: {} as Context },
  actions: { effect: (_, _params: object) => {}, note: (_, _params: object) => {}, dropEffects: () => {} },
}).createMachine({
  id: 'bench',
  context: ({ input }) => input,
  initial: 'Queued',
  states: {
    Queued: {
      on: {
        CLAIM: {
          target: 'Processing',
          actions: [
            { type: 'note', params: { message: 'Processing started.' } },
            { type: 'effect', params: ({ context }) => ({ do: 'never', path: context.path }) },
          ],
        },
      },
    },
    Processing: {
      on: {
        RESTARTED: {
          target: 'Queued',
          actions: [
            { type: 'note', params: { message: 'Queued again.' } },
            { type: 'dropEffects' },
            assign({ turns: ({ context }) => context.turns + 1 }),
          ],
        },
      },
    },
  },
});

const definition: ActorDefinition = {
  kind: 'bench',
  machine,
  version: 1,
  rows: ({ id, state, context }) => [
    { view: 'by-state', key: [state, context.createdAt, id], value: null },
    { view: 'by-time', key: [context.createdAt, id], value: { id, state, fileName: context.fileName } },
  ],
  counters: ({ state }) => ({ [`bench.${state}`]: 1 }),
};

const ACTORS = 5000;

function input(n: number): Context {
  return {
    turns: 0,
    fileName: `invoice-${n}.pdf`,
    path: `/data/input/invoice-${n}.pdf`,
    createdAt: 1_760_000_000_000 + n,
    folder: 'default',
  };
}

/** Nanoseconds this thread has computed so far. */
function computed(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]);
}

function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

/** Runs `step` on `inFlight` lanes for `millis` and reports. */
async function measure(
  what: StepFigure['what'],
  inFlight: number,
  millis: number,
  step: (n: number) => Promise<void> | void,
  report: Report,
): Promise<void> {
  const latencies: number[] = [];
  let next = 0;
  const lane = async (until: number): Promise<void> => {
    while (performance.now() < until) {
      const start = performance.now();
      await step(next++);
      latencies.push(performance.now() - start);
    }
  };
  const lanes = (duration: number) =>
    Promise.all(Array.from({ length: inFlight }, () => lane(performance.now() + duration)));
  await lanes(millis / 5);
  latencies.length = 0;
  const before = computed();
  const all = process.cpuUsage();
  const start = performance.now();
  await lanes(millis);
  const seconds = (performance.now() - start) / 1000;
  const micros = (computed() - before) / 1000 / latencies.length;
  const { user, system } = process.cpuUsage(all);
  latencies.sort((left, right) => left - right);
  report({
    bench: 'step',
    what,
    inFlight,
    perSecond: Math.round(latencies.length / seconds),
    mainThreadMicros: Math.round(micros * 10) / 10,
    processMicros: Math.round(((user + system) / latencies.length) * 10) / 10,
    p50Millis: Math.round(percentile(latencies, 0.5) * 1000) / 1000,
    p99Millis: Math.round(percentile(latencies, 0.99) * 1000) / 1000,
  });
}

/** Both steps of one actor, as pure data; the plain baseline writes these. */
function steps(n: number, from: StoredActor | undefined): { readonly claim: Step; readonly back: Step } {
  const address = { kind: 'bench', id: `job-${n}` };
  const actor = from ?? firstStep(definition, address, { ...input(n) }, { now: 1 }).actor;
  const claim = nextStep(definition, actor, { type: 'CLAIM', at: 2 }, { now: 2 });
  const back = claim && nextStep(definition, claim.actor, { type: 'RESTARTED', at: 3 }, { now: 3 });
  if (claim === undefined || back === undefined) throw new Error('The bench machine refused its own events.');
  return { claim, back };
}

async function pure(millis: number, report: Report): Promise<void> {
  const actors = Array.from({ length: 100 }, (_, n) => steps(n, undefined).claim.actor);
  const stored = actors.map((actor) => JSON.stringify(actor));
  // Read from text each time, as after a sleep, so that nothing computed for the same object before is reused.
  const step = (n: number): void => {
    const actor = JSON.parse(stored[n % 100] ?? '') as StoredActor;
    nextStep(definition, actor, { type: 'RESTARTED', at: n }, { now: n });
  };
  await measure('pure step', 1, millis, step, report);
}

async function plain(inFlight: number, millis: number, report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-bench-'));
  const tables = openTables(folder);
  const latest = new Map<number, StoredActor>();
  const encoded: PlannedStep[][] = [];
  for (let n = 0; n < ACTORS; n++) {
    const { claim, back } = steps(n, latest.get(n));
    encoded.push([planStep(claim), planStep(back)]);
  }
  let group: (() => void)[] = [];
  let waiting: PlannedStep[] = [];
  const commit = (): void => {
    const answers = group;
    const writes = waiting;
    group = [];
    waiting = [];
    transact(tables, () => {
      const counted = new Map<string, number>();
      for (const one of writes) write(tables, one, counted, []);
    });
    for (const answer of answers) answer();
  };
  const step = (n: number): Promise<void> =>
    new Promise((resolve) => {
      const one = encoded[n % ACTORS]?.[Math.floor(n / ACTORS) % 2];
      if (one !== undefined) waiting.push(one);
      group.push(resolve);
      if (group.length === 1) setImmediate(commit);
    });
  await measure('plain lmdb', inFlight, millis, step, report);
  await tables.root.close();
  rmSync(folder, { recursive: true });
}

async function runtime(inFlight: number, millis: number, report: Report): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-bench-'));
  const store = openLmdbStore({ folder });
  const silent = (): void => {};
  const { system, stop } = createRuntime({
    store,
    clock: systemClock,
    ids: systemIds,
    log: { debug: silent, info: silent, warn: silent, error: silent },
    definitions: [definition],
    handlers: {
      never: { after: 'visible', run: async () => ({ type: 'NEVER' }), failed: () => ({ type: 'NEVER' }) },
    },
  });
  for (let n = 0; n < ACTORS; n += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, k) =>
        system.create({ kind: 'bench', id: `job-${n + k}` }, { ...input(n + k) }),
      ),
    );
  }
  const step = async (n: number): Promise<void> => {
    const type = Math.floor(n / ACTORS) % 2 === 0 ? 'CLAIM' : 'RESTARTED';
    const outcome = await system.tell({ kind: 'bench', id: `job-${n % ACTORS}` }, { type });
    if (!outcome.accepted) throw new Error(`refused: ${outcome.because}`);
    await outcome.durable;
  };
  await measure('runtime', inFlight, millis, step, report);
  await stop();
  await store.close();
  rmSync(folder, { recursive: true });
}

export async function run(report: Report, millis = 3000): Promise<void> {
  await pure(millis / 3, report);
  for (const inFlight of [1, 16, 64]) {
    await plain(inFlight, millis, report);
    await runtime(inFlight, millis, report);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const figures: StepFigure[] = [];
  await run(
    (figure) => {
      figures.push(figure);
      console.log(JSON.stringify(figure));
    },
    Number(process.argv[2] ?? 3000),
  );
  console.log(
    `\n${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores, Node ${process.version}`,
  );
  console.log('what          in flight     steps/s   us of this thread   p50 ms   p99 ms');
  for (const { what, inFlight, perSecond, mainThreadMicros, p50Millis, p99Millis } of figures) {
    const cells = [inFlight, perSecond, mainThreadMicros, p50Millis, p99Millis];
    const widths = [11, 12, 20, 9, 9];
    console.log(what.padEnd(12) + cells.map((cell, n) => String(cell).padStart(widths[n] ?? 0)).join(''));
  }
}
