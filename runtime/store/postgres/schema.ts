/**
 * Tables of the PostgreSQL store and the function that commits steps.
 *
 * Keys are `bytea` as `key-bytes.ts` encodes them, so that their order is the order of the store port. Documents are
 * `text` with JSON: `jsonb` has no U+0000 and no order of members. Times are milliseconds since the epoch.
 */
import { commitFunction, takeOverFunction } from './schema-functions.ts';

/** Version of the tables below. A node refuses a schema whose version is higher. */
export const SCHEMA_VERSION = 3;

/** Statements that upgrade the schema by one version, by the new version. Each list runs in one transaction. */
export const SCHEMA_UPGRADES: { readonly [version: number]: readonly string[] } = {
  1: [
    `CREATE TABLE actors (
      key bytea PRIMARY KEY,
      revision bigint NOT NULL,
      body text NOT NULL
    ) WITH (fillfactor = 70)`,
    `CREATE TABLE journal (
      actor bytea NOT NULL,
      id bigint NOT NULL,
      line text NOT NULL,
      PRIMARY KEY (actor, id)
    )`,
    `CREATE TABLE rows (
      key bytea PRIMARY KEY,
      value text NOT NULL
    ) WITH (fillfactor = 70)`,
    `CREATE TABLE names (
      name bytea PRIMARY KEY,
      holder bytea NOT NULL
    )`,
    `CREATE TABLE counters (
      name bytea PRIMARY KEY,
      value bigint NOT NULL
    ) WITH (fillfactor = 70)`,
    // Steps only append here, so that no two of them wait for a lock on the same counter.
    `CREATE TABLE counter_deltas (
      name bytea NOT NULL,
      delta bigint NOT NULL
    )`,
    `CREATE INDEX counter_deltas_name ON counter_deltas (name)`,
    `CREATE TABLE sessions (
      token bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      node text NOT NULL UNIQUE,
      opened_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      lease interval NOT NULL
    )`,
    `CREATE TABLE effects (
      key bytea PRIMARY KEY,
      queue bytea,
      due bigint NOT NULL,
      failures integer NOT NULL,
      last_error text,
      body text NOT NULL,
      lease bigint
    ) WITH (fillfactor = 70)`,
    `CREATE INDEX effects_due ON effects (due, key) WHERE queue IS NULL AND lease IS NULL`,
    `CREATE INDEX effects_queue ON effects (queue, due, key) WHERE queue IS NOT NULL AND lease IS NULL`,
    `CREATE INDEX effects_failed ON effects (key) WHERE failures > 0`,
    `CREATE INDEX effects_leased ON effects (lease) WHERE lease IS NOT NULL`,
    `CREATE TABLE timers (
      key bytea PRIMARY KEY,
      due bigint NOT NULL,
      body text NOT NULL
    )`,
  ],
  // Several nodes: each effect and timer belongs to a session, and `changes` tells the others what was committed.
  2: [
    'DELETE FROM sessions',
    `ALTER TABLE sessions
      ADD COLUMN slot smallint NOT NULL UNIQUE CHECK (slot >= 0),
      ADD COLUMN info text NOT NULL,
      ADD COLUMN report text NOT NULL DEFAULT '{}',
      ADD COLUMN is_draining boolean NOT NULL DEFAULT false,
      ADD COLUMN position xid8`,
    `ALTER TABLE effects
      ADD COLUMN owner bigint NOT NULL DEFAULT 0,
      ADD COLUMN is_taken_over boolean NOT NULL DEFAULT false`,
    'DROP INDEX effects_due, effects_queue',
    'CREATE INDEX effects_due ON effects (owner, due, key) WHERE queue IS NULL AND lease IS NULL',
    'CREATE INDEX effects_queue ON effects (owner, queue, due, key) WHERE queue IS NOT NULL AND lease IS NULL',
    'ALTER TABLE timers ADD COLUMN owner bigint NOT NULL DEFAULT 0',
    'CREATE INDEX timers_owner ON timers (owner, key)',
    `CREATE TABLE leases (
      name text PRIMARY KEY,
      session bigint NOT NULL
    )`,
    `CREATE TABLE changes (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      session bigint NOT NULL,
      steps text[] NOT NULL
    )`,
    'CREATE INDEX changes_xid ON changes (xid)',
    `CREATE UNLOGGED TABLE permits (
      name text PRIMARY KEY,
      since timestamptz NOT NULL,
      used integer NOT NULL
    ) WITH (fillfactor = 70)`,
    'DROP FUNCTION IF EXISTS commit_steps',
    commitFunction(),
    takeOverFunction(),
  ],
  // A heartbeat reads no effects and timers of living nodes.
  3: [takeOverFunction()],
};
