/**
 * Deletes finished jobs by age, with their history and records of outputs; files stay.
 *
 * Source: docs/decisions/0050-large-operations.md; configuration `Retention:JobsDays`.
 */
import { describeFailure, type Millis } from '@sealwright/runtime';
import { TERMINAL_STATES } from '../../../machines/batch/job-context.ts';
import { firstOrderNumberAt } from '../../shared/ids/order-numbers.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import type { EventLog } from '../job-records/events.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { jobIdOf } from '../job-records/job-index.ts';
import { JOB } from '../job-records/kinds.ts';
import { clearTheseJobs } from './clearing.ts';
import { RepeatedWork } from './repeated-work.ts';

/** Pause between two sweeps, milliseconds. */
const SWEEP_INTERVAL_MS = 3_600_000;
/** Jobs per batch; less than the store's limit per transaction. */
const BATCH_SIZE = 128;

export class JobRetention {
  #sweeping: Promise<number> | undefined;
  #stopped = false;
  #repeated: RepeatedWork | undefined;

  constructor(
    private readonly runtime: BatchRuntime,
    private readonly events: EventLog,
    /** Age since a job's end after which it is deleted, milliseconds; undefined = never. */
    private readonly keepJobs: Millis | undefined,
  ) {}

  get isConfigured(): boolean {
    return this.keepJobs !== undefined;
  }

  /** Sweeps now and then every hour; does nothing without a configured age. */
  start(): void {
    if (!this.isConfigured || this.#stopped) return;
    const { clock, log } = this.runtime;
    this.#repeated = new RepeatedWork(
      clock,
      SWEEP_INTERVAL_MS,
      () => this.sweep(),
      (error) => {
        const text = 'Finished jobs could not be removed by age; this is tried again in an hour.';
        log.error(text, { Error: describeFailure(error).message });
      },
    );
  }

  /** Starts no further batch; resolves when the current one is done. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#repeated?.stop();
    await this.#sweeping?.catch(() => {});
  }

  /**
   * Resolves with the number of deleted jobs when durable. Joins a sweep in progress.
   * @param by the operator who asked, whom the event names
   */
  sweep(by = 'system'): Promise<number> {
    this.#sweeping ??= this.#sweep(by).finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep(actor: string): Promise<number> {
    const { counts, clock, store } = this.runtime;
    const { events, keepJobs } = this;
    if (keepJobs === undefined) return 0;
    const endedBefore = clock.now() - keepJobs;
    let deleted = 0;
    for (const profile of counts.profiles()) {
      for (const state of TERMINAL_STATES) deleted += await this.#sweepRange([profile, state], endedBefore);
    }
    if (deleted > 0) {
      const message = `Retention: ${deleted} finished jobs deleted that ended more than ${Math.round(keepJobs / 86_400_000)} days ago.`;
      await events.record({
        at: clock.now(),
        kind: 'JobsCleared',
        actor,
        jobId: null,
        code: null,
        message,
      });
      await store.flushed();
    }
    return deleted;
  }

  /** Sweeps one range. A job that ended before a time was also created before it, so the range ends at that order. */
  async #sweepRange(prefix: readonly [profile: string, state: string], endedBefore: Millis): Promise<number> {
    const { store, actors } = this.runtime;
    const below = firstOrderNumberAt(endedBefore);
    let deleted = 0;
    for await (const rows of rowPieces(store, { view: 'jobs-by', prefix }, { most: BATCH_SIZE })) {
      if (this.#stopped) break;
      const older = rows.filter(({ key }) => (key[2] as number) < below);
      const jobs = await Promise.all(older.map((row) => actors.read(JOB, jobIdOf(row))));
      const due = older.filter((_, index) => {
        const context = jobs[index]?.context;
        return context !== undefined && (context.endedAt ?? context.updatedAt) < endedBefore;
      });
      const staying = await clearTheseJobs(this.runtime, due.map(jobIdOf));
      deleted += due.length - staying.length;
      if (older.length < rows.length) break;
    }
    return deleted;
  }
}
