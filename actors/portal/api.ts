/**
 * What the portal's HTTP layer may ask of the portal. Times are milliseconds since the epoch; HTTP writes them as
 * ISO 8601. Every method refuses with a `PortalRefusal`; ids of another organization are answered like unknown ones.
 *
 * Source: Document Signing Portal API; portal-gaps (sections named at each part).
 */
import type {
  ApplicationId,
  DocumentId,
  FlowActionId,
  FolderId,
  Millis,
  OrganizationId,
  UploadId,
  UserId,
  WebhookId,
} from '../../machines/ids.ts';
import type { AccessProfile, UserProfile } from '../../machines/portal-user.ts';
import type {
  ActionType,
  Attachment,
  CertificateType,
  Confirmation,
  DocumentStatus,
  Doer,
  DownloadType,
  FlowAction,
  Geolocation,
  HolderType,
  InitialsMode,
  Mark,
  Observer,
  Participant,
  Tag,
  XadesOptions,
} from '../../machines/portal-words.ts';
import type { Attempt } from '../../machines/webhook.ts';

// ---- who calls ------------------------------------------------------------------------------------------------

export type ApplicationRole = 'Normal' | 'Monitor' | 'Administrator';

/** The application a key stands for. */
export interface Tenant {
  readonly organization: {
    readonly id: OrganizationId;
    readonly name: string;
    /** Its registration number; absent = it has none. */
    readonly identifier?: string | undefined;
  };
  readonly application: {
    readonly id: ApplicationId;
    readonly name: string;
    readonly role: ApplicationRole;
  };
}

export interface Tenants {
  /** The tenant of an `X-Api-Key` value, in constant time for known applications; undefined = 401. */
  identify(key: string): Promise<Tenant | undefined>;
  /** Origins that may frame the pages of an organization's documents; empty = any. */
  embedOrigins(organization: OrganizationId): Promise<readonly string[]>;
}

// ---- uploads, §4 ----------------------------------------------------------------------------------------------

/** A file on its way to the disk. `write` returns a promise while the disk is behind. */
export interface UploadSink {
  readonly length: number;
  write(bytes: Buffer): Promise<void> | undefined;
  abort(): Promise<void>;
}

export interface UploadView {
  readonly id: UploadId;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** MD5, Base64. */
  readonly md5: string;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Path with a ticket that shows the file without a key. */
  readonly location: string;
}

/** A stored file to send. */
export interface StoredFile {
  readonly path: string;
  readonly length: number;
  readonly contentType: string;
  readonly fileName: string;
  /** Strong entity tag, quoted. */
  readonly etag: string;
}

export interface PortalUploads {
  readonly maxBytes: number;
  /** A place for the bytes of one upload; nothing is known of it until `accept`. */
  open(): Promise<UploadSink>;
  /** The upload is durable when this resolves. */
  accept(
    tenant: Tenant,
    sink: UploadSink,
    file: { readonly name: string; readonly contentType: string },
  ): Promise<UploadView>;
  /** A ticket for an upload in pieces. */
  openSegmented(tenant: Tenant): Promise<string>;
  /**
   * One piece, `from`-`to` inclusive of `total`. Resolves with the upload once all of it is there; pieces may come
   * again and in any order. No key: the ticket names the organization.
   */
  acceptSegment(
    ticket: string,
    range: { readonly from: number; readonly to: number; readonly total: number },
    sink: UploadSink,
    file: { readonly name: string; readonly contentType: string },
  ): Promise<UploadView | undefined>;
  /** Refusals: `NotFound`. */
  preview(ticket: string): Promise<StoredFile>;
}

// ---- documents, §§5-8, 12-16 ----------------------------------------------------------------------------------

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

export interface MarkInput extends Omit<Mark, 'type' | 'pageNumber' | 'fontSize'> {
  readonly type?: Mark['type'] | null | undefined;
  readonly uploadId?: string | null | undefined;
  readonly pageNumber?: number | null | undefined;
  readonly fontSize?: number | null | undefined;
}

