/**
 * What people write about themselves and their documents, without what cannot be seen: overrides and marks of direction,
 * zero-width characters, fillers. With these a name reads as another one than it is, or turns
 * around what stands beside it, on a page that somebody is about to sign.
 */

/** Separators of lines and paragraphs, and controls. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const BREAKS_BUT_LINE_FEEDS = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** Unseen whatever stands beside it. */
const UNSEEN = /(?!\u200c|\u200d|\p{Variation_Selector})\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;

/** What joiners may follow: letters of scripts that are written with them, and pictures that are made of several. */
const JOINED = [
  ...[
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
  ],
  ...['Telugu', 'Kannada', 'Malayalam', 'Sinhala', 'Khmer', 'Myanmar'],
].map((script) => `\\p{Script=${script}}`);
const JOINS = `(?:${JOINED.join('|')}|\\p{Extended_Pictographic}|\\p{Emoji_Modifier}|\\p{Variation_Selector})`;
const IDLE_JOINERS = new RegExp(
  `(?<!${JOINS})(?:\\u200c|\\u200d)+|(?:\\u200c|\\u200d)+(?!\\p{L}|\\p{Extended_Pictographic})`,
  'gu',
);

/** Letters that are read from the right. */
const FROM_RIGHT =
  /\p{Script=Hebrew}|\p{Script=Arabic}|\p{Script=Syriac}|\p{Script=Thaana}|\p{Script=Nko}|\p{Script=Adlam}/u;

/** Without what cannot be seen, in NFC. Controls, line ends and halves of characters stay. */
export function visibleText(text: string): string {
  // What was kept apart by something unseen belongs together once that is gone.
  return text.replace(UNSEEN, '').replace(IDLE_JOINERS, '').normalize('NFC');
}

/** One line of visible text without spaces around it. */
export function plainLine(text: string): string {
  return visibleText(whole(text).replace(BREAKS, ' ')).trim();
}

/** Visible text whose line feeds stay, without spaces around it. */
export function plainText(text: string): string {
  return visibleText(whole(text).replace(/\r\n?/g, '\n').replace(BREAKS_BUT_LINE_FEEDS, ' ')).trim();
}

/** Without halves of characters. */
function whole(text: string): string {
  return text.replace(/\p{Cs}/gu, '');
}

/**
 * A line to stand among other words: one that is read from the right is kept to itself by a first strong isolate and its
 * end (UAX 9), so that it turns around nothing beside it.
 */
export function isolated(text: string): string {
  const line = plainLine(text);
  return FROM_RIGHT.test(line) ? `\u2068${line}\u2069` : line;
}
