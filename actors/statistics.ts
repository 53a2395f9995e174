/**
 * How long jobs take, and where. Read when asked from one small row per ended job (`ended` in `job-index.ts`), which
 * the step that ends the job writes anyway in its own commit: the hot path pays a put of about 100 bytes, a question
 * some 3 µs a job of its window. Answers are kept for a few seconds, and one reading serves all who ask meanwhile.
 *
 * Waiting for people is no stage: what a remote signer takes is in none of the figures.
 *
 * Source: batch-gaps §14, "Processing performance"; §15, "Statistics".
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Millis } from '../machines/ids.ts';
import type { ActorStore, Clock, Row, Step } from '../runtime/index.ts';
import type { StageFigures, Statistics, StatisticsView } from './api.ts';
import { DurationSketch } from './duration-sketch.ts';
import type { EndedFacts } from './job-index.ts';
import { JOB } from './registry.ts';

/** Rows read at once. */
const PIECE = 512;
const MINUTE = 60_000;
/** How long an answer is good for, milliseconds. */
const FRESH = 2_000;
/** Answers kept; more windows than that are asked for by nobody in earnest. */
const ANSWERS = 32;

const STAGES = ['queueWait', 'sign', 'verify', 'output'] as const;

export interface StatisticsParts {
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now' | 'elapsed'>;
}

export class StatisticsService implements Statistics {
  readonly #parts: StatisticsParts;
  readonly #started: number;
  /** Jobs completed since the process started. */
  #completed = 0;
  readonly #answers = new Map<Millis, { readonly at: number; readonly answer: Promise<StatisticsView> }>();

  constructor(parts: StatisticsParts) {
    this.#parts = parts;
    this.#started = parts.clock.elapsed();
  }

  /** Counts the jobs that a committed step completes. */
  observe({ actor, rows }: Pick<Step, 'actor' | 'rows'>): void {
    if (actor.address.kind !== JOB || actor.state !== 'Completed') return;
    if (rows.put.some(({ view }) => view === 'ended')) this.#completed += 1;
  }

  over(window: Millis): Promise<StatisticsView> {
    const now = this.#parts.clock.elapsed();
    const known = this.#answers.get(window);
    if (known && now - known.at < FRESH) return known.answer;
    this.#answers.delete(window);
    for (const [oldest] of this.#answers) {
      if (this.#answers.size < ANSWERS) break;
      this.#answers.delete(oldest);
    }
    const answer = this.#read(window);
    this.#answers.set(window, { at: now, answer });
    // A failure is told to those who asked, and to nobody after them.
    answer.catch(() => this.#answers.delete(window));
    return answer;
  }

  async #read(window: Millis): Promise<StatisticsView> {
    const { clock } = this.#parts;
    const now = clock.now();
    const since = now - window;
    const ends = { Completed: 0, Failed: 0, Canceled: 0 };
    let encrypted = 0;
    const methods = { Local: 0, RemoteSigner: 0 };
    const stages = STAGES.map((name) => ({ name, sketch: new DurationSketch() }));
    let lastMinute = 0;
    for await (const { key, value } of this.#endedSince(since)) {
      const facts = value as unknown as EndedFacts;
      if (facts.state === 'Completed' || facts.state === 'Failed' || facts.state === 'Canceled')
        ends[facts.state] += 1;
      if (facts.state !== 'Completed') continue;
      methods[facts.method] += 1;
      if (facts.encrypted) encrypted += 1;
      if ((key[0] as number) > now - MINUTE) lastMinute += 1;
      for (const { name, sketch } of stages) {
        const taken = facts[name];
        if (taken !== undefined) sketch.add(taken);
      }
    }
    const [queueWait, sign, verify, output] = stages.map(({ sketch }) => figuresOf(sketch));
    const minutes = Math.max(clock.elapsed() - this.#started, 1_000) / MINUTE;
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

  /** Newest first; others get their turn between two pieces. */
  async *#endedSince(since: Millis): AsyncGenerator<Row> {
    let after: Row['key'] | undefined;
    for (;;) {
      const query = { view: 'ended', reverse: true, limit: PIECE, ...(after && { after }) };
      const rows = await this.#parts.store.rows(query);
      for (const row of rows) {
        if ((row.key[0] as number) < since) return;
        yield row;
      }
      after = rows.at(-1)?.key;
      if (rows.length < PIECE) return;
      await nextTurn();
    }
  }
}

const NONE: StageFigures = { count: 0, avgMs: null, p50Ms: null, p95Ms: null, maxMs: null };

function figuresOf(sketch: DurationSketch): StageFigures {
  if (sketch.count === 0) return NONE;
  return {
    count: sketch.count,
    avgMs: rounded(sketch.sum / sketch.count),
    p50Ms: rounded(sketch.quantile(0.5)),
    p95Ms: rounded(sketch.quantile(0.95)),
    maxMs: rounded(sketch.max),
  };
}

/** Two places behind the point. */
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
