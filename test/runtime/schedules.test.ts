/** Recurring messages: their times, missed runs, changed and ended schedules. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { defineActor } from '@sealwright/runtime';
import { memory } from '@sealwright/runtime/memory';
import {
  type Schedule,
  schedule,
  scheduleActor,
  schedules,
  storedSchedules,
} from '@sealwright/runtime/schedules';
import { testRuntime } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { assign, setup } from 'xstate';
import { lastCron, nextCron } from '#runtime/model/cron.js';
import { folderFor } from './folder.ts';

const HOUR = 3_600_000;

const reporter = defineActor('reporter', {
  version: 1,
  machine: setup({
    types: {} as {
      context: { runs: readonly number[] };
      events: { type: 'RUN'; due: number; what: string };
    },
    actions: { run: assign({ runs: ({ context, event }) => [...context.runs, event.due] }) },
  }).createMachine({ context: { runs: [] }, on: { RUN: { actions: 'run' } } }),
});

function times(cron: string, zone: string, from: string, count: number): readonly string[] {
  const found: string[] = [];
  for (let at = Date.parse(from); found.length < count; ) {
    at = nextCron(cron, zone, at);
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

test('times of cron are those of the clocks in the zone, also where the clocks change', (t) => {
  const cases: readonly [string, string, string, readonly string[]][] = [
    [
      '*/20 * * * *',
      'UTC',
      '2026-11-26T10:01:00Z',
      ['2026-11-26T10:20', '2026-11-26T10:40', '2026-11-26T11:00'],
    ],
    ['0 9 * * MON-FRI', 'UTC', '2026-11-27T09:00:00Z', ['2026-11-30T09:00', '2026-12-01T09:00']],
    ['30 6 1,15 * *', 'Asia/Kolkata', '2026-11-26T00:00:00Z', ['2026-12-01T01:00', '2026-12-15T01:00']],
    ['0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', ['2104-02-29T00:00']],
    // The 13th or a Friday.
    ['0 0 13 * 5', 'UTC', '2026-11-08T00:00:00Z', ['2026-11-13T00:00', '2026-11-20T00:00']],
    ['0 0 * * 7', 'UTC', '2026-11-26T00:00:00Z', ['2026-11-29T00:00']],
    // A step without an end stops at Saturday: 7 is Sunday again.
    ['0 0 * * 5/2', 'UTC', '2026-11-26T00:00:00Z', ['2026-11-27T00:00', '2026-12-04T00:00']],
    // With a star, both count: 29 February on a Saturday or Sunday.
    ['0 0 29 2 */6', 'UTC', '2026-11-26T00:00:00Z', ['2032-02-29T00:00', '2048-02-29T00:00']],
    // Clocks go from 2 to 3: the run at 2:30 is at 3:30.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T02:00:00Z', ['2026-03-29T01:30', '2026-03-30T00:30']],
    // Clocks go from 3 to 2: once.
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T02:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    // Each real hour.
    [
      '0 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:30:00Z',
      ['2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T02:00'],
    ],
    ['0 * * * *', 'Europe/Berlin', '2026-03-29T00:30:00Z', ['2026-03-29T01:00', '2026-03-29T02:00']],
    [
      '*/30 2-3 * * *',
      'Europe/Berlin',
      '2026-03-29T00:00:00Z',
      ['2026-03-29T01:00', '2026-03-29T01:30', '2026-03-30T00:00'],
    ],
    // The change is at midnight: the day has no 0:00.
    ['0 0 * * *', 'America/Santiago', '2026-09-05T05:00:00Z', ['2026-09-06T04:00', '2026-09-07T03:00']],
    // Half an hour.
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', ['2026-10-03T15:45', '2026-10-04T15:15']],
  ];
  for (const [cron, zone, from, expected] of cases)
    t.deepEqual(times(cron, zone, from, expected.length), expected, `${cron} ${zone}`);
  const until = Date.parse('2026-11-26T10:10:30Z');
  t.is(lastCron('*/5 * * * *', 'UTC', until - 365 * 24 * HOUR, until), Date.parse('2026-11-26T10:10:00Z'));
  t.is(lastCron('0 0 1 1 *', 'UTC', until - 365 * 24 * HOUR, until), Date.parse('2026-01-01T00:00:00Z'));
  t.is(lastCron('0 0 1 1 *', 'UTC', until - HOUR, until), undefined);
});

