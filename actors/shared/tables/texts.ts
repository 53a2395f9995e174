/** Texts that lists search: folded, made of records, which have fields. */

/** Begins a record other than the first; the fields 1, 2 … behind it begin with the codes that follow. */
export const RECORD = 1;
const MAX_SEPARATOR = 8;
/** Code read behind a text. */
const END = 0;

export interface TextSearch {
  /** Fields and records may be separated in it: `fieldsOf`. */
  readonly pattern: string;
  /** Numbers of the fields in which it may begin. @default any */
  readonly fields?: readonly number[];
  /** True: it must begin and end where a field does. @default false */
  readonly isWhole?: boolean;
}

/** True for a text of other characters than those of ASCII that can be seen. */
export function isBeyondAscii(text: string): boolean {
  return /[^ -~]/.test(text);
}

/** One spelling of addresses and ids: case-folded, one Unicode encoding of accents. */
export function foldCase(text: string): string {
  return (isBeyondAscii(text) ? text.normalize('NFC') : text).toLowerCase();
}

/** One spelling of what people search for: the same without accents. Vowel signs of other scripts are no accents. */
export function foldText(text: string): string {
  if (!isBeyondAscii(text)) return text.toLowerCase();
  return foldCase(text.normalize('NFD').replace(/[\u0300-\u036f]/g, ''));
}

/** Substring test of rows, without regard to case and accents; undefined without a search text. */
export function containing<Of>(
  q: string | undefined,
  textOf: (row: Of) => string,
): ((row: Of) => boolean) | undefined {
  const wanted = foldText(q?.trim() ?? '');
  if (wanted === '') return undefined;
  return (row) => foldText(textOf(row)).includes(wanted);
}

/** The text of records. */
export function recordsOf(records: readonly (readonly string[])[]): string {
  return records.map(fieldsOf).join(String.fromCharCode(RECORD));
}

/** The text of a record. @param fields at most 8 */
export function fieldsOf(fields: readonly string[]): string {
  let text = '';
  for (const [index, field] of fields.entries())
    text += (index === 0 ? '' : String.fromCharCode(RECORD + index)) + withoutSeparators(field);
  return text;
}

function withoutSeparators(text: string): string {
  if (!isNowhere(text)) return text;
  return [...text].map((one) => (isSeparator(one) ? ' ' : one)).join('');
}

/** True for a text that no field contains. */
export function isNowhere(text: string): boolean {
  return isBeyondAscii(text) && [...text].some(isSeparator);
}

function isSeparator(one: string): boolean {
  return one.charCodeAt(0) <= MAX_SEPARATOR;
}

/** True if a text has what is searched for. */
export function has(text: string, search: TextSearch): boolean {
  const { pattern } = search;
  const codeAt = (place: number): number => text.charCodeAt(place) || END;
  let hit = pattern === '' ? -1 : text.indexOf(pattern);
  while (hit >= 0 && !fits(codeAt, 0, { hit, length: pattern.length, search }))
    hit = text.indexOf(pattern, hit + 1);
  return hit >= 0;
}

/** True for a hit in a field in which it may be. @param start of the text */
export function fits(
  codeAt: (place: number) => number,
  start: number,
  {
    hit,
    length,
    search: { fields, isWhole },
  }: { readonly hit: number; readonly length: number; readonly search: TextSearch },
): boolean {
  if (isWhole === true) {
    if (hit > start && codeAt(hit - 1) > MAX_SEPARATOR) return false;
    if (codeAt(hit + length) > MAX_SEPARATOR) return false;
  }
  if (fields === undefined) return true;
  let before = hit - 1;
  while (before >= start && codeAt(before) > MAX_SEPARATOR) before -= 1;
  return fields.includes(before < start ? 0 : codeAt(before) - RECORD);
}
