/** Unanswered calls to one shard, in the main thread. */
import { addressKey } from '../host/host.ts';
import type { Retryable } from '../model/failures.ts';
import type { Step } from '../model/ports.ts';
import { viewOf } from '../step/step.ts';
import { failureOf, type PlainOutcome, type ShardAnswer, type ShardCall } from './wire.ts';

/** Number of lost threads after which a call is rejected: the call itself may have ended them. */
const MAX_CALLS_IN_FLIGHT = 3;

interface Pending {
  readonly call: ShardCall;
  /** The call as JSON. */
  readonly text: string;
  /** Number of threads it was sent to. */
  sent: number;
  readonly resolve: (outcome: PlainOutcome | null) => void;
  readonly reject: (error: unknown) => void;
}

export class ShardCalls {
  /** Unanswered calls in the order of the requests. */
  readonly #pending = new Map<number, Pending>();
  /** Calls that are not sent yet. */
  #queue: Pending[] = [];
  /** Answers that wait until this thread has received their steps. */
  #held: ShardAnswer[] = [];
  /** Groups of steps received from the shard's thread. */
  #committed = 0;

  get size(): number {
    return this.#pending.size;
  }

  /** Number of calls that wait to be sent. */
  get waiting(): number {
    return this.#queue.length;
  }

  add(call: ShardCall): Promise<PlainOutcome | null> {
    return new Promise((resolve, reject) => {
      const pending: Pending = { call, text: JSON.stringify(call), sent: 0, resolve, reject };
      this.#pending.set(call.seq, pending);
      this.#queue.push(pending);
    });
  }

  /** Adds a call ahead of all others, for a shard without a thread. */
  addFirst(call: ShardCall): Promise<PlainOutcome | null> {
    const others = [...this.#pending];
    this.#pending.clear();
    const answer = this.add(call);
    for (const [seq, pending] of others) this.#pending.set(seq, pending);
    return answer;
  }

  /** Removes the waiting calls from the queue, to be sent. Returns their texts. */
  dequeue(): readonly string[] {
    const taken = this.#queue;
    this.#queue = [];
    for (const pending of taken) pending.sent += 1;
    return taken.map(({ text }) => text);
  }

  /** Queues the unanswered calls for the new thread of the shard; all steps of the previous thread are known. */
  start(): void {
    this.#committed = 0;
    this.#held = [];
    this.#queue = [...this.#pending.values()];
  }

  /** Answers the call of a stored step, even if the thread ends. */
  onStep(step: Step): void {
    const pending = step.call === undefined ? undefined : this.#pending.get(step.call);
    if (pending === undefined) return;
    this.#pending.delete(pending.call.seq);
    pending.resolve({ accepted: true, actor: viewOf(step.actor), revision: step.actor.revision });
  }

  /** Marks all groups up to this one as received. */
  onCommitted(serial: number): void {
    this.#committed = serial;
    this.#release();
  }

  onAnswer(answers: readonly ShardAnswer[]): void {
    this.#held.push(...answers);
    this.#release();
  }

  /**
   * Rejects those of the calls sent but not done that may have ended the thread.
   * @param actor whose step was being computed
   */
  rejectGuilty(actor: string | undefined, error: Retryable): void {
    for (const [seq, { call, sent, reject }] of this.#pending) {
      if (sent === 0 || (sent < MAX_CALLS_IN_FLIGHT && addressKey(call.address) !== actor)) continue;
      this.#pending.delete(seq);
      reject(error);
    }
  }

  /** Rejects all calls. */
  drop(error: Retryable): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#queue = [];
  }

  #release(): void {
    const ready = this.#held.filter(({ serial }) => serial <= this.#committed);
    if (ready.length === 0) return;
    this.#held = this.#held.filter(({ serial }) => serial > this.#committed);
    for (const answer of ready) {
      const pending = this.#pending.get(answer.seq);
      this.#pending.delete(answer.seq);
      if (answer.ok) pending?.resolve(answer.outcome);
      else pending?.reject(failureOf(answer.failure));
    }
  }
}