/** As sent; nothing but types checked. Source: portal-gaps §6. */
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
  readonly xadesOptions?: Partial<XadesOptions> | null | undefined;
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
  readonly timestampEnabled?: boolean | null | undefined;
  readonly signatureType?: 'None' | 'Simple' | 'Advanced' | 'Qualified' | null | undefined;
  /** Document type of §12, such as `Deed`. */
  readonly type?: string | null | undefined;
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
  readonly createdBy: Doer;
  readonly organization: {
    readonly id: OrganizationId;
    readonly name: string;
    readonly identifier?: string | null | undefined;
  };
  readonly folder: FolderView | null;
  readonly statusUpdatedBy: Doer | null;
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
  readonly flowActions: readonly FlowAction[];
  /** Why an accepted signature or the conclusion is not done yet; null when all is well. Ours. */
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
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly totalCount: number;
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
  readonly q?: string | undefined;
  readonly queryType?: 'Name' | 'Key' | 'Id' | 'CreatorName' | 'Tag' | undefined;
  readonly participantQ?: string | undefined;
  readonly participantQueryType?: 'Name' | 'Identifier' | 'Email' | 'Phone' | undefined;
  readonly pendingSignature?: boolean | undefined;
  readonly filterByDocumentType?: boolean | undefined;
  readonly documentType?: string | undefined;
  readonly tags?: readonly { readonly label: string | null; readonly value: string }[] | undefined;
  readonly deleted?: boolean | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
  readonly newestFirst: boolean;
}

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
   * @param seed a word for this very request: the same request under the same seed makes the same documents, so that
   * one whose answer was lost in a crash can be sent again (`Idempotency-Key`). Absent: fresh ids.
   */
  create(tenant: Tenant, request: CreateDocuments, seed?: string): Promise<readonly CreatedDocument[]>;
  get(tenant: Tenant, id: DocumentId): Promise<DocumentView>;
  list(tenant: Tenant, query: DocumentQuery): Promise<Page<DocumentListItem>>;
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
  /** `url` and `embedUrl`, absolute. Source: §9. */
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
  /** A path with a ticket of one hour. */
  contentTicket(tenant: Tenant, id: DocumentId, type: DownloadType, preview: boolean): Promise<string>;
  /** Refusals: `NotFound`. */
  ticketContent(ticket: string): Promise<StoredFile & { readonly inline: boolean }>;
  remind(tenant: Tenant, id: DocumentId, flowActionId: FlowActionId): Promise<void>;
  /** One mail per address that has pending documents in the organization. */
  notifyPending(tenant: Tenant, emails: readonly string[]): Promise<void>;
  /** Tries an accepted signature or a conclusion that failed again, now. Ours. */
  retryProcessing(tenant: Tenant, id: DocumentId): Promise<void>;
}

// ---- signing, §§9-10 ------------------------------------------------------------------------------------------

/** Names the action: by the organization's key and the action's id, or by a ticket alone. */
export type SigningAccess =
  | {
      readonly by: 'key';
      readonly tenant: Tenant;
      readonly documentId: DocumentId;
      readonly flowActionId: FlowActionId | undefined;
      /** Who of a rule. */
      readonly userId?: UserId | undefined;
    }
  | {
      readonly by: 'key-of-document';
      readonly tenant: Tenant;
      readonly key: string;
      readonly flowActionId: FlowActionId | undefined;
      /** Who of a rule. */
      readonly userId?: UserId | undefined;
    }
  | {
      readonly by: 'ticket';
      readonly key: string;
      readonly ticket: string;
      /** Of the document, as the participant was shown it; absent = whichever there is. */
      readonly documentVersion?: number | undefined;
    };

/** Where the request came from. */
export interface SigningScene {
  readonly ipAddress: string;
  readonly userAgent: string;
}

export interface ElectronicSigning {
  readonly disableNotifications?: boolean | undefined;
  readonly geolocation?: Geolocation | undefined;
  readonly emailCode?: string | undefined;
  readonly typedName?: string | undefined;
  readonly timeZoneOffset?: number | undefined;
  readonly positions: readonly MarkInput[];
  readonly initialsPositions: readonly MarkInput[];
  /** Upload id of a picture (PNG or JPEG) to draw. */
  readonly imageUploadId?: string | undefined;
  /** The picture itself, as the signing page sends it; counts when there is no upload. */
  readonly image?: Buffer | undefined;
}

