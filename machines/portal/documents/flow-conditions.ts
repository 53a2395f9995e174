/**
 * Conditions of the fields of a flow: which ones a flow can have, and which fields they hide from those who have acted.
 *
 * Source: docs/decisions/0630-conditions.md.
 */

import {
  type FieldCondition,
  type KnownValues,
  OPERATORS_OF,
  shownFields,
  takesValue,
} from '../conditions.ts';
import { type DocumentField, type FieldValue, valueFault } from '../field-values.ts';

interface FieldsOfAction {
  readonly step: number;
  readonly takesPartWhen?: FieldCondition;
  readonly fields?: readonly DocumentField[];
}

/** Acts of participants. */
export type Acted = readonly { readonly values?: readonly FieldValue[] | undefined }[];

interface ActedDocument {
  readonly actions: readonly Pick<FieldsOfAction, 'fields'>[];
  readonly made: Acted;
}

/** Lists the conditions of fields. */
export function conditionsOf({
  shownWhen,
  requiredWhen,
}: Pick<DocumentField, 'shownWhen' | 'requiredWhen'>): readonly FieldCondition[] {
  return [shownWhen, requiredWhen].filter((one) => one !== undefined);
}

export function testsOf(condition: FieldCondition | undefined): NonNullable<FieldCondition['all']> {
  return [...(condition?.all ?? []), ...(condition?.any ?? [])];
}

type Places = ReadonlyMap<string, { readonly action: FieldsOfAction; readonly field: DocumentField }>;

/** Returns the first fault of the conditions of a flow; undefined = none. */
export function conditionFault(actions: readonly FieldsOfAction[]): string | undefined {
  const places: Places = new Map(
    actions.flatMap((action) => (action.fields ?? []).map((field) => [field.name, { action, field }])),
  );
  for (const action of actions) {
    const { step, fields = [], takesPartWhen } = action;
    for (const test of testsOf(takesPartWhen)) {
      // Before the action begins, nothing of it is filled in.
      const fault = testFault(test, { step }, places);
      if (fault !== undefined) return `The condition of an action of step ${step} ${fault}`;
    }
    for (const field of fields) {
      for (const test of conditionsOf(field).flatMap(testsOf)) {
        const fault = testFault(test, action, places);
        if (fault !== undefined) return `The condition of the field ${field.name} ${fault}`;
      }
    }
    const cycle = cycleIn(fields);
    if (cycle !== undefined)
      return `The fields ${cycle.join(', ')} are each shown by a condition on the next, without end.`;
  }
  return undefined;
}

/** Returns what is wrong with a test in a condition of an action. */
function testFault(
  { field: name, operator, value }: NonNullable<FieldCondition['all']>[number],
  action: FieldsOfAction,
  places: Places,
): string | undefined {
  const tested = places.get(name);
  if (tested === undefined) return `names ${name}, which is no field of the document.`;
  if (tested.action !== action && tested.action.step >= action.step)
    return `names ${name}, which another participant fills in at the same time or later.`;
  const { type } = tested.field;
  const operators = OPERATORS_OF[type];
  if (!operators.includes(operator))
    return `cannot have ${operator} for ${name}: the type ${type} has ${operators.join(', ')}.`;
  if (!takesValue(operator))
    return value === undefined ? undefined : `has ${operator} for ${name}, which compares with no value.`;
  if (value === undefined || value === '') return `has ${operator} for ${name} without a value.`;
  const fault = valueFault({ ...tested.field, isRequired: false }, value);
  return fault === undefined ? undefined : `has no good value for ${name}: ${fault}`;
}

/** Returns names of fields, each of which is shown by a condition on the next; the first is also the last. */
function cycleIn(fields: readonly DocumentField[]): readonly string[] | undefined {
  const own = new Map(fields.map((field) => [field.name, field]));
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): readonly string[] | undefined => {
    const field = own.get(name);
    if (field === undefined || done.has(name)) return undefined;
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    for (const test of testsOf(field.shownWhen)) {
      const found = visit(test.field, [...path, name]);
      if (found !== undefined) return found;
    }
    done.add(name);
    return undefined;
  };
  for (const { name } of fields) {
    const found = visit(name, []);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Values of all who have acted, by name of field. */
export function knownValues({ actions, made }: ActedDocument): KnownValues {
  const values = new Map(
    made.flatMap((one) => (one.values ?? []).map(({ fieldId, value }) => [fieldId, value] as const)),
  );
  return new Map(
    actions.flatMap(({ fields = [] }) =>
      fields.map(({ id, name, type }) => [name, { type, value: values.get(id) ?? '' }] as const),
    ),
  );
}

/** Fields that are shown to the participant of an action who fills in these values. See `shownFields`. */
export function shownIn(
  document: ActedDocument,
  { fields = [] }: Pick<FieldsOfAction, 'fields'>,
  values: readonly FieldValue[] = [],
): ReturnType<typeof shownFields> {
  const filled = new Map(values.map(({ fieldId, value }) => [fieldId, value]));
  const known: KnownValues = fields.some((field) => conditionsOf(field).length > 0)
    ? knownValues(document)
    : new Map();
  return shownFields(fields, ({ id }) => filled.get(id) ?? '', known);
}

/** Fields that their conditions hid from a participant who has acted. */
export function hiddenFields(
  document: ActedDocument,
  action: Pick<FieldsOfAction, 'fields'> | undefined,
  values: readonly FieldValue[] | undefined,
): readonly DocumentField[] {
  if (action?.fields?.some(({ shownWhen }) => shownWhen !== undefined) !== true) return [];
  const shown = shownIn(document, action, values);
  return action.fields.filter(({ name }) => !shown.has(name));
}
