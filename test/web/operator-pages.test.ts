import test from 'ava';
import { createElement } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { JobWithHistory } from '../../clients/typescript/batch.d.ts';
import { Kept } from '../../web/client/batch/kept.ts';
import { Chart } from '../../web/components/chart.tsx';
import { duration } from '../../web/components/time.tsx';
import { JobView } from '../../web/pages/batch/job-page.tsx';

test('a kept answer is read again after a minute, for another key, and after a failure', async (t) => {
  let now = 0;
  const reads: string[] = [];
  const kept = new Kept<string>(() => now);
  const get = (key: string) =>
    kept.get(key, async () => {
      reads.push(key);
      if (key === 'broken') throw new Error('The service cannot be reached.');
      return `${key} ${reads.length}`;
    });
  t.is(await get('24h'), '24h 1');
  now = 59_999;
  t.is(await get('24h'), '24h 1');
  // A page that was hidden for hours.
  now = 60_000;
  t.is(await get('24h'), '24h 2');
  // The range changes while the earlier one is still read.
  const [day, week] = await Promise.all([get('24h'), get('7d')]);
  t.deepEqual([day, week], ['24h 2', '7d 3']);
  t.is(await get('7d'), '7d 3');
  await t.throwsAsync(get('broken'), { message: 'The service cannot be reached.' });
  await t.throwsAsync(get('broken'));
  kept.forget();
  t.is(await get('7d'), '7d 6');
});

test('a job that awaits its signer is verified and completed next', (t) => {
  const at = '2026-05-26T15:42:11.123Z';
  const times = { timestamp: at, message: '', createdAt: at, updatedAt: at };
  const history = ['Queued', 'Processing', 'AwaitingSigner'].map((status, id) => ({ id, status, ...times }));
  const job = {
    ...times,
    id: 'a',
    status: 'AwaitingSigner',
    history,
    fileName: 'a.pdf',
    outputFileName: null,
    awaitingSignerSince: at,
    parentJobId: null,
  };
  const none = { page: 1, pageSize: 1, totalCount: 0, items: [] };
  const data = {
    job: job as unknown as JobWithHistory,
    profile: undefined,
    children: none,
    remedy: null,
  };
  const [, course = ''] =
    /<ol class="course-of card"[^>]*>(.*?)<\/ol>/.exec(renderToString(createElement(JobView, { data }))) ??
    [];
  const states = [...course.matchAll(/<li.*?<\/li>/g)].map(([item]) => item.replaceAll(/<[^>]*>/g, ''));
  t.deepEqual(states, [
    'Queued 0 ms',
    'Processing 0 ms',
    'AwaitingSigner',
    'to come: Verifying',
    'to come: Completed',
  ]);
});

test('a duration has no 60 seconds, and the intervals of a chart name their zone', (t) => {
  t.deepEqual([59.4, 59.6, 3599.6, 90_061].map(duration), ['59 s', '1 min', '1 h', '1 d 1 h']);
  const series = { since: '2026-05-26T15:00:00.000Z', intervalSeconds: 3600 };
  const lines = [{ name: 'completed', tone: 'good', values: [1] }] as const;
  const chart = renderToString(createElement(Chart, { series, lines, summary: 'Jobs' }));
  t.regex(chart, /<title>from 2026-05-26 15:00:00 UTC: 1 completed<\/title>/);
});
