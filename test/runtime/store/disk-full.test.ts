import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { folderFor } from '../folder.ts';

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
  t.deepEqual(report.refusals, ['store.unavailable:true']);
  t.is(report.lost, 0);
  t.is(report.torn, 0);
  t.is(report.after, 'ok', 'once there is room again steps are taken');
});
