/**
 * Comparison of two results. Machines differ, also from day to day: a figure with a limit is judged by its share of
 * the limit, measured in the same run, and changes of limits are reported.
 */
import { number } from '../../logging/progress.ts';
import type { ComparedReport } from './bench-report.ts';
import { columns } from './report-text.ts';

/** Verdict on a figure; `missing` when one run lacks it or has another unit. */
export type Verdict = 'better' | 'worse' | 'same' | 'missing';

export interface ComparedFigure {
  readonly bench: string;
  readonly name: string;
  readonly unit: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
  /** Relative improvement of the value: 0.1 = a tenth better. */
  readonly gain: number | undefined;
  /** Relative improvement of the share, or of the value without a limit; the basis of the verdict. */
  readonly own: number | undefined;
  readonly verdict: Verdict;
  /** True when both runs have the limit. */
  readonly held: boolean;
}

export interface ComparedLimit {
  readonly bench: string;
  readonly name: string;
  readonly unit: string;
  readonly before: number;
  readonly after: number;
  /** 0.1 = the limit was a tenth better in the second run. */
  readonly moved: number;
}

export interface Comparison {
  readonly figures: readonly ComparedFigure[];
  readonly limits: readonly ComparedLimit[];
  /** Median change of limits; undefined when no limit is in both runs. */
  readonly machine: number | undefined;
  /** Differences in the runs' settings, in words. */
  readonly unlike: readonly string[];
}

/** Changes up to this are noise. */
const NOISE = 0.1;

/** Units in which a smaller limit is better. */
const LESS = ['s', 'ms', 'µs', 'MiB', 'KiB'];

type ComparedBench = ComparedReport['benches'][number];

const NOTHING: Pick<ComparedBench, 'limits' | 'figures'> = { limits: [], figures: [] };

export function compareReports(before: ComparedReport, after: ComparedReport): Comparison {
  const names = [...new Set([...before.benches, ...after.benches].map(({ name }) => name))];
  const pairs = names.map((name) => [name, benchOf(before, name), benchOf(after, name)] as const);
  const limits = pairs.flatMap((pair) => comparedLimits(...pair));
  const moves = limits.map(({ moved }) => moved).sort((one, other) => one - other);
  return {
    figures: pairs.flatMap((pair) => comparedFigures(...pair)),
    limits,
    machine: moves[Math.floor(moves.length / 2)],
    unlike: differences(before, after),
  };
}

/** Adds the 99th percentile at a fixed rate as a separate figure. */
function benchOf(report: ComparedReport, name: string): ComparedBench {
  const { limits, figures } = report.benches.find((bench) => bench.name === name) ?? NOTHING;
  const withSlowest = figures.flatMap((figure): ComparedBench['figures'] => {
    if (figure.latency?.rate === undefined) return [figure];
    const slowest = {
      name: `${figure.name}: p99`,
      value: figure.latency.p99,
      unit: 'ms',
      better: 'less',
    } as const;
    return [figure, slowest];
  });
  return { name, limits, figures: withSlowest };
}

function comparedLimits(bench: string, before: ComparedBench, after: ComparedBench): ComparedLimit[] {
  return before.limits.flatMap(({ name, unit, value }) => {
    const other = after.limits.find((limit) => limit.name === name && limit.unit === unit);
    if (other === undefined) return [];
    const moved = change(value, other.value, LESS.includes(unit) ? 'less' : 'more');
    return [{ bench, name, unit, before: value, after: other.value, moved }];
  });
}

function comparedFigures(bench: string, before: ComparedBench, after: ComparedBench): ComparedFigure[] {
  const names = new Set([...before.figures, ...after.figures].map(({ name }) => name));
  return [...names].map((name) => {
    const [one, other] = [before, after].map(({ figures }) => figures.find((figure) => figure.name === name));
    const both = one !== undefined && other !== undefined && one.unit === other.unit;
    const gain = both ? change(one.value, other.value, one.better) : undefined;
    const held = both && one.share !== undefined && other.share !== undefined && one.limit === other.limit;
    const own = held ? change(one.share ?? 0, other.share ?? 0, 'more') : gain;
    const verdict = own === undefined ? 'missing' : own > NOISE ? 'better' : own < -NOISE ? 'worse' : 'same';
    return {
      bench,
      name,
      unit: (other ?? one)?.unit ?? '',
      before: one?.value,
      after: other?.value,
      gain,
      own,
      verdict,
      held,
    };
  });
}

