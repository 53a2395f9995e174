/**
 * The suites that drive a whole service, its API and its kills, again with its actors on threads of their own. Some minutes each:
 * only with `SEALWRIGHT_TESTS=all`.
 */
import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';

const SUITES = [
  'service/{bad-input,certificate-checks,evidence,folders,kill,logs,main-job,metrics,session,stop}',
  'actors/**/*',
  'commands/actors',
  'portal/flow/*',
  'portal/http/*',
  'portal/{content,generation,pages,tenants,uploads,validation,webhooks}/*',
];

const build = fileURLToPath(new URL('../..', import.meta.url));
const project = join(build, '..');

for (const shards of [2, 4]) {
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
