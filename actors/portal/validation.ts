/**
 * Validation: of documents signed here, by key or id, and of signed files that are uploaded. Implements
 * `PortalValidation`. Source: portal-gaps §17.
 */
import type { DocumentContext, DocumentState } from '../../machines/document-context.ts';
import type { DocumentId } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { DocumentStatus } from '../../machines/portal-words.ts';
import type { PortalValidation, SignatureView, Tenant, ValidationRecord } from './api.ts';
import type { DescribedFiles } from './described-files.ts';
import {
  type DocumentReader,
  documentByKey,
  documentOf,
  hasSignature,
  type ReadDocument,
} from './document-reader.ts';
import { documentSignatures } from './document-signatures.ts';
import type { Uploads } from './uploads.ts';

export interface ValidationParts {
  readonly documents: DocumentReader;
  readonly described: DescribedFiles;
  readonly uploads: Pick<Uploads, 'findUpload'>;
}

export class Validation implements PortalValidation {
  readonly #parts: ValidationParts;

  constructor(parts: ValidationParts) {
    this.#parts = parts;
  }

  async byKey(tenant: Tenant | undefined, key: string): Promise<ValidationRecord> {
    return this.#record(await documentByKey(this.#parts.documents, tenant, key));
  }

  async byDocument(tenant: Tenant, id: DocumentId): Promise<ValidationRecord> {
    return this.#record(await documentOf(this.#parts.documents, tenant, id));
  }

  async ofUpload(tenant: Tenant, fileId: string, mimeType: string): Promise<readonly SignatureView[]> {
    const upload = await this.#parts.uploads.findUpload(tenant.organization.id, fileId);
    const { fault, signatures } = await this.#parts.described.describe({
      file: upload.blob,
      content: null,
      format: null,
      contentType: mimeType,
      documentId: upload.id,
    });
    if (fault !== null) throw new PortalRefusal('DocumentUnreadable', ascii(fault));
    if (signatures.length === 0) throw new PortalRefusal('DocumentHasNoSignatures');
    return signatures.map(({ view }) => view);
  }

  async #record({ state, context }: ReadDocument): Promise<ValidationRecord> {
    if (!hasSignature(context)) throw new PortalRefusal('DocumentHasNoSignatures');
    const { id, name, file, creationDate, updateDate, createdBy, isEnvelope, type, signatureType } = context;
    return {
      id,
      name,
      filename: file.name,
      mimeType: file.contentType,
      status: statusOf(state, context),
      creationDate,
      updateDate,
      createdBy,
      isEnvelope,
      isFile: false,
      type,
      signatureType,
      signers: await documentSignatures(this.#parts.described, context),
    };
  }
}

function statusOf(state: DocumentState, { statusBefore }: DocumentContext): DocumentStatus {
  return state === 'Deleted' ? (statusBefore ?? 'Pending') : state;
}

/** Messages are read in the character set of the client's platform. Source: portal-gaps §2. */
function ascii(message: string): string {
  return message.replace(/[^ -~]/g, '?');
}
