/**
 * What participants do when it is their turn: undefined = it does not fit now, and nothing changes.
 *
 * Source: portal-gaps §§8-11, 14, 15, 19.
 */

import type { AcceptedSignature, DocumentContext, Turn } from './document-context.ts';
import {
  announcing,
  applying,
  concluding,
  type Decide,
  type Decision,
  telling,
} from './document-decision.ts';
import { acted, isDone, isSigning, missing, refused, released, turnOf, usersOf } from './document-flow.ts';
import {
  activeNotices,
  actorOf,
  observerNotices,
  onceEach,
  turnNotices,
  withEvent,
} from './document-news.ts';
import type { Millis } from './ids.ts';
import type { MadeAction } from './portal-words.ts';

/** The turn, when nothing that was promised already fills it. */
export function openTurn(
  document: DocumentContext,
  turn: Turn & { readonly version?: number },
): ReturnType<typeof turnOf> {
  // Nobody signs a file that is not the one they were shown.
  if (turn.version !== undefined && turn.version !== document.version) return undefined;
  const found = turnOf(document.actions, turn);
  if (found === undefined) return undefined;
  const promised = document.accepted.filter(({ flowActionId }) => flowActionId === turn.flowActionId);
  if (promised.some(({ userId }) => userId === turn.userId)) return undefined;
  return promised.length < missing(found.action) ? found : undefined;
}

/** What a signature made at `at` claims: whole seconds, which is all that PDF and CMS can say, and never later. */
export function signingTimeAt(at: Millis): Millis {
  return Math.floor(at / 1000) * 1000;
}

/** Tells a signature from the others in its file, whatever time they claim. */
export function fieldNameFor({ flowActionId }: Turn, id: string): string {
  return `Signature_${flowActionId.slice(0, 8)}_${id.slice(0, 8)}`;
}

export const sign: Decide<'SIGN'> = (document, message) => {
  const { at, id, flowActionId, userId, evidence, evidenceSha256, marks, image, isQuiet } = message;
  const turn = openTurn(document, message);
  if (turn === undefined || !isSigning(turn.action) || !turn.action.allowElectronicSignature)
    return undefined;
  const signingTime = signingTimeAt(at);
  const signature: AcceptedSignature = {
    ...{ id, flowActionId, userId, evidence, evidenceSha256, marks, image, isQuiet, signingTime },
    kind: 'electronic',
    acceptedAt: at,
    fieldName: fieldNameFor(message, id),
    certificate: null,
    state: null,
    value: null,
  };
  const accepted = [...document.accepted, signature];
  const updated = { ...document, accepted, updateDate: at };
  return { ...applying(updated, at), note: `${nameOf(turn)} signed.` };
};

export function nameOf({ user }: NonNullable<ReturnType<typeof turnOf>>): string {
  return user.name ?? user.email ?? user.identifier ?? 'A participant';
}

export const approve: Decide<'APPROVE'> = (document, message) => {
  const { at, flowActionId, userId, evidence, evidenceSha256, isQuiet } = message;
  const turn = openTurn(document, message);
  if (turn === undefined || isSigning(turn.action)) return undefined;
  const made: MadeAction = {
    ...{ flowActionId, userId, at, evidence, evidenceSha256 },
    kind: 'approval',
    signingTime: null,
    marks: [],
    image: null,
    certificate: null,
    fieldName: null,
  };
  return turnDone({ ...document, updateDate: at }, message, made, null, isQuiet);
};

/** Completes a turn, releases the next step or concludes the flow. In a flow that has stopped, nothing follows. */
export function turnDone(
  document: DocumentContext,
  turn: Turn,
  made: MadeAction,
  isElectronic: boolean | null,
  isQuiet: boolean,
  goesOn = true,
): Decision {
  const at = document.updateDate;
  const before = document.actions.find(({ id }) => id === turn.flowActionId);
  const user = before && usersOf(before).find(({ id }) => id === turn.userId);
  const now = acted(document.actions, turn, isElectronic, at);
  const { actions, pending } = goesOn ? released(now, at) : { actions: now, pending: [] };
  const { document: context, event } = withEvent(
    { ...document, actions, made: [...document.made, made] },
    {
      type: made.kind === 'approval' ? 'DocumentApproved' : 'DocumentSigned',
      ...(user && { by: actorOf(turn, user) }),
    },
  );
  const news = announcing(event);
  if (goesOn && isDone(actions))
    return {
      context: { ...context, reservations: [] },
      to: 'FlowConcluded',
      effects: [...news, concluding(context)],
      disarm: ['expiry', 'reservation'],
    };
  const isSilent = isQuiet || document.disableNotifications;
  return {
    context,
    effects: [...news, ...telling(isSilent ? [] : turnNotices(context, pending, 'pending'))],
  };
}

export const refuseTurn: Decide<'REFUSE_TURN'> = (document, message) => {
  const { at, reason } = message;
  const turn = openTurn(document, message);
  if (turn === undefined) return undefined;
  const { actions, stops } = refused(document.actions, message, reason, at);
  const { user } = turn;
  const doer = { id: user.id, type: 'User', name: user.name ?? user.email ?? '' } as const;
  const changed: DocumentContext = {
    ...withoutReservations(document, message),
    actions,
    updateDate: at,
    ...(stops && { statusUpdatedBy: doer, statusUpdateReason: reason }),
  };
  const { document: context, event } = withEvent(changed, {
    type: 'DocumentRefused',
    by: actorOf(message, user),
    reason,
  });
  const note = `${nameOf(turn)} refused.`;
  if (!stops) {
    // What waited for a reservation that is given up now need wait no longer.
    const next = applying(context, at);
    return { context: next.context, effects: [...announcing(event), ...next.effects], note };
  }
  const letter = { about: 'refused', reason, byName: doer.name } as const;
  const notices = document.disableNotifications
    ? []
    : onceEach([...activeNotices(context, letter, user.id), ...observerNotices(context, letter)]);
  return { context, to: 'Refused', effects: [...announcing(event), ...telling(notices)], note };
};

export function withoutReservations(
  document: DocumentContext,
  { flowActionId, userId }: Turn,
): DocumentContext {
  const reservations = document.reservations.filter(
    (one) => one.flowActionId !== flowActionId || one.userId !== userId,
  );
  return { ...document, reservations };
}
