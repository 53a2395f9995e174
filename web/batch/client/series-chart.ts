/** A chart of ended jobs with axes: completed jobs, and failures beside them. */
import { createElement, createSvgElement } from '../../client/dom.ts';

/** See `GET /api/statistics/series`. */
export interface Series {
  readonly since: string;
  readonly intervalSeconds: number;
  readonly completed: readonly number[];
  readonly failed: readonly number[];
}

/** Sizes in units of the drawing. */
const WIDTH = 720;
const HEIGHT = 160;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;
/** Intervals between two labels of the time axis. */
const LABEL_EVERY = 4;

export function seriesChart({ since, intervalSeconds, completed, failed }: Series): readonly HTMLElement[] {
  const most = roundUp(Math.max(1, ...completed, ...failed));
  const plot = HEIGHT - BOTTOM - TOP;
  const step = (WIDTH - LEFT) / completed.length;
  const startOf = (at: number) => new Date(Date.parse(since) + at * intervalSeconds * 1000);
  const bars = completed.flatMap((count, at) => {
    const failures = failed[at] ?? 0;
    const x = LEFT + at * step;
    const title = `from ${clock(startOf(at))}: ${count} completed, ${failures} failed`;
    return [
      bar(x + step * 0.1, step * 0.45, (count / most) * plot, 'completed', title),
      bar(x + step * 0.55, step * 0.35, (failures / most) * plot, 'failed', title),
    ];
  });
  const levels = [0, most / 2, most].flatMap((value) => {
    const y = HEIGHT - BOTTOM - (value / most) * plot;
    return [
      createSvgElement('line', { x1: String(LEFT), x2: String(WIDTH), y1: String(y), y2: String(y) }),
      createSvgElement(
        'text',
        { x: String(LEFT - 6), y: String(y + 3), 'text-anchor': 'end' },
        String(value),
      ),
    ];
  });
  const times = completed.flatMap((_, at) =>
    at % LABEL_EVERY === 0
      ? [createSvgElement('text', { x: String(LEFT + at * step), y: String(HEIGHT - 6) }, clock(startOf(at)))]
      : [],
  );
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  const label = `${sum(completed)} jobs completed and ${sum(failed)} failed, by time of their end`;
  const chart = createSvgElement(
    'svg',
    { class: 'chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    ...levels,
    ...bars,
    ...times,
  );
  const holder = createElement('div', {
    ...{ class: 'scroll', tabindex: '0', role: 'group' },
    'aria-label': 'Chart of ended jobs',
  });
  holder.append(chart);
  const legend = createElement(
    'p',
    { class: 'quiet' },
    createElement('span', { class: 'key completed' }),
    ' completed ',
    createElement('span', { class: 'key failed' }),
    ' failed',
  );
  return [holder, legend];
}

function bar(x: number, width: number, height: number, kind: string, title: string): SVGElement {
  return createSvgElement(
    'rect',
    {
      ...{ class: kind, x: String(x), width: String(width), height: String(height) },
      y: String(HEIGHT - BOTTOM - height),
    },
    createSvgElement('title', {}, title),
  );
}

/** Returns the next number of the form 2, 4, 10, 20, 40, 100, … so that half of it is whole too. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const found = [2, 4, 10].map((digit) => digit * power).find((candidate) => candidate >= value);
  return found ?? 10 * power;
}

function clock(date: Date): string {
  return date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
