/** Extent of the ink of characters in text fonts, in font sizes: an estimate for fonts that readers have. */
import type { Ink } from './font-program.ts';
import type { Box } from './geometry.ts';

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

/** Width of the narrowest ink. */
const MIN_INK = 0.1;

/** @param width of the character */
export function usualInk(text: string | undefined, width: number): Ink {
  if (text?.trim() === '') return 'blank';
  const known = BY_CHARACTER.get(text ?? '') ?? (/^[\x21-\x7e]$/.test(text ?? '') ? TALL : UNKNOWN);
  const [bottom, top] = known;
  return { left: 0, bottom, right: Math.max(width, MIN_INK), top };
}

/** Extent of a glyph of which nothing is known but its advance. */
export function anyInk(width: number): Box {
  const [bottom, top] = UNKNOWN;
  return { left: 0, bottom, right: Math.max(width, MIN_INK), top };
}
