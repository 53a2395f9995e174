/**
 * Statements through a pooler that gives each transaction to whichever server process is free: nothing of a session
 * outlives a transaction there. Each statement runs in a transaction of its own with its own settings, and no statement
 * has a name. Costs two more round trips a statement.
 *
 * Source: docs/decisions/0271-hosts-and-poolers.md.
 */
import type pg from 'pg';

/** A process of the server: its number may be used again, with another start. */
export interface Backend {
  readonly pid: number;
  readonly started: string;
}

type Callback = (error: unknown, result?: unknown) => void;

/** No process: the statement was not sent. */
const NONE: Backend = { pid: 0, started: '-infinity' };

/**
 * @param send sends a statement on one connection
 * @param settings of each transaction
 * @returns `query` in place of `send`, and the process of the transaction in progress
 */
export function transactionsOf(send: pg.Client['query'], settings: readonly string[]) {
  const backend = { ...NONE };
  const prelude = [
    ...settings.map((setting) => `SET LOCAL ${setting}`),
    'SELECT pid, backend_start::text AS started FROM pg_stat_activity WHERE pid = pg_backend_pid()',
  ].join('; ');
  /** True in a transaction that the caller has begun. */
  let isOpen = false;
  const begin = async (statement: pg.QueryConfig) => {
    Object.assign(backend, NONE);
    // Several statements in one text have a list of results, which the types do not know.
    const results: unknown = await send({ ...statement, text: `${statement.text}; ${prelude}` });
    const last: pg.QueryResult<Backend> | undefined = Array.isArray(results) ? results.at(-1) : undefined;
    Object.assign(backend, last?.rows[0]);
  };
  /** Takes back what fails. Without an answer of the server the caller drops the connection, and the transaction ends. */
  const undoing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      if ((error as { readonly severity?: string }).severity === 'ERROR')
        await send('ROLLBACK').catch(() => {});
      throw error;
    }
  };
  const run = async (statement: pg.QueryConfig): Promise<unknown> => {
    const { name: _, ...unnamed } = statement;
    const within = (text: string) => ({ text, query_timeout: statement.query_timeout });
    if (/^BEGIN/i.test(unnamed.text)) {
      await undoing(() => begin(within(unnamed.text)));
      isOpen = true;
      return undefined;
    }
    if (isOpen) {
      if (/^(COMMIT|ROLLBACK)/i.test(unnamed.text)) isOpen = false;
      return send(unnamed);
    }
    const result = await undoing(async () => {
      await begin(within('BEGIN'));
      return send(unnamed);
    });
    await send(within('COMMIT'));
    return result;
  };
  const query = (statement: string | pg.QueryConfig, second?: unknown[] | Callback, third?: Callback) => {
    const values = Array.isArray(second) ? second : undefined;
    const callback = typeof second === 'function' ? second : third;
    const given = typeof statement === 'string' ? { text: statement } : statement;
    const done = run({ ...given, ...(values && { values }) });
    if (callback === undefined) return done;
    done.then((result) => callback(null, result), callback);
    return undefined;
  };
  return { backend: backend as Backend, query: query as pg.Client['query'] };
}
