/**
 * Parameters of a signature that a profile sets and that an upload may set where the profile's `Overrides` lists them.
 *
 * Source: docs/batch-values.md §6.1; docs/decisions/0242-what-uploads-may-set.md.
 */
import type { JOB_FORMATS } from '../../contracts/batch/words.ts';

type JobFormat = (typeof JOB_FORMATS)[number];

/** An extent on a page: points, or a part of the page's width or height. */
export type Extent = number | `${number}%`;

/** Texts of an upload's form fields, by their names. */
export type SigningParameters = { readonly [name in ParameterName]?: string };

export type ParameterName = keyof typeof RULES;

interface ParameterRule {
  readonly formats: readonly JobFormat[];
  readonly rule: string;
  isMet(text: string): boolean;
}

/** Largest extent, points; pages have at most 14,400 (ISO 32000-2, annex C). */
const MAX_POINTS = 14_400;
/** Most lines of text in a visible signature. */
export const MAX_LINES = 10;
/** Longest text, characters. */
const MAX_TEXT = 250;

const SHORT: Omit<ParameterRule, 'formats'> = {
  rule: `must be at most ${MAX_TEXT} characters without control characters`,
  isMet: (text) => text.length <= MAX_TEXT && !/\p{Cc}/u.test(text),
};
const EXTENT_RULE = `must be points from 0 to ${MAX_POINTS}, or a part of the page such as 50%`;
const EXTENT: ParameterRule = {
  formats: ['Pades'],
  rule: EXTENT_RULE,
  isMet: (text) => parseExtent(text) !== undefined,
};

const RULES = {
  reason: { ...SHORT, formats: ['Pades'] },
  location: { ...SHORT, formats: ['Pades'] },
  contactInfo: { ...SHORT, formats: ['Pades'] },
  fieldName: { ...SHORT, formats: ['Pades'] },
  certification: {
    formats: ['Pades'],
    rule: 'must be 1, 2 or 3',
    isMet: (text) => /^[123]$/.test(text),
  },
  page: {
    formats: ['Pades'],
    rule: 'must be a page number, or last',
    isMet: (text) => parsePage(text) !== undefined,
  },
  left: EXTENT,
  top: EXTENT,
  width: EXTENT,
  height: EXTENT,
  lines: {
    formats: ['Pades'],
    rule: `must be at most ${MAX_LINES} lines, with the placeholders of the profile's lines only`,
    isMet: (text) => linesOf(text).length <= MAX_LINES && linesOf(text).every((line) => isLine(line)),
  },
  elementId: { ...SHORT, formats: ['Xades'] },
  place: { ...SHORT, formats: ['Xades'] },
  rsaPadding: {
    formats: ['Pades', 'Cades', 'Xades'],
    rule: 'must be Pkcs1 or Pss',
    isMet: (text) => /^(pkcs1|pss)$/i.test(text),
  },
  coSign: {
    formats: ['Cades', 'Xades'],
    rule: 'must be true or false',
    isMet: (text) => /^(true|false)$/i.test(text),
  },
} satisfies { readonly [name: string]: ParameterRule };

export const PARAMETER_NAMES = Object.keys(RULES).filter(isParameter);

export const OVERRIDE_NAMES = PARAMETER_NAMES.map((name) => overrideName(name));

function isParameter(name: string): name is ParameterName {
  return name in RULES;
}

export function overrideName<Name extends ParameterName>(name: Name): Capitalize<Name> {
  return (name.slice(0, 1).toUpperCase() + name.slice(1)) as Capitalize<Name>;
}

export function formatsOfParameter(name: ParameterName): readonly JobFormat[] {
  return RULES[name].formats;
}

/** Returns the rule that the text of a field breaks; undefined when it is right. */
export function brokenRule(name: ParameterName, text: string): string | undefined {
  const { isMet, rule }: ParameterRule = RULES[name];
  return isMet(text) ? undefined : rule;
}

/** Parses `50%` or a number of points; undefined for another text. */
export function parseExtent(text: string): Extent | undefined {
  const found = /^(\d{1,5}(?:\.\d{1,3})?) ?(%?)$/.exec(text.trim());
  const value = Number(found?.[1] ?? Number.NaN);
  if (found?.[2] === '%') return value <= 100 ? `${value}%` : undefined;
  return value <= MAX_POINTS ? value : undefined;
}

export { EXTENT_RULE };

/** Parses a page: 1-based, or null for `last`; undefined for another text. */
export function parsePage(text: string): number | null | undefined {
  if (text.trim().toLowerCase() === 'last') return null;
  return /^[1-9]\d{0,5}$/.test(text.trim()) ? Number(text) : undefined;
}

/** Placeholders of lines; each stands for a text of the job. */
export const PLACEHOLDERS = [
  'signer',
  'reason',
  'location',
  'contactInfo',
  'date',
  'file',
  'job',
  'profile',
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];

/** True for a line of at most 250 characters whose words in braces are placeholders. */
export function isLine(line: string): boolean {
  const rest = line.replace(/\{(\w+)\}/g, (text, name) =>
    (PLACEHOLDERS as readonly string[]).includes(name) ? '' : text,
  );
  return SHORT.isMet(line) && !/[{}]/.test(rest);
}

export function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/);
}

/**
 * Replaces the placeholders. A line with placeholders, all of them empty, is left out: a file without a reason has no
 * line "Reason:".
 */
export function filledLines(
  lines: readonly string[],
  texts: { readonly [name in Placeholder]: string },
): readonly string[] {
  return lines.flatMap((line) => {
    let given = 0;
    let empty = 0;
    const filled = line.replace(/\{(\w+)\}/g, (whole, name: string) => {
      const text = PLACEHOLDERS.some((one) => one === name) ? texts[name as Placeholder] : whole;
      if (text === '') empty += 1;
      else given += 1;
      return text;
    });
    return given === 0 && empty > 0 ? [] : [filled];
  });
}
