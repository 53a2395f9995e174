/**
 * Decides on a participant who hands the action on to another person. The first row that fits refuses:
 *
 * | case          | refused when                                                     |
 * |---------------|------------------------------------------------------------------|
 * | not-permitted | the sender has not allowed it, or the action is not of one person |
 * | in-progress   | a signature of the action is accepted, or begun with a certificate |
 * | too-long      | as many people had the action as may have it                     |
 * | same-person   | it is the person who hands on                                    |
 * | had-it        | the person had the action before                                 |
 * | of-the-flow   | the person takes part in another action, or has acted as deputy: one would act for two |
 *
 * Persons are the same by address, or by identifier. Source: docs/decisions/0550-passing-on.md.
 */
import { MAX_PASSED_ON } from '../../../contracts/portal/signing/passing-on.ts';
import type { Millis } from '../../ids.ts';
import type { FlowAction, Participant } from '../portal-types.ts';
import { hasActedAsDeputy } from './deputy-acts.ts';
import type { DocumentContext, Turn } from './document-context.ts';
import { announceEffect, type DecisionFunction, notifyEffect, turnBy } from './document-decision.ts';
import { isOfTurn, turnOf, usersOf } from './document-flow.ts';
import {
  actionMail,
  deduplicated,
  eventPersonOf,
  observerMails,
  summaryOf,
  withEvent,
  withMailed,
} from './document-notifications.ts';
import { nameOf } from './participant-actions.ts';

export type PassingFault =
  | 'not-permitted'
  | 'in-progress'
  | 'too-long'
  | 'same-person'
  | 'had-it'
  | 'of-the-flow';

type Named = Pick<Participant, 'name' | 'email'> & Partial<Pick<Participant, 'identifier'>>;

/** Person who is asked. */
interface Successor extends Named {
  /** Address as those of deputies are written; absent = as `email`. */
  readonly address?: string | undefined;
}

/** Undefined: the action may be handed on to the person. 'over': it is not the turn of who hands on. */
export function passingFault(
  document: DocumentContext,
  turn: Turn,
  to: Successor,
  at: Millis,
): PassingFault | 'over' | undefined {
  const found = turnOf(document.actions, turn);
  if (found === undefined) return 'over';
  const { action, user } = found;
  const { passedOn = [] } = action;
  if (action.allowPassingOn !== true || !isOfOne(action)) return 'not-permitted';
  const isBegun = document.reservations.some((one) => isOfTurn(one, turn) && one.expiresAt > at);
  if (isBegun || document.accepted.some((one) => isOfTurn(one, turn))) return 'in-progress';
  if (passedOn.length >= MAX_PASSED_ON) return 'too-long';
  if (isSame(user, to)) return 'same-person';
  if (passedOn.some((one) => isSame(one, to))) return 'had-it';
  const others = document.actions.filter(({ id }) => id !== action.id);
  const isOther = others.flatMap(usersOf).some((one) => isSame(one, to));
  const addresses = [to.email, to.address].filter((one) => typeof one === 'string');
  const hasActed = addresses.some((one) => hasActedAsDeputy(document, one));
  return isOther || hasActed ? 'of-the-flow' : undefined;
}

function isOfOne({ type }: Pick<FlowAction, 'type'>): boolean {
  return type === 'Signer' || type === 'Approver';
}

function isSame(one: Named, other: Named): boolean {
  if (one.identifier && one.identifier === other.identifier) return true;
  return one.email !== null && one.email.toLowerCase() === other.email?.toLowerCase();
}

export const passOn: DecisionFunction<'PASS_ON'> = (document, message) => {
  const { at, to, address, reason, version, sender } = message;
  const turn = turnOf(document.actions, message);
  if (turn === undefined || version !== document.version) return undefined;
  if (passingFault(document, message, { ...to, address }, at) !== undefined) return undefined;
  const { action: before, user } = turn;
  const passed = { userId: user.id, name: user.name, email: user.email, reason, date: at };
  const action = { ...before, user: to, passedOn: [...(before.passedOn ?? []), passed], updateDate: at };
  const { document: context, event } = withEvent(
    {
      ...document,
      actions: document.actions.map((one) => (one === before ? action : one)),
      reservations: document.reservations.filter((one) => !isOfTurn(one, message)),
      updateDate: at,
    },
    { type: 'DocumentPassedOn', by: eventPersonOf(message, user), reason },
  );
  const byName = nameOf(turn);
  const told = { about: 'flow-edited', byName, reason } as const;
  const toSender =
    sender === undefined
      ? []
      : [{ ...told, to: sender, document: summaryOf(context), flowActionId: null, userId: null }];
  // Whoever hands on writes the reason: a stranger gets no text of another one by mail.
  const asked = actionMail(context, to, action, 'pending').map((mail) => ({ ...mail, byName }));
  const mails = document.disableNotifications
    ? []
    : [...asked, ...deduplicated([...observerMails(context, told), ...toSender])];
  return {
    context: withMailed(context, mails),
    effects: [...announceEffect(event), ...notifyEffect(mails)],
    note: `${byName} handed on to ${to.name ?? to.email}: ${reason}`,
    doneBy: turnBy(user, null),
  };
};
