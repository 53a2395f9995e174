/**
 * Statements of a node about sessions, commits and changes: the port between the protocol of leases and take-over
 * (`session.ts`, `committer.ts`, `change-feed.ts`, `effect-leases.ts`) and the database that keeps it. PostgreSQL
 * implements it, and the database in memory for simulations of several nodes.
 *
 * Each statement is one transaction. It rejects with an error whose `code` is a SQLSTATE, or with one without it when
 * the answer is lost.
 */
import type { Step } from '../../model/ports.ts';
import type { CommitRow, EncodedStep } from './steps-as-arrays.ts';

export interface SessionStatements {
  /** Opens a session; undefined while the name or all slots are in use. `now`: the clock of the database. */
  begin(options: {
    readonly node: string;
    readonly leaseSeconds: number;
    readonly info: string;
    readonly maxNodes: number;
  }): Promise<
    | { readonly token: number; readonly slot: number; readonly nodes: number; readonly now: number }
    | undefined
  >;
  /** Renews a session; undefined when it is over. `now`: the clock of the database. */
  heartbeat(
    token: number,
    report: string,
    position: string | null,
  ): Promise<{ readonly is_draining: boolean; readonly now: number; readonly nodes: number } | undefined>;
  /**
   * See `takeOverFunction`.
   * @param silentUntil time on the clock of the database until which nodes are taken over for their silence; 0 = never
   */
  takeOver(
    token: number,
    silentUntil: number,
    node: string,
  ): Promise<{ readonly sessions_over: number; readonly effects_taken: number } | undefined>;
  /** Marks a session as over; the next heartbeat of another node takes over what it owned. */
  end(token: number): Promise<void>;
}

export interface CommitStatements {
  /** See `commitFunction`. `isReported`: the steps are reported to other nodes. */
  commit(token: number, steps: readonly EncodedStep[], isReported: boolean): Promise<CommitRow>;
  /** Waits for a commit of the session in progress; returns which of the steps are stored and reported by no change. */
  stored(token: number, steps: readonly EncodedStep[]): Promise<readonly Step[]>;
}

/** One change, or with `seq` null the positions alone. */
export interface ChangeRow {
  readonly snapshot: string;
  readonly xmin: string;
  readonly seq: number | null;
  readonly session: number | null;
  readonly steps: readonly string[] | null;
}

export interface ChangePageQuery {
  /** Position of the previous read. */
  readonly snapshot: string;
  /** Steps of these changes of this session are left out. */
  readonly session: number;
  readonly own: readonly number[];
  /** Only changes with a higher number. */
  readonly after: number;
  /** Position up to which changes are read. Null: the present. */
  readonly target: string | null;
  readonly limit: number;
}

export interface ChangeStatements {
  /** Returns the present position, once commits in progress that may not have seen the session are over. */
  open(session: number): Promise<{ readonly snapshot: string; readonly xmin: string }>;
  page(query: ChangePageQuery): Promise<readonly ChangeRow[]>;
  /** Runs reads that see one state of the database. */
  consistently(
    read: (statements: {
      page(query: ChangePageQuery): Promise<readonly ChangeRow[]>;
      counters(prefix: string): Promise<{ readonly [name: string]: number }>;
    }) => Promise<void>,
  ): Promise<void>;
}
