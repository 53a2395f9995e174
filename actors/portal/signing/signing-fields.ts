/** Values of the fields of a participant, as they come with a signature. */
import { checkFieldValues, type FieldValue } from '../../../machines/portal/field-values.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { FlowAction } from '../../../machines/portal/portal-types.ts';
import type { FieldValuesInput } from '../api/signing.ts';

/** Most wrong fields that a refusal names. */
const MAX_NAMED = 20;

/** Refusals: `InvalidFieldValue`, with what is wrong by name of field. */
export function valuesOf(
  { fields }: Pick<FlowAction, 'fields'>,
  given: FieldValuesInput | undefined,
): { readonly values?: readonly FieldValue[] } {
  const { values, faults } = checkFieldValues(fields ?? [], given ?? {});
  if (faults.size > 0) {
    const details = Object.fromEntries([...faults].slice(0, MAX_NAMED));
    throw new PortalRefusal('InvalidFieldValue', undefined, { details });
  }
  return fields === undefined ? {} : { values };
}
