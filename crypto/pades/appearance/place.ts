/**
 * Places a visible signature: creates a new widget, or positions the existing widget of a field.
 *
 * Adds the widget of a signature to the structure tree of a tagged PDF (ISO 32000-2, 14.7.4 and 14.7.5; ISO 14289-1,
 * 7.18.3 and 7.18.4), so that the file still conforms to PDF/UA or PDF/A level A.
 */
import { CryptoError, type PagePlace, type SignatureAppearance } from '../../core/types.ts';
import { type Box, box, type PageView, viewOf } from '../../pdf/graphics/page-view.ts';
import {
  asInteger,
  asName,
  asReference,
  type ByteSlice,
  isArray,
  isNull,
  items,
  type Page,
  type PdfDict,
  type PdfDocument,
  pages,
  type Reference,
  sourceText,
  type TreePage,
} from '../../pdf/index.ts';
import { textString } from '../../pdf/syntax/strings.ts';
import {
  type DictUpdate,
  type IncrementalUpdate,
  numberText,
  referenceText,
} from '../../pdf/update/incremental-update.ts';
import { coveredOn } from '../painting/covered-content.ts';
import { drawAppearance } from './draw.ts';

/** Most levels of a number tree. */
const MAX_DEPTH = 32;
/** Most structure parents; a tree that claims more stays unchanged. */
const MAX_TAGS = 1 << 30;

/**
 * @returns the key of the widget in the parent tree; undefined when the document has no structure that
 * can be extended
 */
function tagWidget(draft: IncrementalUpdate, page: Page, widget: Reference): number | undefined {
  const { pdf, catalog } = draft;
  const rootReference = asReference(catalog.get('StructTreeRoot'));
  const root = pdf.dict(catalog.get('StructTreeRoot'));
  if (rootReference === undefined || root === undefined) return undefined;
  const highest = highestKey(pdf, pdf.dict(root.get('ParentTree')), 0);
  if (highest === undefined) return undefined;
  const next = asInteger(pdf.resolve(root.get('ParentTreeNextKey'))) ?? 0;
  const key = Math.max(0, highest + 1, next);
  if (key > MAX_TAGS) return undefined;
  const tree = draft.dict(rootReference, root);
  const parent = documentElement(pdf, root) ?? { reference: rootReference, dict: root };
  const element = referenceText(
    draft.add(
      `<</Type/StructElem/S/Form/P ${referenceText(parent.reference)}/Pg ${referenceText(page.reference)}` +
        `/K<</Type/OBJR/Obj ${referenceText(widget)}/Pg ${referenceText(page.reference)}>>>>`,
    ),
  );
  appendKid(pdf, draft.dict(parent.reference, parent.dict), element);
  const parents = tree.child('ParentTree');
  if (isNull(pdf.resolve(parents.get('Kids')))) parents.append('Nums', `${key} ${element}`);
  else {
    const leaf = draft.add(`<</Nums[${key} ${element}]/Limits[${key} ${key}]>>`);
    parents.append('Kids', referenceText(leaf));
  }
  tree.set('ParentTreeNextKey', String(key + 1));
  if (page.dict.get('Tabs') === undefined) draft.dict(page.reference, page.dict).set('Tabs', '/S');
  return key;
}

/** Returns the last key of a number tree; -1 for an empty one, undefined for one that can't be read. */
function highestKey(pdf: PdfDocument, node: PdfDict | undefined, depth: number): number | undefined {
  if (node === undefined) return depth === 0 ? -1 : undefined;
  if (depth > MAX_DEPTH) return undefined;
  const kids = pdf.resolve(node.get('Kids'));
  if (isArray(kids)) {
    const last = lastItems(kids, 1)[0];
    return last === undefined ? -1 : highestKey(pdf, pdf.dict(last), depth + 1);
  }
  const numbers = pdf.resolve(node.get('Nums'));
  if (isNull(numbers)) return -1;
  const pair = lastItems(numbers, 2);
  return pair.length === 0 ? -1 : asInteger(pdf.resolve(pair[0]));
}

