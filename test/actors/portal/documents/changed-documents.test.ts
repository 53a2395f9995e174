/** Tables of lists that are kept over a start. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { ActorStore, RowQuery } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test, { type ExecutionContext } from 'ava';
import { DocumentColumns } from '../../../../actors/portal/document-records/document-columns.ts';
import type { DocumentQuery } from '../../../../actors/portal/document-records/document-filter.ts';
import { openTestStore } from '../../../postgres/test-store.ts';
import { casesOf, roundsOf } from '../../../project/rounds.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { OURS, THEIRS } from './some-documents.ts';
import { columnsWithSnapshots, StoredDocuments } from './stored-documents.ts';

const QUERIES: readonly Partial<DocumentQuery>[] = [
  {},
  { expiring: true },
  { pendingSignature: true },
  { status: 'Pending' as const },
  { folders: ['f1', '-'] },
  ...(['Name', 'Key', 'CreatorName', 'Tag', 'Any'] as const).flatMap((queryType) =>
    ['lease', 'an'].map((q) => ({ q, queryType })),
  ),
  ...['-4000-8000-', '000a', 'document-2'].map((q) => ({ q, queryType: 'Id' as const })),
  ...['ana', 'a1', '529'].flatMap((participantQ) => [
    { participantQ },
    { participantQ, pendingSignature: true },
  ]),
  { filterByDocumentType: true, documentType: 'Deed' as const },
  { createdFrom: 1 },
  { q: 'nowhere' },
];
const ALL = { newestFirst: true, offset: 0, limit: 100_000, total: undefined };

/** The store, with the number of rows read. */
function counting(store: ActorStore): ActorStore & { read: number } {
  const counted = Object.create(store, { read: { value: 0, writable: true } });
  for (const name of ['commit', 'counters', 'actors', 'close'] as const)
    counted[name] = (...args: never[]) => (store[name] as (...args: never[]) => unknown).apply(store, args);
  counted.rows = async (query: RowQuery) => {
    const rows = await store.rows(query);
    counted.read += rows.length;
    return rows;
  };
  Object.defineProperty(counted, 'marks', { value: store.marks });
  return counted;
}

const openLmdb: typeof openTestStore = async (options) => openLmdbStore(options);

/** Compares tables that are loaded with those that are built. @returns rows read to load them, and to build them */
async function compare(t: ExecutionContext, folder: string, root: string, open = openTestStore) {
  const inner = await open({ folder });
  const store = counting(inner);
  const all = counting(inner);
  const loaded = await columnsWithSnapshots(store, root);
  const built = new DocumentColumns(all, await inner.counters('documents/'));
  for (const columns of [loaded, built]) await columns.prepare(1);
  const reads = { loaded: store.read, built: all.read };
  let found = 0;
  for (const organization of [OURS, THEIRS])
    for (const filter of QUERIES) {
      const query: DocumentQuery = { limit: 1, offset: 0, newestFirst: true, ...filter };
      const page = await loaded.page(organization, query, ALL);
      const expected = await built.page(organization, query, ALL);
      const other = expected?.found.find(
        (one, at) => JSON.stringify(one) !== JSON.stringify(page?.found[at]),
      );
      t.deepEqual([other, page?.totalCount], [undefined, expected?.totalCount], JSON.stringify(query));
      found += page?.totalCount ?? 0;
    }
  t.true(found > 100);
  return { inner, loaded, reads };
}

test('a table that was kept finds the same as one that is built, whatever has changed since', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  let store = await openTestStore({ folder });
  let columns = await columnsWithSnapshots(store, root);
  let documents = new StoredDocuments(store, columns, 5);
  await documents.change(1_500, 0);
  await columns.prepare(1);
  let fewer = 0;
  const rounds = roundsOf(4, 6);
  for (let round = 0; round < rounds; round += 1) {
    // Documents change while the table is written, and afterwards.
    await Promise.all([columns.snapshots?.save(0), documents.change(20, 15)]);
    await documents.change(round * 5, round * 8);
    if (round === 3) await documents.change(0, 1_500);
    await store.close();
    const { inner, loaded, reads } = await compare(t, folder, root);
    fewer += reads.loaded < reads.built * 0.9 ? 1 : 0;
    store = inner;
    columns = loaded;
    documents = new StoredDocuments(store, columns, 100 + round);
    await documents.load();
  }
  t.true(fewer >= 2, `${fewer} of ${rounds} tables were loaded`);
  await store.close();
});