/** Source: §17. */
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

/** What the signing page needs to know. */
export interface SigningPageView {
  /** What the page shows: one page per state. */
  readonly state:
    | 'ready'
    | 'waiting-for-turn'
    | 'done'
    | 'refused'
    | 'canceled'
    | 'expired'
    | 'concluded'
    | 'deleted'
    | 'processing'
    | 'ticket-expired'
    | 'unknown';
  /** The link is too old to open the file with. */
  readonly isLinkOver?: boolean;
  /** Missing for `unknown` and `ticket-expired`. */
  readonly document?: {
    readonly id: DocumentId;
    readonly key: string;
    readonly name: string;
    readonly description: string | null;
    readonly mimeType: string;
    readonly isEnvelope: boolean;
    readonly organizationName: string;
    readonly expirationDate: Millis | null;
    /** True when the file was replaced since the flow began. */
    readonly isNewVersion: boolean;
    /** Files it had, this one included. */
    readonly version: number;
    readonly statusReason: string | null;
  };
  readonly action?: {
    readonly flowActionId: FlowActionId;
    readonly userId: UserId;
    readonly type: ActionType;
    readonly title: string | null;
    readonly allowElectronicSignature: boolean;
    readonly participant: Participant;
    readonly marks: readonly Mark[];
    /** An e-mail code is asked for before an electronic signature. */
    readonly needsEmailCode: boolean;
    /** The address the code goes to, partly hidden. */
    readonly maskedEmail: string | null;
    readonly initialsMode: InitialsMode;
  };
  readonly participants?: readonly {
    readonly name: string | null;
    readonly type: ActionType;
    readonly step: number;
    readonly status: FlowAction['status'];
    readonly isYou: boolean;
  }[];
  /** Origins that may frame the page; empty = any. */
  readonly embedOrigins: readonly string[];
}

export interface PortalSigning {
  /** Changes nothing, whoever asks. */
  page(key: string, ticket: string): Promise<SigningPageView>;
  /** The file to show: the newest version. Refusals: `InvalidTicket`. */
  pageContent(key: string, ticket: string): Promise<StoredFile>;
  /** Resolves once the signature is durable and, unless that takes long, in place. */
  signElectronically(access: SigningAccess, signing: ElectronicSigning, scene: SigningScene): Promise<void>;
  startCertificate(
    access: SigningAccess,
    request: {
      /** DER. */
      readonly certificate: Buffer;
      readonly positions: readonly MarkInput[];
    },
  ): Promise<{
    readonly success: boolean;
    readonly token: string | null;
    /** SHA-256 of what is to be signed. */
    readonly toSignHash: Buffer | null;
    /** What is to be signed, for keys that hash themselves; null when it is too large to send. Ours. */
    readonly toSign: Buffer | null;
    readonly digestAlgorithm: string | null;
    readonly validationResults: ValidationResultsView;
  }>;
  /** Refusals: `InvalidTicket` for an unknown, used or expired token. */
  completeCertificate(
    /** `token`: the token alone says who completes what. */
    access: SigningAccess | { readonly by: 'token'; readonly key: string },
    request: {
      readonly token: string;
      readonly signature: Buffer;
      /** Nobody is told whose turn is next. @default false */
      readonly disableNotifications?: boolean | undefined;
    },
    scene: SigningScene,
  ): Promise<{ readonly success: boolean; readonly validationResults: ValidationResultsView }>;
  approve(
    access: SigningAccess,
    scene: SigningScene,
    approval?: { readonly disableNotifications?: boolean | undefined },
  ): Promise<void>;
  refuse(access: SigningAccess, reason: string, scene: SigningScene): Promise<void>;
  /** Sends a six-digit code to the participant's address. */
  sendEmailCode(access: SigningAccess, resend: boolean): Promise<void>;
}

// ---- validation, §17 ------------------------------------------------------------------------------------------

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

// ---- folders, saved flows, marks sessions, §§16 and 20 -------------------------------------------------------

