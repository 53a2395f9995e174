/**
 * A signature drawn by hand. Points are kept, not pixels, so that turning the phone or reloading the page loses
 * nothing and the picture that is sent is sharp.
 */
import { type CanvasPart, draft, makeCanvas, type Pencil, part, ResizeObserver, window } from './dom.ts';
import type { SigningData } from './page-data.ts';

/** Shares of width and height, 0 to 1. */
type Point = readonly [x: number, y: number];
type Stroke = Point[];

/** The picture that is sent, pixels; the area on the page has the same shape. */
const PICTURE = { width: 900, height: 300 };
const INK = '#10254a';
/** Share of the height. */
const LINE = 0.018;
const MOST_POINTS = 20_000;

export interface Drawing {
  /** PNG, Base64; undefined when nothing is drawn. */
  picture(): string | undefined;
  /** Removes the draft that a reload would bring back. */
  forget(): void;
}

export function startDrawing({ ticket, words }: Pick<SigningData, 'ticket' | 'words'>): Drawing {
  const area = part('#drawing-area') as CanvasPart;
  const state = part('#drawing-state');
  // Of this participant: the next one may use the same tab.
  const name = `drawing ${ticket}`;
  let strokes: Stroke[] = readDraft(draft.read(name));
  let current: Stroke | undefined;

  const paint = () => {
    const ratio = window.devicePixelRatio;
    area.width = Math.round(area.clientWidth * ratio);
    area.height = Math.round(area.clientHeight * ratio);
    const pencil = area.getContext('2d');
    if (pencil !== null) drawStrokes(pencil, strokes, area.width, area.height);
  };
  const changed = () => {
    state.textContent = strokes.length === 0 ? '' : words.drawingThere;
    draft.write(name, strokes.length === 0 ? undefined : JSON.stringify(strokes));
  };
  const at = (x: number, y: number): Point => {
    const box = area.getBoundingClientRect();
    return [share((x - box.left) / box.width), share((y - box.top) / box.height)];
  };

  area.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    area.setPointerCapture(event.pointerId);
    current = [at(event.clientX, event.clientY)];
    strokes.push(current);
    paint();
  });
  area.addEventListener('pointermove', (event) => {
    if (current === undefined || strokes.flat().length >= MOST_POINTS) return;
    current.push(at(event.clientX, event.clientY));
    paint();
  });
  for (const end of ['pointerup', 'pointercancel']) {
    area.addEventListener(end, () => {
      current = undefined;
      changed();
    });
  }
  part('#drawing-clear').addEventListener('click', () => {
    strokes = [];
    paint();
    changed();
    state.textContent = words.drawingEmpty;
  });
  new ResizeObserver(paint).observe(area);
  if (strokes.length > 0) {
    part('#drawing').open = true;
    changed();
  }

  return {
    picture() {
      if (strokes.length === 0) return undefined;
      const canvas = makeCanvas();
      canvas.width = PICTURE.width;
      canvas.height = PICTURE.height;
      const pencil = canvas.getContext('2d');
      if (pencil === null) return undefined;
      drawStrokes(pencil, strokes, canvas.width, canvas.height);
      return canvas.toDataURL('image/png').replace(/^data:[^,]*,/, '');
    },
    forget: () => draft.write(name, undefined),
  };
}

function drawStrokes(pencil: Pencil, strokes: readonly Stroke[], width: number, height: number): void {
  pencil.setTransform(1, 0, 0, 1, 0, 0);
  pencil.clearRect(0, 0, width, height);
  pencil.lineWidth = LINE * height;
  pencil.lineCap = 'round';
  pencil.lineJoin = 'round';
  pencil.strokeStyle = INK;
  pencil.fillStyle = INK;
  for (const stroke of strokes) {
    const points = stroke.map(([x, y]) => [x * width, y * height] as const);
    const [first, ...rest] = points;
    if (first === undefined) continue;
    pencil.beginPath();
    if (rest.length === 0) {
      pencil.arc(first[0], first[1], (LINE * height) / 2, 0, 2 * Math.PI);
      pencil.fill();
      continue;
    }
    pencil.moveTo(first[0], first[1]);
    // Through the middles, so that the line has no corners.
    let before = first;
    for (const point of rest) {
      pencil.quadraticCurveTo(before[0], before[1], (before[0] + point[0]) / 2, (before[1] + point[1]) / 2);
      before = point;
    }
    pencil.lineTo(before[0], before[1]);
    pencil.stroke();
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
