/**
 * Group commit. Steps that arrive while a group is being written wait and form the next one; each group is one
 * transaction on the writing thread. The busier the disk, the larger the groups.
 */
import type { MessagePort } from 'node:worker_threads';
import { Retryable } from '../failures.ts';
import type { Faults } from '../faults.ts';
import type { Committed, EffectKey, Millis, Step } from '../ports.ts';
import { checkStepKeys } from './keys.ts';
import type { WriterLink } from './lmdb-link.ts';
import type { FromWriter, ToWriter, Write } from './lmdb-wire.ts';

/** Steps in one transaction at most, so that nobody waits for a very large one. */
const GROUP_LIMIT = 512;

/** A group that is answered was synced to the disk before. */
const DURABLE = Promise.resolve();

interface Waiting {
  readonly write: Write;
  readonly resolve: (refused: Exclude<Committed, { ok: true }> | null) => void;
  readonly reject: (error: unknown) => void;
}

/** What another thread wrote. */
export type Foreign = Extract<FromWriter, { type: 'foreign' }>;

export class Committer {
  readonly #link: WriterLink;
  readonly #faults: Faults;
  readonly #written: (gone: readonly EffectKey[], serial: number) => void;
  readonly #onLost: (why: string) => void;
  readonly #foreign = new Map<number, (written: Foreign) => void>();
  #attached = 0;
  #queue: Waiting[] = [];
  #inWork: Waiting[] | undefined;
  #scheduled = false;
  #closing: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #dead: string | undefined;
  /** The thread closed its tables as it was told to. */
  #ended = false;

  /**
   * @param written called after each group, before its steps are answered; `serial` as in the answer of the writer
   * @param onLost called once, when the writing thread is gone though nobody closed it
   */
  constructor(
    link: WriterLink,
    faults: Faults,
    written: (gone: readonly EffectKey[], serial: number) => void,
    onLost: (why: string) => void,
  ) {
    this.#faults = faults;
    this.#written = written;
    this.#onLost = onLost;
    this.#link = link;
    link.onMessage((message) => void this.#answer(message));
    link.onEnd((why) => this.#die(why));
  }

  /** Lets another thread write over this port; `tell` hears of all that it wrote, in the order of the store. */
  attach(port: MessagePort, tell: (written: Foreign) => void): void {
    this.#attached += 1;
    const thread = this.#attached;
    this.#foreign.set(thread, tell);
    this.#link.post({ type: 'attach', thread, port }, [port]);
  }

  /** Rejects alone with `store.key-too-long` and its kin; with `store.unavailable` together with its group. */
  async commit(step: Step): Promise<Committed> {
    checkStepKeys(step);
    const refused = await this.#enqueue({ type: 'step', step: JSON.stringify(step) });
    return refused ?? { ok: true, durable: DURABLE };
  }

  async defer(key: EffectKey, until: Millis, error: string): Promise<void> {
    await this.#enqueue({ type: 'defer', key, until, error });
  }

  /** Writes what waits and ends the thread. */
  async close(): Promise<void> {
    if (this.#closing === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#closing = { promise, resolve };
      this.#link.hold();
      if (this.#dead !== undefined) resolve();
      else if (this.#inWork === undefined && this.#queue.length === 0) this.#post({ type: 'close' });
    }
    await this.#closing.promise;
  }

  /** Why nothing can be written; undefined while it can. */
  get refusal(): string | undefined {
    return this.#closing === undefined ? this.#dead : 'It is closed.';
  }

  #enqueue(write: Write): Promise<Exclude<Committed, { ok: true }> | null> {
    const refusal = this.refusal;
    if (refusal !== undefined) return Promise.reject(unavailable(refusal));
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, resolve, reject });
      this.#schedule();
    });
  }

  /** At the end of this turn of the event loop, so that all its steps go together. */
  #schedule(): void {
    if (this.#scheduled || this.#inWork !== undefined) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    if (this.#inWork !== undefined || this.#queue.length === 0) return;
    const group = this.#queue.length <= GROUP_LIMIT ? this.#queue : this.#queue.slice(0, GROUP_LIMIT);
    this.#queue = this.#queue.length <= GROUP_LIMIT ? [] : this.#queue.slice(GROUP_LIMIT);
    this.#inWork = group;
    this.#link.hold();
    try {
      const before = this.#faults.at('store.group.before-transaction');
      if (before !== undefined) await before;
      const fault = this.#faults.take('store.group.in-transaction');
      this.#post({ type: 'group', writes: group.map(({ write }) => write), fault });
    } catch (error) {
      this.#finish(group, error);
    }
  }

  #post(message: ToWriter): void {
    this.#link.post(message);
  }

  async #answer(message: FromWriter): Promise<void> {
    if (message.type === 'closed') {
      this.#ended = true;
      return;
    }
    if (message.type === 'foreign') {
      this.#foreign.get(message.thread)?.(message);
      return;
    }
    if (message.type === 'detached') {
      this.#foreign.delete(message.thread);
      return;
    }
    const group = this.#inWork ?? [];
    if (message.type === 'failed') {
      this.#finish(group, new Error(message.message));
      return;
    }
    this.#written(message.gone, message.serial);
    try {
      const after = this.#faults.at('store.group.committed.before-reply');
      if (after !== undefined) await after;
    } catch (error) {
      this.#finish(group, error);
      return;
    }
    for (const [at, { resolve }] of group.entries()) resolve(message.refusals[at] ?? null);
    this.#next();
  }

  #finish(group: readonly Waiting[], error: unknown): void {
    const failure = unavailable(error instanceof Error ? error.message : String(error));
    for (const { reject } of group) reject(failure);
    this.#next();
  }

  #next(): void {
    this.#inWork = undefined;
    if (this.#queue.length > 0) this.#schedule();
    else if (this.#closing !== undefined) this.#post({ type: 'close' });
    else this.#link.release();
  }

  /** The thread is gone: nothing can be written any more, and everybody waiting must know. */
  #die(why: string): void {
    if (this.#dead !== undefined) return;
    this.#dead = why;
    this.#closing?.resolve();
    if (this.#ended) return;
    const waiting = [...(this.#inWork ?? []), ...this.#queue];
    this.#inWork = undefined;
    this.#queue = [];
    for (const { reject } of waiting) reject(unavailable(why));
    this.#onLost(why);
  }
}

/** A full map, a full disk, a disk that fails: the step is not known to be stored; try again later. */
function unavailable(why: string): Retryable {
  return new Retryable('store.unavailable', `The store did not take the step: ${why}`);
}
