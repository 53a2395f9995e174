/** Texts of the pages for senders, in one shape per language. `filled` replaces `{name}` in a text. */
import type { DocumentHistoryEntry } from '../../../actors/portal/api.ts';
import type { DocumentStatus } from '../../../machines/portal/portal-types.ts';

/** Kinds of things that a sender places on a page. */
export type PlacedKind =
  | 'Signature'
  | 'SignatureInitials'
  | 'Text'
  | 'Number'
  | 'Date'
  | 'Checkbox'
  | 'Choice'
  | 'Initials'
  | 'Attachment';

/** Texts of the editor's scripts; sent with the page. */
export interface EditorScriptTexts {
  readonly pageOf: string;
  readonly uploading: string;
  readonly uploaded: string;
  readonly notUploaded: string;
  readonly person: string;
  readonly member: string;
  readonly kinds: { readonly [Kind in PlacedKind]: string };
  readonly label: string;
  readonly options: string;
  readonly placed: string;
  readonly moved: string;
  readonly removed: string;
  readonly onPage: string;
  readonly remove: string;
  readonly removePerson: string;
  readonly removeFile: string;
  readonly show: string;
  readonly required: string;
  readonly cannotShow: string;
  readonly noPdf: string;
  readonly noFile: string;
  readonly noPerson: string;
  readonly noMail: string;
  readonly leftOut: string;
  readonly tooManyPeople: string;
  readonly noMembers: string;
  readonly noRole: string;
  readonly noFields: string;
  readonly noOptions: string;
  readonly noTemplateName: string;
  readonly sending: string;
  readonly saved: string;
  readonly failed: string;
  readonly unreachable: string;
  readonly signedOut: string;
  /** Texts by error code of the reply. */
  readonly refusals: { readonly [code: string]: string };
}

export interface SenderTexts {
  readonly documents: string;
  readonly newDocument: string;
  readonly drafts: string;
  readonly list: {
    readonly filters: string;
    readonly search: string;
    readonly status: string;
    readonly anyStatus: string;
    readonly from: string;
    readonly to: string;
    readonly apply: string;
    readonly name: string;
    readonly created: string;
    readonly changed: string;
    readonly none: string;
    readonly next: string;
    readonly first: string;
    readonly draftsTitle: string;
    readonly noDrafts: string;
  };
  readonly statuses: { readonly [Status in DocumentStatus]: string };
  readonly editor: {
    readonly intro: string;
    readonly files: string;
    readonly addFiles: string;
    readonly fileHint: string;
    readonly displayName: string;
    readonly people: string;
    readonly peopleHint: string;
    readonly addPerson: string;
    readonly addGroup: string;
    readonly addObserver: string;
    readonly role: string;
    readonly signer: string;
    readonly approver: string;
    readonly personName: string;
    readonly mail: string;
    readonly order: string;
    readonly electronic: string;
    readonly group: string;
    readonly groupName: string;
    readonly groupNeeded: string;
    readonly groupSigns: string;
    readonly groupApproves: string;
    readonly groupContinues: string;
    readonly groupMembers: string;
    readonly groupMembersHint: string;
    readonly addMember: string;
    readonly removeMember: string;
    readonly observer: string;
    readonly places: string;
    readonly placesHint: string;
    readonly keys: string;
    readonly file: string;
    readonly person: string;
    readonly add: string;
    readonly placedList: string;
    readonly message: string;
    readonly messageText: string;
    readonly messageHint: string;
    readonly expires: string;
    readonly reminders: string;
    readonly send: string;
    readonly saveDraft: string;
    readonly needsScript: string;
    readonly script: EditorScriptTexts;
  };
  readonly templates: {
    readonly title: string;
    readonly one: string;
    readonly intro: string;
    readonly text: string;
    readonly search: string;
    readonly none: string;
    readonly roles: string;
    /** Names of the roles that templates of documents get. */
    readonly roleNames: { readonly [Role in 'Signer' | 'Approver']: string };
    readonly version: string;
    readonly next: string;
    readonly first: string;
    readonly create: string;
    readonly edit: string;
    readonly save: string;
    readonly saveVersion: string;
    readonly saveHint: string;
    readonly name: string;
    readonly description: string;
    readonly expirationDays: string;
    readonly role: string;
    readonly roleHint: string;
    readonly people: string;
    readonly values: string;
    readonly valuesHint: string;
    readonly required: string;
    readonly documentName: string;
    readonly versions: string;
    readonly versionLine: string;
    readonly notNewest: string;
    readonly remove: string;
    readonly removeSure: string;
    readonly back: string;
    readonly failed: string;
    readonly saved: string;
    readonly removed: string;
  };
  readonly page: {
    readonly status: string;
    readonly created: string;
    readonly expires: string;
    readonly reason: string;
    readonly participants: string;
    readonly step: string;
    readonly membersNeeded: string;
    readonly memberSigned: string;
    readonly memberApproved: string;
    readonly memberRefused: string;
    readonly remind: string;
    readonly reminded: string;
    readonly downloads: string;
    readonly original: string;
    readonly signed: string;
    readonly manifest: string;
    readonly history: string;
    /** Sentences for entries of each type, in languages that the journal is not written in. */
    readonly historyTypes: { readonly [Type in DocumentHistoryEntry['type']]: string };
    readonly moreHistory: string;
    readonly cancel: string;
    readonly cancelReason: string;
    readonly canceled: string;
    readonly mails: string;
    readonly mailStates: { readonly [State in 'Queued' | 'Waiting' | 'Sent' | 'Failed']: string };
    readonly mailResend: string;
    readonly mailResent: string;
    readonly newVersion: string;
    readonly newVersionHint: string;
    readonly file: string;
    readonly replace: string;
    readonly replaced: string;
    readonly back: string;
    readonly sent: string;
  };
}
