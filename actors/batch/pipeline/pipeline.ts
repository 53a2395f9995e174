/**
 * Claims queued jobs, oldest first, while the pipeline runs and a slot is free. Derives all state from the store, so a
 * lost wake-up delays a job but never loses it.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { isRetryable, type Row, type StoredActor } from '@sealwright/runtime';
import { IN_FLIGHT_STATES, type JobState } from '../../../machines/batch/job-context.ts';
import { freeSlots, type PipelineState } from '../../../machines/batch/pipeline.ts';
import type { BatchRuntime } from '../job-records/job-counts.ts';
import { jobRowOf } from '../job-records/job-index.ts';
import { JOB, PIPELINE, PIPELINE_ID } from '../job-records/kinds.ts';
import type { RemoteSigning } from '../remote/remote-signing.ts';
import type { Authorities } from './authorities.ts';
import type { InputWaits } from './input-waits.ts';
import type { StorageMonitor } from './storage-monitor.ts';

interface QueuedJob {
  readonly id: string;
  readonly profile: string;
  readonly order: number;
}

/** Queued jobs that are known to be made here. */
const MAX_MADE_HERE = 10_000;
/** Times in a row that the oldest job is left to other nodes, which may not be able to claim it. */
const MAX_PASSED_OVER = 8;

/** Rows per read beyond jobs that wait for a bucket. */
const PAGE_SIZE = 512;

export class Pipeline {
  #state: PipelineState = 'Running';
  #running = false;
  #again = false;
  #claimPass: Promise<void> = Promise.resolve();
  #cancelPoll: () => void = () => {};
  /** Jobs with a claim in progress: each holds a slot that the counters do not show yet. */
  readonly #requested = new Map<string, Promise<void>>();
  /** Jobs in flight that this node began, where several nodes share the queue. */
  readonly #own = new Set<string>();
  /** Queued jobs that this node made, in the same case: copies of their uploads may be here. */
  readonly #madeHere = new Set<string>();
  /** The oldest job that was left to other nodes, and how often in a row. */
  #passedOver: { readonly id: string; readonly times: number } | undefined;
  /** Slots reserved for work that is about to appear as a job in flight. */
  #reserved = 0;
  /** Callers that wait for a slot, oldest first; served before queued jobs. */
  readonly #slotWaiters: ((taken: boolean) => void)[] = [];
  /** Queued jobs whose actor fails on the claim; skipped, so that they do not block the queue. */
  readonly #unclaimable = new Set<string>();
  /** Jobs in flight that supervision has stopped: no work runs for them, so they hold no slot. */
  readonly #stopped = new Set<string>();
  /** The last of the oldest jobs of a profile that all wait for a bucket, for these outages and until the next poll. */
  readonly #waiting = new Map<string, Row['key']>();
  #waitingSince = 0;

  constructor(
    private readonly needs: {
      readonly runtime: Omit<BatchRuntime, 'ids' | 'faults'>;
      /** The remote portal: the profiles it serves, whether it accepts jobs, and the jobs with waiting uploads. */
      readonly remote: Pick<RemoteSigning, 'serves' | 'mayClaim'> & {
        readonly uploads: Pick<RemoteSigning['uploads'], 'waiting'>;
      };
      /** Held while the disk is full or a folder is not writable: nothing is claimed. */
      readonly storage: Pick<StorageMonitor, 'held'>;
      /** `Pipeline:MaxConcurrency`. */
      readonly maxConcurrency: number;
      /** `Pipeline:PollIntervalSeconds`, in milliseconds: the maximum delay after a lost wake-up. */
      readonly pollEvery: number;
      /** Outages of the buckets of inputs. Undefined: no input is a bucket. */
      readonly outages?: Pick<InputWaits, 'changes' | 'holds' | 'mustRest'> | undefined;
      /** Jobs of their profiles wait while a time-stamp authority does not answer. */
      readonly authorities?: Pick<Authorities, 'holds'> | undefined;
    },
  ) {}

  /** Reads the state of the pipeline and starts claiming. */
  async start(): Promise<void> {
    const { actors } = this.needs.runtime;
    const created = await actors.create(PIPELINE, PIPELINE_ID);
    const actor = created.accepted ? created : await actors.read(PIPELINE, PIPELINE_ID);
    this.#state = actor?.state ?? 'Running';
    await this.#findStopped();
    this.#running = true;
    this.#poll();
    this.wake();
  }

