/**
 * A signature drawn by hand. It stores points, not pixels, so that rotating the phone or reloading the page loses
 * nothing and the picture is sharp.
 */

import type { SigningData } from '../../pages/portal/page-data.ts';
import { createElement, requireElement, sessionDraft } from '../dom.ts';

/** Fractions of width and height, 0 to 1. */
type Point = readonly [x: number, y: number];
type Stroke = Point[];

/** Size of the picture, pixels; the area on the page has the same aspect ratio. */
export const PICTURE = { width: 900, height: 300 };
export const INK = '#10254a';
/** Fraction of the height. */
const LINE = 0.018;
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
    if (context !== null) drawStrokes(context, strokes, area.width, area.height);
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
      drawStrokes(context, strokes, canvas.width, canvas.height);
      return canvas.toDataURL('image/png');
    },
    clear: () => sessionDraft.write(name, undefined),
  };
}

function drawStrokes(
  context: CanvasRenderingContext2D,
  strokes: readonly Stroke[],
  width: number,
  height: number,
): void {
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineWidth = LINE * height;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.strokeStyle = INK;
  context.fillStyle = INK;
  for (const stroke of strokes) {
    const points = stroke.map(([x, y]) => [x * width, y * height] as const);
    const [first, ...rest] = points;
    if (first === undefined) continue;
    context.beginPath();
    if (rest.length === 0) {
      context.arc(first[0], first[1], (LINE * height) / 2, 0, 2 * Math.PI);
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
