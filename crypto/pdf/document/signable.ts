/** Checks that a document can be signed, independent of earlier signatures. */
import { CryptoError } from '../../core/types.ts';
import { isNull, items, type PdfDict } from '../syntax/values.ts';
import type { PdfDocument } from './document.ts';

/**
 * Permissions (ISO 32000-2, table 22) are those of a user who opens the file without a password. The standard
 * counts signature fields among form fields: creating one changes the form (bits 4 and 6), signing an existing one
 * is form filling (bit 6 or 9). Only conforming readers enforce them (7.6.4.2), and those report an unpermitted
 * signature as a change that the author did not permit.
 *
 * A dynamic XFA form has placeholder pages only: its viewers never show the signed
 * content, and they ignore fields that its template lacks (ISO 32000-1, 12.7.8 and table 28;
 * XFA is removed from ISO 32000-2).
 *
 * @param field `new`: the signature gets a new field; `empty`: it fills an existing one
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
