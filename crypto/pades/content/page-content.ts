/**
 * Adds stamps and form fields to the update of a signature (ISO 32000-2, 12.5.6.12 and 12.7). All text of an update
 * shares one subset of the font.
 */
import { CryptoError, type FormFieldContent, type PageContent, type PagePlace } from '../../core/types.ts';
import { pdfARules } from '../../pdf/graphics/pdfa-rules.ts';
import { type PdfDocument, pages, type Reference, type TreePage } from '../../pdf/index.ts';
import { textString } from '../../pdf/syntax/strings.ts';
import { type IncrementalUpdate, referenceText } from '../../pdf/update/incremental-update.ts';
import { fittedOn, rectText, type VisiblePlace } from '../appearance/place.ts';
import { AppearanceWriter } from './appearance-writer.ts';
import type { FieldLook } from './field-look.ts';
import { fillField, formFields } from './fill-field.ts';
import { settleAppearances } from './settled-appearances.ts';

/** Print, ReadOnly and Locked (table 167). */
const STAMP_FLAGS = 196;
/** Print; PDF/A requires it. */
const WIDGET_FLAGS = 4;
/** ReadOnly (table 228): fields are filled through the service, which knows whose they are. */
const FIELD_FLAGS = 1;
/** Flag Multiline (table 231). */
const MULTILINE = 1 << 12;
/** Height from which a created field shows several lines, points. */
const MIN_LINES_HEIGHT = 24;
/** Look of created fields. */
const PLAIN_LOOK: FieldLook = {
  ink: [0],
  background: undefined,
  border: undefined,
  borderWidth: 0,
  isDashed: false,
  isUnderline: false,
  align: 'left',
  size: 0,
};
/** Message about a field that was placed in such a file. */
const SIGNED =
  'The PDF is signed already, and new fields would break its signatures. Only fields of its own form can be filled.';
/** Name of the font in the resources of the form. */
const FORM_FONT = 'SwF';

/**
 * @param isSigned the document has signatures: fields of it are filled, and nothing is created
 * @throws {CryptoError} `request.invalid` for a field that is missing and cannot be created, and for a value that its
 *   field cannot have; as `fittedOn`
 */
export function addPageContent(draft: IncrementalUpdate, content: PageContent, isSigned: boolean): void {
  const { pdf } = draft;
  const present = formFields(pdf);
  const writer = new AppearanceWriter(draft, pdfARules(pdf));
  const places = new Places(pdf);
  const filled = new Set<string>();
  let isFormNew = false;
  let hasOwnFields = false;
  // Annotations are painted in their order.
  for (const place of isSigned ? [] : (content.covers ?? [])) {
    const at = places.of(place);
    addAnnotation(
      draft,
      at,
      `/Subtype/Stamp/F ${STAMP_FLAGS}/AP<</N ${writer.blank(extentOf(at), at.view.rotation)}>>`,
    );
  }
  for (const field of content.fields) {
    const found = present.get(field.name);
    if (found !== undefined) {
      hasOwnFields = true;
      if (field.value !== null) {
        fillField(draft, writer, { formField: found, value: field.value, isSigned });
        filled.add(field.name);
      }
    } else {
      if (field.place === null) throw missing(field);
      if (isSigned) throw new CryptoError('request.invalid', SIGNED);
      createField(draft, writer, field, places.of(field.place));
      isFormNew = true;
    }
  }
  for (const { place, lines = [], image } of isSigned ? [] : content.stamps) {
    const at = places.of(place);
    const appearance = writer.stream(extentOf(at), at.view.rotation, { lines, image });
    addAnnotation(
      draft,
      at,
      `/Subtype/Stamp/F ${STAMP_FLAGS}/Contents${textString(lines.join('\n'))}/AP<</N ${appearance}>>`,
    );
  }
  if (!isSigned) settleAppearances(draft, writer, filled);
  // Viewers of XFA show its data and not the values of the form, and ISO 32000-2 has none.
  const form = draft.catalog.child('AcroForm');
  if (!isSigned && hasOwnFields && form.get('XFA') !== undefined) form.set('XFA', 'null');
  const font = writer.finish();
  if (isFormNew && font !== undefined)
    draft.catalog.child('AcroForm').child('DR').child('Font').set(FORM_FONT, font);
}

function missing({ name }: FormFieldContent): CryptoError {
  return new CryptoError('request.invalid', `The document has no form field ${name} that can be filled.`);
}

/** The positions on the pages of a document, which are listed once. */
class Places {
  readonly #pdf: PdfDocument;
  #pages: readonly TreePage[] | undefined;

  constructor(pdf: PdfDocument) {
    this.#pdf = pdf;
  }

  of(place: PagePlace): VisiblePlace {
    this.#pages ??= [...pages(this.#pdf)];
    const page = this.#pages[(place.page ?? this.#pages.length) - 1] ?? this.#pages.at(-1);
    return fittedOn(this.#pdf, page, place);
  }
}

function extentOf({ shown: [left, bottom, right, top] }: VisiblePlace): {
  readonly width: number;
  readonly height: number;
} {
  return { width: right - left, height: top - bottom };
}

function createField(
  draft: IncrementalUpdate,
  writer: AppearanceWriter,
  { name, kind, label, value }: FormFieldContent,
  at: VisiblePlace,
): void {
  const turned = at.view.rotation === 0 ? '' : `/MK<</R ${at.view.rotation}>>`;
  const extent = extentOf(at);
  const isTall = kind === 'text' && (extent.height >= MIN_LINES_HEIGHT || value?.includes('\n') === true);
  const flags = isTall ? FIELD_FLAGS | MULTILINE : FIELD_FLAGS;
  const shared = `/Subtype/Widget/F ${WIDGET_FLAGS}/T${textString(name)}/TU${textString(label)}/Ff ${flags}${turned}`;
  let own: string;
  if (kind === 'checkbox') {
    const [on, off] = writer.checkbox(extent, at.view.rotation);
    const state = value === 'true' ? 'Yes' : 'Off';
    own = `/FT/Btn/V/${state}/AS/${state}/AP<</N<</Yes ${on}/Off ${off}>>>>`;
  } else {
    const appearance = writer.field(extent, at.view.rotation, PLAIN_LOOK, {
      kind: isTall ? 'lines' : 'line',
      text: value ?? '',
    });
    const entry = value === null ? '' : `/V${textString(value)}`;
    own = `/FT/Tx${entry}/DA(/${FORM_FONT} 0 Tf 0 g)/AP<</N ${appearance}>>`;
  }
  const reference = addAnnotation(draft, at, shared + own);
  draft.catalog.child('AcroForm').append('Fields', referenceText(reference));
}

function addAnnotation(
  draft: IncrementalUpdate,
  { page, view, shown }: VisiblePlace,
  entries: string,
): Reference {
  const rectangle = rectText(view.toContent(shown));
  const own = draft.add(`<</Type/Annot/P ${referenceText(page.reference)}/Rect ${rectangle}${entries}>>`);
  draft.dict(page.reference, page.dict).appendHere('Annots', referenceText(own));
  return own;
}
