/**
 * Messages and outcomes that their receivers did not accept. Each is a row that is stored by the step that settles its
 * effect, so none is lost or kept twice. Rows are removed by steps of an actor without a machine.
 */

import type { MessageDelivery } from '../host/actor-host.ts';
import type { StepOutcome } from '../model/definition.ts';
import { describeFailure, Retryable } from '../model/failures.ts';
import { isKey } from '../model/keys.ts';
import type { ActorAddress, ActorEvent, ActorStore, Clock, Log, Millis, Row } from '../model/ports.ts';
import { DEAD_LETTERS, LETTER, rowsStep } from '../step/dead-letters.ts';

/** Bounds of the dead letters that are kept. */
export interface DeadLetterLimits {
  /** The oldest are removed when there are more. Whole number, at least 1. @default 1000 */
  readonly atMost?: number;
  /** Milliseconds. @default 30 days */
  readonly forMs?: Millis;
}

/** A message of an actor, or the outcome of an effect, that its receiver did not accept. */
export interface DeadLetter {
  /** For `replay` and `drop`. */
  readonly id: string;
  readonly at: Millis;
  readonly from: ActorAddress;
  readonly to: ActorAddress;
  readonly event: ActorEvent;
  readonly what: 'tell' | 'outcome';
  readonly because: 'not-accepted' | 'unknown-actor';
}

const DEFAULT_LIMITS = { atMost: 1000, forMs: 30 * 86_400_000 };

/** The actor whose steps remove rows. */
const BOX: ActorAddress = { kind: DEAD_LETTERS, id: 'box' };

/** Rows removed in one step. */
const BATCH = 256;

/** Pause between a new letter and the look at their number, milliseconds: letters come in bursts. */
const LOOK_PAUSE_MS = 1000;

/** Longest pause between two looks while there are letters, milliseconds. */
const LOOK_INTERVAL_MS = 3_600_000;

/** Commits of other nodes that may come first. */
const TRIES = 20;

