/**
 * Checks that earlier signatures and the field itself permit another signature (ISO 32000-2, 12.8.2.2, 12.8.2.4 and
 * 12.7.5.5). All of them permit document time-stamps and a document security store (12.8.2.2.1).
 */

import { CryptoError, type PadesFormat } from '../core/types.ts';
import type { PdfDocument } from '../pdf/index.ts';
import type { FormSurvey, SignedField, TargetField } from './fields/form-survey.ts';
import { policyOf } from './validation/change-policy.ts';

/** DocMDP level that permits no change; adding a signature needs 2 or more. */
const NO_CHANGES = 1;

/**
 * @param target the field to be signed
 * @throws {CryptoError} `pdf.change-forbidden`
 */
export function assertSigningAllowed(
  pdf: PdfDocument,
  survey: FormSurvey,
  target: TargetField,
  form: PadesFormat,
): void {
  const certification = pdf.dict(pdf.dict(pdf.catalog.get('Perms'))?.get('DocMDP'));
  if (certification !== undefined && policyOf(pdf, certification, undefined).level <= NO_CHANGES) {
    throw forbidden('The PDF is certified and its author allows no further changes.');
  }
  if (certification !== undefined && target.kind === 'new' && form.appearance !== undefined) {
    // A new visible field could cover certified content, so validators reject it.
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
  { name, dict, signature }: SignedField,
  target: TargetField,
): void {
  const policy = policyOf(pdf, signature, dict);
  if (policy.level <= NO_CHANGES) {
    throw forbidden(`The signature in field ${name} allows no further changes.`);
  }
  if (policy.locks(target.name, target.kind === 'new')) {
    throw forbidden(`The signature in field ${name} locked the field ${target.name}.`);
  }
}

function forbidden(message: string): CryptoError {
  return new CryptoError('pdf.change-forbidden', message);
}
