import { readFileSync } from 'node:fs';
import test from 'ava';
import { type ComparedReport, judged, parseReport } from '../../bench/frame/bench-report.ts';
import { compareReports, comparisonText } from '../../bench/frame/compare.ts';

function kept(name: string): ComparedReport {
  const report = parseReport(readFileSync(`test/fixtures/bench/${name}.json`, 'utf8'));
  if (report === undefined) throw new Error(`${name} is not a result.`);
  return report;
}
const before = kept('before');
const after = kept('after');

test('a slower machine and slower code are distinguished', (t) => {
  const { figures, limits, machine } = compareReports(before, after);
  const of = (name: string) => figures.find((figure) => figure.name === name);
  t.like(of('slower machine, same code'), { gain: -0.5, own: 0, verdict: 'same', held: true });
  t.like(of('slower code'), { gain: -0.75, own: -0.5, verdict: 'worse', held: true });
  t.like(of('faster code'), { gain: 0, own: 1, verdict: 'better', held: true });
  t.like(of('walk'), { gain: -0.5, own: 0, verdict: 'same', held: true });
  t.deepEqual(
    limits.map(({ name, moved }) => [name, moved]),
    [
      ['key', -0.5],
      ['list', -0.5],
    ],
  );
  t.is(machine, -0.5);
});

test('a figure without a limit is judged by its value, and less is better where it is declared so', (t) => {
  const { figures } = compareReports(before, after);
  t.like(
    figures.find(({ name }) => name === 'peak'),
    { before: 100, after: 80, gain: 0.25, verdict: 'better', held: false },
  );
});

test('figures that one of two runs lacks, or has in another unit, are listed as missing', (t) => {
  const { figures } = compareReports(before, after);
  const missing = figures.filter(({ verdict }) => verdict === 'missing');
  t.deepEqual(
    missing.map(({ bench, name, before: one, after: other }) => [bench, name, one, other]),
    [
      ['engine', 'gone', 7, undefined],
      ['engine', 'other unit', 5, 5],
      ['engine', 'new', undefined, 7],
      ['old', 'only once', 1, undefined],
    ],
  );
});

test('a comparison lists what changed, what is missing in which run, and how the runs differ', (t) => {
  const other = { ...after, node: 'v22.0.0' };
  const text = comparisonText(compareReports(before, other), before, other);
  t.regex(text, /^not alike in node: v20\.20\.2, then v22\.0\.0$/m);
  t.regex(text, /^engine: slower code +800 +200 +\/CPU s +−75 % +−50 % +worse$/m);
  t.regex(text, /^engine: gone +7 +– .*missing, only before$/m);
  t.regex(text, /^engine: new +– +7 .*missing, only after$/m);
  t.regex(text, /^engine: key +1,000 +500 +\/CPU s +−50 % +the machine was slower$/m);
  t.regex(text, /2 better, 1 worse, 2 same, 4 missing/);
  t.regex(text, /limits moved by −50 %/);
});

test('the p99 at a fixed rate is compared beside its figure, and zero counts as the best value', (t) => {
  const withSlowest = (report: ComparedReport, p99: number): ComparedReport => ({
    ...report,
    benches: report.benches.map((bench) => ({
      ...bench,
      figures: bench.figures.map((figure) => ({ ...figure, latency: { p99, rate: 100 } })),
    })),
  });
  const slowest = (one: number, other: number) =>
    compareReports(withSlowest(before, one), withSlowest(after, other)).figures.find(
      ({ name }) => name === 'peak: p99',
    );
  t.like(slowest(2, 4), { before: 2, after: 4, unit: 'ms', gain: -0.5, verdict: 'worse' });
  t.like(slowest(0, 0), { gain: 0, verdict: 'same' });
  t.like(slowest(0, 3), { verdict: 'worse' });
  t.like(slowest(3, 0), { verdict: 'better' });
  const one = withSlowest(before, 3);
  const other = withSlowest(after, 0);
  t.regex(
    comparisonText(compareReports(one, other), one, other),
    /^engine: peak: p99 +3 +0 +ms +\+∞ .*better/m,
  );
});

test('runs without a common limit are compared with a warning', (t) => {
  const bare = { ...after, benches: after.benches.map((bench) => ({ ...bench, limits: [] })) };
  t.is(compareReports(before, bare).machine, undefined);
  t.regex(comparisonText(compareReports(before, bare), before, bare), /No limit is in both/);
});

test('a result of another form is refused', (t) => {
  const { benches: _, ...headless } = after;
  for (const text of ['', '{', '[]', '{"format":"sealwright-bench/2"}', JSON.stringify(headless)])
    t.is(parseReport(text), undefined, text.slice(0, 40));
});

test('a large share of the limit is good in either direction of the figure', (t) => {
  const limits = [
    { name: 'key', value: 1000, unit: '/s' },
    { name: 'list', value: 2, unit: 's' },
  ] as const;
  const aim = (of: 'share' | 'p99', bound: number) =>
    of === 'share'
      ? ({ of, atLeast: bound, source: 'test' } as const)
      : ({ of, atMost: bound, source: 'test' } as const);
  const rate = { name: 'rate', value: 600, unit: '/s', better: 'more', limit: 'key' } as const;
  t.like(judged({ ...rate, aim: aim('share', 0.6) }, limits), { share: 0.6, met: true });
  t.like(judged({ ...rate, aim: aim('share', 0.61) }, limits), { share: 0.6, met: false });
  t.is(
    judged({ ...rate, aim: aim('share', 0.61) }, limits, true).met,
    undefined,
    'a quick run judges nothing',
  );
  t.is(judged({ ...rate, aim: aim('share', 0.6) }, []).met, undefined, 'the limit could not be measured');
  t.is(judged({ ...rate, aim: aim('p99', 5) }, limits).met, undefined, 'there are no latencies');
  const walk = { name: 'walk', value: 8, unit: 's', better: 'less', limit: 'list' } as const;
  t.is(judged(walk, limits).share, 0.25);
  t.like(judged({ ...walk, aim: aim('share', 0.5) }, limits), { met: false }, 'four times as long');
  t.like(judged({ ...walk, value: 4, aim: aim('share', 0.5) }, limits), { met: true }, 'twice as long');
});
