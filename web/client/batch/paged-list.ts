/** Common functions of list pages: paging, and filters in the address. */
import { findElement, requireElement, setText } from '../dom.ts';
import { emptyRow, type ListPage, refill } from './state-labels.ts';

/** Texts of a list. */
export interface ListTexts {
  readonly one: string;
  readonly many: string;
  /** Number of table columns. */
  readonly columns: number;
}

let page = 1;

/** Reads the page number from the address, and handles the paging buttons. */
export function startPages(given: URLSearchParams, refresh: () => void): void {
  page = Number(given.get('page') ?? '1') || 1;
  requireElement('#previous').addEventListener('click', () => {
    page = Math.max(1, page - 1);
    refresh();
  });
  requireElement('#next').addEventListener('click', () => {
    page += 1;
    refresh();
  });
}

/** Parameters of the address that filter nothing. */
const PLACES: ReadonlySet<string> = new Set(['page', 'after', 'kind']);

/** Unfolds the filters of a narrow screen when the address has some. */
export function unfoldFilters(given: URLSearchParams): void {
  const isFiltered = [...given.keys()].some((name) => !PLACES.has(name));
  if (isFiltered) findElement('#fold', HTMLDetailsElement)?.setAttribute('open', '');
}

/** Returns to the first page when the filters change. */
export function firstPage(): void {
  page = 1;
}

/** Writes filters and page into the address, so that a view can be bookmarked and shared. */
export function keepInAddress(filters: URLSearchParams): void {
  if (page > 1) filters.set('page', String(page));
  const address = filters.size === 0 ? location.pathname : `${location.pathname}?${filters}`;
  if (address !== location.pathname + location.search) history.replaceState(undefined, '', address);
}

export function showList<Item>(
  list: ListPage<Item>,
  { one, many, columns }: ListTexts,
  row: (item: Item) => HTMLElement,
): void {
  const pages = Math.max(1, Math.ceil(list.totalCount / list.pageSize));
  const counted = `${list.totalCount} ${list.totalCount === 1 ? one : many}`;
  setText(requireElement('#total'), `${counted}, page ${list.page} of ${pages}`);
  requireElement('#previous', HTMLButtonElement).disabled = list.page <= 1;
  requireElement('#next', HTMLButtonElement).disabled = list.page >= pages;
  const rows = list.items.map(row);
  refill(requireElement('#rows'), ...(rows.length > 0 ? rows : [emptyRow(columns, `No ${one} fits.`)]));
}
