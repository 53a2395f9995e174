/**
 * What the versions of a document are drawn from, gathered on the main thread and drawn in the pool. Plain data; equal
 * models give equal files.
 */

import type { Reading } from '../../../contracts/portal/signing/reading.ts';
import type { DownloadType, Language, MarkType } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import type { DocumentState } from '../../../machines/portal/documents/document-context.ts';
import type { CompletedAction } from '../../../machines/portal/portal-types.ts';

/** Versions that are drawn; the others are files as they are. */
export type RenderedType = Exclude<DownloadType, 'Original' | 'Signatures'>;

export interface RenditionMark {
  readonly type: MarkType;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** From 1; null = the last one. */
  readonly pageNumber: number | null;
  readonly lines: readonly string[];
  /** SHA-256 of a picture to draw; null = text alone. */
  readonly image: string | null;
}

export interface RenditionPerson {
  readonly name: string;
  readonly identifier: string | null;
  readonly email: string | null;
  readonly title: string | null;
  readonly kind: CompletedAction['kind'];
  readonly at: Millis;
  /** Minutes from UTC; null = not known. */
  readonly timeZoneOffset: number | null;
  /** Labels of the fields that their conditions hid. @default none */
  readonly hiddenFields?: readonly string[];
  readonly evidence: {
    readonly ipAddress: string | null;
    readonly userAgent: string | null;
    readonly authenticationTypes: readonly string[];
    readonly authenticatedEmail: string | null;
    /** Time at which its code was confirmed, for several documents. @default with the signature */
    readonly emailConfirmedAt?: Millis | null;
    /** Remote signing service that keeps the certificate. @default none */
    readonly signingProvider?: { readonly name: string; readonly address: string } | null;
    readonly authenticatedPhone: string | null;
    /** Time at which the authenticator app was set up. */
    readonly authenticatorAppSince: Millis | null;
    /** Absent in models of earlier versions. */
    readonly passkey?: { readonly email: string; readonly since: Millis } | null;
    readonly applicationName: string | null;
    /** Of the device at which the person acted; absent = none. */
    readonly hostName?: string | null;
    /** Names of people who had the action before, oldest first. @default none */
    readonly passedOn?: readonly string[];
    /** Person in whose place the deputy has acted, with reason and time. Absent in models of earlier versions. */
    readonly deputyOf?: {
      readonly person: string;
      readonly reason: string;
      readonly from: Millis;
      readonly until: Millis;
    } | null;
    readonly typedName: string | null;
    readonly geolocation: string | null;
    /** Absent in models of earlier versions. */
    readonly reading?: Reading | null;
    /** Base64. */
    readonly sha256: string | null;
  } | null;
  /** That the signature was made with. */
  readonly certificate: {
    readonly subject: string;
    readonly issuer: string;
    readonly thumbprint: string;
    readonly timestamps: readonly Millis[];
  } | null;
}

/** One entry of the history. */
export interface RenditionEvent {
  readonly type: RenditionEventType;
  readonly at: Millis;
  /** Participant, application or mail address; null = the service. */
  readonly by: string | null;
  readonly ipAddress: string | null;
  readonly userAgent: string | null;
}

export const RENDITION_EVENT_TYPES = [
  'Created',
  'Mailed',
  'MailDelivered',
  'MailRefused',
  'Opened',
  'Viewed',
  'CodeSent',
  'WrongCode',
  'Signed',
  'Approved',
  'Refused',
  'Edited',
  'Reminded',
  'Canceled',
  'Expired',
  'Concluded',
] as const;
type RenditionEventType = (typeof RENDITION_EVENT_TYPES)[number];

export interface RenditionModel {
  readonly type: RenderedType;
  readonly language: Language;
  readonly document: {
    readonly name: string;
    readonly filename: string;
    readonly key: string;
    readonly checkUrl: string;
    readonly organization: string;
    readonly createdBy: string;
    readonly creationDate: Millis;
    readonly state: DocumentState;
    readonly reason: string | null;
    /** Of the file as it was uploaded, lower-case hex. */
    readonly sha256: string;
    readonly parts: readonly {
      readonly name: string;
      readonly sha256: string;
      /** Signatures of the file, which the envelope does not contain. */
      readonly signatures: number;
    }[];
  };
  /** People who did not take part, and by which condition. @default nobody */
  readonly skipped?: readonly string[];
  readonly people: readonly RenditionPerson[];
  /** History of the document, oldest first. */
  readonly trail: readonly RenditionEvent[];
  /** Number of later entries of the history. */
  readonly trailOmitted: number;
  readonly marks: readonly RenditionMark[];
  /** Places of tags in the text, which are covered. @default none */
  readonly covers?: readonly Omit<RenditionMark, 'type' | 'lines' | 'image'>[];
  /** Last change of the document; said to be the time the version was made at. */
  readonly at: Millis;
}
