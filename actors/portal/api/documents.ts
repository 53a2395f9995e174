/** Documents, their flows and versions, lists and downloads (docs/portal-values.md §§5-8 and 12-16). */

import type { Principal } from '../../../contracts/portal/entities.ts';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';
import type { DocumentId, FlowActionId, FolderId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { FieldFormat, FieldType } from '../../../machines/portal/field-values.ts';
import type {
  ActionType,
  Attachment,
  CertificateType,
  Confirmation,
  DocumentStatus,
  DocumentTemplate,
  DownloadType,
  FlowAction,
  HolderType,
  InitialsMode,
  Mark,
  Observer,
  Tag,
  XadesOptions,
} from '../../../machines/portal/portal-types.ts';
import type { RequestOrigin, Tenant } from './callers.ts';
import type { DocumentHistoryPage } from './history.ts';
import type { StoredFile } from './uploads.ts';

export interface FileInput {
  readonly displayName: string;
  readonly id: string;
  readonly name: string;
  readonly contentType: string;
}

export interface ParticipantInput {
  readonly name?: string | null | undefined;
  readonly identifier?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
}

export interface MarkInput extends Omit<Mark, 'type' | 'pageNumber' | 'fontSize' | 'isTagged'> {
  readonly type?: Mark['type'] | null | undefined;
  readonly uploadId?: string | null | undefined;
  readonly pageNumber?: number | null | undefined;
  readonly fontSize?: number | null | undefined;
}

/** A field as a caller asks for it. */
export interface FieldInput {
  readonly name: string;
  readonly type?: FieldType | null | undefined;
  readonly label?: string | null | undefined;
  readonly required?: boolean | null | undefined;
  readonly uploadId?: string | null | undefined;
  readonly topLeftX?: number | null | undefined;
  readonly topLeftY?: number | null | undefined;
  readonly width?: number | null | undefined;
  readonly height?: number | null | undefined;
  readonly pageNumber?: number | null | undefined;
  readonly formField?: string | null | undefined;
  readonly maxLength?: number | null | undefined;
  readonly format?: FieldFormat | null | undefined;
  readonly minimum?: number | null | undefined;
  readonly maximum?: number | null | undefined;
  readonly options?: readonly string[] | null | undefined;
  /** Filled in by the sender. */
  readonly value?: string | number | boolean | null | undefined;
  /** True: the participant sees the value and cannot change it. */
  readonly readOnly?: boolean | null | undefined;
}

/** As sent; nothing but types checked. Source: docs/portal-values.md §6. */
export interface FlowActionInput {
  readonly type?: ActionType | null | undefined;
  readonly step?: number | null | undefined;
  readonly user?: ParticipantInput | null | undefined;
  readonly title?: string | null | undefined;
  readonly allowElectronicSignature?: boolean | null | undefined;
  readonly prePositionedMarks?: readonly MarkInput[] | null | undefined;
  readonly ruleName?: string | null | undefined;
  readonly numberRequiredSignatures?: number | null | undefined;
  readonly signRuleUsers?: readonly ParticipantInput[] | null | undefined;
  readonly allowRuleFlowToContinueIfRefused?: boolean | null | undefined;
  readonly confirmations?: readonly Confirmation[] | undefined;
  readonly disableEmailAuthenticationToSignElectronically?: boolean | null | undefined;
  readonly requiredCertificateTypeToSign?: CertificateType | null | undefined;
  readonly requiredCertificateHolderTypeToSign?: HolderType | null | undefined;
  readonly requireCompanyCertificate?: boolean | null | undefined;
  readonly requiredCompanyIdentifier?: string | null | undefined;
  readonly signatureInitialsMode?: InitialsMode | null | undefined;
  readonly xadesOptions?: Partial<Omit<XadesOptions, 'xmlNamespaces'>> | null | undefined;
  readonly fields?: readonly FieldInput[] | null | undefined;
}

export interface CreateDocuments {
  readonly files: readonly FileInput[];
  readonly flowActions: readonly FlowActionInput[];
  readonly isEnvelope?: boolean | null | undefined;
  readonly envelopeName?: string | null | undefined;
  readonly disablePendingActionNotifications?: boolean | null | undefined;
  readonly disableNotifications?: boolean | null | undefined;
  readonly description?: string | null | undefined;
  readonly folderId?: string | null | undefined;
  readonly newFolderName?: string | null | undefined;
  readonly expirationDate?: Millis | null | undefined;
  readonly observers?: readonly { readonly user: ParticipantInput }[] | null | undefined;
  readonly attachments?:
    | readonly (FileInput & { readonly isPrivate?: boolean | null | undefined })[]
    | null
    | undefined;
  readonly notifiedEmails?: readonly string[] | null | undefined;
  readonly tags?:
    | readonly { readonly label?: string | null | undefined; readonly value: string }[]
    | null
    | undefined;
  readonly additionalInfo?: Readonly<Record<string, unknown>> | null | undefined;
  readonly forceCadesSignature?: boolean | null | undefined;
  readonly xmlNamespaces?:
    | readonly { readonly prefix?: string | null | undefined; readonly uri?: string | null | undefined }[]
    | null
    | undefined;
  readonly timestampEnabled?: boolean | null | undefined;
  /** Null or absent: those of the organization. */
  readonly reminders?: ReminderSchedule | null | undefined;
  readonly signatureType?: 'None' | 'Simple' | 'Advanced' | 'Qualified' | null | undefined;
  /** Document type of §12, such as `Deed`. */
  readonly type?: string | null | undefined;
  /** The caller's own id, found again by lists. Ours. */
  readonly externalId?: string | null | undefined;
  /** True: tags in the text of PDFs place marks and fields. Ours. */
  readonly textTags?: boolean | null | undefined;
  /** Values of the sender, by name, for fields that only tags name; with `textTags`. */
  readonly tagValues?: Readonly<Record<string, FieldInput['value']>>;
}

export interface CreatedDocument {
  readonly uploadId: string;
  readonly documentId: DocumentId;
  readonly attachments: readonly { readonly uploadId: string; readonly attachmentId: string }[];
}

export interface FolderView {
  readonly id: FolderId;
  readonly name: string;
  readonly parentId: FolderId | null;
}

/** Everything of §7. */
export interface DocumentView {
  readonly id: DocumentId;
  readonly name: string;
  readonly status: DocumentStatus;
  readonly isDeleted: boolean;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly key: string;
  readonly filename: string;
  readonly fileSize: number;
  readonly mimeType: string;
  /** Base64. */
  readonly checksumMd5: string;
  readonly hasSignature: boolean;
  readonly isEnvelope: boolean;
  readonly createdBy: Principal;
  readonly organization: {
    readonly id: OrganizationId;
    readonly name: string;
    readonly identifier?: string | null | undefined;
  };
  readonly folder: FolderView | null;
  readonly statusUpdatedBy: Principal | null;
  readonly statusUpdateReason: string | null;
  readonly description: string | null;
  readonly expirationDate: Millis | null;
  readonly observers: readonly Observer[];
  readonly attachments: readonly Attachment[];
  readonly notifiedEmails: readonly string[];
  readonly forceCadesSignature: boolean;
  readonly tags: readonly Tag[];
  readonly type: string | null;
  readonly signatureType: string | null;
  /** The caller's own id. Ours. */
  readonly externalId: string | null;
  /** Filled in by participants, by id of field. @default none */
  readonly fieldValues?: ReadonlyMap<string, string>;
  /** The template that the document was made of; null = none. Ours. */
  readonly template: DocumentTemplate | null;
  readonly flowActions: readonly FlowAction[];
  readonly reminders: ReminderSchedule | null;
  /** Reason why an accepted signature or the conclusion is not done yet; null when all is well. Ours. */
  readonly processingError: {
    readonly code: string;
    readonly message: string;
    readonly since: Millis;
    readonly nextTryAt: Millis | null;
  } | null;
  /** Raised by every change; ours. */
  readonly revision: number;
}

export interface DocumentListItem {
  readonly id: DocumentId;
  readonly name: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly status: DocumentStatus;
  readonly folder: FolderView | null;
  readonly type: string | null;
  readonly tags: readonly Tag[];
  /** The caller's own id. Ours. */
  readonly externalId: string | null;
}

/** §12; a missing member is no restriction. */
export interface DocumentQuery {
  readonly status?:
    | 'Pending'
    | 'Refused'
    | 'Concluded'
    | 'Canceled'
    | 'Expired'
    | 'PendingOrRefused'
    | 'CanceledOrExpired'
    | undefined;
  readonly folderId?: string | undefined;
  readonly withoutFolder?: boolean | undefined;
  /** Folders of a key that is restricted to them; absent = all documents. */
  readonly folders?: readonly string[] | undefined;
  readonly q?: string | undefined;
  readonly queryType?: 'Name' | 'Key' | 'Id' | 'CreatorName' | 'Tag' | 'Any' | undefined;
  readonly participantQ?: string | undefined;
  readonly participantQueryType?: 'Name' | 'Identifier' | 'Email' | 'Phone' | undefined;
  readonly pendingSignature?: boolean | undefined;
  readonly filterByDocumentType?: boolean | undefined;
  readonly documentType?: string | undefined;
  readonly tags?: readonly { readonly label: string | null; readonly value: string }[] | undefined;
  readonly deleted?: boolean | undefined;
  /** The whole id, compared exactly. */
  readonly externalId?: string | undefined;
  /** Creation, inclusive. */
  readonly createdFrom?: Millis | undefined;
  /** Creation, inclusive. */
  readonly createdTo?: Millis | undefined;
  /** A page by position instead of number; `offset` is not used. @default pages by number */
  readonly position?: 'start' | ListPosition | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
  readonly newestFirst: boolean;
}

/** Selects documents; pages and order do not apply. */
export type DocumentFilter = Omit<DocumentQuery, 'limit' | 'offset' | 'newestFirst' | 'position'>;

export interface NewVersion {
  readonly files: readonly FileInput[];
  readonly envelopeName?: string | null | undefined;
  readonly disablePendingActionNotifications?: boolean | null | undefined;
  /** Null or absent: that of the version before is kept. */
  readonly additionalInfo?: Readonly<Record<string, unknown>> | null | undefined;
  readonly prePositionedMarks?:
    | readonly { readonly flowActionId: string; readonly prePositionedDocumentMarks: readonly MarkInput[] }[]
    | null
    | undefined;
  /** True: tags in the text of the new file place what tags have placed before. Ours. */
  readonly textTags?: boolean | null | undefined;
}

/** §15. */
export interface FlowEdit {
  readonly addedFlowActions?: readonly FlowActionInput[] | null | undefined;
  readonly editedFlowActions?:
    | readonly {
        readonly flowActionId: string;
        readonly step?: number | null | undefined;
        readonly participantEmailAddress?: string | null | undefined;
        readonly ruleName?: string | null | undefined;
        readonly title?: string | null | undefined;
        readonly signRuleUsers?:
          | readonly { readonly userId: string; readonly emailAddress: string }[]
          | null
          | undefined;
        readonly prePositionedMarks?: readonly MarkInput[] | null | undefined;
        readonly signatureInitialsMode?: InitialsMode | null | undefined;
        /** Replace all fields of the action; null or absent: they stay. */
        readonly fields?: readonly FieldInput[] | null | undefined;
      }[]
    | null
    | undefined;
  readonly deletedFlowActionIds?: readonly string[] | null | undefined;
  readonly addedObservers?: readonly { readonly user: ParticipantInput }[] | null | undefined;
  readonly editedObservers?:
    | readonly { readonly observerId: string; readonly emailAddress: string }[]
    | null
    | undefined;
  readonly deletedObserverIds?: readonly string[] | null | undefined;
}

export interface PortalDocuments {
  /**
   * @param seed of the ids: the same request with the same seed creates the same documents, so that a request without
   * an answer can be repeated (`Idempotency-Key`). @default fresh ids
   */
  create(tenant: Tenant, request: CreateDocuments, seed?: string): Promise<readonly CreatedDocument[]>;
  get(tenant: Tenant, id: DocumentId): Promise<DocumentView>;
  list(tenant: Tenant, query: DocumentQuery): Promise<Page<DocumentListItem>>;
  /** The whole list, page by page. Refusals, of the first page: `LimitExceeded`, `TooManyRequests`. */
  export(
    tenant: Tenant,
    filter: DocumentFilter & Pick<DocumentQuery, 'newestFirst'>,
  ): AsyncGenerator<readonly DocumentListItem[]>;
  remove(tenant: Tenant, id: DocumentId): Promise<void>;
  cancel(tenant: Tenant, id: DocumentId, reason: string): Promise<void>;
  refuse(tenant: Tenant, id: DocumentId, reason: string): Promise<void>;
  newVersion(tenant: Tenant, id: DocumentId, version: NewVersion): Promise<void>;
  newEnvelopeVersion(tenant: Tenant, id: DocumentId, version: NewVersion): Promise<void>;
  editFlow(tenant: Tenant, id: DocumentId, edit: FlowEdit): Promise<void>;
  setNotifiedEmails(tenant: Tenant, id: DocumentId, emails: readonly string[]): Promise<void>;
  move(
    tenant: Tenant,
    id: DocumentId,
    to: { readonly folderId: string | null; readonly newFolderName: string | null },
  ): Promise<void>;
  /** `url` and `embedUrl`, absolute. Source: docs/portal-values.md §9. */
  actionUrl(
    tenant: Tenant,
    id: DocumentId,
    who: {
      readonly identifier?: string | undefined;
      readonly emailAddress?: string | undefined;
      readonly flowActionId?: FlowActionId | undefined;
      readonly requireEmailAuthentication: boolean;
    },
  ): Promise<{ readonly url: string; readonly embedUrl: string }>;
  /** The file of one kind of version; made at first asking and kept. */
  content(tenant: Tenant, id: DocumentId, type: DownloadType): Promise<StoredFile>;
  /** The file of an attachment, private or not. Refusals: `AttachmentNotFound`. */
  attachment(tenant: Tenant, id: DocumentId, attachmentId: string): Promise<StoredFile>;
  /** A path with a ticket of one hour. */
  contentTicket(tenant: Tenant, id: DocumentId, type: DownloadType, preview: boolean): Promise<string>;
  /** Refusals: `NotFound`. */
  ticketContent(
    ticket: string,
    origin?: RequestOrigin,
  ): Promise<
    StoredFile & { readonly inline: boolean; readonly documentId: DocumentId; readonly type: DownloadType }
  >;
  remind(tenant: Tenant, id: DocumentId, flowActionId: FlowActionId): Promise<void>;
  /** Replaces the reminders on schedule. */
  setReminders(tenant: Tenant, id: DocumentId, schedule: ReminderSchedule): Promise<void>;
  /** One mail per address that has pending documents in the organization. */
  notifyPending(tenant: Tenant, emails: readonly string[]): Promise<void>;
  /** The history of a document, oldest first. @param page.offset number of the page, from 0 */
  history(
    tenant: Tenant,
    id: DocumentId,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<DocumentHistoryPage>;
  /** Tries an accepted signature or a conclusion that failed again, now. Ours. */
  retryProcessing(tenant: Tenant, id: DocumentId): Promise<void>;
}
