import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';

const SOAK = fileURLToPath(new URL('./soak.js', import.meta.url));

test('a thousand jobs through kills, stops, pauses, cancels and retries leave files, states, history, counters, metrics and events in agreement', async (t) => {
  t.timeout(600_000);
  const { stdout } = await promisify(execFile)(process.execPath, [SOAK, '--jobs', '1000', '--seed', '7']);
  t.log(stdout);
  t.regex(stdout, /^0 broken$/m);
});
