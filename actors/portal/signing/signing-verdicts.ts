/** Verdicts on certificates and signature values, as the API answers them. Source: docs/portal-values.md §§10, 17. */
import type { StartedSignature } from '../../../contracts/portal/signing/signing.ts';
import type { ValidationItem, ValidationResults } from '../../../contracts/portal/signing/validation.ts';
import type { CertificateVerdict } from '../../pool/portal-tasks.ts';

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
