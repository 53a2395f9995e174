/**
 * Runs the tests that import a changed file, directly or not: npm run test:changed [-- <base>]
 *
 * Changed are files that differ from the base (main, unless named), committed or not. Tests of other kinds of files
 * (scripts, pages of documentation) are those of test/project/.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { importersOf } from './bundle.mjs';
import { chosenTests } from './test-suites.mjs';

const base = process.argv[2] ?? 'main';
const git = (...words) => execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean);
const changed = [
  ...git('diff', '--name-only', git('merge-base', base, 'HEAD')[0]),
  ...git('ls-files', '--others', '--exclude-standard'),
].filter((file) => existsSync(file));
const affected = await importersOf(changed, chosenTests(process.env));
const others = changed.some((file) => !/\.tsx?$/.test(file));
const tests = [
  ...affected,
  ...chosenTests(process.env).filter((name) => others && name.startsWith('project/') && !affected.has(name)),
];
console.log(`${changed.length} changed files, ${tests.length} test files`);
if (tests.length > 0) {
  const files = tests.map((name) => `dist/test/${name}.test.js`);
  process.exitCode = spawnSync('npx', ['ava', ...files], { stdio: 'inherit' }).status ?? 1;
}
