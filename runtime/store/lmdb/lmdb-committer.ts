/**
 * Group commit. Steps are sent to the writing thread once per turn of the event loop; steps that arrive there during a
 * write form its next transaction. The busier the disk, the larger the groups.
 */
import { type MessagePort, Worker } from 'node:worker_threads';
import { Retryable } from '../../model/failures.ts';
import type { Faults } from '../../model/faults.ts';
import { checkStepKeys } from '../../model/keys.ts';
import type { Committed, EffectKey, Millis, Step } from '../../model/ports.ts';
import { stepText } from './lmdb-tables.ts';
import {
  type ForwardedGroup,
  type FromWriter,
  GROUP_LIMIT,
  type PackWrite,
  type RefillWrite,
  type ToWriter,
  type Write,
} from './lmdb-wire.ts';

/**
 * Connection of a thread to the one writing thread of its store: the thread that started the writer holds the worker
 * itself, every other one a port to it.
 */
export interface WriterLink {
  post(message: ToWriter, transfer?: readonly MessagePort[]): void;
  onMessage(take: (message: FromWriter) => void): void;
  /** Calls `notify` when no more answers come; perhaps twice, first with the error. */
  onEnd(notify: (why: string) => void): void;
  /** While true, the process stays alive. */
  hold(): void;
  release(): void;
}

/** Starts the writing thread. */
export function startWriter(folder: string): WriterLink {
  const worker = new Worker(new URL('./lmdb-writer.js', import.meta.url), { workerData: { folder } });
  // An idle store keeps no process alive; one with a group in progress does.
  worker.unref();
  return {
    post: (message, transfer = []) => worker.postMessage(message, transfer),
    onMessage: (take) => worker.on('message', take),
    onEnd(notify) {
      worker.on('error', (error) => notify(error.message));
      worker.on('exit', (code) => notify(`The writing thread ended (${code}).`));
    },
    hold: () => worker.ref(),
    release: () => worker.unref(),
  };
}

/** Connects another thread to the writer that `startWriter` started. */
export function linkThroughPort(port: MessagePort): WriterLink {
  port.unref();
  return {
    post: (message) => port.postMessage(message),
    onMessage: (take) => port.on('message', take),
    onEnd: (notify) => port.on('close', () => notify('The writing thread ended.')),
    hold: () => port.ref(),
    release: () => port.unref(),
  };
}

/** Number of simultaneous answers from which half of the next steps are sent ahead of the others. */
const FLUSH_AT = 16;

interface Waiting {
  readonly write: Write;
  readonly resolve: (refused: Exclude<Committed, { ok: true }> | null) => void;
  readonly reject: (error: unknown) => void;
}

export class Committer {
  readonly #link: WriterLink;
  readonly #faults: Faults;
  readonly #written: (gone: readonly EffectKey[], serial: number) => void;
  readonly #onLost: (why: string) => void;
  readonly #foreign = new Map<
    number,
    { readonly notify: (written: ForwardedGroup) => void; readonly detached: () => void }
  >();
  #attached = 0;
  /** Steps not sent to the writing thread yet. */
  #queue: Waiting[] = [];
  /** Steps sent and not answered, in the order of their answers. */
  #inWork: Waiting[] = [];
  #scheduled = false;
  #sending = false;
  /** Groups whose steps are being answered. */
  #answering = 0;
  /**
   * Number of steps that are sent without waiting for the end of the turn. Senders that are answered together often
   * send their next steps together: half of these can be written while the others are still computed.
   */
  #early = Number.POSITIVE_INFINITY;
  #closing: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;
  #dead: string | undefined;
  /** The thread closed its tables on request. */
  #ended = false;

