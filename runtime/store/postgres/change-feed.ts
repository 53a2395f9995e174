/**
 * Steps of all nodes in the order of their commits, without gaps.
 *
 * The numbers of `changes` are given before the commit, so a lower number may appear after a higher one. A read
 * therefore takes what is visible in its snapshot and was not in the snapshot of the read before: each change exactly
 * once, however long its transaction took. What committed before the read began is in its snapshot. Within one read the
 * numbers give an order that agrees with the order of commits, since a step that follows another one takes its number
 * after that one's commit.
 */
import { describeFailure } from '../../model/failures.ts';
import type { Clock, Log, NodeListener, Step } from '../../model/ports.ts';
import { unavailable } from './connection/connection.ts';
import type { ChangePageQuery, ChangeRow, ChangeStatements } from './statements.ts';
import { parseChange } from './steps-as-arrays.ts';

/** Milliseconds between two reads when nothing asks for one, and after so many that found nothing. */
const INTERVAL_MS = 100;
const IDLE_INTERVAL_MS = 500;
const READS_UNTIL_IDLE = 20;

/** Changes read at once. */
const PAGE_SIZE = 256;

/** The commits of this node. */
interface CommitsInProgress {
  /** Resolves when the commits that this node has sent so far are answered. */
  answered(): Promise<void>;
  /** Tells of stored steps whose commit was not answered and that no change reports. Rejects with `store.unavailable`. */
  tellUncertain(): Promise<void>;
}

export class ChangeFeed {
  #snapshot: string;
  #xmin: string;
  #listener: NodeListener | undefined;
  /** Steps of this node that were answered and not yet read, by the number of their change. */
  readonly #own = new Map<number, readonly Step[]>();
  #tail: Promise<void> = Promise.resolve();
  /** The read that has not begun yet. */
  #next: Promise<void> | undefined;
  /** A read of several pages that failed between two of them; the next read does not report its steps again. */
  #begun: { readonly snapshot: string; readonly xmin: string; after: number } | undefined;
  #cancel: () => void = () => {};
  /** Reads since the last one that found a change. */
  #emptyReads = 0;
  #stopped = false;
  /** Elapsed time of the last read that succeeded. */
  #readAt: number;
  /** Duration of the last read, milliseconds. */
  #took = 0;

  private constructor(
    private readonly needs: {
      readonly statements: ChangeStatements;
      readonly clock: Clock;
      readonly log: Log;
      /** Session of this node. */
      readonly session: { readonly token: number };
      readonly commits: CommitsInProgress;
      readonly snapshot: string;
      readonly xmin: string;
    },
  ) {
    this.#snapshot = needs.snapshot;
    this.#xmin = needs.xmin;
    this.#readAt = needs.clock.elapsed();
    this.#arm();
  }

  /** Starts at the present. The session exists already, so every later commit of another node writes its change. */
  static async open(
    statements: ChangeStatements,
    clock: Clock,
    {
      log,
      session,
      commits,
    }: {
      readonly log: Log;
      readonly session: { readonly token: number };
      readonly commits: CommitsInProgress;
    },
  ): Promise<ChangeFeed> {
    const { snapshot, xmin } = await statements.open(session.token);
    return new ChangeFeed({ statements, clock, log, session, commits, snapshot, xmin });
  }

  /** Tells `listener` of each change from now on. */
  follow(listener: NodeListener): void {
    this.#listener = listener;
  }

  get listener(): NodeListener | undefined {
    return this.#listener;
  }

  /** Transactions below it were read. */
  get position(): string {
    return this.#xmin;
  }

