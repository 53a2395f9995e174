/** `/jobs`: the list with filters, sorted by a chosen column, a selection with its actions, and a job beside it. */
import type { Job, JobList, JobWithHistory } from '../../../clients/typescript/batch.d.ts';
import { JOB_FORMATS, JOB_STATE, JOB_STATES, jobStatesIn } from '../../../contracts/batch/words.ts';
import { Button, ButtonLink } from '../../components/controls.tsx';
import { SelectionBar } from '../../components/selection.tsx';
import { Card, Drop, Facts, PageHead, Skeleton, Table, type TableRow } from '../../components/surfaces.tsx';
import { TimeOfDay } from '../../components/time.tsx';
import {
  ALL_JOB_COLUMNS,
  JOB_COLUMNS,
  type JobColumnId,
  jobRow,
  jobSort,
  sortedJobs,
  USUAL_JOB_COLUMNS,
} from './job-columns.tsx';
import {
  counted,
  Entry,
  Filters,
  JobLink,
  JobStatus,
  type ListActions,
  type ListView,
  Paging,
  Tick,
  Total,
  Trouble,
  worded,
} from './parts.tsx';
import { ActionButton, useMayCall } from './rights.tsx';

/** Views that operators ask for often; the address has the filters of each. */
const VIEWS = new Map([['All', '']]);
// What has ended and needs somebody stands first.
for (const state of [...jobStatesIn('ended'), ...jobStatesIn('waiting', 'in-flight')]) {
  const { view } = JOB_STATE[state];
  if (view === undefined) continue;
  const before = VIEWS.get(view);
  VIEWS.set(view, `${before === undefined ? '?' : `${before}&`}status=${state}`);
}

/** Result for one job of an action on a selection. */
export type RowResult =
  | { readonly state: 'waiting' }
  | { readonly state: 'done'; readonly newJobId?: string }
  | { readonly state: 'refused'; readonly text: string };

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly results: ReadonlyMap<string, RowResult>;
  /** Undefined: nothing runs. Otherwise what is awaited, for people. */
  readonly running: string | undefined;
}

export interface JobListActions extends ListActions {
  /** Retries or cancels all jobs of the filters. */
  whole(action: 'retry' | 'cancel'): void;
  /** Retries or cancels those that are selected. */
  chosen(action: 'retry' | 'cancel'): void;
  /** @param ids all of them are selected, or none. */
  select(ids: readonly string[], selected: boolean): void;
  selectNone(): void;
  /** By this column; once more: the other way round; then as the service lists them. */
  sort(by: JobColumnId): void;
  column(id: JobColumnId, isShown: boolean): void;
}

/** Data of the page: the list, and the number of jobs in each state where the reader may know it. */
export interface JobListData {
  readonly list: JobList;
  readonly states: { readonly [state: string]: number };
}

const NOTHING: Selection = { ids: new Set(), results: new Map(), running: undefined };

