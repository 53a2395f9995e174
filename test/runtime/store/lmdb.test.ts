/** Everything that is particular to the store on disk: its writing thread, its groups, its failures. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { type ActorStore, Faults } from '@sealwright/runtime';
import {
  assertSound,
  backupLmdbStore,
  openLmdbCopy,
  openLmdbReader,
  openLmdbStore,
} from '@sealwright/runtime/lmdb';
import test, { type ExecutionContext } from 'ava';
import { Committer, startWriter, type WriterLink } from '#runtime/store/lmdb/lmdb-committer.js';
import { stepText } from '#runtime/store/lmdb/lmdb-tables.js';
import type { FromWriter, ToWriter } from '#runtime/store/lmdb/lmdb-wire.js';
import { A, B, effectOf, stepOf } from '../../contract/steps.ts';
import { roundsOf } from '../../project/rounds.ts';
import { folderFor } from '../folder.ts';

function open(t: ExecutionContext): { store: ActorStore; faults: Faults; folder: string } {
  const folder = folderFor(t);
  const faults = new Faults();
  const store = openLmdbStore({ folder, faults });
  t.teardown(() => store.close());
  return { store, faults, folder };
}

test('only owner and group can read the files of the store', async (t) => {
  const { store, folder } = open(t);
  t.true((await store.commit(stepOf(A, 0))).ok);
  for (const name of ['data.mdb', 'lock.mdb']) {
    t.is((statSync(join(folder, name)).mode & 0o777 & ~0o640).toString(8), '0', name);
  }
});

test('a failing transaction rejects its whole group, leaves nothing, and the next one works', async (t) => {
  const { store, faults } = open(t);
  faults.arm('store.group.in-transaction', 'throw');
  const more = { counters: { c: 1 }, rows: { put: [{ view: 'v', key: [1], value: 1 }], remove: [] } };
  const outcomes = await Promise.allSettled([A, B].map((actor) => store.commit(stepOf(actor, 0, more))));
  for (const outcome of outcomes) {
    t.like(outcome, { status: 'rejected', reason: { code: 'store.unavailable', retryable: true } });
  }
  t.deepEqual(await store.counters(''), {});
  t.deepEqual(await store.rows({ view: 'v', limit: 9 }), []);
  t.true((await store.commit(stepOf(A, 0, more))).ok);
  t.deepEqual(await store.counters(''), { c: 1 });
});

test('a commit with a lost answer was made, and its repetition is stale', async (t) => {
  const { store, faults } = open(t);
  faults.arm('store.group.committed.before-reply', 'throw');
  await t.throwsAsync(store.commit(stepOf(A, 0)), { code: 'store.unavailable' });
  t.is((await store.load(A))?.revision, 1);
  t.deepEqual(await store.commit(stepOf(A, 0)), { ok: false, reason: 'stale' });
});

test('a failed group neither releases nor takes a lease', async (t) => {
  const { store, faults } = open(t);
  const effect = effectOf(A, 1, 0, 5);
  await store.commit(stepOf(A, 0, { effects: [effect] }));
  t.is((await store.leaseEffects(5, 9)).length, 1);
  faults.arm('store.group.in-transaction', 'throw');
  await t.throwsAsync(store.commit(stepOf(A, 1, { settles: effect.key })), { code: 'store.unavailable' });
  t.deepEqual(await store.leaseEffects(5, 9), []);
  t.true((await store.commit(stepOf(A, 1, { settles: effect.key }))).ok);
});

test('more steps than one group holds are all committed, in order', async (t) => {
  const { store } = open(t);
  const outcomes = await Promise.all(
    Array.from({ length: 1500 }, (_, revision) => store.commit(stepOf(A, revision, { counters: { c: 1 } }))),
  );
  t.true(outcomes.every(({ ok }) => ok));
  t.deepEqual(await store.counters(''), { c: 1500 });
});

test('close writes the accepted steps and refuses later ones', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const handedOver = Promise.all([store.commit(stepOf(A, 0)), store.commit(stepOf(B, 0))]);
  const closing = store.close();
  await t.throwsAsync(store.commit(stepOf(A, 1)), { code: 'store.unavailable' });
  t.true((await handedOver).every(({ ok }) => ok));
  await closing;
  await store.close();
  const again = openLmdbStore({ folder });
  t.is((await again.load(B))?.revision, 1);
  await again.close();
});

test('pending calls fail when the writing thread is lost, and close ends', async (t) => {
  const folder = folderFor(t);
  const notAFolder = join(folder, 'file');
  writeFileSync(notAFolder, 'x');
  let tellWhy: (why: string) => void = () => {};
  const lost = new Promise<string>((resolve) => {
    tellWhy = resolve;
  });
  const committer = new Committer(
    startWriter(join(notAFolder, 'store')),
    new Faults(),
    () => {},
    (why) => tellWhy(why),
  );
  t.is(committer.refusal, undefined);
  await t.throwsAsync(committer.commit(stepOf(A, 0)), { code: 'store.unavailable' });
  await t.throwsAsync(committer.commit(stepOf(A, 0)), { code: 'store.unavailable' });
  t.is(committer.refusal, await lost);
  await t.notThrowsAsync(committer.close());
});

test.serial(
  'after the writing thread ends, the store reports it once, keeps acknowledged steps and is still readable',
  async (t) => {
    const folder = folderFor(t);
    const born = once(process, 'worker');
    let tellWhy: (why: string) => void = () => {};
    const lost = new Promise<string>((resolve) => {
      tellWhy = resolve;
    });
    const store = openLmdbStore({ folder, onLost: (why) => tellWhy(why) });
    const [thread] = (await born) as [Worker];
    t.true((await store.commit(stepOf(A, 0))).ok);
    await thread.terminate();
    t.is(store.refusal(), await lost);
    await t.throwsAsync(store.commit(stepOf(A, 1)), { code: 'store.unavailable' });
    t.is((await store.load(A))?.revision, 1);
    await store.close();
    const again = openLmdbStore({ folder });
    t.true((await again.commit(stepOf(A, 1))).ok);
    await again.close();
  },
);

test('groups that have arrived, also from another thread, go into one transaction, which answers each sender', async (t) => {
  const link = startWriter(folderFor(t));
  const { port1: ours, port2: theirs } = new MessageChannel();
  const main: FromWriter[] = [];
  const closed = new Promise<void>((resolve) => {
    link.onMessage((message) => (message.type === 'closed' ? resolve() : main.push(message)));
  });
  const group = (id: string): ToWriter => ({
    type: 'group',
    writes: [stepText(stepOf({ kind: 'job', id }, 0))],
    fault: undefined,
  });
  // All of it is there before the thread has begun to listen.
  ours.postMessage(group('theirs'));
  link.post({ type: 'attach', thread: 1, port: theirs }, [theirs]);
  for (const id of ['first', 'second', 'first']) link.post(group(id));
  const [answer] = await once(ours, 'message');
  t.deepEqual(answer, { type: 'done', refusals: [null], gone: [], serial: 1 });
  link.post({ type: 'close' });
  await closed;
  const done = main.filter(({ type }) => type === 'done');
  t.deepEqual(done, [
    { type: 'done', refusals: [null, null, { ok: false, reason: 'stale' }], gone: [], serial: 0 },
  ]);
  const foreign = main.filter(({ type }) => type === 'foreign');
  t.like(foreign, [{ groups: [{ thread: 1, serial: 1, gone: [] }] }]);
});

test('the first steps of a group are written before the last ones are computed', async (t) => {
  const posted: number[] = [];
  let answer: (message: FromWriter) => void = () => {};
  const link: WriterLink = {
    post: (message) => void (message.type === 'group' && posted.push(message.writes.length)),
    onMessage: (take) => {
      answer = take;
    },
    onEnd() {},
    hold() {},
    release() {},
  };
  const committer = new Committer(
    link,
    new Faults(),
    () => {},
    () => {},
  );
  const commit = (count: number) =>
    Array.from({ length: count }, (_, n) => committer.commit(stepOf({ kind: 'job', id: `${n}` }, 0)));
  const first = commit(32);
  t.deepEqual(posted, [], 'at first all of one turn go together');
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(posted, [32]);
  answer({ type: 'done', refusals: first.map(() => null), gone: [], serial: 0 });
  t.true((await Promise.all(first)).every(({ ok }) => ok));
  void commit(40);
  t.deepEqual(posted, [32, 16, 16]);
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(posted, [32, 16, 16, 8]);
});

test('a regularly closed store is not reported as lost', async (t) => {
  const lost: string[] = [];
  const store = openLmdbStore({ folder: folderFor(t), onLost: (why) => lost.push(why) });
  t.is(store.refusal(), undefined);
  await store.close();
  t.deepEqual(lost, []);
  t.is(store.refusal(), 'It is closed.');
});

test('a store grows past its reserved space, and reads continue', async (t) => {
  const { store } = open(t);
  const value = 'x'.repeat(4_000_000);
  for (let n = 0; n < 70; n++) {
    await store.commit(
      stepOf({ kind: 'job', id: `${n}` }, 0, { rows: { put: [{ view: 'v', key: [n], value }], remove: [] } }),
    );
    const [newest] = await store.rows({ view: 'v', reverse: true, limit: 1 });
    if (newest?.key[0] !== n) t.fail(`row ${n} is not there`);
  }
  t.is((await store.load({ kind: 'job', id: '0' }))?.revision, 1);
});

test('the store reports its path and size', (t) => {
  const { store, folder } = open(t);
  const { bytes, ...where } = store.describe();
  t.deepEqual(where, { engine: 'LMDB', location: folder });
  t.true((bytes ?? 0) > 4096);
});

test('a damaged file is refused with the backup and the command that restores it, and never ends the process', async (t) => {
  const folder = folderFor(t);
  const script = new URL('./damaged-stores.js', import.meta.url).pathname;
  const every = String(roundsOf(7, 1));
  const child = spawn(process.execPath, [script, folder, join(folder, 'damaged'), every], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [out, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const lines = out.trim().split('\n');
  t.deepEqual([code, signal], [0, null], lines.at(-1));
  const { tried, refused } = JSON.parse(lines.at(-1) ?? '') as { tried: number; refused: number };
  t.true(tried > 50 && refused > tried / 2, lines.at(-1));
  for (const line of lines.slice(0, -1)) {
    t.regex(line, /: (?:refused|opened|read in part)$/);
    if (/^cut (?:at|in) page [0-9]:/.test(line)) t.regex(line, /refused$/);
  }
});

test('a store that was closed in order is opened without a second look at its pages, and one that grew since is not', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  await store.commit(stepOf(A, 0));
  await store.close();
  const path = join(folder, 'data.mdb');
  const { mtime, atime } = statSync(path);
  const bytes = readFileSync(path);
  // The root of the tree of free pages, and its number, in the newer head.
  const [first, second] = [0, 4096].map((head) => bytes.readBigUInt64LE(head + 24 + 128));
  const head = Number(second) > Number(first) ? 4096 : 0;
  const root = Number(bytes.readBigUInt64LE(head + 24 + 24 + 40)) * 4096;
  bytes.writeUInt32LE(999, root);
  writeFileSync(path, bytes);
  utimesSync(path, atime, mtime);
  t.throws(() => assertSound(folder, 'all'), { code: 'store.damaged' });
  utimesSync(path, atime, new Date(mtime.getTime() + 1000));
  t.throws(() => openLmdbStore({ folder }), { code: 'store.damaged', message: /page \d+ was overwritten/ });
  t.throws(() => openLmdbReader(folder), { code: 'store.damaged' });
  t.throws(() => openLmdbCopy(folder, 'source'), { code: 'store.damaged' });
  await t.throwsAsync(backupLmdbStore(folder, join(folder, 'backup')), { code: 'store.damaged' });
});
