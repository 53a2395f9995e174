/** Charts of equal intervals as SVG: they are rendered like every component, print, and follow tokens and forced colours. */

import { useContext } from 'preact/hooks';
import type { Tone } from '../../contracts/tone.ts';
import { exactTime, Mode } from './time.tsx';

/** A line of a chart, by interval, oldest first. Null: nothing was measured. */
export interface Line {
  readonly name: string;
  readonly tone: Tone;
  readonly values: readonly (number | null)[];
  /** `area`: filled down to 0, for lines without gaps; `dashed`: told apart without colours. @default a plain line */
  readonly look?: 'area' | 'dashed';
}

export interface Series {
  readonly since: string;
  readonly intervalSeconds: number;
}

/** Sizes in units of the drawing. */
const WIDTH = 600;
const HEIGHT = 190;
const LEFT = 52;
const BOTTOM = 22;
const TOP = 10;
const PLOT = HEIGHT - BOTTOM - TOP;
/** Labels of the time axis. */
const LABELS = 6;
const DAY_SECONDS = 86_400;

/** @param format text of a value; @param summary read for the picture, with the sums */
export function Chart({
  series,
  lines,
  summary,
  format = String,
}: {
  series: Series;
  lines: readonly Line[];
  summary: string;
  format?: (value: number) => string;
}) {
  const mode = useContext(Mode);
  const count = lines[0]?.values.length ?? 0;
  const most = roundUp(Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))));
  const step = (WIDTH - LEFT) / Math.max(1, count);
  const every = Math.max(1, Math.round(count / LABELS));
  const isLong = series.intervalSeconds * count > 2 * DAY_SECONDS;
  const label = new Intl.DateTimeFormat('en-GB', {
    ...(mode === 'utc' && { timeZone: 'UTC' }),
    ...(isLong ? { day: 'numeric', month: 'short' } : { hour: '2-digit', minute: '2-digit' }),
  });
  const startOf = (at: number) => Date.parse(series.since) + at * series.intervalSeconds * 1000;
  const heightOf = (value: number) => HEIGHT - BOTTOM - (value / most) * PLOT;
  return (
    <>
      <section class="scroll" tabIndex={0} aria-label={`Chart: ${summary}`}>
        <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={summary}>
          {[0, most / 2, most].map((value) => (
            <g key={value}>
              <line x1={LEFT} x2={WIDTH} y1={heightOf(value)} y2={heightOf(value)} />
              <text x={LEFT - 6} y={heightOf(value) + 4} text-anchor="end">
                {format(value)}
              </text>
            </g>
          ))}
          {lines.map(({ name, tone, values, look }) => {
            const x = (at: number) => LEFT + (at + 0.5) * step;
            const path = pathOf(values, x, heightOf);
            return (
              <g key={name} class={`line ${tone}`}>
                {look === 'area' && <path class="area" d={`${path}V${HEIGHT - BOTTOM}H${x(0)}Z`} />}
                <path class={look === 'dashed' ? 'course dashed' : 'course'} d={path} />
                <path class="course points" d={pathOf(values.map(alone), x, heightOf)} />
              </g>
            );
          })}
          {Array.from({ length: count }, (_, at) => {
            const text = lines
              .map(({ name, values }) => {
                const value = values[at] ?? null;
                return `${value === null ? 'no' : format(value)} ${name}`;
              })
              .join(', ');
            return (
              <g class="slot">
                <rect x={LEFT + at * step} y={TOP} width={step} height={PLOT}>
                  <title>{`from ${exactTime(startOf(at), mode)}: ${text}`}</title>
                </rect>
                <text x={LEFT + 4} y={TOP}>
                  {`${label.format(startOf(at))}: ${text}`}
                </text>
              </g>
            );
          })}
          {Array.from({ length: count }, (_, at) =>
            at % every === 0 ? (
              <text x={LEFT + at * step} y={HEIGHT - 6}>
                {label.format(startOf(at))}
              </text>
            ) : undefined,
          )}
        </svg>
      </section>
      <p class="legend">
        {lines.map(({ name, tone, look }) => (
          <span key={name} class={`key ${tone} ${look ?? ''}`}>
            {name}
          </span>
        ))}
      </p>
    </>
  );
}

/** The course of one value, small, beside its figure. It is decoration: the figure and the chart say the same. */
export function Spark({ values, tone }: { values: readonly (number | null)[]; tone: Tone }) {
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const x = (at: number) => 3 + (at * 114) / Math.max(1, values.length - 1);
  const y = (value: number) => 23 - (value / most) * 20;
  return (
    <svg class={`spark line ${tone}`} viewBox="0 0 120 26" preserveAspectRatio="none" aria-hidden="true">
      <path class="course" d={pathOf(values, x, y)} />
      <path class="course points" d={pathOf(values.map(alone), x, y)} />
    </svg>
  );
}

/** Sum of a line of counts, for the summary. */
export function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

/** The value between two intervals without one, where no line would be seen. */
function alone(value: number | null, at: number, all: readonly (number | null)[]): number | null {
  return (all[at - 1] ?? null) === null && (all[at + 1] ?? null) === null ? value : null;
}

/** Intervals without a value interrupt the line; a value between two of them is a dot. */
function pathOf(
  values: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let isOpen = false;
  return values
    .map((value, at) => {
      if (value === null) {
        isOpen = false;
        return '';
      }
      const point = `${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
      const part = isOpen ? `L${point}` : `M${point}h0.01`;
      isOpen = true;
      return part;
    })
    .join('');
}

/** Returns the next number of the form 2, 4, 10, 20, 40, 100, … so that half of it is whole too. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [2, 4, 10].map((digit) => digit * power).find((candidate) => candidate >= value);
  return found ?? 10 * power;
}
