/** `/jobs`: the list with filters, paging, and actions on a selection or on all jobs of the filters. */
import type { ActorPage, JobList, JobWithHistory, Retry } from '../../../../clients/typescript/batch.d.ts';
import { ACTION_STATES } from '../../../../contracts/batch/words.ts';
import {
  ALL_JOB_COLUMNS,
  type JobColumnId,
  jobSort,
  USUAL_JOB_COLUMNS,
} from '../../../pages/batch/job-columns.tsx';
import { type JobListData, JobListView, JobPeek, type RowResult } from '../../../pages/batch/job-list.tsx';
import { counted } from '../../../pages/batch/parts.tsx';
import { openDialog } from '../../dialogs.tsx';
import { delay } from '../../dom.ts';
import { getJson, getShared, post, problemOf, toast } from '../api.ts';
import { confirmOperation, type OperationFilter, promptReason } from '../dialogs.tsx';
import { ListAddress } from '../list-address.ts';
import { startPage } from '../live-page.tsx';
import { ID } from '../search.tsx';

type Action = 'retry' | 'cancel';

const DAYS = new Set(['createdFrom', 'createdTo']);

/** Longest pause that a limit of actions causes, seconds. */
const LONGEST_PAUSE = 60;

const ids = new Set<string>();
const results = new Map<string, RowResult>();
let running: string | undefined;

/** The columns that this browser keeps. */
const COLUMNS_NAME = 'sealwright.job-columns';
let columns = keptColumns();

function keptColumns(): readonly JobColumnId[] {
  try {
    const kept = localStorage.getItem(COLUMNS_NAME)?.split(',');
    return kept === undefined
      ? USUAL_JOB_COLUMNS
      : ALL_JOB_COLUMNS.filter((id) => id === 'file' || kept.includes(id));
  } catch {
    return USUAL_JOB_COLUMNS;
  }
}

class JobListAddress extends ListAddress {
  override filter(form: HTMLFormElement, later: boolean): void {
    const before = this.query.toString();
    super.filter(form, later);
    if (this.query.toString() !== before) this.selectNone();
    const id = this.query.get('fileName') ?? '';
    if (!later && ID.test(id)) location.assign(`/jobs/${id}`);
  }

  override clear(): void {
    this.selectNone();
    super.clear();
  }

  async whole(action: Action): Promise<void> {
    const chosen = address.query.getAll('status');
    const status = ACTION_STATES[action].filter((state) => chosen.length === 0 || chosen.includes(state));
    if (status.length === 0) return toast('ok', `There is no job to ${action} in this list.`);
    await confirmOperation(action, { ...operationFilter(), status });
    live.refresh();
  }

  sort(by: JobColumnId): void {
    const before = jobSort(this.query.get('sort'));
    if (before?.by !== by) this.query.set('sort', by);
    else if (before.isDown) this.query.delete('sort');
    else this.query.set('sort', `-${by}`);
    this.keep();
    live.draw();
  }

  column(id: JobColumnId, isShown: boolean): void {
    columns = ALL_JOB_COLUMNS.filter((one) => (one === id ? isShown : columns.includes(one)));
    try {
      localStorage.setItem(COLUMNS_NAME, columns.join());
    } catch {
      // Without storage the choice holds for this page.
    }
    live.draw();
  }

  select(given: readonly string[], selected: boolean): void {
    results.clear();
    for (const id of given) {
      if (selected) ids.add(id);
      else ids.delete(id);
    }
    live.draw();
  }

  /** Also when the list becomes another one: an action applies to no job that the person does not see chosen. */
  selectNone(): void {
    if (running !== undefined) return;
    ids.clear();
    this.select([], false);
  }

