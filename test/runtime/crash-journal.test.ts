/** Stored work that ends the process does so a few times, and is then set aside. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEffect } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { CrashJournal } from '#runtime/effects/crash-journal.js';
import { folderFor } from './folder.ts';
import { createTestRuntime, gate, settle, T1, until } from './test-runtime.ts';

/** Splits lines into those of the first actors and those of the actors added later. */
const split = (said: readonly string[]) =>
  [false, true].map((isMore) => said.filter((line) => line.includes('more') === isMore)) as [
    string[],
    string[],
  ];

const WORKER = new URL('./deadly-worker.js', import.meta.url).pathname;

test('an effect that repeatedly ends the process is found alone, set aside, and runs after an operator releases it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-deadly-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const live = (mode: string) =>
    new Promise<{ readonly signal: unknown; readonly said: readonly string[] }>((resolve) => {
      execFile(process.execPath, [WORKER, folder, mode], (error, stdout) =>
        resolve({ signal: error?.signal ?? error?.code ?? null, said: stdout.trim().split('\n') }),
      );
    });
  for (const mode of ['make', 'together']) {
    const { signal, said } = await live(mode);
    t.is(signal, 'SIGKILL', mode);
    t.deepEqual([...said].sort(), ['run a', 'run b', 'run deadly', 'run z'], 'all run side by side');
  }
  const isolated = await live('add');
  t.is(isolated.signal, 'SIGKILL');
  const [first, more] = split(isolated.said);
  t.deepEqual(
    [...more].sort(),
    ['done more1', 'done more2', 'run more1', 'run more2'],
    'others run meanwhile',
  );
  t.is(first.at(-1), 'run deadly');
  for (let at = 0; at < first.length - 1; at += 2)
    t.is(first[at + 1], first[at]?.replace('run', 'done'), 'one at a time');
  const alone = await live('run');
  t.is(alone.signal, 'SIGKILL');
  t.deepEqual(alone.said, ['run deadly'], 'the one that ran at the third crash runs before all others');
  const after = await live('run');
  t.is(after.signal, null);
  t.false(after.said.includes('run deadly'));
  t.true(after.said.includes('set aside deadly'));
  t.regex(after.said.at(-1) ?? '', /^trouble effect\.set-aside: /);
  t.is([...first, ...after.said].filter((line) => line.startsWith('done')).length, 3);
  const still = await live('run');
  t.deepEqual(still.said.slice(0, 1), ['set aside deadly'], 'a stop in order forgets nothing');
  const again = await live('again');
  t.is(again.signal, null);
  t.deepEqual(again.said.slice(0, 3), ['run deadly', 'done deadly', 'set aside ']);
});

test('an isolated effect that ends well when it runs alone frees the others; a third crash counts as the first', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-journal-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const effect = (key: string): StoredEffect => ({
    key,
    actor: { kind: 'counting', id: key },
    effect: { do: 'work' },
    dueAt: 0,
    failures: 0,
    lastError: null,
  });
  /** Returns what a start finds; the process then begins effects, ends some, and crashes. */
  const live = (begun: readonly string[], ended: readonly string[], isAlone = false) => {
    const journal = new CrashJournal(join(folder, 'effects.json'), (error) => t.fail(String(error)));
    const found = [journal.isolated.map(({ key }) => key), journal.exclusive?.key, journal.setAside.length];
    if (isAlone) for (const key of begun.slice(0, 1)) journal.beginExclusive(effect(key));
    else journal.begin(begun.map(effect));
    for (const key of ended) journal.end(key);
    if (isAlone) {
      journal.endExclusive();
      journal.begin(begun.slice(1).map(effect));
    }
    return found;
  };
  t.deepEqual(live(['a', 'b', 'c'], []), [[], undefined, 0]);
  t.deepEqual(live(['a', 'b', 'd'], []), [[], undefined, 0]);
  // Beside the isolated "a" runs "e", which is to blame for the third crash.
  t.deepEqual(live(['e', 'a'], []), [['a', 'b'], undefined, 0]);
  t.deepEqual(live(['a', 'e', 'b'], ['a'], true), [['a', 'b'], 'a', 0]);
  t.deepEqual(live(['e', 'b'], []), [[], undefined, 0], 'nothing is isolated after a crash without "a"');
  t.deepEqual(live([], []), [['e', 'b'], undefined, 0]);
  t.deepEqual(live([], []), [[], undefined, 0]);
});

