/** Pages that LMDB leaves half empty are filled; what is stored reads as before. Source: docs/decisions/0295-ended-actors-are-packed.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ActorStore, Row } from '@sealwright/runtime';
import { assertSound, openLmdbStore } from '@sealwright/runtime/lmdb';
import test, { type ExecutionContext } from 'ava';
import { openTables } from '#runtime/store/lmdb/lmdb-tables.js';
import { effectOf, stepOf } from '../../contract/steps.ts';
import { folderFor } from '../folder.ts';
import { writeSideBySide } from './side-by-side.ts';

const goesOn = async () => {
  await nextTurn();
  return true;
};
const refill = async (store: ActorStore, passes: number) => {
  for (let pass = 0; pass < passes; pass += 1) await store.packing?.refill?.(goesOn);
};

/** Everything that is stored, by the bytes of keys and values, and the number of pages. */
async function contentOf(folder: string) {
  const tables = openTables(folder);
  const content: unknown[] = [];
  const pages: { [table: string]: number } = {};
  for (const name of ['actors', 'journal', 'rows', 'names', 'effects', 'due', 'counters'] as const) {
    const bytes = tables.root.openDB<Buffer, (string | number)[]>({
      name,
      encoding: 'binary',
      ...(name === 'actors' && { useVersions: true }),
    });
    for (const { key, value, version } of bytes.getRange({ versions: name === 'actors' }))
      content.push([name, key, value.toString('base64'), version]);
    const { treeLeafPageCount } = tables[name].getStats() as { readonly treeLeafPageCount: number };
    pages[name] = treeLeafPageCount;
  }
  await tables.root.close();
  return { content: JSON.stringify(content), pages };
}

test('lists and actors that grew side by side fill their pages, and a further pass writes nothing', async (t) => {
  const folder = folderFor(t);
  let store = openLmdbStore({ folder });
  await writeSideBySide(store, 0, 900);
  await store.close();
  const before = await contentOf(folder);
  store = openLmdbStore({ folder });
  // What was written since the last pass is left alone.
  await refill(store, 1);
  await store.close();
  t.deepEqual(await contentOf(folder), before);
  store = openLmdbStore({ folder });
  await refill(store, 4);
  await store.close();
  const after = await contentOf(folder);
  t.is(after.content, before.content);
  for (const table of ['rows', 'actors']) {
    const was = before.pages[table] ?? 0;
    const is = after.pages[table] ?? 0;
    t.true(was > 60 && is < was * 0.75, `${is} of ${was} pages of ${table}`);
  }
  t.notThrows(() => assertSound(folder, 'all'));
  const bytes = readFileSync(join(folder, 'data.mdb'));
  store = openLmdbStore({ folder });
  await refill(store, 3);
  await store.close();
  t.true(bytes.equals(readFileSync(join(folder, 'data.mdb'))));
});

test('a value that is no text, one on pages of its own and an empty store stay as they are', async (t) => {
  const folder = folderFor(t);
  let store = openLmdbStore({ folder });
  await refill(store, 3);
  await writeSideBySide(store, 0, 300);
  const put = [{ view: 'list-5', key: [1_500_000_000_150.5], value: 'x'.repeat(20_000) }];
  await store.commit(stepOf({ kind: 'large', id: '1' }, 0, { rows: { put, remove: [] } }));
  await store.close();
  const tables = openTables(folder);
  const rows = tables.root.openDB<Buffer, (string | number)[]>({ name: 'rows', encoding: 'binary' });
  rows.putSync(['list-1', 1_500_000_000_150.5], Buffer.from([0x22, 0xff, 0xc0, 0x22]));
  await tables.root.close();
  const before = await contentOf(folder);
  store = openLmdbStore({ folder });
  await refill(store, 4);
  await store.close();
  const after = await contentOf(folder);
  t.is(after.content, before.content);
  t.true((after.pages['rows'] ?? 0) < (before.pages['rows'] ?? 0));
});

test('a store that is written, refilled and closed in the middle of a pass holds what was committed', async (t) => {
  const folder = folderFor(t);
  const rows = new Map<string, unknown>();
  let state = 20_261_128;
  const below = (end: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * end);
  };
  for (let round = 0; round < 7; round += 1) {
    const store = openLmdbStore({ folder });
    const change = async () => {
      const put = new Map<string, Row>();
      for (let at = 0; at < 40; at += 1) {
        const row = { view: `v${below(3)}`, key: [below(1_500)], value: 'y'.repeat(below(400)) };
        put.set(`${row.view} ${row.key}`, row);
      }
      const remove = Array.from({ length: below(40) }, () => ({ view: `v${below(3)}`, key: [below(1_500)] }));
      const gone = remove.filter(({ view, key }) => !put.has(`${view} ${key}`));
      const actor = { kind: 'a', id: `${round} ${below(1e9)}` };
      const committed = await store.commit(
        stepOf(actor, 0, { rows: { put: [...put.values()], remove: gone } }),
      );
      t.true(committed.ok);
      for (const { view, key } of gone) rows.delete(`${view} ${key}`);
      for (const [name, { value }] of put) rows.set(name, value);
    };
    for (let step = 0; step < 12; step += 1) await change();
    await refill(store, 1);
    let turns = 0;
    const pass = store.packing?.refill?.(async () => {
      turns += 1;
      // Steps go on meanwhile.
      if (turns % 3 === 0) await change();
      return turns < 5 + round;
    });
    if (round % 3 === 1) {
      await store.close();
      await pass?.catch(() => {});
    } else await pass;
    if (round % 3 !== 1) await store.close();
    const again = openLmdbStore({ folder });
    const read = new Map<string, unknown>();
    for (const view of ['v0', 'v1', 'v2'])
      for (const { key, value } of await again.rows({ view, limit: 10_000 }))
        read.set(`${view} ${key}`, value);
    t.deepEqual(new Map([...read].sort()), new Map([...rows].sort()));
    await again.close();
  }
});

test('a store whose process is killed while it fills pages holds what was stored', async (t: ExecutionContext) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  await writeSideBySide(store, 0, 900);
  const effect = effectOf({ kind: 'a', id: 'e' }, 1, 0, 1);
  await store.commit(stepOf({ kind: 'a', id: 'e' }, 0, { effects: [effect] }));
  await store.close();
  const before = await contentOf(folder);
  const worker = fileURLToPath(new URL('./refilling-worker.js', import.meta.url));
  for (const killedAfter of ['2', '5']) {
    const child = spawn(process.execPath, [worker, folder, killedAfter], { stdio: 'inherit' });
    t.is((await once(child, 'exit'))[1], 'SIGKILL');
    // As a start finds it after a crash.
    await openLmdbStore({ folder }).close();
    t.notThrows(() => assertSound(folder, 'all'));
    t.is((await contentOf(folder)).content, before.content);
  }
});
