/**
 * Times of the five fields of cron: minute, hour, day of month, month, day of week, in a time zone. A time that a change of
 * clocks skips runs as much later as the clock was set forward; one that it repeats runs once, but where the hour is `*`
 * each real hour has its runs.
 */
import { Fatal } from './failures.ts';
import type { Millis } from './ports.ts';

const DAY_MS = 86_400_000;

/** Days searched: 29 February on a given day of the week may be 40 years away. */
const SEARCHED_DAYS = 41 * 366;

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

/** `end`: where `*` and a step without an end stop. Both 0 and 7 are Sunday. */
const FIELDS = [
  { name: 'minute', min: 0, max: 59, end: 59, names: [] },
  { name: 'hour', min: 0, max: 23, end: 23, names: [] },
  { name: 'day of month', min: 1, max: 31, end: 31, names: [] },
  { name: 'month', min: 1, max: 12, end: 12, names: MONTHS },
  { name: 'day of week', min: 0, max: 7, end: 6, names: WEEKDAYS },
] as const;

type Field = (typeof FIELDS)[number];

interface Times {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly isEveryHour: boolean;
  readonly hasDay: (date: Date) => boolean;
}

function refuse(text: string, why: string): never {
  throw new Fatal('schedule.malformed', `"${text}" is no schedule of cron: ${why}.`);
}

function parseField(text: string, all: string, { name, min, max, end, names }: Field): ReadonlySet<number> {
  const values = new Set<number>();
  const numberOf = (part: string): number => {
    const at = (names as readonly string[]).indexOf(part.toUpperCase());
    const value = at >= 0 ? at + min : /^\d+$/.test(part) ? Number(part) : Number.NaN;
    if (!(value >= min && value <= max)) refuse(all, `"${part}" is no ${name}`);
    return value;
  };
  for (const item of text.split(',')) {
    const [, first, last, step] =
      /^(?:\*|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item) ?? refuse(all, `"${item}" is no ${name}`);
    const from = first === undefined ? min : numberOf(first);
    const open = first === undefined || step !== undefined ? end : from;
    const to = last === undefined ? open : numberOf(last);
    if (from > to || Number(step ?? 1) < 1) refuse(all, `"${item}" has no ${name}`);
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value);
  }
  return values;
}

/** Throws `schedule.malformed`. */
function parse(text: string): Times {
  const parts = text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) refuse(text, 'it needs five fields');
  const [minutes, hours, days, months, weekdays] = FIELDS.map((field, at) =>
    parseField(parts[at] ?? '', text, field),
  ) as [
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
    ReadonlySet<number>,
  ];
  const isAny = (at: number): boolean => parts[at]?.startsWith('*') === true;
  const ascending = (set: ReadonlySet<number>) => [...set].sort((left, right) => left - right);
  return {
    minutes: ascending(minutes),
    hours: ascending(hours),
    isEveryHour: isAny(1),
    hasDay: (date) => {
      const isDay = days.has(date.getUTCDate());
      const weekday = date.getUTCDay();
      const isWeekday = weekdays.has(weekday) || (weekday === 0 && weekdays.has(7));
      // Where both are given, one of them is enough.
      const fits = isAny(2) || isAny(4) ? isDay && isWeekday : isDay || isWeekday;
      return fits && months.has(date.getUTCMonth() + 1);
    },
  };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns the time of the clocks in a zone, as if it were UTC. Throws `schedule.malformed`. */
function wallTime(zone: string, at: Millis): Millis {
  let format = formats.get(zone);
  try {
    format ??= new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new Fatal('schedule.malformed', `"${zone}" is no time zone.`);
  }
  formats.set(zone, format);
  const parts: { [type: string]: number } = {};
  for (const { type, value } of format.formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function offsetAt(zone: string, at: Millis): Millis {
  const second = Math.floor(at / 1000) * 1000;
  return wallTime(zone, second) - second;
}

/** Returns the first time of the schedule after `after`. Throws `schedule.malformed`, also when there is none. */
export function nextCron(text: string, zone: string, after: Millis): Millis {
  const { minutes, hours, isEveryHour, hasDay } = parse(text);
  const today = Math.floor(wallTime(zone, after) / DAY_MS) * DAY_MS;
  // The day before: its skipped times may run today.
  for (let day = today - DAY_MS; day < today + SEARCHED_DAYS * DAY_MS; day += DAY_MS) {
    if (!hasDay(new Date(day))) continue;
    const before = offsetAt(zone, day - DAY_MS);
    const later = offsetAt(zone, day + 2 * DAY_MS);
    let best = Number.POSITIVE_INFINITY;
    for (const hour of hours)
      for (const minute of minutes) {
        const wall = day + (hour * 60 + minute) * 60_000;
        if (before === later) {
          if (wall - before > after) return wall - before;
          continue;
        }
        const real = [...new Set([before, later])]
          .filter((offset) => offsetAt(zone, wall - offset) === offset)
          .map((offset) => wall - offset)
          .sort((left, right) => left - right);
        const times = real.length === 0 ? [wall - before] : isEveryHour ? real : real.slice(0, 1);
        for (const time of times) if (time > after) best = Math.min(best, time);
      }
    if (best < Number.POSITIVE_INFINITY) return best;
  }
  return refuse(text, 'no day has it');
}

/** Returns the last time of the schedule from `from` to `until`, both included; undefined when there is none. */
export function lastCron(text: string, zone: string, from: Millis, until: Millis): Millis | undefined {
  const isPassed = (time: Millis): boolean => nextCron(text, zone, time - 1) <= until;
  if (!isPassed(from)) return undefined;
  // The last millisecond that has a time from it to `until` is that time.
  let low = from;
  for (let high = until + 1; high - low > 1; ) {
    const middle = Math.floor((low + high) / 2);
    if (isPassed(middle)) low = middle;
    else high = middle;
  }
  return low;
}
