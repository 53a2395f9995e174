/**
 * Pages of one PDF in another, with something drawn over them when that is asked for (ISO 32000-2, 7.7.3.3).
 */
import { viewOf } from '../pades/appearance/page-view.ts';
import type { TextFont } from '../pades/appearance/shown-text.ts';
import { numberText, packedStream } from '../pades/appearance/stream-object.ts';
import { referenceText } from '../pades/draft.ts';
import {
  asReference,
  isArray,
  isNull,
  items,
  nameObject,
  type PdfDict,
  type Piece,
  pages,
  type Reference,
  type TreePage,
} from '../pdf/index.ts';
import { CryptoError } from '../types.ts';
import { type DrawnItem, drawItems, linkAnnotation } from './drawing.ts';
import type { Importer } from './import.ts';
import type { NewPdf } from './new-pdf.ts';
import { openStates, type Patience } from './open-states.ts';

/** More than anybody signs at once. */
const MOST_PAGES = 20_000;

/** A page as it is shown. */
export interface ShownPage {
  /** From 1. */
  readonly number: number;
  /** Of the file. */
  readonly count: number;
  /** Points. */
  readonly width: number;
  readonly height: number;
}

export interface PageCopying {
  readonly out: NewPdf;
  /** The node that all pages hang from. */
  readonly tree: Reference;
  readonly font: TextFont;
  readonly fontReference: string;
  /** What is drawn over each page. */
  readonly draw?: ((page: ShownPage) => readonly DrawnItem[]) | undefined;
  /** Leave out what the pages themselves show. */
  readonly blank?: boolean | undefined;
  /** For looking into what the pages show. */
  readonly patience: Patience;
  /** Numbers of annotations that stay behind. */
  readonly omitted: ReadonlySet<number>;
}

/** @throws {CryptoError} `pdf.no-pages`; `input.too-large` for more pages than are taken */
export function pageList(importer: Importer): readonly TreePage[] {
  const list: TreePage[] = [];
  for (const page of pages(importer.pdf)) {
    list.push(page);
    if (list.length > MOST_PAGES) {
      throw new CryptoError('input.too-large', `The PDF has more than ${MOST_PAGES} pages.`);
    }
  }
  if (list.length === 0) throw new CryptoError('pdf.no-pages', 'The PDF has no pages.');
  return list;
}

/** What belongs to the page in its old place only: its tree, the structure of the document, private data, threads. */
const LEFT = [
  'Parent',
  'StructParents',
  'PieceInfo',
  'B',
  'Thumb',
  'DPart',
  'Resources',
  'MediaBox',
  'CropBox',
  'Rotate',
  'Contents',
  'Annots',
];
const SHAPE = ['MediaBox', 'CropBox', 'Rotate'];

/** Writes the copies of all pages, which `Importer.announcePage` gave their numbers. */
export function copyPages(
  importer: Importer,
  list: readonly TreePage[],
  copies: readonly Reference[],
  to: PageCopying,
): void {
  for (const [index, page] of list.entries()) {
    const copy = copies[index];
    if (copy !== undefined) to.out.put(copy, pageText(importer, page, index, list.length, to));
  }
}

function pageText(importer: Importer, page: TreePage, index: number, count: number, to: PageCopying): string {
  const { pdf } = importer;
  const set = new Map([
    ['Type', '/Page'],
    ['Parent', referenceText(to.tree)],
  ]);
  for (const key of SHAPE) {
    const value = inherited(page, key);
    if (value !== undefined && !isNull(pdf.resolve(value))) set.set(key, importer.value(value));
  }
  if (!set.has('MediaBox')) set.set('MediaBox', '[0 0 612 792]');
  const overlay = overlayOf(importer, page, { number: index + 1, count }, to);
  const contents = to.blank === true ? [] : contentsOf(importer, page.dict);
  if (overlay !== undefined) {
    // What the page leaves set must not touch what is drawn over it.
    contents.unshift(referenceText(to.out.add(packedStream('', Buffer.from('q\n')))));
    contents.push(referenceText(to.out.add(packedStream('', Buffer.from(overlay.operators, 'latin1')))));
  }
  if (contents.length > 0) set.set('Contents', `[${contents.join(' ')}]`);
  set.set('Resources', resourcesOf(importer, page, overlay?.resource, to.blank === true));
  const annotations = to.blank === true ? [] : annotationsOf(importer, page.dict, to.omitted);
  annotations.push(...(overlay?.links ?? []).map((link) => referenceText(to.out.add(link))));
  if (annotations.length > 0) set.set('Annots', `[${annotations.join(' ')}]`);
  if (to.blank === true) {
    const unit = page.dict.get('UserUnit');
    if (unit !== undefined) set.set('UserUnit', importer.value(unit));
    return `<<${[...set].map(([key, value]) => `/${key} ${value}`).join('')}>>`;
  }
  return importer.value(page.dict, { set, drop: new Set(LEFT) });
}

