/** `/jobs`: the list, its filters and its pages. Filters stand in the address, so that a view can be kept and sent. */
import { ask } from './api.ts';
import { document, history, location, type PageElement, part } from './browser.ts';
import { type JobList, jobRow, noRows, refill } from './shown.ts';

const MULTIPLE = new Set(['status', 'format']);
const DAYS = new Set(['createdFrom', 'createdTo']);

let page = 1;

/** Fills the form from the address, and refreshes when somebody changes it. */
export function startJobList(refresh: () => void): void {
  const given = new URLSearchParams(location.search);
  page = Number(given.get('page') ?? '1') || 1;
  for (const field of fields()) {
    if (MULTIPLE.has(field.name)) field.checked = given.getAll(field.name).includes(field.value);
    else field.value = given.get(field.name) ?? '';
  }
  const form = part('#filters');
  const again = () => {
    page = 1;
    refresh();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    again();
  });
  form.addEventListener('change', again);
  form.addEventListener('reset', () => {
    // The form is emptied after this event.
    void Promise.resolve().then(again);
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

export async function refreshJobList(): Promise<void> {
  const filters = new URLSearchParams();
  for (const field of fields()) {
    if (MULTIPLE.has(field.name) ? field.checked : field.value !== '')
      filters.append(field.name, field.value);
  }
  if (page > 1) filters.set('page', String(page));
  const address = filters.size === 0 ? location.pathname : `${location.pathname}?${filters}`;
  if (address !== location.pathname + location.search) history.replaceState(undefined, '', address);
  const query = new URLSearchParams();
  for (const [name, value] of filters) query.append(name, asked(name, value));
  const list = await ask<JobList>(`/api/jobs?${query}`);
  const pages = Math.max(1, Math.ceil(list.totalCount / list.pageSize));
  part('#total').textContent =
    `${list.totalCount} ${list.totalCount === 1 ? 'job' : 'jobs'}, page ${list.page} of ${pages}`;
  part('#previous').disabled = list.page <= 1;
  part('#next').disabled = list.page >= pages;
  const rows = list.items.map(jobRow);
  refill(part('#rows'), ...(rows.length > 0 ? rows : [noRows(6, 'No job fits.')]));
}

function fields(): PageElement[] {
  return [...document.querySelectorAll('#filters input, #filters select')];
}

/** Days are those of the reader's zone; the second one is meant to its end. */
function asked(name: string, value: string): string {
  if (!DAYS.has(name)) return value;
  const [year = 0, month = 1, day = 1] = value.split('-').map(Number);
  return new Date(year, month - 1, name === 'createdTo' ? day + 1 : day).toISOString();
}
