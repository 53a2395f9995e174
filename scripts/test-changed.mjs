/**
 * Runs the tests nearest to changed files: npm run test:changed [-- <base>]
 *
 * Changed are files that differ from the base (main, unless named), committed or not. Near are tests that are changed,
 * then those that import a changed file, directly before indirectly: as many as take about a minute. Tests of other kinds of
 * files (scripts, pages of documentation) are those of test/project/.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { importersOf } from './bundle.mjs';
import { chosenTests } from './test-suites.mjs';

/** Test files that take about a minute on two cores. */
const NEAR = 24;

const base = process.argv[2] ?? 'main';
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean);
const changed = [
  ...git('diff', '--name-only', git('merge-base', base, 'HEAD')[0]),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((file) => existsSync(file));
const all = chosenTests(process.env);
const distances = await importersOf(changed, chosenTests({ SEALWRIGHT_TESTS: 'all' }));
const isChanged = (name) => distances.get(name) === 0;
// A long test runs when it is changed itself. Of those equally near, the tests of the folder of a changed file say most.
const affected = [...distances.keys()]
  .filter((name) => isChanged(name) || all.includes(name))
  .toSorted((a, b) => distances.get(a) - distances.get(b) || inCommon(b) - inCommon(a));
const near = affected.slice(0, Math.max(NEAR, affected.filter(isChanged).length));
const others = changed.some((file) => !/\.tsx?$/.test(file));
const tests = [
  ...near,
  ...all.filter((name) => others && name.startsWith('project/') && !near.includes(name)),
];
const farther = affected.length - near.length;
/** Length of the longest path of folders that a test shares with a changed file. */
function inCommon(name) {
  const folders = name.split('/');
  const shared = changed.map((file) => {
    const parts = file.split('/');
    const end = folders.findIndex((folder, at) => folder !== parts[at]);
    return end === -1 ? folders.length : end;
  });
  return Math.max(...shared);
}

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