export function JobListView({
  query = new URLSearchParams(),
  isFiltered = false,
  data,
  selection = NOTHING,
  columns = USUAL_JOB_COLUMNS,
  actions,
}: ListView<JobListData, JobListActions> & {
  isFiltered?: boolean;
  selection?: Selection;
  columns?: readonly JobColumnId[];
}) {
  const list = data?.list;
  const ids = list?.items.map(({ id }) => id) ?? [];
  const areAll = ids.length > 0 && ids.every((id) => selection.ids.has(id));
  const mayAct = useMayCall('POST /api/operations');
  const sort = jobSort(query.get('sort'));
  const heads = columns.map((id) => ({
    name: JOB_COLUMNS[id].name,
    sorted: sort?.by === id ? (sort.isDown ? ('descending' as const) : ('ascending' as const)) : undefined,
    onSort: () => actions?.sort(id),
  }));
  const all = (
    <>
      <span class="on-cards" aria-hidden="true">
        All of this page{' '}
      </span>
      <input
        type="checkbox"
        aria-label="Select all of this page"
        checked={areAll}
        disabled={selection.running !== undefined}
        onChange={() => actions?.select(ids, !areAll)}
      />
    </>
  );
  return (
    <>
      <PageHead title="Jobs">
        <ButtonLink href="/failures">Failures by cause</ButtonLink>
      </PageHead>
      <div class="filter-row">
        <Views query={query} states={data?.states} />
        <JobFilters query={query} isFiltered={isFiltered} actions={actions} />
        <Drop name="Columns">
          {ALL_JOB_COLUMNS.map((id) => (
            <label key={id} class="tick">
              <input
                type="checkbox"
                checked={columns.includes(id)}
                disabled={id === 'file'}
                onChange={({ currentTarget }) => actions?.column(id, currentTarget.checked)}
              />{' '}
              {JOB_COLUMNS[id].name}
            </label>
          ))}
        </Drop>
        {mayAct && (
          <Drop name="Actions on the whole list" icon="ellipsis" isNamed={false}>
            <Button id="retry-all" rank="quiet" icon="rotate-cw" onClick={() => actions?.whole('retry')}>
              Retry all failed jobs of this list
            </Button>
            <Button id="cancel-all" rank="quiet" icon="ban" onClick={() => actions?.whole('cancel')}>
              Cancel all waiting jobs of this list
            </Button>
          </Drop>
        )}
      </div>
      <Card>
        <Table
          cards="named"
          id="rows"
          caption="Jobs"
          heads={mayAct ? [all, ...heads] : heads}
          rows={
            list &&
            sortedJobs(list.items, sort).map((job) => {
              const row = jobRow(job, columns);
              return mayAct ? selectable(job, row, selection, actions) : row;
            })
          }
          empty={isFiltered ? 'No job fits.' : 'No job fits. Upload a file, or put one into an input folder.'}
        />
      </Card>
      <div class="list-foot">
        <Total list={list} one="job" many="jobs" />
        {sort !== undefined && ids.length < (list?.totalCount ?? 0) && (
          <span class="muted small">Only the rows of this page are sorted.</span>
        )}
        <Paging list={list} actions={actions} />
      </div>
      <p class="muted small">
        In the table, j and k go from row to row{mayAct && ', x selects'}, and Enter shows a job beside the
        list. The key / searches.
      </p>
      <JobSelection selection={selection} actions={actions} />
    </>
  );
}

/** Views that operators ask for often, with their counts. */
function Views({
  query,
  states = {},
}: {
  query: URLSearchParams;
  states: JobListData['states'] | undefined;
}) {
  const filters = new URLSearchParams(query);
  for (const place of ['page', 'sort']) filters.delete(place);
  const shown = filters.size === 0 ? '' : `?${filters}`;
  const sort = query.get('sort');
  const hrefOf = (address: string) => {
    const target = new URLSearchParams(address);
    if (sort !== null) target.set('sort', sort);
    return target.size === 0 ? '/jobs' : `/jobs?${target}`;
  };
  return (
    <nav class="ways" aria-label="Views">
      {[...VIEWS].map(([name, address]) => {
        const statuses = new URLSearchParams(address).getAll('status');
        const count = statuses.reduce((sum, status) => sum + (states[status] ?? 0), 0);
        return (
          <a class="button chip" href={hrefOf(address)} aria-current={address === shown ? 'true' : undefined}>
            {name} {count > 0 && <span class="muted">{count.toLocaleString('en-GB')}</span>}
          </a>
        );
      })}
    </nav>
  );
}

/** Filters that stand behind a button; the address has them all. */
const MORE_FILTERS = ['status', 'format', 'profile', 'createdFrom', 'createdTo'];

function JobFilters({
  query,
  isFiltered,
  actions,
}: {
  query: URLSearchParams;
  isFiltered: boolean;
  actions: JobListActions | undefined;
}) {
  const count = MORE_FILTERS.filter((name) => query.has(name)).length;
  return (
    <Filters query={query} actions={actions} foldable isOpen={isFiltered}>
      <Entry
        label="File name contains, or id"
        isUnseen
        placeholder="File name or id"
        name="fileName"
        query={query}
      />
      <Drop name={count === 0 ? 'More filters' : `More filters: ${count}`} icon="plus">
        <fieldset>
          <legend>State</legend>
          {JOB_STATES.map((state) => (
            <Tick label={worded(state)} name="status" value={state} query={query} />
          ))}
        </fieldset>
        <fieldset>
          <legend>Format</legend>
          {JOB_FORMATS.map((format) => (
            <Tick label={worded(format)} name="format" value={format} query={query} />
          ))}
        </fieldset>
        <Entry label="Profile" name="profile" query={query} type="text" />
        <div class="ways">
          <Entry label="Created from" name="createdFrom" query={query} type="date" />
          <Entry label="to" name="createdTo" query={query} type="date" />
        </div>
        <div class="ways">
          <Button type="submit">Filter</Button>
          <Button onClick={() => actions?.clear()}>Clear</Button>
        </div>
      </Drop>
    </Filters>
  );
}

