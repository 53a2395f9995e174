/**
 * The point of no return of an upgrade on several nodes: from then on nodes of earlier versions of the program do not
 * start, and say so with the backup that leads back. Recorded beside the version of the tables.
 */
import type pg from 'pg';
import { Fatal } from '../../model/failures.ts';
import { jsonType } from '../../model/json.ts';
import { openPool, type PostgresOptions, schemaName, unavailable } from './connection/connection.ts';

/** An upgrade that an operator has finished. */
interface FinishedUpgrade {
  /** Version of the program. */
  readonly version: string;
  /** Place of the backup that was made before, as the operator named it. */
  readonly backup: string;
}

const FINISHED = jsonType<FinishedUpgrade>();
const NODE_INFO = jsonType<{ readonly version?: string }>();

/** Throws `store.too-new` where the upgrade to a later version of the program is finished. */
export function assertNotFinished(
  finished: string | null | undefined,
  schema: string,
  version: string,
): void {
  if (!finished || version === '') return;
  const { version: later, backup } = FINISHED.read(JSON.parse(finished));
  if (!isEarlier(version, later)) return;
  throw new Fatal(
    'store.too-new',
    `The upgrade of the schema "${schema}" to version ${later} of the program is finished; this one has version ${version}. Run version ${later} or later. To go back, restore the backup that was made before: ${backup}. What happened since is lost then.`,
  );
}

/**
 * Records that the upgrade to a version of the program is finished. Throws `store.earlier-nodes` while a node of another
 * version lives, `store.too-new` for an earlier version than the recorded one, `store.unavailable`.
 */
export async function finishUpgrade(options: PostgresOptions & FinishedUpgrade): Promise<void> {
  const { version, backup } = options;
  const schema = schemaName(options);
  const pool = openPool({ ...options, poolSize: 2 }, () => {});
  let client: pg.PoolClient | undefined;
  try {
    client = await pool.connect();
    await client.query('BEGIN');
    // Before the look at the nodes: a node that starts waits here, and sees what is recorded.
    await client.query('ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS finished text');
    const found = await client.query<{ finished: string | null }>('SELECT finished FROM schema_version');
    assertNotFinished(found.rows[0]?.finished, schema, version);
    const { rows } = await client.query<{ node: string; info: string }>(
      'SELECT node, info FROM sessions WHERE seen_at + lease >= clock_timestamp() ORDER BY node',
    );
    const others = rows
      .map(({ node, info }) => ({ node, version: NODE_INFO.read(JSON.parse(info)).version ?? '' }))
      .filter((node) => node.version !== version);
    if (others.length > 0)
      throw new Fatal(
        'store.earlier-nodes',
        `Nodes of another version than ${version} run: ${others.map((one) => `${one.node} (${one.version || 'unknown'})`).join(', ')}. Replace them first, or stop them.`,
      );
    await client.query('UPDATE schema_version SET finished = $1', [JSON.stringify({ version, backup })]);
    await client.query('COMMIT');
  } catch (error) {
    await client?.query('ROLLBACK').catch(() => {});
    throw error instanceof Fatal ? error : unavailable(error);
  } finally {
    client?.release();
    await pool.end();
  }
}

/** Compares the numbers of two versions, such as 1.10.0 and 1.9.2. */
function isEarlier(version: string, than: string): boolean {
  const [left, right] = [version, than].map((text) => text.split(/[.-]/, 3).map(Number));
  for (const [at, number] of (right ?? []).entries()) {
    const own = left?.[at] ?? 0;
    if (own !== number) return own < number;
  }
  return false;
}
