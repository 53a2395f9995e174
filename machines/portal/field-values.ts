/**
 * Fields that participants fill when they sign, and the rules of their values. A rule is one of a fixed list: patterns from
 * outside could take exponential time.
 */
import { visibleText } from '../../contracts/plain-text.ts';
import type { FieldFormat } from '../../contracts/portal/words.ts';
import { type ConditionalField, type KnownValues, NUMBER, shownFields } from './conditions.ts';

/** A rectangle on a page: PDF points from the top left corner of the page as it is shown. */
export interface FieldPlace {
  readonly topLeftX: number;
  readonly topLeftY: number;
  readonly width: number;
  readonly height: number;
  /** From 1; null = the last page. */
  readonly pageNumber: number | null;
}

/** A field of one participant. */
export interface DocumentField extends ConditionalField {
  readonly id: string;
  /** Unique in its document. */
  readonly name: string;
  /** Shown to people. */
  readonly label: string;
  /** Null for a field of the PDF's own form, and for an attachment that the pages do not show. */
  readonly place: FieldPlace | null;
  /** Full name of a field of the PDF's own form; null = made by the service. */
  readonly formField: string | null;
  /** Characters. */
  readonly maxLength: number;
  readonly format: FieldFormat | null;
  /** Of numbers; inclusive. */
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** Of choices. */
  readonly options: readonly string[];
  /** Value that the sender has filled in; absent = none. */
  readonly presetValue?: string;
  /** True: the participant cannot change the value of the sender. Absent = false. */
  readonly isReadOnly?: boolean;
  /** Present where a tag in the text of the file placed it. */
  readonly tagged?: TaggedField;
}

/** Properties in the request of a field that a tag placed. */
interface TaggedField {
  /** True: the request lists the field with its rules, and another file must have its tag too. */
  readonly isListed: boolean;
  /** True: the request requires it, whatever its tag says. */
  readonly isRequired: boolean;
}

/**
 * Value of a field as it stands in the PDF and in replies: a checkbox is `true` or `false`, a date `2030-01-31`, an
 * attachment the name of its file.
 */
export interface FieldValue {
  readonly fieldId: string;
  readonly name: string;
  readonly value: string;
}

/** Longest value, characters. */
export const MAX_VALUE_LENGTH = 2_000;
export const MAX_INITIALS_LENGTH = 8;

const FORMATS: { readonly [format in FieldFormat]: RegExp } = {
  Email: /^[^@\s<>",;:]+@[^@\s<>",;:]+$/,
  Digits: /^\d+$/,
  Letters: /^[\p{L}\p{M}' .-]+$/u,
  Phone: /^\+?[\d ()-]{5,30}$/,
};
const DATE = /^\d{4}-\d{2}-\d{2}$/;

export interface CheckedValues {
  readonly values: readonly FieldValue[];
  /** Message by name of field; empty when all values are good. */
  readonly faults: ReadonlyMap<string, string>;
}

/**
 * Checks what a participant has filled in. A value that is empty counts as not given; in place of one that is missing
 * stands the value of the sender. A field that its condition hides has no value, and one that is given is refused.
 * @param given by name of field; numbers and booleans may be given as such
 * @param known values of other participants
 */
export function checkFieldValues(
  fields: readonly DocumentField[],
  given: Readonly<Record<string, unknown>>,
  known: KnownValues = new Map(),
): CheckedValues {
  const faults = new Map<string, string>();
  const names = new Set(fields.map(({ name }) => name));
  for (const name of Object.keys(given))
    if (!names.has(name)) faults.set(name, 'This participant has no field of this name.');
  const sentTo = ({ name }: DocumentField) => (Object.hasOwn(given, name) ? given[name] : undefined);
  const texts = new Map(
    fields.map((field) => [field.name, textOf(field, sentTo(field) ?? field.presetValue)] as const),
  );
  const shown = shownFields(fields, ({ name }) => texts.get(name) ?? '', known);
  const values = fields.flatMap((field): readonly FieldValue[] => {
    const state = shown.get(field.name);
    if (state === undefined) {
      if (textOf(field, sentTo(field)) !== (field.type === 'Checkbox' ? 'false' : ''))
        faults.set(field.name, 'The condition of this field hides it.');
      return [];
    }
    const value = texts.get(field.name);
    const fault =
      value === undefined
        ? 'The value must be a text.'
        : field.isReadOnly === true && value !== field.presetValue
          ? 'The sender has filled in this field.'
          : valueFault({ ...field, ...state }, value);
    if (fault !== undefined) faults.set(field.name, fault);
    return value === undefined || value === '' ? [] : [{ fieldId: field.id, name: field.name, value }];
  });
  return { values, faults };
}

/** Undefined for what is no value; empty when nothing was filled in. */
function textOf({ type }: DocumentField, value: unknown): string | undefined {
  if (type === 'Checkbox') {
    if (value === undefined || value === null || value === '') return 'false';
    return value === true || value === false ? String(value) : typeof value === 'string' ? value : undefined;
  }
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string' || value.length > 2 * MAX_VALUE_LENGTH) return undefined;
  const text = visibleText(value).trim();
  return type === 'Number' ? text.replace(',', '.') : text;
}

/** Returns what is wrong with a value, in ASCII; undefined = nothing. */
export function valueFault(field: DocumentField, value: string): string | undefined {
  const { type, isRequired, maxLength, format, minimum, maximum, options } = field;
  if (type === 'Checkbox') {
    if (value !== 'true' && value !== 'false') return 'The value must be true or false.';
    return isRequired && value !== 'true' ? 'This box must be checked.' : undefined;
  }
  if (value === '') return isRequired ? 'This field must be filled in.' : undefined;
  if ([...value].length > maxLength) return `At most ${maxLength} characters fit.`;
  switch (type) {
    case 'Number':
      if (!NUMBER.test(value)) return 'The value must be a number.';
      if (minimum !== null && Number(value) < minimum) return `The value must be at least ${minimum}.`;
      return maximum !== null && Number(value) > maximum
        ? `The value must be at most ${maximum}.`
        : undefined;
    case 'Date':
      return isDay(value) ? undefined : 'The value must be a day, as 2030-01-31.';
    case 'Choice':
      return options.includes(value) ? undefined : 'The value must be one of the options.';
    default:
      return format !== null && !FORMATS[format].test(value) ? FORMAT_FAULTS[format] : undefined;
  }
}

const FORMAT_FAULTS: { readonly [format in FieldFormat]: string } = {
  Email: 'The value must be an e-mail address.',
  Digits: 'The value must have digits only.',
  Letters: 'The value must have letters only.',
  Phone: 'The value must be a phone number.',
};

function isDay(text: string): boolean {
  if (!DATE.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(text);
}
