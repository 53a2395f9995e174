/**
 * Limits of the flow of a document. Requests are checked when they are planned, and edits again in the step of the
 * document: two of them may have been planned at the same time.
 *
 * Source: docs/portal-values.md §21 (signers); the others are ours.
 */
import { MAX_ACTIONS } from '../../../contracts/portal/words.ts';
import type { FieldCondition } from '../conditions.ts';
import type { DocumentField } from '../field-values.ts';
import type { ActionPlan, Participant } from '../portal-types.ts';
import { conditionsOf, testsOf } from './flow-conditions.ts';

const MAX_SIGNERS = 30;
const MAX_FIELDS = 500;
const MAX_ATTACHMENTS = 20;
const MAX_TESTS = 1_000;

/** An action with what is counted of it. */
export interface CountedAction {
  readonly type: ActionPlan['type'];
  readonly user: Participant | null;
  readonly ruleUsers: readonly Participant[];
  readonly fields?: readonly DocumentField[];
  readonly takesPartWhen?: FieldCondition;
}

/** Returns what there is too much of, and how much there may be; undefined = within all limits. */
export function excessOf(
  actions: readonly CountedAction[],
): { readonly what: string; readonly most: number } | undefined {
  const signing = actions.filter(({ type }) => type === 'Signer' || type === 'SignRule');
  const signers = signing.reduce(
    (sum, { user, ruleUsers }) => sum + (user === null ? ruleUsers.length : 1),
    0,
  );
  const fields = fieldsOf(actions);
  const attachments = fields.filter(({ type }) => type === 'Attachment');
  return [
    { what: 'flow actions', count: actions.length, most: MAX_ACTIONS },
    { what: 'signing participants', count: signers, most: MAX_SIGNERS },
    {
      what: 'attachments that participants of one document add',
      count: attachments.length,
      most: MAX_ATTACHMENTS,
    },
    { what: 'fields of one document', count: fields.length, most: MAX_FIELDS },
    {
      what: 'tests in conditions of one document',
      count: [...fields.flatMap(conditionsOf), ...actions.map((one) => one.takesPartWhen)].flatMap(testsOf)
        .length,
      most: MAX_TESTS,
    },
  ].find(({ count, most }) => count > most);
}

/** True when no two fields have the same name. */
export function hasDistinctFieldNames(actions: readonly Pick<CountedAction, 'fields'>[]): boolean {
  const names = fieldsOf(actions).map(({ name }) => name);
  return new Set(names).size === names.length;
}

function fieldsOf(actions: readonly Pick<CountedAction, 'fields'>[]): readonly DocumentField[] {
  return actions.flatMap(({ fields = [] }) => fields);
}
