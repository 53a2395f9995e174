/**
 * Removes invisible characters from names and titles that people enter: bidirectional overrides and marks, zero-width
 * characters, fillers. They can make a name read as another one, or reverse the text next to it, on a page that
 * somebody is about to sign.
 */

/** Separators of lines and paragraphs, and controls. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const BREAKS_BUT_LINE_FEEDS = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** Characters that are always invisible. */
const INVISIBLE =
  /(?!\u200c|\u200d|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/** Characters that a joiner may follow: letters of scripts that use joiners, and emoji sequences. */
const JOINED = [
  'Arabic',
  'Syriac',
  'Mongolian',
  'Nko',
  'Devanagari',
  'Bengali',
  'Gurmukhi',
  'Gujarati',
  'Oriya',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Khmer',
  'Myanmar',
].map((script) => `\\p{Script=${script}}`);
const JOINS = `(?:${JOINED.join('|')}|\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\p{Variation_Selector})`;
const REDUNDANT_JOINERS = new RegExp(
  `(?<!${JOINS})(?:\\u200c|\\u200d)+|(?:\\u200c|\\u200d)+(?!\\p{L}|\\p{Extended_Pictographic})`,
  'gu',
);

/** Letters of right-to-left scripts. */
const RIGHT_TO_LEFT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|\p{Script=Adlam}/u;

/** Characters that a person sees. A pattern of Braille without a dot is seen beside others, but is none by itself. */
const SEEN = /[^\s\p{Cc}\p{Surrogate}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u;

/** True when a person sees nothing of the text: it is empty, or holds only white space and invisible characters. */
export function isBlank(text: string): boolean {
  return !SEEN.test(text);
}

/** Removes invisible characters and normalizes to NFC. Keeps controls, line ends and lone surrogates. */
export function visibleText(text: string): string {
  // Characters separated by an invisible one may combine once it is removed.
  return text.replace(INVISIBLE, '').replace(REDUNDANT_JOINERS, '').normalize('NFC');
}

/** Returns one line of visible text without surrounding spaces. */
export function plainLine(text: string): string {
  return visibleText(normalized(text).replace(BREAKS, ' ')).trim();
}

/** Returns visible text with its line feeds, without surrounding spaces. */
export function plainText(text: string): string {
  return visibleText(normalized(text).replace(/\r\n?/g, '\n').replace(BREAKS_BUT_LINE_FEEDS, ' ')).trim();
}

/** Removes lone surrogates. */
function normalized(text: string): string {
  return text.replace(/\p{Cs}/gu, '');
}

/**
 * Isolates a right-to-left line that is embedded in other text, with a first strong isolate and its end (UAX 9), so
 * that it does not reorder that text.
 */
export function isolated(text: string): string {
  const line = plainLine(text);
  return RIGHT_TO_LEFT.test(line) ? `\u2068${line}\u2069` : line;
}