function lastItems(array: ByteSlice, count: number): readonly ByteSlice[] {
  const last: ByteSlice[] = [];
  for (const item of items(array)) {
    last.push(item);
    if (last.length > count) last.shift();
  }
  return last;
}

/** Returns the root structure element, when there is exactly one. */
function documentElement(
  pdf: PdfDocument,
  root: PdfDict,
): { readonly reference: Reference; readonly dict: PdfDict } | undefined {
  const kids = root.get('K');
  const resolved = pdf.resolve(kids);
  const [only, second] = isArray(resolved) ? [...lastItems(resolved, 2)] : [kids];
  const reference = asReference(only);
  const dict = pdf.dict(only);
  if (second !== undefined || reference === undefined || dict === undefined) return undefined;
  return asName(pdf.resolve(dict.get('S'))) === 'Document' ? { reference, dict } : undefined;
}

function appendKid(pdf: PdfDocument, parent: DictUpdate, element: string): void {
  const kids = parent.get('K');
  const resolved = pdf.resolve(kids);
  if (kids === undefined || isNull(resolved)) parent.set('K', `[${element}]`);
  else if (isArray(resolved)) parent.append('K', element);
  else parent.set('K', `[${sourceText(kids)} ${element}]`);
}

/** A widget that is already in the form. */
export interface ExistingWidget {
  readonly dict: PdfDict;
  /** Undefined when it is written into the field's list of kids. */
  readonly reference: Reference | undefined;
}

/** Tolerance in points for rectangles that other programs rounded. */
const TOLERANCE = 1;

/**
 * Creates a widget on the requested page, in the requested rectangle.
 * @param own reference of the new widget
 * @throws {CryptoError} `request.invalid` when page or rectangle are missing or invalid; as `drawAppearance`
 */
export function placeNew(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance,
  own: Reference,
  isSigned: boolean,
): WidgetPlace {
  if (appearance.place !== undefined) {
    const nearest = fitted(draft.pdf, appearance.place);
    const free = isSigned ? freePlace(draft.pdf, nearest) : nearest;
    if (free === undefined) return { page: nearest.page, entries: [['Rect', '[0 0 0 0]']] };
    return widgetOn(draft, appearance, { own, isSigned, shownPlace: free });
  }
  const { page: number, rectangle } = appearance;
  if (number === undefined || rectangle === undefined) {
    throw invalid('A visible signature in a new place needs a page and a rectangle.');
  }
  const page = pageAt(draft.pdf, number);
  const view = viewOf(draft.pdf, page);
  const shown = shownBox(rectangle);
  if (!isOnPage(view, shown)) {
    throw invalid(
      `The rectangle of the signature is not on page ${number}, ` +
        `which is ${numberText(view.width)} x ${numberText(view.height)} points as shown.`,
    );
  }
  return widgetOn(draft, appearance, { own, isSigned, shownPlace: { page, view, shown } });
}

export interface VisiblePlace {
  readonly page: TreePage;
  readonly view: PageView;
  readonly shown: Box;
}

/** Returns the nearest possible position to the requested one. @throws {CryptoError} `pdf.no-pages` */
function fitted(pdf: PdfDocument, place: Required<SignatureAppearance>['place']): VisiblePlace {
  let page: TreePage | undefined;
  let count = 0;
  for (const one of pages(pdf)) {
    page = one;
    if (++count === place.page) break;
  }
  const view = page && viewOf(pdf, page);
  const points = (given: number | string, whole = 0): number =>
    typeof given === 'number' ? given : (Number.parseFloat(given) / 100) * whole;
  return fittedOn(pdf, page, {
    page: place.page,
    left: points(place.left, view?.width),
    top: points(place.top, view?.height),
    width: points(place.width, view?.width),
    height: points(place.height, view?.height),
  });
}

/**
 * Returns the nearest possible position on a page.
 * @throws {CryptoError} `pdf.no-pages`; `request.invalid` for a rectangle without an extent
 */
