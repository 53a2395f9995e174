/** `/jobs`: the list with filters, a selection with its actions, and paging. */
import type { Job, JobList } from '../../../clients/typescript/batch.d.ts';
import { JOB_FORMATS, JOB_STATE, JOB_STATES, jobStatesIn } from '../../../contracts/batch/words.ts';
import { Button, ButtonLink } from '../../components/controls.tsx';
import { SelectionBar } from '../../components/selection.tsx';
import { Card, PageHead, Table } from '../../components/surfaces.tsx';
import {
  counted,
  Entry,
  Filters,
  JOB_HEADS,
  JobLink,
  jobRow,
  type ListActions,
  type ListView,
  Paging,
  Tick,
  Total,
  Trouble,
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
  | { readonly state: 'refused'; readonly code: string; readonly text: string };

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
}

const NOTHING: Selection = { ids: new Set(), results: new Map(), running: undefined };

export function JobListView({
  query = new URLSearchParams(),
  isFiltered = false,
  data: list,
  selection = NOTHING,
  actions,
}: ListView<JobList, JobListActions> & { isFiltered?: boolean; selection?: Selection }) {
  const ids = list?.items.map(({ id }) => id) ?? [];
  const areAll = ids.length > 0 && ids.every((id) => selection.ids.has(id));
  const mayAct = useMayCall('POST /api/operations');
  const shown = `?${query}`.replace(/[?&]page=\d+$|\?$/, '');
  return (
    <>
      <PageHead title="Jobs">
        <ButtonLink href="/failures">Failures by cause</ButtonLink>
      </PageHead>
      <nav class="ways" aria-label="Views">
        {[...VIEWS].map(([name, address]) => (
          <a
            class="button chip"
            href={`/jobs${address}`}
            aria-current={address === shown ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <Filters query={query} actions={actions} foldable isOpen={isFiltered}>
        <fieldset>
          <legend>Status</legend>
          {JOB_STATES.map((state) => (
            <Tick label={state} name="status" value={state} query={query} />
          ))}
        </fieldset>
        <fieldset>
          <legend>Format</legend>
          {JOB_FORMATS.map((format) => (
            <Tick label={format} name="format" value={format} query={query} />
          ))}
        </fieldset>
        <Entry label="Profile" name="profile" query={query} type="text" />
        <Entry label="File name contains, or id" name="fileName" query={query} />
        <Entry label="Created from" name="createdFrom" query={query} type="date" />
        <Entry label="to" name="createdTo" query={query} type="date" />
        <Button type="submit">Filter</Button>
        <Button onClick={() => actions?.clear()}>Clear</Button>
      </Filters>
      <p class="ways">
        <ActionButton sends="POST /api/operations" id="retry-all" onClick={() => actions?.whole('retry')}>
          Retry all failed jobs of this list
        </ActionButton>
        <ActionButton sends="POST /api/operations" id="cancel-all" onClick={() => actions?.whole('cancel')}>
          Cancel all waiting jobs of this list
        </ActionButton>
      </p>
      <Card aside={<Total list={list} one="job" many="jobs" />}>
        <Table
          cards="named"
          id="rows"
          caption="Jobs"
          heads={
            mayAct
              ? [
                  <input
                    type="checkbox"
                    aria-label="Select all of this page"
                    checked={areAll}
                    disabled={selection.running !== undefined}
                    onChange={() => actions?.select(ids, !areAll)}
                  />,
                  ...JOB_HEADS,
                ]
              : JOB_HEADS
          }
          rows={list?.items.map((job) => (mayAct ? selectableRow(job, selection, actions) : jobRow(job)))}
          empty={isFiltered ? 'No job fits.' : 'No job fits. Upload a file, or put one into an input folder.'}
        />
      </Card>
      <Paging list={list} actions={actions} />
      <p class="muted small">
        In the table, j and k go from row to row{mayAct && ', and x selects'}. The key / searches.
      </p>
      <JobSelection selection={selection} actions={actions} />
    </>
  );
}

function selectableRow(job: Job, selection: Selection, actions: JobListActions | undefined) {
  const [name, state, ...cells] = jobRow(job).cells;
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
      name,
      <>
        {state} <ResultOf result={selection.results.get(job.id)} />
      </>,
      ...cells,
    ],
  };
}

function ResultOf({ result }: { result: RowResult | undefined }) {
  if (result === undefined) return null;
  if (result.state === 'waiting') return <span class="muted small">…</span>;
  if (result.state === 'refused')
    return (
      <Trouble>
        {result.code}: {result.text}
      </Trouble>
    );
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
