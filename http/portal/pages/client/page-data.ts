/** What the server tells the scripts of a page, and sentences with holes. */
import type { SigningScriptWords } from '../texts/words.ts';
import { part } from './dom.ts';

/** A mark that was placed beforehand; points from the top left corner of the page as it is shown. */
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
  /** The one this page shows. */
  readonly documentVersion: number;
  readonly mimeType: string;
  readonly embedded: boolean;
  readonly disableNotifications: boolean;
  /** From 1; -1 = the last; null = not asked for. */
  readonly page: number | null;
  /** Empty = any. */
  readonly embedOrigins: readonly string[];
  readonly marks: readonly PlacedMark[];
  readonly maskedEmail: string | null;
  readonly initialsMode: 'None' | 'Optional' | 'Required';
  readonly words: SigningScriptWords;
}

/** The block of JSON in the page. */
export function pageData<Data>(): Data {
  return JSON.parse(part('#page-data').textContent ?? '') as Data;
}

/** `filled('Page {n}', { n: '2' })` → `Page 2`. */
export function filled(text: string, values: { readonly [name: string]: string | number }): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}
