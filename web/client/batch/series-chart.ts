/** A chart with axes: successes by the time, and failures beside them. */
import { createElement, createSvgElement, focusElement } from '../dom.ts';
import { refill } from './state-labels.ts';

export interface Series {
  readonly since: string;
  readonly intervalSeconds: number;
  /** Successes, and what did not succeed, by interval, oldest first. */
  readonly good: readonly number[];
  readonly bad: readonly number[];
}

/** Words of the legend and of the description for screen readers. */
export interface SeriesTexts {
  readonly title: string;
  readonly good: string;
  readonly bad: string;
}

/** Sizes in units of the drawing. */
const WIDTH = 720;
const HEIGHT = 160;
const LEFT = 44;
const BOTTOM = 22;
const TOP = 8;
/** Intervals between two labels of the time axis. */
const LABEL_EVERY = 4;

function seriesChart(
  { since, intervalSeconds, good: completed, bad: failed }: Series,
  texts: SeriesTexts,
): readonly HTMLElement[] {
  const most = roundUp(Math.max(1, ...completed, ...failed));
  const plot = HEIGHT - BOTTOM - TOP;
  const step = (WIDTH - LEFT) / completed.length;
  const startOf = (at: number) => new Date(Date.parse(since) + at * intervalSeconds * 1000);
  const bars = completed.flatMap((count, at) => {
    const failures = failed[at] ?? 0;
    const x = LEFT + at * step;
    const title = `from ${clock(startOf(at))}: ${count} ${texts.good}, ${failures} ${texts.bad}`;
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
  const label = `${texts.title}: ${sum(completed)} ${texts.good}, ${sum(failed)} ${texts.bad}`;
  const chart = createSvgElement(
    'svg',
    { class: 'chart', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label },
    ...levels,
    ...bars,
    ...times,
  );
  const holder = createElement('div', {
    ...{ class: 'scroll', tabindex: '0', role: 'group' },
    'aria-label': `Chart: ${texts.title}`,
  });
  holder.append(chart);
  const legend = createElement(
    'p',
    { class: 'quiet' },
    createElement('span', { class: 'key completed' }),
    ` ${texts.good} `,
    createElement('span', { class: 'key failed' }),
    ` ${texts.bad}`,
  );
  return [holder, legend];
}

/**
 * Draws a chart in its place. At first it shows the newest intervals, which a narrow screen would not; later it keeps
 * what the reader scrolled to, and the focus.
 */
export function showChart(place: HTMLElement, series: Series, texts: SeriesTexts): void {
  const earlier = place.querySelector('.scroll');
  const isFocused = earlier !== null && earlier === document.activeElement;
  const left = earlier?.scrollLeft;
  refill(place, ...seriesChart(series, texts));
  const holder = place.querySelector('.scroll');
  holder?.scrollTo({ left: left ?? holder.scrollWidth });
  if (isFocused) focusElement(holder);
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
