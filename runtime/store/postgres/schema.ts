/**
 * Tables of the PostgreSQL store and the function that commits steps.
 *
 * Keys are `bytea` as `key-bytes.ts` encodes them, so that their order is the order of the store port. Documents are
 * `text` with JSON: `jsonb` has no U+0000 and no order of members. Times are milliseconds since the epoch.
 */

/**
 * Commits steps in the order of the arrays, in one transaction: each is stored whole or refused whole. `steps` has one
 * element per step; the other arrays have the elements of all steps in order, and the arrays `…_end` hold for each step
 * the end of its elements. Raises `LS001` when the session is over: another node may own its leases.
 *
 * While other sessions exist, the transaction also writes what it stored to `changes`, as the texts of `told`. Raises
 * `LS002` when they are missing. `change` is the number of that row, null without one.
 */
function commitFunction(): string {
  return `CREATE OR REPLACE FUNCTION commit_steps(
    session bigint,
    keys bytea[], based_on bigint[], bodies text[], settles bytea[], drops boolean[],
    take_end integer[], takes bytea[],
    release_end integer[], releases bytea[],
    effect_end integer[], effect_keys bytea[], effect_queues bytea[], effect_dues bigint[], effect_failures integer[],
    effect_errors text[], effect_bodies text[],
    disarm_end integer[], disarms bytea[],
    arm_end integer[], arm_keys bytea[], arm_dues bigint[], arm_bodies text[],
    remove_end integer[], removes bytea[],
    put_end integer[], put_keys bytea[], put_values text[],
    line_end integer[], line_ids bigint[], lines text[],
    counter_end integer[], counter_names bytea[], counter_changes bigint[],
    told text[],
    OUT outcomes text[], OUT taken_names bytea[], OUT holders bytea[], OUT change bigint
  ) LANGUAGE plpgsql AS $function$
  DECLARE
    n integer := cardinality(keys);
    own bytea;
    revision_now bigint;
    is_new boolean;
    taken bytea[];
    one bytea;
    other bytea;
    counted bigint[] := '{}';
    stored text[] := '{}';
    has_others boolean;
  BEGIN
    outcomes := array_fill('ok'::text, ARRAY[n]);
    taken_names := array_fill(NULL::bytea, ARRAY[n]);
    holders := array_fill(NULL::bytea, ARRAY[n]);
    PERFORM 1 FROM sessions WHERE token = session FOR KEY SHARE;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The session of this node is over.' USING ERRCODE = 'LS001';
    END IF;
    -- A new session waits for the lock above, so that the next transaction sees it here.
    has_others := EXISTS (SELECT FROM sessions WHERE token <> session);
    IF has_others AND told IS NULL THEN
      RAISE EXCEPTION 'Another session exists.' USING ERRCODE = 'LS002';
    END IF;
    <<each_step>>
    FOR i IN 1 .. n LOOP
      own := keys[i];
      is_new := based_on[i] = 0;
      IF is_new THEN
        INSERT INTO actors (key, revision, body) VALUES (own, 1, COALESCE(bodies[i], '')) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
          outcomes[i] := 'stale';
          CONTINUE each_step;
        END IF;
      ELSE
        SELECT revision INTO revision_now FROM actors WHERE key = own FOR UPDATE;
        IF NOT FOUND OR revision_now <> based_on[i] THEN
          outcomes[i] := 'stale';
          CONTINUE each_step;
        END IF;
      END IF;
      IF settles[i] IS NOT NULL THEN
        PERFORM 1 FROM effects WHERE key = settles[i] AND (lease IS NULL OR lease = session) FOR UPDATE;
        IF NOT FOUND THEN
          outcomes[i] := 'duplicate';
          IF is_new THEN DELETE FROM actors WHERE key = own; END IF;
          CONTINUE each_step;
        END IF;
      END IF;
      IF take_end[i] > COALESCE(take_end[i - 1], 0) THEN
        taken := '{}';
        FOREACH one IN ARRAY takes[COALESCE(take_end[i - 1], 0) + 1 : take_end[i]] LOOP
          INSERT INTO names (name, holder) VALUES (one, own) ON CONFLICT DO NOTHING;
          IF FOUND THEN
            taken := taken || one;
          ELSE
            SELECT holder INTO other FROM names WHERE name = one FOR SHARE;
            IF other IS DISTINCT FROM own THEN
              IF other IS NULL THEN
                -- Given back in this moment: the transaction is tried again.
                RAISE EXCEPTION 'A name was given back meanwhile.' USING ERRCODE = '40001';
              END IF;
              outcomes[i] := 'taken';
              taken_names[i] := one;
              holders[i] := other;
              DELETE FROM names WHERE name = ANY (taken);
              IF is_new THEN DELETE FROM actors WHERE key = own; END IF;
              CONTINUE each_step;
            END IF;
          END IF;
        END LOOP;
      END IF;
      IF bodies[i] IS NULL THEN
        DELETE FROM actors WHERE key = own;
        DELETE FROM journal WHERE actor = own;
      ELSIF NOT is_new THEN
        UPDATE actors SET revision = based_on[i] + 1, body = bodies[i] WHERE key = own;
      END IF;
      IF line_end[i] > COALESCE(line_end[i - 1], 0) THEN
        INSERT INTO journal (actor, id, line)
          SELECT own, * FROM unnest(
            line_ids[COALESCE(line_end[i - 1], 0) + 1 : line_end[i]], lines[COALESCE(line_end[i - 1], 0) + 1 : line_end[i]])
          ON CONFLICT (actor, id) DO UPDATE SET line = EXCLUDED.line;
      END IF;
      IF settles[i] IS NOT NULL THEN
        DELETE FROM effects WHERE key = settles[i];
      END IF;
      IF drops[i] THEN
        -- Keys of effects begin with the key of their actor and go on with a number.
        DELETE FROM effects WHERE key > own || '\\x01'::bytea AND key < own || '\\x02'::bytea;
      END IF;
      IF effect_end[i] > COALESCE(effect_end[i - 1], 0) THEN
        INSERT INTO effects (key, queue, due, failures, last_error, body, owner)
          SELECT *, session FROM unnest(
            effect_keys[COALESCE(effect_end[i - 1], 0) + 1 : effect_end[i]],
            effect_queues[COALESCE(effect_end[i - 1], 0) + 1 : effect_end[i]],
            effect_dues[COALESCE(effect_end[i - 1], 0) + 1 : effect_end[i]],
            effect_failures[COALESCE(effect_end[i - 1], 0) + 1 : effect_end[i]],
            effect_errors[COALESCE(effect_end[i - 1], 0) + 1 : effect_end[i]],
            effect_bodies[COALESCE(effect_end[i - 1], 0) + 1 : effect_end[i]]);
      END IF;
      IF disarm_end[i] > COALESCE(disarm_end[i - 1], 0) THEN
        DELETE FROM timers WHERE key = ANY (disarms[COALESCE(disarm_end[i - 1], 0) + 1 : disarm_end[i]]);
      END IF;
      IF arm_end[i] > COALESCE(arm_end[i - 1], 0) THEN
        INSERT INTO timers (key, due, body, owner)
          SELECT *, session FROM unnest(
            arm_keys[COALESCE(arm_end[i - 1], 0) + 1 : arm_end[i]],
            arm_dues[COALESCE(arm_end[i - 1], 0) + 1 : arm_end[i]],
            arm_bodies[COALESCE(arm_end[i - 1], 0) + 1 : arm_end[i]])
          ON CONFLICT (key) DO UPDATE SET body = EXCLUDED.body, owner = EXCLUDED.owner;
      END IF;
      IF remove_end[i] > COALESCE(remove_end[i - 1], 0) THEN
        DELETE FROM rows WHERE key = ANY (removes[COALESCE(remove_end[i - 1], 0) + 1 : remove_end[i]]);
      END IF;
      IF put_end[i] > COALESCE(put_end[i - 1], 0) THEN
        INSERT INTO rows (key, value)
          SELECT * FROM unnest(
            put_keys[COALESCE(put_end[i - 1], 0) + 1 : put_end[i]],
            put_values[COALESCE(put_end[i - 1], 0) + 1 : put_end[i]])
          ON CONFLICT (key) DO UPDATE SET value = EXCLUDED.value;
      END IF;
      IF release_end[i] > COALESCE(release_end[i - 1], 0) THEN
        DELETE FROM names
          WHERE name = ANY (releases[COALESCE(release_end[i - 1], 0) + 1 : release_end[i]]) AND holder = own
            AND name <> ALL (takes[COALESCE(take_end[i - 1], 0) + 1 : take_end[i]]);
      END IF;
      FOR c IN COALESCE(counter_end[i - 1], 0) + 1 .. counter_end[i] LOOP
        counted := counted || c::bigint;
      END LOOP;
      IF has_others THEN stored := stored || told[i]; END IF;
    END LOOP;
    IF cardinality(counted) > 0 THEN
      INSERT INTO counter_deltas (name, delta)
        SELECT counter_names[c], sum(counter_changes[c]) FROM unnest(counted) AS c
        GROUP BY counter_names[c] HAVING sum(counter_changes[c]) <> 0;
    END IF;
    -- Last: a transaction that waited for another one has the higher number.
    IF cardinality(stored) > 0 THEN
      INSERT INTO changes (session, steps) VALUES (session, stored) RETURNING seq INTO change;
    END IF;
  END
  $function$`;
}

