/** Types of a document: context, messages and effects. All plain data. Source: docs/portal-values.md §§5-10, 13-15. */

import type { Erasure } from '@sealwright/runtime/actions';
import type { WarnedFile } from '../../../contracts/file-warnings.ts';
import type { DocumentProperties } from '../../../contracts/portal/document-properties.ts';
import type { DocumentView } from '../../../contracts/portal/documents.ts';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';
import type { RetentionRule } from '../../../contracts/portal/retention/retention.ts';
import type { DocumentStatus, InitialsMode } from '../../../contracts/portal/words.ts';
import type { DocumentId, FlowActionId, Millis, OrganizationId, UserId } from '../../ids.ts';
import type { DocumentField, FieldPlace } from '../field-values.ts';
import type {
  ActionPlan,
  Attachment,
  BlobRef,
  CompletedAction,
  DocumentEvent,
  DocumentFormat,
  DocumentSource,
  Evidence,
  FileEntry,
  FilledValue,
  FlowAction,
  MailRequest,
  Mark,
  Observer,
  Participant,
  Tag,
  XmlNamespace,
} from '../portal-types.ts';
import type { DraftAttempt } from '../saved-request.ts';
import type { TaggedContent } from './tagged-content.ts';

/** States of the machine: the statuses, and the state of a deleted document. */
export type DocumentState = DocumentStatus | 'Deleted';

/** An analysed file: the way in which it will be signed. */
export interface DocumentFile {
  readonly file: FileEntry;
  readonly format: DocumentFormat;
  /** The files an envelope was merged of; empty for other documents. */
  readonly parts: readonly FileEntry[];
}

export interface DocumentInput extends DocumentFile, DocumentSource, DocumentProperties {
  readonly id: DocumentId;
  readonly organization: { readonly id: OrganizationId; readonly name: string };
  readonly createdBy: Principal;
  /** Order number: sorts documents by creation; unique and increasing. */
  readonly order: number;
  /** 20 characters `A-Z 0-9`. */
  readonly key: string;
  readonly name: string;
  readonly folderId: string | null;
  readonly expirationDate: Millis | null;
  readonly actions: readonly ActionPlan[];
  readonly observers: readonly Observer[];
  readonly attachments: readonly Attachment[];
  readonly notifiedEmails: readonly string[];
  readonly tags: readonly Tag[];
  /** For actions that are added later; absent = none were given. */
  readonly xmlNamespaces?: readonly XmlNamespace[];
  /** Automatic reminders; absent = none. */
  readonly reminders?: ReminderSchedule;
  /** Places of tags in the text of the file, which its signed versions cover; absent = none. */
  readonly covers?: readonly FieldPlace[];
  /** True: no notifications for the first step. */
  readonly quietStart: boolean;
  /** The other documents of the same call, when this one announces them all; null = another one does. */
  readonly siblings: readonly DocumentContext[] | null;
  /** The other documents of the same call, which this one announces; absent = none. */
  readonly announces?: readonly DocumentId[];
  /** The document of the same call that announces this one; absent = none. */
  readonly announcedBy?: DocumentId;
  /** Address and user agent of the creating request; absent = not known. */
  readonly requestOrigin?: Pick<TrailPrincipal, 'ipAddress' | 'userAgent'>;
  readonly draft?: DraftAttempt;
  readonly at: Millis;
}

/** An accepted signature that is not in the file yet. */
export interface AcceptedSignature {
  /** Unique per signature. */
  readonly id: string;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  readonly kind: 'electronic' | 'certificate';
  readonly acceptedAt: Millis;
  /** Signing time in the signature; whole seconds. */
  readonly signingTime: Millis;
  readonly fieldName: string | null;
  readonly evidence: Evidence | null;
  readonly evidenceSha256: string | null;
  readonly marks: readonly Mark[];
  readonly image: BlobRef | null;
  /** For `certificate`: the signer's certificate, lower-case hex SHA-256; result of the first step; value (Base64). */
  readonly certificate: string | null;
  readonly state: BlobRef | null;
  readonly value: string | null;
  /** True: no mails about its consequences. */
  readonly isQuiet: boolean;
  /** Filled in by the participant; absent = nothing. */
  readonly values?: readonly FilledValue[];
}