export interface FolderQuery {
  readonly q?: string | undefined;
  /** Undefined: folders of all levels; null: root folders. */
  readonly parent?: FolderId | null | undefined;
  readonly limit: number;
  readonly offset: number;
  readonly newestFirst: boolean;
}

export interface PortalFolders {
  create(tenant: Tenant, name: string, parentId: string | null): Promise<FolderView>;
  get(tenant: Tenant, id: FolderId): Promise<FolderView>;
  list(tenant: Tenant, query: FolderQuery): Promise<Page<FolderView>>;
  remove(
    tenant: Tenant,
    id: FolderId,
    action: 'MoveContent' | 'DeleteContent',
    destination: FolderId | null,
  ): Promise<void>;
}

export interface SavedFlowItem {
  readonly id: string;
  readonly name: string;
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  readonly createdBy: Doer;
}
/** `flowActions` and `observers` as they were sent. */
export interface SavedFlowBody {
  readonly name: string;
  readonly areActionsOrdered: boolean;
  readonly flowActions: readonly unknown[];
  readonly observers: readonly unknown[];
}
export interface SavedFlows {
  list(tenant: Tenant, query: Omit<FolderQuery, 'parent'>): Promise<Page<SavedFlowItem>>;
  create(tenant: Tenant, body: SavedFlowBody): Promise<SavedFlowItem>;
  get(tenant: Tenant, id: string): Promise<SavedFlowItem & SavedFlowBody>;
  replace(tenant: Tenant, id: string, body: SavedFlowBody): Promise<void>;
  remove(tenant: Tenant, id: string): Promise<void>;
}

export interface MarksSessions {
  /** `data`: the request as it was sent. */
  create(
    tenant: Tenant,
    files: readonly { readonly id: string; readonly name: string; readonly contentType: string }[],
    data: unknown,
  ): Promise<{ readonly id: string; readonly embedUrl: string }>;
  /** No key: whoever has the id may see it for an hour. */
  get(id: string): Promise<{
    readonly id: string;
    readonly files: readonly { readonly id: string; readonly location: string }[];
    readonly data: unknown;
    /** Origins that may frame the page of the session; empty or missing = any. */
    readonly embedOrigins?: readonly string[];
  }>;
}

/** §20, "Generation". Every text may hold `{{column}}`, which becomes what stands in the row. */
export interface GenerateDocuments
  extends Pick<
    CreateDocuments,
    'flowActions' | 'observers' | 'folderId' | 'newFolderName' | 'type' | 'expirationDate' | 'notifiedEmails'
  > {
  /** A table: CSV or JSON. */
  readonly dataFile: Omit<FileInput, 'displayName'>;
  /** A text; plain text becomes a PDF. */
  readonly templateFile: Omit<FileInput, 'displayName'>;
}
export interface GenerationView {
  readonly id: string;
  readonly status: 'Pending' | 'Init' | 'WaitingSignatures' | 'Completed' | 'Error';
  readonly type: string | null;
  /** The application that asked for it. */
  readonly agentId: string;
  readonly folderId: string | null;
  /** Documents there are to be, are made, and are concluded. */
  readonly total: number;
  readonly initialized: number;
  readonly completed: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}
export interface PortalGenerations {
  /** Every row is checked before it resolves; the documents come later. @param seed as of `PortalDocuments.create` */
  create(tenant: Tenant, request: GenerateDocuments, seed?: string): Promise<GenerationView>;
  /** Refusals: `DocumentGenerationNotFound`. */
  get(tenant: Tenant, id: string): Promise<GenerationView>;
}

// ---- organizations, applications, webhooks, §§18-20 ----------------------------------------------------------

export type WebhookAuthType = 'NoAuth' | 'Basic' | 'Bearer' | 'ApiKey';

export interface WebhookInput {
  readonly url: string;
  readonly authType: WebhookAuthType;
  readonly token?: string | undefined;
  /** `whsec_…`: also signed by Standard Webhooks. */
  readonly secret?: string | undefined;
}
export interface WebhookView {
  readonly id: WebhookId;
  readonly url: string;
  readonly authType: WebhookAuthType;
  readonly isSigned: boolean;
  readonly isDisabled: boolean;
  /** A sentence; null = it is called. */
  readonly disabledReason: string | null;
}