test('a file that is damaged, of another moment or of another store is not used', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  const other = folderFor(t);
  const write = async (seed: number, keeps: boolean) => {
    const store = openLmdbStore({ folder });
    const columns = await columnsWithSnapshots(store, root);
    const documents = new StoredDocuments(store, columns, seed);
    await documents.load();
    await columns.prepare(1);
    await documents.change(800, 50);
    await columns.prepare(1);
    if (keeps) await columns.snapshots?.save(0);
    await store.close();
  };
  const isLoaded = async () => {
    const { inner, reads } = await compare(t, folder, root, openLmdb);
    await inner.close();
    return reads.loaded < reads.built / 2;
  };
  await write(1, true);
  cpSync(folder, other, { recursive: true });
  t.true(await isLoaded());
  const lists = join(root, 'lists');
  const [name = ''] = readdirSync(lists).filter((one) => one.startsWith(OURS));
  const whole = readFileSync(join(lists, name));
  for (const at of casesOf([100, whole.length - 3], [whole.length >> 1, whole.length - 200])) {
    const torn = Buffer.from(whole);
    torn[at] = (torn[at] ?? 0) ^ 1;
    writeFileSync(join(lists, name), torn);
    t.false(await isLoaded(), `byte ${at}`);
  }
  writeFileSync(join(lists, name), whole.subarray(0, whole.length - 100));
  t.false(await isLoaded());
  writeFileSync(join(lists, name), whole);
  t.true(await isLoaded());
  await write(2, true);
  await write(3, true);
  const newest = readFileSync(join(lists, name));
  writeFileSync(join(lists, name), whole);
  t.false(await isLoaded(), 'of a moment that is not known any more');
  writeFileSync(join(lists, name), newest);
  t.true(await isLoaded());
  // The store of an older backup, to which as much was written since.
  cpSync(other, folder, { recursive: true, force: true });
  await write(4, false);
  writeFileSync(join(lists, name), newest);
  t.false(await isLoaded(), 'of a later moment of another past');
});

test('a table that cannot be written leaves the earlier file', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  const store = openLmdbStore({ folder });
  let keeps = 0;
  const columns = await columnsWithSnapshots(store, root, () => {
    keeps += 1;
    return `keep-${keeps}`;
  });
  const documents = new StoredDocuments(store, columns, 1);
  await documents.change(800, 0);
  await columns.prepare(1);
  await columns.snapshots?.save(0);
  const [ours = ''] = readdirSync(join(root, 'lists')).filter((one) => one.startsWith(OURS));
  const earlier = readFileSync(join(root, 'lists', ours));
  const obstacle = join(root, 'lists', `${ours}.keep-2.part`);
  mkdirSync(obstacle);
  await documents.change(5, 5);
  await columns.snapshots?.save(0);
  t.is(keeps, 2);
  t.deepEqual(readFileSync(join(root, 'lists', ours)), earlier);
  await store.close();
  rmSync(obstacle, { recursive: true });
  const { inner, reads } = await compare(t, folder, root, openLmdb);
  t.true(reads.loaded < reads.built / 2);
  await inner.close();
});

test('after a service was killed at any moment, tables find what the rows say', async (t) => {
  const folder = folderFor(t);
  const root = folderFor(t);
  const program = new URL('./snapshot-writer.js', import.meta.url).pathname;
  let fewer = 0;
  for (const [seed, rounds] of [9, 12, 5].entries()) {
    const child = spawn(process.execPath, [program, folder, root, String(seed)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let left = rounds;
    for await (const _line of createInterface({ input: child.stdout })) {
      left -= 1;
      if (left === 0) child.kill('SIGKILL');
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    t.is(child.signalCode, 'SIGKILL');
    const { inner, reads } = await compare(t, folder, root, openLmdb);
    fewer += reads.loaded < reads.built / 2 ? 1 : 0;
    await inner.close();
  }
  t.true(existsSync(join(root, 'lists')));
  t.log(`${fewer} of 3 were loaded`);
});
