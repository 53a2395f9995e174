/** `/`: figures of a time range with their course, what needs attention, and the last jobs. */
import type {
  Failures,
  JobList,
  PipelineState,
  Readiness,
  Statistics,
  StatisticsSeries,
} from '../../../clients/typescript/batch.d.ts';
import { Chart, Spark, sum } from '../../components/chart.tsx';
import { Icon } from '../../components/icon.tsx';
import type { IconName } from '../../components/icons.ts';
import { Badge, Card, PageHead, Skeleton, Table, Tile } from '../../components/surfaces.tsx';
import { shortDuration, Time } from '../../components/time.tsx';
import { JOB_COLUMNS, jobRow, USUAL_JOB_COLUMNS } from './job-columns.tsx';
import { causeOf, counted, JobLink, State, type View } from './parts.tsx';
import { ActionButton } from './rights.tsx';

/** Time ranges, and the number of intervals of their charts. */
export const RANGES = {
  '1h': { name: 'Last hour', short: '1 h', intervals: 60 },
  '24h': { name: 'Last 24 hours', short: '24 h', intervals: 48 },
  '7d': { name: 'Last 7 days', short: '7 d', intervals: 84 },
  '30d': { name: 'Last 30 days', short: '30 d', intervals: 90 },
} as const;
export type Range = keyof typeof RANGES;

export interface OverviewData {
  readonly state: PipelineState;
  readonly statistics: Statistics;
  readonly queued: number;
  readonly awaiting: number;
  readonly last: JobList;
  readonly series: StatisticsSeries;
  readonly failures: Failures;
  readonly ready: Readiness;
  /** Mails and calls that failed, and actors that were given up: what, how many, where. */
  readonly others: readonly { readonly text: string; readonly href: string; readonly icon: IconName }[];
}

export interface OverviewActions {
  range(range: Range): void;
  toggle(button: HTMLButtonElement): void;
  retry(errorCode: string): void;
}

