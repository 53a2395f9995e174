/** The programs in `examples/`, run as they are. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { startCluster } from '../postgres/cluster.ts';
import { folderFor } from './folder.ts';

function output(t: ExecutionContext, words: readonly string[], more: NodeJS.ProcessEnv = {}): string {
  const env = { ...process.env, ...more };
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: 'utf8',
    timeout: 90_000,
    env,
  });
  t.is(status, 0, `${stdout}${stderr}`);
  return stdout.replaceAll(/(?<=\/\d+\/)\d+/g, '*');
}

test('the orders of the example are paid, refused and lapse, once', (t) => {
  const folder = join(folderFor(t), 'orders');
  const states = ['small is paid', 'large is refused', 'forgotten is lapsed', 'sold for 5', ''];
  t.is(
    output(t, ['dist/examples/order.js', folder]),
    ['charged 5 under order/small/2/*', ...states].join('\n'),
  );
  t.is(output(t, ['dist/examples/order.js', folder]), states.join('\n'), 'a second start repeats nothing');
});

test('the second node of the example delivers the parcel of the killed first one', async (t) => {
  const cluster = await startCluster(t);
  if (cluster === undefined) return;
  t.teardown(() => cluster.remove());
  const lines = output(t, ['dist/examples/cluster.js'], { DATABASE_URL: cluster.url }).trim().split('\n');
  t.deepEqual(lines, [
    'first has sent the parcel',
    'second delivers to Ana under parcel/p-1/2/*',
    'second has seen the delivery',
  ]);
});
