/**
 * Durations of jobs and their stages. Reads one row per ended job (`ended` in `job-index.ts`), which the step that ends
 * the job writes in its own commit: about 100 bytes per job, and about 3 µs per job of the window and query. Answers
 * are cached for a few seconds; concurrent queries share one read.
 *
 * Excludes the time that remote signers take.
 *
 * Source: docs/batch-values.md §14; §15.
 */

import type { Row, Step } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type {
  StageStatistics,
  StatisticsSeries,
  StatisticsView,
} from '../../../contracts/batch/statistics.ts';
import { MINUTE_MS } from '../../../contracts/times.ts';
import type { Millis } from '../../../machines/ids.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { ENDED_JOB_ROW } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';

/** Lifetime of a cached answer, milliseconds. */
const CACHE_MS = 2_000;
/** Maximum number of cached answers, one per window. */
const CACHE_SIZE = 32;

/** Ends of jobs and durations of their stages, by interval. */
type EndedSeries = Omit<StatisticsSeries, 'oldestQueuedAt'>;

const STAGES = ['queueWait', 'sign', 'verify', 'output'] as const;

export class StatisticsService {
  readonly #runtime: Pick<BatchRuntime, 'store' | 'clock'>;
  readonly #started: number;
  /** Jobs completed since the process started. */
  #completed = 0;
  readonly #answers = new AnswerCache<StatisticsView>();
  readonly #series = new AnswerCache<EndedSeries>();

  constructor(runtime: Pick<BatchRuntime, 'store' | 'clock'>) {
    this.#runtime = runtime;
    this.#started = runtime.clock.elapsed();
  }

  /** Counts the jobs that a committed step completes. */
  observe({ actor, rows }: Pick<Step, 'actor' | 'rows'>): void {
    if (actor.address.kind !== JOB.kind || actor.state !== 'Completed') return;
    if (rows.put.some(({ view }) => view === 'ended')) this.#completed += 1;
  }

  /** @param window length of the time that ends now, milliseconds; cleared jobs are not counted */
  over(window: Millis): Promise<StatisticsView> {
    const now = this.#runtime.clock.elapsed();
    return this.#answers.get(String(window), now, () => this.#read(window));
  }

  /** @param intervals number of equal parts of the window, 1 to 96 */
  series(window: Millis, intervals: number): Promise<EndedSeries> {
    const now = this.#runtime.clock.elapsed();
    return this.#series.get(`${window}/${intervals}`, now, () => this.#readSeries(window, intervals));
  }

