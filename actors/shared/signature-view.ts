/** Signatures and validation results as the portal shows them (docs/portal-values.md §17). */
import type { ValidationResults } from '../../contracts/portal/signing/validation.ts';
import type { Millis } from '../../machines/ids.ts';

export type {
  ValidationItem as ValidationItemView,
  ValidationResults as ValidationResultsView,
} from '../../contracts/portal/signing/validation.ts';

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
  readonly validationResults: ValidationResults;
  /** As the wire has it, for electronic signatures made here; null otherwise. */
  readonly evidences: Readonly<Record<string, unknown>> | null;
}