/**
 * Ends sessions, and gives their effects, timers and leases to `taker`: those without a sign of life for their lease
 * if `silent`, those that said that they end, and the one of `own_node` when its lease is over. A `taker` of 0 only
 * ends sessions. Effects and timers that nodes left when no other ran are taken over too. Returns the number of
 * sessions ended and of effects taken over.
 *
 * The deletion waits for commits in progress of a session; their effects are visible to the statements after it.
 */
function takeOverFunction(): string {
  return `CREATE OR REPLACE FUNCTION take_over(taker bigint, silent boolean, own_node text, OUT sessions_over integer, OUT effects_taken integer)
  LANGUAGE plpgsql AS $function$
  DECLARE
    dead bigint[];
    past bigint;
    taken integer;
  BEGIN
    WITH over AS (
      DELETE FROM sessions
        WHERE token <> taker AND seen_at + lease < clock_timestamp()
          AND (silent OR node = own_node OR seen_at = '-infinity')
        RETURNING token
    ) SELECT COALESCE(array_agg(token), '{}') INTO dead FROM over;
    sessions_over := cardinality(dead);
    effects_taken := 0;
    DELETE FROM leases WHERE NOT EXISTS (SELECT FROM sessions WHERE token = leases.session);
    IF NOT EXISTS (SELECT FROM sessions WHERE token = taker) THEN
      RETURN;
    END IF;
    UPDATE effects SET owner = taker, lease = NULL, is_taken_over = true
      WHERE lease IS NOT NULL AND NOT EXISTS (SELECT FROM sessions WHERE token = effects.lease);
    GET DIAGNOSTICS effects_taken = ROW_COUNT;
${['queue IS NULL AND lease IS NULL', 'queue IS NOT NULL AND lease IS NULL'].map((which) => takeOwned('effects', which, ', is_taken_over = true')).join('')}${takeOwned('timers', 'true', '')}  END
  $function$`;
}

