/** Unanswered calls to one shard, in the main thread. */
import { addressKey } from '../host/host.ts';
import type { StepOutcome } from '../model/definition.ts';
import type { Retryable } from '../model/failures.ts';
import type { Step } from '../model/ports.ts';
import { viewOf } from '../step/step.ts';
import { failureOf, type ShardAnswer, type ShardCall } from './wire.ts';

/**
 * Calls that a thread has at once, and the UTF-16 units of their texts: the others wait here, so that it answers probes
 * between them and has the memory for them.
 */
const AT_ONCE = { calls: 256, text: 8 << 20 };

/** Number of lost threads after which a call is rejected: the call itself may have ended them. */
const MAX_CALLS_IN_FLIGHT = 3;

interface Pending {
  readonly call: ShardCall;
  /** Key of its actor. */
  readonly key: string;
  /** The call as JSON. */
  readonly text: string;
  /** Number of threads it was sent to. */
  sent: number;
  /** True while the current thread has it. */
  isPosted: boolean;
  readonly resolve: (outcome: StepOutcome | null) => void;
  readonly reject: (error: unknown) => void;
  /** The next one to the same actor that is not sent yet. */
  behind?: Pending | undefined;
}

export class ShardCalls {
  /** Unanswered calls in the order of the requests. */
  readonly #pending = new Map<number, Pending>();
  /** Unanswered calls by the key of the actor. */
  readonly #depths = new Map<string, number>();
  /** Calls that are not sent yet, by the key of the actor. */
  readonly #lines = new Map<string, { first: Pending; last: Pending }>();
  /**
   * Actors with such calls, from `#next` on (`shift` would copy the list). They take turns: one with thousands of calls
   * delays no other.
   */
  #turns: string[] = [];
  #next = 0;
  /** Calls of the current thread, and the length of their texts. */
  readonly #posted = { calls: 0, text: 0 };
  /** Answers that wait until this thread has received their steps. */
  #held: ShardAnswer[] = [];
  /** Groups of steps received from the shard's thread. */
  #committed = 0;

  get size(): number {
    return this.#pending.size;
  }

  /** True when a call waits and the thread may have it. */
  get hasNext(): boolean {
    const next = this.#lines.get(this.#turns[this.#next] ?? '')?.first;
    const { calls, text } = this.#posted;
    return (
      next !== undefined &&
      (calls === 0 || (calls < AT_ONCE.calls && text + next.text.length <= AT_ONCE.text))
    );
  }

  /** Unanswered calls to an actor. */
  depth(actor: string): number {
    return this.#depths.get(actor) ?? 0;
  }

  add(call: ShardCall): Promise<StepOutcome | null> {
    const key = addressKey(call.address);
    this.#depths.set(key, this.depth(key) + 1);
    return new Promise((resolve, reject) => {
      const text = JSON.stringify(call);
      const pending: Pending = { call, key, text, sent: 0, isPosted: false, resolve, reject };
      this.#pending.set(call.seq, pending);
      this.#enqueue(pending);
    });
  }

  #enqueue(pending: Pending): void {
    const line = this.#lines.get(pending.key);
    if (line === undefined) {
      this.#lines.set(pending.key, { first: pending, last: pending });
      this.#turns.push(pending.key);
      return;
    }
    line.last.behind = pending;
    line.last = pending;
  }

  /** Removes the first call of the actor whose turn it is, which goes to the end. There is one. */
  #nextInTurn(): Pending {
    const key = this.#turns[this.#next] as string;
    const line = this.#lines.get(key) as { first: Pending; last: Pending };
    const { first } = line;
    this.#next += 1;
    if (first.behind === undefined) {
      this.#lines.delete(key);
      return first;
    }
    line.first = first.behind;
    this.#turns.push(key);
    return first;
  }

  #emptyQueue(): void {
    this.#lines.clear();
    this.#turns = [];
    this.#next = 0;
  }

  /** Adds a call ahead of all others, for a shard without a thread. */
  addFirst(call: ShardCall): Promise<StepOutcome | null> {
    const others = [...this.#pending];
    this.#pending.clear();
    const answer = this.add(call);
    for (const [seq, pending] of others) this.#pending.set(seq, pending);
    return answer;
  }

  /** Removes calls from the queue, as many as the thread may have, to be sent. Returns their texts. */
  dequeue(): readonly string[] {
    const texts: string[] = [];
    while (this.hasNext) {
      const pending = this.#nextInTurn();
      // One that was answered by the step of an earlier thread, or rejected, is not sent.
      if (!this.#pending.has(pending.call.seq)) continue;
      pending.sent += 1;
      pending.isPosted = true;
      this.#posted.calls += 1;
      this.#posted.text += pending.text.length;
      texts.push(pending.text);
    }
    if (this.#next > 1024 || this.#next === this.#turns.length) {
      this.#turns = this.#turns.slice(this.#next);
      this.#next = 0;
    }
    return texts;
  }

  /** Queues the unanswered calls for the new thread of the shard; all steps of the previous thread are known. */
  start(): void {
    this.#committed = 0;
    this.#held = [];
    this.#emptyQueue();
    Object.assign(this.#posted, { calls: 0, text: 0 });
    for (const pending of this.#pending.values()) {
      pending.isPosted = false;
      pending.behind = undefined;
      this.#enqueue(pending);
    }
  }

  /** Forgets a call that is answered or rejected. */
  #take(seq: number): Pending | undefined {
    const pending = this.#pending.get(seq);
    if (pending === undefined) return undefined;
    this.#pending.delete(seq);
    const depth = this.depth(pending.key) - 1;
    if (depth > 0) this.#depths.set(pending.key, depth);
    else this.#depths.delete(pending.key);
    if (pending.isPosted) {
      this.#posted.calls -= 1;
      this.#posted.text -= pending.text.length;
    }
    return pending;
  }

  /** Answers the call of a stored step, even if the thread ends. */
  onStep(step: Step): void {
    const pending = step.call === undefined ? undefined : this.#take(step.call);
    pending?.resolve({ accepted: true, actor: viewOf(step.actor), revision: step.actor.revision });
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
    for (const [seq, { key, sent, reject }] of this.#pending) {
      if (sent === 0 || (sent < MAX_CALLS_IN_FLIGHT && key !== actor)) continue;
      this.#take(seq);
      reject(error);
    }
  }

  /** Rejects all calls. */
  drop(error: Retryable): void {
    for (const [seq, { reject }] of this.#pending) {
      this.#take(seq);
      reject(error);
    }
    this.#emptyQueue();
  }

  #release(): void {
    const ready = this.#held.filter(({ serial }) => serial <= this.#committed);
    if (ready.length === 0) return;
    this.#held = this.#held.filter(({ serial }) => serial > this.#committed);
    for (const answer of ready) {
      const pending = this.#take(answer.seq);
      if (answer.ok) pending?.resolve(answer.outcome);
      else pending?.reject(failureOf(answer.failure));
    }
  }
}
