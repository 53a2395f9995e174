/** Contrast of two colours `#rrggbb`. Source: WCAG 2.2, definitions of relative luminance and contrast ratio; AA (1.4.3) is 4.5. */

/** Least contrast of text, level AA. */
export const AA_CONTRAST = 4.5;

export const COLOUR = /^#[0-9a-f]{6}$/;

export function contrast(one: string, other: string): number {
  const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

/**
 * The nearest shade of a colour that has at least AA contrast with every ground, mixed with black or white.
 * Undefined when neither black nor white has it.
 */
export function readableShade(
  colour: string,
  grounds: readonly string[],
  towards: '#000000' | '#ffffff',
): string | undefined {
  for (let part = 0; part <= 100; part += 1) {
    const shade = mixed(colour, towards, part / 100);
    if (grounds.every((ground) => contrast(shade, ground) >= AA_CONTRAST)) return shade;
  }
  return undefined;
}

/** Black or white, whichever is read better on the colour; one of them always has AA contrast. */
export function textOn(colour: string): '#000000' | '#ffffff' {
  return contrast(colour, '#ffffff') >= contrast(colour, '#000000') ? '#ffffff' : '#000000';
}

function channels(colour: string): readonly number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mixed(colour: string, other: string, part: number): string {
  const end = channels(other);
  const mix = channels(colour).map((value, index) => Math.round(value + ((end[index] ?? 0) - value) * part));
  return `#${mix.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}
