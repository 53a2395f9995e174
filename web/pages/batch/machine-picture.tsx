/** Draws a state machine: states in rows by their distance from the first one, and the path that an actor has taken. */
import type { ActorChart } from '../../../clients/typescript/batch.d.ts';

/** Sizes in units of the drawing. */
const BOX_WIDTH = 132;
const BOX_HEIGHT = 34;
const COLUMN = 168;
const ROW = 84;
const EDGE = 12;
/** Room below a row for the curves between its states. */
const BEND = 28;

interface Place {
  readonly x: number;
  readonly y: number;
}

interface Picture {
  readonly chart: ActorChart;
  /** States that the actor was in, oldest first; the last one is the current state. */
  readonly path: readonly string[];
}

export function MachinePicture({ chart, path }: Picture) {
  const rows = rowsOf(chart);
  const widest = Math.max(...rows.map((row) => row.length));
  const places = new Map<string, Place>();
  for (const [at, row] of rows.entries()) {
    const indent = ((widest - row.length) * COLUMN) / 2;
    for (const [column, state] of row.entries())
      places.set(state, { x: EDGE + indent + column * COLUMN, y: EDGE + at * ROW });
  }
  const placeOf = (state: string) => places.get(state) ?? { x: 0, y: 0 };
  const current = path.at(-1);
  const taken = new Set(path.slice(1).map((to, at) => JSON.stringify([path[at], to])));
  const edges = edgesOf(chart).map((edge) => ({
    ...edge,
    isTaken: taken.has(JSON.stringify([edge.from, edge.to])),
  }));
  // Taken transitions are drawn above the others.
  edges.sort((one, other) => Number(one.isTaken) - Number(other.isTaken));
  const width = EDGE * 2 + (widest - 1) * COLUMN + BOX_WIDTH;
  const height = EDGE + (rows.length - 1) * ROW + BOX_HEIGHT + BEND;
  return (
    <svg
      class="machine"
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      role="img"
      aria-label={`State machine of ${chart.kind}. ${describePath(path)} ${describeNext(chart, current)}`}
    >
      <defs>
        <marker
          id="arrow"
          viewBox="0 0 8 8"
          refX="8"
          refY="4"
          markerUnits="userSpaceOnUse"
          markerWidth="9"
          markerHeight="9"
          orient="auto"
        >
          <path d="M0 0L8 4L0 8z" />
        </marker>
      </defs>
      {edges.map(({ from, to, events, isTaken }) => (
        <path
          key={`${from} ${to}`}
          class={isTaken ? 'edge taken' : from === current ? 'edge next' : 'edge'}
          d={courseOf(placeOf(from), placeOf(to))}
          marker-end="url(#arrow)"
        >
          <title>
            {from} to {to}: {events.join(', ')}
          </title>
        </path>
      ))}
      {chart.states.map(({ name: state, final }) => {
        const { x, y } = placeOf(state);
        const kind = state === current ? 'current' : path.includes(state) ? 'taken' : '';
        return (
          <g key={state} class={`${kind}${final ? ' final' : ''}`}>
            <rect x={x} y={y} rx="8" width={BOX_WIDTH} height={BOX_HEIGHT} />
            <text x={x + BOX_WIDTH / 2} y={y + BOX_HEIGHT / 2 + 4} text-anchor="middle">
              {state}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** The same as text: each state with its ways out. */
export function MachineText({ chart, path }: Picture) {
  const current = path.at(-1);
  return (
    <ul id="machine-text">
      {chart.states.map(({ name: state, final }) => {
        const ways = chart.transitions
          .filter(({ from, to }) => from === state && to !== from)
          .map(({ event: message, to }) => `${message} to ${to}`);
        const rest = final ? 'end' : ways.join('; ') || 'no way out';
        return <li key={state}>{`${state}${state === current ? ' (now)' : ''}: ${rest}`}</li>;
      })}
    </ul>
  );
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
  for (const [state, at] of depth) {
    for (const { from, to } of transitions) if (from === state && !depth.has(to)) depth.set(to, at + 1);
  }
  const last = Math.max(...depth.values()) + 1;
  const rows: string[][] = [];
  for (const { name: state } of states) {
    const at = depth.get(state) ?? last;
    rows[at] ??= [];
    rows[at].push(state);
  }
  return rows.filter((row) => row !== undefined);
}

/** One edge for all events between two states, without those that stay in their state. */
function edgesOf({ transitions }: ActorChart) {
  const edges = new Map<string, { from: string; to: string; events: string[] }>();
  for (const { from, to, event: message } of transitions) {
    if (from === to) continue;
    const key = JSON.stringify([from, to]);
    const known = edges.get(key);
    if (known === undefined) edges.set(key, { from, to, events: [message] });
    else known.events.push(message);
  }
  return [...edges.values()];
}

/** A curve between two boxes, which leaves and enters them from above, below or the side. */
function courseOf(start: Place, end: Place): string {
  return start.y === end.y ? sideways(start, end) : upOrDown(start, end);
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
  return `M${x1} ${edgeY}C${x1} ${edgeY + BEND} ${x2} ${edgeY + BEND} ${x2} ${edgeY}`;
}
