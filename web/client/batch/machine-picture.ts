/** Draws a state machine: states in rows by their distance from the first one, and the path that an actor has taken. */
import type { ActorChart } from '../../../clients/typescript/batch.d.ts';
import { createElement, createSvgElement } from '../dom.ts';

/** Sizes in units of the drawing. */
const BOX_WIDTH = 132;
const BOX_HEIGHT = 34;
const COLUMN = 168;
const ROW = 84;
const EDGE = 12;

interface Place {
  readonly x: number;
  readonly y: number;
}

/** @param path states that the actor was in, oldest first; the last one is the current state */
export function machinePicture(chart: ActorChart, path: readonly string[]): SVGSVGElement {
  const rows = rowsOf(chart);
  const widest = Math.max(...rows.map((row) => row.length));
  const places = new Map<string, Place>();
  for (const [at, row] of rows.entries()) {
    const indent = ((widest - row.length) * COLUMN) / 2;
    for (const [column, name] of row.entries())
      places.set(name, { x: EDGE + indent + column * COLUMN, y: EDGE + at * ROW });
  }
  const current = path.at(-1);
  const taken = new Set(path.slice(1).map((to, at) => JSON.stringify([path[at], to])));
  const edges = edgesOf(chart).map(({ from, to, events }) => {
    const isTaken = taken.has(JSON.stringify([from, to]));
    const kind = isTaken ? 'taken' : from === current ? 'next' : '';
    return edge(places.get(from), places.get(to), kind, `${from} to ${to}: ${events.join(', ')}`);
  });
  // Taken transitions are drawn above the others.
  edges.sort(
    (one, other) => Number(one.classList.contains('taken')) - Number(other.classList.contains('taken')),
  );
  const boxes = chart.states.map(({ name, final }) => {
    const kind = name === current ? 'current' : path.includes(name) ? 'taken' : '';
    return box(name, places.get(name) ?? { x: 0, y: 0 }, `${kind} ${final ? 'final' : ''}`.trim());
  });
  const width = EDGE * 2 + (widest - 1) * COLUMN + BOX_WIDTH;
  const height = EDGE * 2 + (rows.length - 1) * ROW + BOX_HEIGHT;
  const arrow = createSvgElement(
    'marker',
    {
      id: 'arrow',
      viewBox: '0 0 8 8',
      refX: '8',
      refY: '4',
      markerUnits: 'userSpaceOnUse',
      markerWidth: '9',
      markerHeight: '9',
      orient: 'auto',
    },
    createSvgElement('path', { d: 'M0 0L8 4L0 8z' }),
  );
  return createSvgElement(
    'svg',
    {
      class: 'machine',
      viewBox: `0 0 ${width} ${height}`,
      width: String(width),
      height: String(height),
      role: 'img',
      'aria-label': `State machine of ${chart.kind}. ${describePath(path)} ${describeNext(chart, current)}`,
    },
    createSvgElement('defs', {}, arrow),
    ...edges,
    ...boxes,
  );
}

/** The same as text: each state with its ways out. */
export function machineText(chart: ActorChart, path: readonly string[]): HTMLElement {
  const current = path.at(-1);
  const items = chart.states.map(({ name, final }) => {
    const ways = chart.transitions
      .filter(({ from, to }) => from === name && to !== name)
      .map(({ event, to }) => `${event} to ${to}`);
    const mark = name === current ? ' (now)' : '';
    return createElement('li', {}, `${name}${mark}: ${final ? 'end' : ways.join('; ') || 'no way out'}`);
  });
  return createElement('ul', {}, ...items);
}

export function describePath(path: readonly string[]): string {
  return path.length === 0 ? 'No step is recorded.' : `Path taken: ${path.join(', then ')}.`;
}

export function describeNext(chart: ActorChart, current: string | undefined): string {
  const next = new Set(
    chart.transitions.filter(({ from, to }) => from === current && to !== from).map(({ to }) => to),
  );
  return next.size === 0 ? 'It stays in this state.' : `May come next: ${[...next].join(', ')}.`;
}

/** Groups the states by the number of steps from the first one; unreachable states come last. */
function rowsOf({ initial, states, transitions }: ActorChart): string[][] {
  const depth = new Map([[initial, 0]]);
  for (const [name, at] of depth) {
    for (const { from, to } of transitions) if (from === name && !depth.has(to)) depth.set(to, at + 1);
  }
  const last = Math.max(...depth.values()) + 1;
  const rows: string[][] = [];
  for (const { name } of states) {
    const at = depth.get(name) ?? last;
    rows[at] ??= [];
    rows[at].push(name);
  }
  return rows.filter((row) => row !== undefined);
}

/** One edge for all events between two states, without those that stay in their state. */
function edgesOf({ transitions }: ActorChart) {
  const edges = new Map<string, { from: string; to: string; events: string[] }>();
  for (const { from, to, event } of transitions) {
    if (from === to) continue;
    const key = JSON.stringify([from, to]);
    const known = edges.get(key);
    if (known === undefined) edges.set(key, { from, to, events: [event] });
    else known.events.push(event);
  }
  return [...edges.values()];
}

function box(name: string, { x, y }: Place, kind: string): SVGElement {
  const rectangle = createSvgElement('rect', {
    ...{ x: String(x), y: String(y), rx: '8' },
    width: String(BOX_WIDTH),
    height: String(BOX_HEIGHT),
  });
  const text = createSvgElement(
    'text',
    { x: String(x + BOX_WIDTH / 2), y: String(y + BOX_HEIGHT / 2 + 4), 'text-anchor': 'middle' },
    name,
  );
  return createSvgElement('g', { class: kind }, rectangle, text);
}

/** A curve between two boxes, which leaves and enters them from above, below or the side. */
function edge(from: Place | undefined, to: Place | undefined, kind: string, title: string): SVGElement {
  const start = from ?? { x: 0, y: 0 };
  const end = to ?? { x: 0, y: 0 };
  const d = start.y === end.y ? sideways(start, end) : upOrDown(start, end);
  return createSvgElement(
    'path',
    { class: `edge ${kind}`.trim(), d, 'marker-end': 'url(#arrow)' },
    createSvgElement('title', {}, title),
  );
}

function upOrDown(start: Place, end: Place): string {
  const down = end.y > start.y;
  // Ways up enter beside the ways down.
  const shift = down ? 0 : BOX_WIDTH / 4;
  const x1 = start.x + BOX_WIDTH / 2 + shift;
  const x2 = end.x + BOX_WIDTH / 2 + shift;
  const y1 = start.y + (down ? BOX_HEIGHT : 0);
  const y2 = end.y + (down ? 0 : BOX_HEIGHT);
  const bend = (y2 - y1) / 2;
  return `M${x1} ${y1}C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
}

function sideways(start: Place, end: Place): string {
  const right = end.x > start.x;
  const neighbours = Math.abs(end.x - start.x) <= COLUMN;
  const y = start.y + BOX_HEIGHT / 2;
  if (neighbours && right) return `M${start.x + BOX_WIDTH} ${y}L${end.x} ${y}`;
  const x1 = start.x + BOX_WIDTH / 2;
  const x2 = end.x + BOX_WIDTH / 2;
  const edgeY = start.y + BOX_HEIGHT;
  return `M${x1} ${edgeY}C${x1} ${edgeY + 28} ${x2} ${edgeY + 28} ${x2} ${edgeY}`;
}
