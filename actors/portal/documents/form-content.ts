/** Fields of participants as form fields of the PDF. */
import { hiddenFields } from '../../../machines/portal/documents/flow-conditions.ts';
import type { ActionPlan, CompletedAction } from '../../../machines/portal/portal-types.ts';
import type { SignatureContent } from '../../pool/portal-tasks.ts';

/**
 * Lists the fields of all participants, without those that are hidden from participants who have acted. A field that may
 * be hidden yet has neither label nor value.
 */
export function formContent(
  { actions }: { readonly actions: readonly Pick<ActionPlan, 'id' | 'fields'>[] },
  made: readonly Pick<CompletedAction, 'flowActionId' | 'values'>[],
): SignatureContent['fields'] {
  const byField = new Map(
    made.flatMap(({ values = [] }) => values.map(({ fieldId, value }) => [fieldId, value] as const)),
  );
  return actions.flatMap((action) => {
    const { fields = [] } = action;
    const acted = made.find(({ flowActionId }) => flowActionId === action.id);
    const hidden = acted === undefined ? [] : hiddenFields({ actions, made }, action, acted.values);
    return fields.flatMap((field) => {
      const { id, type, place, formField, presetValue, isReadOnly, shownWhen } = field;
      // An attachment without a place. The PDF's own form keeps its fields.
      if (formField === null && (place === null || hidden.includes(field))) return [];
      const isOpen = shownWhen !== undefined && (acted === undefined || hidden.includes(field));
      const fixed = isReadOnly === true && !isOpen ? presetValue : undefined;
      return [
        {
          name: formField ?? `Field_${id}`,
          kind: type === 'Checkbox' ? 'checkbox' : 'text',
          label: isOpen ? '' : field.label,
          place,
          value: byField.get(id) ?? fixed ?? null,
        } as const,
      ];
    });
  });
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
