/**
 * Decides which fields of a participant are shown and required, from the values of others. Used by the service and by pages:
 * both decide alike.
 *
 * Source: docs/fields.md, docs/decisions/0630-conditions.md.
 */
import type { ConditionOperator, FieldType } from '../../contracts/portal/words.ts';

/** Compares the value of a field. */
export interface ConditionTest {
  /** Name. */
  readonly field: string;
  readonly operator: ConditionOperator;
  /** Absent for an operator that compares with nothing. */
  readonly value?: string;
}

/** Tests that must all hold, and tests of which one must; absent = none of the kind. */
export interface FieldCondition {
  readonly all?: readonly ConditionTest[];
  readonly any?: readonly ConditionTest[];
}

export interface ConditionalField {
  readonly name: string;
  readonly type: FieldType;
  readonly isRequired: boolean;
  /** Absent = always shown. */
  readonly shownWhen?: FieldCondition;
  /** Absent = required if `isRequired`. */
  readonly requiredWhen?: FieldCondition;
}

/** A value that is there already; empty = not filled in, or hidden. */
export interface KnownValue {
  readonly type: FieldType;
  readonly value: string;
}

export type KnownValues = ReadonlyMap<string, KnownValue>;

const EQUALITY = ['Equals', 'NotEquals'] as const;
const PRESENCE = ['IsFilled', 'IsEmpty'] as const;
const EITHER = [...EQUALITY, ...PRESENCE] as const;
const ORDERED = [...EITHER, 'Above', 'AtLeast', 'Below', 'AtMost'] as const;

/** Operators by type of the field that is tested. */
export const OPERATORS_OF: { readonly [type in FieldType]: readonly ConditionOperator[] } = {
  Text: EITHER,
  Number: ORDERED,
  Date: ORDERED,
  Checkbox: EQUALITY,
  Choice: EITHER,
  Initials: EITHER,
  Attachment: PRESENCE,
};

/** True for an operator that compares with a value. */
export function takesValue(operator: ConditionOperator): boolean {
  return operator !== 'IsFilled' && operator !== 'IsEmpty';
}

/** Results by the order of the two values. Of a field that is not filled in, only `NotEquals` and `IsEmpty` hold. */
const HOLDS: { readonly [operator in ConditionOperator]: (order: number) => boolean } = {
  Equals: (order) => order === 0,
  NotEquals: (order) => order !== 0,
  Above: (order) => order > 0,
  AtLeast: (order) => order >= 0,
  Below: (order) => order < 0,
  AtMost: (order) => order <= 0,
  IsFilled: () => true,
  IsEmpty: () => false,
};

/** Returns a negative number, zero or a positive one; undefined for a value that is none of the type. */
function order(type: FieldType, value: string, other: string): number | undefined {
  if (type !== 'Number') return compared(value, other);
  const one = decimalOf(value);
  const two = decimalOf(other);
  return one === undefined || two === undefined ? undefined : compared(one, two);
}

function compared<Value extends string | bigint>(one: Value, other: Value): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const UNKNOWN: KnownValue = { type: 'Text', value: '' };

function testHolds({ operator, value = '' }: ConditionTest, { type, value: given }: KnownValue): boolean {
  // A box that is hidden is not checked.
  const filled = type === 'Checkbox' ? given || 'false' : given;
  const isEmpty = filled === '';
  const found = isEmpty ? undefined : order(type, filled, takesValue(operator) ? value : filled);
  return found === undefined ? operator === 'NotEquals' || operator === 'IsEmpty' : HOLDS[operator](found);
}

/** True if the values of fields are as the condition says. */
export function holds(
  { all = [], any = [] }: FieldCondition,
  known: (name: string) => KnownValue | undefined,
): boolean {
  const isTrue = (test: ConditionTest) => testHolds(test, known(test.field) ?? UNKNOWN);
  return all.every(isTrue) && (any.length === 0 || any.some(isTrue));
}

/**
 * Returns the fields that are shown, by name, and whether each is required. A hidden field counts as empty.
 * @param filledIn what is filled in; empty = nothing
 * @param known values of other participants
 */
export function shownFields<Field extends ConditionalField>(
  fields: readonly Field[],
  filledIn: (field: Field) => string,
  known: KnownValues,
): ReadonlyMap<string, { readonly isRequired: boolean }> {
  const own = new Map(fields.map((field) => [field.name, field]));
  const decided = new Map<string, boolean>();
  const isShown = ({ name, shownWhen }: Field): boolean => {
    if (shownWhen === undefined) return true;
    const before = decided.get(name);
    if (before !== undefined) return before;
    // Requests with cycles are refused; a field of one would be hidden.
    decided.set(name, false);
    const is = holds(shownWhen, valueIn);
    decided.set(name, is);
    return is;
  };
  const valueIn = (name: string): KnownValue | undefined => {
    const field = own.get(name);
    if (field === undefined) return known.get(name);
    return { type: field.type, value: isShown(field) ? filledIn(field) : '' };
  };
  const shown = new Map<string, { readonly isRequired: boolean }>();
  for (const field of fields) {
    if (!isShown(field)) continue;
    const { requiredWhen } = field;
    const isRequired = field.isRequired || (requiredWhen !== undefined && holds(requiredWhen, valueIn));
    shown.set(field.name, { isRequired });
  }
  return shown;
}

const SIGNS: { readonly [operator in ConditionOperator]: string } = {
  Equals: '=',
  NotEquals: '\u2260',
  Above: '>',
  AtLeast: '\u2265',
  Below: '<',
  AtMost: '\u2264',
  IsFilled: '\u2260',
  IsEmpty: '=',
};

/** Writes a condition in signs, in any language: `amount > "1000"`. */
export function conditionText({ all = [], any = [] }: FieldCondition): string {
  const text = ({ field, operator, value = '' }: ConditionTest) => `${field} ${SIGNS[operator]} "${value}"`;
  return [...all.map(text), any.map(text).join(' | ')].filter((one) => one !== '').join(' & ');
}

/** Digits behind the point of a number. */
const PLACES = 10;
/** Numbers as values of fields have them. */
export const NUMBER = /^-?\d{1,15}(?:\.\d{1,10})?$/;

/** Returns the number in units of its last possible digit; undefined for text that is no number. */
function decimalOf(text: string): bigint | undefined {
  if (!NUMBER.test(text)) return undefined;
  const [whole = '', part = ''] = text.split('.');
  return BigInt(`${whole}${part.padEnd(PLACES, '0')}`);
}