test('a malformed schedule is refused with what is wrong', async (t) => {
  const to = { to: reporter, id: 'r', event: { type: 'RUN', what: 'a' } } as const;
  for (const [options, message] of [
    [{ cron: '* * * *' }, /five fields/],
    [{ cron: '60 * * * *' }, /"60" is no minute/],
    [{ cron: '0 0 * * FRY' }, /"FRY" is no day of week/],
    [{ cron: '0 5-3 * * *' }, /"5-3" has no hour/],
    [{ cron: '1-2-3 * * * *' }, /"1-2-3" is no minute/],
    [{ cron: '*/0 * * * *' }, /"\*\/0" has no minute/],
    [{ cron: '0 0 31 2 *' }, /no day has it/],
    [{ cron: '0 0 * * *', timeZone: 'Europe/Atlantis' }, /no time zone/],
    [{ everyMs: 999 }, /at least 1000/],
    [{ everyMs: 1000.5 }, /`everyMs` is 1000\.5, not a whole number of at least 1000/],
    [{ everyMs: 1000, cron: '0 0 * * *' }, /not both/],
    [{ everyMs: 1000, missed: 'some' }, /`missed` is some/],
    [{ everyMs: 1000, overlap: 'allow' }, /`overlap` is allow/],
    [{ everyMs: 1000, id: 'r'.repeat(401) }, /at most 400 bytes/],
    [{ everyMs: 1000, event: { type: 'RUN', what: Number.NaN as unknown as string } }, /what/],
  ] as const)
    t.throws(() => schedule('s', { ...to, ...(options as { everyMs: number }) }), {
      code: 'schedule.malformed',
      message,
    });
  const twice = schedule('s', { ...to, everyMs: 1000 });
  t.throws(() => schedules([twice, twice]), { message: /one name/ });
  await t.throwsAsync(testRuntime([], { schedules: schedules([twice]) }), {
    message: /"reporter" is not among/,
  });
  // @ts-expect-error the machine has no such event
  schedule('s', { ...to, event: { type: 'WALK' }, everyMs: 1000 });
});

/** Runs schedules for a time, then nothing for `away`, then a minute; returns the times of the runs in hours. */
async function runsAfter(
  t: ExecutionContext,
  missed: 'one' | 'all' | 'none',
  when: object,
  away: number,
): Promise<readonly number[]> {
  const hourly = schedule('s', {
    ...(when as { everyMs: number }),
    to: reporter,
    id: 'r',
    event: { type: 'RUN', what: 'a' },
    missed,
  });
  const kit = await testRuntime([reporter], { store: memory(), schedules: schedules([hourly]) });
  const begin = kit.clock.now();
  await kit.runtime.create(reporter, 'r');
  await kit.advance(2.5 * HOUR);
  await kit.runtime.stop();
  kit.clock.advance(away);
  await kit.restart();
  await kit.advance(60_000);
  t.deepEqual(
    kit.log.filter((line) => line.startsWith('warn')),
    [],
  );
  const runs = (await kit.runtime.read(reporter, 'r'))?.context.runs ?? [];
  await kit.runtime.stop();
  return runs.map((due) => (due - begin) / HOUR);
}

test('missed runs are run once, each, or not', async (t) => {
  const every = { everyMs: HOUR };
  t.deepEqual(await runsAfter(t, 'one', every, 3 * HOUR), [1, 2, 5]);
  t.deepEqual(await runsAfter(t, 'all', every, 3 * HOUR), [1, 2, 3, 4, 5]);
  t.deepEqual(await runsAfter(t, 'none', every, 3 * HOUR), [1, 2]);
  // Half a minute late is not missed.
  t.deepEqual(await runsAfter(t, 'none', every, 0.5 * HOUR + 30_000), [1, 2, 3]);
  const cron = await runsAfter(t, 'one', { cron: '0 * * * *' }, 3 * HOUR);
  t.is(cron.length, 3);
  t.is((cron[2] ?? 0) - (cron[1] ?? 0), 3);
});

test('a schedule keeps its times over restarts, takes a change, and ends when it is no longer named', async (t) => {
  const to = { to: reporter, id: 'r' } as const;
  const list: Schedule[] = [
    schedule('a', { ...to, event: { type: 'RUN', what: 'x' }, everyMs: HOUR }),
    schedule('b', { ...to, event: { type: 'RUN', what: 'x' }, everyMs: 10 * HOUR }),
  ];
  const store = memory();
  const kit = await testRuntime([reporter], {
    store,
    schedules: { actor: scheduleActor, store: (...given) => schedules(list).store(...given) },
  });
  const begin = kit.clock.now();
  const dues = async () =>
    (await storedSchedules(kit.runtime)).map(({ name, due, last }) => [
      name,
      (due - begin) / HOUR,
      last && (last - begin) / HOUR,
    ]);
  await kit.runtime.create(reporter, 'r');
  await kit.advance(0.5 * HOUR);
  t.deepEqual(await dues(), [
    ['a', 1, null],
    ['b', 10, null],
  ]);
  // Another message, the same times.
  list[0] = schedule('a', { ...to, event: { type: 'RUN', what: 'y' }, everyMs: HOUR });
  await kit.restart();
  t.is((await dues())[0]?.[1], 1);
  await kit.advance(HOUR);
  t.deepEqual((await dues())[0], ['a', 2, 1]);
  list[0] = schedule('a', { ...to, event: { type: 'RUN', what: 'y' }, everyMs: 4 * HOUR });
  list.pop();
  await kit.restart();
  const [changed, ...others] = await dues();
  t.deepEqual(others, []);
  t.true(Math.abs(Number(changed?.[1]) - 5.5) < 0.01);
  await kit.advance(4 * HOUR);
  t.is((await kit.runtime.read(reporter, 'r'))?.context.runs.length, 2);
  await kit.runtime.stop();
  await t.throwsAsync(testRuntime([reporter], { store }), {
    code: 'store.no-path',
    message: /1 of runtime\.schedule in waiting/,
  });
  const ended = await testRuntime([reporter], { store, schedules: schedules([]) });
  t.deepEqual(await storedSchedules(ended.runtime), []);
  await ended.runtime.stop();
  await (await testRuntime([reporter], { store })).runtime.stop();
});

