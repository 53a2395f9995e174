/** Actions of participants on a document, by page or by API (docs/portal-values.md §§9 and 10). */

import type { NewMark } from '../../../contracts/portal/flow.ts';
import type { ActionType, DownloadType, InitialsMode } from '../../../contracts/portal/words.ts';
import type { DocumentId, FlowActionId, Millis, UserId } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { DocumentField, FieldPlace } from '../../../machines/portal/field-values.ts';
import type { FlowAction, Geolocation, Mark, Participant } from '../../../machines/portal/portal-types.ts';
import type { ValidationResultsView } from '../../shared/signature-view.ts';
import type { RequestOrigin, Tenant } from './callers.ts';
import type { StoredFile, UploadSink, UploadView } from './uploads.ts';

/** Names the action: by the organization's key and the action's id, or by a ticket alone. */
export type SigningAccess =
  | {
      readonly by: 'key';
      readonly tenant: Tenant;
      readonly documentId: DocumentId;
      readonly flowActionId: FlowActionId | undefined;
      /** Person of a rule. */
      readonly userId?: UserId | undefined;
    }
  | {
      readonly by: 'key-of-document';
      readonly tenant: Tenant;
      readonly key: string;
      readonly flowActionId: FlowActionId | undefined;
      /** Person of a rule. */
      readonly userId?: UserId | undefined;
    }
  | {
      readonly by: 'ticket';
      readonly key: string;
      readonly ticket: string;
      /** Of the document, as the participant was shown it; absent = whichever there is. */
      readonly documentVersion?: number | undefined;
    };

export interface ElectronicSigning {
  readonly disableNotifications?: boolean | undefined;
  readonly geolocation?: Geolocation | undefined;
  readonly emailCode?: string | undefined;
  readonly typedName?: string | undefined;
  readonly timeZoneOffset?: number | undefined;
  readonly positions: readonly NewMark[];
  readonly initialsPositions: readonly NewMark[];
  /** Upload id of a picture (PNG or JPEG) to draw. */
  readonly imageUploadId?: string | undefined;
  /** The picture itself, as the signing page sends it; counts when there is no upload. */
  readonly image?: Buffer | undefined;
  readonly fieldValues?: FieldValuesInput | undefined;
}

/** A file that a participant attaches, on its way. */
export interface FieldFileInput {
  readonly name: string;
  /** Its first `FIELD_FILE_HEADER_BYTES`, which tell its type. */
  readonly header: Buffer;
}

export const FIELD_FILE_HEADER_BYTES = 1024;

/** Largest file that a participant attaches on the page, bytes; ours. */
export const MAX_FIELD_FILE_BYTES = 4_000_000;

/** Values by name of field; of an attachment the id of its upload. */
export type FieldValuesInput = Readonly<Record<string, unknown>>;

/** State and content of the signing page. */
export interface SigningPageView {
  /** Content of the page: one variant per state. */
  readonly state:
    | 'ready'
    | 'waiting-for-turn'
    | 'done'
    | 'refused'
    | 'canceled'
    | 'expired'
    | 'concluded'
    /** An observer reads; others act. */
    | 'observing'
    | 'deleted'
    | 'processing'
    | 'ticket-expired'
    | 'unknown';
  /** The link is for reading only. @default false */
  readonly isObserver?: boolean;
  /** The link is too old to open the file with. */
  readonly isLinkOver?: boolean;
  /** For `ticket-expired`: a new link can be mailed to the participant. @default false */
  readonly canRequestLink?: boolean;
  /** Missing for `unknown` and `ticket-expired`. */
  readonly document?: {
    readonly id: DocumentId;
    readonly key: string;
    readonly name: string;
    readonly description: string | null;
    readonly mimeType: string;
    /** Length of the file, bytes. */
    readonly length: number;
    readonly isEnvelope: boolean;
    readonly organizationName: string;
    readonly expirationDate: Millis | null;
    /** True when the file was replaced since the flow began. */
    readonly isNewVersion: boolean;
    /** Files it had, this one included. */
    readonly version: number;
    readonly statusReason: string | null;
    /** Attachments that participants may read. @default none */
    readonly attachments?: readonly {
      readonly id: string;
      readonly name: string;
    }[];
    /** Signatures in the file, oldest first. @default none */
    readonly signatures?: readonly PageSignature[];
    /** True: the signatures are in a file beside the document. @default false */
    readonly isSignedBeside?: boolean;
    /** Places of tags in the text, which signing paints white; none once it has. @default none */
    readonly covers?: readonly FieldPlace[];
  };
  readonly action?: {
    readonly flowActionId: FlowActionId;
    readonly userId: UserId;
    readonly type: ActionType;
    readonly title: string | null;
    readonly allowElectronicSignature: boolean;
    readonly participant: Participant;
    readonly marks: readonly Mark[];
    /** True: an electronic signature requires an e-mail code. */
    readonly needsEmailCode: boolean;
    /** The e-mail address of the code, partly masked. */
    readonly maskedEmail: string | null;
    readonly initialsMode: InitialsMode;
    /** To be filled in. @default none */
    readonly fields?: readonly DocumentField[];
  };
  readonly participants?: readonly {
    readonly name: string | null;
    readonly type: ActionType;
    readonly step: number;
    readonly status: FlowAction['status'];
    readonly isYou: boolean;
  }[];
  /** Look of the organization; absent = ours. */
  readonly branding?: PageBranding | undefined;
  /** Page to lead to after the action; absent = none. */
  readonly redirectUrl?: string | undefined;
  /** Origins that may frame the page; empty = any. */
  readonly embedOrigins: readonly string[];
}

