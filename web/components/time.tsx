/** Times: as the distance from now, in the reader's zone, or in UTC; the exact time with its zone is the tooltip. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type TimeMode = 'relative' | 'local' | 'utc';

/** Now, milliseconds since 1970 by the service's clock. The script of a page gives it, each second. */
export const Clock = createContext(0);
/** The reader's choice; apart from the clock, so that charts are not drawn each second. */
export const Mode = createContext<TimeMode>('utc');

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

const distance = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** The same form for each reader: day, name of the month, year. Operator pages are in English. */
const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** @param at null: never; @param countdown a moment to come, which is always shown as a distance */
export function Time({
  at,
  countdown = false,
}: {
  readonly at: string | null;
  readonly countdown?: boolean;
}) {
  const now = useContext(Clock);
  const mode = useContext(Mode);
  if (at === null) return <>never</>;
  const moment = Date.parse(at);
  const isRelative = countdown || mode === 'relative';
  return (
    <time
      dateTime={at}
      title={`${exact.format(moment)} (${at})`}
      {...(countdown && { 'data-countdown': '' })}
    >
      {isRelative ? relativeTime(moment - now) : mode === 'utc' ? utcTime(moment) : local.format(moment)}
    </time>
  );
}

/** A moment with its zone. */
export function exactTime(moment: number, mode: TimeMode): string {
  return mode === 'utc' ? utcTime(moment) : exact.format(moment);
}

function utcTime(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Describes a distance from now in its largest unit. @param milliseconds negative for the past */
export function relativeTime(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => Math.abs(milliseconds) >= size) ?? ['second', 1000];
  return distance.format(Math.round(milliseconds / length), unit);
}

/** The two largest units of a duration. */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [
    [Math.floor(whole / 86_400), 'd'],
    [Math.floor(whole / 3600) % 24, 'h'],
    [Math.floor(whole / 60) % 60, 'min'],
    [whole % 60, 's'],
  ] as const;
  const from = parts.findIndex(([count]) => count > 0);
  if (from === -1) return '0 s';
  return parts
    .slice(from, from + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** A short duration with milliseconds. */
export function shortDuration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  return milliseconds < 10_000 ? `${(milliseconds / 1000).toFixed(1)} s` : duration(milliseconds / 1000);
}
