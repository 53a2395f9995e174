/** Formats a comparison as text. */
import { number } from '../../logging/progress.ts';
import { columns } from './columns.ts';
import { type ComparedFigure, type ComparedLimit, type Comparison, NOISE } from './compare.ts';
import type { ComparedReport } from './report.ts';

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
