/** Stores on PostgreSQL 15 or newer: several processes (nodes) on one store. */
import { hostname } from 'node:os';
import { Fatal } from './model/failures.ts';
import { numberProblem } from './model/options.ts';
import type { Millis, StoreSource } from './model/ports.ts';
import { schemaName } from './store/postgres/connection/connection.ts';
import { hostsWithoutTls } from './store/postgres/connection/connection-url.ts';
import { openPostgresStore } from './store/postgres/postgres-store.ts';

const LEASE_SECONDS = 10;

/** Settings of a store on PostgreSQL. */
export interface PostgresSettings {
  /** Schema of the tables: lower-case letters, digits, underscores. @default actors */
  readonly schema?: string;
  /** Name of this process among the nodes. @default name of the host and id of the process */
  readonly node?: string;
  /** Whole seconds of silence after which other nodes take over the work of this one. @default 10 */
  readonly leaseSeconds?: number;
  /** Connections of this process at most. Whole number, at least 2. @default 10 */
  readonly poolSize?: number;
  /** @default 30,000 */
  readonly statementTimeoutMs?: Millis;
  /** Called once when others took over the work of this node: the process must end. @default a new session is opened */
  readonly onLost?: (why: string) => void;
}

/**
 * Stores actors in a database, where nodes share the work. The tables are made at the first start. Throws
 * `store.postgres-options`. Opening throws `store.too-new`, `store.locked`, `store.unavailable`.
 * @param url `postgres://user:password@host:port/database`; as libpq reads it, also with several hosts (`a:5432,b:5432`), a
 * Unix socket (`?host=/run/postgresql`), `sslmode=verify-full` and `sslrootcert`. `sslmode=require` checks the certificate.
 */
export function postgres(url: string, settings: PostgresSettings = {}): StoreSource {
  const { node = `${hostname()}-${process.pid}`, leaseSeconds = LEASE_SECONDS, schema = 'actors' } = settings;
  const problem =
    typeof url !== 'string' || typeof node !== 'string' || node === ''
      ? '`url` and `node` are texts.'
      : numberProblem(settings, { leaseSeconds: [1], poolSize: [2], statementTimeoutMs: [1] });
  if (problem !== undefined) throw new Fatal('store.postgres-options', problem);
  schemaName({ url, schema });
  return {
    open: async ({ clock, log, version, faults }) => {
      const store = await openPostgresStore({
        ...settings,
        url,
        node,
        leaseSeconds,
        guardsStart: true,
        schema,
        clock,
        log,
        ...(faults && { faults }),
        info: { version },
      });
      const hosts = hostsWithoutTls(url).join(', ');
      if (hosts !== '')
        log.warn('The database is spoken to without TLS; add ?sslmode=verify-full.', { hosts });
      return store;
    },
  };
}
