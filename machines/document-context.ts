/**
 * What a document knows, what it is told and what it asks for. All plain data.
 * Source: portal-gaps §§5-10, 13-15.
 */
import type { DocumentId, FlowActionId, Millis, OrganizationId, UserId } from './ids.ts';
import type {
  ActionPlan,
  Attachment,
  BlobRef,
  DocumentEvent,
  DocumentFormat,
  DocumentStatus,
  DocumentSummary,
  Doer,
  Evidence,
  FileEntry,
  FlowAction,
  InitialsMode,
  MadeAction,
  Mark,
  Notice,
  Observer,
  Participant,
  Tag,
  XadesOptions,
  XmlNamespace,
} from './portal-words.ts';

/** States of the machine: the statuses, and what is left of a document that was deleted. */
export type DocumentState = DocumentStatus | 'Deleted';

/** A file that was looked at: how it will be signed. */
export interface DocumentFile {
  readonly file: FileEntry;
  readonly format: DocumentFormat;
  /** The files an envelope was merged of; empty for other documents. */
  readonly parts: readonly FileEntry[];
}

export interface DocumentInput extends DocumentFile {
  readonly id: DocumentId;
  readonly organization: { readonly id: OrganizationId; readonly name: string };
  readonly createdBy: Doer;
  /** Sorts documents by their making; unique and growing. */
  readonly order: number;
  /** 20 characters `A-Z 0-9`. */
  readonly key: string;
  readonly name: string;
  readonly isEnvelope: boolean;
  readonly description: string | null;
  readonly folderId: string | null;
  readonly expirationDate: Millis | null;
  readonly actions: readonly ActionPlan[];
  readonly observers: readonly Observer[];
  readonly attachments: readonly Attachment[];
  readonly notifiedEmails: readonly string[];
  readonly tags: readonly Tag[];
  /** Document type of portal-gaps §12, such as `Deed`. */
  readonly type: string | null;
  readonly signatureType: string | null;
  readonly additionalInfo: Readonly<Record<string, unknown>> | null;
  readonly forceCadesSignature: boolean;
  /** For actions that are added later; absent = none were given. */
  readonly xmlNamespaces?: readonly XmlNamespace[];
  readonly timestampEnabled: boolean;
  /** No notices at all. */
  readonly disableNotifications: boolean;
  /** Of the generation it was made by; absent = it was made by itself. */
  readonly generationId?: string;
  /** No notices for the first step. */
  readonly quietStart: boolean;
  /** The other documents of the same call, when this one announces them all; null = another one does. */
  readonly siblings: readonly DocumentSummary[] | null;
  readonly at: Millis;
}

/** A signature that was promised to its signer and is not in the file yet. */
export interface AcceptedSignature {
  /** Fresh for each. */
  readonly id: string;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  readonly kind: 'electronic' | 'certificate';
  readonly acceptedAt: Millis;
  /** Claimed in the signature; whole seconds. */
  readonly signingTime: Millis;
  readonly fieldName: string | null;
  readonly evidence: Evidence | null;
  readonly evidenceSha256: string | null;
  readonly marks: readonly Mark[];
  readonly image: BlobRef | null;
  /** Of `certificate`: the signer's certificate as lower-case hex SHA-256, what the first step left, the value (Base64). */
  readonly certificate: string | null;
  readonly state: BlobRef | null;
  readonly value: string | null;
  /** True: what follows from it is told to nobody by mail. */
  readonly isQuiet: boolean;
}

/** An application on whose word somebody signs. */
export interface VouchingApplication {
  readonly id: string;
  readonly name: string;
}

/** A certificate signature that was begun. */
export interface Reservation {
  /** Names it in the caller's token. */
  readonly id: string;
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
  /** Vouched for who began it; absent = nobody did. */
  readonly application?: VouchingApplication;
  /** Nothing is put into the file before this time. */
  readonly until: Millis;
  /** It can be completed before this time. */
  readonly expiresAt: Millis;
  /** SHA-256 of the file it is about. */
  readonly base: string;
  readonly signingTime: Millis;
  readonly fieldName: string | null;
  readonly marks: readonly Mark[];
  /** What the first step left; null while it is under way. */
  readonly state: BlobRef | null;
  /** Lower-case hex SHA-256; null while it is under way. */
  readonly certificate: string | null;
}

/** Why accepted work is not done yet. */
export interface ProcessingError {
  readonly code: string;
  readonly message: string;
  readonly since: Millis;
  readonly nextTryAt: Millis | null;
  readonly failures: number;
}

export interface DocumentContext extends Omit<DocumentInput, 'at' | 'actions' | 'quietStart' | 'siblings'> {
  readonly creationDate: Millis;
  readonly updateDate: Millis;
  /** Files it had, this one included. */
  readonly version: number;
  /** The file with all signatures so far; of signatures beside the file: the file. */
  readonly current: BlobRef;
  /** The `.p7s`, for signatures beside the file. */
  readonly signatures: BlobRef | null;
  readonly actions: readonly FlowAction[];
  readonly made: readonly MadeAction[];
  /** Accepted signatures in the order they are put in. */
  readonly accepted: readonly AcceptedSignature[];
  /** The one of `accepted` that is being put in. */
  readonly applying: string | null;
  readonly reservations: readonly Reservation[];
  /** A certificate signature that did not fit, for whoever waits for it. */
  readonly rejected: { readonly id: string; readonly code: string; readonly message: string } | null;
  readonly processingError: ProcessingError | null;
  readonly statusUpdatedBy: Doer | null;
  readonly statusUpdateReason: string | null;
  /** Events announced so far. */
  readonly sequence: number;
  /** When it was concluded. */
  readonly concludedAt: Millis | null;
  /** Of a deleted document: the status it had. */
  readonly statusBefore: DocumentStatus | null;
}

