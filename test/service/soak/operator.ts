/** Everything operators do meanwhile: pause, resume, cancel, retry, one by one and in bulk, rescan. */
import { systemClock } from '@sealwright/runtime';
import type { Dice } from './dice.ts';
import { FOLDER_NAMES, type SoakService } from './soak-service.ts';

/** Everything that was answered with success, and so must be true at the end. */
export interface Done {
  readonly canceled: Set<string>;
  /** New job → the failed one it was made of. */
  readonly retried: Map<string, string>;
  rescans: number;
  /** Acts by name, for the report. */
  readonly acts: Map<string, number>;
}

/** Milliseconds. */
const MAX_BACKOFF_MS = 500;

/** Each takes every file that has failed so far once more. */
const MAX_RESCANS = 10;

/** Answers that mean somebody else was quicker; nothing was promised by them. */
const LATE = new Set([
  'job.not-queued',
  'job.race-lost',
  'job.not-failed',
  'job.already-processing',
  'job.input-missing',
  'service.busy',
]);

export class Operator {
  readonly done: Done = { canceled: new Set(), retried: new Map(), rescans: 0, acts: new Map() };
  readonly #subject: SoakService;
  readonly #chance: Dice;

  constructor(subject: SoakService, chance: Dice) {
    this.#subject = subject;
    this.#chance = chance;
  }

  /** One act. A service that is just being killed answers nothing, and that is no fault. */
  async act(): Promise<void> {
    const roll = this.#chance.roll(100);
    if (roll < 8) await this.#pauseForAWhile();
    else if (roll < 50) await this.#cancelOne();
    else if (roll < 85) await this.#retryOne();
    else if (roll < 90) await this.#bulkRetry();
    else if (roll < 95) await this.#bulkCancel();
    else if (this.done.rescans < MAX_RESCANS) await this.#rescan();
  }

  async #pauseForAWhile(): Promise<void> {
    if ((await this.#post('pause', '/api/pipeline/pause', { reason: 'soak' })) === undefined) return;
    // Something to cancel comes together meanwhile.
    await systemClock.sleep(this.#chance.roll(MAX_BACKOFF_MS));
    for (let count = this.#chance.roll(6); count > 0; count -= 1) await this.#cancelOne();
    await this.#post('resume', '/api/pipeline/resume', {});
  }

  async #cancelOne(): Promise<void> {
    const status = this.#chance.percent(90) ? 'Queued' : 'AwaitingSigner';
    const id = await this.#find(status);
    if (id === undefined) return;
    const answer = await this.#post('cancel', `/api/jobs/${id}/cancel`, { reason: 'soak' });
    if (answer) this.done.canceled.add(id);
  }

  async #retryOne(): Promise<void> {
    const id = await this.#find('Failed');
    if (id === undefined) return;
    const answer = await this.#post<{ newJobId: string }>('retry', `/api/jobs/${id}/retry`);
    if (answer) this.done.retried.set(answer.newJobId, id);
  }

  async #bulkRetry(): Promise<void> {
    const answer = await this.#post<{ items: { jobId: string; newJobId: string | null }[] }>(
      'bulk retry',
      '/api/jobs/retry',
      { limit: 5 },
    );
    for (const { jobId, newJobId } of answer?.items ?? [])
      if (newJobId) this.done.retried.set(newJobId, jobId);
  }

  async #bulkCancel(): Promise<void> {
    const answer = await this.#post<{ items: { jobId: string; code: string | null }[] }>(
      'bulk cancel',
      '/api/jobs/cancel',
      { status: 'Queued', limit: 3, reason: 'soak in bulk' },
    );
    for (const { jobId, code } of answer?.items ?? []) if (code === null) this.done.canceled.add(jobId);
  }

  async #rescan(): Promise<void> {
    const folder = this.#chance.pick(FOLDER_NAMES);
    if (await this.#post('rescan', `/api/rescan?folder=${folder}`)) this.done.rescans += 1;
  }

  /** Any job in this state among the newest. */
  async #find(status: string): Promise<string | undefined> {
    const response = await this.#subject.service
      .fetch(`/api/jobs?pageSize=20&status=${status}`)
      .catch(() => undefined);
    const list = (await response?.json().catch(() => undefined)) as { items?: { id: string }[] } | undefined;
    return this.#chance.pick(list?.items ?? [])?.id;
  }

  /** The body of a success; undefined after a conflict or without an answer. */
  async #post<Body = object>(name: string, path: string, body?: object): Promise<Body | undefined> {
    const response = await this.#subject.service
      .fetch(path, {
        method: 'POST',
        signal: AbortSignal.timeout(120_000),
        ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
      })
      .catch(() => undefined);
    const answer = (await response?.json().catch(() => undefined)) as ({ code?: string } & Body) | undefined;
    if (response === undefined || answer === undefined) return undefined;
    if (!response.ok && !LATE.has(answer.code ?? ''))
      throw new Error(`${path} was answered ${response.status} ${JSON.stringify(answer)}`);
    if (!response.ok) return undefined;
    this.done.acts.set(name, (this.done.acts.get(name) ?? 0) + 1);
    return answer;
  }
}
