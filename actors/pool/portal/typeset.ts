/** Typesets plain text as PDF pages. */
import { rmSync } from 'node:fs';
import { composePdf, type DrawnItem, type DrawnPage, wrapText } from '@sealwright/signatures';

/** A4, points. */
const WIDTH = 595.28;
const HEIGHT = 841.89;
const MARGIN = 64;
const SIZE = 11;
const LEADING = 15;
const LINES = Math.floor((HEIGHT - 2 * MARGIN) / LEADING);

export interface TypesetText {
  readonly text: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Path of the PDF. */
  readonly output: string;
}

/** Form feeds start a new page. The file is not synced. */
export function typeset({ text, title, at, output }: TypesetText): void {
  rmSync(output, { force: true });
  composePdf({ output, parts: [{ pages: pagesOf(text) }], title, at });
}

function pagesOf(text: string): readonly DrawnPage[] {
  return text
    .replace(/\r\n?/g, '\n')
    .replaceAll('\t', '    ')
    .split('\f')
    .flatMap((part) => {
      const lines = wrapText(part, SIZE, WIDTH - 2 * MARGIN);
      return Array.from({ length: Math.ceil(lines.length / LINES) }, (_, page) =>
        pageOf(lines.slice(page * LINES, (page + 1) * LINES)),
      );
    });
}

function pageOf(lines: readonly string[]): DrawnPage {
  const items = lines.map(
    (text, index): DrawnItem => ({
      shape: 'text',
      x: MARGIN,
      y: MARGIN + index * LEADING + SIZE,
      size: SIZE,
      text,
    }),
  );
  return { width: WIDTH, height: HEIGHT, items };
}
