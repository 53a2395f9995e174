/** Vertical extent of the ink of characters in text fonts, as fractions of the font size from the base line. */

const TALL = [-0.05, 0.8] as const;
const UNKNOWN = [-0.3, 1.05] as const;

const BY_CHARACTER = new Map<string, readonly [number, number]>();
for (const [characters, low, high] of [
  ['acemnorsuvwxz', -0.05, 0.58],
  ['gpqy', -0.26, 0.58],
  ['j', -0.26, 0.8],
  ['Q@$§()[]{}|/\\', -0.25, 0.85],
  [',;„‚', -0.22, 0.5],
  ['.…', -0.05, 0.17],
  [':', -0.05, 0.55],
  ['_', -0.25, 0],
  ['-–—‐‑', 0.2, 0.36],
  ['−~=+«»‹›·•', 0, 0.6],
  ['\'"`´’‘“”^°*', 0.3, 0.85],
] as const)
  for (const character of characters) BY_CHARACTER.set(character, [low, high]);

export function inkOf(text: string | undefined): readonly [low: number, high: number] {
  if (text === undefined) return UNKNOWN;
  if (text.trim() === '') return [0, 0];
  return BY_CHARACTER.get(text) ?? (/^[\x21-\x7e]$/.test(text) ? TALL : UNKNOWN);
}
