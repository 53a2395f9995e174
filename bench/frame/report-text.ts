/** Formats a result as text. */
import { number } from '../../logging/progress.ts';
import type { Aim, Limit } from './bench.ts';
import type { BenchReport, JudgedFigure } from './bench-report.ts';
import type { BenchEnvironment } from './machine.ts';

const HEAD = [
  '',
  'value',
  'p50 ms',
  'p90',
  'p99',
  'p99.9',
  'longest',
  'refused',
  'CPU ms each',
  'of its limit',
  'aim',
];

export function circumstancesText({ date, commit, version, node, machine }: BenchEnvironment): string {
  return [
    `date     ${date}`,
    `commit   ${commit}, version ${version}`,
    `node     ${node}`,
    `machine  ${machine.threads} × ${machine.cpu}, ${machine.memory} MiB, ${machine.system}`,
    '',
  ].join('\n');
}

export function benchText(report: BenchReport): string {
  const { name, question, limits, figures, failure, verified, spent, seconds, load } = report;
  const limitLines = limits.map((limit) => `  limit  ${limit.name}: ${number(limit.value)} ${limit.unit}\n`);
  const rows = figures.map((figure) =>
    row(
      figure,
      limits.find((limit) => limit.name === figure.limit),
    ),
  );
  const table = rows.length > 0 ? `\n${columns(HEAD, rows, ['aim'])}` : '';
  const looked = Object.entries(verified).map(([by, outputs]) => `${number(outputs)} by ${by}`);
  const user = number(spent.user / 1000);
  const system = number(spent.system / 1000);
  return [
    `\n${name}: ${question}\n\n`,
    ...limitLines,
    table,
    '\n',
    looked.length > 0 ? `  outputs found good: ${looked.join(', ')}\n` : '',
    `  ${number(seconds)} s, processor ${user} s user and ${system} s system, peak memory ${number(spent.peak)} MiB\n`,
    `  load average before and after: ${number(load.before)} and ${number(load.after)}\n`,
    failure ? `  FAILED: ${failure.message} (${failure.code})\n` : '',
  ].join('');
}

function row(figure: JudgedFigure, limit: Limit | undefined): string[] {
  const { name, value, unit, latency, cpu, share } = figure;
  const times = latency
    ? [latency.p50, latency.p90, latency.p99, latency.p999, latency.longest].map(number)
    : ['', '', '', '', ''];
  return [
    name,
    `${number(value)} ${unit}`,
    ...times,
    latency?.refused ? percent(latency.refused / (latency.refused + latency.count)) : '',
    cpu ? number(cpu.user + cpu.system) : '',
    share === undefined || limit === undefined ? '' : `${percent(share)} of ${number(limit.value)}`,
    figure.aim ? aimText(figure.aim, figure) : '',
  ];
}

function aimText(aim: Aim, { unit, met }: JudgedFigure): string {
  const [sign, bound] = 'atLeast' in aim ? ['≥', aim.atLeast] : ['≤', aim.atMost];
  const wanted =
    aim.of === 'share'
      ? percent(bound)
      : aim.of === 'value'
        ? `${number(bound)} ${unit}`
        : `${number(bound)} ms ${aim.of}`;
  const verdict = met === undefined ? 'not judged' : met ? 'met' : 'missed';
  return `${sign} ${wanted} ${verdict}`;
}

function percent(share: number): string {
  const value = share * 100;
  return `${Math.abs(value) < 10 ? Number(value.toPrecision(2)) : Math.round(value)} %`;
}

/** Aligns columns: the first one left, the others as given; empty columns are left out. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  left: readonly string[] = [],
): string {
  const kept = head.map((_, at) => at).filter((at) => at === 0 || rows.some((row) => (row[at] ?? '') !== ''));
  const all = [head, ...rows];
  const widths = kept.map((at) => Math.max(...all.map((row) => (row[at] ?? '').length)));
  const line = (row: readonly string[]) =>
    kept
      .map((at, place) => {
        const text = row[at] ?? '';
        const width = widths[place] ?? 0;
        return at === 0 || left.includes(head[at] ?? '') ? text.padEnd(width) : text.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}