/** An application that vouches for a signer. */
export interface AuthenticatingApplication {
  readonly id: string;
  readonly name: string;
}

/** A signature that was put into its file before it is accepted. */
export interface EarlySignature {
  /** The document that it was made for: one that changed since does not take it. */
  readonly base: Pick<DocumentContext, 'updateDate' | 'current' | 'signatures'>;
  readonly signingTime: Millis;
  readonly result: Omit<Extract<DocumentMessage, { readonly type: 'SIGNATURE_ADDED' }>, 'type' | 'at' | 'id'>;
}

/** A certificate signature in progress. */
export interface Reservation {
  /** Identifies it in the caller's token. */
  readonly id: string;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  /** The application that vouches for the signer; absent = none. */
  readonly application?: AuthenticatingApplication;
  /** Deadline for its completion. */
  readonly expiresAt: Millis;
  /** SHA-256 of the file to be signed. */
  readonly base: string;
  readonly signingTime: Millis;
  readonly fieldName: string | null;
  readonly marks: readonly Mark[];
  /** Result of the first step; null while it is in progress. */
  readonly state: BlobRef | null;
  /** Lower-case hex SHA-256; null while it is in progress. */
  readonly certificate: string | null;
  /** As for an accepted signature. */
  readonly values?: readonly FilledValue[];
}

/** Reason why accepted work is not done yet. */
interface ProcessingError extends NonNullable<DocumentView['processingError']> {
  readonly failures: number;
}

export interface DocumentContext
  extends Omit<DocumentInput, 'at' | 'actions' | 'quietStart' | 'siblings' | 'requestOrigin' | 'draft'>,
    Pick<DocumentView, 'creationDate' | 'updateDate' | 'statusUpdatedBy' | 'statusUpdateReason'> {
  /** Number of versions of the file, including this one. */
  readonly version: number;
  /** The file with all signatures so far; with detached signatures: the file. */
  readonly current: BlobRef;
  /** The `.p7s`, with detached signatures. */
  readonly signatures: BlobRef | null;
  readonly actions: readonly FlowAction[];
  readonly made: readonly CompletedAction[];
  /** Accepted signatures in the order in which they are added. */
  readonly accepted: readonly AcceptedSignature[];
  /** The accepted signature that is being added. */
  readonly applying: string | null;
  readonly reservations: readonly Reservation[];
  /** A certificate signature that did not fit, for the caller that waits for it. */
  readonly rejected: { readonly id: string; readonly code: string; readonly message: string } | null;
  readonly processingError: ProcessingError | null;
  /** True: the people of the first step were not notified of this version; absent in documents of earlier versions, too. */
  readonly startedQuietly?: boolean;
  /** Users of the flow who have got a link by mail in spite of that, in this version: later members, and whoever was reminded. */
  readonly mailedUsers?: readonly UserId[];
  /** Number of events announced so far. */
  readonly sequence: number;
  /** Time of the conclusion. */
  readonly concludedAt: Millis | null;
  /** Since when it is Refused, Canceled or Expired; absent in other statuses, and where an earlier version ended it. */
  readonly endedAt?: Millis | null;
  /** While it is set, nothing removes the document or its files; absent or null = none. */
  readonly hold?: LegalHold | null;
  /** The last erasure of a person from it, and whether it was deleted by that; absent = none. */
  readonly erasedBy?: { readonly id: string; readonly withFiles: boolean };
  /** Deletion by a rule, planned or done; absent or null = none. */
  readonly deletion?: PlannedDeletion | null;
  /** Status of a deleted document before its deletion. */
  readonly statusBefore: DocumentStatus | null;
  /** Reminders by flow action: number on schedule, and time of the last one; absent = none. */
  readonly reminded?: Readonly<Record<string, { readonly count: number; readonly at: Millis }>>;
  /** Time from which reminders and warnings are counted: of the last warning or change; absent = the creation. */
  readonly remindersFrom?: Millis;
  /** Counts of recorded lines, by action and principal; absent = none. */
  readonly trail?: {
    readonly lines: number;
    readonly by: Readonly<
      Record<string, { readonly lines: number; readonly day: number; readonly ipAddress: string | null }>
    >;
  };
}

/** Reason for which a document or folder is kept, and who keeps it. */
export interface LegalHold {
  readonly reason: string;
  readonly by: Principal;
  readonly at: Millis;
}