export interface DeliveryView {
  readonly id: string;
  readonly webhookId: WebhookId;
  readonly documentId: DocumentId | null;
  readonly type: string;
  readonly sequence: number;
  readonly status: 'Pending' | 'Delivered' | 'Failed';
  /** What is sent, byte for byte. */
  readonly body: string;
  readonly attempts: readonly Attempt[];
  readonly nextTryAt: Millis | null;
  readonly createdAt: Millis;
}

export interface PortalWebhooks {
  list(tenant: Tenant): Promise<readonly WebhookView[]>;
  create(tenant: Tenant, webhook: WebhookInput): Promise<WebhookView>;
  replace(tenant: Tenant, id: WebhookId, webhook: WebhookInput): Promise<WebhookView>;
  remove(tenant: Tenant, id: WebhookId): Promise<void>;
  /** Newest first. */
  deliveries(
    tenant: Tenant,
    query: {
      readonly webhookId?: WebhookId | undefined;
      readonly status?: DeliveryView['status'] | undefined;
      readonly limit: number;
      readonly offset: number;
    },
  ): Promise<Page<DeliveryView>>;
  resend(tenant: Tenant, deliveryId: string): Promise<void>;
  /** Sends a made-up event now and says what came back. */
  test(tenant: Tenant, id: WebhookId): Promise<DeliveryView>;
  /** How many deliveries will be made again. */
  replay(
    tenant: Tenant,
    range: { readonly from: Millis; readonly to: Millis; readonly failedOnly: boolean },
  ): Promise<{ readonly count: number }>;
}

// ---- e-mails; ours ----------------------------------------------------------------------------------------------

/** What became of one e-mail to one person. Known for 30 days. */
export interface MailView {
  readonly id: string;
  readonly organizationId: OrganizationId;
  /** What it is about: that of its notice, or `pending-list`. */
  readonly about: string;
  readonly to: string;
  readonly documentId: DocumentId | null;
  readonly status: 'Queued' | 'Waiting' | 'Sent' | 'Failed';
  readonly tries: number;
  readonly createdAt: Millis;
  readonly endedAt: Millis | null;
  /** The relay's answer when it took the mail. */
  readonly reply: string | null;
  readonly lastError: { readonly code: string; readonly message: string } | null;
  readonly nextTryAt: Millis | null;
}

