/**
 * Large operations: retry, cancel or clear every job that matches a filter. Each is an actor and continues after a
 * restart.
 * View: `operations` [createdAt, id] → null; counters `operations/<state>`. Source: docs/decisions/0050-large-operations.md.
 */

import { type ActorView, accepted, describeFailure, isRetryable, type Row } from '@sealwright/runtime';
import type { OperationView } from '../../contracts/batch/bulk-operations.ts';
import { ACTION_STATES } from '../../contracts/batch/words.ts';
import {
  type OperationAction,
  type OperationBatch,
  type OperationContext,
  type OperationFilter,
  type OperationState,
  operate,
} from '../../machines/batch/operation.ts';
import type { JobId, Millis } from '../../machines/ids.ts';
import { Refusal } from '../../machines/refusals.ts';
import { timeOfOrderNumber } from '../shared/ids/order-numbers.ts';
import { pageOf } from '../shared/lists/list.ts';
import type { BatchRuntime } from './job-records/job-counts.ts';
import { JOB, OPERATION } from './job-records/kinds.ts';
import { clearTheseJobs } from './jobs/clearing.ts';
import { findFrom, findOldest, type JobSearch } from './jobs/job-list.ts';
import type { JobService } from './jobs/jobs.ts';

/** Maximum number of concurrent operations. */
const MAX_RUNNING = 4;
/** Operator of operations that were begun with the configured key. */
const UNNAMED = 'operator';
/** Jobs per batch: their steps share commits, and other requests wait little. */
const BATCH_SIZE = 128;

type JobOutcome = 'done' | { readonly skipped: string };

/** Action, filter and reason of a large operation. */
export interface OperationRequest {
  readonly action: OperationAction;
  readonly filter: Omit<OperationFilter, 'createdTo'> & { readonly createdTo?: Millis };
  /** Of a cancel: recorded with each job. */
  readonly reason: string | null;
}

export class OperationService {
  constructor(
    private readonly runtime: BatchRuntime,
    private readonly jobs: JobService,
  ) {}

  /** Jobs the operation would act on now. */
  async count(request: OperationRequest): Promise<number> {
    return this.#count(request.action, { ...request.filter, ...(await this.#end(request)) });
  }

