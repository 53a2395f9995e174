import { execFile } from 'node:child_process';
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