/** Changes to one action of the flow. Source: portal-gaps §15. */
export interface ActionEdit {
  readonly flowActionId: FlowActionId;
  readonly step?: number;
  readonly email?: string;
  /** Id of the person at the new address: links and codes of the old one end with the old id. */
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
}

export interface FlowChange {
  readonly added: readonly ActionPlan[];
  readonly edited: readonly ActionEdit[];
  readonly deleted: readonly FlowActionId[];
  readonly addedObservers: readonly Observer[];
  readonly editedObservers: readonly { readonly id: string; readonly email: string }[];
  readonly deletedObservers: readonly string[];
}

/** Whose turn it is to do something. */
export interface Turn {
  readonly flowActionId: FlowActionId;
  readonly userId: UserId;
}

export type DocumentMessage = { readonly at: Millis } & (
  | ({
      readonly type: 'SIGN';
      readonly id: string;
      readonly evidence: Evidence;
      readonly evidenceSha256: string;
      readonly marks: readonly Mark[];
      readonly image: BlobRef | null;
      readonly isQuiet: boolean;
      /** Of the document, as its evidence names it; absent = whichever there is. */
      readonly version?: number;
    } & Turn)
  | ({
      readonly type: 'APPROVE';
      /** As for SIGN. */
      readonly version?: number;
      readonly evidence: Evidence | null;
      readonly evidenceSha256: string | null;
      readonly isQuiet: boolean;
    } & Turn)
  | ({ readonly type: 'REFUSE_TURN'; readonly reason: string } & Turn)
  | ({
      readonly type: 'RESERVE';
      readonly id: string;
      readonly application?: VouchingApplication;
      readonly marks: readonly Mark[];
      /** As for SIGN. */
      readonly version?: number;
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
    }
  | { readonly type: 'RESERVATION_OVER' }
  | {
      readonly type: 'SIGNATURE_ADDED';
      readonly id: string;
      readonly output: BlobRef;
      readonly certificate: string;
    }
  | {
      readonly type: 'SIGNATURE_FAILED';
      readonly id: string;
      readonly code: string;
      readonly message: string;
      /** True: trying again would not help, and its signer is told. */
      readonly isFinal: boolean;
    }
  | { readonly type: 'CONCLUDED'; readonly output: BlobRef | null; readonly tellParticipants: boolean }
  | { readonly type: 'CONCLUSION_FAILED'; readonly code: string; readonly message: string }
  | { readonly type: 'TRY_AGAIN' }
  | { readonly type: 'RETRY' }
  | { readonly type: 'REFUSE'; readonly by: Doer; readonly reason: string }
  | { readonly type: 'CANCEL'; readonly by: Doer; readonly reason: string }
  | { readonly type: 'EXPIRE' }
  | {
      readonly type: 'DELETE';
      readonly action: NonNullable<DocumentEvent['action']>;
    }
  | ({
      readonly type: 'NEW_VERSION';
      readonly name: string;
      readonly quietStart: boolean;
      readonly tellParticipants: boolean;
      readonly marks: readonly { readonly flowActionId: FlowActionId; readonly marks: readonly Mark[] }[];
      /** Absent = that of the version before. */
      readonly additionalInfo?: DocumentInput['additionalInfo'];
    } & DocumentFile)
  | { readonly type: 'EDIT_FLOW'; readonly change: FlowChange }
  | { readonly type: 'SET_NOTIFIED_EMAILS'; readonly emails: readonly string[] }
  | { readonly type: 'MOVE'; readonly folderId: string | null }
  | { readonly type: 'REMIND'; readonly flowActionId: FlowActionId }
);

/** Work a document asks for. Each carries what its handler needs. */
export type DocumentEffect =
  | {
      readonly do: 'applySignature';
      readonly signature: AcceptedSignature;
      readonly signer: Participant;
      readonly title: string | null;
      readonly xades: XadesOptions | null;
      readonly document: {
        /** Absent in work that an earlier version left. */
        readonly organizationId?: OrganizationId;
        readonly key: string;
        readonly format: DocumentFormat;
        readonly current: BlobRef;
        readonly signatures: BlobRef | null;
      };
    }
  | {
      readonly do: 'conclude';
      readonly format: DocumentFormat;
      readonly current: BlobRef;
      readonly signatures: BlobRef | null;
      readonly expected: readonly { readonly fieldName: string | null; readonly certificate: string }[];
      readonly timestamp: boolean;
    }
  | { readonly do: 'notify'; readonly notices: readonly Notice[] }
  | { readonly do: 'announce'; readonly events: readonly DocumentEvent[] }
  /** What a deleted document knew its files by is still known. */
  | { readonly do: 'forgetFiles' };
