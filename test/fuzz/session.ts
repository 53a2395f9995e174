/** Fuzzing loop: select, mutate, run, judge, keep. */
import { CryptoError } from '#crypto/core/types.js';
import { isTargetName, TARGETS } from './all-targets.ts';
import { type Coverage, startCoverage } from './coverage.ts';
import { createFuzzEnvironment, type FuzzEnvironment } from './environment.ts';
import type { Failure, FromFuzzer, FuzzOptions, SharedInput, TargetFigures } from './messages.ts';
import { MAX_INPUT } from './mutate/mutation.ts';
import { plain } from './outcome.ts';
import { Pool } from './pool.ts';
import { Random } from './random.ts';
import { BrokenPromise, type Target } from './target.ts';

/** Limits in bytes: growth of resident memory by one case, and of the heap by a whole run. */
const CASE_MEMORY = 400 << 20;
const RUN_MEMORY = 48 << 20;
/** Cases between two coverage queries. */
const BATCH = 200;
/**
 * Share of cases with coverage: it makes code slow and finds most at the start; later cases are judged by outcomes.
 */
const GUIDED_SHARE = 1 / 20;
/** Limit of remembered outcomes per target. */
const MAX_OUTCOMES = 20_000;

interface TargetState {
  readonly index: number;
  readonly target: Target;
  readonly pool: Pool;
  readonly outcomes: Set<string>;
  cases: number;
  slowest: number;
  took: number;
}

export async function fuzz(
  options: FuzzOptions,
  shared: SharedInput,
  tell: (message: FromFuzzer) => void,
): Promise<void> {
  const environment = createFuzzEnvironment();
  const random = new Random(options.seed);
  const workers = await workersOf(options, environment);
  const turns = workers.flatMap((worker) =>
    Array.from({ length: weightOf(worker.target.name) }, () => worker),
  );
  let coverage = options.guided ? startCoverage() : undefined;
  coverage?.fresh();
  let batch: { readonly worker: TargetState; readonly input: Buffer }[] = [];
  let settled: number | undefined;

  for (let done = 0; done < options.cases; done++) {
    const worker = random.pick(turns);
    const mutated = worker.target.mutation(worker.pool.pick(random), random, worker.pool.pick(random));
    const input = mutated.length > MAX_INPUT ? mutated.subarray(0, MAX_INPUT) : mutated;
    shared.begin(worker.index, input);
    const { outcome, failure } = await runCase(worker, input, options.budget);
    if (failure !== undefined) tell({ type: 'failure', failure });
    const isNew = !worker.outcomes.has(outcome) && worker.outcomes.size < MAX_OUTCOMES;
    if (isNew) {
      worker.outcomes.add(outcome);
      worker.pool.keep(input, random);
    }
    // Inputs with new outcomes are kept anyway; their coverage counts as reached.
    if (coverage !== undefined) batch.push({ worker, input });
    if ((done + 1) % BATCH === 0) {
      const parts = coverage?.fresh();
      if (coverage !== undefined && parts !== undefined && parts.size > 0) {
        await keepReaching(parts, batch, { coverage, shared, random });
      }
      batch = [];
      if (coverage !== undefined && done >= options.cases * GUIDED_SHARE) {
        coverage.stop();
        coverage = undefined;
      }
      environment.sweep();
      tell(progress(done + 1, workers, coverage?.parts ?? 0));
    }
    // After a third of the cases, code and caches are warm.
    if (done === Math.floor(options.cases / 3)) settled = await heap(workers);
  }
  const end = await heap(workers);
  if (settled !== undefined && end - settled > RUN_MEMORY) {
    const detail = `${(end - settled) >> 20} MiB more at the end than after a third of the run`;
    tell({ type: 'failure', failure: { target: 'run', kind: 'growth', detail, input: new Uint8Array() } });
  }
  coverage?.stop();
  environment.close();
  tell({
    type: 'end',
    byTarget: Object.fromEntries(workers.map((worker) => [worker.target.name, figures(worker)])),
  });
}

async function workersOf(options: FuzzOptions, environment: FuzzEnvironment): Promise<TargetState[]> {
  const workers: TargetState[] = [];
  for (const [index, name] of options.targets.entries()) {
    if (!isTargetName(name)) throw new Error(`There is no target ${name}.`);
    const target = await TARGETS[name].make(environment);
    workers.push({
      index,
      target,
      pool: new Pool(target.seeds),
      outcomes: new Set(),
      cases: 0,
      slowest: 0,
      took: 0,
    });
    await mustBegin(target);
  }
  return workers;
}

