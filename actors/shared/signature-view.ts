import type { Millis } from '../../machines/ids.ts';
/** Signatures and validation results as the portal shows them (docs/portal-values.md §17). */

/** Result of the checks of a signature. */
export interface ValidationResultsView {
  readonly isValid: boolean;
  readonly passedChecks: readonly ValidationItemView[];
  readonly errors: readonly ValidationItemView[];
  readonly warnings: readonly ValidationItemView[];
}

export interface ValidationItemView {
  readonly type: string;
  readonly message: string;
  readonly detail: string | null;
  readonly innerValidationResults: ValidationResultsView | null;
}

export interface TimestampView {
  readonly displayName: string;
  readonly genTime: Millis;
  readonly validityStart: Millis | null;
  readonly validityEnd: Millis | null;
}

export interface SignatureView {
  readonly subjectName: string;
  readonly emailAddress: string | null;
  readonly issuerName: string;
  readonly identifier: string | null;
  readonly companyName: string | null;
  readonly companyIdentifier: string | null;
  readonly isElectronic: boolean;
  readonly isTimestamp: boolean;
  readonly signingTime: Millis | null;
  /** SHA-256 of the certificate, Base64. */
  readonly certificateThumbprint: string;
  readonly validityStart: Millis | null;
  readonly validityEnd: Millis | null;
  readonly signatureTimestamps: readonly TimestampView[];
  readonly archiveTimestamps: readonly TimestampView[];
  readonly validationResults: ValidationResultsView;
  /** As the wire has it, for electronic signatures made here; null otherwise. */
  readonly evidences: Readonly<Record<string, unknown>> | null;
}