/** A runtime that starts after the last of `crashes` in a row, each with one effect of each of these actors in progress. */
async function afterCrashes(
  t: ExecutionContext,
  crashes: number,
  ids: readonly string[],
  store: MemoryStore,
) {
  const before = createTestRuntime({ store });
  for (const id of ids) {
    await before.system.create({ kind: 'tally', id }, null);
    await before.system.send({ kind: 'tally', id }, { type: 'WORK', what: id });
  }
  const pending = await Promise.all(ids.map((id) => store.pendingEffects({ kind: 'tally', id })));
  const running = pending.flat().map(({ key, actor, effect }) => ({ key, actor, do: effect.do }));
  const crashJournal = join(folderFor(t), 'effects.json');
  const record = { deaths: crashes - 1, running, suspects: running, alone: false, setAside: [] };
  await writeFile(crashJournal, `${JSON.stringify(record)}\n`);
  const { runs, handler } = gate();
  return { runs, ...createTestRuntime({ store, work: handler, crashJournal, seed: 2 }) };
}

test('an isolated effect that its actor drops while it waits for its turn does not run', async (t) => {
  const ids = ['t1', 't2', 't3'];
  const { runs, runtime, system } = await afterCrashes(t, 2, ids, new MemoryStore());
  runtime.start();
  await until('the first isolated effect', () => runs.length === 1);
  await settle();
  t.is(runs.length, 1, 'the others wait');
  const [dropped, kept] = ids.filter((id) => id !== runs[0]?.what);
  t.true((await system.send({ kind: 'tally', id: dropped ?? '' }, { type: 'DROP' })).accepted);
  runs[0]?.done();
  await until('the effect that was not dropped', () => runs.some(({ what }) => what === kept));
  for (const run of runs) run.done();
  await settle();
  t.deepEqual(
    runs.slice(1).map(({ what }) => what),
    [kept],
  );
  await runtime.stop();
});

test('a stop waits for the effect that runs alone', async (t) => {
  const { runs, runtime, store } = await afterCrashes(t, 3, ['t1'], new MemoryStore());
  for (let times = 0; times < 2; times += 1) runtime.start();
  await until('the effect', () => runs.length > 0);
  await settle();
  t.is(runs.length, 1, 'a second start begins nothing again');
  let isStopped = false;
  const stop = runtime.stop().then(() => {
    isStopped = true;
  });
  await settle();
  t.false(isStopped);
  runs[0]?.done();
  await stop;
  t.deepEqual(await store.pendingEffects(T1), []);
});

test('after a stop, the effect that was to run alone does not begin', async (t) => {
  const store = new MemoryStore();
  const { runs, runtime } = await afterCrashes(t, 3, ['t1'], store);
  let open = () => {};
  const isOpen = new Promise<void>((resolve) => {
    open = resolve;
  });
  const pendingEffects = store.pendingEffects.bind(store);
  store.pendingEffects = async (actor) => {
    await isOpen;
    return pendingEffects(actor);
  };
  runtime.start();
  open();
  const stop = runtime.stop();
  await settle();
  const begun = runs.length;
  for (const run of runs) run.done();
  await stop;
  t.is(begun, 0);
});

test('of two isolated effects in progress at a crash, the one that began last runs alone next', (t) => {
  const path = join(folderFor(t), 'effects.json');
  const effect = (key: string): StoredEffect => ({
    key,
    actor: T1,
    effect: { do: 'work' },
    dueAt: 0,
    failures: 0,
    lastError: null,
  });
  const live = (begun: readonly string[]) => {
    const journal = new CrashJournal(path, (error) => t.fail(String(error)));
    for (const key of begun) journal.begin([effect(key)]);
    return journal.exclusive?.key;
  };
  for (let start = 1; start <= 3; start += 1) t.is(live(['slow', 'deadly']), undefined);
  t.is(live([]), 'deadly');
});