/** The row with a box before it, and the result of an action at its state. */
function selectable(
  job: Job,
  row: TableRow,
  selection: Selection,
  actions: JobListActions | undefined,
): TableRow {
  const [file, ...cells] = row.cells;
  const isSelected = selection.ids.has(job.id);
  return {
    key: job.id,
    cells: [
      <input
        type="checkbox"
        id={`select-${job.id}`}
        aria-label={`Select ${job.fileName}`}
        checked={isSelected}
        disabled={selection.running !== undefined}
        onChange={() => actions?.select([job.id], !isSelected)}
      />,
      <>
        {file} <ResultOf result={selection.results.get(job.id)} />
      </>,
      ...cells,
    ],
  };
}

/** A job beside its list: why, what, and when. @param detail undefined: it is being loaded */
export function JobPeek({ job, detail }: { job: Job; detail: JobWithHistory | undefined }) {
  const pairs = ALL_JOB_COLUMNS.filter((id) => id !== 'file' && id !== 'state').map(
    (id) => [JOB_COLUMNS[id].name, JOB_COLUMNS[id].cell(job)] as const,
  );
  return (
    <div class="peek stack">
      <p>
        <JobStatus of={job.status} />
      </p>
      {job.errorMessage !== null && <p>{job.errorMessage}</p>}
      <Facts pairs={pairs} />
      {detail === undefined ? (
        <Skeleton lines={3} label="The history is being loaded." />
      ) : (
        <ol class="steps-of" aria-label="History">
          {detail.history.map(({ id, timestamp, message }) => (
            <li key={id}>
              <TimeOfDay at={timestamp} />
              <span>{message}</span>
            </li>
          ))}
        </ol>
      )}
      <form method="dialog" class="ways">
        <ButtonLink rank="main" href={`/jobs/${encodeURIComponent(job.id)}`}>
          Open the job
        </ButtonLink>
        <Button type="submit">Close</Button>
      </form>
    </div>
  );
}

function ResultOf({ result }: { result: RowResult | undefined }) {
  if (result === undefined) return null;
  if (result.state === 'waiting') return <span class="muted small">…</span>;
  if (result.state === 'refused') return <Trouble>{result.text}</Trouble>;
  return result.newJobId === undefined ? (
    <span class="muted small">canceled</span>
  ) : (
    <JobLink id={result.newJobId}>retried</JobLink>
  );
}

function JobSelection({
  selection: { ids, results, running },
  actions,
}: {
  selection: Selection;
  actions: JobListActions | undefined;
}) {
  const done = [...results.values()].filter(({ state }) => state === 'done').length;
  const refused = [...results.values()].filter(({ state }) => state === 'refused').length;
  const isIdle = running === undefined && ids.size > 0;
  const selected = ids.size === 0 ? '' : `${ids.size} selected`;
  return (
    <SelectionBar
      label="Selected jobs"
      clear="Clear the selection"
      text={running ?? (results.size > 0 ? `${done} done, ${refused} refused` : selected)}
      onClear={() => actions?.selectNone()}
    >
      <ActionButton
        sends="POST /api/jobs/{id}/retry"
        id="retry-selected"
        icon="rotate-cw"
        aria-disabled={!isIdle}
        onClick={() => actions?.chosen('retry')}
      >
        Retry {counted(ids.size, 'job', 'jobs')}
      </ActionButton>
      <ActionButton
        sends="POST /api/jobs/{id}/cancel"
        id="cancel-selected"
        icon="ban"
        aria-disabled={!isIdle}
        onClick={() => actions?.chosen('cancel')}
      >
        Cancel…
      </ActionButton>
    </SelectionBar>
  );
}
