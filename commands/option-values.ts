/** Parsers of command-line values, which throw `InvalidArgumentError` with the expected form; texts of options. */
import { Help, InvalidArgumentError, type Option } from 'commander';

export type Format = 'Pades' | 'Cades' | 'Xades' | 'Asic';

/** In any casing. */
export function parseFormat(value: string): Format {
  const format = (['Pades', 'Cades', 'Xades', 'Asic'] as const).find(
    (name) => name.toLowerCase() === value.toLowerCase(),
  );
  if (format === undefined) throw new InvalidArgumentError('It must be Pades, Cades, Xades or Asic.');
  return format;
}

/** Milliseconds since the epoch. */
export function parseTime(value: string): number {
  const at = /^\d{4}-\d\d-\d\d(T.*)?$/.test(value) ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError('It must be a date and time, such as 2026-05-17T12:00:00Z.');
  return at;
}

/** 1 to 999,999,999. */
export function parseCount(value: string): number {
  const count = /^\d{1,9}$/.test(value) ? Number(value) : 0;
  if (count < 1) throw new InvalidArgumentError('It must be a whole number of at least 1.');
  return count;
}

/** Above 0, in thousandths. */
export function parseSeconds(value: string): number {
  const seconds = /^\d{1,4}(\.\d{1,3})?$/.test(value) ? Number(value) : 0;
  if (seconds <= 0) throw new InvalidArgumentError('It must be a number above 0.');
  return seconds;
}

/** For options that may be repeated. */
export function collect(value: string, earlier: readonly string[]): string[] {
  return [...earlier, value];
}

/** Description of an option in the help, without a default that says nothing: `false` or `[]`. */
export function describeOption(option: Option): string {
  return new Help().optionDescription(option).replace(/ \(default: (?:false|\[\])\)$/, '');
}
