/**
 * What earlier signatures, and the field itself, allow a further signature to do (ISO 32000-2, 12.8.2.2, 12.8.2.4 and
 * 12.7.5.5). Document time-stamps and a document security store are allowed by all of them (12.8.2.2.1).
 */
import { asInteger, asName, asText, items, type PdfDict, type PdfDocument } from '../pdf/index.ts';
import { CryptoError, type PadesForm } from '../types.ts';
import type { FormSurvey, SignedField, TargetField } from './form-survey.ts';

/** Adding a signature is allowed from 2 on; 1 allows no change at all. */
const NO_CHANGES = 1;
const DEFAULT_PERMISSION = 2;

/**
 * @param target the field that is going to be signed
 * @throws {CryptoError} `pdf.change-forbidden`
 */
export function assertSigningAllowed(
  pdf: PdfDocument,
  survey: FormSurvey,
  target: TargetField,
  form: PadesForm,
): void {
  const certification = pdf.dict(pdf.dict(pdf.catalog.get('Perms'))?.get('DocMDP'));
  if (certification !== undefined && permissionOf(pdf, certification) === NO_CHANGES) {
    throw forbidden('The PDF is certified and its author allows no further changes.');
  }
  if (certification !== undefined && target.kind === 'new' && form.appearance !== undefined) {
    // It could be laid over what was certified, so those who check the certification object to it.
    throw forbidden('The PDF is certified, so only a field its author made can show a signature.');
  }
  if (form.certification !== undefined && (certification !== undefined || survey.signed.length > 0)) {
    throw forbidden(
      certification === undefined
        ? 'The PDF has signatures, and only the first one can certify it.'
        : 'The PDF is certified already.',
    );
  }
  for (const signed of survey.signed) assertSignatureAllows(pdf, signed, target);
}

function assertSignatureAllows(
  pdf: PdfDocument,
  { field, signature }: SignedField,
  target: TargetField,
): void {
  const lock = pdf.dict(field.dict.get('Lock'));
  const permission = lock === undefined ? undefined : asInteger(pdf.resolve(lock.get('P')));
  if (permission === NO_CHANGES || permissionOf(pdf, signature) === NO_CHANGES) {
    throw forbidden(`The signature in field ${field.name} allows no further changes.`);
  }
  const locks = [lock, ...transforms(pdf, signature, 'FieldMDP')];
  if (locks.some((dict) => dict !== undefined && isLocked(pdf, dict, target))) {
    throw forbidden(`The signature in field ${field.name} locked the field ${target.name}.`);
  }
}

/** The /P of the DocMDP transform of a signature; undefined when it has none. */
function permissionOf(pdf: PdfDocument, signature: PdfDict): number | undefined {
  const [parameters] = transforms(pdf, signature, 'DocMDP');
  return parameters && (asInteger(pdf.resolve(parameters.get('P'))) ?? DEFAULT_PERMISSION);
}

/** Parameters of the signature's transforms of one kind; without any, a dictionary that says nothing counts. */
function transforms(pdf: PdfDocument, signature: PdfDict, method: string): readonly PdfDict[] {
  const found: PdfDict[] = [];
  for (const item of items(pdf.resolve(signature.get('Reference')))) {
    const reference = pdf.dict(item);
    if (reference === undefined || asName(pdf.resolve(reference.get('TransformMethod'))) !== method) continue;
    found.push(pdf.dict(reference.get('TransformParams')) ?? reference);
  }
  return found;
}

/**
 * Whether a lock (table 236) or the parameters of a FieldMDP transform (table 259) cover a field. Naming a field names
 * those below it too. "All" and "all but these" are about the fields of the document that was signed; whether new ones
 * may come is said by the permission for the whole document.
 */
function isLocked(pdf: PdfDocument, lock: PdfDict, { kind, name }: TargetField): boolean {
  const action = asName(pdf.resolve(lock.get('Action')));
  if (action === 'All') return kind === 'empty';
  let listed = false;
  for (const item of items(pdf.resolve(lock.get('Fields')))) {
    const text = asText(pdf.resolve(item));
    if (text !== undefined && (name === text || name.startsWith(`${text}.`))) listed = true;
  }
  if (action === 'Include') return listed;
  return action === 'Exclude' && kind === 'empty' && !listed;
}

function forbidden(message: string): CryptoError {
  return new CryptoError('pdf.change-forbidden', message);
}
