/**
 * The documents of the instance by their creation: which there are between two moments, and how many.
 *
 * Whole days are counted by what the store counts (`documents-made/<day>/<kind>`), the rest of a day by its rows, so
 * that a total costs as much as one day has documents and not as many as there are.
 *
 * Source: docs/portal-values.md §18.
 */
import type { ActorStore } from '@sealwright/runtime';
import type { CreationTotals } from '../../../contracts/portal/reports.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { ReportRange } from '../../../machines/portal/report.ts';
import { firstOrderNumberAt } from '../../shared/ids/order-numbers.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import { CREATED_DOCUMENT_ROW, type CreatedDocumentRow, dayOf } from '../document-records/document-index.ts';

/** Rows read at once: a few milliseconds of this thread's time. */
const PAGE_SIZE = 256;

/**
 * Maximum difference between the creation time of a document and its order number, milliseconds; the clock may be set back
 * during the creation. Otherwise the order number is never earlier than the creation time.
 */
const SLACK_MS = 3_600_000;

/** Pieces of the documents created in a range, oldest first; `expected` ends it when so many were found. */
export async function* createdBetween(
  store: Pick<ActorStore, 'rows'>,
  { from, to }: ReportRange,
  expected: number,
): AsyncGenerator<readonly CreatedDocumentRow[]> {
  const first = from === null ? {} : { from: firstOrderNumberAt(from - SLACK_MS) };
  let found = 0;
  if (expected === 0) return;
  for await (const rows of rowPieces(store, { view: 'documents-created' }, { ...first, most: PAGE_SIZE })) {
    const piece = rows
      .map(({ value }) => CREATED_DOCUMENT_ROW.read(value))
      .filter(({ creationDate }) => isIn(creationDate, { from, to }));
    found += piece.length;
    if (piece.length > 0) yield piece;
    if (found >= expected) return;
  }
}

/** Number of documents and envelopes were created in a range; deleted ones count. */
export async function countCreated(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  range: ReportRange,
): Promise<CreationTotals> {
  const days = byDay(await store.counters('documents-made/'));
  let totalDocuments = 0;
  let totalEnvelopes = 0;
  for (const [day, made] of days) {
    const first = Date.parse(`${day}T00:00:00.000Z`);
    const last = first + DAY_MS - 1;
    if (!isAfter(range, last) && !isBefore(range, first)) {
      const part =
        isIn(first, range) && isIn(last, range) ? made : await countRange(store, first, made, range);
      totalDocuments += part.totalDocuments;
      totalEnvelopes += part.totalEnvelopes;
    }
  }
  return { totalDocuments, totalEnvelopes };
}

/** Yields the rows of one day until all of its documents are read. */
async function countRange(
  store: Pick<ActorStore, 'rows'>,
  first: Millis,
  made: CreationTotals,
  range: ReportRange,
): Promise<CreationTotals> {
  const whole = { from: first, to: first + DAY_MS - 1 };
  let totalDocuments = 0;
  let totalEnvelopes = 0;
  for await (const piece of createdBetween(store, whole, made.totalDocuments + made.totalEnvelopes)) {
    for (const { creationDate, isEnvelope } of piece) {
      if (!isIn(creationDate, range)) continue;
      if (isEnvelope) totalEnvelopes += 1;
      else totalDocuments += 1;
    }
  }
  return { totalDocuments, totalEnvelopes };
}

function byDay(counters: { readonly [name: string]: number }): ReadonlyMap<string, CreationTotals> {
  const days = new Map<string, CreationTotals>();
  for (const [name, count] of Object.entries(counters)) {
    const [, day = '', kind] = name.split('/');
    const { totalDocuments, totalEnvelopes } = days.get(day) ?? { totalDocuments: 0, totalEnvelopes: 0 };
    days.set(
      day,
      kind === 'envelope'
        ? { totalDocuments, totalEnvelopes: totalEnvelopes + count }
        : { totalDocuments: totalDocuments + count, totalEnvelopes },
    );
  }
  return days;
}

/** True when the whole range is after the time. */
function isAfter({ from }: ReportRange, at: Millis): boolean {
  return from !== null && from > at;
}

function isBefore({ to }: ReportRange, at: Millis): boolean {
  return to !== null && to < at;
}

function isIn(at: Millis, range: ReportRange): boolean {
  return !isAfter(range, at) && !isBefore(range, at);
}

/** The days of a range for a file's name, such as `2026-05-01_2026-05-31`; empty for all of time. */
export function rangeText({ from, to }: ReportRange): string {
  if (from === null && to === null) return '';
  return `${from === null ? 'begin' : dayOf(from)}_${to === null ? 'today' : dayOf(to)}`;
}
