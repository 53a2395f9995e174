/** Texts with places for values, on the server and in browsers. */
import { isolated } from '../../../contracts/plain-text.ts';

/** A text for one, and for each other number. */
export interface PluralTexts {
  readonly one: string;
  readonly other: string;
}

/** `filled('Page {n}', { n: 2 })` → `Page 2`. Inserted text is isolated from the direction of the text around it. */
export function filled(text: string, values: { readonly [name: string]: string | number }): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : isolated(String(value));
  });
}

/** The text of a language for a number; `{count}` in it is the number. */
export function counted(language: string, texts: PluralTexts, count: number): string {
  const isOne = new Intl.PluralRules(language).select(count) === 'one';
  return filled(isOne ? texts.one : texts.other, { count });
}
