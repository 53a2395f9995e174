/**
 * Texts of the pages for participants and visitors, in one shape per language. `filled` replaces `{name}` in a text.
 */

import type { SigningPageView } from '../../../actors/portal/api.ts';
import type { ActionStatus, ActionType, DocumentStatus } from '../../../machines/portal/portal-types.ts';
import type { PluralTexts } from './filled.ts';

export type Language = 'en' | 'pt' | 'es';

/** States with a page of their own, which only shows a message. */
export type MessageState = Exclude<SigningPageView['state'], 'ready'>;

export interface PageMessage {
  readonly title: string;
  readonly text: string;
}

/** Texts of the signing page's scripts; sent with the page. */
export interface SigningScriptTexts {
  readonly pageOf: string;
  readonly showing: PluralTexts;
  readonly signedShown: string;
  readonly cannotShow: string;
  readonly tooLong: string;
  readonly markSignature: string;
  readonly markInitials: string;
  readonly markStamp: string;
  readonly working: string;
  readonly signed: string;
  readonly signedAs: string;
  readonly approved: string;
  readonly refused: string;
  readonly codeSent: string;
  readonly codeResend: string;
  readonly nameNeeded: string;
  readonly codeNeeded: string;
  readonly reasonNeeded: string;
  readonly fileNeeded: string;
  readonly fileTooLarge: string;
  readonly fieldMissing: string;
  readonly fieldTooSmall: string;
  readonly fieldTooLarge: string;
  readonly fieldInvalid: string;
  readonly locationRefused: string;
  readonly guideStart: string;
  readonly guideNext: string;
  readonly guideActions: string;
  readonly guideProgress: string;
  readonly unseen: PluralTexts;
  readonly notSeen: string;
  readonly printTooLong: string;
  readonly pictureUnreadable: string;
  readonly drawingEmpty: string;
  readonly drawingThere: string;
  readonly passwordWrong: string;
  readonly fileUnreadable: string;
  readonly fileDamaged: string;
  readonly fileUnsupported: string;
  readonly keyMissing: string;
  readonly keyUnsupported: string;
  readonly needsHttps: string;
  readonly certificateRejected: string;
  readonly unreachable: string;
  readonly failed: string;
  /** Texts after `certificateRejected`, by the type of the error. */
  readonly certificateFaults: { readonly [type: string]: string };
  /** Texts by error code of the reply. */
  readonly refusals: { readonly [code: string]: string };
}

export interface MarksScriptTexts {
  readonly pageOf: string;
  readonly signature: string;
  readonly initials: string;
  readonly placed: string;
  readonly moved: string;
  readonly removed: string;
  readonly none: string;
  readonly finished: string;
  readonly remove: string;
  readonly cannotShow: string;
}

export interface PageTexts {
  readonly language: Language;
  readonly languages: string;
  readonly skip: string;
  /** Texts of the first page. */
  readonly home: {
    readonly title: string;
    readonly participants: string;
    readonly participantsText: string;
    readonly checkText: string;
    readonly senders: string;
    readonly developers: string;
    readonly reference: string;
  };
  readonly notFound: PageMessage;
  readonly refusedFrame: PageMessage;
  readonly from: string;
  readonly needsScript: string;
  readonly signing: {
    readonly signTitle: string;
    readonly approveTitle: string;
    readonly you: string;
    readonly actingAs: string;
    readonly actingAsTitle: string;
    readonly expires: string;
    readonly newVersion: string;
    readonly participants: string;
    readonly attachments: string;
    readonly fields: string;
    readonly required: string;
    readonly unnamed: string;
    /** Texts of each kind of participant: done and to do. */
    readonly doings: { readonly [Type in ActionType]: { readonly [Status in ActionStatus]: string } };
    readonly document: string;
    readonly tools: string;
    readonly previous: string;
    readonly next: string;
    readonly page: string;
    readonly zoom: string;
    readonly fitWidth: string;
    readonly download: string;
    readonly downloadSigned: string;
    readonly downloadSignatures: string;
    readonly downloadManifest: string;
    readonly loading: string;
    readonly otherFile: string;
    readonly how: string;
    readonly byName: string;
    readonly byCertificate: string;
    readonly name: string;
    readonly nameHint: string;
    readonly look: string;
    readonly lookLegend: string;
    readonly lookPlain: string;
    readonly lookHand: string;
    readonly lookDrawn: string;
    readonly lookPicture: string;
    readonly lookPreview: string;
    readonly pictureFile: string;
    readonly undo: string;
    readonly print: string;
    readonly thumbnails: string;
    readonly drawHint: string;
    readonly drawArea: string;
    readonly clear: string;
    readonly confirm: string;
    readonly sendCode: string;
    readonly codeHint: string;
    readonly code: string;
    readonly location: string;
    readonly initials: string;
    readonly initialsRequired: string;
    readonly sign: string;
    readonly signHint: string;
    readonly file: string;
    readonly password: string;
    readonly staysHere: string;
    readonly approve: string;
    readonly approveHint: string;
    readonly refuse: string;
    readonly reason: string;
    readonly refuseHint: string;
    /** Text for a sole participant. */
    readonly refuseHintAlone: string;
    readonly refuseFinally: string;
    readonly script: SigningScriptTexts;
  };
  readonly states: { readonly [State in MessageState]: PageMessage };
  /** Texts for a sole participant. */
  readonly statesAlone: { readonly done: string; readonly concluded: string };
  readonly newLink: { readonly text: string; readonly button: string };
  readonly newLinkSent: PageMessage;
  readonly reasonGiven: string;
  readonly again: string;
  /** Texts of the error page. */
  readonly failure: { readonly busy: PageMessage; readonly broken: PageMessage; readonly reference: string };
  readonly check: {
    readonly title: string;
    readonly intro: string;
    readonly key: string;
    readonly button: string;
    readonly unknown: string;
    readonly unsigned: string;
    readonly deleted: string;
    readonly busy: string;
    readonly broken: string;
    readonly allGood: string;
    readonly someBad: string;
    readonly statuses: { readonly [Status in DocumentStatus]: string };
    readonly status: string;
    readonly file: string;
    readonly created: string;
    readonly createdBy: string;
    readonly changed: string;
    readonly signatures: string;
    readonly good: string;
    readonly bad: string;
    readonly electronic: string;
    readonly certificate: string;
    readonly timestamp: string;
    readonly signedAt: string;
    readonly company: string;
    readonly identifier: string;
    readonly email: string;
    readonly issuer: string;
    readonly validity: string;
    readonly thumbprint: string;
    readonly timestamps: string;
    readonly checks: string;
    readonly passed: string;
    readonly warnings: string;
    readonly errors: string;
    readonly unknownTime: string;
  };
  readonly marks: {
    readonly title: string;
    readonly intro: string;
    readonly people: string;
    readonly files: string;
    readonly addSignature: string;
    readonly addInitials: string;
    readonly finish: string;
    readonly keys: string;
    readonly over: PageMessage;
    readonly signer: string;
    readonly script: MarksScriptTexts;
  };
}