  async #count(action: OperationAction, filter: OperationContext['filter']): Promise<number> {
    const { store, counts } = this.runtime;
    const search = this.#search(action, filter);
    return (await findOldest(store, counts, { search, limit: 0, passes: this.#eligible(action) })).matched;
  }

  /** Acts on jobs made before the call. Resolves when durable. Refusals: `operation.limit-reached`. */
  async start(request: OperationRequest, operator: string): Promise<OperationView> {
    const { actors, store, clock, ids } = this.runtime;
    const running = await store.counters('operations/');
    const active = (running['operations/Running'] ?? 0) + (running['operations/Canceling'] ?? 0);
    if (active >= MAX_RUNNING)
      throw new Refusal('operation.limit-reached', `${active} operations are running. Wait for one to end.`);
    const { action, reason } = request;
    const filter = { ...request.filter, ...(await this.#end(request)) };
    const matched = await this.#count(action, filter);
    const id = ids.uuid();
    const input = { action, filter, reason, operator, matched, at: clock.now() };
    // JSON drops undefined members, which are not stored.
    const actor = await accepted(
      actors.create(OPERATION, id, JSON.parse(JSON.stringify(input))),
      ({ reason }) => new Error(`The operation was refused: ${reason}.`),
    );
    return view(actor);
  }

  /** Refusals: `operation.not-found`. */
  async get(id: string): Promise<OperationView> {
    const actor = await this.runtime.actors.read(OPERATION, id);
    if (actor === undefined) throw new Refusal('operation.not-found', `No operation has the id ${id}.`);
    return view(actor);
  }

  /** Newest first. @param page from 1 */
  async list(page: number, pageSize: number) {
    const { store, actors } = this.runtime;
    const counters = await store.counters('operations/');
    const totalCount = Object.values(counters).reduce((sum, count) => sum + count, 0);
    const list = {
      ranges: [{ view: 'operations' }],
      total: totalCount,
      itemOf: ({ key }: Row) => String(key[1]),
    };
    const part = { newestFirst: true, offset: (page - 1) * pageSize, limit: pageSize };
    const { items } = await pageOf(store, list, part);
    const found = await Promise.all(items.map((id) => actors.read(OPERATION, id)));
    return { items: found.filter((actor) => actor !== undefined).map(view), totalCount };
  }

  /** Completes the batch in progress, then stops. Refusals: `operation.not-found`, `operation.not-running`. */
  async cancel(id: string, by: string): Promise<OperationView> {
    const before = await this.get(id);
    const actor = await accepted(
      this.runtime.actors.send(OPERATION, id, { type: 'CANCEL', by }),
      () =>
        new Refusal('operation.not-running', `Operation ${id} is ${before.state} and cannot be canceled.`),
    );
    return view(actor);
  }

  /** Processes one batch and finds the next. Idempotent: a repetition counts jobs that are already done as done. */
  async operate({ ids, after }: OperationBatch, id: string) {
    const actor = await this.runtime.actors.read(OPERATION, id);
    const context = actor?.context;
    const nothing = { done: 0, skipped: 0, skippedByCode: {} };
    if (context === undefined || actor?.state !== 'Running')
      return { type: 'PROGRESS', next: null, ...nothing } as const;
    const counts = await this.#act(context, ids);
    const { store, counts: jobCounts } = this.runtime;
    const search = this.#search(context.action, context.filter);
    const eligible = this.#eligible(context.action);
    const next = await findFrom(store, jobCounts, { search, after, limit: BATCH_SIZE, passes: eligible });
    return { type: 'PROGRESS', next: next.ids.length === 0 ? null : next, ...counts } as const;
  }

  async #act({ action, reason, operator }: OperationContext, ids: readonly JobId[]) {
    const by = operator === UNNAMED ? undefined : operator;
    const outcomes = await (action === 'clear'
      ? this.#clear(ids)
      : Promise.all(
          ids.map((id) => (action === 'retry' ? this.#retry(id, by) : this.#cancel(id, reason, by))),
        ));
    const skippedByCode: Record<string, number> = {};
    for (const outcome of outcomes) {
      if (outcome !== 'done') skippedByCode[outcome.skipped] = (skippedByCode[outcome.skipped] ?? 0) + 1;
    }
    const done = outcomes.filter((outcome) => outcome === 'done').length;
    return { done, skipped: outcomes.length - done, skippedByCode };
  }

  async #clear(ids: readonly JobId[]): Promise<readonly JobOutcome[]> {
    const staying = new Set(await clearTheseJobs(this.runtime, ids));
    return ids.map((id) => (staying.has(id) ? { skipped: 'job.not-cleared' } : 'done'));
  }

  async #retry(id: JobId, by: string | undefined): Promise<JobOutcome> {
    if (await this.#hasRetry(id)) return 'done';
    return this.#attempt(id, () => this.jobs.retry(id, by));
  }

  async #cancel(id: JobId, reason: string | null, by: string | undefined): Promise<JobOutcome> {
    const job = await this.runtime.actors.read(JOB, id);
    if (job?.state === 'Canceled') return 'done';
    return this.#attempt(id, () => this.jobs.cancel(id, reason, by));
  }

  /** @throws {Retryable} for the whole batch, which is repeated later */
  async #attempt(id: JobId, act: () => Promise<unknown>): Promise<JobOutcome> {
    try {
      await act();
      return 'done';
    } catch (error) {
      if (error instanceof Refusal) return { skipped: error.code };
      if (isRetryable(error)) throw error;
      const { message } = describeFailure(error);
      this.runtime.log.error('One job of an operation failed.', { JobId: id, Error: message });
      return { skipped: 'internal' };
    }
  }

  /** True for jobs that the action applies to; false for a failed job that has a retry. */
  #eligible(action: OperationAction): (id: JobId) => Promise<boolean> {
    return action === 'retry' ? async (id) => !(await this.#hasRetry(id)) : async () => true;
  }

  async #hasRetry(id: JobId): Promise<boolean> {
    return (await this.runtime.store.rows({ view: 'jobs-of', prefix: [id], limit: 1 })).length > 0;
  }

  #search(action: OperationAction, filter: OperationContext['filter']): JobSearch {
    return { ...filter, statuses: filter.statuses.length > 0 ? filter.statuses : ACTION_STATES[action] };
  }

  /** Bounds that select the jobs existing now: later ones, such as its own retries, do not belong to the operation. */
  async #end({ filter }: OperationRequest): Promise<{ createdTo: number; beforeOrder: number }> {
    const { store, clock } = this.runtime;
    const [newest] = await store.rows({ view: 'jobs', reverse: true, limit: 1 });
    const last = (newest?.key[0] as number | undefined) ?? 0;
    // After the clock was set back, jobs may have creation times in the future.
    const now = Math.max(clock.now(), timeOfOrderNumber(last) + 1);
    return { createdTo: Math.min(filter.createdTo ?? now, now), beforeOrder: last + 1 };
  }
}

export function operateHandler(service: Pick<OperationService, 'operate'>) {
  return operate.handledBy({ run: (batch, { actor }) => service.operate(batch, actor.id) });
}

function view({ id, state, context }: ActorView<OperationContext>): OperationView {
  const { batch: _, operator: __, filter, ...shown } = context;
  return {
    id,
    state: state as OperationState,
    ...shown,
    filter: {
      status: filter.statuses,
      profile: filter.profile ?? null,
      format: filter.formats ?? [],
      source: filter.sources ?? [],
      folder: filter.folder ?? null,
      fileName: filter.fileName ?? null,
      errorCode: filter.errorCode ?? null,
      parentJobId: filter.parentJobId ?? null,
      createdFrom: filter.createdFrom ?? null,
      createdTo: filter.createdTo,
    },
  };
}
