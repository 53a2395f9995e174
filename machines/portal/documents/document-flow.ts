/**
 * Rules of a flow: pending actions, completion of actions, effects of refusals. Pure functions of the actions.
 *
 * Actions of the lowest step that is not done are Pending, later ones Created; actions of one step have no order.
 *
 * Source: docs/portal-values.md §§6, 8, 15.
 */

import type { Millis } from '../../ids.ts';
import { holds } from '../conditions.ts';
import type { ActionPlan, FlowAction, Mark, Participant, RuleUser } from '../portal-types.ts';
import type { ActionEdit, FlowChange, Turn } from './document-context.ts';
import { type Acted, conditionFault, knownValues } from './flow-conditions.ts';
import { excessOf, hasDistinctFieldNames } from './flow-limits.ts';

/** Creates an action without any participation. */
export function initialAction(plan: ActionPlan | FlowAction, at: Millis, creationDate = at): FlowAction {
  const { fields } = plan;
  // By name: an action of the flow also has what its participants did.
  return {
    id: plan.id,
    type: plan.type,
    step: plan.step,
    user: plan.user,
    title: plan.title,
    allowElectronicSignature: plan.allowElectronicSignature,
    marks: plan.marks,
    ruleName: plan.ruleName,
    numberRequiredSignatures: plan.numberRequiredSignatures,
    allowRuleFlowToContinueIfRefused: plan.allowRuleFlowToContinueIfRefused,
    confirmations: plan.confirmations,
    disableEmailAuthentication: plan.disableEmailAuthentication,
    requiredCertificateType: plan.requiredCertificateType,
    requiredCertificateHolder: plan.requiredCertificateHolder,
    requireCompanyCertificate: plan.requireCompanyCertificate,
    requiredCompanyIdentifier: plan.requiredCompanyIdentifier,
    initialsMode: plan.initialsMode,
    xadesOptions: plan.xadesOptions,
    ...(plan.allowPassingOn === true && { allowPassingOn: true }),
    ...('passedOn' in plan && plan.passedOn !== undefined && { passedOn: plan.passedOn }),
    status: 'Created',
    ruleUsers: plan.ruleUsers.map(initialRuleUser),
    creationDate,
    updateDate: at,
    pendingDate: null,
    refusalReason: null,
    isElectronic: null,
    ...(plan.takesPartWhen !== undefined && { takesPartWhen: plan.takesPartWhen }),
    ...(fields !== undefined && { fields }),
  };
}

function initialRuleUser({ id, name, identifier, email, phone, language }: Participant): RuleUser {
  return {
    id,
    name,
    identifier,
    email,
    phone,
    ...(language && { language }),
    signatureDate: null,
    isElectronic: null,
    refusalDate: null,
    hasRefused: false,
    refusalReason: null,
  };
}

/** Sorts by step, and within a step by creation. */
export function inOrder(actions: readonly FlowAction[]): readonly FlowAction[] {
  return [...actions].sort((one, other) => one.step - other.step);
}

/**
 * Makes the actions of the lowest unfinished step Pending, and returns the changed ones. Actions whose conditions do not
 * hold are skipped; where nobody of a step takes part, the next one begins.
 */
export function actionsReleased(
  actions: readonly FlowAction[],
  at: Millis,
  made: Acted,
): {
  readonly actions: readonly FlowAction[];
  readonly pending: readonly FlowAction[];
  readonly skipped: readonly FlowAction[];
} {
  const known = actions.some(({ takesPartWhen }) => takesPartWhen)
    ? knownValues({ actions, made })
    : new Map();
  const pending: FlowAction[] = [];
  const skipped: FlowAction[] = [];
  let next = actions;
  for (let step = currentStep(next); step !== undefined; step = currentStep(next)) {
    const before = skipped.length;
    next = next.map((action) => {
      if (action.status !== 'Created' || action.step !== step) return action;
      const { takesPartWhen } = action;
      const isSkipped = takesPartWhen !== undefined && !holds(takesPartWhen, (name) => known.get(name));
      const now: FlowAction = isSkipped
        ? { ...action, status: 'Skipped', updateDate: at }
        : { ...action, status: 'Pending', pendingDate: at, updateDate: at };
      (isSkipped ? skipped : pending).push(now);
      return now;
    });
    if (skipped.length === before || currentStep(next) === step) break;
  }
  return { actions: next, pending, skipped };
}

