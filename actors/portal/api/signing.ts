/** Names of participants’ actions, and content of the signing page (docs/portal-values.md §§9 and 10). */

import type { FileWarning } from '../../../contracts/file-warnings.ts';
import type { CodeKind, InitialsMode, Language } from '../../../contracts/portal/words.ts';
import type { DocumentId, FlowActionId, Millis, UserId } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import type { KnownValue } from '../../../machines/portal/conditions.ts';
import type { DocumentContext, Turn } from '../../../machines/portal/documents/document-context.ts';
import type { FieldPlace } from '../../../machines/portal/field-values.ts';
import type { ProvenMailbox } from '../../../machines/portal/mailbox-session.ts';
import type { ActingDeputy, FlowAction, Mark, Participant } from '../../../machines/portal/portal-types.ts';
import type { Tenant } from './callers.ts';

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

/** Names the action by the mailbox of its person, which a code has proven. */
export interface MailboxAccess extends Turn {
  readonly by: 'mailbox';
  readonly documentId: DocumentId;
  /** Of the document, as the participant was shown it. */
  readonly documentVersion: number;
  /** Of the action, as the participant was shown it: its last change. */
  readonly actionDate: Millis;
  readonly mailbox: ProvenMailbox;
  /** The person of the mailbox acts in place of the one who is asked. @default it is that one */
  readonly deputy?: ActingDeputy;
}

/** First bytes of a file of a participant, which tell its type. */
export const FIELD_FILE_HEADER_BYTES = 1024;

/** An authenticator app that the participant sets up with the signature. */
export interface AppEnrolment {
  /** The secret in Base32, in groups of four. */
  readonly secret: string;
  /** QR code: squares of a side, and the dark ones as a path of SVG. */
  readonly code: { readonly size: number; readonly path: string };
  /** The encrypted secret, which comes back with a code. */
  readonly sealed: string;
}

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
    /** Somebody else acts in place of the person of the link. */
    | 'replaced'
    /** The person of the link has handed the action on. */
    | 'passed-on'
    /** The sender has removed the person of the link. */
    | 'removed'
    /** The person has acted before a device, which others use now. */
    | 'signed-here'
    /** The same, without an act. */
    | 'left-here'
    | 'unknown';
  /** The link is for reading only. @default false */
  readonly isObserver?: boolean;
  /** The person stands before a device of the sender. @default false */
  readonly isHere?: boolean;
  /** The link is too old to open the file with. */
  readonly isLinkOver?: boolean;
  /** Of the person of the link. @default none: that of the browser */
  readonly language?: Language;
  /** For `passed-on`: name of the person who has the action. */
  readonly heldBy?: string;
  /** For `ticket-expired`: a new link can be mailed to the participant. @default false */
  readonly canRequestLink?: boolean;
  /** Missing for `unknown`, `replaced`, `passed-on`, `removed` and `deleted`. */
  readonly document?: Pick<
    DocumentContext,
    'id' | 'key' | 'name' | 'description' | 'isEnvelope' | 'expirationDate' | 'version'
  > & {
    readonly mimeType: string;
    /** Length of the file, bytes. */
    readonly length: number;
    readonly organizationName: string;
    /** The user who sends. @default none: an application */
    readonly senderName?: string | null;
    /** True when the file was replaced since the flow began. */
    readonly isNewVersion: boolean;
    readonly statusReason: string | null;
    /** Name of the person or application that ended it before its conclusion. */
    readonly endedBy: string | null;
    /** Time of the last change. */
    readonly changedAt: Millis;
    /** Attachments that participants may read. @default none */
    readonly attachments?: readonly {
      readonly id: string;
      readonly name: string;
    }[];
    /** Signatures in the file, oldest first. @default none */
    readonly signatures?: readonly PageSignature[];
    /** It concluded with approvals alone, which its manifest shows. @default false */
    readonly isApproved?: boolean;
    /** @default none */
    readonly warnings?: readonly FileWarning[];
    /** Every page has to be seen. @default false */
    readonly requireReading?: boolean;
    /** True: the signatures are in a file beside the document. @default false */
    readonly isSignedBeside?: boolean;
    /** Places of tags in the text, which signing paints white; none once it has. @default none */
    readonly covers?: readonly FieldPlace[];
    /** Size of the first page as shown, points, and whether its picture can be asked for. Absent: it is not known yet. */
    readonly firstPage?: {
      readonly width: number;
      readonly height: number;
      /** `coming`: it is being drawn, and who asks for it waits. */
      readonly picture: 'ready' | 'coming' | 'none';
    };
  };
  readonly action?: Pick<FlowAction, 'type' | 'title' | 'allowElectronicSignature' | 'fields'> & {
    /** Values of others that conditions of the fields name. @default none */
    readonly known?: readonly (readonly [name: string, value: KnownValue])[];
    readonly flowActionId: FlowActionId;
    readonly userId: UserId;
    readonly participant: Participant;
    readonly marks: readonly Mark[];
    /** Codes that an electronic signature requires, each with the masked address or number that it is sent to, if it is. */
    readonly codes: readonly { readonly channel: CodeKind; readonly to: string }[];
    /** Absent: an app is set up, or is not needed. */
    readonly enrolment?: AppEnrolment;
    /** A passkey stands for the mailed code, or is added with it. Absent: none can. */
    readonly passkey?: { readonly isKnown: boolean };
    readonly initialsMode: InitialsMode;
    /** The participant may hand the action on. @default false */
    readonly mayPassOn?: boolean;
    /** Signing providers, which keep certificates of people. @default none */
    readonly providers?: readonly { readonly name: string; readonly title: string }[];
  };
  readonly participants?: readonly (Pick<FlowAction, 'type' | 'step' | 'status'> & {
    readonly name: string | null;
    readonly isYou: boolean;
    /** Name of the deputy who has acted. @default none */
    readonly deputy?: string;
    /** Time of the action. @default none */
    readonly at?: Millis;
  })[];
  /** Documents that wait for the participant's mailbox, in order. @default none */
  readonly visit?: readonly {
    readonly name: string;
    readonly href: string;
    readonly isDone: boolean;
    readonly isThis: boolean;
  }[];
  /** Name of the sender, or the organization; missing for `unknown`. */
  readonly contact?: string;
  /** Address of the organization for answers, as its mails name it. @default none */
  readonly replyTo?: string | null;
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