/** Fails for a seed that crashes, or a target that refuses all of its seeds. */
async function mustBegin(target: Target): Promise<void> {
  let good = 0;
  for (const seed of target.seeds) {
    try {
      await target.run(seed);
      good++;
    } catch (error) {
      if (!(error instanceof CryptoError)) throw error;
    }
  }
  if (good === 0) throw new Error(`Target ${target.name} refuses all of its seeds.`);
}

function weightOf(name: string): number {
  return isTargetName(name) ? TARGETS[name].weight : 1;
}

/** Repeats the inputs one by one and keeps those that reach new blocks. */
async function keepReaching(
  parts: ReadonlySet<string>,
  batch: readonly { readonly worker: TargetState; readonly input: Buffer }[],
  {
    coverage,
    shared,
    random,
  }: { readonly coverage: Coverage; readonly shared: SharedInput; readonly random: Random },
): Promise<void> {
  const wanted = new Set(parts);
  for (const { worker, input } of batch) {
    if (wanted.size === 0) break;
    shared.begin(worker.index, input);
    await attempt(worker.target, input);
    const before = wanted.size;
    for (const part of coverage.reached()) wanted.delete(part);
    if (wanted.size < before) worker.pool.keep(input, random);
  }
}

interface CaseResult {
  readonly outcome: string;
  readonly failure?: Failure;
}

/** Resident memory after the last case, in bytes. */
let resident = Number.POSITIVE_INFINITY;

async function runCase(worker: TargetState, input: Buffer, budget: number): Promise<CaseResult> {
  const { target } = worker;
  const from = performance.now();
  const result = await attempt(target, input);
  const took = performance.now() - from;
  worker.cases++;
  worker.took += took;
  worker.slowest = Math.max(worker.slowest, took);
  const failed = (kind: Failure['kind'], detail: string): CaseResult => ({
    outcome: `${kind} ${plain(detail)}`,
    failure: { target: target.name, kind, detail, input },
  });
  if (result.broken !== undefined) return failed(result.broken, result.outcome);
  // Memory of one case is still allocated when the next one starts.
  const rss = process.memoryUsage.rss();
  const added = rss - resident;
  resident = rss;
  if (added > CASE_MEMORY) return failed('memory', `${added >> 20} MiB more for ${input.length} bytes`);
  if (took > budget) {
    // Processor time and a second attempt make the limit independent of other load.
    const before = process.cpuUsage();
    await attempt(target, input);
    const { user, system } = process.cpuUsage(before);
    const spent = (user + system) / 1000;
    if (spent > budget) return failed('slow', `${Math.round(spent)} ms for ${input.length} bytes`);
  }
  return { outcome: result.outcome };
}

interface Attempt {
  readonly outcome: string;
  readonly broken?: 'crash' | 'promise';
}

async function attempt(target: Target, input: Buffer): Promise<Attempt> {
  try {
    const result = target.run(input);
    return { outcome: typeof result === 'string' ? result : await result };
  } catch (error) {
    if (error instanceof BrokenPromise) return { outcome: error.message, broken: 'promise' };
    if (error instanceof CryptoError) return { outcome: `${error.code} ${plain(error.message)}` };
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { outcome: detail, broken: 'crash' };
  }
}

/** Heap after garbage collection, without kept inputs, in bytes. */
async function heap(workers: readonly TargetState[]): Promise<number> {
  const collect = (globalThis as { gc?: () => void }).gc;
  for (let round = 0; round < 3; round++) {
    collect?.();
    // External memory is released one turn later.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { heapUsed, external } = process.memoryUsage();
  let pools = 0;
  for (const { pool } of workers) pools += pool.bytes;
  return heapUsed + external - pools;
}

function progress(done: number, workers: readonly TargetState[], parts: number): FromFuzzer {
  let outcomes = 0;
  let kept = 0;
  for (const worker of workers) {
    outcomes += worker.outcomes.size;
    kept += worker.pool.kept;
  }
  return { type: 'progress', done, outcomes, parts, kept, rss: process.memoryUsage.rss() };
}

function figures({ cases, outcomes, slowest, took }: TargetState): TargetFigures {
  const mean = cases === 0 ? 0 : took / cases;
  return { cases, outcomes: outcomes.size, mean: rounded(mean), slowest: rounded(slowest) };
}

function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}
