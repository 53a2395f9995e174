/** What one shard was asked and has not answered, from thread to thread. */
import type { Retryable } from '../failures.ts';
import { addressKey } from '../host.ts';
import type { Step } from '../ports.ts';
import { viewOf } from '../step.ts';
import { failureOf } from './failures.ts';
import type { PlainOutcome, ShardAnswer, ShardCall } from './wire.ts';

/** Threads a call may be lost with before it is rejected: what ended them may be the call itself. */
const SENT_AT_MOST = 3;

interface Pending {
  readonly call: ShardCall;
  /** Threads it was sent to. */
  sent: number;
  readonly resolve: (outcome: PlainOutcome | null) => void;
  readonly reject: (error: unknown) => void;
}

export class ShardCalls {
  /** In the order of the asking. */
  readonly #pending = new Map<number, Pending>();
  /** Those of them that are not sent yet. */
  #queue: Pending[] = [];
  /** Answers that wait until this thread has heard of the steps they speak of. */
  #held: ShardAnswer[] = [];
  /** Groups of steps of the shard's thread heard of. */
  #heard = 0;

  get size(): number {
    return this.#pending.size;
  }

  /** Calls that wait to be sent. */
  get waiting(): number {
    return this.#queue.length;
  }

  add(call: ShardCall): Promise<PlainOutcome | null> {
    return new Promise((resolve, reject) => {
      const pending: Pending = { call, sent: 0, resolve, reject };
      this.#pending.set(call.seq, pending);
      this.#queue.push(pending);
    });
  }

  /** `add`, ahead of all others, for a shard without a thread. */
  addFirst(call: ShardCall): Promise<PlainOutcome | null> {
    const others = [...this.#pending];
    this.#pending.clear();
    const answer = this.add(call);
    for (const [seq, pending] of others) this.#pending.set(seq, pending);
    return answer;
  }

  /** Takes those that wait, to be sent. */
  take(): readonly ShardCall[] {
    const taken = this.#queue;
    this.#queue = [];
    for (const pending of taken) pending.sent += 1;
    return taken.map(({ call }) => call);
  }

  /** The shard has a new thread, and all of the one before is known: what is not answered waits to be sent. */
  begin(): void {
    this.#heard = 0;
    this.#held = [];
    this.#queue = [...this.#pending.values()];
  }

  /** A step is stored: whoever asked for it is answered, whatever becomes of the thread. */
  stepped(step: Step): void {
    const pending = step.call === undefined ? undefined : this.#pending.get(step.call);
    if (pending === undefined) return;
    this.#pending.delete(pending.call.seq);
    pending.resolve({ accepted: true, actor: viewOf(step.actor), revision: step.actor.revision });
  }

  /** All groups up to this one have been heard of. */
  heard(serial: number): void {
    this.#heard = serial;
    this.#release();
  }

  answered(answers: readonly ShardAnswer[]): void {
    this.#held.push(...answers);
    this.#release();
  }

  /**
   * Of what was sent and not done, rejects that which may have ended the thread.
   * @param actor whose step was being computed
   */
  rejectGuilty(actor: string | undefined, error: Retryable): void {
    for (const [seq, { call, sent, reject }] of this.#pending) {
      if (sent === 0 || (sent < SENT_AT_MOST && addressKey(call.address) !== actor)) continue;
      this.#pending.delete(seq);
      reject(error);
    }
  }

  /** Nobody will answer any more. */
  drop(error: Retryable): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#queue = [];
  }

  #release(): void {
    const ready = this.#held.filter(({ serial }) => serial <= this.#heard);
    if (ready.length === 0) return;
    this.#held = this.#held.filter(({ serial }) => serial > this.#heard);
    for (const answer of ready) {
      const pending = this.#pending.get(answer.seq);
      this.#pending.delete(answer.seq);
      if (answer.ok) pending?.resolve(answer.outcome);
      else pending?.reject(failureOf(answer.failure));
    }
  }
}
