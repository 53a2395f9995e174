/**
 * Parses timestamps in the forms that clients send.
 *
 * Source: docs/portal-values.md §1 row 9; ISO 8601.
 */

/** Since the epoch. */
type Millis = number;

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}:?\d{2})?)?$/i;

interface ParsedTime {
  /** Midnight UTC of the day as written. */
  readonly day: Millis;
  /** Milliseconds since midnight, as written; undefined for a bare day. */
  readonly time: Millis | undefined;
  /** Offset of the zone, minutes; 0 when absent. */
  readonly offset: number;
}

/** A date-time with its zone or, in UTC, without one; or the midnight of a bare day. Undefined for other text. */
export function parseMoment(text: string): Millis | undefined {
  const written = read(text);
  return written && written.day + (written.time ?? 0) - written.offset * 60_000;
}

/** The last millisecond of the day as written, in the zone as written; UTC without one. */
export function parseEndOfDay(text: string): Millis | undefined {
  const written = read(text);
  return written && written.day + DAY_MS - 1 - written.offset * 60_000;
}

/** A timestamp, or for a bare day its last millisecond. */
export function parseEnd(text: string): Millis | undefined {
  const written = read(text);
  if (written === undefined || written.time !== undefined) return parseMoment(text);
  return written.day + DAY_MS - 1;
}

function read(text: string): ParsedTime | undefined {
  const match = MOMENT.exec(text.trim());
  if (match === null) return undefined;
  const [, year, month, date, hour, minute, second = '0', fraction = '0', zone = 'Z'] = match;
  const day = Date.UTC(Number(year), Number(month) - 1, Number(date));
  // A day beyond the end of its month would become one of the next.
  if (new Date(day).toISOString().slice(0, 10) !== `${year}-${month}-${date}`) return undefined;
  if (hour === undefined) return { day, time: undefined, offset: 0 };
  const hours = Number(hour);
  const minutes = Number(minute);
  const seconds = Number(second);
  if (hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const thousandths = Math.floor(Number(`0.${fraction}`) * 1000 + 1e-6);
  const offset = zoneMinutes(zone);
  if (offset === undefined) return undefined;
  return { day, time: ((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths, offset };
}

function zoneMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(-2));
  if (hours > 14 || minutes > 59) return undefined;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** UTC with milliseconds and `Z`. */
export function isoTime(at: Millis): string {
  return new Date(at).toISOString();
}

/** West of it, a difference from UTC is more likely one to the east: +13:59, not -10:01. */
const WESTERNMOST = 600;

/**
 * The day that ends at `end`, as its midnight in UTC, and the zone in which it does: requests may name the zone of the
 * last day, and an instant alone would be shown as the day after. UTC for other instants.
 */
export function dayEndingAt(end: Millis): { readonly day: Millis; readonly zone: string } {
  const minutes = ((end + 1) % DAY_MS) / 60_000;
  if (!Number.isInteger(minutes) || minutes === 0) return { day: end - (end % DAY_MS), zone: 'UTC' };
  const offset = minutes <= WESTERNMOST ? -minutes : DAY_MS / 60_000 - minutes;
  const hours = Math.trunc(Math.abs(offset) / 60);
  const rest = Math.abs(offset) % 60;
  const zone = `UTC${offset < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
  return { day: end + 1 + offset * 60_000 - DAY_MS, zone };
}

/** `yyyy-MM-dd` of the day that ends then. */
export function isoDayEndingAt(end: Millis | null): string | null {
  return end === null ? null : isoTime(dayEndingAt(end).day).slice(0, 10);
}
