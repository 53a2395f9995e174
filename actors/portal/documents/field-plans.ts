/** From what a caller sends about fields to fields that are checked and complete. */

import type { Ids } from '@sealwright/runtime';
import { plainLine, visibleText } from '../../../contracts/plain-text.ts';
import type { NewField, NewFlowAction, NewMark } from '../../../contracts/portal/flow.ts';
import type { FieldType } from '../../../contracts/portal/words.ts';
import type { FieldCondition } from '../../../machines/portal/conditions.ts';
import { conditionFault } from '../../../machines/portal/documents/flow-conditions.ts';
import {
  type CountedAction,
  excessOf,
  hasDistinctFieldNames,
} from '../../../machines/portal/documents/flow-limits.ts';
import {
  checkFieldValues,
  type DocumentField,
  type FieldPlace,
  MAX_INITIALS_LENGTH,
  MAX_VALUE_LENGTH,
} from '../../../machines/portal/field-values.ts';
import { invalidAction, PortalRefusal, tooMany } from '../../../machines/portal/portal-refusals.ts';
import { type MarkedFile, planMarks } from './mark-plans.ts';

/** Fields of one action; ours. */
const MAX_FIELDS = 100;
const MAX_NAME_LENGTH = 100;
const MAX_LABEL_LENGTH = 200;
const MAX_OPTIONS = 100;
const DEFAULT_LENGTH = 500;

/** Refusals: `InvalidFlowAction`, `InvalidFieldValue`, `LimitExceeded`. */
export function planFields(
  inputs: readonly NewField[],
  files: readonly MarkedFile[],
  { ids }: { readonly ids: Pick<Ids, 'uuid'> },
): readonly DocumentField[] {
  if (inputs.length > MAX_FIELDS) throw tooMany('fields of one participant', MAX_FIELDS);
  return inputs.flatMap((input): readonly DocumentField[] => {
    const name = line(input.name, 'name', MAX_NAME_LENGTH);
    if (name === '') throw invalidAction('A field needs a name.');
    const type = input.type ?? 'Text';
    const formField = line(input.formField ?? '', 'formField', MAX_LABEL_LENGTH) || null;
    const options = (input.options ?? []).map((option) => line(option, 'option', MAX_LABEL_LENGTH));
    if (options.length > MAX_OPTIONS) throw tooMany('options of a field', MAX_OPTIONS);
    if ((type === 'Choice') !== options.length > 0 || options.includes(''))
      throw invalidAction(`The field ${name} needs options if its type is Choice, and only then.`);
    const { minimum = null, maximum = null } = input;
    if (minimum !== null && maximum !== null && minimum > maximum)
      throw invalidAction(`The field ${name} has a minimum above its maximum.`);
    if (type === 'Attachment' && (formField !== null || input.value != null || input.readOnly === true))
      throw invalidAction(`The attachment ${name} has no formField, value or readOnly.`);
    const place = formField === null && !isUnshown(input) ? placeOf(input, name, files) : null;
    // It belongs to another document of the same call.
    if (place === undefined) return [];
    const field: DocumentField = {
      id: ids.uuid(),
      name,
      type,
      formField,
      minimum,
      maximum,
      options,
      place,
      label: line(input.label ?? '', 'label', MAX_LABEL_LENGTH) || name,
      isRequired: input.required === true,
      maxLength: lengthOf(input, type),
      format: input.format ?? null,
    };
    return [{ ...field, ...presetOf(field, input), ...conditionsOf(field, input) }];
  });
}

function conditionsOf(
  { name }: DocumentField,
  { shownWhen, requiredWhen }: NewField,
): Pick<DocumentField, 'shownWhen' | 'requiredWhen'> {
  const shown = shownWhen && planCondition(shownWhen, `the field ${name}`);
  const required = requiredWhen && planCondition(requiredWhen, `the field ${name}`);
  return { ...(shown && { shownWhen: shown }), ...(required && { requiredWhen: required }) };
}

/** Refusals: `InvalidFlowAction`. @param owner that has it, for people */
export function planCondition(
  { all, any }: NonNullable<NewField['shownWhen']>,
  owner: string,
): FieldCondition {
  const plan = (tests: typeof all) =>
    tests?.map(({ field, operator, value }) => ({
      field: plainLine(field),
      operator,
      ...(value != null && { value: visibleText(String(value)).trim() }),
    })) ?? [];
  const condition = { all: plan(all), any: plan(any) };
  if (condition.all.length + condition.any.length === 0)
    throw invalidAction(`The condition of ${owner} needs tests in all or any.`);
  return {
    ...(condition.all.length > 0 && { all: condition.all }),
    ...(condition.any.length > 0 && { any: condition.any }),
  };
}

/** Asserts that conditions name fields that are filled in before, in ways their types have. Refusals: `InvalidFlowAction`. */
export function assertConditions(actions: Parameters<typeof conditionFault>[0]): void {
  const fault = conditionFault(actions);
  if (fault !== undefined) throw invalidAction(fault);
}