test('a run for an actor that does not exist is a dead letter, and the schedule goes on', async (t) => {
  const options = { to: reporter, id: 'r', event: { type: 'RUN', what: 'x' }, everyMs: HOUR } as const;
  const kit = await testRuntime([reporter], { schedules: schedules([schedule('a', options)]) });
  await kit.advance(1.5 * HOUR);
  t.is((await kit.runtime.deadLetters.list()).items.length, 1);
  await kit.runtime.create(reporter, 'r');
  await kit.advance(HOUR);
  t.is((await kit.runtime.read(reporter, 'r'))?.context.runs.length, 1);
  await kit.runtime.stop();
});

/** Takes two and a half hours for a run. */
const baker = defineActor('baker', {
  version: 1,
  machine: setup({
    types: {} as { context: { runs: readonly number[] }; events: { type: 'RUN'; due: number } },
    delays: { work: 2.5 * HOUR },
    actions: { run: assign({ runs: ({ context, event }) => [...context.runs, event.due] }) },
  }).createMachine({
    context: { runs: [] },
    initial: 'idle',
    states: { idle: { on: { RUN: { target: 'busy', actions: 'run' } } }, busy: { after: { work: 'idle' } } },
  }),
});

test('a run while the last one goes on is left out, waits, or becomes a dead letter', async (t) => {
  for (const [overlap, runs, letters] of [
    ['skip', [1, 4, 7], 0],
    ['queue', [1, 2, 3], 0],
    [undefined, [1, 4, 7], 4],
  ] as const) {
    const options = { to: baker, id: 'b', event: { type: 'RUN' }, everyMs: HOUR } as const;
    const hourly = schedule('s', { ...options, ...(overlap && { overlap }) });
    const kit = await testRuntime([baker], { schedules: schedules([hourly]) });
    const begin = kit.clock.now();
    await kit.runtime.create(baker, 'b');
    await kit.advance(3.5 * HOUR);
    await kit.restart();
    await kit.advance(4 * HOUR);
    const view = await kit.runtime.read(baker, 'b');
    t.deepEqual(
      view?.context.runs.map((due) => Math.round((due - begin) / HOUR)),
      runs,
      overlap,
    );
    t.is((await kit.runtime.deadLetters.list()).items.length, letters, overlap);
    t.deepEqual(
      kit.log.filter((line) => line.startsWith('warn')),
      [],
    );
    await kit.runtime.stop();
  }
});

test('a node of an older program neither ends nor changes the schedules of a newer one', async (t) => {
  const store = memory();
  const to = { to: reporter, id: 'r', event: { type: 'RUN', what: 'x' } } as const;
  const kept = schedule('kept', { ...to, everyMs: HOUR });
  const changed = schedule('kept', { ...to, everyMs: 2 * HOUR });
  const added = schedule('added', { ...to, everyMs: HOUR });
  const after = async (list: readonly Schedule[], version?: number) => {
    const kit = await testRuntime([reporter], {
      store,
      schedules: schedules(list, { ...(version && { version }) }),
    });
    const found = await storedSchedules(kit.runtime);
    const begin = kit.clock.now();
    await kit.runtime.stop();
    return found.map(({ name, due }) => `${name} ${Math.round((due - begin) / HOUR)}`);
  };
  t.deepEqual(await after([kept]), ['kept 1']);
  t.deepEqual(await after([changed, added], 2), ['added 1', 'kept 2']);
  t.deepEqual(await after([kept]), ['added 1', 'kept 2']);
  t.deepEqual(await after([changed], 2), ['kept 2']);
  t.deepEqual(await after([], 3), []);
  t.throws(() => schedules([], { version: 0 }), { message: /`version` is 0/ });
});

const WORKER = new URL('./schedule-worker.js', import.meta.url).pathname;

test('each time has one run, also where the process is killed between the parts of a run', async (t) => {
  const folder = folderFor(t);
  const live = async (...words: string[]): Promise<string> => {
    const child = spawn(process.execPath, [WORKER, folder, ...words], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
    return signal ?? (code === 0 ? said : `${code}`);
  };
  t.regex(await live('0', ''), /^\[/);
  for (const fault of [
    'timer.due.before-fire=kill:2',
    'step.computed.before-commit=kill:2',
    'step.committed.before-reply=kill:1',
    'step.committed.before-reply=kill:2',
  ])
    t.is(await live('20', fault), 'SIGKILL', fault);
  const runs = JSON.parse(await live('20', '')) as readonly number[];
  t.true(runs.length >= 20);
  t.deepEqual(
    runs.map((due) => due - (runs[0] ?? 0)),
    runs.map((_, n) => n * 1000),
  );
});
