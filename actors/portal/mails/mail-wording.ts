/**
 * An organization's own words in its mails: plain text with named placeholders such as `{document}`. `{{` and `}}` are
 * braces. The scanner reads each character once; the HTML of a mail escapes the result like all texts.
 */

import type { MailWording } from '../../../contracts/portal/branding.ts';
import type { BrandedMail } from '../../../contracts/portal/words.ts';

/** The part of a letter that its kind decides. */
export interface MailTexts {
  readonly subject: string;
  readonly paragraphs: readonly string[];
  /** Label of the link, for kinds that may have one. */
  readonly button?: string;
}

const OF_DOCUMENTS = [
  'document',
  'organization',
  'recipient',
  'description',
  'reason',
  'by',
  'expires',
] as const;
/** Those of mails that are not about one document. */
const OF_OTHERS = {
  'pending-list': ['organization', 'recipient', 'count'],
  'sign-in': ['organization', 'recipient', 'minutes'],
} as const;
type Placeholder = (typeof OF_DOCUMENTS)[number] | (typeof OF_OTHERS)[keyof typeof OF_OTHERS][number];

/** Names that the texts of a mail may have in braces. */
export function placeholdersOf(kind: BrandedMail): readonly Placeholder[] {
  return kind === 'pending-list' || kind === 'sign-in' ? OF_OTHERS[kind] : OF_DOCUMENTS;
}

/** Placeholders in one text: a description alone may have 10,000 characters. */
const MAX_PLACEHOLDERS = 20;

/** @returns what is wrong with a text; undefined when nothing is */
export function wordingFault(text: string, kind: BrandedMail): string | undefined {
  const known = placeholdersOf(kind);
  let count = 0;
  for (const { name } of placeholdersIn(text)) {
    count += 1;
    if (count > MAX_PLACEHOLDERS) return `has more than ${MAX_PLACEHOLDERS} placeholders`;
    if (name === undefined) return 'has a single brace; write two for one in the text';
    if (!known.some((one) => one === name))
      return `has the unknown placeholder {${name}}; known are ${known.map((one) => `{${one}}`).join(', ')}`;
  }
  return undefined;
}

type Values = { readonly [Name in Placeholder]?: string | null };

/** The texts of a mail with the words of an organization in their place. */
export function reworded(words: MailTexts, wording: MailWording | undefined, values: Values): MailTexts {
  if (wording === undefined) return words;
  const { subject, introduction } = wording;
  const [, ...rest] = words.paragraphs;
  return {
    ...words,
    ...(subject !== null && { subject: filledIn(subject, values) }),
    ...(introduction !== null && {
      paragraphs: [
        ...filledIn(introduction, values)
          .split('\n\n')
          .map((paragraph) => paragraph.trim())
          .filter((paragraph) => paragraph !== ''),
        ...rest,
      ],
    }),
  };
}

function filledIn(text: string, values: Values): string {
  let filled = '';
  let from = 0;
  for (const { at, end, name } of placeholdersIn(text)) {
    const value = name !== undefined && name in values ? values[name as Placeholder] : undefined;
    filled += unescaped(text.slice(from, at)) + (value === undefined ? text.slice(at, end) : (value ?? ''));
    from = end;
  }
  return filled + unescaped(text.slice(from));
}

function unescaped(text: string): string {
  return text.replaceAll('{{', '{').replaceAll('}}', '}');
}

/** Places of placeholders; one without a name is a single brace. */
function* placeholdersIn(
  text: string,
): Generator<{ readonly at: number; readonly end: number; readonly name: string | undefined }> {
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character !== '{' && character !== '}') continue;
    if (text[at + 1] === character) {
      at += 1;
      continue;
    }
    const end = character === '{' ? nameEnd(text, at + 1) : -1;
    if (end < 0) {
      yield { at, end: at + 1, name: undefined };
      continue;
    }
    yield { at, end: end + 1, name: text.slice(at + 1, end) };
    at = end;
  }
}

/** Position of the brace that closes a name; -1 = none. Names are short, so that each character is read a bounded number of times. */
function nameEnd(text: string, from: number): number {
  for (let at = from; at < text.length && at - from <= 40; at += 1) {
    const character = text[at] ?? '';
    if (character === '}') return at > from ? at : -1;
    if (character < 'a' || character > 'z') return -1;
  }
  return -1;
}