/** Returns the relative improvement; infinite when one value is 0. */
function change(before: number, after: number, better: 'more' | 'less'): number {
  if (before === after) return 0;
  return (better === 'more' ? after / before : before / after) - 1;
}

function differences(before: ComparedReport, after: ComparedReport): string[] {
  const facts = (report: ComparedReport) => ({
    machine: `${report.machine.threads} × ${report.machine.cpu}`,
    node: report.node,
    'seconds a figure': String(report.settings.seconds),
    quick: String(report.settings.quick),
  });
  const one = facts(before);
  const other = facts(after);
  return Object.entries(one).flatMap(([name, value]) => {
    const second = other[name as keyof typeof other];
    return value === second ? [] : [`${name}: ${value}, then ${second}`];
  });
}

export function comparisonText(
  comparison: Comparison,
  before: ComparedReport,
  after: ComparedReport,
): string {
  const { figures, limits, machine, unlike } = comparison;
  const count = (verdict: string) => figures.filter((figure) => figure.verdict === verdict).length;
  const rows = figures.map((figure) => row(figure));
  const names = ['better', 'worse', 'same', 'missing'].map((verdict) => `${count(verdict)} ${verdict}`);
  return [
    `before  ${before.date}  ${before.commit}\nafter   ${after.date}  ${after.commit}\n`,
    ...unlike.map((text) => `not alike in ${text}\n`),
    '\n',
    columns(['figure', 'before', 'after', 'unit', 'change', 'beside its limit', 'verdict'], rows, [
      'unit',
      'verdict',
    ]),
    limits.length > 0
      ? `\n${columns(['limit', 'before', 'after', 'unit', 'moved', ''], limits.map(limitRow), ['unit', ''])}`
      : '',
    `\n${names.join(', ')}; changes up to ${NOISE * 100} % count as the same\n`,
    machineText(machine),
  ].join('');
}

function row({ bench, name, unit, before, after, gain, own, held, verdict }: ComparedFigure): string[] {
  const shown = (value: number | undefined) => (value === undefined ? '–' : number(value));
  const sides = before === undefined ? 'only after' : after === undefined ? 'only before' : 'other unit';
  return [
    `${bench}: ${name}`,
    shown(before),
    shown(after),
    unit,
    signed(gain),
    held ? signed(own) : '',
    verdict === 'missing' ? `missing, ${sides}` : `${verdict}${held ? '' : ', no limit beside it'}`,
  ];
}

function limitRow({ bench, name, unit, before, after, moved }: ComparedLimit): string[] {
  const said = Math.abs(moved) > NOISE ? `the machine was ${moved > 0 ? 'faster' : 'slower'}` : '';
  return [`${bench}: ${name}`, number(before), number(after), unit, signed(moved), said];
}

function machineText(machine: number | undefined): string {
  if (machine === undefined) return 'No limit is in both: changes may be those of the machine.\n';
  if (Math.abs(machine) <= NOISE)
    return `The limits stayed where they were (${signed(machine)} in the middle).\n`;
  const slower = machine < 0 ? 'slower' : 'faster';
  return `The limits moved by ${signed(machine)} in the middle: the machine was ${slower} the second time, whatever the code does.\n`;
}

/** Formats a change; plus is better. */
function signed(change: number | undefined): string {
  if (change === undefined) return '';
  if (!Number.isFinite(change)) return '+∞';
  const rounded = Math.round(change * 100);
  return `${rounded > 0 ? '+' : rounded < 0 ? '−' : ''}${Math.abs(rounded)} %`;
}
