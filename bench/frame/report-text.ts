/** Formats a result as text. */

import { number } from '../../logging/progress.ts';
import type { Aim, Limit } from './bench.ts';
import { columns, percent } from './columns.ts';
import type { BenchEnvironment } from './machine.ts';
import type { BenchReport, JudgedFigure } from './report.ts';

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
  const { name, question, limits, figures, failure, verified, spent, seconds } = report;
  const limitLines = limits.map((limit) => `  limit  ${limit.name}: ${number(limit.value)} ${limit.unit}\n`);
  const rows = figures.map((figure) =>
    row(
      figure,
      limits.find((limit) => limit.name === figure.limit),
    ),
  );
  const table = rows.length > 0 ? `\n${columns(HEAD, rows, ['aim'])}` : '';
  const looked = Object.entries(verified).map(([by, outputs]) => `${number(outputs)} by ${by}`);
  const [user, system] = [number(spent.user / 1000), number(spent.system / 1000)];
  return [
    `\n${name}: ${question}\n\n`,
    ...limitLines,
    table,
    '\n',
    looked.length > 0 ? `  outputs found good: ${looked.join(', ')}\n` : '',
    `  ${number(seconds)} s, processor ${user} s user and ${system} s system, peak memory ${number(spent.peak)} MiB\n`,
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
