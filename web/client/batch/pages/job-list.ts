/**
 * `/jobs`: the list with filters and paging. The address contains the filters, so that a view can be bookmarked and
 * shared.
 */

import type { JobList } from '../../../../clients/typescript/batch.d.ts';
import { requireElement } from '../../dom.ts';
import { getShared } from '../api.ts';
import { startPage } from '../live-page.ts';
import { confirmOperation, type OperationFilter } from '../operation-dialog.ts';
import { firstPage, keepInAddress, showList, startPages, unfoldFilters } from '../paged-list.ts';
import { jobRow } from '../state-labels.ts';

const MULTIPLE = new Set(['status', 'format']);
const DAYS = new Set(['createdFrom', 'createdTo']);

/** A job's id in the field of the file name opens the job. */
const JOB_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** States that an action applies to. */
const ACTED_ON = { retry: ['Failed'], cancel: ['Queued', 'AwaitingSigner'] };

const WORDS = { one: 'job', many: 'jobs', columns: 6 };

/** Fills the form from the address, and refreshes on changes. */
function startJobList(refresh: () => void): void {
  const given = new URLSearchParams(location.search);
  for (const field of fields()) {
    if (isCheckbox(field)) field.checked = given.getAll(field.name).includes(field.value);
    else field.value = given.get(field.name) ?? '';
  }
  unfoldFilters(given);
  const form = requireElement('#filters');
  const again = () => {
    firstPage();
    refresh();
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const name =
      fields()
        .find((field) => field.name === 'fileName')
        ?.value.trim() ?? '';
    if (JOB_ID.test(name)) location.assign(`/jobs/${name}`);
    else again();
  });
  for (const action of ['retry', 'cancel'] as const) {
    requireElement(`#${action}-all`).addEventListener('click', async () => {
      await confirmOperation(action, operationFilter(action));
      refresh();
    });
  }
  form.addEventListener('change', again);
  form.addEventListener('reset', () => {
    // The form is cleared after this event.
    void Promise.resolve().then(again);
  });
  startPages(given, refresh);
}

async function refreshJobList(): Promise<void> {
  const filters = new URLSearchParams();
  for (const field of fields()) {
    if (isCheckbox(field) ? field.checked : field.value !== '') filters.append(field.name, field.value);
  }
  keepInAddress(filters);
  const query = new URLSearchParams();
  for (const [name, value] of filters) query.append(name, requestedFilter(name, value));
  showList(await getShared<JobList>(`/api/jobs?${query}`), WORDS, jobRow);
}

/** The filters of the form, for jobs that the action applies to. */
function operationFilter(action: 'retry' | 'cancel'): OperationFilter {
  const filter: { [member: string]: string | string[] } = {};
  for (const field of fields()) {
    if (isCheckbox(field)) {
      if (!field.checked) continue;
      const values = filter[field.name];
      filter[field.name] = Array.isArray(values) ? [...values, field.value] : [field.value];
    } else if (field.value !== '') filter[field.name] = requestedFilter(field.name, field.value);
  }
  const chosen = filter['status'];
  const fitting = ACTED_ON[action].filter((state) => !Array.isArray(chosen) || chosen.includes(state));
  return { ...filter, status: fitting.length > 0 ? fitting : ACTED_ON[action] };
}

type Field = HTMLInputElement | HTMLSelectElement;

function fields(): Field[] {
  return [...document.querySelectorAll<Field>('#filters input, #filters select')];
}

function isCheckbox(field: Field): field is HTMLInputElement {
  return MULTIPLE.has(field.name) && field instanceof HTMLInputElement;
}

/** Days are in the reader's zone; the second day is included. */
function requestedFilter(name: string, value: string): string {
  if (!DAYS.has(name)) return value;
  const [year = 0, month = 1, day = 1] = value.split('-').map(Number);
  return new Date(year, month - 1, name === 'createdTo' ? day + 1 : day).toISOString();
}

startPage(refreshJobList, startJobList);
