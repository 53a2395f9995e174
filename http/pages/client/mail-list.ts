/** `/mails`: the e-mails of the portal, by status and page by page. What is shown stands in the address. */
import { ask } from './api.ts';
import { location, make, type PageElement, part } from './browser.ts';
import { firstPage, keepInAddress, showList, startPages } from './paged-list.ts';
import { chip, type ListPage, moment } from './shown.ts';

/** See `GET /api/mails`. */
interface Mail {
  readonly id: string;
  readonly about: string;
  readonly to: string;
  readonly status: string;
  readonly tries: number;
  readonly createdAt: string;
  readonly lastError: { readonly code: string; readonly message: string } | null;
  readonly hasText: boolean;
  readonly textRemoved: boolean;
}

/** Beside an e-mail whose days in the folder are over (`Portal:MailFolderKeepDays`). */
const REMOVED = ' (text no longer kept)';

const WORDS = { one: 'e-mail', many: 'e-mails', columns: 6 };

const status = () => part('#filters select');

/** Fills the form from the address, and refreshes when somebody changes it. */
export function startMailList(refresh: () => void): void {
  const given = new URLSearchParams(location.search);
  status().value = given.get('status') ?? '';
  part('#filters').addEventListener('submit', (event) => event.preventDefault());
  status().addEventListener('change', () => {
    firstPage();
    refresh();
  });
  startPages(given, refresh);
}

export async function refreshMailList(): Promise<void> {
  const query = new URLSearchParams();
  if (status().value !== '') query.set('status', status().value);
  keepInAddress(query);
  showList(await ask<ListPage<Mail>>(`/api/mails?${query}`), WORDS, mailRow);
}

function mailRow({ id, to, about, status, tries, lastError, createdAt, ...mail }: Mail): PageElement {
  const text = {
    href: `/api/mails/${encodeURIComponent(id)}/text`,
    id: `text-${id}`,
    title: 'Show the e-mail',
  };
  return make(
    'tr',
    {},
    make('td', {}, to),
    make('td', {}, mail.hasText ? make('a', text, about) : about, mail.textRemoved ? REMOVED : ''),
    make('td', {}, chip(status)),
    make('td', {}, String(tries)),
    make('td', {}, lastError === null ? '' : `${lastError.code}: ${lastError.message}`),
    make('td', {}, moment(createdAt)),
  );
}
