/**
 * Commits steps in groups: while one group is in progress, the next one is collected, so that concurrent steps share
 * round trips and flushes. Groups follow each other on one connection at a time; steps of one actor keep their order.
 * While other nodes exist, a commit is answered once every step up to it was reported to observers (`change-feed.ts`).
 */
import { Retryable } from '../../model/failures.ts';
import type { Faults } from '../../model/faults.ts';
import { checkStepKeys } from '../../model/keys.ts';
import type { Committed, Step } from '../../model/ports.ts';
import type { ChangeFeed } from './change-feed.ts';
import { hasOthers, isSessionOver, isTransient, unavailable } from './connection/connection.ts';
import type { Session } from './session.ts';
import type { CommitStatements } from './statements.ts';
import { type CommitRow, type EncodedStep, encodeStep, outcomeOf } from './steps-as-arrays.ts';

/** Maximum number of steps in one transaction. */
const GROUP_SIZE = 128;

/** Attempts of one group that conflicted with transactions or with the start of other nodes. */
const ATTEMPTS = 10;

interface Waiting {
  readonly step: EncodedStep;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
}

/** Every commit survives a power failure: PostgreSQL flushes before it answers. */
export class Committer {
  readonly #statements: CommitStatements;
  readonly #session: Session;
  readonly #faults: Faults;
  readonly #feed: ChangeFeed;
  /** True when other sessions existed at the last commit: the steps are reported to them. */
  #hasOthers = false;
  /** True once all nodes read blocks of rows. */
  hasBlocks = false;
  /** Settles when the group that was sent last is answered. */
  #sent: Promise<unknown> = Promise.resolve();
  /** Commits whose steps are not reported yet. */
  readonly #telling = new Set<Promise<void>>();
  /** Steps of a commit that may be stored although it was not answered. */
  #uncertain: readonly EncodedStep[] = [];
  #tellingUncertain: Promise<void> | undefined;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;

  constructor(statements: CommitStatements, session: Session, faults: Faults, feed: ChangeFeed) {
    this.#feed = feed;
    this.#statements = statements;
    this.#session = session;
    this.#faults = faults;
  }

  /** See `ActorStore.commit`. */
  async commit(step: Step): Promise<Committed> {
    checkStepKeys(step);
    const encoded = encodeStep(step, this.hasBlocks);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step: encoded, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  /** Resolves when nothing is in progress. */
  async idle(): Promise<void> {
    while (this.#working !== undefined || this.#telling.size > 0)
      await Promise.all([this.#working, ...this.#telling]);
  }

  /** Resolves when the group that was sent last is answered. Never rejects. */
  async answered(): Promise<void> {
    await this.#sent.catch(() => {});
  }

  /**
   * Finds out which steps of an unanswered commit are stored, and tells of them unless their change does: other nodes
   * may have ended before the commit, which then wrote none. Concurrent calls share one attempt. Rejects with
   * `store.unavailable`.
   */
  tellUncertain(): Promise<void> {
    if (this.#uncertain.length === 0) return Promise.resolve();
    this.#tellingUncertain ??= this.#tellUncertain()
      .catch((error) => {
        throw unavailable(error);
      })
      .finally(() => {
        this.#tellingUncertain = undefined;
      });
    return this.#tellingUncertain;
  }

  async #tellUncertain(): Promise<void> {
    const stored = await this.#statements.stored(this.#session.token, this.#uncertain);
    this.#uncertain = [];
    this.#feed.tell(stored, true);
    if (stored.length > 0) this.#feed.listener?.adopted();
  }

  /** Commits the waiting steps, group after group, until none is left. Never rejects. */
  async #work(): Promise<void> {
    // Steps that are sent in the same turn share the first group.
    await undefined;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, GROUP_SIZE);
      try {
        await this.#faults.at('store.group.before-transaction');
        // The transaction is one statement; this is the last moment for a crash before it.
        await this.#faults.at('store.group.in-transaction');
        const sent = this.#send(group);
        this.#sent = sent;
        const row = await sent;
        await this.#faults.at('store.group.committed.before-reply');
        if (row.change === null) answer(group, row);
        else this.#answerInOrder(group, row);
      } catch (error) {
        refuse(group, error);
      }
    }
    // Synchronous with the last check of the queue: a step that arrives later starts the next run.
    this.#working = undefined;
  }

  /** Answers the senders once every step up to their commit was reported, without delaying the next group. */
  #answerInOrder(group: readonly Waiting[], row: CommitRow): void {
    const telling = this.#feed.sync().then(
      () => answer(group, row),
      (error) => refuse(group, error),
    );
    this.#telling.add(telling);
    void telling.then(() => this.#telling.delete(telling));
  }

  /** Commits a group and hands its stored steps to the feed. */
  async #send(group: readonly Waiting[]): Promise<CommitRow> {
    const steps = group.map(({ step }) => step);
    const row = await this.#store(steps);
    const stored = steps.filter((_, at) => row.outcomes[at] === 'ok').map(({ step }) => step);
    this.#hasOthers = row.change !== null || (this.#hasOthers && stored.length === 0);
    if (row.change === null) this.#feed.tell(stored, true);
    else this.#feed.addOwn(row.change, stored);
    return row;
  }

  async #store(steps: readonly EncodedStep[]): Promise<CommitRow> {
    await this.tellUncertain();
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#statements.commit(this.#session.token, steps, this.#hasOthers);
      } catch (error) {
        if (isSessionOver(error)) {
          await this.#session.renew();
          throw new Retryable('store.unavailable', 'This node was silent for too long; nothing was stored.');
        }
        this.#hasOthers ||= hasOthers(error);
        if ((hasOthers(error) || isTransient(error)) && attempt < ATTEMPTS) continue;
        this.#uncertain = steps;
        throw error;
      }
    }
  }
}

function answer(group: readonly Waiting[], row: CommitRow): void {
  for (const [at, { resolve }] of group.entries()) resolve(outcomeOf(row, at));
}

function refuse(group: readonly Waiting[], error: unknown): void {
  const failure = unavailable(error);
  for (const { reject } of group) reject(failure);
}