/** A signature, as the signing page lists it. */
export interface PageSignature {
  readonly name: string | null;
  readonly kind: 'electronic' | 'certificate';
  readonly at: Millis;
}

/** Files that a participant may download after a signature. */
export type ParticipantDownload = Extract<DownloadType, 'Signatures' | 'SignaturesManifest'>;

/** First of two steps of a signature with a certificate; the nullable members are null when it is not successful. */
export interface StartedSignature {
  readonly success: boolean;
  readonly token: string | null;
  /** SHA-256 of what is to be signed. */
  readonly toSignHash: Buffer | null;
  /** Content to sign, for keys that hash it themselves; null when it is too large. */
  readonly toSign: Buffer | null;
  readonly digestAlgorithm: string | null;
  readonly validationResults: ValidationResultsView;
}

export interface PortalSigning {
  /**
   * Resolves when a ticket, or the token of a certificate signature, is good for the document with this key.
   * Refusals: `InvalidTicket`, `DocumentIsDeleted`.
   */
  checkAccess(
    access:
      | Extract<SigningAccess, { readonly by: 'ticket' }>
      | { readonly by: 'token'; readonly key: string; readonly token: string },
  ): Promise<void>;
  /** Of a participant or an observer. Read-only for all callers. */
  page(key: string, ticket: string): Promise<SigningPageView>;
  /** The file to show: the newest version. Refusals: `InvalidTicket`; for observers also of documents that ended without conclusion. */
  pageContent(key: string, ticket: string): Promise<StoredFile>;
  /**
   * The signed file or the signature manifest; the download is recorded in the history. Refusals: `InvalidTicket`,
   * `DocumentHasNoSignatures`, `DownloadTypeNotAvailable`.
   */
  pageDownload(
    key: string,
    ticket: string,
    type: ParticipantDownload,
    origin: RequestOrigin,
  ): Promise<StoredFile>;
  /**
   * Mails the participant of an expired link a new one, to the address in the flow and at most once in
   * `NEW_LINK_INTERVAL_MS`. Refusals: `InvalidTicket`, also for a link that was not mailed.
   */
  requestLink(key: string, ticket: string): Promise<void>;
  /** An attachment that is not private. Refusals: `InvalidTicket`, `AttachmentNotFound`. */
  pageAttachment(key: string, ticket: string, attachmentId: string): Promise<StoredFile>;
  /** Resolves once the signature is durable and, unless that takes long, in place. */
  signElectronically(access: SigningAccess, signing: ElectronicSigning, origin: RequestOrigin): Promise<void>;
  startCertificate(
    access: SigningAccess,
    request: {
      /** DER. */
      readonly certificate: Buffer;
      readonly positions: readonly NewMark[];
      readonly fieldValues?: FieldValuesInput | undefined;
    },
  ): Promise<StartedSignature>;
  /** Refusals: `InvalidTicket` for an unknown, used or expired token. */
  completeCertificate(
    /** `token`: authorizes by the token alone. */
    access: SigningAccess | { readonly by: 'token'; readonly key: string },
    request: {
      readonly token: string;
      readonly signature: Buffer;
      /** True: does not notify the next participants. @default false */
      readonly disableNotifications?: boolean | undefined;
    },
    origin: RequestOrigin,
  ): Promise<{
    readonly success: boolean;
    readonly validationResults: ValidationResultsView;
    /** To sign and complete instead, where another signature has changed the file since the start. */
    readonly next?: Pick<StartedSignature, 'token' | 'toSignHash' | 'toSign' | 'digestAlgorithm'>;
  }>;
  approve(
    access: SigningAccess,
    origin: RequestOrigin,
    approval?: { readonly disableNotifications?: boolean | undefined },
  ): Promise<void>;
  refuse(access: SigningAccess, reason: string, origin: RequestOrigin): Promise<void>;
  /** Records that the participant opened the document and, with `reachedEnd`, saw its end. Refusals: `InvalidTicket`. */
  recordView(
    access: Extract<SigningAccess, { readonly by: 'ticket' }>,
    reachedEnd: boolean,
    origin: RequestOrigin,
  ): Promise<void>;
  /**
   * Resolves when the participant of the ticket may upload a file for this field now.
   * Refusals: `InvalidTicket`, `DocumentIsDeleted`, `InvalidDocumentStatus`, `InvalidFieldValue`, `LimitExceeded`.
   */
  checkFieldUpload(access: Extract<SigningAccess, { readonly by: 'ticket' }>, field: string): Promise<void>;
  /**
   * Takes the file, whose id only this participant can give as the value of a field. The sink is used up in any case.
   * Refusals: those of `checkFieldUpload`, `BadRequest` for a file without bytes, `PayloadTooLarge`.
   */
  acceptFieldUpload(
    access: Extract<SigningAccess, { readonly by: 'ticket' }>,
    field: string,
    sink: UploadSink,
    file: FieldFileInput,
  ): Promise<Omit<UploadView, 'location' | 'md5'>>;
  /** Sends a six-digit code to the participant's address. */
  sendEmailCode(access: SigningAccess, resend: boolean): Promise<void>;
}