  /**
   * Stops claiming; resolves when the claims in progress are stored: what they began is in flight then, and nobody else
   * would do it. Jobs in flight continue.
   */
  async stop(): Promise<void> {
    this.#running = false;
    this.#cancelPoll();
    for (const answer of this.#slotWaiters.splice(0)) answer(false);
    await this.#claimPass;
    await Promise.all(this.#requested.values());
  }

  /** Number of jobs in flight that hold a slot: with work in progress that does not wait for the remote portal. */
  working(): number {
    const { counts, store } = this.needs.runtime;
    const { remote } = this.needs;
    if (store.nodes !== undefined) return Math.max(0, this.#own.size - remote.uploads.waiting);
    return Math.max(0, counts.inFlight() - this.#stopped.size - remote.uploads.waiting);
  }

  /** Tracks whether supervision has stopped or resumed a committed job. */
  observeJob(
    { address, state, stopped }: Pick<StoredActor, 'address' | 'state' | 'stopped'>,
    isOwn = true,
  ): void {
    const { id } = address;
    if (stopped !== null || !IN_FLIGHT_STATES.includes(state as JobState)) this.#own.delete(id);
    else if (isOwn) this.#own.add(id);
    if (state !== 'Queued' || this.needs.runtime.store.nodes === undefined) this.#madeHere.delete(id);
    else if (isOwn && this.#madeHere.size < MAX_MADE_HERE) this.#madeHere.add(id);
    if (stopped === null) {
      this.#unclaimable.delete(id);
      this.#stopped.delete(id);
    } else if (IN_FLIGHT_STATES.includes(state as JobState) && !this.#stopped.has(id)) {
      this.#giveUpSlot(id, state, stopped.error);
      this.wake();
    }
  }

  get paused(): boolean {
    return this.#state === 'Paused';
  }

  /** Sets the committed state of the pipeline actor. */
  setState(state: PipelineState): void {
    this.#state = state;
    this.wake();
  }

  /**
   * Waits for a free slot and takes it; returns the function that releases it. Undefined when the pipeline stops or
   * `signal` is aborted first.
   */
  async acquireSlot(signal: AbortSignal | undefined): Promise<(() => void) | undefined> {
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

  /** Schedules a pass after a change, such as a queued job or a free slot. Cheap; calls are coalesced. */
  wake(): void {
    if (!this.#running) return;
    if (this.#again) return;
    this.#again = true;
    this.#claimPass = this.#claimPass.then(() => this.#claimWhatFits());
  }

  #poll(): void {
    this.#cancelPoll = this.needs.runtime.clock.after(this.needs.pollEvery, () => {
      this.#waiting.clear();
      this.wake();
      this.#poll();
    });
  }

  async #claimWhatFits(): Promise<void> {
    this.#again = false;
    try {
      const { maxConcurrency } = this.needs;
      if (this.needs.storage.held !== null) return;
      const taken = this.working() + this.#requested.size + this.#reserved;
      const free = this.#serveWaiters(freeSlots(this.#state, taken, maxConcurrency));
      if (!this.#running || free === 0) return;
      const queued = await this.#share(free);
      // A pause that another node answered before these jobs were stored must hold for them.
      if (queued.length > 0) await this.needs.runtime.store.nodes?.sync();
      if (!this.#running || freeSlots(this.#state, taken, maxConcurrency) === 0) return;
      for (const { id, profile } of queued) this.#claim(id, profile);
    } catch (error) {
      this.needs.runtime.log.error('The queue could not be read; it is read again at the next poll.', {
        Error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Assigns free slots to waiting callers; returns the number that remain. */
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

  /** Claims one job without waiting, so that several claims share one commit. */
  #claim(id: string, profile: string): void {
    const claimed = this.#sendClaim(id, profile).then(
      () => {
        this.#requested.delete(id);
        this.wake();
      },
      (error: unknown) => {
        this.#requested.delete(id);
        // Delayed: an immediate retry would loop while the store refuses.
        const pause = isRetryable(error) ? error.retryAfter : undefined;
        if (pause !== undefined) this.needs.runtime.clock.after(pause, () => this.wake());
        this.needs.runtime.log.warn('A claim failed; the job stays queued until a later try.', {
          JobId: id,
          Error: error instanceof Error ? error.message : String(error),
        });
      },
    );
    this.#requested.set(id, claimed);
  }

  async #sendClaim(id: string, profile: string): Promise<void> {
    const type = this.needs.remote.serves(profile) ? 'CLAIM_REMOTE' : 'CLAIM';
    const outcome = await this.needs.runtime.actors.send(JOB, id, { type });
    if (outcome.accepted || outcome.reason === 'not-accepted') return;
    this.#unclaimable.add(id);
    this.needs.runtime.log.error('A queued job cannot be claimed.', { JobId: id, Reason: outcome.reason });
  }

  /** Finds jobs in flight that recovery could not end because their actor is stopped. */
  async #findStopped(): Promise<void> {
    const { store, counts } = this.needs.runtime;
    for (const profile of counts.profiles()) {
      for (const state of IN_FLIGHT_STATES) {
        const limit = counts.count([state], [profile]);
        if (limit === 0) continue;
        for (const { value } of await store.rows({ view: 'jobs-by', prefix: [profile, state], limit })) {
          const { id } = jobRowOf(value);
          const job = await store.load({ kind: JOB.kind, id });
          if (job !== undefined && job.stopped !== null) this.#giveUpSlot(id, state, undefined);
        }
      }
    }
  }

  /** Records a stopped job in flight, which holds no slot any more. */
  #giveUpSlot(id: string, state: string, error: string | undefined): void {
    this.#stopped.add(id);
    this.needs.runtime.log.error('A job in flight was stopped; its slot is given to others.', {
      JobId: id,
      State: state,
      Error: error,
    });
  }

  /**
   * The next queued jobs to claim here. Each of several nodes begins with those of the oldest jobs that it made, and then
   * with another part of them, so that they rarely claim the same ones; the job accepts one claim. The oldest job is passed
   * over a few times in a row only.
   */
  async #share(free: number): Promise<readonly QueuedJob[]> {
    const { nodes } = this.needs.runtime.store;
    if (nodes === undefined || nodes.count <= 1) return this.#oldest(free);
    const oldest = await this.#oldest(free * nodes.count);
    const [first] = oldest;
    if (first === undefined) return [];
    const times = this.#passedOver?.id === first.id ? this.#passedOver.times : 0;
    const chosen = (times < MAX_PASSED_OVER ? this.#rotated(oldest, free, nodes) : oldest).slice(0, free);
    this.#passedOver = chosen.includes(first) ? undefined : { id: first.id, times: times + 1 };
    return chosen;
  }

  #rotated(
    oldest: readonly QueuedJob[],
    free: number,
    nodes: { readonly slot: number; readonly count: number },
  ): readonly QueuedJob[] {
    const from = (nodes.slot % nodes.count) * free;
    const mine = oldest.filter(({ id }) => this.#madeHere.has(id));
    const others = [...oldest.slice(from), ...oldest.slice(0, from)].filter(
      ({ id }) => !this.#madeHere.has(id),
    );
    return [...mine, ...others];
  }

  /** The next queued jobs to claim, over all profiles. */
  async #oldest(limit: number): Promise<readonly QueuedJob[]> {
    const { counts } = this.needs.runtime;
    const { remote, outages } = this.needs;
    const { mayClaim } = remote;
    if (outages !== undefined && outages.changes !== this.#waitingSince) {
      this.#waitingSince = outages.changes;
      this.#waiting.clear();
    }
    const queues = await Promise.all(
      counts
        .profiles()
        .filter((profile) => counts.count(['Queued'], [profile]) > 0)
        .filter((profile) => mayClaim || !remote.serves(profile))
        .filter((profile) => !this.needs.authorities?.holds(profile))
        .map((profile) => this.#oldestOf(profile, limit)),
    );
    return queues
      .flat()
      .sort((a, b) => a.order - b.order)
      .slice(0, limit);
  }

  /** At least `limit` of a profile, if there are as many. Any number of older ones may wait for their bucket. */
  async #oldestOf(profile: string, limit: number): Promise<readonly QueuedJob[]> {
    const { outages } = this.needs;
    const state: JobState = 'Queued';
    const found: QueuedJob[] = [];
    let after = this.#waiting.get(profile);
    let allWait = true;
    for (let size = limit + this.#requested.size + this.#unclaimable.size; ; size = PAGE_SIZE) {
      const range = { view: 'jobs-by', prefix: [profile, state], limit: size };
      const rows = await this.needs.runtime.store.rows({ ...range, ...(after && { after }) });
      for (const { key, value } of rows) {
        const { id, folder } = jobRowOf(value);
        const waits = outages?.holds(folder) === true;
        allWait &&= waits;
        if (allWait) this.#waiting.set(profile, key);
        if (waits || this.#requested.has(id) || this.#unclaimable.has(id) || outages?.mustRest(id)) continue;
        found.push({ order: key[2] as number, id, profile });
      }
      if (found.length >= limit || rows.length < size) return found;
      after = rows.at(-1)?.key;
      await nextTurn();
    }
  }
}
