/** Presentation of API values on the pages. */
import type { Job } from '../../../clients/typescript/batch.d.ts';
import { createElement } from '../dom.ts';
import { findReplacement } from './focus.ts';
import { relativeTime, timeText, untilTime } from './times.ts';

/** A page of a list of the API. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
}

const KINDS: { readonly [status: string]: string } = {
  Completed: 'good',
  Running: 'good',
  Healthy: 'good',
  Sent: 'good',
  Delivered: 'good',
  Concluded: 'good',
  Valid: 'good',
  'Expires soon': 'wait',
  Expired: 'bad',
  'Given up': 'bad',
  Pending: 'wait',
  Failed: 'bad',
  Stopped: 'bad',
  Missing: 'bad',
  Unhealthy: 'bad',
  Degraded: 'wait',
  Processing: 'busy',
  Verifying: 'busy',
  AwaitingSigner: 'wait',
  Paused: 'wait',
  Held: 'bad',
  Waiting: 'wait',
  Initializing: 'wait',
};

export function chip(status: string): HTMLElement {
  return createElement('span', { class: `chip ${KINDS[status] ?? ''}` }, status);
}

/** A timestamp as the reader chose (`times.ts`); the tooltip has the exact value. */
export function timeElement(timestamp: string | null): HTMLElement | string {
  if (timestamp === null) return 'never';
  return createElement('time', { datetime: timestamp, title: timestamp }, timeText(timestamp));
}

/** A moment to come, always relative. */
export function countdown(timestamp: string): HTMLElement {
  const text = relativeTime(untilTime(timestamp));
  return createElement('time', { datetime: timestamp, title: timestamp, 'data-countdown': '' }, text);
}

export function jobLink(id: string, text: string): HTMLElement {
  return createElement('a', { href: `/jobs/${encodeURIComponent(id)}` }, text);
}

export function jobRow(job: Job): HTMLElement {
  return row(
    jobLink(job.id, job.fileName),
    chip(job.status),
    job.format,
    job.profileName,
    job.folder ?? job.source,
    timeElement(job.createdAt),
  );
}

type Cell = HTMLElement | string | readonly (HTMLElement | string)[];

/** A row of a table. A cell is a `<td>`, or the content of one. */
export function row(...cells: readonly Cell[]): HTMLElement {
  const inTable = cells.map((cell) =>
    cell instanceof HTMLTableCellElement ? cell : createElement('td', {}, ...[cell].flat()),
  );
  return createElement('tr', {}, ...inTable);
}

/** A figure with its name. */
export function card(name: HTMLElement | string, figure: string): HTMLElement {
  return createElement(
    'li',
    { class: 'card' },
    createElement('span', { class: 'name' }, name),
    createElement('div', { class: 'figure' }, figure),
  );
}

export function emptyRow(columns: number, text: string): HTMLElement {
  return createElement('tr', {}, createElement('td', { colspan: String(columns), class: 'quiet' }, text));
}

/** Name and value pairs for a `<dl>`. */
export function definitionList(
  pairs: readonly (readonly [name: string, value: HTMLElement | string])[],
): HTMLElement[] {
  return pairs.flatMap(([name, value]) => [createElement('dt', {}, name), createElement('dd', {}, value)]);
}

/** Replaces the content of an element. Keeps the focus, and open what the reader opened, where the new content has it. */
export function refill(place: HTMLElement, ...nodes: (Node | string)[]): void {
  const { activeElement } = document;
  const held = activeElement !== place && place.contains(activeElement) ? activeElement : null;
  const open = [...place.querySelectorAll('details[open][id]')].map(({ id }) => id);
  place.replaceChildren(...nodes);
  for (const details of place.querySelectorAll('details')) details.open ||= open.includes(details.id);
  // The reader may have scrolled away from it.
  if (held !== null) findReplacement(held, place)?.focus({ preventScroll: true });
}