/** True for an attachment whose name no page shows. */
function isUnshown({ type, topLeftX, topLeftY, width, height }: NewField): boolean {
  return type === 'Attachment' && [topLeftX, topLeftY, width, height].every((one) => one == null);
}

/** The value of the sender, checked like one of the participant. Refusals: `InvalidFieldValue`. */
function presetOf(
  field: DocumentField,
  { value, readOnly }: NewField,
): Pick<DocumentField, 'presetValue' | 'isReadOnly'> {
  const isReadOnly = readOnly === true;
  const { name } = field;
  if (value !== null && value !== undefined && value !== '') {
    const { values, faults } = checkFieldValues([{ ...field, isRequired: false }], { [name]: value });
    const fault = faults.get(name);
    if (fault !== undefined) throw invalidValue(name, fault);
    const presetValue = values[0]?.value;
    if (presetValue !== undefined) return { presetValue, ...(isReadOnly && { isReadOnly }) };
  }
  // Nothing was given, or a text of spaces only.
  if (isReadOnly) throw invalidValue(name, 'A read-only field needs a value.');
  return {};
}

function invalidValue(name: string, fault: string): PortalRefusal {
  return new PortalRefusal('InvalidFieldValue', undefined, { details: { [name]: fault } });
}

/**
 * Asserts that names of fields are unique, and that the flow is within its limits, in the order in which the document
 * checks them. Refusals: `InvalidFlowAction`, `LimitExceeded`.
 */
export function assertFlowLimits(actions: readonly CountedAction[]): void {
  if (!hasDistinctFieldNames(actions)) throw invalidAction('The fields of a document have different names.');
  const excess = excessOf(actions);
  if (excess !== undefined) throw tooMany(excess.what, excess.most);
}

function lengthOf({ maxLength }: NewField, type: FieldType): number {
  const most = type === 'Initials' ? MAX_INITIALS_LENGTH : MAX_VALUE_LENGTH;
  const length = maxLength ?? Math.min(most, DEFAULT_LENGTH);
  if (!Number.isSafeInteger(length) || length < 1 || length > most)
    throw invalidAction(`The maxLength of a field is between 1 and ${most}.`);
  return length;
}

/** Asserts that fields name files of the call only. Refusals: `InvalidFlowAction`. */
export function assertFieldFiles(
  actions: readonly Pick<NewFlowAction, 'fields'>[],
  files: readonly { readonly id: string }[],
): void {
  const known = new Set(files.map(({ id }) => id.toLowerCase()));
  for (const { fields } of actions) {
    for (const { name, uploadId } of fields ?? []) {
      if (uploadId && !known.has(uploadId.toLowerCase()))
        throw invalidAction(`The field ${name} belongs to a file that is not in this call.`);
    }
  }
}

/** Undefined: on none of the files. Refusals: `InvalidFlowAction`. */
function placeOf(input: NewField, name: string, files: readonly MarkedFile[]): FieldPlace | undefined {
  const { topLeftX, topLeftY, width, height, pageNumber, uploadId } = input;
  if (topLeftX == null || topLeftY == null || width == null || height == null)
    throw invalidAction(
      `The field ${name} needs a place (topLeftX, topLeftY, width, height) or a formField.`,
    );
  const mark: NewMark = { topLeftX, topLeftY, width, height, pageNumber };
  const given = uploadId ? { ...mark, uploadId } : mark;
  // Calls that only check have no files.
  const [planned] = files.length === 0 ? planMarks([mark], UNKNOWN_FILE) : planMarks([given], files);
  if (planned === undefined) return undefined;
  return {
    topLeftX: planned.topLeftX,
    topLeftY: planned.topLeftY,
    width: planned.width,
    height: planned.height,
    pageNumber: planned.pageNumber,
  };
}

const UNKNOWN_FILE: readonly MarkedFile[] = [
  { uploadId: '', pagesBefore: 0, pages: undefined, lastPage: null },
];

function line(input: string, what: string, most: number): string {
  const text = plainLine(input);
  if (text.length > most) throw invalidAction(`The ${what} of a field has more than ${most} characters.`);
  return text;
}

/** Most names in a refusal. */
const MAX_NAMED = 20;

/** Refusals: `InvalidFieldValue` for values of fields that there are not. */
export function assertFieldsExist(
  values: Readonly<Record<string, unknown>>,
  fields: readonly { readonly name: string }[],
): void {
  const names = new Set(fields.map(({ name }) => name.trim()));
  const unknown = Object.keys(values).filter((name) => !names.has(name));
  if (unknown.length === 0) return;
  throw new PortalRefusal('InvalidFieldValue', undefined, {
    details: Object.fromEntries(
      unknown.slice(0, MAX_NAMED).map((name) => [name.slice(0, 100), 'No field has this name.']),
    ),
  });
}
