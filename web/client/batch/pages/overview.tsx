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
import { currentTime } from '../../dom.ts';
import { getServed, getShared, requestAny } from '../api.ts';
import { CachedAnswer } from '../cached-answer.ts';
import { confirmOperation } from '../dialogs.tsx';
import { startPage } from '../live-page.tsx';
import { pipelineState, togglePipeline } from '../pipeline.ts';

type Slow = Pick<OverviewData, 'series' | 'failures' | 'ready' | 'others'>;

const given = new URLSearchParams(location.search).get('window') ?? '';
let range: Range = Object.hasOwn(RANGES, given) ? (given as Range) : '24h';
const slow = new CachedAnswer<Slow>(currentTime);

const countOf = async (status: string) =>
  (await getShared<JobList>(`/api/jobs?pageSize=1&status=${status}`)).totalCount;

async function load(): Promise<OverviewData> {
  const [state, statistics, queued, awaiting, last, rest] = await Promise.all([
    pipelineState(),
    getShared<BatchOperations['GET /api/statistics']['answer']>(`/api/statistics?window=${range}`),
    countOf('Queued'),
    countOf('AwaitingSigner'),
    getShared<JobList>('/api/jobs?pageSize=10'),
    slow.get(range, loadSlow),
  ]);
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
  const unsent = mails?.totalCount ?? 0;
  const others: readonly (OverviewData['others'][number] & { readonly count: number })[] = [
    ...kinds.map(({ kind, stopped }) => ({
      count: stopped,
      text: `${counted(stopped, 'actor', 'actors')} of kind ${kind} given up`,
      href: `/actors?${new URLSearchParams({ kind, stopped: 'true' })}`,
      icon: 'workflow' as const,
    })),
    {
      count: unsent,
      text: `${counted(unsent, 'e-mail was', 'e-mails were')} not sent`,
      href: '/mails?status=Failed',
      icon: 'mail-warning',
    },
    {
      count: calls.totalCount,
      text: `${counted(calls.totalCount, 'webhook call', 'webhook calls')} failed`,
      href: '/webhooks?status=Failed',
      icon: 'webhook',
    },
  ];
  return { series, failures, ready, others: others.filter(({ count }) => count > 0) };
}

const actions = {
  range(chosen: Range) {
    range = chosen;
    history.replaceState(undefined, '', chosen === '24h' ? '/' : `/?window=${chosen}`);
    live.refresh();
  },
  async toggle(button: HTMLButtonElement) {
    await togglePipeline(button);
    live.refresh();
  },
  async retry(errorCode: string) {
    await confirmOperation('retry', { status: ['Failed'], errorCode });
    slow.forget();
    live.refresh();
  },
};

const live = startPage<OverviewData>({
  load,
  view: (data) => <OverviewView range={range} data={data} actions={actions} />,
});