  /** One call for each job, so that each row has its own result. */
  async chosen(action: Action): Promise<void> {
    if (running !== undefined || ids.size === 0) return;
    const chosen = [...ids];
    const jobs = counted(chosen.length, 'job', 'jobs');
    const reason = action === 'cancel' ? await promptReason(`Cancel ${jobs}?`, `Cancel ${jobs}`) : '';
    if (reason === undefined) return;
    results.clear();
    for (const id of chosen) results.set(id, { state: 'waiting' });
    for (const [at, id] of chosen.entries()) {
      running = `${at} of ${chosen.length} done`;
      live.draw();
      results.set(id, await actOn(action, id, reason));
    }
    running = undefined;
    ids.clear();
    live.draw();
    live.refresh();
  }
}

const address = new JobListAddress(() => live);

/** A limit of actions is waited for, once; everything else that is refused is the result. */
async function actOn(action: Action, id: string, reason: string): Promise<RowResult> {
  const path = `/api/jobs/${encodeURIComponent(id)}/${action}`;
  for (let isFirst = true; ; isFirst = false) {
    try {
      if (action === 'cancel') {
        await post(path, reason === '' ? {} : { reason });
        return { state: 'done' };
      }
      return { state: 'done', newJobId: (await post<Retry>(path)).newJobId };
    } catch (error) {
      const { code, message, retryAfter } = problemOf(error);
      if (code !== 'rate-limited' || !isFirst) return { state: 'refused', text: message };
      const seconds = Math.min(LONGEST_PAUSE, Math.max(1, retryAfter));
      running = `There were too many actions in a minute; it goes on in ${seconds} s`;
      live.draw();
      await new Promise<void>((resolve) => delay(seconds * 1000, resolve));
    }
  }
}

async function load(): Promise<JobListData> {
  address.keep();
  const query = new URLSearchParams();
  for (const [name, value] of address.query) {
    if (name !== 'sort') query.append(name, requestedFilter(name, value));
  }
  const [list, actors] = await Promise.all([
    getShared<JobList>(`/api/jobs?${query}`),
    getShared<ActorPage>('/api/actors').catch(() => undefined),
  ]);
  shown = new Map(list.items.map((job) => [job.id, job]));
  return { list, states: actors?.kinds?.find(({ kind }) => kind === 'job')?.states ?? {} };
}

let shown: ReadonlyMap<string, JobList['items'][number]> = new Map();

/** Enter on the name of a job shows it beside the list; a second one opens it. A click and other keys open it at once. */
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.repeat) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const link = event.target instanceof Element ? event.target.closest('#rows a[href^="/jobs/"]') : null;
  const job = shown.get(decodeURIComponent(link?.getAttribute('href')?.slice('/jobs/'.length) ?? ''));
  if (job === undefined) return;
  event.preventDefault();
  const { draw } = openDialog(job.fileName, <JobPeek job={job} detail={undefined} />);
  void getJson<JobWithHistory>(`/api/jobs/${encodeURIComponent(job.id)}`).then(
    (detail) => draw(<JobPeek job={detail} detail={detail} />),
    (error: unknown) => toast(problemOf(error).code, problemOf(error).message),
  );
});

/** The filters of the form without the status. */
function operationFilter(): OperationFilter {
  const filter: { [member: string]: string | string[] } = {};
  for (const name of new Set(address.query.keys())) {
    if (['page', 'sort', 'status'].includes(name)) continue;
    const values = address.query.getAll(name);
    filter[name] = name === 'format' ? values : requestedFilter(name, values[0] ?? '');
  }
  return filter;
}

/** Days are in the reader's zone; the second day is included. */
function requestedFilter(name: string, value: string): string {
  if (!DAYS.has(name)) return value;
  const [year = 0, month = 1, day = 1] = value.split('-').map(Number);
  const start = new Date(year, month - 1, name === 'createdTo' ? day + 1 : day);
  // The service says what is wrong with an address.
  return Number.isNaN(start.getTime()) ? value : start.toISOString();
}

const live = startPage<JobListData>({
  load,
  view: (data) => (
    <JobListView
      query={address.query}
      isFiltered={address.isFiltered}
      data={data}
      selection={{ ids, results, running }}
      columns={columns}
      actions={address}
    />
  ),
});
