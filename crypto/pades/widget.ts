/**
 * Where a signature is seen: the page, the rectangle and the appearance of its widget (ISO 32000-2, 12.5.5 and
 * 12.5.6.19). Everything else about signing is the same for visible and invisible signatures.
 */
import { firstPage, type Page, type PdfDict } from '../pdf/index.ts';
import { CryptoError, type SignatureAppearance } from '../types.ts';
import { type Draft, referenceText } from './draft.ts';

export interface WidgetPlace {
  /** The page that has to list the widget; undefined when one does already. */
  readonly page: Page | undefined;
  /** Keys and values, as text, that the widget's dictionary gets. */
  readonly entries: readonly (readonly [key: string, value: string])[];
}

/** PDF/A asks for an appearance of every form field, even of one without extent. */
const EMPTY_APPEARANCE =
  '<</Type/XObject/Subtype/Form/BBox[0 0 0 0]/Resources<<>>/Length 0>>\nstream\n\nendstream';

/**
 * An invisible signature has a widget without extent on the first page, since a field must have one; that of a field
 * which exists already stays as it is.
 * @param existing the widget of the field, when it has one
 * @throws {CryptoError} `pdf.no-pages`; `request.invalid` for an appearance
 */
export function placeWidget(
  draft: Draft,
  appearance: SignatureAppearance | undefined,
  existing: PdfDict | undefined,
): WidgetPlace {
  if (appearance !== undefined) {
    throw new CryptoError('request.invalid', 'Visible signatures are not drawn yet.');
  }
  if (existing !== undefined) return { page: undefined, entries: [] };
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
