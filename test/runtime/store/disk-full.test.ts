import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test from 'ava';
import { A, stepOf } from '../../contract/steps.ts';
import { smallDisk } from '../../service/small-disk.ts';
import { withTools } from '../../verifiers/tool.ts';
import { folderFor } from '../folder.ts';

const toolTest = withTools(test, 'tmpfs');

const run = promisify(execFile);
const WRITER = new URL('./disk-full-writer.js', import.meta.url).pathname;

test('on a full disk steps are refused as retryable, acknowledged steps stay, and the store recovers', async (t) => {
  const folder = folderFor(t);
  // A limit on the size of files simulates a full disk: writes past it fail, and it can be lifted.
  const script = 'trap "" XFSZ; ulimit -S -f 6144; exec "$0" "$1" "$2"';
  const { stdout } = await run('bash', ['-c', script, process.execPath, WRITER, folder]);
  const report = JSON.parse(stdout) as {
    acknowledged: number;
    refusals: string[];
    lost: number;
    torn: number;
    after: string;
  };
  t.true(report.acknowledged > 100, stdout);
  t.deepEqual(report.refusals, ['store.full:true']);
  t.is(report.lost, 0);
  t.is(report.torn, 0);
  t.is(report.after, 'ok', 'once there is room again steps are taken');
});

for (const left of [0, 4096, 65_536])
  toolTest(`a step that a disk with ${left} free bytes cannot take is refused as store.full`, async (t) => {
    const folder = folderFor(t);
    const disk = smallDisk(t, folder, 16);
    const store = openLmdbStore({ folder });
    const large = { rows: { put: [{ view: 'v', key: ['a'], value: 'x'.repeat(400_000) }], remove: [] } };
    disk.fill(left);
    for (let round = 0; round < 3; round++)
      await t.throwsAsync(store.commit(stepOf(A, 0, large)), { code: 'store.full' });
    disk.empty();
    t.true((await store.commit(stepOf(A, 0, large))).ok);
    await store.close();
  });

toolTest(
  'a store that a full disk cannot take is refused as store.full, and opens once there is room',
  async (t) => {
    const root = folderFor(t);
    const disk = smallDisk(t, root, 16);
    const folder = join(root, 'db');
    const refused = { code: 'store.full', message: /has no room .* Free some space/ };
    disk.fill();
    t.throws(() => openLmdbStore({ folder }), refused);
    t.deepEqual(readdirSync(folder), [], 'no part of it is left');
    disk.empty();
    const store = openLmdbStore({ folder });
    t.true((await store.commit(stepOf(A, 0))).ok);
    await store.close();
    // As where an empty file needs a block: this disk has no inode left for it.
    execFileSync('mount', ['-o', 'remount,nr_inodes=32', root]);
    const files = Array.from({ length: 32 }, (_, n) => join(root, String(n)));
    const last = t.throws(() => {
      for (const file of files) writeFileSync(file, '');
    });
    t.is((last as { code?: string }).code, 'ENOSPC');
    t.throws(() => openLmdbStore({ folder }), refused);
    for (const file of files) rmSync(file, { force: true });
    const again = openLmdbStore({ folder });
    t.truthy(await again.load(A));
    await again.close();
  },
);
