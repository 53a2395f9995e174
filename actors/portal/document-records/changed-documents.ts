/** Reads the documents that have changed since a table of them was kept. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, KeyRange, Row } from '@sealwright/runtime';
import type { Millis, OrganizationId } from '../../../machines/ids.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import {
  BEFORE_ALL,
  KeyBlocks,
  type NumberRange,
  numbersBehind,
} from '../../shared/tables/table-snapshots.ts';
import { type DocumentRow, documentRowOf, EXPIRING_VIEW } from './document-index.ts';

export interface ChangedDocument {
  readonly row: DocumentRow;
  /** Last moment of a pending document; null: any. */
  readonly expiry: Millis | null;
}

/** The table as it was kept. */
interface DocumentSnapshot {
  /** Order numbers within bounds. */
  readonly orders: (bounds: {
    readonly from?: number;
    readonly below?: number;
  }) => Promise<readonly number[]>;
  readonly expiringOrders: () => Promise<readonly number[]>;
  readonly expiryOf: (order: number) => Millis;
}

type Changes = AsyncIterable<readonly (readonly [order: number, document: ChangedDocument | undefined])[]>;

const VIEW = 'documents';
/** Rows of a read: less than a millisecond. */
const ROWS_PER_READ = 64;
/** Documents looked at between two turns of the event loop. */
const LOOKED_AT = 128;

/** Undefined where it is not known what has changed. @param mark name of the moment */
export async function changedDocuments(
  store: Pick<ActorStore, 'rows' | 'marks'>,
  organization: OrganizationId,
  mark: string,
  kept: DocumentSnapshot,
): Promise<Changes | undefined> {
  const prefix = [organization];
  const documents = await store.marks?.changed(mark, { view: VIEW, prefix }, async () => {
    const parts = new KeyBlocks();
    for (const order of await kept.orders({})) parts.add(() => [organization, order]);
    return parts;
  });
  const expiring = await store.marks?.changed(mark, { view: EXPIRING_VIEW, prefix }, async () => {
    const times = Float64Array.from(await kept.expiringOrders(), kept.expiryOf).sort();
    const parts = new KeyBlocks();
    for (const [at, time] of times.entries()) parts.add(() => [organization, time], time === times[at - 1]);
    return parts;
  });
  if (documents === undefined || expiring === undefined) return undefined;
  const ranges = documents.map((range) => numbersBehind([organization], range));
  return readChanges(store, { organization, ranges, expiring, kept });
}

async function* readChanges(
  store: Pick<ActorStore, 'rows'>,
  {
    organization,
    ranges,
    expiring,
    kept,
  }: {
    readonly organization: OrganizationId;
    readonly ranges: readonly NumberRange[];
    readonly expiring: readonly KeyRange[];
    readonly kept: DocumentSnapshot;
  },
): Changes {
  const prefix = [organization];
  const times = expiring
    .map((range) => numbersBehind([organization], range))
    // Those of other organizations lie before or behind all.
    .filter(({ from, below }) => from < Infinity && below > BEFORE_ALL);
  const known = new Map<number, Millis>();
  for (const { from, below } of times) {
    // A range of times ends within a millisecond, of which it has a part.
    const range = { from, below: below + 1, most: ROWS_PER_READ };
    for await (const rows of rowPieces(store, { view: EXPIRING_VIEW, prefix }, range)) {
      for (const { key } of rows) known.set(key[2] as number, key[1] as Millis);
      yield [];
    }
    // A range that one read answers takes no turn of its own.
    await nextTurn();
  }
  const isChanged = (expiry: Millis) => isWithin(times, expiry, 1);
  const isSame = (order: number) => {
    const expiry = kept.expiryOf(order);
    const now = known.get(order);
    return now === undefined ? !isChanged(expiry) : now === expiry;
  };
  const record = ({ key, value }: Row): readonly [number, ChangedDocument] => {
    const order = key[1] as number;
    const row = documentRowOf(value);
    const before = kept.expiryOf(order);
    const expiry = known.get(order) ?? (before < Infinity && !isChanged(before) ? before : null);
    return [order, { row, expiry: row.status === 'Pending' ? expiry : null }];
  };
  const single: number[] = [];
  const look = (order: number) => {
    if (!isWithin(ranges, order, 0) && !isSame(order)) single.push(order);
  };
  if (times.length > 0) {
    let looked = 0;
    for (const order of new Set([...known.keys(), ...(await kept.expiringOrders())])) {
      look(order);
      looked += 1;
      if (looked % LOOKED_AT > 0) continue;
      yield [];
      await nextTurn();
    }
  }
  for (const order of single) {
    const [row] = await store.rows({ view: VIEW, prefix: [organization, order], limit: 1 });
    yield [row === undefined ? ([order, undefined] as const) : record(row)];
  }
  for (const range of ranges) {
    if (range.from >= range.below) continue;
    const missing = new Set(await kept.orders(range));
    for await (const rows of rowPieces(store, { view: VIEW, prefix }, { ...range, most: ROWS_PER_READ })) {
      for (const { key } of rows) missing.delete(key[1] as number);
      yield rows.map(record);
    }
    yield [...missing].map((order) => [order, undefined] as const);
    await nextTurn();
  }
}

/** @param ranges ascending */
function isWithin(ranges: readonly NumberRange[], number: number, more: number): boolean {
  let low = 0;
  let high = ranges.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ranges[middle]?.below ?? 0) + more <= number) low = middle + 1;
    else high = middle;
  }
  const range = ranges[low];
  return range !== undefined && number >= range.from;
}
