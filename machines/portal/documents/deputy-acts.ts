/**
 * Decides whether a deputy may act in place of a participant; the step of the act asks again. The first row that fits
 * refuses:
 *
 * | case          | refused when                                                                        |
 * |---------------|-------------------------------------------------------------------------------------|
 * | outside       | it is before the start, at the end or later                                         |
 * | over          | the action does not wait for the participant                                        |
 * | not-permitted | the sender has not allowed that it is handed on, or the action is not of one person |
 * | in-progress   | a signature of the action is accepted, or begun with a certificate                  |
 * | same-person   | the deputy is the person                                                            |
 * | had-it        | the deputy had the action before: nobody gets it back                               |
 * | of-the-flow   | the deputy takes part in another action, or has acted in one: one would act for two |
 *
 * `name+anything` is the mailbox of `name`. Source: docs/decisions/0580-deputies.md.
 */
import type { Millis } from '../../ids.ts';
import type { DeputyMail } from '../mail.ts';
import { type Deputy, isDeputyAt, mailboxOf } from '../mailbox.ts';
import type { ActingDeputy, Evidence, Participant } from '../portal-types.ts';
import type { DocumentContext, Turn } from './document-context.ts';
import { isOfTurn, turnOf, usersOf } from './document-flow.ts';

export type ActingFault =
  | 'outside'
  | 'over'
  | 'not-permitted'
  | 'in-progress'
  | 'same-person'
  | 'had-it'
  | 'of-the-flow';

/** True for addresses of one mailbox. */
type SameMailbox = (one: string, other: string) => boolean;

const isSameMailbox: SameMailbox = (one, other) => mailboxOf(one) === mailboxOf(other);

/** Undefined: the deputy may act. @param isSame default: of the same letters */
export function actingFault(
  document: DocumentContext,
  turn: Turn,
  deputy: Pick<Deputy, 'email' | 'asciiEmail' | 'from' | 'until'>,
  { at, isSame = isSameMailbox }: { readonly at: Millis; readonly isSame?: SameMailbox },
): ActingFault | undefined {
  if (!isDeputyAt(deputy, at)) return 'outside';
  const found = turnOf(document.actions, turn);
  if (found === undefined) return 'over';
  const { action, user } = found;
  if (action.allowPassingOn !== true || (action.type !== 'Signer' && action.type !== 'Approver'))
    return 'not-permitted';
  const { reservations, accepted, actions } = document;
  const isBegun = reservations.some((one) => isOfTurn(one, turn) && one.expiresAt > at);
  if (isBegun || accepted.some((one) => isOfTurn(one, turn))) return 'in-progress';
  const own = [deputy.email, deputy.asciiEmail ?? deputy.email];
  const isDeputy = (email: string | null) => email !== null && own.some((one) => isSame(email, one));
  if (isDeputy(user.email)) return 'same-person';
  if ((action.passedOn ?? []).some(({ email }) => isDeputy(email))) return 'had-it';
  const others = actions.filter(({ id }) => id !== action.id).flatMap(usersOf);
  const isOther = others.some(({ email }) => isDeputy(email)) || deputiesIn(document).some(isDeputy);
  return isOther ? 'of-the-flow' : undefined;
}

/** Addresses of deputies who have acted, in each of their forms. */
function deputiesIn({ accepted, made }: Pick<DocumentContext, 'accepted' | 'made'>): readonly string[] {
  return [...accepted, ...made].flatMap(({ evidence }) => {
    const { email, asciiEmail } = evidence?.deputy ?? {};
    return [email, asciiEmail].filter((one) => one !== undefined);
  });
}

/** True if a deputy of this mailbox has acted. */
export function hasActedAsDeputy(
  document: Pick<DocumentContext, 'accepted' | 'made'>,
  email: string,
): boolean {
  return deputiesIn(document).some((one) => isSameMailbox(one, email));
}

/** The deputy who has acted in place of a participant; undefined = none. */
export function deputyIn(
  { accepted, made }: Pick<DocumentContext, 'accepted' | 'made'>,
  turn: Turn,
): ActingDeputy | undefined {
  return [...accepted, ...made].find((one) => isOfTurn(one, turn))?.evidence?.deputy;
}

/** Person who has acted: the deputy, or the participant who was asked. */
export function actorOf<Person extends Participant>(
  user: Person,
  evidence: Pick<Evidence, 'deputy'> | null,
): Person | Participant {
  if (evidence?.deputy === undefined) return user;
  const { id, name, email } = evidence.deputy;
  return { id, name, email, identifier: null, phone: null };
}

export function representedName({ person }: Pick<ActingDeputy, 'person'>): string {
  return person.name ?? person.email ?? '';
}

/** The person is told, and the sender. */
export function deputyMails(
  { organization, name }: Pick<DocumentContext, 'organization' | 'name'>,
  evidence: Pick<Evidence, 'deputy'> | null,
): readonly DeputyMail[] {
  if (evidence?.deputy === undefined) return [];
  const { name: deputy, email, from, until, person, sender } = evidence.deputy;
  const mail = {
    about: 'deputy',
    what: 'acted',
    organizationId: organization.id,
    person: representedName({ person }),
    deputy: `${deputy}, ${email}`,
    from,
    until,
    documentName: name,
  } as const;
  const { email: address, language } = person;
  const told = address === null ? [] : [{ name: null, email: address, ...(language && { language }) }];
  return (sender === undefined ? told : [...told, sender]).map((to) => ({ ...mail, to }));
}
