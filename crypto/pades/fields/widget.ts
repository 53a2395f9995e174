/**
 * Page, rectangle and appearance of a signature's widget (ISO 32000-2, 12.5.5 and
 * 12.5.6.19). All other steps are the same for visible and invisible signatures.
 */

import { CryptoError, type SignatureAppearance } from '../../core/types.ts';
import { archivePart } from '../../pdf/graphics/pdfa-rules.ts';
import {
  asReference,
  firstPage,
  items,
  type Page,
  type PdfDict,
  type PdfDocument,
  pages,
  type Reference,
} from '../../pdf/index.ts';
import { type IncrementalUpdate, referenceText } from '../../pdf/update/incremental-update.ts';
import { type ExistingWidget, placeInField, placeNew, type WidgetPlace } from '../appearance/place.ts';

/** PDF/A-1 requires an appearance of every form field, even without an extent (ISO 19005-1, 6.9). */
const EMPTY_APPEARANCE =
  '<</Type/XObject/Subtype/Form/BBox[0 0 0 0]/Resources<<>>/Length 0>>\nstream\n\nendstream';

/**
 * Creates the widget of a new field. An invisible signature gets an empty rectangle on the first page, since a field
 * needs a widget.
 * @param own the object that is going to be the widget
 * @param isSigned the document has signatures
 * @throws {CryptoError} `pdf.no-pages`; `request.invalid` for an appearance that can't be shown
 */
export function placeWidget(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance | undefined,
  own: Reference,
  isSigned: boolean,
): WidgetPlace {
  if (appearance !== undefined) return placeNew(draft, appearance, own, isSigned);
  const page = listingPage(draft.pdf);
  if (page === undefined) return { page, entries: WIDGET_WITHOUT_PAGE };
  const rectangle = ['Rect', '[0 0 0 0]'] as const;
  // Otherwise it is left out: some validators report it as a page change that a certification forbids.
  if (archivePart(draft.pdf) !== 1) return { page, entries: [rectangle] };
  const empty = referenceText(draft.add(EMPTY_APPEARANCE));
  return { page, entries: [rectangle, ['AP', `<</N ${empty}>>`]] };
}

/** Entries of an invisible widget without a page: it needs neither /P nor the flag Print. */
const WIDGET_WITHOUT_PAGE: WidgetPlace['entries'] = [
  ['Type', '/Annot'],
  ['Subtype', '/Widget'],
  ['F', '132'],
  ['Rect', '[0 0 0 0]'],
];

/**
 * Returns the first page, which must list the widget; undefined when it can't be rewritten: a direct
 * object in the list of its parent, or a stream.
 * @throws {CryptoError} `pdf.no-pages`
 */
function listingPage(pdf: PdfDocument): Page | undefined {
  for (const page of pages(pdf)) {
    return pdf.plainObject(page.reference.number)?.data === undefined ? page : undefined;
  }
  const root = pdf.dict(pdf.catalog.get('Pages'));
  const [kid] = items(pdf.resolve(root?.get('Kids')));
  if (kid !== undefined && asReference(kid) === undefined && pdf.dict(kid) !== undefined) return undefined;
  return firstPage(pdf);
}

const UNTOUCHED: WidgetPlace = { page: undefined, entries: [] };

/**
 * Returns the widget of an existing field; for an invisible signature it stays unchanged.
 * @param field `widget` is undefined when it has none
 * @throws {CryptoError} as `placeWidget`
 */
export function placeFieldWidget(
  draft: IncrementalUpdate,
  appearance: SignatureAppearance | undefined,
  field: { readonly dict: PdfDict; readonly own: Reference; readonly widget: ExistingWidget | undefined },
  isSigned: boolean,
): WidgetPlace {
  const { dict, own, widget } = field;
  if (widget !== undefined) {
    return appearance === undefined ? UNTOUCHED : placeInField(draft, appearance, dict, widget, isSigned);
  }
  // A field does not need a widget, and validators of the earlier signatures may reject a new one.
  if (!isSigned) {
    const { page, entries } = placeWidget(draft, appearance, own, isSigned);
    return { page, entries: entries.filter(([key]) => key !== 'TU' || dict.get(key) === undefined) };
  }
  if (appearance === undefined) return UNTOUCHED;
  throw new CryptoError(
    'request.invalid',
    'The signature field has no widget, and can get none after somebody has signed.',
  );
}
