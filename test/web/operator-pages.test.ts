import test from 'ava';
import { createElement } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { ActorKind, JobWithHistory, Runtime } from '../../clients/typescript/batch.d.ts';
import { CachedAnswer } from '../../web/client/batch/cached-answer.ts';
import { Chart } from '../../web/components/chart.tsx';
import { duration } from '../../web/components/time.tsx';
import { ActorsView } from '../../web/pages/batch/actors.tsx';
import { JobView } from '../../web/pages/batch/job-page.tsx';
import { MachinePicture } from '../../web/pages/batch/machine-picture.tsx';
import { RuntimeView } from '../../web/pages/batch/runtime.tsx';

test('a kept answer is read again after a minute, for another key, and after a failure', async (t) => {
  let now = 0;
  const reads: string[] = [];
  const kept = new CachedAnswer<string>(() => now);
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
    warnings: [],
    awaitingSignerSince: at,
    parentJobId: null,
  };
  const none = { page: 1, pageSize: 1, totalCount: 0, items: [] };
  const data = {
    job: job as unknown as JobWithHistory,
    profile: undefined,
    children: none,
    remedy: null,
    alike: 0,
  };
  const [, course = ''] =
    /<ol class="course-of card"[^>]*>(.*?)<\/ol>/.exec(renderToString(createElement(JobView, { data }))) ??
    [];
  const states = [...course.matchAll(/<li.*?<\/li>/g)].map(([item]) => item.replaceAll(/<[^>]*>/g, ''));
  t.deepEqual(states, [
    'Queued 0 ms',
    'Processing 0 ms',
    'Awaiting a signer',
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

test('kinds without actors are named in one line, and a figure that is zero has none', (t) => {
  const kind = {
    count: 0,
    states: {},
    stopped: 0,
    deepestMailbox: 0,
    processed: 0,
    perSecond: 0,
    lastError: null,
  };
  const kinds = [
    { ...kind, kind: 'mail' },
    { ...kind, kind: 'job', count: 4, states: { Failed: 4 } },
    { ...kind, kind: 'draft' },
  ] as unknown as ActorKind[];
  const page = renderToString(createElement(ActorsView, { data: { kinds, states: [] } }));
  t.regex(page, /2 kinds without actors<\/summary><p class="muted">mail, draft</);
  t.is(page.match(/<tr/g)?.length, 2, 'the head, and one kind');
  t.is(page.match(/<td [^>]*><\/td>/g)?.length, 4);
});

test('each node is shown with its state, version, load and when it was heard, lost ones first', (t) => {
  const node = {
    version: '1.2.0',
    isThis: false,
    startedAt: '2026-05-26T15:42:11.000Z',
    silentMs: 900,
    leaseMs: 15_000,
    session: 1,
    draining: false,
    leases: ['pipeline'],
    effectsInFlight: 3,
    lagMs: 1,
    storeMs: 2,
  };
  const data = {
    nodes: [
      { ...node, name: 'a', isThis: true },
      { ...node, name: 'b', draining: true, version: '1.1.0', effectsInFlight: 1 },
      { ...node, name: 'c', silentMs: 15_001, leases: [], effectsInFlight: 0 },
    ],
    eventLoopDelay: { p50Ms: 1, p99Ms: 1, maxMs: 1 },
    effectsInFlight: 3,
    eventLoopUtilisation: 0,
    pool: { threads: 1, busy: 0, waiting: 0, utilisation: 0, stalled: [] },
    store: { engine: 'PostgreSQL', bytes: null },
    memory: { residentBytes: 1, heapBytes: 1 },
    shards: [],
    uptimeSeconds: 1,
  } satisfies Runtime;
  const text = renderToString(createElement(RuntimeView, { data }));
  const [, body = ''] = /<tbody id="nodes">(.*?)<\/tbody>/.exec(text) ?? [];
  const rows = [...body.matchAll(/<tr.*?<\/tr>/g)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/g)]
      .map(([, cell = '']) => cell.replaceAll(/<[^>]*>/g, ''))
      .slice(0, 5),
  );
  t.deepEqual(rows, [
    ['c', 'Lost', '1.2.0', '0 effects', '15 s ago'],
    ['a (this one)', 'Running', '1.2.0', '3 effects', '1 s ago'],
    ['b', 'Draining', '1.1.0', '1 effect', '1 s ago'],
  ]);
  t.regex(text, /1 of 3 lost.*2 versions/);
});

test('the picture of a state machine has room for the curves below its last row', (t) => {
  const ways = [
    { from: 'Queued', to: 'Deleted' },
    { from: 'Deleted', to: 'Queued' },
    { from: 'Queued', to: 'Failed' },
    { from: 'Failed', to: 'Deleted' },
    { from: 'Deleted', to: 'Failed' },
  ];
  const chart = {
    kind: 'job',
    version: 1,
    initial: 'Queued',
    states: ['Queued', 'Failed', 'Deleted'].map((name) => ({ name, final: false })),
    transitions: ways.map((way) => ({ ...way, event: 'GO' })),
  };
  const picture = renderToString(createElement(MachinePicture, { chart, path: [] }));
  const height = Number(/viewBox="0 0 [0-9]+ ([0-9]+)"/.exec(picture)?.[1]);
  const bends = [...picture.matchAll(/C[0-9.]+ ([0-9.]+) [0-9.]+ ([0-9.]+) /g)].flatMap(([, one, other]) => [
    Number(one),
    Number(other),
  ]);
  t.true(bends.length > 0);
  t.true(Math.max(...bends) <= height, `${Math.max(...bends)} of ${height}`);
});
