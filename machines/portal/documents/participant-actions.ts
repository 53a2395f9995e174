/**
 * Decisions on participants' messages; undefined = not accepted now, nothing changes.
 *
 * Source: docs/portal-values.md §§8-11, 14, 15, 19.
 */

import type { Millis } from '../../ids.ts';
import { conditionText } from '../conditions.ts';
import type { CompletedAction, Evidence, FilledValue, FlowAction } from '../portal-types.ts';
import { actingFault, actorOf, deputyMails, representedName } from './deputy-acts.ts';
import type { AcceptedSignature, DocumentContext, EarlySignature, Turn } from './document-context.ts';
import {
  announceEffect,
  applySignatureEffect,
  concludeEffect,
  type Decision,
  type DecisionFunction,
  type DocumentMessageOf,
  notifyEffect,
  turnBy,
} from './document-decision.ts';
import {
  actionsReleased,
  isDone,
  isOfTurn,
  isSigning,
  remainingSignatures,
  turnOf,
  usersOf,
  withAction,
  withRefusal,
} from './document-flow.ts';
import {
  activeMails,
  deduplicated,
  eventPersonOf,
  observerMails,
  turnMails,
  withEvent,
} from './document-notifications.ts';
import { shownIn } from './flow-conditions.ts';

/** Returns the turn unless an accepted signature already fills it. */
export function pendingTurnOf(
  document: DocumentContext,
  turn: Turn & { readonly version?: number; readonly actionDate?: Millis },
): ReturnType<typeof turnOf> {
  // The signed file must be the file that the participant has seen.
  if (turn.version !== undefined && turn.version !== document.version) return undefined;
  const found = turnOf(document.actions, turn);
  if (found === undefined) return undefined;
  // Nor may title, fields or places have changed since.
  if (turn.actionDate !== undefined && turn.actionDate !== found.action.updateDate) return undefined;
  const promised = document.accepted.filter(({ flowActionId }) => flowActionId === turn.flowActionId);
  if (promised.some(({ userId }) => userId === turn.userId)) return undefined;
  return promised.length < remainingSignatures(found.action) ? found : undefined;
}

/** Signing time of a signature made at `at`: whole seconds, the precision of PDF and CMS, rounded down. */
export function signingTimeAt(at: Millis): Millis {
  return Math.floor(at / 1000) * 1000;
}

/** Identifies a signature in its file, independently of its signing time. */
export function fieldNameFor({ flowActionId }: Turn, id: string): string {
  return `Signature_${flowActionId.slice(0, 8)}_${id.slice(0, 8)}`;
}

export const sign: DecisionFunction<'SIGN'> = (document, message) => {
  const { at, id, flowActionId, userId, evidence, evidenceSha256, marks, image, isQuiet, values } = message;
  const turn = pendingTurnOf(document, message);
  if (turn === undefined || !isSigning(turn.action) || !turn.action.allowElectronicSignature)
    return undefined;
  if (!fitsFields(document, turn.action, values) || isByWrongDeputy(document, message)) return undefined;
  const { made } = message;
  const signingTime = made?.signingTime ?? signingTimeAt(at);
  const signature: AcceptedSignature = {
    id,
    flowActionId,
    userId,
    evidence,
    evidenceSha256,
    marks,
    image,
    isQuiet,
    signingTime,
    kind: 'electronic',
    acceptedAt: at,
    fieldName: fieldNameFor(message, id),
    certificate: null,
    state: null,
    value: null,
    ...(values !== undefined && { values }),
  };
  const accepted = [...document.accepted, signature];
  const updated = { ...withAttachments(document, values), accepted, updateDate: at };
  const { context, effects } = applySignatureEffect(updated);
  const done = { context, note: noteOf(turn, evidence, 'signed'), doneBy: doneByOf(turn, evidence) };
  return withMade(document, message, { ...done, effects });
};

