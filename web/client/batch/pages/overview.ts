/** `/`: the overview. */

import type { BatchOperations, JobList, StatisticsSeries } from '../../../../clients/typescript/batch.d.ts';
import { requireElement } from '../../dom.ts';
import { getShared } from '../api.ts';
import { startPage } from '../live-page.ts';
import { pipelineState } from '../pipeline.ts';
import { showChart } from '../series-chart.ts';
import { emptyRow, jobRow, refill } from '../state-labels.ts';

/** Refreshes between two updates of the chart, which changes slowly. */
const CHART_EVERY = 12;

const statisticsOf = (hours: number) =>
  getShared<BatchOperations['GET /api/statistics']['answer']>(`/api/statistics?window=${hours}h`);
const countOf = async (status: string) =>
  (await getShared<JobList>(`/api/jobs?pageSize=1&status=${status}`)).totalCount;

let refreshes = 0;

async function refreshOverview(): Promise<void> {
  const [state, day, queued, awaiting, last] = await Promise.all([
    pipelineState(),
    statisticsOf(24),
    countOf('Queued'),
    countOf('AwaitingSigner'),
    getShared<JobList>('/api/jobs?pageSize=10'),
  ]);
  show('queued', queued);
  show('slots', `${state.jobsInFlight} / ${state.maxConcurrency} slots busy`);
  show('pipeline', state.paused ? 'Paused' : state.held ? 'Held' : 'Running');
  show('awaiting', awaiting);
  show('completed', day.completed);
  show('failed', day.failed);
  show('canceled', day.canceled);
  show('encrypted', day.encrypted);
  show('rate', `${day.throughputPerMinute} / min`);
  const rows = last.items.map(jobRow);
  refill(requireElement('#rows'), ...(rows.length > 0 ? rows : [emptyRow(6, 'No jobs yet.')]));
  if (refreshes % CHART_EVERY === 0) await drawChart();
  refreshes += 1;
}

function show(name: string, value: string | number): void {
  requireElement(`#figure-${name}`).textContent = String(value);
}

async function drawChart(): Promise<void> {
  const { completed, failed, ...series } = await getShared<StatisticsSeries>(
    '/api/statistics/series?window=24h&intervals=24',
  );
  const texts = { title: 'Jobs by the time of their end', good: 'completed', bad: 'failed' };
  showChart(requireElement('#chart'), { ...series, good: completed, bad: failed }, texts);
}

startPage(refreshOverview);