/**
 * Statements that give the rows of owners without a session to the taker. Each heartbeat runs them: they find the owners
 * with one index probe each, and read no row of an owner that lives.
 */
function takeOwned(table: string, which: string, more: string): string {
  return `    FOR past IN
      WITH RECURSIVE owners AS (
        (SELECT owner FROM ${table} WHERE ${which} ORDER BY owner LIMIT 1)
        UNION ALL
        SELECT (SELECT owner FROM ${table} WHERE ${which} AND owner > owners.owner ORDER BY owner LIMIT 1)
          FROM owners WHERE owners.owner IS NOT NULL
      ) SELECT owner FROM owners
        WHERE owner IS NOT NULL AND NOT EXISTS (SELECT FROM sessions WHERE token = owners.owner)
    LOOP
      UPDATE ${table} SET owner = taker${more} WHERE ${which} AND owner = past;
${table === 'effects' ? '      GET DIAGNOSTICS taken = ROW_COUNT;\n      effects_taken := effects_taken + taken;\n' : ''}    END LOOP;
`;
}

/** The first version that has packed actors. */
export const PACKED_SINCE = 4;

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
  // Ended actors are packed once no node of an earlier version runs: those name no value for `reads_packed`.
  // Locks sessions first, as each commit of a node that runs does; a start that would wait long fails.
  4: [
    "SET LOCAL lock_timeout = '2s'",
    'ALTER TABLE sessions ADD COLUMN reads_packed boolean NOT NULL DEFAULT false',
    'ALTER TABLE sessions ALTER COLUMN reads_packed DROP DEFAULT',
    'ALTER TABLE actors ADD COLUMN packed bytea, SET (fillfactor = 85)',
    'ALTER TABLE rows SET (fillfactor = 97)',
    `CREATE TABLE packed_until (
      node text PRIMARY KEY,
      until text NOT NULL
    )`,
  ],
  // Leaves of the history are stored in blocks once no node of an earlier version runs.
  5: [
    "SET LOCAL lock_timeout = '2s'",
    'ALTER TABLE sessions ADD COLUMN reads_blocks boolean NOT NULL DEFAULT false',
    'ALTER TABLE sessions ALTER COLUMN reads_blocks DROP DEFAULT',
  ],
  // The first effect of a queue, leased or not, of whatever node: messages of a pair wait for it.
  6: [
    "SET LOCAL lock_timeout = '2s'",
    'CREATE INDEX effects_order ON effects (queue, key) WHERE queue IS NOT NULL',
  ],
  // A step may replace lines of the journal, whose texts are erased.
  7: [commitFunction()],
};