export function OverviewView({
  range = '24h',
  data,
  actions,
}: View<OverviewData, OverviewActions> & { range?: Range }) {
  const state = data && (data.state.paused ? 'Paused' : data.state.held ? 'Held' : 'Running');
  const busy =
    data && ` · ${data.state.jobsInFlight} of ${counted(data.state.maxConcurrency, 'slot', 'slots')}`;
  return (
    <>
      <PageHead title="Overview" state={state && <State of={state}>{busy}</State>}>
        <label>
          <span class="unseen">Time range</span>
          <select
            id="range"
            value={range}
            onChange={({ currentTarget }) => actions?.range(currentTarget.value as Range)}
          >
            {Object.entries(RANGES).map(([value, { name }]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <PauseButton paused={data?.state.paused} onPress={(button) => actions?.toggle(button)} />
      </PageHead>
      <Tiles range={range} data={data} />
      <div class="columns">
        <div class="stack">
          {CHARTS.map(([title, Course]) => (
            <Card key={title} title={title} hasBody>
              {data === undefined ? (
                <Skeleton lines={6} label="The chart is being loaded." />
              ) : (
                <Course series={data.series} />
              )}
            </Card>
          ))}
        </div>
        <Attention data={data} actions={actions} />
      </div>
      <Card title="Last jobs" aside={<a href="/jobs">All of them</a>}>
        <Table
          cards="named"
          id="rows"
          caption="Last jobs"
          heads={USUAL_JOB_COLUMNS.map((id) => JOB_COLUMNS[id].name)}
          rows={data?.last.items.map((job) => jobRow(job))}
          empty="No jobs yet. Upload a file, or put one into an input folder."
        />
      </Card>
    </>
  );
}

/** Pauses or resumes the pipeline after a question. */
export function PauseButton({
  paused,
  onPress,
}: {
  paused: boolean | undefined;
  onPress: (button: HTMLButtonElement) => void;
}) {
  return (
    <ActionButton
      sends={paused === true ? 'POST /api/pipeline/resume' : 'POST /api/pipeline/pause'}
      id="toggle"
      icon={paused === true ? 'play' : 'pause'}
      hidden={paused === undefined}
      onClick={({ currentTarget }) => onPress(currentTarget)}
    >
      {paused === true ? 'Resume' : 'Pause'}
    </ActionButton>
  );
}

function Tiles({ range, data }: { range: Range; data: OverviewData | undefined }) {
  const { short } = RANGES[range];
  const loading = <span class="skeleton" />;
  if (data === undefined) {
    return (
      <div class="tiles" aria-busy="true">
        {['Completed', 'Failed', 'Queued', 'Signing', 'Awaiting a remote signer'].map((name) => (
          <Tile name={name} figure={loading} note={loading} />
        ))}
      </div>
    );
  }
  const { statistics, series, queued, awaiting } = data;
  const { completed, failed, canceled, encrypted, perStage } = statistics;
  const { p50Ms, p95Ms } = perStage.sign;
  const ended = completed + failed + canceled;
  const oldest = series.oldestQueuedAt;
  const tiles: readonly Parameters<typeof Tile>[0][] = [
    {
      href: '/jobs?status=Completed',
      name: `Completed, ${short}`,
      figure: number(completed),
      note:
        ended === 0
          ? 'none ended'
          : `${((100 * completed) / ended).toFixed(1)} % of ended, ${statistics.throughputPerMinute} / min now`,
      children: <Spark values={series.completed} tone="good" />,
    },
    {
      href: '/failures',
      name: `Failed, ${short}`,
      figure: number(failed),
      note: counted(data.failures.groups.length, 'cause in all', 'causes in all'),
      children: <Spark values={series.failed} tone="bad" />,
    },
    {
      href: '/jobs?status=Queued',
      name: 'Queued',
      figure: number(queued),
      note: oldest === null ? 'none waits' : ['oldest ', <Time at={oldest} />],
      children: <Spark values={series.queueWaitMs} tone="info" />,
    },
    {
      href: '#latency',
      name: `Signing, ${short}`,
      figure: p50Ms === null ? '–' : shortDuration(p50Ms),
      note: p95Ms === null ? 'p50, nothing signed' : `p50, p95 ${shortDuration(p95Ms)}`,
      children: <Spark values={series.signMs} tone="info" />,
    },
    {
      href: '/jobs?status=AwaitingSigner',
      name: 'Awaiting a remote signer',
      figure: number(awaiting),
      note: `${number(canceled)} canceled, ${number(encrypted)} encrypted in ${short}`,
    },
  ];
  return (
    <div class="tiles">
      {tiles.map((tile) => (
        <Tile key={tile.name} {...tile} />
      ))}
    </div>
  );
}

function Throughput({ series }: { series: StatisticsSeries }) {
  return (
    <Chart
      series={series}
      summary={`Jobs by the time of their end: ${sum(series.completed)} completed, ${sum(series.failed)} failed`}
      lines={[
        { name: 'completed', tone: 'good', look: 'area', values: series.completed },
        { name: 'failed', tone: 'bad', values: series.failed },
      ]}
    />
  );
}

function Latency({ series }: { series: StatisticsSeries }) {
  const most = (values: readonly (number | null)[]) => Math.max(0, ...values.map((value) => value ?? 0));
  return (
    <div id="latency">
      <Chart
        series={series}
        format={shortDuration}
        summary={`Time of jobs, 95 of 100: in the queue at most ${shortDuration(most(series.queueWaitMs))}, for signing at most ${shortDuration(most(series.signMs))}`}
        lines={[
          { name: 'in the queue, p95', tone: 'info', look: 'dashed', values: series.queueWaitMs },
          { name: 'signing, p95', tone: 'good', values: series.signMs },
        ]}
      />
    </div>
  );
}

const CHARTS = [
  ['Throughput', Throughput],
  ['Waiting and signing', Latency],
] as const;

/** Shows the things that a person should do something about, with the action beside each. */
function Attention({ data, actions }: View<OverviewData, OverviewActions>) {
  const checks = data?.ready.checks.filter(({ status }) => status !== 'Healthy') ?? [];
  const groups = data?.failures.groups.slice(0, 5) ?? [];
  const count = checks.length + groups.length + (data?.others.length ?? 0);
  return (
    <Card
      title="Needs attention"
      label="Needs attention"
      aside={count > 0 && <Badge tone="warn">{count}</Badge>}
    >
      {data === undefined ? (
        <div class="body">
          <Skeleton lines={3} label="It is being loaded." />
        </div>
      ) : count === 0 ? (
        <p class="body muted">Nothing.</p>
      ) : (
        <ul class="attention">
          {checks.map(({ name, status, detail }) => (
            <li key={name}>
              <Icon name={name.startsWith('profile:') ? 'clock-alert' : 'octagon-alert'} />
              <div class="grow">
                <strong>{detail ?? status}</strong>
                <div class="muted small">
                  {name}: {status}
                </div>
              </div>
              <a href={name.startsWith('profile:') ? '/certificates' : '/system'}>Open</a>
            </li>
          ))}
          {groups.map((group) => (
            <FailedJobs key={group.errorCode} group={group} actions={actions} />
          ))}
          {data.others.map(({ text, href, icon }) => (
            <li key={href}>
              <Icon name={icon} />
              <strong class="grow">{text}</strong>
              <a href={href}>Show</a>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** Failed jobs of one cause: what is wrong and what helps; the sentence of the service is one of its details. */
function FailedJobs({
  group: { errorCode, count, remedy, newestAt, example },
  actions,
}: {
  group: Failures['groups'][number];
  actions: OverviewActions | undefined;
}) {
  const { cause, advice } = causeOf(remedy);
  return (
    <li>
      <Icon name="file-x" />
      <div class="grow">
        <strong>
          {counted(count, 'job', 'jobs')} failed: {cause}
        </strong>
        {advice !== '' && <div>{advice}</div>}
        <div class="muted small">
          <a href="/failures">Show them</a>, newest <Time at={newestAt} />
        </div>
        <details class="small">
          <summary>Details</summary>
          <JobLink id={example.id}>{example.fileName}</JobLink>: <q>{example.message}</q>{' '}
          <code>{errorCode}</code>
        </details>
      </div>
      <ActionButton
        sends="POST /api/operations"
        id={`retry-${errorCode}`}
        onClick={() => actions?.retry(errorCode)}
      >
        Retry {count}
      </ActionButton>
    </li>
  );
}

function number(value: number): string {
  return value.toLocaleString('en-GB');
}
