/** Files of tables in a folder that nodes share. Source: docs/decisions/0294-tables-kept-over-a-start.md. */
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { TableSnapshots } from '../../../actors/shared/tables/table-snapshots.ts';
import { folderFor } from '../../runtime/folder.ts';

const HOUR = 60 * 60_000;

test('parts that an ended node has left are removed, those of a node that writes are not, and a failure leaves none', async (t) => {
  const root = folderFor(t);
  const lists = join(root, 'lists');
  mkdirSync(lists);
  const now = Date.now();
  for (const [name, age] of [
    ['jobs.table.left.part', 2 * HOUR],
    ['jobs.table.writing.part', HOUR / 2],
    ['theirs.table', 48 * HOUR],
  ] as const) {
    writeFileSync(join(lists, name), 'x');
    utimesSync(join(lists, name), (now - age) / 1000, (now - age) / 1000);
  }
  let fails = true;
  const marks = {
    begin: async () => {},
    end: async () => {
      if (fails) throw new Error('The database does not answer.');
    },
    changed: async () => undefined,
  };
  const table = {
    bytes: 1,
    unsaved: 1,
    save: async (path: string) => {
      await writeFile(path, 'table');
      return true;
    },
  };
  const place = { root, ids: { uuid: () => 'id' }, clock: { after: () => () => {}, now: () => now } };
  const snapshots = new TableSnapshots('jobs', place, { marks, nodes: {} }, () => [['jobs', table]]);
  await snapshots.save(0);
  t.deepEqual(readdirSync(lists).sort(), ['jobs.table.writing.part', 'theirs.table']);
  fails = false;
  await snapshots.save(0);
  t.true(existsSync(snapshots.pathOf('jobs')));
});
