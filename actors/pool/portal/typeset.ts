/** Sets plain text on pages. */
import { rmSync } from 'node:fs';
import { composePdf, type DrawnItem, type DrawnPage, wrapText } from '../../../crypto/index.ts';
import type { PortalResults, TypesetTask } from '../portal-tasks.ts';

/** A4, points. */
const WIDTH = 595.28;
const HEIGHT = 841.89;
const MARGIN = 64;
const SIZE = 11;
const LEADING = 15;
const LINES = Math.floor((HEIGHT - 2 * MARGIN) / LEADING);

/** A form feed begins a page. The file is not synced. */
export function typeset({ text, title, at, output }: TypesetTask): PortalResults['portal.typeset'] {
  rmSync(output, { force: true });
  composePdf({ output, parts: [{ pages: pagesOf(text) }], title, at });
  return {};
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
