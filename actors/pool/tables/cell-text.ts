/** The text of a cell, as a reader of the sheet takes it. Source: ECMA-376 part 1 §18.3.1.4 and §18.18.11. */
import { type NumberFormat, type NumberKind, UnreadNumber } from './number-format.ts';

/** A cell as it is written. */
export interface WrittenCell {
  /** Attribute `t`. */
  readonly type: string;
  /** Content of `v`; undefined without one. */
  readonly value: string | undefined;
  /** Content of `is`; undefined without one. */
  readonly inline: string | undefined;
  readonly isFormula: boolean;
}

export interface Workbook {
  readonly isDate1904: boolean;
  readonly strings: readonly string[];
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:E[+-]?\d+)?$/i;

/** @param format undefined: the file does not describe it. @throws {UnreadNumber} */
export function cellText(cell: WrittenCell, format: () => NumberFormat | undefined, book: Workbook): string {
  const { type, inline } = cell;
  if (inline !== undefined) {
    if (type === 'inlineStr' && cell.value === undefined) return inline;
    throw new UnreadNumber('The file says two things about its value.');
  }
  const value = type === 'str' ? cell.value : cell.value?.trim();
  // A program that calculates writes the empty text as one.
  if (cell.isFormula && (value === undefined || (value === '' && type !== 'str')))
    throw new UnreadNumber('Its formula has no result.');
  if (value === undefined || (value === '' && type !== 's')) return '';
  switch (type) {
    case 'str':
      return unescaped(value);
    case 's': {
      const text = /^\d+$/.test(value) ? book.strings[Number(value)] : undefined;
      if (text === undefined) throw new UnreadNumber('Its text is missing in the file.');
      return text;
    }
    case 'b':
      if (/^(?:1|true)$/.test(value)) return 'true';
      if (/^(?:0|false)$/.test(value)) return 'false';
      throw new UnreadNumber('It is neither true nor false.');
    case 'd':
      return isoText(value);
    case 'e':
      throw new UnreadNumber(`It holds an error (${value.slice(0, 20)}).`);
    case 'n': {
      const number = NUMBER.test(value) ? Number(value) : Number.NaN;
      if (!Number.isFinite(number)) throw new UnreadNumber('It is no number.');
      return numberText(number, format(), book);
    }
    default:
      throw new UnreadNumber('It has a type that is not read.');
  }
}

/** Characters that XML has not are written as `_x000D_` (§22.9.2.19). */
export function unescaped(text: string): string {
  return text.replace(/_x([0-9A-Fa-f]{4})_/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function numberText(number: number, format: NumberFormat | undefined, book: Workbook): string {
  if (format === undefined) throw new UnreadNumber('Its number format is missing in the file.');
  if (Math.abs(number) > Number.MAX_SAFE_INTEGER)
    throw new UnreadNumber('The number has so many digits that some of them may be lost.');
  const kind = format.dateKind(number);
  return kind === undefined ? format.text(number) : dateText(number, kind, book);
}

const DAY_SECONDS = 86_400;
/** Days from 1970-01-01 to the day with the number 0. */
const DAY_0_1900 = Date.UTC(1899, 11, 30) / 86_400_000;
const DAY_0_1904 = Date.UTC(1904, 0, 1) / 86_400_000;
/**
 * 1900-03-01. Programs differ about the days before: some count 1900-02-29, which was none. A zero is a date that is
 * missing, such as the result of a formula about an empty cell.
 */
const FIRST_DAY = 61;

/** Spreadsheets have no time zone: date, time, or both, as stored; hours in all also below 0 and beyond 24. */
function dateText(
  number: number,
  { isDate, isElapsed }: NumberKind,
  { isDate1904 }: Pick<Workbook, 'isDate1904'>,
): string {
  const seconds = Math.round(Math.abs(number) * DAY_SECONDS);
  if (isElapsed) return (number < 0 ? '-' : '') + clock(seconds);
  if (!isDate && number >= 0 && seconds < DAY_SECONDS) return clock(seconds);
  if (!isDate && number >= 0 && number < FIRST_DAY)
    throw new UnreadNumber(
      'It is longer than a day, but its number format is for a time of the day: use [h]:mm.',
    );
  if (number < (isDate1904 ? 1 : FIRST_DAY))
    throw new UnreadNumber('It is a date before 1900-03-01 or none, which programs read differently.');
  const day = (isDate1904 ? DAY_0_1904 : DAY_0_1900) * DAY_SECONDS;
  return dayText(new Date((day + seconds) * 1000));
}

function clock(seconds: number): string {
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
}

function dayText(date: Date): string {
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999)
    throw new UnreadNumber('It is no date before the year 10000.');
  const [day = '', time = ''] = date.toISOString().slice(0, 19).split('T');
  return time === '00:00:00' ? day : `${day}T${time}`;
}

const ISO =
  /^(?:(\d{4}-\d\d-\d\d)(?:T(?=\d))?)?(?:T?([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d{1,9})?)?)?(?:Z|\+00:00)?$/;

/** ISO 8601 as in cells (§18.18.11): a date, a time, or both, without a time zone. */
function isoText(value: string): string {
  const [, day, hour, minute = '', second = '00'] = ISO.exec(value) ?? [];
  const time = hour === undefined ? undefined : `${hour}:${minute}:${second}`;
  if (day === undefined && time !== undefined) return time;
  const date = new Date(`${day}T${time ?? '00:00:00'}Z`);
  // The 30th of February would become a day in March.
  if (day === undefined || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(day))
    throw new UnreadNumber('It is no date.');
  return dayText(date);
}
