/** From what a caller sends to change a flow to a change that is checked and complete. Source: docs/portal-values.md §15. */

import type { FlowEdit } from '../../../contracts/portal/document-changes.ts';
import { MAX_OBSERVERS } from '../../../contracts/portal/words.ts';
import type { FlowActionId, UserId } from '../../../machines/ids.ts';
import type { DocumentContext, FlowChange } from '../../../machines/portal/documents/document-context.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ActionPlan, FlowAction } from '../../../machines/portal/portal-types.ts';
import {
  type PlanDependencies,
  planActions,
  planEmail,
  planFieldsOf,
  planObservers,
  planStep,
  planText,
} from './document-plans.ts';
import { assertConditions, assertFieldFiles, assertFlowLimits } from './field-plans.ts';
import { assertInitialsFit, planMarks } from './mark-plans.ts';

/**
 * Refusals: `InvalidFlowAction`, `InvalidIdentifier`, `LimitExceeded`; the document itself refuses edits that its flow
 * forbids.
 */
export function planFlowEdit(
  {
    file,
    parts,
    actions,
    observers,
    xmlNamespaces,
  }: Pick<DocumentContext, 'file' | 'parts' | 'actions' | 'observers' | 'xmlNamespaces'>,
  edit: FlowEdit,
  plans: PlanDependencies,
  /** See `MarkedFile`. */
  lastPage: number | null,
): FlowChange {
  const [{ uploadId } = file] = parts;
  const whole = [{ uploadId: uploadId ?? '', pagesBefore: 0, pages: undefined, lastPage }];
  const added = edit.addedFlowActions ?? [];
  assertFieldFiles(
    [...added, ...(edit.editedFlowActions ?? [])],
    uploadId === undefined ? [] : [{ id: uploadId ?? '' }],
  );
  const planned: FlowChange = {
    added: added.length === 0 ? [] : planActions(added, whole, plans, xmlNamespaces),
    edited: (edit.editedFlowActions ?? []).map((one) => ({
      flowActionId: one.flowActionId.toLowerCase() as FlowActionId,
      ...(typeof one.step === 'number' && { step: planStep(one.step) }),
      ...(one.participantEmailAddress?.trim() && {
        email: planEmail(one.participantEmailAddress),
        newUserId: plans.ids.uuid() as UserId,
      }),
      ...(typeof one.ruleName === 'string' && { ruleName: planText(one.ruleName, 'ruleName') }),
      ...(typeof one.title === 'string' && { title: planText(one.title, 'title') }),
      ...(one.signRuleUsers && {
        ruleEmails: one.signRuleUsers.map(({ userId, emailAddress }) => ({
          userId: userId.toLowerCase() as UserId,
          email: planEmail(emailAddress),
          newUserId: plans.ids.uuid() as UserId,
        })),
      }),
      ...(one.prePositionedMarks && { marks: planMarks(one.prePositionedMarks, whole) }),
      ...(one.signatureInitialsMode && { initialsMode: one.signatureInitialsMode }),
      ...(one.fields && {
        fields: planFieldsOf(
          actions.find(({ id }) => id === one.flowActionId.toLowerCase()),
          one.fields,
          whole,
          plans,
        ),
      }),
    })),
    deleted: (edit.deletedFlowActionIds ?? []).map((one) => one.toLowerCase() as FlowActionId),
    addedObservers: planObservers(edit.addedObservers ?? [], plans),
    editedObservers: (edit.editedObservers ?? []).map(({ observerId, emailAddress }) => ({
      id: observerId.toLowerCase(),
      email: planEmail(emailAddress),
      newUserId: plans.ids.uuid() as UserId,
    })),
    deletedObservers: (edit.deletedObserverIds ?? []).map((one) => one.toLowerCase()),
  };
  const { now } = actionsAfter(actions, planned);
  for (const { flowActionId, initialsMode, marks } of planned.edited) {
    const action = actions.find(({ id }) => id === flowActionId);
    assertInitialsFit(initialsMode, marks ?? action?.marks ?? [], whole);
  }
  assertFlowLimits(now);
  assertConditions(now);
  const staying = observers.filter(({ id }) => !planned.deletedObservers.includes(id));
  if (staying.length + planned.addedObservers.length > MAX_OBSERVERS)
    throw new PortalRefusal('LimitExceeded', `There may be at most ${MAX_OBSERVERS} observers.`);
  return planned;
}

/** Returns the actions of the flow after an edit, and those of them that it adds or gives fields. */
export function actionsAfter(
  actions: readonly FlowAction[],
  { added, edited, deleted }: Pick<FlowChange, 'added' | 'edited' | 'deleted'>,
): {
  readonly now: readonly (FlowAction | ActionPlan)[];
  readonly added: readonly (FlowAction | ActionPlan)[];
} {
  const edits = new Map(edited.map((edit) => [edit.flowActionId, edit]));
  const staying = actions.flatMap((action) => {
    if (deleted.includes(action.id)) return [];
    const { fields = action.fields, step = action.step } = edits.get(action.id) ?? {};
    return [fields === undefined ? { ...action, step } : { ...action, step, fields }];
  });
  return {
    now: [...staying, ...added],
    added: [...staying.filter(({ id }) => edits.get(id)?.fields !== undefined), ...added],
  };
}
