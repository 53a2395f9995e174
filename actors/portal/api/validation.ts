/** What is found of the signatures of a file (portal-gaps §17). */
import type { DocumentId, Millis } from '../../../machines/ids.ts';
import type { DocumentStatus, Doer } from '../../../machines/portal-words.ts';
import type { Tenant } from './callers.ts';
import type { ValidationResultsView } from './signing.ts';

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

export interface ValidationRecord {
  readonly id: DocumentId;
  readonly name: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly status: DocumentStatus;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly createdBy: Doer;
  readonly isEnvelope: boolean;
  readonly isFile: boolean;
  readonly type: string | null;
  readonly signatureType: string | null;
  readonly signers: readonly SignatureView[];
}

export interface PortalValidation {
  /** @param tenant undefined for the public check page, which any holder of the key may see */
  byKey(tenant: Tenant | undefined, key: string): Promise<ValidationRecord>;
  byDocument(tenant: Tenant, id: DocumentId): Promise<ValidationRecord>;
  /** Refusals: `UploadNotFound`, `DocumentHasNoSignatures`, `DocumentUnreadable`. */
  ofUpload(tenant: Tenant, fileId: string, mimeType: string): Promise<readonly SignatureView[]>;
}
