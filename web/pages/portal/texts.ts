/** Texts of the portal's pages, on the server and in browsers. */

import { isolated } from '../../../contracts/plain-text.ts';
import type { Language } from '../../../contracts/portal/words.ts';
import { formFor, TEXTS, type Texts, filled as withValues } from '../../../contracts/texts/texts.ts';

/** Texts of pages for participants and visitors. */
export type PageTexts = Texts['pages'] & { readonly language: Language };
export type PageMessage = PageTexts['notFound'];
export type SenderTexts = Texts['senders'];
/** Texts of the editor's scripts; sent with the page. */
export type EditorScriptTexts = SenderTexts['editor']['script'];
/** Kinds of things that a sender places on a page. */
export type PlacedKind = keyof EditorScriptTexts['kinds'];

/** Each language by its own name. */
export const LANGUAGE_NAMES: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['pt', 'Português'],
  ['es', 'Español'],
  ['de', 'Deutsch'],
  ['fr', 'Français'],
  ['it', 'Italiano'],
];

export function pageTexts(language: Language): PageTexts {
  return { ...TEXTS[language].pages, language };
}

/** `filled('Page {n}', { n: 2 })` → `Page 2`. Inserted text is isolated from the direction of the text around it. */
export function filled(text: string, values: { readonly [name: string]: string | number }): string {
  const isolating = Object.entries(values).map(([name, value]) => [name, isolated(String(value))]);
  return withValues(text, Object.fromEntries(isolating));
}

/** The text of a name that others give, such as the code of an error; undefined when there is none. */
export function textBy(name: string, texts: { readonly [name: string]: string }): string | undefined {
  return Object.hasOwn(texts, name) ? texts[name] : undefined;
}

/** The text of a language for a number; `{count}` in it is the number. */
export function counted(
  language: string,
  texts: { readonly one: string; readonly other: string },
  count: number,
): string {
  return filled(formFor(language, texts, count), { count });
}
