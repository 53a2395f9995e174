/** What the pages with a list have in common: its pages, and an address that shows what is looked at. */
import { history, location, type PageElement, part } from './browser.ts';
import { type ListPage, noRows, refill } from './shown.ts';

/** How a list speaks of what it lists. */
export interface ListWords {
  readonly one: string;
  readonly many: string;
  /** Columns of its table. */
  readonly columns: number;
}

let page = 1;

/** Takes the page from the address, and turns pages when somebody asks for it. */
export function startPages(given: URLSearchParams, refresh: () => void): void {
  page = Number(given.get('page') ?? '1') || 1;
  part('#previous').addEventListener('click', () => {
    page = Math.max(1, page - 1);
    refresh();
  });
  part('#next').addEventListener('click', () => {
    page += 1;
    refresh();
  });
}

/** For other filters: what stood on a later page is not looked for there. */
export function firstPage(): void {
  page = 1;
}

/** Puts filters and page into the address, so that a view can be kept and sent. */
export function keepInAddress(filters: URLSearchParams): void {
  if (page > 1) filters.set('page', String(page));
  const address = filters.size === 0 ? location.pathname : `${location.pathname}?${filters}`;
  if (address !== location.pathname + location.search) history.replaceState(undefined, '', address);
}

export function showList<Item>(
  list: ListPage<Item>,
  { one, many, columns }: ListWords,
  row: (item: Item) => PageElement,
): void {
  const pages = Math.max(1, Math.ceil(list.totalCount / list.pageSize));
  const counted = `${list.totalCount} ${list.totalCount === 1 ? one : many}`;
  part('#total').textContent = `${counted}, page ${list.page} of ${pages}`;
  part('#previous').disabled = list.page <= 1;
  part('#next').disabled = list.page >= pages;
  const rows = list.items.map(row);
  refill(part('#rows'), ...(rows.length > 0 ? rows : [noRows(columns, `No ${one} fits.`)]));
}
