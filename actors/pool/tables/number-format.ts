/**
 * Number formats of spreadsheets, as far as they decide what a reader of the sheet takes a number for: dates, times,
 * digits that a mask adds, decimals, percent, texts. Separators of thousands and currencies are left out, so that amounts
 * stay numbers. Source: ECMA-376 part 1 §18.8.30 and §18.8.31.
 */

/** A number that is not read, with the reason as a sentence. */
export class UnreadNumber extends Error {}

/** A digit is `0`, `#` or `?`; the text of a literal is what is shown. */
interface Token {
  readonly kind:
    | 'digit'
    | 'literal'
    | 'point'
    | 'comma'
    | 'percent'
    | 'exponent'
    | 'slash'
    | 'general'
    | 'date'
    | 'time'
    | 'elapsed';
  readonly text: string;
}

interface Section {
  readonly tokens: Token[];
  condition: ((value: number) => boolean) | undefined;
  /** True for the section of texts, which has an `@`. */
  isText: boolean;
}

/** Characters of a number format that spreadsheet programs write. */
const MAX_FORMAT = 255;
/** Sections of a number format. */
const MAX_SECTIONS = 4;

const GENERAL = 'General';
/** Formats that a file names by number alone; those of East Asia, 27 to 36 and 50 to 58, are dates and times. */
const BUILT_IN: ReadonlyMap<number, string> = new Map([
  ...[GENERAL, '0', '0.00', '#,##0', '#,##0.00'].map((code, id) => [id, code] as const),
  ...[5, 6, 37, 38, 41, 42].map((id) => [id, '#,##0'] as const),
  ...[7, 8, 39, 40, 43, 44].map((id) => [id, '#,##0.00'] as const),
  [9, '0%'],
  [10, '0.00%'],
  [11, '0.00E+00'],
  [12, '# ?/?'],
  [13, '# ??/??'],
  ...[14, 15, 16, 17, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map(
    (id) => [id, 'yyyy-mm-dd'] as const,
  ),
  ...[18, 19, 20, 21, 32, 33, 34, 35, 45, 47, 55, 56].map((id) => [id, 'hh:mm:ss'] as const),
  [22, 'yyyy-mm-dd hh:mm'],
  [46, '[h]:mm:ss'],
  [48, '##0.0E+0'],
  [49, '@'],
]);

/** The code of a format that a file does not write out; undefined when the standard has none. */
export function builtInFormat(id: number): string | undefined {
  return BUILT_IN.get(id);
}

const CONDITIONS: { readonly [operator: string]: (value: number, limit: number) => boolean } = {
  '<': (value, limit) => value < limit,
  '<=': (value, limit) => value <= limit,
  '>': (value, limit) => value > limit,
  '>=': (value, limit) => value >= limit,
  '=': (value, limit) => value === limit,
  '<>': (value, limit) => value !== limit,
};

/** One token at the start of what is left of a section. */
const TOKEN =
  /"(?<quoted>[^"]*)"|\\(?<escaped>[\s\S])|[_*][\s\S]|\[(?<bracket>[^\]]*)\]|(?<general>General)|(?<half>AM\/PM|A\/P)|(?<exponent>E[+-])|(?<date>[ymdegb]+)|(?<time>[hs]+)|(?<digit>[0#?])|(?<other>[\s\S])/iuy;

const SIGNS: ReadonlyMap<string, Token['kind']> = new Map([
  ['.', 'point'],
  [',', 'comma'],
  ['%', 'percent'],
  ['/', 'slash'],
]);

function sectionsOf(format: string): readonly Section[] {
  const empty = (): Section => ({ tokens: [], condition: undefined, isText: false });
  const sections = [empty()];
  TOKEN.lastIndex = 0;
  for (let found = TOKEN.exec(format); found !== null; found = TOKEN.exec(format)) {
    const section = sections.at(-1) as Section;
    const { quoted, escaped, bracket, general, half, exponent, date, time, digit, other } =
      found.groups ?? {};
    const add = (kind: Token['kind'], text: string) => {
      if (text !== '') section.tokens.push({ kind, text });
    };
    if (quoted !== undefined || escaped !== undefined) add('literal', quoted ?? escaped ?? '');
    else if (bracket !== undefined) {
      const [, operator = '', limit = ''] = /^(<=|>=|<>|<|>|=)\s*(-?[\d.]+)$/.exec(bracket) ?? [];
      const compare = CONDITIONS[operator];
      if (compare !== undefined) section.condition = (value) => compare(value, Number(limit));
      else if (/^(?:h+|m+|s+)$/i.test(bracket)) add('elapsed', bracket);
      else if (bracket.startsWith('$')) add('literal', bracket.slice(1).split('-')[0] ?? '');
    } else if (general !== undefined) add('general', general);
    else if (half !== undefined || time !== undefined) add('time', half ?? time ?? '');
    else if (exponent !== undefined) add('exponent', exponent);
    else if (date !== undefined) add('date', date);
    else if (digit !== undefined) add('digit', digit);
    else if (other === ';') sections.push(empty());
    else if (other === '@') section.isText = true;
    else if (other !== undefined) add(SIGNS.get(other) ?? 'literal', other);
  }
  return sections.slice(0, MAX_SECTIONS).filter(({ isText }) => !isText);
}