/** A deletion by a rule of retention that administrators are told of. */
export interface PlannedDeletion {
  readonly rule: RetentionRule;
  /** Earliest time. */
  readonly at: Millis;
  /** Number of the pass that planned it. */
  readonly pass: number;
}

/** Actions recorded of a document beside its changes. */
export type TrailAction =
  | 'opened'
  | 'viewed'
  | 'downloaded'
  | 'code-sent'
  | 'code-wrong'
  | 'authenticator-reset'
  | 'mail-delivered'
  | 'mail-refused'
  | 'message-refused';

/** Principal of a journal line: participant or application, with address and user agent where they are known. */
export type TrailPrincipal = {
  readonly by: string | null;
  readonly userId: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
};

/** Changes to one action of the flow. Source: docs/portal-values.md §15. */
export interface ActionEdit {
  readonly flowActionId: FlowActionId;
  readonly step?: number;
  readonly email?: string;
  /** Id of the person at the new address: links and codes of the old address become invalid with the old id. */
  readonly newUserId?: UserId;
  readonly ruleName?: string | null;
  readonly title?: string | null;
  readonly ruleEmails?: readonly {
    readonly userId: UserId;
    readonly email: string;
    readonly newUserId?: UserId;
  }[];
  readonly marks?: readonly Mark[];
  readonly initialsMode?: InitialsMode;
  /** Replaces all fields; empty = none. */
  readonly fields?: readonly DocumentField[];
}

export interface FlowChange {
  readonly added: readonly ActionPlan[];
  readonly edited: readonly ActionEdit[];
  readonly deleted: readonly FlowActionId[];
  readonly addedObservers: readonly Observer[];
  readonly editedObservers: readonly {
    readonly id: string;
    readonly email: string;
    readonly newUserId?: UserId;
  }[];
  readonly deletedObservers: readonly string[];
}

