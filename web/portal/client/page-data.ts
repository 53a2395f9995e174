/** Data from the server for the scripts of a page. */

import type { Texts } from '../../../contracts/texts/texts.ts';
import { requireElement } from '../../client/dom.ts';

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
  readonly maskedEmail: string | null;
  readonly initialsMode: 'None' | 'Optional' | 'Required';
  /** Page to lead to afterwards; null = none. */
  readonly redirectUrl: string | null;
  readonly words: Texts['pages']['signing']['script'];
}

/** Parses the block of JSON in the page. */
export function pageData<Data>(): Data {
  return JSON.parse(requireElement('#page-data').textContent ?? '') as Data;
}
