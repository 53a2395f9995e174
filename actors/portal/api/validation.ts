/** Validation of a file's signatures (docs/portal-values.md §17). */

import type { Principal } from '../../../contracts/portal/entities.ts';
import type { DocumentStatus } from '../../../contracts/portal/words.ts';
import type { DocumentId, Millis } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { SignatureView } from '../../shared/signature-view.ts';
import type { Tenant } from './callers.ts';

export interface ValidationRecord {
  readonly id: DocumentId;
  readonly name: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly status: DocumentStatus;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly createdBy: Principal;
  readonly isEnvelope: boolean;
  readonly isFile: boolean;
  readonly type: string | null;
  readonly signatureType: string | null;
  readonly signers: readonly SignatureView[];
}

export interface PortalValidation {
  /** @param tenant undefined for the public check page, which any holder of the key may see */
  byKey(tenant: Tenant | undefined, key: string): Promise<ValidationRecord>;
  /** Look of the check page of a document; undefined = ours. Refusals: `DocumentInvalidKey`. */
  brandingByKey?(key: string): Promise<PageBranding | undefined>;
  byDocument(tenant: Tenant, id: DocumentId): Promise<ValidationRecord>;
  /** The report of ETSI TS 119 102-2, XML. Refusals: `DocumentHasNoSignatures`, `DocumentUnreadable`, `ServiceBusy`. */
  reportOf?(tenant: Tenant, id: DocumentId): Promise<string>;
  /** Refusals: `UploadNotFound`, `DocumentHasNoSignatures`, `DocumentUnreadable`. */
  ofUpload(tenant: Tenant, fileId: string, mimeType: string): Promise<readonly SignatureView[]>;
}
