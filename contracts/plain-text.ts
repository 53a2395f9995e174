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

/** Joiners, but for those that follow a letter of a script that uses them, or a part of an emoji. */
const REDUNDANT_JOINERS =
  /(?<![\p{sc=Arabic}\p{sc=Syriac}\p{sc=Mongolian}\p{sc=Nko}\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Gurmukhi}\p{sc=Gujarati}\p{sc=Oriya}\p{sc=Tamil}\p{sc=Telugu}\p{sc=Kannada}\p{sc=Malayalam}\p{sc=Sinhala}\p{sc=Khmer}\p{sc=Myanmar}\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Variation_Selector}])[\u200c\u200d]+|[\u200c\u200d]+(?![\p{L}\p{Extended_Pictographic}])/gu;

/** Letters of right-to-left scripts. */
const RIGHT_TO_LEFT = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlam}]/u;

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

/** Removes controls; a tab or line end becomes a space, so that no words join. */
export function withoutControls(text: string): string {
  return text.replace(/[\t-\r]+/g, ' ').replace(/\p{Cc}/gu, '');
}

/** Returns one line of visible text without surrounding spaces. */
export function plainLine(text: string): string {
  return visibleText(normalized(text).replace(BREAKS, ' ')).trim();
}

/** Returns visible text with its line feeds, without surrounding spaces. */
export function plainText(text: string): string {
  return visibleText(normalized(text).replace(/\r\n?/g, '\n').replace(BREAKS_BUT_LINE_FEEDS, ' ')).trim();
}

/** A file name with `_` for what would end its line, or show `fdp.exe` as `exe.pdf`. All else stays, so that programs find it. */
export function shownFileName(name: string): string {
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, '_');
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
