/** Stored work that ends the process does so a few times, and is then set aside. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';

const WORKER = new URL('./deadly-worker.js', import.meta.url).pathname;

test('an effect that repeatedly ends the process is found alone, set aside, and runs after an operator releases it', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-deadly-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const live = (mode: string) =>
    new Promise<{ readonly signal: unknown; readonly said: readonly string[] }>((resolve) => {
      execFile(process.execPath, [WORKER, folder, mode], (error, stdout) =>
        resolve({ signal: error?.signal ?? error?.code ?? null, said: stdout.trim().split('\n') }),
      );
    });
  for (const mode of ['make', 'run']) {
    const { signal, said } = await live(mode);
    t.is(signal, 'SIGKILL', mode);
    t.deepEqual([...said].sort(), ['run a', 'run b', 'run deadly', 'run z'], 'all run side by side');
  }
  const trial = await live('run');
  t.is(trial.signal, 'SIGKILL');
  const before = trial.said.slice(0, -1);
  t.is(trial.said.at(-1), 'run deadly');
  for (let at = 0; at < before.length; at += 2)
    t.is(before[at + 1], before[at]?.replace('run', 'done'), 'one at a time');
  const after = await live('run');
  t.is(after.signal, null);
  t.false(after.said.includes('run deadly'));
  t.true(after.said.includes('set aside deadly'));
  t.regex(after.said.at(-1) ?? '', /^trouble effect\.set-aside: /);
  t.is([...trial.said, ...after.said].filter((line) => line.startsWith('done')).length, 3);
  const still = await live('run');
  t.deepEqual(still.said.slice(0, 1), ['set aside deadly'], 'a stop in order forgets nothing');
  const again = await live('again');
  t.is(again.signal, null);
  t.deepEqual(again.said.slice(0, 3), ['run deadly', 'done deadly', 'set aside ']);
});
