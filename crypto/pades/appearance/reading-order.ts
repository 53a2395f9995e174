/**
 * Letters in the order in which they stand from left to right: what is read from the right is turned around. A small
 * part of the Unicode bidirectional algorithm (UAX 9), enough for names and short sentences in a line that begins at
 * the left.
 */

/** From the right: Hebrew, Arabic, Syriac, Thaana, NKo and others of their block, and the forms for presentation. */
const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
/** A stretch from the first such letter to the last, with what may lie between them. */
const STRETCH = new RegExp(`${FROM_RIGHT.source}(?:[^\\p{L}]*${FROM_RIGHT.source})*\\p{M}*`, 'gu');
/** What keeps its order inside: numbers, and letters with their marks. */
const UNIT = /\p{Nd}(?:[\p{Nd}.,:/+-]*\p{Nd})?|[\s\S]\p{M}*/gu;

const MIRRORED: Readonly<Record<string, string>> = {
  '(': ')',
  ')': '(',
  '[': ']',
  ']': '[',
  '<': '>',
  '>': '<',
  '\u00ab': '\u00bb',
  '\u00bb': '\u00ab',
};

export function leftToRight(line: string): string {
  if (!FROM_RIGHT.test(line)) return line;
  return line.replace(STRETCH, (stretch) =>
    (stretch.match(UNIT) ?? [])
      .reverse()
      .map((unit) => MIRRORED[unit] ?? unit)
      .join(''),
  );
}
