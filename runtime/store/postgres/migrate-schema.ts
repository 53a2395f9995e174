/** Creates the tables and upgrades them to the version of this program, one node at a time. */

import type pg from 'pg';
import { Fatal } from '../../model/failures.ts';
import { SCHEMA_VERSION } from '../../model/store-formats.ts';
import { assertNotFinished } from './finish-upgrade.ts';
import { SCHEMA_UPGRADES } from './schema.ts';

/** Errors of one of two nodes that create the schema at once; it tries again. */
const MADE_BY_ANOTHER = new Set(['23505', '42710', '42P06', '42P07']);

/** Attempts to create the schema beside other nodes. */
const ATTEMPTS = 10;

/** Throws `store.copy-incomplete` for the target of a copy that is not finished. */
export async function assertNoCopy(client: pg.Pool | pg.PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ has_copy: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS has_copy',
    [`${schema}.copy_in_progress`],
  );
  if (rows[0]?.has_copy !== true) return;
  throw new Fatal(
    'store.copy-incomplete',
    `The schema "${schema}" is the target of a copy that is not finished. Repeat "sealwright store copy", which goes on with it, or drop the schema.`,
  );
}

/**
 * Throws `store.locked` while a copy reads or writes the schema. Only a copy locks sessions in this mode; what waits for
 * the lock would end with the statement timeout.
 */
export async function assertNotLocked(client: pg.Pool | pg.PoolClient, schema: string): Promise<void> {
  const { rows } = await client.query<{ is_locked: boolean }>(
    `SELECT EXISTS (
        SELECT FROM pg_locks WHERE relation = to_regclass($1) AND mode = 'ExclusiveLock' AND granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      ) AS is_locked`,
    [`${schema}.sessions`],
  );
  if (rows[0]?.is_locked !== true) return;
  throw new Fatal(
    'store.locked',
    `"sealwright store copy" has locked the schema "${schema}". Wait until it has ended. A store cannot be copied to itself.`,
  );
}

/** Throws `store.too-new` where the upgrade was finished meanwhile. */
export async function assertMayRun(pool: pg.Pool, schema: string, version: string): Promise<void> {
  const { rows } = await pool.query<{ finished?: string | null }>('SELECT * FROM schema_version');
  assertNotFinished(rows[0]?.finished, schema, version);
}

/**
 * Throws `store.too-new` for a schema of a newer program or a finished upgrade, `store.copy-incomplete` unless a copy opens it, and
 * errors of PostgreSQL. A crash leaves the version
 * before or the version after an upgrade, since each is one transaction.
 */
export async function migrateSchema(
  pool: pg.Pool,
  schema: string,
  options: { readonly isCopy?: boolean; readonly version?: string } = {},
): Promise<void> {
  await makeVersionTable(pool, schema);
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    // The row lock lets one node at a time through; the others find the new version.
    const found = await client.query<{ version: number; finished?: string | null }>(
      'SELECT * FROM schema_version FOR UPDATE',
    );
    assertNotFinished(found.rows[0]?.finished, schema, options.version ?? '');
    const version = found.rows[0]?.version ?? 0;
    if (version > SCHEMA_VERSION) {
      throw new Fatal(
        'store.too-new',
        `The schema "${schema}" has version ${version}; this program knows versions up to ${SCHEMA_VERSION}. Run the newer program.`,
      );
    }
    if (!options.isCopy) await assertNoCopy(client, schema);
    for (let next = version + 1; next <= SCHEMA_VERSION; next++) {
      for (const statement of SCHEMA_UPGRADES[next] ?? []) await client.query(statement);
      await client.query('UPDATE schema_version SET version = $1', [next]);
    }
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}

async function makeVersionTable(pool: pg.Pool, schema: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await pool.query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
      await pool.query(
        `CREATE TABLE IF NOT EXISTS schema_version (
          only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
          version integer NOT NULL
        )`,
      );
      await pool.query('INSERT INTO schema_version (version) VALUES (0) ON CONFLICT DO NOTHING');
      return;
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      if (!MADE_BY_ANOTHER.has(code) || attempt >= ATTEMPTS) throw error;
    }
  }
}
