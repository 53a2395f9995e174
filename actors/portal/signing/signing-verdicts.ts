/**
 * Decisions about signatures with certificates of participants: requirements, reservations, verdicts as the API answers
 * them.
 *
 * Source: docs/portal-values.md §§10, 17.
 */
import type { StartedSignature } from '../../../contracts/portal/signing/signing.ts';
import type { ValidationItem, ValidationResults } from '../../../contracts/portal/signing/validation.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { Reservation } from '../../../machines/portal/documents/document-context.ts';
import { isOvertaken } from '../../../machines/portal/documents/document-reservations.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { BlobRef, FlowAction } from '../../../machines/portal/portal-types.ts';
import type { CertificateRequirements, CertificateVerdict } from '../../pool/portal-tasks.ts';
import type { DocumentActor } from '../document-records/document-index.ts';
import { digitsOfIdentifier } from '../documents/document-plans.ts';

/** Answers a start whose certificate may not sign. */
export function rejected(verdict: CertificateVerdict): StartedSignature {
  return {
    success: false,
    token: null,
    toSignHash: null,
    toSign: null,
    digestAlgorithm: null,
    validationResults: resultsView(verdict),
  };
}

export function verdictOf(type: string, message: string): CertificateVerdict {
  return { isValid: false, passed: [], errors: [{ type, message }], warnings: [] };
}

/** Answers a completion after the file has changed. */
export const OVERTAKEN = verdictOf(
  'document.changed',
  'Somebody else signed the document meanwhile. Sign the new hash and complete the signature with the new token.',
);
export const GOOD: CertificateVerdict = {
  isValid: true,
  passed: [{ type: 'signature', message: 'The signature value fits certificate and document.' }],
  errors: [],
  warnings: [],
};

export function resultsView({ isValid, passed, errors, warnings }: CertificateVerdict): ValidationResults {
  const items = (list: CertificateVerdict['errors']): readonly ValidationItem[] =>
    list.map(({ type, message }) => ({ type, message, detail: null, innerValidationResults: null }));
  return { isValid, passedChecks: items(passed), errors: items(errors), warnings: items(warnings) };
}

/** Requirements of an action for the certificate. */
export function requirementsOf(
  action: FlowAction,
  qualification: CertificateRequirements['qualification'],
): CertificateRequirements {
  const { requiredCertificateType, requiredCertificateHolder, requireCompanyCertificate } = action;
  return {
    type: requiredCertificateType,
    holder: requiredCertificateHolder ?? (requireCompanyCertificate === true ? 'Company' : null),
    companyIdentifier:
      action.requiredCompanyIdentifier && digitsOfIdentifier(action.requiredCompanyIdentifier),
    qualification,
  };
}

export type BegunReservation = Reservation & { readonly state: BlobRef };

/** Returns the started signature when only a change of the file prevents its completion. */
export function overtaken(
  { state, context }: DocumentActor,
  id: string,
  at: Millis,
): BegunReservation | undefined {
  const earlier = context.reservations.find((one) => one.id === id);
  if (state !== 'Pending' || earlier === undefined || earlier.expiresAt <= at) return undefined;
  return earlier.state !== null && isOvertaken(context, earlier)
    ? { ...earlier, state: earlier.state }
    : undefined;
}

/** True unless a signature is being added at this moment. */
export function isFileUnchanging({ state, context }: Pick<DocumentActor, 'state' | 'context'>): boolean {
  const { format, applying, processingError } = context;
  return state !== 'Pending' || format === 'Cades' || applying === null || processingError !== null;
}

/** The token is used up, or the flow has ended. */
export function rejectionReason({ state, context }: DocumentActor, id: string, at: Millis): PortalRefusal {
  const reservation = context.reservations.find((one) => one.id === id);
  if (state === 'Pending' && (reservation === undefined || reservation.expiresAt <= at))
    return new PortalRefusal('InvalidTicket');
  return new PortalRefusal('InvalidDocumentStatus');
}
