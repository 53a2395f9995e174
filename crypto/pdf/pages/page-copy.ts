/** Copies pages of one PDF into another, with optional overlays (ISO 32000-2, 7.7.3.3). */

import { CryptoError } from '../../core/types.ts';
import { pages, type TreePage } from '../document/page.ts';
import type { TextFont } from '../fonts/shaped-text.ts';
import { viewOf } from '../graphics/page-view.ts';
import {
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type PdfDict,
  type Reference,
} from '../syntax/values.ts';
import { numberText, packedStream, referenceText } from '../update/incremental-update.ts';
import { nameObject } from '../update/rewrite.ts';
import { type DrawnItem, drawItems, linkAnnotation } from './drawing.ts';
import type { Importer } from './import.ts';
import type { NewPdf } from './new-pdf.ts';
import { type ByteBudget, unbalancedContent } from './unbalanced-content.ts';

/** Most pages of one file. */
const MAX_PAGES = 20_000;

/** A page as shown. */
export interface ShownPage {
  /** Page number from 1. */
  readonly number: number;
  /** Pages of the file. */
  readonly count: number;
  /** Points. */
  readonly width: number;
  readonly height: number;
}

interface PageCopying {
  readonly out: NewPdf;
  /** Root of the page tree. */
  readonly tree: Reference;
  readonly font: TextFont;
  readonly fontReference: string;
  /** Returns the overlay of a page. */
  readonly draw?: ((page: ShownPage) => readonly DrawnItem[]) | undefined;
  /** Omits the content of the pages. */
  readonly blank?: boolean | undefined;
  /** Limits the bytes of page content that are parsed. */
  readonly byteBudget: ByteBudget;
  /** Object numbers of annotations that are omitted. */
  readonly omitted: ReadonlySet<number>;
}

/** @throws {CryptoError} `pdf.no-pages`; `input.too-large` for more than the most pages */
export function pageList(importer: Importer): readonly TreePage[] {
  const list: TreePage[] = [];
  for (const page of pages(importer.pdf)) {
    list.push(page);
    if (list.length > MAX_PAGES) {
      throw new CryptoError('input.too-large', `The PDF has more than ${MAX_PAGES} pages.`);
    }
  }
  if (list.length === 0) throw new CryptoError('pdf.no-pages', 'The PDF has no pages.');
  return list;
}

/** Entries that depend on the source document: page tree, structure, private data, threads. */
const OMITTED_KEYS = [
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

/** Writes the copies of all pages under the numbers of `Importer.announcePage`. */
export function copyPages(
  importer: Importer,
  list: readonly TreePage[],
  copies: readonly Reference[],
  to: PageCopying,
): void {
  for (const [index, page] of list.entries()) {
    const copy = copies[index];
    if (copy !== undefined) to.out.put(copy, pageText(importer, page, { index, count: list.length, to }));
  }
}

function pageText(
  importer: Importer,
  page: TreePage,
  { index, count, to }: { readonly index: number; readonly count: number; readonly to: PageCopying },
): string {
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
  const unbalanced =
    overlay === undefined || to.blank === true
      ? undefined
      : unbalancedContent(importer.pdf, page.dict, to.byteBudget);
  const contents = to.blank === true || unbalanced !== undefined ? [] : contentsOf(importer, page.dict);
  let resources: string;
  const added = (text: string): string =>
    referenceText(to.out.add(packedStream('', Buffer.from(text, 'latin1'))));
  if (overlay !== undefined && unbalanced !== undefined) {
    // As a form, the content keeps its unfinished states to itself.
    const keys = `/Type/XObject/Subtype/Form/BBox ${set.get('MediaBox')}/Resources ${resourcesOf(importer, page, undefined, false)}`;
    const form = referenceText(to.out.add(packedStream(keys, unbalanced)));
    contents.push(added(`q /Page Do Q${overlay.operators}`));
    resources = `<</XObject<</Page ${form}${nameObject(overlay.resource[0])} ${overlay.resource[1]}>>>>`;
  } else {
    if (overlay !== undefined) {
      // The graphics state at the end of the page content must not affect the overlay.
      contents.unshift(added('q\n'));
      contents.push(added(`\nQ${overlay.operators}`));
    }
    resources = resourcesOf(importer, page, overlay?.resource, to.blank === true);
  }
  if (contents.length > 0) set.set('Contents', `[${contents.join(' ')}]`);
  set.set('Resources', resources);
  const annotations = to.blank === true ? [] : annotationsOf(importer, page.dict, to.omitted);
  annotations.push(...(overlay?.links ?? []).map((link) => referenceText(to.out.add(link))));
  if (annotations.length > 0) set.set('Annots', `[${annotations.join(' ')}]`);
  if (to.blank === true) {
    const unit = page.dict.get('UserUnit');
    if (unit !== undefined) set.set('UserUnit', importer.value(unit));
    return `<<${[...set].map(([key, value]) => `/${key} ${value}`).join('')}>>`;
  }
  return importer.value(page.dict, { set, drop: new Set(OMITTED_KEYS) });
}

interface Overlay {
  readonly operators: string;
  /** Resource name and reference of the overlay. */
  readonly resource: readonly [name: string, reference: string];
  readonly links: readonly string[];
}

function overlayOf(
  importer: Importer,
  page: TreePage,
  place: { readonly number: number; readonly count: number },
  { draw, out, font, fontReference }: PageCopying,
): Overlay | undefined {
  if (draw === undefined) return undefined;
  const view = viewOf(importer.pdf, page);
  const { width, height, matrix } = view;
  const drawn = draw({ ...place, width, height });
  if (drawn.length === 0) return undefined;
  const { operators, resources, links } = drawItems(drawn, height, { font, fontReference, sink: out });
  const form = out.add(
    packedStream(
      `/Type/XObject/Subtype/Form/BBox[0 0 ${numberText(width)} ${numberText(height)}]/Resources<<${resources}>>`,
      Buffer.from(operators, 'latin1'),
    ),
  );
  const name = unusedName(importer, page);
  return {
    operators: ` q ${matrix.map(numberText).join(' ')} cm /${name} Do Q\n`,
    resource: [name, referenceText(form)],
    links: links.map(({ box, uri }) => linkAnnotation(view.toContent(box), uri)),
  };
}

/** Returns a resource name that the page does not use. */
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
  return list.filter((slice) => asReference(slice) !== undefined).map((slice) => importer.value(slice));
}

function annotationsOf(importer: Importer, page: PdfDict, omitted: ReadonlySet<number>): string[] {
  const { pdf } = importer;
  const kept: string[] = [];
  for (const slice of items(pdf.resolve(page.get('Annots')))) {
    const number = asReference(slice)?.number;
    // A field that is written into the list of the page is in no form.
    const isSignature = number === undefined && asName(pdf.resolve(pdf.dict(slice)?.get('FT'))) === 'Sig';
    if (!isSignature && (number === undefined || !omitted.has(number))) kept.push(importer.value(slice));
  }
  return kept;
}

/** Returns an inheritable entry: that of the page or of the nearest ancestor. */
function inherited({ dict, above }: TreePage, key: string): ByteSlice | undefined {
  for (const node of [dict, ...above.toReversed()]) {
    const value = node.get(key);
    if (value !== undefined) return value;
  }
  return undefined;
}
