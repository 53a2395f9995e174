/** Fields of participants as form fields of the PDF. */
import type { FieldValue } from '../../../machines/portal/field-values.ts';
import type { ActionPlan } from '../../../machines/portal/portal-types.ts';
import type { SignatureContent } from '../../pool/portal-tasks.ts';

/** Lists the fields of all participants. */
export function formContent(
  { actions }: { readonly actions: readonly Pick<ActionPlan, 'fields'>[] },
  values: readonly FieldValue[],
): SignatureContent['fields'] {
  const byField = new Map(values.map(({ fieldId, value }) => [fieldId, value]));
  return actions.flatMap(({ fields = [] }) =>
    fields.flatMap(({ id, type, label, place, formField, presetValue, isReadOnly }) =>
      // An attachment without a place.
      place === null && formField === null
        ? []
        : [
            {
              name: formField ?? `Field_${id}`,
              kind: type === 'Checkbox' ? 'checkbox' : 'text',
              label,
              place,
              value: byField.get(id) ?? (isReadOnly === true ? (presetValue ?? null) : null),
            } as const,
          ],
    ),
  );
}

/**
 * The answers that fields of the PDF's own form must take: a box is ticked, a choice is any of its options, and what a
 * participant types is any text, which buttons do not take. Without a trial, a participant's signature would be refused
 * for a form that cannot hold what was asked.
 */
export function answersToTry(actions: readonly Pick<ActionPlan, 'fields'>[]): SignatureContent['fields'] {
  return actions.flatMap(({ fields = [] }) =>
    fields.flatMap(({ type, label, formField, options, isReadOnly }) => {
      if (formField === null) return [];
      const typed = isReadOnly === true ? [] : ['any text'];
      const answers = type === 'Checkbox' ? ['true'] : type === 'Choice' ? options : typed;
      const kind = type === 'Checkbox' ? 'checkbox' : 'text';
      return answers.map((value) => ({ name: formField, kind, label, place: null, value }) as const);
    }),
  );
}
