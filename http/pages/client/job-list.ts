/** `/jobs`: the list, its filters and its pages. Filters stand in the address, so that a view can be kept and sent. */
import { ask } from './api.ts';
import { document, location, type PageElement, part } from './browser.ts';
import { firstPage, keepInAddress, showList, startPages } from './paged-list.ts';
import { type JobList, jobRow } from './shown.ts';

const MULTIPLE = new Set(['status', 'format']);
const DAYS = new Set(['createdFrom', 'createdTo']);

const WORDS = { one: 'job', many: 'jobs', columns: 6 };

/** Fills the form from the address, and refreshes when somebody changes it. */
export function startJobList(refresh: () => void): void {
  const given = new URLSearchParams(location.search);
  for (const field of fields()) {
    if (MULTIPLE.has(field.name)) field.checked = given.getAll(field.name).includes(field.value);
    else field.value = given.get(field.name) ?? '';
  }
  const form = part('#filters');
  const again = () => {
    firstPage();
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
  startPages(given, refresh);
}

export async function refreshJobList(): Promise<void> {
  const filters = new URLSearchParams();
  for (const field of fields()) {
    if (MULTIPLE.has(field.name) ? field.checked : field.value !== '')
      filters.append(field.name, field.value);
  }
  keepInAddress(filters);
  const query = new URLSearchParams();
  for (const [name, value] of filters) query.append(name, asked(name, value));
  showList(await ask<JobList>(`/api/jobs?${query}`), WORDS, jobRow);
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
