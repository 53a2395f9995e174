/**
 * A signature drawn by hand. It stores points, not pixels, so that rotating the phone or reloading the page loses
 * nothing and the picture is sharp.
 */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { createElement, requireElement, sessionDraft } from '../dom.ts';

/** Width of the area by its height, as its style has it. */
const RATIO = 2.5;
/** Fractions of width and height, 0 to 1. */
type Point = readonly [x: number, y: number];
type Stroke = Point[];

/** Size of the picture, pixels. */
export const PICTURE = { width: 900, height: 300 };
/** Margin of the picture, pixels. */
export const MARGIN = 24;
export const INK = '#10254a';
/** Width of the line, fraction of the width of the area. */
const LINE = 0.008;
/** A small drawing is enlarged by at most this: people draw small on a phone, and it would be lost at its place. */
const MAX_ENLARGEMENT = 3;
const MAX_POINTS = 20_000;

export interface Drawing {
  /** PNG as a data URL; undefined without a drawing. */
  picture(): string | undefined;
  /** Removes the draft that a reload would restore. */
  clear(): void;
}

/** @param onChange called when the picture is another one */
export function startDrawing(
  { ticket, words }: Pick<SigningData, 'ticket' | 'words'>,
  onChange: () => void,
): Drawing {
  const area = requireElement('#drawing-area', HTMLCanvasElement);
  const state = requireElement('#drawing-state');
  // Key of this participant's draft: another one may use the same tab.
  const name = `drawing ${ticket}`;
  let strokes: Stroke[] = readDraft(sessionDraft.read(name));
  let current: Stroke | undefined;
  /** The finger or pen that draws; others are ignored until it is lifted. */
  let pen: number | undefined;

  const paint = () => {
    const ratio = window.devicePixelRatio;
    area.width = Math.round(area.clientWidth * ratio);
    area.height = Math.round(area.clientHeight * ratio);
    const context = area.getContext('2d');
    if (context !== null) drawStrokes(context, strokes, ([x, y]) => [x * area.width, y * area.height]);
  };
  const changed = () => {
    state.textContent = strokes.length === 0 ? '' : words.drawingThere;
    sessionDraft.write(name, strokes.length === 0 ? undefined : JSON.stringify(strokes));
    onChange();
  };
  const at = (x: number, y: number): Point => {
    const box = area.getBoundingClientRect();
    return [share((x - box.left) / box.width), share((y - box.top) / box.height)];
  };

  area.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    if (pen !== undefined) return;
    pen = event.pointerId;
    area.setPointerCapture(event.pointerId);
    current = [at(event.clientX, event.clientY)];
    strokes.push(current);
    paint();
  });
  area.addEventListener('pointermove', (event) => {
    if (event.pointerId !== pen || strokes.flat().length >= MAX_POINTS) return;
    current?.push(at(event.clientX, event.clientY));
    paint();
  });
  for (const end of ['pointerup', 'pointercancel']) {
    area.addEventListener(end, (event) => {
      if (!(event instanceof PointerEvent) || event.pointerId !== pen) return;
      pen = undefined;
      current = undefined;
      changed();
    });
  }
  requireElement('#drawing-clear').addEventListener('click', () => {
    strokes = [];
    paint();
    changed();
    state.textContent = words.drawingEmpty;
  });
  requireElement('#drawing-undo').addEventListener('click', () => {
    strokes = strokes.slice(0, -1);
    paint();
    changed();
    if (strokes.length === 0) state.textContent = words.drawingEmpty;
  });
  new ResizeObserver(paint).observe(area);
  if (strokes.length > 0) state.textContent = words.drawingThere;

  return {
    picture() {
      if (strokes.length === 0) return undefined;
      const canvas = createElement('canvas');
      canvas.width = PICTURE.width;
      canvas.height = PICTURE.height;
      const context = canvas.getContext('2d');
      if (context === null) return undefined;
      drawStrokes(context, strokes, fitted(strokes));
      return canvas.toDataURL('image/png');
    },
    clear: () => sessionDraft.write(name, undefined),
  };
}

/** Puts the drawing into the middle of the picture, as large as it allows. */
function fitted(strokes: readonly Stroke[]): (point: Point) => Point {
  const xs = strokes.flat().map(([x]) => x);
  const ys = strokes.flat().map(([, y]) => y / RATIO);
  const left = Math.min(...xs);
  const top = Math.min(...ys);
  const width = Math.max(...xs) - left;
  const height = Math.max(...ys) - top;
  const scale = Math.min(
    (PICTURE.width - 2 * MARGIN) / width,
    (PICTURE.height - 2 * MARGIN) / height,
    PICTURE.width * MAX_ENLARGEMENT,
  );
  const x0 = (PICTURE.width - width * scale) / 2;
  const y0 = (PICTURE.height - height * scale) / 2;
  return ([x, y]) => [x0 + (x - left) * scale, y0 + (y / RATIO - top) * scale];
}

function drawStrokes(
  context: CanvasRenderingContext2D,
  strokes: readonly Stroke[],
  place: (point: Point) => Point,
): void {
  const { width, height } = context.canvas;
  const line = LINE * width;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineWidth = line;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.strokeStyle = INK;
  context.fillStyle = INK;
  for (const stroke of strokes) {
    const [first, ...rest] = stroke.map(place);
    if (first === undefined) continue;
    context.beginPath();
    if (rest.length === 0) {
      context.arc(first[0], first[1], line / 2, 0, 2 * Math.PI);
      context.fill();
      continue;
    }
    context.moveTo(first[0], first[1]);
    // Curves through the midpoints, so that the line has no corners.
    let before = first;
    for (const point of rest) {
      context.quadraticCurveTo(before[0], before[1], (before[0] + point[0]) / 2, (before[1] + point[1]) / 2);
      before = point;
    }
    context.lineTo(before[0], before[1]);
    context.stroke();
  }
}

function readDraft(text: string | undefined): Stroke[] {
  if (text === undefined) return [];
  try {
    return JSON.parse(text) as Stroke[];
  } catch {
    return [];
  }
}

function share(value: number): number {
  return Math.round(Math.min(1, Math.max(0, value)) * 10_000) / 10_000;
}
