/** Data from the server for the scripts of a page, and text templates. */

import { requireElement } from '../../client/dom.ts';
import type { PluralTexts, SigningScriptTexts } from '../texts/page-texts.ts';

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
  readonly words: SigningScriptTexts;
}

/** Parses the block of JSON in the page. */
export function pageData<Data>(): Data {
  return JSON.parse(requireElement('#page-data').textContent ?? '') as Data;
}

/** The text for a number, in the language of the page; `{count}` in it is the number. */
export function counted(texts: PluralTexts, count: number): string {
  const category = new Intl.PluralRules(document.documentElement.lang).select(count);
  return filled(category === 'one' ? texts.one : texts.other, { count });
}

/** Letters that are written from right to left. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Keeps the direction of a name inside of a sentence (Unicode Standard Annex #9, FSI and PDI). */
function isolated(value: string | number): string {
  const text = String(value);
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** `filled('Page {n}', { n: '2' })` → `Page 2`. */
export function filled(text: string, values: { readonly [name: string]: string | number }): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => isolated(values[name] ?? whole));
}
