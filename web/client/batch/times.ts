/** Times on the pages: in the reader's zone, in UTC, or as the distance from now. This browser keeps the choice. */

import { currentTime } from '../dom.ts';

export type TimeMode = 'local' | 'utc' | 'relative';

const STORED_NAME = 'sealwright.times';
const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

const distance = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Reads the choice. @default local */
export function timeMode(): TimeMode {
  try {
    const stored = localStorage.getItem(STORED_NAME);
    return stored === 'utc' || stored === 'relative' ? stored : 'local';
  } catch {
    return 'local';
  }
}

/** Keeps the choice and shows all times of the page accordingly. */
export function setTimeMode(mode: TimeMode): void {
  try {
    localStorage.setItem(STORED_NAME, mode);
  } catch {
    // Without storage the choice holds for this page.
  }
  for (const element of document.querySelectorAll<HTMLTimeElement>('time:not([data-countdown])'))
    element.textContent = timeText(element.dateTime, mode);
}

export function timeText(timestamp: string, mode: TimeMode = timeMode()): string {
  const date = new Date(timestamp);
  if (mode === 'relative') return relativeTime(untilTime(timestamp));
  if (mode === 'utc') return `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  return date.toLocaleString();
}

/** Updates all countdowns of the page. */
export function updateCountdowns(): void {
  for (const element of document.querySelectorAll<HTMLTimeElement>('time[data-countdown]'))
    element.textContent = relativeTime(untilTime(element.dateTime));
}

/** Milliseconds from now until a moment; negative for the past. */
export function untilTime(timestamp: string): number {
  return new Date(timestamp).getTime() - currentTime();
}

/** Describes a distance from now in its largest unit. @param milliseconds negative for the past */
export function relativeTime(milliseconds: number): string {
  const [unit, length] = UNITS.find(([, size]) => Math.abs(milliseconds) >= size) ?? ['second', 1000];
  return distance.format(Math.round(milliseconds / length), unit);
}

/** The two largest units of a duration. */
export function duration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [Math.round(seconds % 60), 's'],
  ] as const;
  const from = parts.findIndex(([count]) => count > 0);
  if (from === -1) return '0 s';
  return parts
    .slice(from, from + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
