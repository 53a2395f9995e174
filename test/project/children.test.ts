import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import test from 'ava';
import { reached } from './waiting.ts';

const HOOK = new URL('./children.js', import.meta.url).href;

/** Starts a program that outlasts every test and holds on to standard output, and goes on as said. */
const STARTS = (then: string) => `
  require('node:child_process')
    .spawn('sleep', ['600'], { stdio: ['ignore', 'inherit', 'ignore'] })
    .once('spawn', () => process.stdout.write('started', () => setImmediate(() => { ${then} })));`;

for (const [how, then] of [
  ['is killed while it spins', 'for (;;);'],
  ['is killed while it waits', 'setInterval(() => {}, 1000);'],
  ['crashes', 'throw new Error("crashed");'],
  ['exits', 'process.exit(0);'],
] as const) {
  test(`a child process of a test ends with the test process, when that ${how}`, async (t) => {
    const parent = spawn(process.execPath, ['--import', HOOK, '-e', STARTS(then)], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(parent.stdout, 'data');
    if (how.startsWith('is killed')) parent.kill('SIGKILL');
    // Closed only when neither the parent nor its children hold it.
    await once(parent.stdout.resume(), 'close');
    t.pass();
  });
}

test('the temporary files of a test process and of its programs are removed after it, however it ends', async (t) => {
  const writes = `const { execFileSync } = require('node:child_process');
    const { tmpdir } = require('node:os');
    execFileSync('sh', ['-c', 'mkdir "$TMPDIR/left" && echo left > "$TMPDIR/left/file"']);
    process.stdout.write(tmpdir(), () => process.kill(process.pid, 'SIGKILL'));`;
  const parent = spawn(process.execPath, ['--import', HOOK, '-e', writes], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [folder] = await once(parent.stdout, 'data');
  t.regex(String(folder), /\/sw-\w{6}$/);
  await reached(() => !existsSync(String(folder)));
  t.pass();
});
