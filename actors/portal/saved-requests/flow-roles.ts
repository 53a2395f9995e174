/**
 * Saved flows and templates used for new documents: people take the roles of their actions, and fields get values.
 *
 * Source: docs/decisions/0120-templates.md.
 */
import type { NewField, NewFieldValues, NewFlowAction, NewRole } from '../../../contracts/portal/flow.ts';
import { isRule } from '../../../machines/portal/documents/document-flow.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { foldCase } from '../../shared/tables/texts.ts';
import type { CreateDocuments } from '../api/documents.ts';
import { assertFieldsExist } from '../documents/field-plans.ts';

/** Most names in a refusal. */
const MAX_NAMED = 20;

/**
 * Gives each action the person of its role, and actions of an ordered flow without a step their position.
 * Refusals: `InvalidFlowAction` for a role that is named twice, that no action has, or that nobody takes, and for actions
 * of rules.
 */
export function withRoles(
  actions: readonly NewFlowAction[],
  participants: readonly NewRole[],
  isOrdered: boolean,
): readonly NewFlowAction[] {
  const users = new Map(participants.map(({ role, user }) => [roleKey(role), user]));
  if (users.size < participants.length) throw invalid('A role is named twice.');
  const used = new Set<string>();
  const next = actions.map((action, index): NewFlowAction => {
    const role = roleKey(action.title ?? '');
    const user = users.get(role);
    const step = isOrdered ? (action.step ?? index) : action.step;
    if (user === undefined) return { ...action, step };
    if (isRule(action)) throw invalid('The persons of a rule stand in the saved flow.');
    used.add(role);
    return { ...action, step, user };
  });
  const unknown = participants.filter(({ role }) => !used.has(roleKey(role)));
  if (unknown.length > 0)
    throw invalid(
      'No flow action has the title of one of the roles.',
      unknown.map(({ role }) => [role, 'No flow action has this title.']),
    );
  const missing = new Set(next.flatMap((action) => (isOpen(action) ? [action.title?.trim() ?? ''] : [])));
  if (missing.size > 0)
    throw invalid(
      'A role has no participant.',
      [...missing].map((role) => [role, 'This role needs a participant.']),
    );
  return next;
}

/** The form in which roles are compared. */
export function roleKey(role: string): string {
  return foldCase(role.trim());
}

/** True for an action without a person. */
function isOpen(action: NewFlowAction): boolean {
  return !action.user && !isRule(action) && (action.title?.trim() ?? '') !== '';
}

/**
 * Gives fields the values of the sender; with `textTags`, those of no listed field are for fields that tags name.
 * Refusals: `InvalidFieldValue` for a field that no action has.
 */
export function withFieldValues<Request extends Pick<CreateDocuments, 'flowActions' | 'textTags'>>(
  request: Request,
  values: NewFieldValues,
): Request & Pick<CreateDocuments, 'tagValues'> {
  const listed = request.flowActions.flatMap(({ fields }) => fields ?? []);
  if (request.textTags !== true) assertFieldsExist(values, listed);
  const flowActions = request.flowActions.map((action) =>
    action.fields
      ? { ...action, fields: action.fields.map((field) => ({ ...field, ...presetOf(field, values) })) }
      : action,
  );
  return { ...request, flowActions, ...(request.textTags === true && { tagValues: values }) };
}

function presetOf({ name }: NewField, values: NewFieldValues): Pick<NewField, 'value'> {
  return Object.hasOwn(values, name.trim()) ? { value: values[name.trim()] } : {};
}

function detailsOf(named: readonly (readonly [string, string])[]): Readonly<Record<string, string>> {
  return Object.fromEntries(named.slice(0, MAX_NAMED).map(([name, fault]) => [name.slice(0, 100), fault]));
}

function invalid(message: string, named?: readonly (readonly [string, string])[]): PortalRefusal {
  return new PortalRefusal('InvalidFlowAction', message, named && { details: detailsOf(named) });
}
