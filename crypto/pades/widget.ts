/**
 * Where a signature is seen: the page, the rectangle and the appearance of its widget (ISO 32000-2, 12.5.5 and
 * 12.5.6.19). Everything else about signing is the same for visible and invisible signatures.
 */
import { firstPage, type PdfDict, type Reference } from '../pdf/index.ts';
import { CryptoError, type SignatureAppearance } from '../types.ts';
import { type ExistingWidget, placeInField, placeNew } from './appearance/place.ts';
import { type Draft, referenceText } from './draft.ts';
import type { WidgetPlace } from './widget-place.ts';

/** PDF/A asks for an appearance of every form field, even of one without extent. */
const EMPTY_APPEARANCE =
  '<</Type/XObject/Subtype/Form/BBox[0 0 0 0]/Resources<<>>/Length 0>>\nstream\n\nendstream';

/**
 * The widget of a new field. An invisible signature has one without extent on the first page, since a field must have
 * one.
 * @param own the object that is going to be the widget
 * @param isSigned the document has signatures
 * @throws {CryptoError} `pdf.no-pages`; `request.invalid` for an appearance that can't be shown
 */
export function placeWidget(
  draft: Draft,
  appearance: SignatureAppearance | undefined,
  own: Reference,
  isSigned: boolean,
): WidgetPlace {
  if (appearance !== undefined) return placeNew(draft, appearance, own, isSigned);
  const page = firstPage(draft.pdf);
  const empty = referenceText(draft.add(EMPTY_APPEARANCE));
  return {
    page,
    entries: [
      ['Rect', '[0 0 0 0]'],
      ['AP', `<</N ${empty}>>`],
    ],
  };
}

const UNTOUCHED: WidgetPlace = { page: undefined, entries: [] };

/**
 * The widget of a field that is there already; for an invisible signature it stays as it is.
 * @param field `widget` is undefined when it has none
 * @throws {CryptoError} as `placeWidget`
 */
export function placeFieldWidget(
  draft: Draft,
  appearance: SignatureAppearance | undefined,
  field: { readonly dict: PdfDict; readonly own: Reference; readonly widget: ExistingWidget | undefined },
  isSigned: boolean,
): WidgetPlace {
  const { dict, own, widget } = field;
  if (widget !== undefined) {
    return appearance === undefined ? UNTOUCHED : placeInField(draft, appearance, dict, widget, isSigned);
  }
  // A field can do without a widget, and those who check the earlier signatures may object to a new one for it.
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
