/**
 * Validation: of documents signed here, by key or id, and of signed files that are uploaded.  Source: docs/portal-values.md §17.
 */

import type { SignatureView, ValidationRecord } from '../../../contracts/portal/signing/validation.ts';
import type { DocumentStatus } from '../../../contracts/portal/words.ts';
import type { DocumentId, Millis } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { DocumentContext, DocumentState } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { DescribedSignature } from '../../shared/signing/signature-records.ts';
import type { Tenant } from '../api/callers.ts';
import { pageLookOf } from '../branding/branding.ts';
import { documentOfSignature } from '../document-records/document-index.ts';
import {
  type DocumentReader,
  documentByKey,
  documentOf,
  hasSignature,
  participantOf,
  type ReadDocument,
} from '../document-records/document-reader.ts';
import type { DescribedFiles, FileToDescribe } from '../renditions/described-files.ts';
import { documentSignatures, signaturesElsewhere, signedFileOf } from '../renditions/document-signatures.ts';
import { reachesFolder } from '../shared/folder-access.ts';
import type { Uploads } from '../uploads/uploads.ts';

interface UploadToValidate {
  readonly fileId: string;
  readonly mimeType: string;
  /** PEM of certificates that the file may lack. */
  readonly certificates?: string | null | undefined;
}

/** Signatures of a file whose document is searched, newest first. */
const MAX_NAMES_SEARCHED = 100;

/** An action that approved the document without a signature. */
export interface Approval {
  readonly name: string;
  readonly email: string | null;
  readonly identifier: string | null;
  /** Role of the action. */
  readonly title: string | null;
  readonly at: Millis;
}

/** Content of the check page. */
export interface CheckedDocument {
  /** Without signers where the document was approved alone. */
  readonly record: ValidationRecord;
  readonly approvals: readonly Approval[];
  readonly files: CheckedFiles;
}

/** SHA-256 of the files of a document, lower-case hex, with which people compare what they hold. */
export interface CheckedFiles {
  readonly original: string;
  /** Of the file with the signatures, or of the signatures beside it; null before the first one. */
  readonly signed: string | null;
}

export class Validation {
  constructor(
    private readonly runtime: ServiceRuntime,
    private readonly documents: DocumentReader,
    private readonly described: DescribedFiles,
    private readonly uploads: Pick<Uploads, 'findUpload'>,
  ) {}

  async byKey(tenant: Tenant, key: string): Promise<ValidationRecord> {
    return this.#signedRecord(await documentByKey(this.documents, tenant, key));
  }

