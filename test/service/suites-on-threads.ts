/** Runs the suites that drive a whole service, its API and its kills, with its actors on threads of their own. */
import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const SUITES = [
  'service/{bad-input,folders,kill,logs,main-job,metrics,session,stop}',
  'service/signing/{certificate-checks,evidence}',
  'actors/{batch,pool,shared}/**/*',
  'actors/portal/{documents,signing}/*',
  'actors/portal/{folders,generation,tenants,uploads,validation,webhooks}/*',
  'http/portal/*',
];

const build = fileURLToPath(new URL('../..', import.meta.url));
const project = join(build, '..');

/** Declares a test for each suite, with actors on so many threads. */
export function suitesOnThreads(shards: number): void {
  for (const suite of SUITES) {
    test.serial(`the suite ${suite} passes with actors on ${shards} threads`, async (t) => {
      t.timeout(1_800_000);
      const ava = join(project, 'node_modules', 'ava', 'entrypoints', 'cli.mjs');
      const child = spawn(process.execPath, [ava, `${basename(build)}/test/${suite}.test.js`], {
        cwd: project,
        env: {
          ...process.env,
          SEALWRIGHT_DIST: basename(build),
          SEALWRIGHT_SHARDS: String(shards),
          SEALWRIGHT_TESTS: '',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let printed = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
      const code = await new Promise((resolve) => child.on('exit', resolve));
      t.is(code, 0, printed.slice(-8000));
    });
  }
}
