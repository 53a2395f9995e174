/**
 * Ended actors on PostgreSQL: the column `packed` has the record and the journal as one value, `revision` is negative, so
 * that a step of the actor counts as outdated until it is unpacked, and `body` tells how many lines it has.
 *
 * Nodes of earlier versions cannot read that: nothing is packed while one of them runs, and none can begin a session since
 * version 4 of the schema. The same holds for blocks of rows (`row-blocks.ts`) and version 5.
 *
 * Source: docs/decisions/0295-ended-actors-are-packed.md.
 */
import type pg from 'pg';
import { Fatal } from '../../model/failures.ts';
import type { ActorAddress, ActorStore, JournalLine, Revision, StoredActor } from '../../model/ports.ts';
import { packed as pack, unpacked } from '../packed/packed-text.ts';
import { unavailable } from './connection/connection.ts';
import { decodeKey } from './key-bytes.ts';
import type { WatchedStatements } from './statement-watch.ts';
import { actorKey } from './steps-as-arrays.ts';

/** Columns of an actor that `actorOf` reads. */
export interface ActorRow {
  readonly key: Buffer;
  readonly body: string;
  readonly packed: Buffer | null;
}

/** Throws `store.damaged`. */
export function actorOf(row: ActorRow): StoredActor {
  return parsed(actorText(row));
}

/** Text of an actor, packed or not; empty where it cannot be read. */
export function actorText({ key, body, packed }: ActorRow): string {
  return packed === null ? body : unpacked(addressOf(key), packed).actor;
}

/** Lines of a packed actor with their numbers. Throws `store.damaged`. */
export function packedLines(
  key: Buffer,
  packed: Buffer,
): readonly { readonly line: JournalLine; readonly text: string }[] {
  const { actor, lines } = unpacked(addressOf(key), packed);
  parsed(actor);
  return lines.map((text) => ({ line: parsed<JournalLine>(text), text }));
}

export function addressOf(key: Buffer): ActorAddress {
  const [kind, id] = decodeKey(key);
  return { kind: String(kind), id: String(id) };
}

/** Throws `store.damaged`. */
export function parsed<Value>(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    throw new Fatal(
      'store.damaged',
      `The store holds a value that is no JSON (${String(error)}): it was changed from outside. Restore the last backup (docs/operations.md).`,
    );
  }
}

const LEASE = 'history-packing';

const WHAT_ALL_READ =
  'SELECT bool_and(reads_packed) AS packed, bool_and(reads_blocks) AS blocks FROM sessions';

const TO_PACK = `SELECT at::integer AS at, body, ARRAY(SELECT line FROM journal WHERE actor = own ORDER BY id) AS lines
  FROM unnest($1::bytea[], $2::bigint[]) WITH ORDINALITY AS asked (own, was, at) JOIN actors ON key = own AND revision = was`;

/** Waits for no step: one in progress changes the actor. */
const PACK = `WITH asked AS (SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::bytea[], $4::text[]) AS a (own, was, value, note)),
    free AS (SELECT asked.* FROM actors JOIN asked ON key = own AND revision = was FOR UPDATE OF actors SKIP LOCKED),
    made AS (UPDATE actors SET revision = -was, body = note, packed = value FROM free WHERE key = own RETURNING key),
    gone AS (DELETE FROM journal USING made WHERE actor = made.key)
  INSERT INTO packed_until (node, until) VALUES ($5, $6) ON CONFLICT (node) DO UPDATE SET until = EXCLUDED.until`;

const UNPACK = `WITH whole AS (
      UPDATE actors SET revision = $2, body = $3, packed = NULL WHERE key = $1 AND revision = -$2::bigint RETURNING key
    ),
    written AS (
      INSERT INTO journal (actor, id, line)
        SELECT key, id, line FROM whole, unnest($4::bigint[], $5::text[]) AS l (id, line) RETURNING 1
    )
  SELECT count(*) FROM written`;

export class PostgresPacking implements NonNullable<ActorStore['packing']> {
  constructor(
    private readonly statements: WatchedStatements,
    private readonly leases: {
      acquire(name: string): Promise<boolean>;
      release(name: string): Promise<void>;
    },
    private readonly allReadBlocks: () => void,
  ) {}

  async begin(): Promise<boolean> {
    const [row] = await this.#run<{ packed: boolean | null; blocks: boolean | null }>(WHAT_ALL_READ, []);
    if (row?.blocks === true) this.allReadBlocks();
    return row?.packed === true && (await this.leases.acquire(LEASE));
  }

  end(): Promise<void> {
    return this.leases.release(LEASE);
  }

  async doneUntil(node: string) {
    const [row] = await this.#run<{ until: string }>('SELECT until FROM packed_until WHERE node = $1', [
      node,
    ]);
    return row && parsed<readonly (string | number)[]>(row.until);
  }

  async pack(
    ...[actors, node, until]: Parameters<NonNullable<ActorStore['packing']>['pack']>
  ): Promise<void> {
    const rows = await this.#run<{ at: number; body: string; lines: string[] }>(TO_PACK, [
      actors.map(actorKey),
      actors.map(({ revision }) => revision),
    ]);
    const made = rows.flatMap(({ at, body, lines }) => {
      const actor = actors[at - 1];
      const value = actor && pack(actor, body, lines, actor.states);
      return value ? [{ actor, value, note: `${lines.length} lines` }] : [];
    });
    await this.#run(PACK, [
      made.map(({ actor }) => actorKey(actor)),
      made.map(({ actor }) => actor.revision),
      made.map(({ value }) => value),
      made.map(({ note }) => note),
      node,
      JSON.stringify(until),
    ]);
  }

  /** Makes an actor whole that is packed as of a revision, for its next step. False if it is not, or is damaged. */
  async unpack(address: ActorAddress, revision: Revision): Promise<boolean> {
    const key = actorKey(address);
    const [row] = await this.#run<ActorRow>(
      'SELECT key, body, packed FROM actors WHERE key = $1 AND revision = -$2::bigint',
      [key, revision],
    );
    if (!row?.packed) return false;
    let lines: ReturnType<typeof packedLines>;
    try {
      lines = packedLines(key, row.packed);
    } catch {
      return false;
    }
    await this.#run(UNPACK, [
      key,
      revision,
      actorText(row),
      lines.map(({ line }) => line.id),
      lines.map(({ text }) => text),
    ]);
    return true;
  }

  /** Each may be run twice. */
  async #run<Found extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<readonly Found[]> {
    try {
      return (await this.statements.repeatable<Found>({ text, values })).rows;
    } catch (error) {
      throw unavailable(error);
    }
  }
}
