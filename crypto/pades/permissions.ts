/**
 * What earlier signatures allow to be changed (ISO 32000-2, 12.8.2.2, 12.7.5.5 and 12.8.6).
 */
import {
  asDict,
  asInteger,
  asName,
  type Field,
  items,
  type PdfDict,
  type PdfDocument,
} from '../pdf/index.ts';
import { CryptoError } from '../types.ts';

/** Adding a signature is allowed from 2 on; 1 allows no change at all. */
const NO_CHANGES = 1;
const DEFAULT_PERMISSION = 2;

/** @throws {CryptoError} `pdf.change-forbidden` when the author's certification allows no further change */
export function assertCertificationAllowsSigning(pdf: PdfDocument): void {
  const certification = pdf.dict(pdf.dict(pdf.catalog.get('Perms'))?.get('DocMDP'));
  if (certification !== undefined && permissionOf(pdf, certification) === NO_CHANGES) {
    throw new CryptoError(
      'pdf.change-forbidden',
      'The PDF is certified and its author allows no further changes.',
    );
  }
}

/** @throws {CryptoError} `pdf.change-forbidden` when a signature in this field locked the whole document */
export function assertFieldAllowsSigning(pdf: PdfDocument, field: Field): void {
  if (field.type !== 'Sig') return;
  const signature = pdf.dict(field.dict.get('V'));
  if (signature === undefined) return;
  const lock = pdf.dict(field.dict.get('Lock'));
  const locked = lock !== undefined && asInteger(pdf.resolve(lock.get('P'))) === NO_CHANGES;
  if (locked || permissionOf(pdf, signature) === NO_CHANGES) {
    throw new CryptoError(
      'pdf.change-forbidden',
      `The signature in field ${field.name} allows no further changes.`,
    );
  }
}

/** The /P of the DocMDP transform of a signature; undefined when it has none. */
function permissionOf(pdf: PdfDocument, signature: PdfDict): number | undefined {
  for (const item of items(pdf.resolve(signature.get('Reference')))) {
    const reference = pdf.dict(item);
    if (reference === undefined || asName(pdf.resolve(reference.get('TransformMethod'))) !== 'DocMDP')
      continue;
    const parameters = asDict(pdf.resolve(reference.get('TransformParams')));
    return asInteger(pdf.resolve(parameters?.get('P'))) ?? DEFAULT_PERMISSION;
  }
  return undefined;
}
