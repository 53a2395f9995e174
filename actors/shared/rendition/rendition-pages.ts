/** Everything that is drawn over the pages of a document: marks, and a line or a tag that says how to check it. */
import { type DrawnItem, type ShownPage, textWidth } from '@sealwright/signatures';
import { encode } from 'uqr';
import { filled, TEXTS } from '../../../contracts/texts/texts.ts';
import type { RenditionMark, RenditionModel } from './rendition-model.ts';
import { keyText } from './rendition-texts.ts';

/** The squares of a QR code, row by row; true = dark. Without the quiet zone. */
export function codeCells(text: string): readonly (readonly boolean[])[] {
  return encode(text, { ecc: 'M', border: 0 }).data;
}

/** Points. */
const EDGE = 14;
const FOOTER_SIZE = 6.5;
const TAG_HEIGHT = 38;
const GREY = 0.35;

/** Pictures by their SHA-256. */
export type Pictures = ReadonlyMap<string, Uint8Array>;

/** The covers of tags and the marks that belong on a page, in the order they were made. */
export function markItems(
  { marks, document, covers = [] }: RenditionModel,
  { number, count, width, height }: ShownPage,
  pictures: Pictures,
): readonly DrawnItem[] {
  const onPage = marks.filter((mark) => pageOf(mark, count) === number);
  const covered = covers.filter((cover) => pageOf(cover, count) === number);
  return [
    ...covered.map((cover): DrawnItem => ({ ...cover, shape: 'box', fill: 1 })),
    ...onPage.flatMap((mark) => itemsOf(fitted(mark, width, height), document.checkUrl, pictures)),
  ];
}

/** Returns the page of a mark; the last page for a number above the count. */
function pageOf({ pageNumber }: Pick<RenditionMark, 'pageNumber'>, count: number): number {
  return pageNumber === null ? count : Math.min(Math.max(1, pageNumber), count);
}

/** A mark that hangs over the edge is moved inside as far as it fits. */
function fitted(mark: RenditionMark, width: number, height: number): RenditionMark {
  return {
    ...mark,
    x: Math.max(0, Math.min(mark.x, width - mark.width)),
    y: Math.max(0, Math.min(mark.y, height - mark.height)),
  };
}

function itemsOf(mark: RenditionMark, checkUrl: string, pictures: Pictures): readonly DrawnItem[] {
  const { type, x, y, width, height, lines, image } = mark;
  if (width <= 0 || height <= 0) return [];
  if (type !== 'AuthenticationStamp') {
    const picture = image === null ? undefined : pictures.get(image);
    return [{ shape: 'stamp', x, y, width, height, lines, image: picture }];
  }
  const size = Math.min(width, height);
  const code: DrawnItem = { shape: 'cells', x, y: y + (height - size) / 2, size, cells: codeCells(checkUrl) };
  const rest = width - size - 4;
  if (rest < 20) return [code];
  return [code, { shape: 'stamp', x: x + size + 4, y, width: rest, height, lines }];
}

/** One line at the lower edge: the key, and where it is checked. */
export function footerItems(
  { document, language }: RenditionModel,
  { width, height }: ShownPage,
): readonly DrawnItem[] {
  const { key, checkUrl } = document;
  const text = filled(TEXTS[language].rendition.footer, { key: keyText(key), url: checkUrl });
  const room = width - 2 * EDGE;
  const size = Math.min(FOOTER_SIZE, (FOOTER_SIZE * room) / textWidth(text, FOOTER_SIZE));
  const y = height - 6;
  return [
    { shape: 'text', x: EDGE, y, size, text, grey: GREY },
    { shape: 'link', x: EDGE, y: y - size, width: textWidth(text, size), height: size + 2, uri: checkUrl },
  ];
}

/** A code and the names of those who signed, at the lower edge. */
export function tagItems(model: RenditionModel, { width, height }: ShownPage): readonly DrawnItem[] {
  const { document, language, people } = model;
  const words = TEXTS[language].rendition;
  const names = people.filter(({ kind }) => kind !== 'approval').map(({ name }) => name);
  const lines = [
    filled(words.signedBy, { names: [...new Set(names)].join(', ') }),
    filled(words.footer, { key: keyText(document.key), url: document.checkUrl }),
  ];
  const y = height - TAG_HEIGHT - 6;
  const size = Math.min(TAG_HEIGHT, width / 4);
  const left = EDGE + size + 6;
  const room = width - left - EDGE;
  const items: DrawnItem[] = [
    { shape: 'cells', x: EDGE, y: height - size - 6, size, cells: codeCells(document.checkUrl) },
  ];
  for (const [index, line] of lines.entries()) {
    const own = Math.min(7, (7 * room) / Math.max(1, textWidth(line, 7)));
    items.push({
      shape: 'text',
      x: left,
      y: y + TAG_HEIGHT / 2 - 4 + 11 * index,
      size: own,
      text: line,
      grey: GREY,
    });
  }
  items.push({
    shape: 'link',
    x: EDGE,
    y,
    width: width - 2 * EDGE,
    height: TAG_HEIGHT,
    uri: document.checkUrl,
  });
  return items;
}
