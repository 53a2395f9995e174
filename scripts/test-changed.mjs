/**
 * Runs the tests nearest to changed files: npm run test:changed [-- <base>]
 *
 * Changed are files that differ from the base (main, unless named), committed or not. Near are tests that are changed,
 * then those that import a changed file, directly before indirectly: as many as take about a minute. Tests of other kinds of
 * files (scripts, pages of documentation) are those of test/project/.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { importersOf, importsOf } from './bundle.mjs';
import { chosenTests } from './test-suites.mjs';

/** Test files that take about a minute on two cores. */
const NEAR = 24;

const base = process.argv[2] ?? 'main';
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean);
const changed = [
  ...git('diff', '--name-only', mergeBase()),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((file) => existsSync(file));
const all = chosenTests(process.env);
const distances = importersOf(changed, await importsOf(chosenTests({ SEALWRIGHT_TESTS: 'all' })));
const isChanged = (name) => distances.get(name) === 0;
// A long test runs when it is changed itself.
const affected = [...distances.keys()].filter((name) => isChanged(name) || all.includes(name));
const near = affected.slice(0, Math.max(NEAR, affected.filter(isChanged).length));
const others = changed.some((file) => !/\.tsx?$/.test(file));
const tests = [
  ...near,
  ...all.filter((name) => others && name.startsWith('project/') && !near.includes(name)),
];
const farther = affected.length - near.length;
console.log(
  `${changed.length} changed files, ${tests.length} test files${farther > 0 ? `; npm test runs ${farther} more that import them from farther away` : ''}`,
);
if (tests.length > 0) {
  const files = tests.map((name) => `dist/test/${name}.test.js`);
  // Long tests among them are only known to ava when all are.
  const env = near.every((name) => all.includes(name))
    ? process.env
    : { ...process.env, SEALWRIGHT_TESTS: 'all' };
  process.exitCode = spawnSync('npx', ['ava', ...files], { stdio: 'inherit', env }).status ?? 1;
}

function mergeBase() {
  try {
    return git('merge-base', base, 'HEAD')[0];
  } catch {
    console.error(`Name what to compare with, such as a branch: npm run test:changed -- <base>`);
    process.exit(1);
  }
}
