/**
 * Every sentence of the pages for participants and visitors, in one shape per language. `{name}` in a sentence is
 * filled in by `filled`.
 */

import type { SigningPageView } from '../../../../actors/portal/api.ts';
import { isolated } from '../../../../machines/plain-text.ts';
import type { ActionStatus, ActionType, DocumentStatus } from '../../../../machines/portal-words.ts';

export type Language = 'en' | 'pt' | 'es';

/** States that have a page of their own, which only says something. */
export type QuietState = Exclude<SigningPageView['state'], 'ready'>;

export interface Notice {
  readonly title: string;
  readonly text: string;
}

/** What the scripts of the signing page say; sent along with the page. */
export interface SigningScriptWords {
  readonly pageOf: string;
  readonly showing: string;
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
  readonly locationRefused: string;
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
  /** By code of the answer. */
  readonly refusals: { readonly [code: string]: string };
}

export interface MarksScriptWords {
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

export interface PageWords {
  readonly language: Language;
  readonly skip: string;
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
    readonly unnamed: string;
    /** What each kind of participant has done or is to do. */
    readonly doings: { readonly [Type in ActionType]: { readonly [Status in ActionStatus]: string } };
    readonly document: string;
    readonly tools: string;
    readonly previous: string;
    readonly next: string;
    readonly page: string;
    readonly zoom: string;
    readonly fitWidth: string;
    readonly download: string;
    readonly loading: string;
    readonly otherFile: string;
    readonly how: string;
    readonly byName: string;
    readonly byCertificate: string;
    readonly name: string;
    readonly nameHint: string;
    readonly draw: string;
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
    readonly refuseFinally: string;
    readonly script: SigningScriptWords;
  };
  readonly states: { readonly [State in QuietState]: Notice };
  readonly reasonGiven: string;
  readonly again: string;
  /** When a page could not be made at all. */
  readonly failure: { readonly busy: Notice; readonly broken: Notice; readonly reference: string };
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
    readonly over: Notice;
    readonly signer: string;
    readonly script: MarksScriptWords;
  };
}

/** `filled('Page {n}', { n: '2' })` → `Page 2`. What is filled in turns around nothing beside it. */
export function filled(text: string, values: { readonly [name: string]: string }): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : isolated(value);
  });
}
