/** Actors at rest: what is packed reads as before, goes on as before, and shows each change of it. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type ActorStore, systemClock } from '@sealwright/runtime';
import { HistoryPacker } from '@sealwright/runtime/history';
import {
  assertSound,
  backupLmdbStore,
  openLmdbCopy,
  openLmdbReader,
  openLmdbStore,
} from '@sealwright/runtime/lmdb';
import test, { type ExecutionContext } from 'ava';
import { CHECKPOINTS_VIEW, LEAVES_VIEW, storedLeaf } from '#runtime/history/checkpoint.js';
import { verifyHistory } from '#runtime/history/verify-history.js';
import { readPacked } from '#runtime/store/lmdb/lmdb-packed.js';
import { openTables } from '#runtime/store/lmdb/lmdb-tables.js';
import { PACKED_WITH } from '#runtime/store/packed/packed-text.js';
import { stepOf } from '../../contract/steps.ts';
import { reached } from '../../project/waiting.ts';
import { folderFor } from '../folder.ts';
import { address, all, linesOf, packed, recordsOf, resting, stepWith } from './ended-actors.ts';

async function filled(t: ExecutionContext, count: number) {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  for (let number = 0; number < count; number += 1)
    await store.commit(stepWith(number, 0, linesOf(number, 1, number % 6, '')));
  return { folder, store };
}

test('packed actors and their journals read as before, here, by a reader and after a start', async (t) => {
  const { folder, store } = await filled(t, 40);
  const before = await all(store, 40);
  await packed(store, resting(0, 30));
  await packed(store, resting(0, 10));
  t.is(await all(store, 40), before);
  const reader = openLmdbReader(folder);
  t.is(await all(reader, 40), before);
  await reader.close();
  await store.close();
  const tables = openTables(folder);
  t.is((tables.packed.getStats() as { readonly entryCount: number }).entryCount, 30);
  const { entryCount } = tables.journal.getStats() as { readonly entryCount: number };
  t.is(
    entryCount,
    [30, 31, 32, 33, 34, 35, 36, 37, 38, 39].reduce((sum, n) => sum + (n % 6), 0),
  );
  await tables.root.close();
  const again = openLmdbStore({ folder });
  t.is(await all(again, 40), before);
  await again.close();
});

test('a packed actor takes its next step, is refused an outdated one, and ends with its journal', async (t) => {
  const { folder, store } = await filled(t, 20);
  await packed(store, resting(0, 20));
  // Not as of these revisions.
  await packed(store, resting(0, 20, 2));
  const head = (await store.journal(address(10))).at(-1)?.hash ?? '';
  t.deepEqual(await store.commit(stepWith(10, 2, [])), { ok: false, reason: 'stale' });
  t.deepEqual(await store.commit(stepWith(10, 0, [])), { ok: false, reason: 'stale' });
  t.true((await store.commit(stepWith(10, 1, linesOf(10, 5, 2, head)))).ok);
  t.deepEqual(
    (await store.journal(address(10))).map(({ id }) => id),
    [1, 2, 3, 4, 5, 6],
  );
  t.deepEqual(await store.journal(address(10)), linesOf(10, 1, 6, ''));
  t.is((await store.load(address(10)))?.revision, 2);
  await packed(store, resting(10, 11, 2));
  t.deepEqual(await store.journal(address(10)), linesOf(10, 1, 6, ''));
  t.true((await store.commit(stepWith(10, 2, [], { ends: true }))).ok);
  t.is(await store.load(address(10)), undefined);
  t.deepEqual(await store.journal(address(10)), []);
  await store.close();
  const tables = openTables(folder);
  t.is((tables.packed.getStats() as { readonly entryCount: number }).entryCount, 19, 'nothing is left of it');
  await tables.root.close();
});

test('a copy of a store has the actors and lines that are packed', async (t) => {
  const { folder, store } = await filled(t, 25);
  const plain = await records(t, store, folder);
  const again = openLmdbStore({ folder });
  await packed(again, resting(3, 21));
  t.deepEqual(await records(t, again, folder), plain);
});

test('a packed actor that takes pages of its own is no damage, after a crash and in a backup', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  // Does not become shorter than a page.
  const context = { text: randomBytes(6000).toString('base64') };
  const step = stepOf(address(1), 0, {}, { state: 'Completed', context });
  t.true((await store.commit(step)).ok);
  await packed(store, resting(1, 2));
  const before = await all(store, 2);
  const backup = join(folderFor(t), 'backup');
  await backupLmdbStore(folder, backup);
  await store.close();
  t.is(countPacked(folder), 1);
  t.notThrows(() => assertSound(folder, 'all'));
  // As a crash leaves it.
  rmSync(join(folder, 'closed'));
  for (const place of [folder, backup]) {
    const again = openLmdbStore({ folder: place });
    t.is(await all(again, 2), before);
    await again.close();
  }
});

async function records(t: ExecutionContext, store: ActorStore, folder: string) {
  await store.close();
  const found = await recordsOf(openLmdbCopy(folder, 'source'));
  t.true(JSON.stringify(found).length > 1000);
  return found;
}

test('each change of a packed actor or line is named', async (t) => {
  const { folder, store } = await filled(t, 5);
  await packed(store, resting(0, 5));
  await store.close();
  const verified = async () => {
    const reader = openLmdbReader(folder);
    const { fault, lines } = await verifyHistory(reader, { kinds: ['job'] });
    await reader.close();
    return fault === undefined ? `whole: ${lines}` : `${fault.entry}: ${fault.problem}`;
  };
  t.is(await verified(), 'whole: 10');
  const edit = async (change: (text: string) => string) => {
    const tables = openTables(folder);
    const value = tables.actors.get(['job', 'job-4']) ?? '';
    const [number] = JSON.parse(value) as [number];
    const bytes = tables.packed.get(number) ?? Buffer.of(0);
    const method = PACKED_WITH[bytes[0] ?? -1];
    const text = inflateRawSync(bytes.subarray(1), method).toString();
    const changed = change(text);
    t.not(changed, text);
    const packed = deflateRawSync(changed, method);
    tables.packed.putSync(number, Buffer.concat([bytes.subarray(0, 1), packed]));
    t.is(readPacked(tables, ['job', 'job-4'], value).lines.length, changed.split('\n').length - 1);
    await tables.root.close();
    const found = await verified();
    const undo = openTables(folder);
    undo.packed.putSync(number, Buffer.from(bytes));
    await undo.root.close();
    return found;
  };
  const changed = (n: number) =>
    `job/job-4 line ${n}: The line, or the hash of the line before it, was changed.`;
  t.is(await edit((text) => text.replace('Line 2', 'Line 7')), changed(2));
  t.is(await edit((text) => text.replace('"id":4,"at":1', '"id":4,"at":2')), changed(4));
  t.is(
    await edit((text) => text.split('\n').toSpliced(2, 1).join('\n')),
    'job/job-4 line 2: The line is missing.',
  );
  t.is(
    await edit((text) => text.split('\n').slice(0, -1).join('\n')),
    'job/job-4 line 4: The line is missing.',
  );
  t.is(await edit((text) => text.replace(/"check":"(.{8})"}$/, '"check":"00000000"}')), changed(4));
  t.is(await verified(), 'whole: 10');
  const tables = openTables(folder);
  tables.packed.putSync(1, Buffer.of(1, 2, 3));
  await tables.root.close();
  t.regex(await verified(), /^the store: The store holds actor job\/job-0 that is no JSON/);
});

test('a packed actor that is damaged stays as it is, and fails no step of others', async (t) => {
  const { folder, store } = await filled(t, 6);
  await packed(store, resting(4, 5));
  await store.close();
  const bytes = Buffer.of(1, 2, 3);
  const tables = openTables(folder);
  tables.packed.putSync(1, bytes);
  // No JSON, and as of its revision.
  tables.actors.putSync(['job', 'job-5'], '{', 1);
  await tables.root.close();
  const again = openLmdbStore({ folder });
  // Of one transaction.
  const committed = await Promise.all([
    again.commit(stepWith(3, 1, [])),
    again.commit(stepWith(4, 1, [])),
    packed(again, resting(5, 6)),
  ]);
  t.deepEqual([committed[0].ok, committed[1].ok], [true, false]);
  t.deepEqual(await again.packing?.doneUntil('node'), ['node', 1, 1]);
  await t.throwsAsync(again.load(address(4)), { code: 'store.damaged' });
  await again.close();
  const after = openTables(folder);
  t.deepEqual(after.packed.get(1), bytes);
  await after.root.close();
});

test('a store whose process is killed while it packs reads as before, and the rest is packed later', async (t) => {
  const { folder, store } = await filled(t, 120);
  const before = await all(store, 120);
  await store.close();
  const worker = fileURLToPath(new URL('./packing-worker.js', import.meta.url));
  for (const said of [3, 30, 70]) {
    const child = spawn(process.execPath, [worker, folder, 'job'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    let lines = 0;
    for await (const chunk of child.stdout) {
      lines += String(chunk).split('\n').length - 1;
      if (lines >= said) child.kill('SIGKILL');
    }
    await ended;
    const again = openLmdbStore({ folder });
    t.is(await all(again, 120), before);
    await again.close();
    t.true(countPacked(folder) >= said);
  }
  const again = openLmdbStore({ folder });
  await packed(again, resting(0, 120));
  t.is(await all(again, 120), before);
  await again.close();
  t.is(countPacked(folder), 120);
});

function countPacked(folder: string): number {
  const tables = openTables(folder);
  const { entryCount } = tables.packed.getStats() as { readonly entryCount: number };
  void tables.root.close();
  return entryCount;
}

test('ended actors of sealed checkpoints are packed, also those of before, and it goes on after a start', async (t) => {
  const { folder, store } = await filled(t, 60);
  let revision = 0;
  const seal = async (on: ActorStore, sequence: number, numbers: readonly number[]) => {
    const leaves = numbers.flatMap((number) =>
      (['head', 'state'] as const).map((type) =>
        // Those of earlier programs have names.
        storedLeaf({ type, ...address(number), line: 1, hash: 'ab'.repeat(32) }, sequence === 1),
      ),
    );
    const put = [
      { view: CHECKPOINTS_VIEW, key: ['node', sequence], value: null },
      ...leaves.map((value, at) => ({ view: LEAVES_VIEW, key: ['node', sequence, at], value })),
    ];
    const step = stepOf({ kind: 'history', id: 'node' }, revision, { rows: { put, remove: [] } });
    t.true((await on.commit(step)).ok);
    revision += 1;
  };
  const packer = (on: Pick<ActorStore, 'packing' | 'rows'>, states: readonly string[]) => {
    const log = { debug() {}, info() {}, warn: t.fail, error: t.fail };
    return new HistoryPacker({ store: on, clock: systemClock, log, restsIn: new Map([['job', states]]) });
  };
  const numbers = (from: number, to: number) => resting(from, to).map((_, at) => from + at);
  await seal(store, 1, numbers(0, 40));
  const before = await all(store, 60);
  const first = packer(store, ['Completed']);
  first.start();
  await reached(async () => (await store.packing?.doneUntil('node'))?.[2] === 79);
  first.stop();
  t.is(await all(store, 60), before);
  await store.close();
  t.is(countPacked(folder), 40);
  const again = openLmdbStore({ folder });
  t.teardown(() => again.close());
  await seal(again, 2, numbers(40, 50));
  const other = packer(again, ['Failed']);
  other.start();
  await reached(async () => (await again.packing?.doneUntil('node'))?.[1] === 2);
  await seal(again, 3, numbers(50, 60));
  let passes = 0;
  const { packing } = again;
  const told = {
    ...packing,
    refill: async (goesOn: () => Promise<boolean>) => {
      await packing?.refill?.(goesOn);
      passes += 1;
    },
  };
  const third = packer({ packing: told as NonNullable<typeof packing>, rows: (query) => again.rows(query) }, [
    'Completed',
  ]);
  third.start();
  await reached(async () => (await again.packing?.doneUntil('node'))?.[1] === 3 && passes === 1);
  t.is(await all(again, 60), before);
  await again.close();
  // No actor of the second checkpoint was in such a state.
  t.is(countPacked(folder), 50);
});
