/**
 * The documents of the instance by their creation: which there are between two moments, and how many.
 *
 * Whole days are counted by what the store counts (`documents-made/<day>/<kind>`), the rest of a day by its rows, so
 * that a total costs as much as one day has documents and not as many as there are.
 *
 * Source: portal-gaps §18.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Millis } from '../../machines/ids.ts';
import type { ReportRange } from '../../machines/report.ts';
import type { ActorStore, Row } from '../../runtime/index.ts';
import { firstOrderAt } from '../job-order.ts';
import { type CreatedFacts, dayOf } from './document-index.ts';

/** Rows read at once: a few milliseconds of this thread's time. */
const PIECE = 256;
const DAY = 24 * 3_600_000;

/**
 * How much later than its order a document may count as made: a clock set back while it was being made. Rows are
 * ordered by a number that otherwise never lies before its moment.
 */
const SLACK = 3_600_000;

export interface Totals {
  readonly totalDocuments: number;
  readonly totalEnvelopes: number;
}

/** Pieces of the documents created in a range, oldest first; `expected` ends it when so many were found. */
export async function* createdBetween(
  store: Pick<ActorStore, 'rows'>,
  { from, to }: ReportRange,
  expected: number,
): AsyncGenerator<readonly CreatedFacts[]> {
  let after: Row['key'] | undefined = from === null ? undefined : [firstOrderAt(from - SLACK) - 1];
  let found = 0;
  while (found < expected) {
    const rows = await store.rows({ view: 'documents-created', limit: PIECE, ...(after && { after }) });
    const piece = rows
      .map(({ value }) => value as unknown as CreatedFacts)
      .filter(({ creationDate }) => isIn(creationDate, { from, to }));
    found += piece.length;
    if (piece.length > 0) yield piece;
    after = rows.at(-1)?.key;
    if (rows.length < PIECE) return;
    await nextTurn();
  }
}

/** How many documents and envelopes were created in a range; deleted ones count. */
export async function countCreated(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  range: ReportRange,
): Promise<Totals> {
  const days = byDay(await store.counters('documents-made/'));
  let totalDocuments = 0;
  let totalEnvelopes = 0;
  for (const [day, made] of days) {
    const first = Date.parse(`${day}T00:00:00.000Z`);
    const last = first + DAY - 1;
    if (!isAfter(range, last) && !isBefore(range, first)) {
      const part =
        isIn(first, range) && isIn(last, range) ? made : await countPart(store, first, made, range);
      totalDocuments += part.totalDocuments;
      totalEnvelopes += part.totalEnvelopes;
    }
  }
  return { totalDocuments, totalEnvelopes };
}

/** Of one day: looks at its documents until all of them were seen. */
async function countPart(
  store: Pick<ActorStore, 'rows'>,
  first: Millis,
  made: Totals,
  range: ReportRange,
): Promise<Totals> {
  const whole = { from: first, to: first + DAY - 1 };
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

function byDay(counters: { readonly [name: string]: number }): ReadonlyMap<string, Totals> {
  const days = new Map<string, Totals>();
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

/** True when all of the range lies after the moment. */
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