interface Overlay {
  readonly operators: string;
  /** Name and reference of what the operators show. */
  readonly resource: readonly [name: string, reference: string];
  readonly links: readonly string[];
}

function overlayOf(
  importer: Importer,
  page: TreePage,
  place: { readonly number: number; readonly count: number },
  { draw, out, font, fontReference, blank, patience }: PageCopying,
): Overlay | undefined {
  if (draw === undefined) return undefined;
  const view = viewOf(importer.pdf, page);
  const { width, height, matrix } = view;
  const drawn = draw({ ...place, width, height });
  if (drawn.length === 0) return undefined;
  const { operators, resources, links } = drawItems(drawn, height, font, fontReference, out);
  const form = out.add(
    packedStream(
      `/Type/XObject/Subtype/Form/BBox[0 0 ${numberText(width)} ${numberText(height)}]/Resources<<${resources}>>`,
      Buffer.from(operators, 'latin1'),
    ),
  );
  const name = unusedName(importer, page);
  const open = blank === true ? 0 : openStates(importer.pdf, page.dict, patience);
  return {
    operators: `\n${'Q '.repeat(open + 1)}q ${matrix.map(numberText).join(' ')} cm /${name} Do Q\n`,
    resource: [name, referenceText(form)],
    links: links.map(({ box, uri }) => linkAnnotation(view.toContent(box), uri)),
  };
}

/** A name for what is drawn that none of the page's own has. */
function unusedName(importer: Importer, page: TreePage): string {
  const { pdf } = importer;
  const known = pdf.dict(pdf.dict(inherited(page, 'Resources'))?.get('XObject'));
  for (let number = 1; ; number++) {
    const name = `Over${number}`;
    if (known?.get(name) === undefined) return name;
  }
}

function resourcesOf(
  importer: Importer,
  page: TreePage,
  added: Overlay['resource'] | undefined,
  blank: boolean,
): string {
  const { pdf } = importer;
  const value = blank ? undefined : inherited(page, 'Resources');
  const dict = pdf.dict(value);
  if (added === undefined) return value === undefined || dict === undefined ? '<<>>' : importer.value(value);
  const set = new Map([added]);
  const objects = pdf.dict(dict?.get('XObject'));
  const all =
    objects === undefined ? `<<${nameObject(added[0])} ${added[1]}>>` : importer.value(objects, { set });
  return dict === undefined
    ? `<</XObject ${all}>>`
    : importer.value(dict, { set: new Map([['XObject', all]]) });
}

function contentsOf(importer: Importer, page: PdfDict): string[] {
  const contents = page.get('Contents');
  const found = importer.pdf.resolve(contents);
  if (contents === undefined || isNull(found)) return [];
  const list = isArray(found) ? [...items(found)] : [contents];
  return list.filter((piece) => asReference(piece) !== undefined).map((piece) => importer.value(piece));
}

function annotationsOf(importer: Importer, page: PdfDict, omitted: ReadonlySet<number>): string[] {
  const kept: string[] = [];
  for (const piece of items(importer.pdf.resolve(page.get('Annots')))) {
    const number = asReference(piece)?.number;
    if (number === undefined || !omitted.has(number)) kept.push(importer.value(piece));
  }
  return kept;
}

/** As it is written on the page or the nearest node above it. */
function inherited({ dict, above }: TreePage, key: string): Piece | undefined {
  for (const node of [dict, ...above.toReversed()]) {
    const value = node.get(key);
    if (value !== undefined) return value;
  }
  return undefined;
}
