/** `/`: the overview. The address keeps the time range. */
import type {
  ActorPage,
  BatchOperations,
  Failures,
  JobList,
  MailList,
  Readiness,
  StatisticsSeries,
  WebhookDeliveryList,
} from '../../../../clients/typescript/batch.d.ts';
import { type OverviewData, OverviewView, RANGES, type Range } from '../../../pages/batch/overview.tsx';
import { counted } from '../../../pages/batch/parts.tsx';
import { getServed, getShared, requestAny } from '../api.ts';
import { confirmOperation } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';
import { pipelineState, togglePipeline } from '../pipeline.ts';

/** Refreshes between two reads of what costs more than counters, and changes slowly. */
const SLOWLY = 12;

type Slow = Pick<OverviewData, 'series' | 'failures' | 'ready' | 'others'>;

const given = new URLSearchParams(location.search).get('window') ?? '';
let range: Range = given in RANGES ? (given as Range) : '24h';
let slow: Slow | undefined;
let refreshes = 0;

const countOf = async (status: string) =>
  (await getShared<JobList>(`/api/jobs?pageSize=1&status=${status}`)).totalCount;

async function load(): Promise<OverviewData> {
  const [state, statistics, queued, awaiting, last, rest] = await Promise.all([
    pipelineState(),
    getShared<BatchOperations['GET /api/statistics']['answer']>(`/api/statistics?window=${range}`),
    countOf('Queued'),
    countOf('AwaitingSigner'),
    getShared<JobList>('/api/jobs?pageSize=10'),
    slow === undefined || refreshes % SLOWLY === 0 ? loadSlow() : slow,
  ]);
  refreshes += 1;
  slow = rest;
  return { state, statistics, queued, awaiting, last, ...rest };
}

async function loadSlow(): Promise<Slow> {
  const { intervals } = RANGES[range];
  const [series, failures, ready, { kinds = [] }, mails, calls] = await Promise.all([
    getShared<StatisticsSeries>(`/api/statistics/series?window=${range}&intervals=${intervals}`),
    getShared<Failures>('/api/failures'),
    requestAny<Readiness>('/api/ready'),
    getShared<ActorPage>('/api/actors'),
    getServed<MailList>('/api/mails?status=Failed&pageSize=1'),
    getShared<WebhookDeliveryList>('/api/webhooks/deliveries?status=Failed&pageSize=1'),
  ]);
  const failedMails = mails?.totalCount ?? 0;
  const others: readonly OverviewData['others'][number][] = [
    ...kinds
      .filter(({ stopped }) => stopped > 0)
      .map(({ kind, stopped }) => ({
        text: `${counted(stopped, 'actor', 'actors')} of kind ${kind} given up`,
        href: `/actors?${new URLSearchParams({ kind, stopped: 'true' })}`,
        icon: 'workflow' as const,
      })),
    ...(failedMails === 0
      ? []
      : [
          {
            text: `${counted(failedMails, 'e-mail was', 'e-mails were')} not sent`,
            href: '/mails?status=Failed',
            icon: 'mail-warning' as const,
          },
        ]),
    ...(calls.totalCount === 0
      ? []
      : [
          {
            text: `${counted(calls.totalCount, 'webhook call', 'webhook calls')} failed`,
            href: '/webhooks?status=Failed',
            icon: 'webhook' as const,
          },
        ]),
  ];
  return { series, failures, ready, others };
}

const actions = {
  range(chosen: Range) {
    range = chosen;
    slow = undefined;
    history.replaceState(undefined, '', chosen === '24h' ? '/' : `/?window=${chosen}`);
    live.refresh();
  },
  async toggle(button: HTMLButtonElement) {
    await togglePipeline(button);
    live.refresh();
  },
  async retry(errorCode: string) {
    await confirmOperation('retry', { status: ['Failed'], errorCode });
    slow = undefined;
    live.refresh();
  },
};

const live = startPage<OverviewData>({
  load,
  view: (data) => <OverviewView range={range} data={data} actions={actions} />,
});
