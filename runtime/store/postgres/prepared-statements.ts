/** Prepared statements of the store, each in a transaction of its own. They reject with `store.unavailable`. */
import type pg from 'pg';
import { unavailable } from './connection/connection.ts';
import type { Statement, Statements, WatchedStatements } from './statement-watch.ts';

export class PreparedStatements {
  readonly #statements: Statements;
  /** Statements that may run more than once. */
  readonly repeatable: Statements;

  constructor(statements: WatchedStatements) {
    this.#statements = statements;
    this.repeatable = { query: statements.repeatable };
  }

  /** Runs one that changes nothing. */
  read<R extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly R[]> {
    return rowsOf<R>(this.repeatable, { name, text, values: [...values] });
  }

  /** Runs one that changes rows. */
  write<R extends pg.QueryResultRow>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly R[]> {
    return rowsOf<R>(this.#statements, { name, text, values: [...values] });
  }
}

async function rowsOf<R extends pg.QueryResultRow>(
  statements: Statements,
  statement: Statement,
): Promise<readonly R[]> {
  try {
    return (await statements.query<R>(statement)).rows;
  } catch (error) {
    throw unavailable(error);
  }
}