  /**
   * For the public check page, which any holder of the key may see. Refusals: `DocumentHasNoSignatures` where nobody has
   * approved either.
   */
  async checked(key: string): Promise<CheckedDocument> {
    const document = await documentByKey(this.documents, undefined, key);
    const approvals = approvalsOf(document.context);
    const record = await (approvals.length > 0 ? this.#record(document) : this.#signedRecord(document));
    const { file, current, signatures } = document.context;
    const signed = record.signers.length === 0 ? null : (signatures ?? current).sha256;
    return { record, approvals, files: { original: file.blob.sha256, signed } };
  }

  /** Look of the check page of a document; undefined = ours. Refusals: `DocumentInvalidKey`. */
  async brandingByKey(key: string): Promise<PageBranding | undefined> {
    const { actors } = this.runtime;
    const { documents } = this;
    const { context } = await documentByKey(documents, undefined, key);
    return pageLookOf(actors, context.organization);
  }

  async byDocument(tenant: Tenant, id: DocumentId): Promise<ValidationRecord> {
    return this.#signedRecord(await documentOf(this.documents, tenant, id));
  }

  /** The report of ETSI TS 119 102-2, XML. Refusals: `DocumentHasNoSignatures`, `DocumentUnreadable`, `ServiceBusy`. */
  async reportOf(tenant: Tenant, id: DocumentId): Promise<string> {
    const { context } = await documentOf(this.documents, tenant, id);
    if (!hasSignature(context)) await this.#assertSignedBefore(context);
    return this.described.report(signedFileOf(context));
  }

  /** Refusals: `UploadNotFound`, `DocumentHasNoSignatures`, `DocumentUnreadable`. */
  async ofUpload(
    tenant: Tenant,
    { fileId, mimeType, certificates }: UploadToValidate,
  ): Promise<readonly SignatureView[]> {
    const upload = await this.uploads.findUpload(tenant.organization.id, fileId);
    const uploaded: FileToDescribe = {
      file: upload.blob,
      content: null,
      format: null,
      contentType: mimeType,
      accepted: [],
      ...(certificates != null && { certificates }),
      documentId: upload.id,
      organizationId: tenant.organization.id,
    };
    const { fault, signatures } = await this.described.describe(uploaded);
    const own = fault === null ? await this.#ownSignatures(tenant, uploaded, signatures) : undefined;
    if (own !== undefined) return own;
    if (fault !== null) throw new PortalRefusal('DocumentUnreadable', ascii(fault));
    if (signatures.length === 0) throw new PortalRefusal('DocumentHasNoSignatures');
    return signatures.map(({ view }) => view);
  }

  /**
   * Returns the signatures of a file that a document of the organization made, with their participants: those in the current
   * file of the document and those in an earlier state of it. Undefined when no signature belongs to a document.
   */
  async #ownSignatures(
    tenant: Tenant,
    uploaded: FileToDescribe,
    found: readonly DescribedSignature[],
  ): Promise<readonly SignatureView[] | undefined> {
    const { store } = this.runtime;
    const { described, documents } = this;
    const { organization } = tenant;
    for (const { name } of found.slice(0, MAX_NAMES_SEARCHED).toReversed()) {
      const id = await documentOfSignature(store, organization.id, name);
      const document = id && (await documents.byId(id));
      if (!document || document.state === 'Deleted') continue;
      const { context } = document;
      if (!reachesFolder(tenant, context.folderId)) continue;
      const signed = signedFileOf(context);
      if (signed.file.sha256 === uploaded.file.sha256) return documentSignatures(described, context);
      const { content, format, accepted } = signed;
      const { signatures } = await described.describe({ ...uploaded, content, format, accepted });
      const own = signaturesElsewhere(signatures, (await described.describe(signed)).signatures, context);
      if (own.some(({ made }) => made !== undefined)) return own.map(({ view }) => view);
    }
    return undefined;
  }

  /** Asserts that the uploaded file came with signatures. Refusals: `DocumentHasNoSignatures`. */
  async #assertSignedBefore(context: DocumentContext): Promise<void> {
    const { signatures } = await this.described.describe(signedFileOf(context));
    if (signatures.length === 0) throw new PortalRefusal('DocumentHasNoSignatures');
  }

  async #signedRecord(document: ReadDocument): Promise<ValidationRecord> {
    if (!hasSignature(document.context)) await this.#assertSignedBefore(document.context);
    return this.#record(document);
  }

  async #record({ state, context }: ReadDocument): Promise<ValidationRecord> {
    const { id, name, file, creationDate, updateDate, createdBy, isEnvelope, type, signatureType } = context;
    const status = statusOf(state, context);
    return {
      id,
      name,
      filename: file.name,
      mimeType: file.contentType,
      isConcluded: status === 'Concluded',
      status,
      creationDate,
      updateDate,
      createdBy,
      isEnvelope,
      isFile: false,
      type,
      signatureType,
      securityContext: null,
      signers: await documentSignatures(this.described, context),
    };
  }
}

function approvalsOf(context: DocumentContext): readonly Approval[] {
  return context.made.flatMap((made): readonly Approval[] => {
    if (made.kind !== 'approval') return [];
    const { name = null, email = null, identifier = null } = participantOf(context, made) ?? {};
    const title = context.actions.find(({ id }) => id === made.flowActionId)?.title ?? null;
    return [{ name: name ?? email ?? identifier ?? '', email, identifier, title, at: made.at }];
  });
}

function statusOf(state: DocumentState, { statusBefore }: DocumentContext): DocumentStatus {
  return state === 'Deleted' ? (statusBefore ?? 'Pending') : state;
}

/** Messages are read in the character set of the client's platform. Source: docs/portal-values.md §2. */
function ascii(message: string): string {
  return message.replace(/[^ -~]/g, '?');
}