interface ChosenSection {
  readonly tokens: readonly Token[];
  /** True: the section says by itself how a negative number is shown. */
  readonly isForNegative: boolean;
}

/** Sections are for positive, negative and zero, unless they have conditions. */
function sectionFor(sections: readonly Section[], value: number): ChosenSection | undefined {
  const [first, second, third] = sections;
  if (first === undefined) return undefined;
  const hasConditions = first.condition !== undefined || second?.condition !== undefined;
  if (!hasConditions) {
    const isForNegative = value < 0 && second !== undefined;
    const chosen = (isForNegative ? second : value === 0 ? third : first) ?? first;
    return { tokens: chosen.tokens, isForNegative };
  }
  const meets = first.condition ?? ((one: number) => one > 0);
  if (meets(value)) return { tokens: first.tokens, isForNegative: false };
  if (second === undefined) return undefined;
  const meetsSecond = second.condition ?? ((one: number) => third === undefined || one < 0);
  const chosen = meetsSecond(value) ? second : third;
  return chosen && { tokens: chosen.tokens, isForNegative: false };
}

/** Kind of date or time that a number is shown as. */
export interface NumberKind {
  readonly isDate: boolean;
  readonly isTime: boolean;
  /** Hours, minutes or seconds in all, also beyond a day. */
  readonly isElapsed: boolean;
}

export class NumberFormat {
  readonly #sections: readonly Section[];

  constructor(format: string) {
    this.#sections = sectionsOf(format.length <= MAX_FORMAT ? format : GENERAL);
  }

