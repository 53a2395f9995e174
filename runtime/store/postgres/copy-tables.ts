/** The tables of a store on PostgreSQL as the records of a copy. */
import type pg from 'pg';
import {
  type CopiedEffect,
  type CopiedTable,
  effectText,
  type RecordKey,
  type StoreRecord,
} from '../copy/copy-side.ts';
import { decodeKey, encodeKey } from './key-bytes.ts';
import type { EffectBody } from './steps-as-arrays.ts';

export interface CopyTable {
  /** Table, or a query in parentheses. */
  readonly from: string;
  readonly columns: string;
  /** Columns whose order is the order of keys. */
  readonly order: string;
  /** The long column. */
  readonly text: string;
  /** Values of the columns `order`. */
  readonly position: (key: RecordKey) => unknown[];
  readonly record: (row: pg.QueryResultRow) => StoreRecord;
  readonly insert: string;
  /** Parameters of `insert`: an array for each column. */
  readonly values: (records: readonly StoreRecord[]) => unknown[][];
}

const keyed = { order: 'key', position: (key: RecordKey) => [encodeKey(key)] };
const named = { order: 'name', position: ([name]: RecordKey) => [Buffer.from(String(name))] };

const keysOf = (records: readonly StoreRecord[]) => records.map(({ key }) => encodeKey(key));
const namesOf = (records: readonly StoreRecord[]) => records.map(({ key }) => Buffer.from(String(key[0])));
const valuesOf = (records: readonly StoreRecord[]) => records.map(({ value }) => value);
const addressOf = ([kind, id]: RecordKey) => ({ kind: String(kind), id: String(id) });

export const COPY_TABLES: { readonly [table in CopiedTable]: CopyTable } = {
  actors: {
    ...keyed,
    ...{ from: 'actors', columns: 'key, body', text: 'body' },
    record: ({ key, body }) => ({ key: decodeKey(key), value: body }),
    insert:
      'INSERT INTO actors (key, revision, body) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    values: (records) => [
      keysOf(records),
      records.map(({ value }) => (JSON.parse(value) as { readonly revision: number }).revision),
      valuesOf(records),
    ],
  },
  journal: {
    ...{ from: 'journal', columns: 'actor, id, line', order: 'actor, id', text: 'line' },
    position: ([kind, id, line]) => [encodeKey([kind ?? '', id ?? '']), line],
    record: ({ actor, id, line }) => ({ key: [...decodeKey(actor), id], value: line }),
    insert:
      'INSERT INTO journal (actor, id, line) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    values: (records) => [
      records.map(({ key }) => encodeKey(key.slice(0, 2))),
      records.map(({ key }) => key[2]),
      valuesOf(records),
    ],
  },
  rows: {
    ...keyed,
    ...{ from: 'rows', columns: 'key, value', text: 'value' },
    record: ({ key, value }) => ({ key: decodeKey(key), value }),
    insert: 'INSERT INTO rows (key, value) SELECT * FROM unnest($1::bytea[], $2::text[])',
    values: (records) => [keysOf(records), valuesOf(records)],
  },
  names: {
    ...named,
    ...{ from: 'names', columns: 'name, holder', text: 'holder' },
    record: ({ name, holder }) => ({
      key: [name.toString()],
      value: JSON.stringify(addressOf(decodeKey(holder))),
    }),
    insert: 'INSERT INTO names (name, holder) SELECT * FROM unnest($1::bytea[], $2::bytea[])',
    values: (records) => [
      namesOf(records),
      records.map(({ value }) => {
        const { kind, id } = JSON.parse(value) as { readonly kind: string; readonly id: string };
        return encodeKey([kind, id]);
      }),
    ],
  },
  counters: {
    ...named,
    from: `(SELECT name, sum(value)::bigint::text AS value FROM (
        SELECT name, value FROM counters UNION ALL SELECT name, delta FROM counter_deltas
      ) AS every GROUP BY name HAVING sum(value) <> 0) AS counted`,
    ...{ columns: 'name, value', text: 'value' },
    record: ({ name, value }) => ({ key: [name.toString()], value }),
    insert: 'INSERT INTO counters (name, value) SELECT * FROM unnest($1::bytea[], $2::bigint[])',
    values: (records) => [namesOf(records), valuesOf(records)],
  },
  effects: {
    ...keyed,
    ...{ from: 'effects', columns: 'key, queue, due, failures, last_error, body', text: 'body' },
    record: ({ key, queue, due, failures, last_error, body }) => ({
      key: decodeKey(key),
      value: effectText({
        dueAt: due,
        lane: queue?.toString(),
        failures,
        lastError: last_error === null ? null : JSON.parse(last_error),
        effect: (JSON.parse(body) as EffectBody).effect,
      }),
    }),
    insert: `INSERT INTO effects (key, queue, due, failures, last_error, body)
      SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bigint[], $4::integer[], $5::text[], $6::text[])`,
    values: (records) => {
      const effects = records.map(({ value }) => JSON.parse(value) as CopiedEffect);
      return [
        keysOf(records),
        effects.map(({ lane }) => (lane === undefined ? null : Buffer.from(lane))),
        effects.map(({ dueAt }) => dueAt),
        effects.map(({ failures }) => failures),
        effects.map(({ lastError }) => (lastError === null ? null : JSON.stringify(lastError))),
        records.map(({ key }, at) =>
          JSON.stringify({
            key: key.join('/'),
            actor: addressOf(key),
            effect: effects[at]?.effect,
          } satisfies EffectBody),
        ),
      ];
    },
  },
  timers: {
    ...keyed,
    ...{ from: 'timers', columns: 'key, body', text: 'body' },
    record: ({ key, body }) => ({
      key: decodeKey(key),
      value: JSON.stringify((JSON.parse(body) as { readonly event: unknown }).event),
    }),
    insert: 'INSERT INTO timers (key, due, body) SELECT * FROM unnest($1::bytea[], $2::bigint[], $3::text[])',
    values: (records) => [
      keysOf(records),
      records.map(({ key }) => key[0]),
      records.map(({ key, value }) =>
        JSON.stringify({ actor: addressOf(key.slice(1)), name: key[3], event: JSON.parse(value) }),
      ),
    ],
  },
};
