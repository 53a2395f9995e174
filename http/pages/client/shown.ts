/** How values of the API look on the pages. */
import { document, make, type PageElement } from './browser.ts';

/** A job as the list shows it; see `GET /api/jobs`. */
export interface Job {
  readonly id: string;
  readonly fileName: string;
  readonly originalPath: string;
  readonly format: string;
  readonly source: string;
  readonly status: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly parentJobId: string | null;
  readonly errorMessage: string | null;
  readonly profileName: string;
  readonly folder: string | null;
  readonly outputEncrypted: boolean;
}

/** What every list of the API is answered as. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
}

export type JobList = ListPage<Job>;

const KINDS: { readonly [status: string]: string } = {
  Completed: 'good',
  Running: 'good',
  Healthy: 'good',
  Sent: 'good',
  Failed: 'bad',
  Stopped: 'bad',
  Missing: 'bad',
  Unhealthy: 'bad',
  Processing: 'busy',
  Verifying: 'busy',
  AwaitingSigner: 'wait',
  Paused: 'wait',
  Waiting: 'wait',
  Initializing: 'wait',
};

export function chip(status: string): PageElement {
  return make('span', { class: `chip ${KINDS[status] ?? ''}` }, status);
}

/** A moment in the reader's own zone; the exact one is its tooltip. */
export function moment(timestamp: string | null): PageElement | string {
  if (timestamp === null) return 'never';
  return make('time', { datetime: timestamp, title: timestamp }, new Date(timestamp).toLocaleString());
}

export function jobLink(id: string, text: string): PageElement {
  return make('a', { href: `/jobs/${encodeURIComponent(id)}` }, text);
}

export function jobRow(job: Job): PageElement {
  return make(
    'tr',
    {},
    make('td', {}, jobLink(job.id, job.fileName)),
    make('td', {}, chip(job.status)),
    make('td', {}, job.format),
    make('td', {}, job.profileName),
    make('td', {}, job.folder ?? job.source),
    make('td', {}, moment(job.createdAt)),
  );
}

export function noRows(columns: number, text: string): PageElement {
  return make('tr', {}, make('td', { colspan: String(columns), class: 'quiet' }, text));
}

/** Name and value of each fact, for a `<dl>`. */
export function facts(
  pairs: readonly (readonly [name: string, value: PageElement | string])[],
): PageElement[] {
  return pairs.flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value)]);
}

/** Exchanges what an element holds, and keeps the keyboard where it was when that part has an id. */
export function refill(place: PageElement, ...nodes: (PageElement | string)[]): void {
  const { activeElement } = document;
  const id = activeElement?.closest(`#${place.id} *`) ? activeElement.id : '';
  place.replaceChildren(...nodes);
  if (id !== '') document.querySelector(`#${id}`)?.focus();
}