/** Returns the lowest unfinished step; undefined when all is done. */
export function currentStep(actions: readonly FlowAction[]): number | undefined {
  const left = actions.filter(({ status }) => !isOver({ status })).map(({ step }) => step);
  return left.length === 0 ? undefined : Math.min(...left);
}

export function isDone(actions: readonly FlowAction[]): boolean {
  return actions.every(isOver);
}

/** True for an action that nobody has to do any more. */
function isOver({ status }: Pick<FlowAction, 'status'>): boolean {
  return status === 'Completed' || status === 'Skipped';
}

export function isSigning({ type }: Pick<FlowAction, 'type'>): boolean {
  return type === 'Signer' || type === 'SignRule';
}

export function isRule({ type }: { readonly type?: string | null | undefined }): boolean {
  return type === 'SignRule' || type === 'ApproverRule';
}

/** Lists all persons of an action. */
export function usersOf(action: Pick<FlowAction, 'user' | 'ruleUsers'>): readonly Participant[] {
  return action.user === null ? action.ruleUsers : [action.user];
}

/** Lists the persons of a Pending action who have not acted yet. */
export function requestedUsers(action: FlowAction): readonly Participant[] {
  if (action.user !== null) return [action.user];
  return action.ruleUsers.filter(({ signatureDate, hasRefused }) => signatureDate === null && !hasRefused);
}

/**
 * True when the persons of a rule are distinct: no two have the same identifier, or the same address unless their
 * identifiers prove that two people share it.
 */
export function namesEachOnce(people: readonly Named[]): boolean {
  return people.every((one, place) => people.slice(0, place).every((other) => !isSamePerson(one, other)));
}

type Named = Pick<Participant, 'email' | 'identifier'>;

function isSamePerson(one: Named, other: Named): boolean {
  if (one.identifier !== null && other.identifier !== null) return one.identifier === other.identifier;
  return one.email !== null && one.email.toLowerCase() === other.email?.toLowerCase();
}

/** Returns the action and the person of a turn, if it is that person's turn. */
export function turnOf(
  actions: readonly FlowAction[],
  { flowActionId, userId }: Turn,
): { readonly action: FlowAction; readonly user: Participant } | undefined {
  const action = actions.find(({ id }) => id === flowActionId);
  if (action === undefined || action.status !== 'Pending') return undefined;
  const user = requestedUsers(action).find(({ id }) => id === userId);
  return user && { action, user };
}

export function isOfTurn(one: Turn, { flowActionId, userId }: Turn): boolean {
  return one.flowActionId === flowActionId && one.userId === userId;
}

/** Number of further persons who have to act before the action is done. */
export function remainingSignatures({ user, ruleUsers, numberRequiredSignatures }: FlowAction): number {
  if (user !== null) return 1;
  return numberRequiredSignatures - ruleUsers.filter(({ signatureDate }) => signatureDate !== null).length;
}

/** @param isElectronic null for an approval */
export function withAction(
  actions: readonly FlowAction[],
  { flowActionId, userId }: Turn,
  isElectronic: boolean | null,
  at: Millis,
): readonly FlowAction[] {
  return actions.map((action): FlowAction => {
    if (action.id !== flowActionId) return action;
    if (action.user !== null) return { ...action, status: 'Completed', isElectronic, updateDate: at };
    const ruleUsers = action.ruleUsers.map((user) =>
      user.id === userId ? { ...user, signatureDate: at, isElectronic } : user,
    );
    const now: FlowAction = { ...action, ruleUsers, updateDate: at };
    if (remainingSignatures(now) > 0) return now;
    const kinds = ruleUsers.flatMap((user) => (user.signatureDate === null ? [] : [user.isElectronic]));
    return {
      ...now,
      status: 'Completed',
      isElectronic: kinds.includes(null) ? null : kinds.every((kind) => kind === true),
    };
  });
}

/** Effects of a participant's refusal; `stops`: it stops the whole flow. */
export function withRefusal(
  actions: readonly FlowAction[],
  { flowActionId, userId }: Turn,
  reason: string,
  at: Millis,
): { readonly actions: readonly FlowAction[]; readonly stops: boolean } {
  let stops = true;
  const next = actions.map((action): FlowAction => {
    if (action.id !== flowActionId) return action;
    const ruleUsers = action.ruleUsers.map((user) =>
      user.id === userId ? { ...user, hasRefused: true, refusalDate: at, refusalReason: reason } : user,
    );
    const now: FlowAction = { ...action, ruleUsers, updateDate: at };
    stops = action.user !== null || !action.allowRuleFlowToContinueIfRefused || !canStillComplete(now);
    return stops ? { ...now, status: 'Refused', refusalReason: reason } : now;
  });
  return { actions: next, stops };
}

