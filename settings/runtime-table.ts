/**
 * Keys of the actor runtime: its store and its threads.
 *
 * Source: docs/configuration.md.
 */
import { z } from 'zod';
import { below, key, optional } from './keys.ts';
import { choice, pattern, secretText, whole } from './kinds.ts';

const schemaName = pattern(
  'name',
  'must begin with a lower-case letter and go on with lower-case letters, digits and underscores, at most 63',
  z.string().regex(/^[a-z][a-z0-9_]{0,62}$/),
);
const nodeName = pattern(
  'name',
  'must be 1 to 100 printable characters without spaces',
  z.string().regex(/^[!-~]{1,100}$/),
);

export const RUNTIME_KEYS = {
  'Runtime:Shards': key(whole(1, 64), 1, {
    unit: 'threads',
    says: 'Threads that host actors; `1` keeps them on the main thread. With `Runtime:Store=postgres` it must be `1`.',
  }),
  'Runtime:Store': key(choice(['lmdb', 'postgres']), 'lmdb', {
    says: '`lmdb`: the embedded store at `{Root}/db`. `postgres`: a PostgreSQL database, version 15 or newer.',
  }),
  ...below('Runtime:Postgres', {
    Url: optional(secretText(), {
      says: 'Database for `Runtime:Store=postgres`: `postgres://user:password@host:port/database`.',
    }),
    PoolSize: key(whole(2, 200), 10, {
      unit: 'connections',
      says: 'Connections of this process at most, besides one for its heartbeats.',
    }),
    Schema: key(schemaName, 'sealwright', { says: 'Schema of the tables; created when missing.' }),
    StatementTimeoutMs: key(whole(100, 600_000), 30_000, {
      unit: 'milliseconds',
      says: 'Time limit of a statement; then it fails and is tried again.',
    }),
  }),
  'Runtime:NodeName': optional(nodeName, {
    says: 'Name of this process in the database. Default: host name and port of `Batch:Url`.',
  }),
  'Runtime:LeaseSeconds': key(whole(1, 300), 5, {
    unit: 'seconds',
    says: 'Silence after which the work of a process on PostgreSQL is taken over.',
  }),
} as const;