/** Whose turn it is to do something. */
export interface Turn {
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export type DocumentMessage = {
  readonly at: Millis;
  /** Principal for the journal; absent = as the decision says. */
  readonly doneBy?: TrailPrincipal;
} & (
  | ({
      readonly type: 'SIGN';
      readonly id: string;
      readonly evidence: Evidence;
      readonly evidenceSha256: string;
      readonly marks: readonly Mark[];
      readonly image: BlobRef | null;
      readonly isQuiet: boolean;
      /** Version of the document that the evidence names; absent = the current one. */
      readonly version?: number;
      /** Of the action as it was shown, its last change; absent = any. */
      readonly actionDate?: Millis;
      /** Checked; absent = none. */
      readonly values?: readonly FilledValue[];
      /** Absent = it is made once it is accepted. */
      readonly made?: EarlySignature;
    } & Turn)
  | ({
      readonly type: 'APPROVE';
      /** As for SIGN. */
      readonly version?: number;
      /** As for SIGN. */
      readonly actionDate?: Millis;
      readonly evidence: Evidence | null;
      readonly evidenceSha256: string | null;
      readonly isQuiet: boolean;
    } & Turn)
  | ({ readonly type: 'REFUSE_TURN'; readonly reason: string } & Turn)
  | ({
      readonly type: 'PASS_ON';
      /** As for SIGN. */
      readonly version: number;
      readonly to: Participant;
      /** Address of that person, as those of deputies are written; absent = as `to` has it. */
      readonly address?: string;
      readonly reason: string;
      /** The user who sends, and is told; absent = none. */
      readonly sender?: MailRequest['to'] | undefined;
    } & Turn)
  | ({
      readonly type: 'RESERVE';
      readonly id: string;
      readonly application?: AuthenticatingApplication;
      readonly marks: readonly Mark[];
      /** As for SIGN. */
      readonly version?: number;
      /** As for SIGN. */
      readonly values?: readonly FilledValue[];
    } & Turn)
  | {
      readonly type: 'BEGUN';
      readonly id: string;
      readonly state: BlobRef;
      readonly certificate: string;
    }
  | { readonly type: 'GIVE_UP'; readonly id: string }
  | {
      readonly type: 'COMPLETE';
      readonly id: string;
      readonly value: string;
      readonly evidence: Evidence | null;
      readonly evidenceSha256: string | null;
      readonly isQuiet: boolean;
      /** As for SIGN. */
      readonly made?: EarlySignature;
    }
  /** From a deadline that an earlier version stored. */
  | { readonly type: 'RESERVATION_OVER' }
  | {
      readonly type: 'SIGNATURE_ADDED';
      readonly id: string;
      readonly output: BlobRef;
      readonly certificate: string;
      /** The signature's task has also done the final verification that the effect described; absent: it has not. */
      readonly concluded?: { readonly tellParticipants: boolean };
      /** True: the signatures before it were made again with the same certificate. */
      readonly isRebuilt?: boolean;
      /** Letters of the signature that no font has. */
      readonly warnings?: WarnedFile['warnings'];
    }
  | {
      readonly type: 'SIGNATURE_FAILED';
      readonly id: string;
      readonly code: string;
      readonly message: string;
      /** True: a retry cannot succeed, and the signer is notified. */
      readonly isFinal: boolean;
    }
  | { readonly type: 'CONCLUDED'; readonly output: BlobRef | null; readonly tellParticipants: boolean }
  | { readonly type: 'CONCLUSION_FAILED'; readonly code: string; readonly message: string }
  | { readonly type: 'TRY_AGAIN' }
  | { readonly type: 'RETRY' }
  | { readonly type: 'REFUSE'; readonly by: Principal; readonly reason: string }
  /** @param isQuiet true: its people were never asked, and are not told. @default false */
  | {
      readonly type: 'CANCEL';
      readonly by: Principal;
      readonly reason: string;
      readonly isQuiet?: boolean;
      /** Accepted only while this action is pending, and nobody has signed. Absent = always. */
      readonly untouched?: FlowActionId;
    }
  | { readonly type: 'EXPIRE' }
  | {
      readonly type: 'DELETE';
      readonly action: NonNullable<DocumentEvent['action']>;
      /** The rule that demands it: accepted only of a final status, when the planned time has come. Absent = none. */
      readonly rule?: RetentionRule;
    }
  /** Null: the planned deletion does not take place. */
  | { readonly type: 'PLAN_DELETION'; readonly plan: PlannedDeletion | null }
  | { readonly type: 'HOLD'; readonly by: Principal; readonly reason: string | null }
  | {
      readonly type: 'ERASE';
      /** Participants and observers. */
      readonly people: readonly string[];
      readonly emails: readonly string[];
      /** The erasure; `withFiles`: the document is deleted. */
      readonly by: { readonly id: string; readonly withFiles: boolean };
      /** True: what its sender has written about the document goes, too. */
      readonly withTexts: boolean;
      /** Lines of the history; null = none. */
      readonly erasure: Erasure | null;
    }
  | ({
      readonly type: 'NEW_VERSION';
      readonly name: string;
      readonly quietStart: boolean;
      readonly tellParticipants: boolean;
      /** Signed originals of the files of an envelope; absent = none. */
      readonly signedOriginals?: readonly Attachment[];
      readonly marks: readonly { readonly flowActionId: FlowActionId; readonly marks: readonly Mark[] }[];
      /** Absent = that of the version before. */
      readonly additionalInfo?: DocumentInput['additionalInfo'];
      readonly tagged?: TaggedContent; // Absent = what tags placed stays.
    } & DocumentFile)
  | { readonly type: 'EDIT_FLOW'; readonly change: FlowChange }
  | { readonly type: 'SET_NOTIFIED_EMAILS'; readonly emails: readonly string[] }
  | { readonly type: 'MOVE'; readonly folderId: string | null }
  /** Null: all that are pending. */
  | { readonly type: 'REMIND'; readonly flowActionId: FlowActionId | null }
  | { readonly type: 'SET_REMINDERS'; readonly schedule: ReminderSchedule }
  | { readonly type: 'REMINDERS_DUE' }
  | {
      readonly type: 'RECORD';
      readonly action: TrailAction;
      readonly principal: TrailPrincipal;
      /** A mail server's answer or the name of a file; null = none. */
      readonly detail: string | null;
      readonly flowActionId: FlowActionId | null;
      readonly emailAddress: string | null;
    }
);

/** A signature that the final verification requires. */
export interface RequiredSignature {
  readonly fieldName: string | null;
  /** Lower-case hex SHA-256. */
  readonly certificate: string;
}