  /** Milliseconds since the last read, and the duration of that read. */
  get lag(): { readonly sinceMs: number; readonly tookMs: number } {
    return { sinceMs: this.needs.clock.elapsed() - this.#readAt, tookMs: this.#took };
  }

  /** Keeps the steps of an answered commit until their change is read. */
  addOwn(change: number, steps: readonly Step[]): void {
    this.#own.set(change, steps);
  }

  /** Tells of steps that no other node can know of. */
  tell(steps: readonly Step[], isOwn: boolean): void {
    for (const step of steps) {
      try {
        this.#listener?.committed(step, isOwn);
      } catch (error) {
        this.needs.log.error('An observer of committed steps threw.', describeFailure(error));
      }
    }
  }

  /**
   * Resolves when every step is reported that any node had committed before the call. Concurrent calls share one read.
   * Rejects with `store.unavailable`.
   */
  sync(): Promise<void> {
    this.#next ??= this.#enqueue(() => {
      this.#next = undefined;
      return this.#read();
    });
    return this.#next;
  }

  /** Calls `use` with the counters as of the steps reported so far: between two reads, in one transaction with a read. */
  readCounters(prefix: string, use: (counters: { readonly [name: string]: number }) => void): Promise<void> {
    return this.#enqueue(async () => {
      await this.#read();
      try {
        await this.needs.statements.consistently(async ({ page, counters }) => {
          await this.#readPages(page);
          use(await counters(prefix));
        });
      } catch (error) {
        throw unavailable(error);
      }
    });
  }

  /** Reads follow each other. */
  #enqueue(read: () => Promise<void>): Promise<void> {
    const done = this.#tail.then(read);
    this.#tail = done.catch(() => {});
    return done;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#tail;
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#cancel = this.needs.clock.after(
      this.#emptyReads < READS_UNTIL_IDLE ? INTERVAL_MS : IDLE_INTERVAL_MS,
      () => {
        this.sync()
          .catch((error) =>
            this.needs.log.debug(
              'Steps of other nodes could not be read; the next read finds them.',
              describeFailure(error),
            ),
          )
          .finally(() => this.#arm());
      },
    );
  }

  async #read(): Promise<void> {
    const { clock } = this.needs;
    const begun = clock.elapsed();
    await this.needs.commits.tellUncertain();
    // A read that began earlier may end before the steps that this one must report.
    if (this.#begun !== undefined) await this.#readPages();
    await this.#readPages();
    this.#readAt = clock.elapsed();
    this.#took = this.#readAt - begun;
  }

  async #readPages(
    read: (query: ChangePageQuery) => Promise<readonly ChangeRow[]> = (query) =>
      this.needs.statements.page(query),
  ): Promise<void> {
    for (;;) {
      const rows = await this.#page(read);
      const changes = rows.filter(({ seq }) => seq !== null);
      this.#emptyReads = changes.length > 0 ? 0 : this.#emptyReads + 1;
      // A change of this node may be read before its commit is answered.
      if (changes.length > 0) await this.needs.commits.answered();
      const [first] = rows;
      if (first === undefined) return;
      this.#begun ??= { snapshot: first.snapshot, xmin: first.xmin, after: 0 };
      for (const change of changes) this.#deliver(change);
      this.#begun.after = changes.at(-1)?.seq ?? this.#begun.after;
      if (changes.length < PAGE_SIZE) break;
    }
    this.#snapshot = this.#begun.snapshot;
    this.#xmin = this.#begun.xmin;
    this.#begun = undefined;
  }

  async #page(
    read: (query: ChangePageQuery) => Promise<readonly ChangeRow[]>,
  ): Promise<readonly ChangeRow[]> {
    const { snapshot: target = null, after = 0 } = this.#begun ?? {};
    const session = this.needs.session.token;
    const own = [...this.#own.keys()];
    try {
      return await read({ snapshot: this.#snapshot, session, own, after, target, limit: PAGE_SIZE });
    } catch (error) {
      throw unavailable(error);
    }
  }

  #deliver({ seq, session, steps }: ChangeRow): void {
    const own = this.#own.get(seq ?? 0);
    const isOwn = session === this.needs.session.token;
    this.#own.delete(seq ?? 0);
    this.tell(own ?? (steps ?? []).map(parseChange), isOwn);
    // The answer of this commit was lost; its effects and timers are in the store.
    if (isOwn && own === undefined) this.#listener?.adopted();
  }
}