export function fittedOn(
  pdf: PdfDocument,
  page: TreePage | undefined,
  { left, top, width, height }: PagePlace,
): VisiblePlace {
  if (page === undefined)
    throw new CryptoError('pdf.no-pages', 'The PDF has no page to show a signature on.');
  const view = viewOf(pdf, page);
  if (![left, top, width, height].every(Number.isFinite) || width <= 0 || height <= 0) {
    throw invalid('The rectangle of the signature has no extent.');
  }
  const wide = Math.min(width, view.width);
  const high = Math.min(height, view.height);
  const x = Math.max(0, Math.min(left, view.width - wide));
  const y = Math.max(0, Math.min(view.height - top - high, view.height - high));
  return { page, view, shown: [x, y, x + wide, y + high] };
}

/** Distance between positions that are tried, points. */
const STEP = 6;
/** Sizes that are tried, as parts of the requested one. */
const SIZES = [1, 0.75, 0.5, 0.35];
/** Most positions that are tried for one size. */
const MAX_POSITIONS = 1500;

/**
 * Returns the nearest position that hides nothing of a signed page: a signature over signed content would make the earlier
 * ones invalid. Undefined on a full page.
 */
function freePlace(pdf: PdfDocument, asked: VisiblePlace): VisiblePlace | undefined {
  const { page, view, shown } = asked;
  const isFree = (one: Box): boolean => {
    const [left, bottom, right, top] = view.toContent(one);
    const cover = { box: { left, bottom, right, top }, remains: 0, isText: false };
    return coveredOn(pdf, page, { own: [], covers: [cover], spend: () => {} }) !== 'content';
  };
  if (isFree(shown)) return asked;
  const [left, bottom, right, top] = shown;
  for (const size of SIZES) {
    const width = (right - left) * size;
    const height = (top - bottom) * size;
    const step = Math.max(STEP, Math.sqrt(((view.width - width) * (view.height - height)) / MAX_POSITIONS));
    const positions: Box[] = [];
    for (let x = left % step; x + width <= view.width; x += step)
      for (let y = bottom % step; y + height <= view.height; y += step)
        positions.push([x, y, x + width, y + height]);
    const distance = ([x, y]: Box): number => Math.hypot(x - left, y - bottom);
    const found = positions.sort((one, other) => distance(one) - distance(other)).find(isFree);
    if (found !== undefined) return { page, view, shown: found };
  }
  return undefined;
}

function widgetOn(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance,
  {
    own,
    isSigned,
    shownPlace: { page, view, shown },
  }: { readonly own: Reference; readonly isSigned: boolean; readonly shownPlace: VisiblePlace },
): WidgetPlace {
  const entries: Entry[] = [
    ['Rect', rectText(view.toContent(shown))],
    ['AP', drawn(draft, appearance, shown, view)],
    ['TU', description(appearance)],
  ];
  if (view.rotation !== 0) entries.push(['MK', `<</R ${view.rotation}>>`]);
  // Validators of the earlier signatures reject a changed document structure.
  const tag = isSigned ? undefined : tagWidget(draft, page, own);
  if (tag !== undefined) entries.push(['StructParent', String(tag)]);
  return { page, entries };
}

/**
 * Positions the widget of an empty field. It moves to the requested rectangle when that is on the widget's own page
 * and the document has no signature; otherwise it keeps its place, if it has an extent.
 * @throws {CryptoError} `request.invalid` when the widget can't be shown anywhere; as `placeNew`
 */
