/** `/mails`: the e-mails of the portal, by status and page by page. What is shown stands in the address. */
import { ask } from './api.ts';
import { history, location, make, type PageElement, part } from './browser.ts';
import { chip, moment, noRows, refill } from './shown.ts';

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
}

interface MailList {
  readonly items: readonly Mail[];
  readonly page: number;
  readonly pageSize: number;
  readonly totalCount: number;
}

let page = 1;

const status = () => part('#filters select');

/** Fills the form from the address, and refreshes when somebody changes it. */
export function startMailList(refresh: () => void): void {
  const given = new URLSearchParams(location.search);
  page = Number(given.get('page') ?? '1') || 1;
  status().value = given.get('status') ?? '';
  part('#filters').addEventListener('submit', (event) => event.preventDefault());
  status().addEventListener('change', () => {
    page = 1;
    refresh();
  });
  part('#previous').addEventListener('click', () => {
    page = Math.max(1, page - 1);
    refresh();
  });
  part('#next').addEventListener('click', () => {
    page += 1;
    refresh();
  });
}

export async function refreshMailList(): Promise<void> {
  const query = new URLSearchParams();
  if (status().value !== '') query.set('status', status().value);
  if (page > 1) query.set('page', String(page));
  const address = query.size === 0 ? location.pathname : `${location.pathname}?${query}`;
  if (address !== location.pathname + location.search) history.replaceState(undefined, '', address);
  const list = await ask<MailList>(`/api/mails?${query}`);
  const pages = Math.max(1, Math.ceil(list.totalCount / list.pageSize));
  part('#total').textContent =
    `${list.totalCount} ${list.totalCount === 1 ? 'e-mail' : 'e-mails'}, page ${list.page} of ${pages}`;
  part('#previous').disabled = list.page <= 1;
  part('#next').disabled = list.page >= pages;
  const rows = list.items.map(mailRow);
  refill(part('#rows'), ...(rows.length > 0 ? rows : [noRows(6, 'No e-mail fits.')]));
}

function mailRow({ id, to, about, status, tries, lastError, createdAt, hasText }: Mail): PageElement {
  const text = {
    href: `/api/mails/${encodeURIComponent(id)}/text`,
    id: `text-${id}`,
    title: 'Show the e-mail',
  };
  return make(
    'tr',
    {},
    make('td', {}, to),
    make('td', {}, hasText ? make('a', text, about) : about),
    make('td', {}, chip(status)),
    make('td', {}, String(tries)),
    make('td', {}, lastError === null ? '' : `${lastError.code}: ${lastError.message}`),
    make('td', {}, moment(createdAt)),
  );
}
