/** `/`: the state of things at a glance. */
import { ask } from './api.ts';
import { draw, make, part } from './browser.ts';
import { pipelineState } from './pipeline.ts';
import { type JobList, jobRow, noRows, refill } from './shown.ts';

interface Statistics {
  readonly completed: number;
  readonly failed: number;
  readonly canceled: number;
  readonly encrypted: number;
  readonly throughputPerMinute: number;
}

/** Bars of the chart, and hours that each stands for. */
const BARS = 12;
const HOURS = 2;
/** Refreshes between two drawings of the chart, which changes slowly and costs a request for each bar. */
const CHART_EVERY = 12;

const statisticsOf = (hours: number) => ask<Statistics>(`/api/statistics?window=${hours}h`);
const countOf = async (status: string) =>
  (await ask<JobList>(`/api/jobs?pageSize=1&status=${status}`)).totalCount;

let refreshes = 0;

export async function refreshOverview(): Promise<void> {
  const [state, day, queued, awaiting, last] = await Promise.all([
    pipelineState(),
    statisticsOf(24),
    countOf('Queued'),
    countOf('AwaitingSigner'),
    ask<JobList>('/api/jobs?pageSize=10'),
  ]);
  show('queued', queued);
  show('slots', `${state.jobsInFlight} / ${state.maxConcurrency} slots busy`);
  show('pipeline', state.paused ? 'Paused' : 'Running');
  show('awaiting', awaiting);
  show('completed', day.completed);
  show('failed', day.failed);
  show('canceled', day.canceled);
  show('encrypted', day.encrypted);
  show('rate', `${day.throughputPerMinute} / min`);
  const rows = last.items.map(jobRow);
  refill(part('#rows'), ...(rows.length > 0 ? rows : [noRows(6, 'No jobs yet.')]));
  if (refreshes % CHART_EVERY === 0) await drawChart();
  refreshes += 1;
}

function show(name: string, value: string | number): void {
  part(`#figure-${name}`).textContent = String(value);
}

/** Statistics reach from some hour until now, so each bar is the difference of two. */
async function drawChart(): Promise<void> {
  const windows = Array.from({ length: BARS }, (_, index) => (index + 1) * HOURS);
  const totals = await Promise.all(windows.map(async (hours) => (await statisticsOf(hours)).completed));
  const counts = totals.map((total, index) => Math.max(0, total - (totals[index - 1] ?? 0))).reverse();
  const most = Math.max(1, ...counts);
  const bars = counts.map((count, index) =>
    draw(
      'rect',
      {
        x: String(index * 20 + 2),
        y: String(80 - (count / most) * 70),
        width: '16',
        height: String((count / most) * 70),
      },
      draw('title', {}, `${(BARS - index) * HOURS} to ${(BARS - index - 1) * HOURS} hours ago: ${count}`),
    ),
  );
  const base = draw('line', { x1: '0', y1: '80', x2: '240', y2: '80' });
  const text = `Completed jobs, two hours each, oldest first: ${counts.join(', ')}`;
  const chart = draw(
    'svg',
    { class: 'chart', viewBox: '0 0 240 84', preserveAspectRatio: 'none', role: 'img', 'aria-label': text },
    base,
    ...bars,
  );
  refill(part('#chart'), chart, make('p', { class: 'quiet' }, `24 hours; the highest bar is ${most}.`));
}
