import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { BENCH_NAMES, CATALOG } from '../../bench/catalog.ts';
import type { Report } from '../../bench/frame/bench-report.ts';
import { type BenchOptions, benchCommand } from '../../commands/bench.ts';
import { freshFolder, run } from '../commands/program.ts';

const BEFORE = resolve('test/fixtures/bench/before.json');
const AFTER = resolve('test/fixtures/bench/after.json');
const SMALLEST = ['engine', '--quick', '--only', 'sign Cades detached p256'];

/** Runs the command in this process and returns its output. */
async function command(names: readonly string[], options: Partial<BenchOptions> = {}) {
  const written = { out: '', err: '' };
  const write = (to: keyof typeof written) => (text: string) => {
    written[to] += text;
  };
  const terminal = { out: write('out'), err: write('err'), colors: false };
  const all = { profile: [], quick: true, only: [], folder: freshFolder(), damage: false, ...options };
  const code = await benchCommand(names, all, { terminal, live: false, clock: systemClock });
  return { code: Number(code), ...written };
}

const NOWHERE = '/nowhere/at/all';
type Refused = readonly [
  names: readonly string[],
  options: Partial<BenchOptions>,
  exit: number,
  said: RegExp,
];
const REFUSED: { readonly [what: string]: Refused } = {
  'an unknown benchmark': [
    ['nonsense'],
    {},
    2,
    /no benchmark or profile nonsense[\s\S]*engine +engine, scaling/,
  ],
  'a profile in the place of a benchmark': [
    ['runtime'],
    {},
    2,
    /a profile, not a benchmark: --profile runtime/,
  ],
  'an unknown profile': [[], { profile: ['fast'] }, 2, /no benchmark or profile fast/],
  'a folder that is not there': [['engine'], { folder: NOWHERE }, 3, /ENOENT/],
  'a result that cannot be written': [['engine'], { json: NOWHERE }, 3, /ENOENT/],
  'a comparison of one file': [[], { compare: [BEFORE] }, 2, /takes two files/],
  'a comparison with a file that is missing': [[], { compare: [BEFORE, NOWHERE] }, 3, /ENOENT/],
  'a comparison with a file that is not a result': [
    [],
    { compare: [BEFORE, resolve('package.json')] },
    2,
    /was not written by this command/,
  ],
};
for (const [what, [names, options, exit, said]] of Object.entries(REFUSED)) {
  test(`bench refuses ${what} with exit code ${exit}`, async (t) => {
    const { code, out, err } = await command(names, options);
    t.is(code, exit, err);
    t.is(out, '');
    t.regex(err, said);
  });
}

test('bench compares two stored results', async (t) => {
  const { code, out, err } = await command([], { compare: [BEFORE, AFTER] });
  t.is(`${code} ${err}`, '0 ');
  t.regex(out, /engine: gone .*only before/);
  t.regex(out, /the machine was slower/);
});

test('bench refuses arguments that are not numbers before it measures', async (t) => {
  for (const words of [
    ['--seconds', '0'],
    ['--files', '0.5'],
  ]) {
    const { code, out, err } = await run(freshFolder(), ['bench', ...words]);
    t.is(code, 2);
    t.is(out, '');
    t.regex(err, /error: .*number/);
  }
});

test('a complete benchmark stores figures, limits, machine and versions as JSON, and leaves no other file', async (t) => {
  const cwd = freshFolder();
  const file = join(cwd, 'result.json');
  const { code, out, err } = await run(cwd, ['bench', ...SMALLEST, '--json', file]);
  t.is(code, 0, err);
  t.regex(out, /sign Cades detached B 28 KB p256 shm/);
  t.regex(err, /engine 1 of 1/);
  t.deepEqual(readdirSync(cwd), ['result.json']);
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  t.is(report.node, process.version);
  t.true(report.machine.threads > 0);
  t.is(report.versions['lmdb'], JSON.parse(readFileSync('package.json', 'utf8')).dependencies.lmdb);
  t.regex(report.date, /^\d{4}-\d\d-\d\dT/);
  t.regex(report.commit, /^[0-9a-f]{7,}\+?$|^unknown$/);
  t.like(report.settings, { quick: true, seconds: 0.2 });
  const [bench] = report.benches;
  t.is(bench?.failure, undefined);
  t.true((bench?.spent.peak ?? 0) > 10);
  t.true((bench?.verified['the engine'] ?? 0) > 3);
  t.true(bench?.limits.some(({ name, value }) => name === 'crypto.sign p256' && value > 0));
  const [figure] = bench?.figures ?? [];
  t.true((figure?.value ?? 0) > 0);
  const { count, p50, p90, p99, p999, longest } = figure?.latency ?? {
    count: 0,
    p50: 0,
    p90: 0,
    p99: 0,
    p999: 0,
    longest: 0,
  };
  t.true(count >= 3);
  t.deepEqual(
    [p50, p90, p99, p999, longest].sort((one, other) => one - other),
    [p50, p90, p99, p999, longest],
  );
  t.true((figure?.cpu?.user ?? 0) > 0);
});

test('a run with a damaged output fails and names it', async (t) => {
  const cwd = freshFolder();
  const file = join(cwd, 'result.json');
  const { code, out, err } = await run(cwd, ['bench', ...SMALLEST, '--damage', '--json', file]);
  t.is(code, 1);
  t.regex(out, /FAILED: sign Cades detached B 28 KB p256 shm: .*bench\.unverified/);
  t.regex(err, /failed: engine/);
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report;
  t.is(report.benches[0]?.failure?.code, 'bench.unverified');
  t.deepEqual(report.benches[0]?.figures, []);
  t.deepEqual(readdirSync(cwd), ['result.json']);
});

test('every benchmark states its question and the reference of its answer', async (t) => {
  for (const name of BENCH_NAMES) {
    const { bench } = await CATALOG[name].load();
    t.is(bench.name, name);
    t.true(bench.question.length > 10 && bench.limits.length > 0, name);
  }
});
