/**
 * Claims queued jobs while the pipeline runs and a slot is free, oldest first. It keeps no truth: what is
 * queued, in flight and paused is read from the store, so a lost wake-up costs time and never a job.
 */
import { IN_FLIGHT_STATES, type JobState } from '../machines/job-context.ts';
import { freeSlots, type PipelineState } from '../machines/pipeline.ts';
import {
  type ActorStore,
  type ActorSystem,
  type Clock,
  isRetryable,
  type Log,
  type StoredActor,
} from '../runtime/index.ts';
import type { JobCounts } from './job-counts.ts';
import { factsOf } from './job-index.ts';
import { JOB, PIPELINE_ADDRESS } from './registry.ts';

export interface PipelineParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly counts: JobCounts;
  readonly clock: Clock;
  readonly log: Log;
  /** True for profiles whose files the remote portal signs. */
  readonly isRemote: (profileName: string) => boolean;
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
  /** Jobs told to be claimed that have not answered: each holds a slot that the counters do not show yet. */
  readonly #asked = new Set<string>();
  /** Slots promised to work that is about to become visible as a job in flight. */
  #reserved = 0;
  /** Those who wait for a slot, oldest first; they come before queued jobs, whose turn they had already. */
  readonly #slotWaiters: ((taken: boolean) => void)[] = [];
  /** Queued jobs whose actor cannot answer; they would stand at the head of the queue for ever. */
  readonly #unclaimable = new Set<string>();
  /** Jobs in flight that supervision has given up: nothing runs for them, so they hold no slot. */
  readonly #stopped = new Set<string>();

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /** Reads whether the pipeline is paused, and begins to claim. */
  async start(): Promise<void> {
    const { system } = this.#parts;
    const outcome = await system.create(PIPELINE_ADDRESS, {});
    const actor = outcome.accepted ? outcome.actor : await system.read(PIPELINE_ADDRESS);
    this.#state = (actor?.state as PipelineState | undefined) ?? 'Running';
    await this.#findStopped();
    this.#running = true;
    this.#poll();
    this.wake();
  }

  /** Claims nothing more from the call on; resolves when the pass under way is over. Jobs in flight go on. */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancelPoll();
    for (const answer of this.#slotWaiters.splice(0)) answer(false);
    await this.#pass;
  }

  /** Jobs in flight for which something runs. */
  working(): number {
    return Math.max(0, this.#parts.counts.inFlight() - this.#stopped.size);
  }

  /** A job as just committed: whether supervision stopped it, or somebody let it go on. */
  observeJob({ address, state, stopped }: Pick<StoredActor, 'address' | 'state' | 'stopped'>): void {
    const { id } = address;
    if (stopped === null) {
      this.#unclaimable.delete(id);
      this.#stopped.delete(id);
    } else if (IN_FLIGHT_STATES.includes(state as JobState) && !this.#stopped.has(id)) {
      this.#giveUp(id, state, stopped.error);
      this.wake();
    }
  }

  get paused(): boolean {
    return this.#state === 'Paused';
  }

  /** The pipeline actor's new state, as committed. */
  setState(state: PipelineState): void {
    this.#state = state;
    this.wake();
  }

  /**
   * Waits for a free slot and takes it; the function gives it back. Undefined when the pipeline stops or `signal` is
   * aborted first.
   */
  async takeSlot(signal: AbortSignal | undefined): Promise<(() => void) | undefined> {
    if (!this.#running || signal?.aborted) return undefined;
    const taken = await new Promise<boolean>((resolve) => {
      const answer = (given: boolean) => {
        signal?.removeEventListener('abort', leave);
        resolve(given);
      };
      const leave = () => {
        const at = this.#slotWaiters.indexOf(answer);
        if (at >= 0) this.#slotWaiters.splice(at, 1);
        answer(false);
      };
      this.#slotWaiters.push(answer);
      signal?.addEventListener('abort', leave, { once: true });
      this.wake();
    });
    if (!taken) return undefined;
    return () => {
      this.#reserved -= 1;
      this.wake();
    };
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
      const { maxConcurrency } = this.#parts;
      const taken = this.working() + this.#asked.size + this.#reserved;
      const free = this.#serveWaiters(freeSlots(this.#state, taken, maxConcurrency));
      if (!this.#running || free === 0) return;
      const queued = await this.#oldest(free);
      if (!this.#running) return;
      for (const { id, profile } of queued) this.#claim(id, profile);
    } catch (error) {
      this.#parts.log.error('The queue could not be read; it is read again at the next poll.', {
        Error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Gives free slots to those who wait for one; returns how many are left. */
  #serveWaiters(free: number): number {
    let left = free;
    for (; left > 0; left -= 1) {
      const answer = this.#slotWaiters.shift();
      if (answer === undefined) break;
      this.#reserved += 1;
      answer(true);
    }
    return left;
  }

  /** Claims one job without holding up the pass: several claims then share one commit. */
  #claim(id: string, profile: string): void {
    this.#asked.add(id);
    this.#tellClaim(id, profile).then(
      () => {
        this.#asked.delete(id);
        this.wake();
      },
      (error: unknown) => {
        this.#asked.delete(id);
        // Not at once: a store that refuses would be asked again in the same moment, for ever.
        const pause = isRetryable(error) ? error.retryAfter : undefined;
        if (pause !== undefined) this.#parts.clock.after(pause, () => this.wake());
        this.#parts.log.warn('A claim failed; the job stays queued until a later try.', {
          JobId: id,
          Error: error instanceof Error ? error.message : String(error),
        });
      },
    );
  }

  async #tellClaim(id: string, profile: string): Promise<void> {
    const type = this.#parts.isRemote(profile) ? 'CLAIM_REMOTE' : 'CLAIM';
    const outcome = await this.#parts.system.tell({ kind: JOB, id }, { type });
    if (outcome.accepted || outcome.because === 'not-accepted') return;
    this.#unclaimable.add(id);
    this.#parts.log.error('A queued job cannot be claimed.', { JobId: id, Because: outcome.because });
  }

  /** Recovery ended all other jobs in flight: those that are left did not take its message. */
  async #findStopped(): Promise<void> {
    const { store, counts, system } = this.#parts;
    for (const profile of counts.profiles()) {
      for (const state of IN_FLIGHT_STATES) {
        const limit = counts.count([state], [profile]);
        if (limit === 0) continue;
        for (const { value } of await store.rows({ view: 'jobs-by', prefix: [profile, state], limit })) {
          const { id } = factsOf(value);
          if ((await system.read({ kind: JOB, id }))?.stopped) this.#giveUp(id, state, undefined);
        }
      }
    }
  }

  #giveUp(id: string, state: string, error: string | undefined): void {
    this.#stopped.add(id);
    this.#parts.log.error('A job in flight was stopped; its slot is given to others.', {
      JobId: id,
      State: state,
      Error: error,
    });
  }

  /** The queued jobs to claim next, over all profiles. */
  async #oldest(limit: number): Promise<readonly { readonly id: string; readonly profile: string }[]> {
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
      .map(({ key, value }) => ({
        order: key[2] as number,
        id: factsOf(value).id,
        profile: key[0] as string,
      }))
      .filter(({ id }) => !this.#asked.has(id) && !this.#unclaimable.has(id))
      .sort((a, b) => a.order - b.order)
      .slice(0, limit);
  }
}