  /** Undefined for a number that is neither date nor time. @throws {UnreadNumber} */
  dateKind(value: number): NumberKind | undefined {
    const tokens = sectionFor(this.#sections, value)?.tokens ?? [];
    const has = (kind: Token['kind']) => tokens.some((token) => token.kind === kind);
    const isElapsed = has('elapsed');
    // `m` alone is a month; beside hours or seconds it is minutes, and no date.
    const isTime = has('time') || isElapsed;
    const isDate = tokens.some(({ kind, text }) => kind === 'date' && !(isTime && /^m+$/i.test(text)));
    if (!isDate && !isTime) return undefined;
    // Beside dates and times, digits are parts of a second alone: letters without quotes may be a text.
    const isText = tokens.some(({ kind }, at) => {
      const before = tokens[at - 1]?.kind;
      return kind === 'general' || (kind === 'digit' && before !== 'digit' && before !== 'point');
    });
    if (isText) throw new UnreadNumber('Its number format has letters that may be a date or a text.');
    return { isDate, isTime, isElapsed };
  }

  /** The text of a number. @throws {UnreadNumber} */
  text(value: number): string {
    const section = sectionFor(this.#sections, value);
    if (section === undefined) return plainNumber(value);
    return textIn(section, value);
  }
}

/** Digits that spreadsheet programs show; sums end in noise beyond them. */
const PRECISION = 15;
/** Maximum number of digits that a format pads a number to, before or after its point. */
const MAX_PADDING = 20;

/** Programs store longer identifiers as whole numbers, which have no noise. */
function withoutNoise(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(PRECISION));
}

/** Without an exponent. */
function plainNumber(value: number): string {
  const text = String(withoutNoise(value));
  return text.includes('e') ? decimals(withoutNoise(value), 1, 0, MAX_PADDING) : text;
}

/** Maximum number of kept formatters; each takes 20 KiB. */
const MAX_FORMATTERS = 100;
/** By digits; making one takes longer than reading a row. */
const formatters = new Map<string, Intl.NumberFormat>();

function decimals(value: number, whole: number, least: number, most: number): string {
  const key = `${whole} ${least} ${most}`;
  let formatter = formatters.get(key);
  if (formatter === undefined) {
    if (formatters.size >= MAX_FORMATTERS) formatters.clear();
    formatter = new Intl.NumberFormat('en', {
      useGrouping: false,
      signDisplay: 'negative',
      minimumIntegerDigits: whole,
      minimumFractionDigits: least,
      maximumFractionDigits: most,
    });
    formatters.set(key, formatter);
  }
  return formatter.format(value);
}

function textIn({ tokens, isForNegative }: ChosenSection, value: number): string {
  const isPlaceholder = ({ kind }: Token) => kind === 'digit' || kind === 'point' || kind === 'general';
  const from = tokens.findIndex(isPlaceholder);
  const to = tokens.findLastIndex(isPlaceholder);
  if (!tokens.some(({ kind }) => kind === 'digit' || kind === 'general')) {
    // A dash for zero, or nothing at all.
    if (/^[\s-]*$/.test(literals(tokens))) return plainNumber(value);
    throw new UnreadNumber('Its number format shows a text in place of the number.');
  }
  const inner = tokens.slice(from, to + 1);
  const before = tokens.slice(0, from);
  const after = tokens.slice(to + 1);
  const isMask = inner.some(({ kind, text }) => kind === 'literal' && !isGrouping(text, inner));
  const percents = tokens.filter(({ kind }) => kind === 'percent').length;
  const isScaled = tokens.some(
    ({ kind }, at) => kind === 'comma' && at > from && tokens[at + 1]?.kind !== 'digit',
  );
  const has = (kind: Token['kind']) => inner.some((token) => token.kind === kind);
  if (isMask) {
    const sign = value < 0 && !isForNegative ? '-' : '';
    const shown = literals(before).trimStart() + masked(inner, Math.abs(value)) + literals(after).trimEnd();
    return sign + shown;
  }
  const prefix = shownText(before.slice(before.findIndex((token) => !isSign(token))));
  const suffix = shownText(after.slice(0, after.findLastIndex((token) => !isSign(token)) + 1));
  if (isScaled && (prefix !== '' || suffix !== ''))
    throw new UnreadNumber('Its number format shows thousands with a text.');
  const isPlain = has('exponent') || has('slash') || has('general') || isScaled;
  const digits = isPlain
    ? plainNumber(Math.abs(value))
    : padded(inner, Math.abs(value) * 100 ** percents) + '%'.repeat(percents);
  // Rounded to zero, it has no sign.
  return (value < 0 && /[1-9]/.test(digits) ? '-' : '') + prefix.trimStart() + digits + suffix.trimEnd();
}

function isSign({ kind, text }: Token): boolean {
  return kind === 'literal' && /^[\s()+-]$/u.test(text);
}

function literals(tokens: readonly Token[]): string {
  return tokens
    .filter(({ kind }) => kind === 'literal' || kind === 'slash')
    .map(({ text }) => text)
    .join('');
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Empty for a currency, which an amount has beside it. */
function shownText(tokens: readonly Token[]): string {
  const text = literals(tokens);
  const word = /[^\s()+-](?:.*[^\s()+-])?/su.exec(text)?.[0] ?? '';
  const isCurrency = /^(?:[A-Z]{1,3}\$|\p{Sc})$/u.test(word) || CURRENCIES.has(word);
  return word === '' || isCurrency ? '' : text;
}

/** True for a separator of thousands that is written as a literal: a mask has zeros alone. */
function isGrouping(text: string, inner: readonly Token[]): boolean {
  return /^[\s'’]+$/u.test(text) && inner.some((token) => token.kind === 'digit' && token.text === '#');
}

/** The digits of a number in the places of a mask, whose literals are always shown. */
function masked(inner: readonly Token[], value: number): string {
  if (!inner.every(({ kind }) => kind === 'digit' || kind === 'literal' || kind === 'slash'))
    throw new UnreadNumber('Its number format has texts between digits, and decimals.');
  if (!Number.isInteger(withoutNoise(value)))
    throw new UnreadNumber('Its number format has places for whole digits, but the number has decimals.');
  const digits = [...String(withoutNoise(value))];
  if (value === 0) digits.pop();
  let text = '';
  const first = inner.findIndex(({ kind }) => kind === 'digit');
  for (let at = inner.length - 1; at >= 0; at--) {
    const token = inner[at];
    if (token?.kind !== 'digit') text = (token?.text ?? '') + text;
    else if (at === first) text = (digits.join('') || (token.text === '0' ? '0' : '')) + text;
    else text = (digits.pop() ?? (token.text === '0' ? '0' : '')) + text;
  }
  return text;
}

/** The number with the least digits of its places: from the first zero before the point, to the last one behind it. */
function padded(inner: readonly Token[], value: number): string {
  const point = inner.findIndex(({ kind }) => kind === 'point');
  const placesOf = (tokens: readonly Token[]) =>
    tokens
      .filter(({ kind }) => kind === 'digit')
      .map(({ text }) => text)
      .join('');
  const whole = placesOf(point < 0 ? inner : inner.slice(0, point));
  const fraction = point < 0 ? '' : placesOf(inner.slice(point));
  const firstZero = whole.indexOf('0');
  const least = firstZero < 0 ? 1 : whole.length - firstZero;
  if (least > MAX_PADDING || fraction.length > MAX_PADDING) return plainNumber(value);
  return decimals(withoutNoise(value), least, fraction.lastIndexOf('0') + 1, fraction.length);
}