  /**
   * @param written called after each group, before its steps are answered; `serial` as in the answer of the writer
   * @param onLost called once, when the writing thread has ended without being closed
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

  /**
   * Lets another thread write over this port; `notify` receives all of its writes, in store order.
   * @returns a function that revokes this, and resolves once all of its writes were reported
   */
  attach(port: MessagePort, notify: (written: ForwardedGroup) => void): () => Promise<void> {
    this.#attached += 1;
    const thread = this.#attached;
    const detached = new Promise<void>((resolve) => {
      this.#foreign.set(thread, { notify, detached: resolve });
    });
    this.#link.post({ type: 'attach', thread, port }, [port]);
    return async () => {
      if (this.#dead !== undefined) return;
      this.#link.post({ type: 'detach', thread });
      await detached;
    };
  }

  /**
   * Rejects alone with `store.key-too-long` and related codes; with `store.unavailable`, on a full disk `store.full`,
   * together with its group.
   */
  async commit(step: Step): Promise<Committed> {
    checkStepKeys(step);
    const refused = await this.#enqueue(stepText(step));
    return refused ?? { ok: true };
  }

  /** @param error null = it did not fail, only its due time changes */
  async defer(key: EffectKey, until: Millis, error: string | null): Promise<void> {
    await this.#enqueue({ type: 'defer-effect', key, until, error });
  }

  async settleEffects(keys: readonly EffectKey[]): Promise<void> {
    await this.#enqueue({ type: 'settle-effects', keys });
  }

  async pack(write: Omit<PackWrite, 'type'>): Promise<void> {
    await this.#enqueue({ type: 'pack', ...write });
  }

  async refill(write: Omit<RefillWrite, 'type'>): Promise<void> {
    await this.#enqueue({ type: 'refill', ...write });
  }

  /** Resolves once rows and counters of the state index include all answered steps. */
  async settleStateIndex(): Promise<void> {
    await this.#enqueue({ type: 'settle-state-index' });
  }

  /** Writes the waiting steps and ends the thread. */
  async close(): Promise<void> {
    if (this.#closing === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((done) => {
        resolve = done;
      });
      this.#closing = { promise, resolve };
      this.#link.hold();
      if (this.#dead !== undefined) resolve();
      else this.#rest();
    }
    await this.#closing.promise;
  }

  /** Reason why nothing can be written; undefined while it can. */
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

  /** Sends at the end of this turn of the event loop, so that all its steps form one group. */
  #schedule(): void {
    if (this.#queue.length >= this.#early) {
      void this.#send();
      return;
    }
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#send();
    });
  }

  async #send(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    this.#link.hold();
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, GROUP_LIMIT);
      try {
        const before = this.#faults.at('store.group.before-transaction');
        if (before !== undefined) await before;
        if (this.#dead !== undefined) throw new Error(this.#dead);
        const fault = this.#faults.consume('store.group.in-transaction');
        this.#inWork.push(...group);
        this.#link.post({ type: 'group', writes: group.map(({ write }) => write), fault });
      } catch (error) {
        reject(group, error);
      }
    }
    this.#sending = false;
    this.#rest();
  }

  async #answer(message: FromWriter): Promise<void> {
    if (message.type === 'closed') {
      this.#ended = true;
      return;
    }
    if (message.type === 'foreign') {
      for (const group of message.groups) this.#foreign.get(group.thread)?.notify(group);
      return;
    }
    if (message.type === 'detached') {
      this.#foreign.get(message.thread)?.detached();
      this.#foreign.delete(message.thread);
      return;
    }
    if (message.type === 'failed') {
      reject(this.#inWork.splice(0, message.writes), new Error(message.message), message.full);
      this.#rest();
      return;
    }
    const { refusals } = message;
    const group = this.#inWork.splice(0, refusals.length);
    this.#early = group.length >= FLUSH_AT ? group.length >> 1 : Number.POSITIVE_INFINITY;
    this.#written(message.gone, message.serial);
    this.#answering += 1;
    try {
      const after = this.#faults.at('store.group.committed.before-reply');
      if (after !== undefined) await after;
      for (const [at, { resolve }] of group.entries()) resolve(refusals[at] ?? null);
    } catch (error) {
      reject(group, error);
    }
    this.#answering -= 1;
    this.#rest();
  }

  /** Ends an idle thread if requested. */
  #rest(): void {
    if (this.#sending || this.#answering > 0 || this.#inWork.length > 0 || this.#queue.length > 0) return;
    if (this.#closing === undefined) this.#link.release();
    else this.#link.post({ type: 'close' });
  }

  /** Handles the end of the thread: nothing can be written any more, and all waiting callers are rejected. */
  #die(why: string): void {
    if (this.#dead !== undefined) return;
    this.#dead = why;
    this.#closing?.resolve();
    for (const { detached } of this.#foreign.values()) detached();
    if (this.#ended) return;
    const waiting = [...this.#inWork, ...this.#queue];
    this.#inWork = [];
    this.#queue = [];
    reject(waiting, new Error(why));
    this.#onLost(why);
  }
}

function reject(group: readonly Waiting[], error: unknown, isFull = false): void {
  const failure = unavailable(error instanceof Error ? error.message : String(error), isFull);
  for (const { reject } of group) reject(failure);
}

/** Converts a full map, a full disk or a disk error: the step may not be stored; retry later. */
function unavailable(why: string, isFull = false): Retryable {
  return isFull
    ? new Retryable('store.full', `The store has no room for the step: ${why}`)
    : new Retryable('store.unavailable', `The store did not take the step: ${why}`);
}