  async #readSeries(window: Millis, intervals: number): Promise<EndedSeries> {
    const since = this.#runtime.clock.now() - window;
    const interval = window / intervals;
    const zeros = () => Array.from({ length: intervals }, () => 0);
    const counts = { Completed: zeros(), Failed: zeros(), Canceled: zeros() };
    const sketches = () => Array.from({ length: intervals }, () => new DurationSketch());
    const taken = { queueWait: sketches(), sign: sketches() };
    for await (const { key, value } of this.#endedSince(since)) {
      const facts = ENDED_JOB_ROW.read(value);
      const { state } = facts;
      if (state !== 'Completed' && state !== 'Failed' && state !== 'Canceled') continue;
      // A job that ended after the clock was set back counts for the last interval.
      const at = Math.min(intervals - 1, Math.floor(((key[0] as number) - since) / interval));
      counts[state][at] = (counts[state][at] ?? 0) + 1;
      if (state !== 'Completed') continue;
      for (const stage of ['queueWait', 'sign'] as const) {
        const length = facts[stage];
        if (length !== undefined) taken[stage][at]?.add(length);
      }
    }
    const p95 = (sketch: DurationSketch) => (sketch.count === 0 ? null : rounded(sketch.quantile(0.95)));
    return {
      since,
      intervalSeconds: interval / 1000,
      completed: counts.Completed,
      failed: counts.Failed,
      canceled: counts.Canceled,
      queueWaitMs: taken.queueWait.map(p95),
      signMs: taken.sign.map(p95),
    };
  }

  async #read(window: Millis): Promise<StatisticsView> {
    const { clock } = this.#runtime;
    const now = clock.now();
    const since = now - window;
    const ends = { Completed: 0, Failed: 0, Canceled: 0 };
    let encrypted = 0;
    const methods = { Local: 0, RemoteSigner: 0 };
    const stages = STAGES.map((name) => ({ name, sketch: new DurationSketch() }));
    let lastMinute = 0;
    for await (const { key, value } of this.#endedSince(since)) {
      const facts = ENDED_JOB_ROW.read(value);
      if (facts.state === 'Completed' || facts.state === 'Failed' || facts.state === 'Canceled')
        ends[facts.state] += 1;
      if (facts.state !== 'Completed') continue;
      methods[facts.method] += 1;
      if (facts.encrypted) encrypted += 1;
      if ((key[0] as number) > now - MINUTE_MS) lastMinute += 1;
      for (const { name, sketch } of stages) {
        const taken = facts[name];
        if (taken !== undefined) sketch.add(taken);
      }
    }
    const [queueWait, sign, verify, output] = stages.map(({ sketch }) => stageStatistics(sketch));
    const minutes = Math.max(clock.elapsed() - this.#started, 1_000) / MINUTE_MS;
    return {
      since,
      completed: ends.Completed,
      failed: ends.Failed,
      canceled: ends.Canceled,
      encrypted,
      perStage: {
        queueWait: queueWait ?? NONE,
        sign: sign ?? NONE,
        verify: verify ?? NONE,
        output: output ?? NONE,
      },
      perMethod: methods,
      throughputPerMinute: lastMinute,
      lifetimePerMinute: rounded(this.#completed / minutes),
    };
  }

  /** Newest first; yields to other work between two batches. */
  async *#endedSince(since: Millis): AsyncGenerator<Row> {
    for await (const rows of rowPieces(this.#runtime.store, { view: 'ended' }, { newestFirst: true }))
      for (const row of rows) {
        if ((row.key[0] as number) < since) return;
        yield row;
      }
  }
}

/** Answers of the last seconds; concurrent questions share one. */
class AnswerCache<Answer> {
  readonly #answers = new LRUCache<string, { readonly at: number; readonly answer: Promise<Answer> }>({
    max: CACHE_SIZE,
  });

  get(question: string, now: number, read: () => Promise<Answer>): Promise<Answer> {
    const cached = this.#answers.get(question);
    if (cached && now - cached.at < CACHE_MS) return cached.answer;
    const answer = read();
    this.#answers.set(question, { at: now, answer });
    // A failure is reported to the waiting callers and not cached.
    answer.catch(() => this.#answers.delete(question));
    return answer;
  }
}

const NONE: StageStatistics = { count: 0, avgMs: null, p50Ms: null, p95Ms: null, maxMs: null };

function stageStatistics(sketch: DurationSketch): StageStatistics {
  if (sketch.count === 0) return NONE;
  return {
    count: sketch.count,
    avgMs: rounded(sketch.sum / sketch.count),
    p50Ms: rounded(sketch.quantile(0.5)),
    p95Ms: rounded(sketch.quantile(0.95)),
    maxMs: rounded(sketch.max),
  };
}

/** Rounds to two decimals. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/**
 * Sketch of durations: counts in buckets that grow by 2 %, so that a quantile is at most 1 % off. About 1,500 buckets
 * cover 0.01 ms to a year; only those in use take memory.
 */
const GROWTH = Math.log(1.02);
/** Lower bound of durations, milliseconds. */
const SHORTEST = 0.01;

export class DurationSketch {
  readonly #buckets = new Map<number, number>();
  count = 0;
  sum = 0;
  max = 0;

  /** Negative values count as zero. */
  add(ms: number): void {
    const taken = Math.max(0, ms);
    this.count += 1;
    this.sum += taken;
    if (taken > this.max) this.max = taken;
    const bucket = taken < SHORTEST ? -1 : Math.floor(Math.log(taken / SHORTEST) / GROWTH);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
  }

  /** Returns the smallest duration that a share (0 to 1) of the values does not exceed; 0 when empty. */
  quantile(share: number): number {
    const wanted = Math.max(1, Math.ceil(share * this.count));
    let passed = 0;
    for (const [bucket, count] of [...this.#buckets].sort(([a], [b]) => a - b)) {
      passed += count;
      if (passed < wanted) continue;
      if (bucket < 0) return 0;
      return Math.min(this.max, SHORTEST * Math.exp((bucket + 0.5) * GROWTH));
    }
    return 0;
  }
}
