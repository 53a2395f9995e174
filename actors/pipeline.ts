/**
 * Claims queued jobs while the pipeline runs and a slot is free, oldest first. It keeps no truth: what is
 * queued, in flight and paused is read from the store, so a lost wake-up costs time and never a job.
 */
import type { JobState } from '../machines/job.ts';
import { freeSlots, type PipelineState } from '../machines/pipeline.ts';
import type { ActorStore, ActorSystem, Clock, Log } from '../runtime/index.ts';
import type { JobCounts } from './job-counts.ts';
import { JOB, PIPELINE_ADDRESS } from './registry.ts';

export interface PipelineParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly clock: Clock;
  readonly log: Log;
  /** `Pipeline:MaxConcurrency`. */
  readonly maxConcurrency: number;
  /** `Pipeline:PollIntervalSeconds`, in milliseconds: how long a lost wake-up can cost. */
  readonly pollEvery: number;
}

export class Pipeline {
  readonly #parts: PipelineParts;
  #state: PipelineState = 'Running';
  #running = false;
  #again = false;
  #pass: Promise<void> = Promise.resolve();
  #cancelPoll: () => void = () => {};
  /** Claims told and not yet answered: they hold a slot that the counters do not show yet. */
  #claiming = 0;
  /** Queued jobs whose actor cannot answer; they would stand at the head of the queue for ever. */
  readonly #unclaimable = new Set<string>();

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /** Reads whether the pipeline is paused, and begins to claim. */
  async start(): Promise<void> {
    const { system } = this.#parts;
    const outcome = await system.create(PIPELINE_ADDRESS, {});
    const actor = outcome.accepted ? outcome.actor : await system.read(PIPELINE_ADDRESS);
    this.#state = (actor?.state as PipelineState | undefined) ?? 'Running';
    this.#running = true;
    this.#poll();
    this.wake();
  }

  /** Claims nothing more; resolves when the pass under way is over. Jobs in flight go on. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancelPoll();
    await this.#pass;
  }

  get paused(): boolean {
    return this.#state === 'Paused';
  }

  /** The pipeline actor's new state, as committed. */
  setState(state: PipelineState): void {
    this.#state = state;
    this.wake();
  }

  /** Something may have changed: a job was queued, a slot became free. Cheap; many calls make one pass. */
  wake(): void {
    if (!this.#running) return;
    if (this.#again) return;
    this.#again = true;
    this.#pass = this.#pass.then(() => this.#claimWhatFits());
  }

  #poll(): void {
    this.#cancelPoll = this.#parts.clock.after(this.#parts.pollEvery, () => {
      this.wake();
      this.#poll();
    });
  }

  async #claimWhatFits(): Promise<void> {
    this.#again = false;
    try {
      const { counts, maxConcurrency } = this.#parts;
      const free = freeSlots(this.#state, counts.inFlight() + this.#claiming, maxConcurrency);
      if (!this.#running || free === 0) return;
      for (const id of await this.#oldest(free)) this.#claim(id);
    } catch (error) {
      this.#parts.log.error('The queue could not be read; it is read again at the next poll.', {
        Error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Claims one job without holding up the pass: several claims then share one commit. */
  #claim(id: string): void {
    const { system, log } = this.#parts;
    this.#claiming += 1;
    this.#asked.add(id);
    system
      .tell({ kind: JOB, id }, { type: 'CLAIM' })
      .then((outcome) => {
        if (outcome.accepted || outcome.because === 'not-accepted') return;
        this.#unclaimable.add(id);
        log.error('A queued job cannot be claimed.', { JobId: id, Because: outcome.because });
      })
      .catch((error: unknown) => {
        log.warn('A claim failed; the job stays queued.', {
          JobId: id,
          Error: error instanceof Error ? error.message : String(error),
        });
      })
      .finally(() => {
        this.#claiming -= 1;
        this.#asked.delete(id);
        this.wake();
      });
  }

  readonly #asked = new Set<string>();

  /** Ids of the queued jobs to claim next, over all profiles. */
  async #oldest(limit: number): Promise<readonly string[]> {
    const { store, counts } = this.#parts;
    const state: JobState = 'Queued';
    const known = this.#asked.size + this.#unclaimable.size;
    const queues = await Promise.all(
      counts
        .profiles()
        .filter((profile) => counts.count([state], [profile]) > 0)
        .map((profile) => store.rows({ view: 'jobs-by', prefix: [profile, state], limit: limit + known })),
    );
    return queues
      .flat()
      .map((row) => ({ order: row.key[2] as number, id: row.value as string }))
      .filter(({ id }) => !this.#asked.has(id) && !this.#unclaimable.has(id))
      .sort((a, b) => a.order - b.order)
      .slice(0, limit)
      .map(({ id }) => id);
  }
}