/** Lets the same step add a signature that is made; undefined when the document does not take it. */
export function withMade(
  document: DocumentContext,
  { at, id, made }: Pick<DocumentMessageOf<'SIGN' | 'COMPLETE'>, 'at' | 'id' | 'made'>,
  accepted: Decision,
): Decision | undefined {
  if (made === undefined) return accepted;
  // Others have changed the document since, or their signatures come first.
  if (!isMadeFor(document, made) || accepted.context.applying !== id) return undefined;
  const next = { type: 'SIGNATURE_ADDED', at, id, ...made.result } as const;
  return { ...accepted, effects: [], noteState: 'Pending', next };
}

function isMadeFor({ updateDate, current, signatures }: DocumentContext, { base }: EarlySignature): boolean {
  return (
    base.updateDate === updateDate &&
    base.current.sha256 === current.sha256 &&
    base.signatures?.sha256 === signatures?.sha256
  );
}

/** False for values that were checked against other fields: an edit of the flow may replace them meanwhile. */
export function fitsFields(
  document: Pick<DocumentContext, 'actions' | 'made'>,
  { fields = [] }: Pick<FlowAction, 'fields'>,
  values: readonly FilledValue[] = [],
): boolean {
  const shown = shownIn(document, { fields }, values);
  const names = new Map(fields.map(({ id, name }) => [id, name]));
  const filled = new Set(values.map(({ fieldId }) => fieldId));
  return (
    values.every(({ fieldId }) => shown.has(names.get(fieldId) ?? '')) &&
    fields.every(({ id, name }) => shown.get(name)?.isRequired !== true || filled.has(id))
  );
}

/** Adds the files of a signature to the attachments. */
export function withAttachments(
  document: DocumentContext,
  values: readonly FilledValue[] = [],
): DocumentContext {
  const added = values.flatMap(({ attachment }) => (attachment === undefined ? [] : [attachment]));
  return added.length === 0 ? document : { ...document, attachments: [...document.attachments, ...added] };
}

/** Removes the files of a signature that was not made. */
export function withoutAttachments(
  document: DocumentContext,
  values: readonly FilledValue[] = [],
): DocumentContext {
  const gone = new Set(values.flatMap(({ attachment }) => attachment?.id ?? []));
  if (gone.size === 0) return document;
  return { ...document, attachments: document.attachments.filter(({ id }) => !gone.has(id)) };
}

export function nameOf({ user }: NonNullable<ReturnType<typeof turnOf>>): string {
  return user.name ?? user.email ?? user.identifier ?? 'A participant';
}

function noteOf(
  turn: NonNullable<ReturnType<typeof turnOf>>,
  evidence: Evidence | null,
  done: 'signed' | 'approved',
): string {
  const { deputy } = evidence ?? {};
  return deputy === undefined
    ? `${nameOf(turn)} ${done}.`
    : `${deputy.name} ${done} as deputy of ${representedName(deputy)}: ${deputy.reason}`;
}

function doneByOf({ user }: NonNullable<ReturnType<typeof turnOf>>, evidence: Evidence | null) {
  return turnBy(actorOf(user, evidence), evidence);
}

/** The flow may have changed since the deputy was judged, and the time goes on. */
function isByWrongDeputy(
  document: DocumentContext,
  { at, evidence, ...turn }: Turn & { readonly at: Millis; readonly evidence: Evidence | null },
): boolean {
  const { deputy } = evidence ?? {};
  return deputy !== undefined && actingFault(document, turn, deputy, { at }) !== undefined;
}

export const approve: DecisionFunction<'APPROVE'> = (document, message) => {
  const { at, flowActionId, userId, evidence, evidenceSha256, isQuiet } = message;
  const turn = pendingTurnOf(document, message);
  if (turn === undefined || isSigning(turn.action) || isByWrongDeputy(document, message)) return undefined;
  const made: CompletedAction = {
    flowActionId,
    userId,
    at,
    evidence,
    evidenceSha256,
    kind: 'approval',
    signingTime: null,
    marks: [],
    image: null,
    certificate: null,
    fieldName: null,
  };
  const done = turnCompleted({ ...document, updateDate: at }, message, {
    made,
    isElectronic: null,
    isQuiet,
    goesOn: true,
  });
  return { ...done, note: noteOf(turn, evidence, 'approved'), doneBy: doneByOf(turn, evidence) };
};

