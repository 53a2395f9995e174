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

/** Language of the page. With en-GB the form is the same for each reader: day, name of the month, year. */
export const Locale = createContext('en-GB');

const formats = new Map<string, ReturnType<typeof formatsOf>>();

function formatsOf(locale: string) {
  return {
    distance: new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }),
    local: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' }),
    exact: new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'long' }),
    day: new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }),
    clock: new Intl.DateTimeFormat(locale, {
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      fractionalSecondDigits: 3,
    }),
  };
}

function formatsIn(locale: string): ReturnType<typeof formatsOf> {
  const known = formats.get(locale) ?? formatsOf(locale);
  formats.set(locale, known);
  return known;
}

/** @param at null: never; @param countdown a moment to come, which is always shown as a distance */
export function Time({ at, countdown = false }: { at: string | null; countdown?: boolean }) {
  const now = useContext(Clock);
  const mode = useContext(Mode);
  const locale = useContext(Locale);
  const { exact, local } = formatsIn(locale);
  if (at === null) return <>never</>;
  const moment = Date.parse(at);
  const isRelative = countdown || mode === 'relative';
  return (
    <time
      dateTime={at}
      title={`${exact.format(moment)} (${at})`}
      {...(countdown && { 'data-countdown': '' })}
    >
      {isRelative
        ? relativeTime(moment - now, locale)
        : mode === 'utc'
          ? utcTime(moment)
          : local.format(moment)}
    </time>
  );
}

/** The time of day with milliseconds, for steps that follow each other; the tooltip is as that of `Time`. */
export function TimeOfDay({ at }: { at: string }) {
  const mode = useContext(Mode);
  const { exact, clock } = formatsIn(useContext(Locale));
  const moment = Date.parse(at);
  return (
    <span class="clock" title={`${exact.format(moment)} (${at})`}>
      {mode === 'utc' ? new Date(moment).toISOString().slice(11, 23) : clock.format(moment)}
    </span>
  );
}

/** A moment with its zone. */
export function exactTime(moment: number, mode: TimeMode): string {
  return mode === 'utc' ? utcTime(moment) : formatsIn('en-GB').exact.format(moment);
}

/** The day of a moment in the reader's zone, with the exact time as the tooltip. */
export function Day({ at }: { at: string }) {
  const { day, exact } = formatsIn(useContext(Locale));
  const moment = Date.parse(at);
  return (
    <time dateTime={at} title={exact.format(moment)}>
      {day.format(moment)}
    </time>
  );
}

function utcTime(moment: number): string {
  return `${new Date(moment).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Describes a distance from now in its largest unit. @param milliseconds negative for the past */
export function relativeTime(milliseconds: number, locale = 'en-GB'): string {
  const [unit, length] = UNITS.find(([, size]) => Math.abs(milliseconds) >= size) ?? ['second', 1000];
  return formatsIn(locale).distance.format(Math.round(milliseconds / length), unit);
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