export interface PortalMails {
  /** Oldest first; empty for documents of other organizations. */
  ofDocument(tenant: Tenant, id: DocumentId): Promise<readonly MailView[]>;
  /** Of all organizations, newest first, for operators. `offset`: pages from 0. */
  newest(query: {
    readonly status?: MailView['status'] | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<MailView>>;
  /** With its last tries, oldest first. Texts, links and codes are not kept. Refusals: `MailNotFound`. */
  get(id: string): Promise<
    MailView & {
      readonly failures: readonly { readonly at: Millis; readonly code: string; readonly message: string }[];
    }
  >;
  /** Sends a mail that waits or failed now. Refusals: `MailNotFound`, `MailAlreadySent`. */
  sendNow(id: string): Promise<void>;
}

/** `none`: it was not written to a folder; `removed`: it was, and is there no more. */
export type MailTextState = 'none' | 'kept' | 'removed';

/** For those who operate the program, and no application: what they read holds links and codes that let people sign. */
export interface OperatorMails extends Pick<PortalMails, 'newest' | 'get'> {
  /** Whether it can be read; always `none` with a relay. */
  textState(mail: MailView): Promise<MailTextState>;
  /** Headers and text as they were written; undefined when it is not there, or not any more. Refusals: `MailNotFound`. */
  text(id: string): Promise<string | undefined>;
}

export interface ApplicationView {
  readonly id: ApplicationId;
  readonly name: string;
  readonly role: ApplicationRole;
  /** At most two live at a time. */
  readonly secrets: readonly {
    readonly id: string;
    /** First eight characters. */
    readonly prefix: string;
    readonly createdAt: Millis;
    readonly lastUsedAt: Millis | null;
  }[];
}
export interface OrganizationView {
  readonly id: OrganizationId;
  readonly name: string;
  readonly identifier: string | null;
  readonly createdAt: Millis;
  readonly embedOrigins: readonly string[];
  readonly applications: readonly ApplicationView[];
}

/** For `sealwright keys` and the administration API. */
export interface PortalAdministration {
  organizations(query: {
    readonly q?: string | undefined;
    readonly limit: number;
    readonly offset: number;
  }): Promise<Page<OrganizationView>>;
  organization(id: OrganizationId): Promise<OrganizationView>;
  createOrganization(input: {
    readonly name: string;
    readonly identifier?: string | undefined;
  }): Promise<OrganizationView>;
  createApplication(
    organization: OrganizationId,
    input: { readonly name: string; readonly role: ApplicationRole },
  ): Promise<ApplicationView>;
  /** The secret is shown this once; a third one retires the oldest. `key` = `<application>|<secret>`. */
  createSecret(
    organization: OrganizationId,
    application: ApplicationId,
  ): Promise<{ readonly id: string; readonly key: string }>;
  revokeSecret(organization: OrganizationId, application: ApplicationId, secretId: string): Promise<void>;
}

export interface PortalReports {
  /** Path with a ticket of one hour. */
  documents(range: {
    readonly from: Millis | null;
    readonly to: Millis | null;
  }): Promise<{ readonly location: string }>;
  totals(range: { readonly from: Millis | null; readonly to: Millis | null }): Promise<{
    readonly totalDocuments: number;
    readonly totalEnvelopes: number;
  }>;
  /** Waits until the report is made. Refusals: `NotFound`. */
  file(id: string, ticket: string): Promise<StoredFile>;
}

// ---- people that administrators know, §20 ---------------------------------------------------------------------

export interface UserView extends UserProfile {
  readonly id: string;
  readonly subject: string | null;
}
export interface MemberView extends UserProfile {
  readonly id: string;
  readonly accessProfile: AccessProfile;
}
export interface UserQuery {
  readonly q?: string | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** A directory and nothing else: nobody logs in, and people sign without being in it. */
export interface PortalUsers {
  members(organization: OrganizationId, query: UserQuery): Promise<Page<MemberView>>;
  /** Somebody who is known by the e-mail address is added as they are. */
  add(organization: OrganizationId, profile: UserProfile, access: AccessProfile): Promise<MemberView>;
  /** Refusals: `UserNotFound`. */
  remove(organization: OrganizationId, userId: string): Promise<void>;
  /** Of all organizations. */
  find(query: UserQuery): Promise<Page<UserView>>;
  /** @param subject what another system calls the person. Refusals: `NameTaken`. */
  put(subject: string, profile: UserProfile): Promise<UserView>;
}

// ---- requests that may be sent again, ours --------------------------------------------------------------------

/** A request under a word of its client (`Idempotency-Key`). */
export interface RepeatableRequest {
  /** Method and path of its route: the same word for another route is another word. */
  readonly route: string;
  readonly key: string;
  /** Lower-case hex SHA-256 of what was sent. */
  readonly fingerprint: string;
}

export interface IdempotentRequests {
  /**
   * Does `make` once per word of a client in 24 hours; the same request again is given the first one's answer, which
   * is plain JSON. `make` is given a seed that stays the same when it has to be done again after a crash. What `make`
   * refuses is forgotten. Refusals: `IdempotencyConflict` for another request under the same word.
   */
  answer<Answer>(
    tenant: Tenant,
    request: RepeatableRequest,
    make: (seed: string) => Promise<Answer>,
  ): Promise<Answer>;
}

/** The portal as HTTP sees it. */
export interface PortalService {
  readonly tenants: Tenants;
  readonly uploads: PortalUploads;
  readonly documents: PortalDocuments;
  readonly signing: PortalSigning;
  readonly validation: PortalValidation;
  readonly folders: PortalFolders;
  readonly savedFlows: SavedFlows;
  readonly marksSessions: MarksSessions;
  readonly generations: PortalGenerations;
  readonly webhooks: PortalWebhooks;
  readonly mails: PortalMails;
  readonly administration: PortalAdministration;
  readonly reports: PortalReports;
  readonly users: PortalUsers;
  readonly idempotency: IdempotentRequests;
}