export class DeadLetters {
  readonly #limits: Required<DeadLetterLimits>;
  #isStarted = false;
  #cancel: (() => void) | undefined;
  /** Time of the next look, by `Clock.elapsed`. */
  #lookAt: Millis = Number.POSITIVE_INFINITY;
  #looking: Promise<void> = Promise.resolve();
  #removing: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly needs: {
      readonly store: Pick<ActorStore, 'load' | 'commit' | 'rows' | 'counters'>;
      readonly clock: Clock;
      readonly log: Pick<Log, 'warn'>;
      readonly deliver: (
        to: ActorAddress,
        event: ActorEvent,
        delivery: MessageDelivery,
      ) => Promise<StepOutcome>;
      readonly limits: DeadLetterLimits;
    },
  ) {
    this.#limits = { ...DEFAULT_LIMITS, ...needs.limits };
  }

  start(): void {
    this.#isStarted = true;
    this.#arm(0);
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    this.#cancel?.();
    await this.#looking;
  }

  /** A letter is stored. */
  noted(): void {
    this.#arm(LOOK_PAUSE_MS);
  }

  /** Oldest first. `next`: where the next page goes on. */
  async list(
    after: string | undefined,
    limit: number,
  ): Promise<{ items: readonly DeadLetter[]; next?: string }> {
    const key = after === undefined ? undefined : keyOf(after);
    const rows = await this.needs.store.rows({ view: DEAD_LETTERS, limit, ...(key && { after: key }) });
    const last = rows.length === limit ? rows.at(-1) : undefined;
    return { items: rows.map(letterOf), ...(last && { next: JSON.stringify(last.key) }) };
  }

  /**
   * Sends a letter to its receiver again. The step that takes it removes it, so it is consumed once.
   * @returns why it was not taken and stays; undefined when there is no such letter
   */
  replay(id: string): Promise<StepOutcome | undefined> {
    return this.#inTurn(async () => {
      const row = await this.#row(id);
      if (row === undefined) return undefined;
      const { to, event, key } = LETTER.read(row.value);
      const outcome = await this.needs.deliver(to, event, { id: key, letter: row.key });
      // Consumed by a version that removed it afterwards.
      if (!outcome.accepted && outcome.reason === 'duplicate') await this.#removeNow([row]);
      return outcome;
    });
  }

  /** False when there is no such letter. */
  async drop(id: string): Promise<boolean> {
    const row = await this.#row(id);
    return row !== undefined && (await this.#remove([row])) > 0;
  }

  async #row(id: string): Promise<Row | undefined> {
    const key = keyOf(id);
    const [row] =
      key === undefined ? [] : await this.needs.store.rows({ view: DEAD_LETTERS, prefix: key, limit: 1 });
    return row;
  }

  #remove(rows: readonly Row[]): Promise<number> {
    return this.#inTurn(() => this.#removeNow(rows));
  }

  /** Removals are made one after the other: so each is counted once. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#removing.then(work);
    this.#removing = done.catch(() => {});
    return done;
  }

  async #removeNow(rows: readonly Row[]): Promise<number> {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const box = await this.needs.store.load(BOX);
      const found: Row[] = [];
      for (const { key } of rows)
        found.push(...(await this.needs.store.rows({ view: DEAD_LETTERS, prefix: key, limit: 1 })));
      if (found.length === 0) return 0;
      const { ok } = await this.needs.store.commit(rowsStep(BOX, box, found));
      if (ok) return found.length;
    }
    throw new Retryable('actor.contended', 'Other nodes are removing dead letters.');
  }

  /** Never later than armed before: letters that keep coming would put the look off for ever. */
  #arm(pause: Millis): void {
    const at = this.needs.clock.elapsed() + pause;
    if (!this.#isStarted || at >= this.#lookAt) return;
    this.#lookAt = at;
    this.#cancel?.();
    this.#cancel = this.needs.clock.after(pause, () => {
      this.#lookAt = Number.POSITIVE_INFINITY;
      this.#looking = this.#looking.then(() => this.#look());
    });
  }

  /** Removes the letters beyond the limits. Never rejects. */
  async #look(): Promise<void> {
    const { store, clock } = this.needs;
    const { atMost, forMs } = this.#limits;
    try {
      for (;;) {
        // Before the count: other nodes that remove the same ones leave fewer of these, and not more to remove.
        const oldest = await store.rows({ view: DEAD_LETTERS, limit: BATCH });
        const count = (await store.counters(DEAD_LETTERS))[DEAD_LETTERS] ?? 0;
        if (oldest.length === 0 || !this.#isStarted) return;
        const end = clock.now() - forMs;
        const old = oldest.filter(({ key }, at) => at < count - atMost || Number(key[0]) <= end);
        if (old.length > 0) await this.#remove(old);
        const [first] = oldest.slice(old.length);
        if (first === undefined) continue;
        this.#arm(Math.min(LOOK_INTERVAL_MS, Math.max(1, Number(first.key[0]) - end)));
        return;
      }
    } catch (error) {
      this.needs.log.warn('Dead letters could not be removed yet.', describeFailure(error));
      this.#arm(LOOK_INTERVAL_MS);
    }
  }
}

function letterOf({ key, value }: Row): DeadLetter {
  const [at, kind, id] = key;
  const { to, event, what, because } = LETTER.read(value);
  return {
    id: JSON.stringify(key),
    at: Number(at),
    from: { kind: String(kind), id: String(id) },
    to,
    event,
    what,
    because,
  };
}

/** Undefined for a text that is no id of a letter. */
function keyOf(id: string): Row['key'] | undefined {
  try {
    const key: unknown = JSON.parse(id);
    return Array.isArray(key) && key.length === 5 && isKey(key) ? key : undefined;
  } catch {
    return undefined;
  }
}
