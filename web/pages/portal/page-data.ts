/** Data that pages hand to their scripts, and events of embedded pages: what server and browser agree on. */
import type { Texts } from '../../../contracts/texts/texts.ts';
import type { ConditionalField, KnownValue } from '../../../machines/portal/conditions.ts';

/** A mark placed before; points from the top left corner of the page as displayed. */
export interface PlacedMark {
  readonly type: 'SignatureVisualRepresentation' | 'SignatureInitials' | 'AuthenticationStamp';
  readonly topLeftX: number;
  readonly topLeftY: number;
  readonly width: number;
  readonly height: number;
  /** From 1; null = the last page. */
  readonly pageNumber: number | null;
}

export interface SigningData {
  readonly key: string;
  readonly ticket: string;
  readonly content: string;
  /** Path of the page. */
  readonly self: string;
  readonly documentId: string;
  /** The version that this page shows. */
  readonly documentVersion: number;
  readonly mimeType: string;
  readonly embedded: boolean;
  readonly disableNotifications: boolean;
  /** From 1; -1 = the last; null = no number. */
  readonly page: number | null;
  /** Empty = any. */
  readonly embedOrigins: readonly string[];
  readonly marks: readonly PlacedMark[];
  /** Places that are shown white, as the signed file has them. */
  readonly covers: readonly Omit<PlacedMark, 'type'>[];
  /** To be filled in; the place of a field of the PDF's own form is null. */
  readonly fields: readonly {
    readonly name: string;
    readonly label: string;
    readonly place: Omit<PlacedMark, 'type'> | null;
  }[];
  /** Absent: no field has one. */
  readonly conditions?: {
    /** In the order of `fields`. */
    readonly fields: readonly ConditionalField[];
    /** Values of other participants. */
    readonly known: readonly (readonly [name: string, value: KnownValue])[];
  };
  readonly initialsMode: 'None' | 'Optional' | 'Required';
  /** Page to lead to afterwards; null = none. */
  readonly redirectUrl: string | null;
  /** Texts for a device that others use afterwards; null = the page is of the person's own browser. */
  readonly here: Texts['pages']['here']['script'] | null;
  readonly words: Texts['pages']['signing']['script'];
}

/** Data for the display of a file. */
export type DisplayedFile = Pick<
  SigningData,
  'mimeType' | 'content' | 'page' | 'marks' | 'covers' | 'fields' | 'words'
>;

/** Of the pages that report a state. */
export interface StateData {
  readonly events: readonly ParentMessage[];
  readonly embedOrigins: readonly string[];
  readonly shown?: DisplayedFile;
}

/** Events of a signing page and of the editor; see docs/embedding.md. Sent only to listed origins. */
export type FrameEvent =
  | {
      readonly type: 'ready' | 'viewed' | 'waiting' | 'signed' | 'refused' | 'expired' | 'closed';
      readonly id: string;
    }
  /** Of the editor; `id` is that of the draft, `documents` are the ids of the documents made of it. */
  | { readonly type: 'saved'; readonly id: string }
  | { readonly type: 'sent'; readonly id: string; readonly documents: readonly string[] }
  /** `code`: error code of the API; `FrameRefused` where the organization does not list the parent's origin. */
  | { readonly type: 'error'; readonly id?: string; readonly code: string }
  /** Height of the content, CSS pixels. */
  | { readonly type: 'resize'; readonly height: number };

export type ParentMessage =
  | { readonly type: 'documentSigned' | 'documentApproved' | 'documentRefused'; readonly id: string }
  | { readonly type: 'marksPositioned'; readonly data: unknown }
  | FrameEvent;
