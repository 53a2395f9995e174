/** What a participant may do on a document, by page or by API (portal-gaps §§9 and 10). */
import type { DocumentId, FlowActionId, Millis, UserId } from '../../../machines/ids.ts';
import type {
  ActionType,
  FlowAction,
  Geolocation,
  InitialsMode,
  Mark,
  Participant,
} from '../../../machines/portal-words.ts';
import type { Tenant } from './callers.ts';
import type { MarkInput } from './documents.ts';
import type { StoredFile } from './uploads.ts';

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
