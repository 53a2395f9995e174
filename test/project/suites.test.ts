/** Division of the tests between `npm test` and the rest of the check (`.ci/run`): together all. Source: ava.config.mjs. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';

const FOLDER = 'test';

/** Patterns of the configuration under the given environment, as expressions over paths of sources. */
function patterns(env: Readonly<Record<string, string>>): {
  readonly wanted: RegExp[];
  readonly not: RegExp[];
} {
  const script = `import('./ava.config.mjs').then(({ default: { files } }) => console.log(JSON.stringify(files)))`;
  const { stdout } = spawnSync(process.execPath, ['-e', script], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
  });
  const files = JSON.parse(stdout) as readonly string[];
  const expression = (pattern: string) =>
    new RegExp(
      `^${pattern
        .replace(/^!?dist\/test\//, '')
        .replace(/\.test\.js$/, '')
        .replaceAll('{', '(')
        .replaceAll('}', ')')
        .replaceAll(',', '|')
        .replaceAll('**/', '\0')
        .replaceAll('*', '[^/]*')
        .replaceAll('\0', '(.+/)?')}$`,
    );
  return {
    wanted: files.filter((pattern) => !pattern.startsWith('!')).map(expression),
    not: files.filter((pattern) => pattern.startsWith('!')).map(expression),
  };
}

const ALL = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => file.replace(/\.test\.ts$/, ''));

function chosen(env: Readonly<Record<string, string>>): ReadonlySet<string> {
  const { wanted, not } = patterns(env);
  const matches = (expressions: readonly RegExp[], file: string) => expressions.some((one) => one.test(file));
  return new Set(ALL.filter((file) => matches(wanted, file) && !matches(not, file)));
}

const quick = chosen({});
const others = chosen({ SEALWRIGHT_TESTS: 'all', SEALWRIGHT_WITHOUT: 'quick' });

test('npm test and the other tests of the check together include all tests', (t) => {
  const all = chosen({ SEALWRIGHT_TESTS: 'all' });
  t.deepEqual(
    [...all].filter((file) => !quick.has(file) && !others.has(file)),
    [],
  );
  t.true(quick.size > 200 && others.size > 100 && all.size < quick.size + others.size);
});

test('the check repeats the tests that do more when all tests run', (t) => {
  const deeper = [...quick].filter((file) =>
    /process\.env\S*SEALWRIGHT_TESTS|project\/rounds/.test(
      readFileSync(join(FOLDER, `${file}.test.ts`), 'utf8'),
    ),
  );
  t.true(deeper.length > 3);
  t.deepEqual(
    deeper.filter((file) => !others.has(file)),
    [],
  );
});