/** Says who does not take part, and why. */
export function skippedNote({ user, ruleName, title, takesPartWhen }: FlowAction): string {
  const who = user?.name ?? ruleName ?? title ?? user?.email ?? 'A participant';
  return `${who} does not take part: it is not so that ${conditionText(takesPartWhen ?? {})}.`;
}

interface TurnCompletion {
  readonly made: CompletedAction;
  /** Kind of the signature; null for an approval. */
  readonly isElectronic: boolean | null;
  /** True: no mails are sent. */
  readonly isQuiet: boolean;
  /** False in a stopped flow: nothing follows. */
  readonly goesOn: boolean;
}

/** Completes a turn, releases the next step or concludes the flow. */
export function turnCompleted(
  document: DocumentContext,
  turn: Turn,
  { made, isElectronic, isQuiet, goesOn }: TurnCompletion,
): Decision {
  const at = document.updateDate;
  const before = document.actions.find(({ id }) => id === turn.flowActionId);
  const user = before && usersOf(before).find(({ id }) => id === turn.userId);
  const now = withAction(document.actions, turn, isElectronic, at);
  const released = { actions: now, pending: [], skipped: [] };
  const { actions, pending, skipped } = goesOn
    ? actionsReleased(now, at, [...document.made, made])
    : released;
  const { document: context, event } = withEvent(
    { ...document, actions, made: [...document.made, made] },
    {
      type: made.kind === 'approval' ? 'DocumentApproved' : 'DocumentSigned',
      ...(user && { by: eventPersonOf(turn, user, made.evidence) }),
      ...(made.values !== undefined && {
        values: made.values.map(({ attachment: _, ...value }) => value),
      }),
    },
  );
  const news = announceEffect(event);
  const told = deputyMails(context, made.evidence);
  if (goesOn && isDone(actions))
    return {
      context: { ...context, reservations: [] },
      to: 'FlowConcluded',
      effects: [...news, ...notifyEffect(told), concludeEffect(context)],
      disarm: ['expiry'],
      skipped: skipped.map(skippedNote),
    };
  const isSilent = isQuiet || document.disableNotifications;
  return {
    context,
    effects: [
      ...news,
      ...notifyEffect([...told, ...(isSilent ? [] : turnMails(context, pending, 'pending'))]),
    ],
    skipped: skipped.map(skippedNote),
  };
}

export const refuseTurn: DecisionFunction<'REFUSE_TURN'> = (document, message) => {
  const { at, reason } = message;
  const turn = pendingTurnOf(document, message);
  if (turn === undefined) return undefined;
  const { actions, stops } = withRefusal(document.actions, message, reason, at);
  const { user } = turn;
  const principal = { id: user.id, type: 'User', name: user.name ?? user.email ?? '' } as const;
  const changed: DocumentContext = {
    ...withoutReservations(document, message),
    actions,
    updateDate: at,
    ...(stops && { statusUpdatedBy: principal, statusUpdateReason: reason }),
  };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentRefused',
    by: eventPersonOf(message, user),
    reason,
  });
  const note = `${nameOf(turn)} refused.`;
  const doneBy = turnBy(user, null);
  if (!stops) return { context, effects: announceEffect(event), note, doneBy };
  const mailKind = { about: 'refused', reason, byName: principal.name } as const;
  const mails = document.disableNotifications
    ? []
    : deduplicated([...activeMails(context, mailKind, user.id), ...observerMails(context, mailKind)]);
  return {
    context,
    to: 'Refused',
    effects: [...announceEffect(event), ...notifyEffect(mails)],
    note,
    doneBy,
  };
};

export function withoutReservations(document: DocumentContext, turn: Turn): DocumentContext {
  return { ...document, reservations: document.reservations.filter((one) => !isOfTurn(one, turn)) };
}
