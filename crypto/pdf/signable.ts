/**
 * Whether a document takes a signature at all, earlier signatures apart.
 */
import { CryptoError } from '../types.ts';
import type { PdfDocument } from './document.ts';
import { isNull, items, type PdfDict } from './values.ts';

/**
 * Permissions (ISO 32000-2, table 22) are those of somebody who opens the file without a password. The standard
 * counts signature fields among form fields: making one changes the form (bits 4 and 6), signing one that the author
 * has put there is filling it in (bit 6 or 9). Nothing enforces them but readers that obey (7.6.4.2), and those show a
 * signature that was not permitted as a change the author did not want.
 *
 * An XFA form that is shown by its own layout engine has pages that only say so: nobody who looks at it would see
 * what was signed, and its readers don't know fields that its template lacks (ISO 32000-1, 12.7.8 and table 28;
 * XFA is gone from ISO 32000-2).
 *
 * @param field whether the signature gets a field of its own or fills in one that is there
 * @throws {CryptoError} `pdf.change-forbidden`, `pdf.xfa-only`
 */
export function assertSignable(pdf: PdfDocument, field: 'new' | 'empty'): void {
  const permissions = pdf.xref.encryption?.permissions;
  if (
    permissions !== undefined &&
    !permissions.createFields &&
    (field === 'new' || !permissions.fillFields)
  ) {
    throw new CryptoError(
      'pdf.change-forbidden',
      permissions.fillFields
        ? 'The permissions of the encrypted PDF let only fields be signed that are there already.'
        : 'The permissions of the encrypted PDF forbid to sign it.',
    );
  }
  const form = pdf.dict(pdf.catalog.get('AcroForm'));
  if (form !== undefined && isXfaOnly(pdf, form)) {
    throw new CryptoError(
      'pdf.xfa-only',
      'The PDF is an XFA form without pages of its own; it has to be printed to a PDF before it can be signed.',
    );
  }
}

function isXfaOnly(pdf: PdfDocument, form: PdfDict): boolean {
  if (isNull(pdf.resolve(form.get('XFA')))) return false;
  const { bytes, start, end } = pdf.resolve(pdf.catalog.get('NeedsRendering'));
  if (bytes.toString('latin1', start, end) === 'true') return true;
  const [first] = items(pdf.resolve(form.get('Fields')));
  return first === undefined;
}