function canStillComplete(action: FlowAction): boolean {
  return requestedUsers(action).length >= remainingSignatures(action);
}

/** True once a participant has acted. */
function hasProgress({ status, ruleUsers }: FlowAction): boolean {
  if (status !== 'Created' && status !== 'Pending') return true;
  return ruleUsers.some(({ signatureDate, hasRefused }) => signatureDate !== null || hasRefused);
}

export type EditFault = 'unknown' | 'invalid' | 'excess';

/**
 * Returns the actions after an edit, none of them released anew; or the fault of the edit. Completed participation
 * cannot be undone: an action that is done, or partly done, is neither edited nor deleted; nothing is added or moved
 * before the pending step; a rule names each person once; at least one person has to act; and limits are kept.
 */
export function withFlowEdits(
  actions: readonly FlowAction[],
  { added, edited: edits, deleted }: Pick<FlowChange, 'added' | 'edited' | 'deleted'>,
  /** Actions with an accepted or started signature. */
  busy: ReadonlySet<string>,
  at: Millis,
): readonly FlowAction[] | EditFault {
  const step = currentStep(actions) ?? 0;
  const gone = new Set<string>(deleted);
  const named = [...edits.map(({ flowActionId }) => flowActionId), ...deleted];
  for (const id of named) {
    const action = actions.find((one) => one.id === id);
    if (action === undefined) return 'unknown';
    if (hasProgress(action) || busy.has(id)) return 'invalid';
  }
  if (new Set(named).size !== named.length) return 'invalid';
  const next: FlowAction[] = [];
  for (const action of actions) {
    if (gone.has(action.id)) continue;
    const edit = edits.find(({ flowActionId }) => flowActionId === action.id);
    const changed = edit === undefined ? action : withEdit(action, edit, step, at);
    if (changed === undefined) return 'invalid';
    next.push(changed);
  }
  if (added.some((plan) => plan.step < step)) return 'invalid';
  next.push(...added.map((plan) => initialAction(plan, at)));
  if (next.length === 0 || isDone(next)) return 'invalid';
  if (!hasDistinctFieldNames(next) || conditionFault(next) !== undefined) return 'invalid';
  return excessOf(next) === undefined ? inOrder(next) : 'excess';
}

function withEdit(action: FlowAction, edit: ActionEdit, current: number, at: Millis): FlowAction | undefined {
  const {
    step = action.step,
    email,
    newUserId,
    ruleName,
    title,
    ruleEmails,
    marks,
    initialsMode,
    fields,
  } = edit;
  if (step < current) return undefined;
  if (email !== undefined && action.user === null) return undefined;
  const known = new Set<string>(action.ruleUsers.map(({ id }) => id));
  if (ruleEmails?.some(({ userId }) => !known.has(userId))) return undefined;
  const ruleUsers = action.ruleUsers.map((user) => {
    const change = ruleEmails?.find(({ userId }) => userId === user.id);
    return change === undefined ? user : readdressed(user, change.email, change.newUserId);
  });
  if (ruleEmails !== undefined && !namesEachOnce(ruleUsers)) return undefined;
  return {
    ...action,
    step,
    // An action that is moved after the pending step waits for its turn again.
    ...(step !== action.step && { status: 'Created' as const, pendingDate: null }),
    user: action.user && email !== undefined ? readdressed(action.user, email, newUserId) : action.user,
    ruleUsers,
    ...(ruleName !== undefined && { ruleName }),
    ...(title !== undefined && { title }),
    ...(marks !== undefined && { marks }),
    ...(initialsMode !== undefined && { initialsMode }),
    ...(fields !== undefined && { fields }),
    updateDate: at,
  };
}

/** Invalidates links and codes sent to an earlier address. */
export function readdressed<Person extends Participant>(
  user: Person,
  email: string,
  newId = user.id,
): Person {
  const isSame = user.email?.toLowerCase() === email.toLowerCase();
  return { ...user, email, id: isSame ? user.id : newId };
}

/** Returns the flow as at its creation, with new marks if given. */
export function withRestartedFlow(
  actions: readonly FlowAction[],
  marks: readonly { readonly flowActionId: string; readonly marks: readonly Mark[] }[],
  at: Millis,
): readonly FlowAction[] {
  return actions.map((action) => {
    const given = marks.find(({ flowActionId }) => flowActionId === action.id);
    return initialAction(given ? { ...action, marks: given.marks } : action, at, action.creationDate);
  });
}