export function placeInField(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance,
  {
    field,
    widget: { dict, reference },
    isSigned,
  }: { readonly field: PdfDict; readonly widget: ExistingWidget; readonly isSigned: boolean },
): WidgetPlace {
  const { pdf } = draft;
  const asked = appearance.page === undefined ? undefined : pageAt(pdf, appearance.page);
  const home = pageOf(pdf, dict, reference);
  if (reference === undefined || home === undefined) {
    throw invalid('The signature field has a widget that is on no page, so nothing can be shown in it.');
  }
  const view = viewOf(pdf, home);
  const isHome = asked === undefined || asked.reference.number === home.reference.number;
  const wanted = appearance.rectangle === undefined ? undefined : shownBox(appearance.rectangle);
  const present = box(pdf, dict.get('Rect'));
  const entries: Entry[] = [];
  let shown = present && view.toShown(present);
  if (wanted !== undefined && isHome && !isSigned && isOnPage(view, wanted)) {
    shown = wanted;
    entries.push(['Rect', rectText(view.toContent(wanted))]);
  }
  if (shown === undefined) {
    throw invalid(
      isSigned
        ? 'The signature field has no extent, and can get none after somebody has signed.'
        : 'The signature field has no extent, and needs a rectangle on the page it is on.',
    );
  }
  entries.push(['AP', drawn(draft, appearance, shown, view)]);
  if (isSigned) return { page: undefined, entries };
  if (view.rotation !== 0 && dict.get('MK') === undefined) entries.push(['MK', `<</R ${view.rotation}>>`]);
  const flags = asInteger(pdf.resolve(dict.get('F'))) ?? 0;
  if ((flags & HIDDEN_FLAGS) !== 0) entries.push(['F', String((flags & ~HIDDEN_FLAGS) | PRINT_FLAG)]);
  const named = field.get('TU') !== undefined;
  return { page: undefined, entries, fieldEntries: named ? [] : [['TU', description(appearance)]] };
}

/** Invisible, Hidden and NoView (table 167). */
const HIDDEN_FLAGS = 1 | 2 | 32;
const PRINT_FLAG = 4;

/** @param number 1-based @throws {CryptoError} `request.invalid` when the document has no such page */
function pageAt(pdf: PdfDocument, number: number): TreePage {
  let count = 0;
  if (Number.isSafeInteger(number) && number >= 1) {
    for (const page of pages(pdf)) if (++count === number) return page;
  }
  const has = count === 0 ? '' : ` The document has ${count}.`;
  throw invalid(`There is no page ${number} to show the signature on.${has}`);
}

function pageOf(pdf: PdfDocument, widget: PdfDict, reference: Reference | undefined): TreePage | undefined {
  const named = asReference(widget.get('P'))?.number;
  let listing: TreePage | undefined;
  for (const page of pages(pdf)) {
    if (named !== undefined && page.reference.number === named) return page;
    if (listing === undefined && reference !== undefined && lists(pdf, page, reference)) listing = page;
  }
  return listing;
}

function lists(pdf: PdfDocument, page: TreePage, { number }: Reference): boolean {
  const annotations = page.dict.get('Annots');
  if (annotations === undefined) return false;
  for (const item of items(pdf.resolve(annotations))) if (asReference(item)?.number === number) return true;
  return false;
}

function shownBox({ left, bottom, width, height }: Required<SignatureAppearance>['rectangle']): Box {
  const all = [left, bottom, width, height];
  if (!all.every(Number.isFinite) || width <= 0 || height <= 0) {
    throw invalid('The rectangle of the signature has no extent.');
  }
  return [left, bottom, left + width, bottom + height];
}

function isOnPage({ width, height }: PageView, [left, bottom, right, top]: Box): boolean {
  return (
    left >= -TOLERANCE && bottom >= -TOLERANCE && right <= width + TOLERANCE && top <= height + TOLERANCE
  );
}

function drawn(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance,
  shown: Box,
  view: PageView,
): string {
  const extent = { width: shown[2] - shown[0], height: shown[3] - shown[1] };
  return `<</N ${drawAppearance(draft, appearance, extent, view.rotation)}>>`;
}

/** Builds the value of /Rect. */
export function rectText(content: Box): string {
  return `[${content.map(numberText).join(' ')}]`;
}

/** Returns the alternative description for assistive technology: the text of the signature, or its kind. */
function description({ lines = [] }: SignatureAppearance): string {
  const text = lines.join(' ').replace(/\s+/g, ' ').trim();
  return textString(text === '' ? 'Signature' : text);
}

function invalid(message: string): CryptoError {
  return new CryptoError('request.invalid', message);
}

/** Entries for a widget and the page it is on. */
export interface WidgetPlace {
  /** Page whose /Annots must get the widget; undefined when a page lists it already. */
  readonly page: Page | undefined;
  /** Keys and values, as text, for the widget's dictionary. */
  readonly entries: readonly Entry[];
  /** Keys and values for the field, when that is a separate dictionary. */
  readonly fieldEntries?: readonly Entry[];
}

type Entry = readonly [key: string, value: string];
