/** Division of the tests between `npm test` and the rest of the check (`.ci/run`): together all. Source: scripts/test-suites.mjs. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { without, withTools } from '../verifiers/tool.ts';

const FOLDER = 'test';

/** Names of the test files that run under the given environment. */
function chosen(env: Readonly<Record<string, string>>): ReadonlySet<string> {
  const script = `import('./scripts/test-suites.mjs').then(({ chosenTests }) => console.log(JSON.stringify(chosenTests(process.env))))`;
  const { stdout } = spawnSync(process.execPath, ['-e', script], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
  });
  return new Set(JSON.parse(stdout) as readonly string[]);
}

const ALL = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace(/\.test\.ts$/, ''));

const quick = chosen({});
/** As `.ci/run` divides the tests that `npm test` leaves out. */
const others = new Set([
  ...chosen({ SEALWRIGHT_TESTS: 'all', SEALWRIGHT_WITHOUT: 'quick,browser,contract,postgres' }),
  ...chosen({
    SEALWRIGHT_TESTS: 'all',
    SEALWRIGHT_WITHOUT: 'quick',
    SEALWRIGHT_FOLDERS: 'browser,contract,postgres',
  }),
]);

test('npm test and the other tests of the check together include all tests', (t) => {
  const all = chosen({ SEALWRIGHT_TESTS: 'all' });
  const release = chosen({ SEALWRIGHT_TESTS: 'release' });
  t.deepEqual(
    ALL.filter((file) => !release.has(file)),
    [],
  );
  t.deepEqual(
    [...all].filter((file) => !quick.has(file) && !others.has(file)),
    [],
  );
  t.true(quick.size > 200 && others.size > 100);
  t.is(quick.size + others.size, all.size, 'none runs twice');
});

test('nothing but `project/rounds.ts` asks which tests were wanted, so that only a release tries more', (t) => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const asking = /process\.env\S*SEALWRIGHT_TESTS/;
  t.deepEqual(
    files.filter((file) => asking.test(readFileSync(join(FOLDER, file), 'utf8'))),
    ['project/rounds.ts'],
  );
});

test('what is missing is told by `withTools`, so that its tests count as skipped', (t) => {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  );
  const old =
    /REQUIRE_TOOLS|t\.(log|pass)\([^)]*(missing|not installed|not here|nothing was tested|SKIPPED)/i;
  t.deepEqual(
    files.filter((file) => old.test(readFileSync(join(FOLDER, file), 'utf8').replace(/^ *t\.fail.*$/gm, ''))),
    ['project/suites.test.ts', 'verifiers/tool.ts'],
  );
});

test('tests without their tool are skipped, and fail where tools are required', (t) => {
  const declared: string[] = [];
  const declare = Object.assign((title: string) => declared.push(title), {
    skip: (title: string) => declared.push(`skipped: ${title}`),
  });
  const serial = Object.assign(declare, { serial: declare });
  withTools(serial, 'openssl')('with');
  without(serial, 'a tool', false)('without');
  without(serial, 'a tool', false).serial('without, serial');
  without(serial, 'a tool', true)('required');
  t.deepEqual(declared, ['with', 'skipped: without', 'skipped: without, serial', 'required']);
});
