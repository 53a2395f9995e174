import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test from 'ava';
import { STORE_FORMAT } from '#runtime/model/store-formats.js';
import { openTables } from '#runtime/store/lmdb/lmdb-tables.js';
import { folderFor } from '../folder.ts';

const HOLDER = new URL('./lock-holder.js', import.meta.url).pathname;

/** A process that opens the store and says what came of it. */
async function holder(folder: string) {
  const child = spawn(process.execPath, [HOLDER, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, said: String(said).trim() };
}

test('a store is opened by one process at a time, and the refusal names the process', async (t) => {
  const folder = folderFor(t);
  const { child, said } = await holder(folder);
  t.is(said, 'open');
  t.throws(() => openLmdbStore({ folder }), {
    code: 'store.locked',
    message: new RegExp(`process ${child.pid}`),
  });
  t.is((await holder(folder)).said, 'store.locked');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const store = openLmdbStore({ folder });
  await store.close();
  t.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('owner.')),
    [],
  );
});

test('the same process does not open a store twice', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  t.throws(() => openLmdbStore({ folder }), { code: 'store.locked' });
  await store.close();
  const again = openLmdbStore({ folder });
  await again.close();
});

test('the claim of a dead process whose pid is in use again is taken over', async (t) => {
  const folder = folderFor(t);
  const left = `owner.${process.ppid}.00000000123`;
  writeFileSync(join(folder, left), '');
  const store = openLmdbStore({ folder });
  const claims = readdirSync(folder).filter((name) => name.startsWith('owner.'));
  t.deepEqual([claims.length, claims.includes(left)], [1, false]);
  await store.close();
});

test('at most one of many concurrent processes gets the store', async (t) => {
  const folder = folderFor(t);
  writeFileSync(join(folder, 'owner.999999.00000000123'), '');
  const all = await Promise.all(Array.from({ length: 6 }, () => holder(folder)));
  const said = all.map((one) => one.said);
  t.true(said.filter((text) => text === 'open').length <= 1, said.join());
  t.true(
    said.every((text) => text === 'open' || text === 'store.locked'),
    said.join(),
  );
  for (const { child } of all) child.kill('SIGKILL');
  await Promise.all(all.map(({ child }) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
});

test('a store by a newer version is refused and left unchanged', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  await store.close();
  const tables = openTables(folder);
  tables.root.openDB({ name: 'meta', encoding: 'string' }).putSync(['format'], String(STORE_FORMAT + 1));
  await tables.root.close();
  const before = readFileSync(join(folder, 'data.mdb'));
  t.throws(() => openLmdbStore({ folder }), {
    code: 'store.newer-format',
    message: /store format \d+; this one reads up to \d+\)\.$/,
  });
  mkdirSync(`${folder}-before-upgrade`);
  t.teardown(() => rmSync(`${folder}-before-upgrade`, { recursive: true }));
  t.throws(() => openLmdbStore({ folder }), { message: new RegExp(`is in ${folder}-before-upgrade\\.`) });
  t.true(before.equals(readFileSync(join(folder, 'data.mdb'))));
  t.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('owner.')),
    [],
  );
});
