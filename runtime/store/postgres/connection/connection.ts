/** Connections to PostgreSQL, and the classification of their failures. */
import type pg from 'pg';
import { describeFailure, Fatal, Retryable } from '../../../model/failures.ts';
import { library, openPoolOver } from './connection-pool.ts';
import { parsePostgresUrl } from './connection-url.ts';

/** Address and use of the database. */
export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with several hosts too; see docs/several-nodes.md. */
  readonly url: string;
  /** Maximum number of connections of this process. Whole number, at least 2. @default 10 */
  readonly poolSize?: number;
  /** Schema that holds the tables: letters, digits and underscores. @default sealwright */
  readonly schema?: string;
  /** Statement timeout, milliseconds. @default 30000 */
  readonly statementTimeoutMs?: number;
}

const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Time that an answer may take beyond the statement timeout, milliseconds. */
const ANSWER_TIMEOUT_MS = 5000;

/** Time after which an idle connection is probed, milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/** The server gives up a client that is gone without a sign: a backend that waits for one would stay for hours. */
const SERVER_SIDE = [
  'tcp_user_timeout=10000',
  'tcp_keepalives_idle=10',
  'tcp_keepalives_interval=3',
  'tcp_keepalives_count=3',
]
  .map((setting) => `-c ${setting}`)
  .join(' ');

const INT8 = 20;
const INT8_ARRAY = 1016;

/** Every 64-bit number here is a count, a time or a revision below 2^53. */
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8
      ? Number
      : library().types.getTypeParser(oid === INT8_ARRAY ? INT8_ARRAY : oid, format as 'text')) as never,
};

/** Name of the schema. Throws `store.postgres-options`. */
export function schemaName(options: PostgresOptions): string {
  const schema = options.schema ?? 'sealwright';
  if (!SCHEMA_NAME.test(schema))
    throw new Fatal(
      'store.postgres-options',
      `The schema name "${schema}" is not lower-case letters, digits and underscores.`,
    );
  return schema;
}

/** Opens a pool. It connects when it is first used; `failed` receives the errors of idle connections. */
export function openPool(
  options: PostgresOptions & { readonly connectTimeoutMs?: number },
  failed: (error: Error) => void,
): pg.Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = openPoolOver({
    url: options.url,
    size: options.poolSize ?? 10,
    schema: schemaName(options),
    statementTimeoutMs,
    connectTimeoutMs: options.connectTimeoutMs,
    client: {
      // For answers that never come, since the connection is gone without a sign.
      query_timeout: statementTimeoutMs + ANSWER_TIMEOUT_MS,
      application_name: 'sealwright',
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
      types: TYPES,
    },
    // Compiling a statement over many keys takes longer than the statement.
    settings: `-c client_min_messages=warning -c jit=off ${SERVER_SIDE}`,
  });
  pool.on('error', failed);
  return pool;
}

/** Hosts and database of a URL, without user and password. */
export function describeLocation(options: PostgresOptions): string {
  const { hosts, database } = parsePostgresUrl(options.url);
  const places = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return `${places.join(',')}/${database}, schema ${schemaName(options)}`;
}

/** SQLSTATE codes after which the same transaction may succeed; it was rolled back. */
const TRANSIENT = new Set(['40001', '40P01', '55P03']);

/** True if the transaction was certainly rolled back and may be retried at once. */
export function isTransient(error: unknown): boolean {
  return TRANSIENT.has((error as { code?: string }).code ?? '');
}

/** SQLSTATE of `commit_steps` for a session that is over. */
const SESSION_OVER = 'LS001';

/** SQLSTATE of `commit_steps` when other nodes exist and the steps would not be reported to them. */
const OTHERS = 'LS002';

export function hasOthers(error: unknown): boolean {
  return (error as { code?: unknown }).code === OTHERS;
}

export function isSessionOver(error: unknown): boolean {
  return (error as { code?: unknown }).code === SESSION_OVER;
}

/** Converts the error of a failed statement: the store may answer again later. */
export function unavailable(error: unknown): Retryable {
  if (error instanceof Retryable) return error;
  return new Retryable('store.unavailable', `PostgreSQL: ${describeFailure(error).message}`);
}
