/**
 * What the code of a mailbox gives of an action that waits for a person. The first row that fits decides:
 *
 * | case        | the code | when                                                                        |
 * |-------------|----------|-----------------------------------------------------------------------------|
 * | not-waiting | hides    | the document or the action is not pending, or the person has acted          |
 * | not-yours   | hides    | the person has no address, or another one                                   |
 * | not-mailed  | hides    | the sender has not asked by mail: others vouch for who opens the document   |
 * | processing  | hides    | a signature of the person is accepted                                       |
 * | certificate | opens    | a certificate signs                                                         |
 * | proof       | opens    | a telephone or an app confirms, or a code by e-mail proves nothing          |
 * | initials    | opens    | the person has to put initials                                              |
 * | reading     | opens    | the person has to see each page                                             |
 * | fields      | opens    | the action has fields, or asks for files                                    |
 * | shared      | opens    | the mailbox has more than one turn in the document, of any status: who acts? |
 * | signature   | signs    | it asks for a signature, or an approval, alone                              |
 *
 * `hides`: the document is not named, nor is it signed. `opens`: as the link that was mailed. `signs`: also together with
 * others, without a further code. Source: docs/decisions/0570-what-waits-for-a-mailbox.md.
 */
import type {
  DocumentContext,
  DocumentState,
  Turn,
} from '../../../machines/portal/documents/document-context.ts';
import { isSigning, requestedUsers, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import { isAskedByMail, isPromised } from '../document-records/signing-turns.ts';
import { addressKey } from '../shared/mail-address.ts';

export const WAITING_CASES = {
  'not-waiting': 'hides',
  'not-yours': 'hides',
  'not-mailed': 'hides',
  processing: 'hides',
  certificate: 'opens',
  proof: 'opens',
  initials: 'opens',
  reading: 'opens',
  fields: 'opens',
  shared: 'opens',
  signature: 'signs',
} as const;
export type WaitingCase = keyof typeof WAITING_CASES;

interface Waiting {
  readonly state: string;
  readonly context: DocumentContext;
}

/** @param demandsCertificate of the organization @default it is asked where it counts: at the signature */
export function waitingCase(
  { state, context }: Waiting,
  turn: Turn,
  email: string,
  demandsCertificate = false,
): WaitingCase {
  const action = context.actions.find(({ id }) => id === turn.flowActionId);
  const user = action && requestedUsers(action).find(({ id }) => id === turn.userId);
  if ((state as DocumentState) !== 'Pending' || action?.status !== 'Pending' || user === undefined)
    return 'not-waiting';
  const mailbox = addressKey(email);
  if (!isOf(user, mailbox)) return 'not-yours';
  if (!isAskedByMail(context, { action, user })) return 'not-mailed';
  if (isPromised(context.accepted, turn)) return 'processing';
  const signs = isSigning(action);
  if (signs && (demandsCertificate || !action.allowElectronicSignature)) return 'certificate';
  if (signs && (action.confirmations.length > 0 || action.disableEmailAuthentication)) return 'proof';
  if (signs && action.initialsMode === 'Required' && context.format === 'Pades') return 'initials';
  if (context.requireReading === true) return 'reading';
  if ((action.fields ?? []).length > 0) return 'fields';
  return turnsOf(context, mailbox) > 1 ? 'shared' : 'signature';
}

function turnsOf({ actions }: DocumentContext, mailbox: string): number {
  return actions.flatMap(usersOf).filter((user) => isOf(user, mailbox)).length;
}

/** False for people who share a mailbox: one act is of one person. */
export function isSamePerson(
  one: Pick<Participant, 'name' | 'identifier'>,
  other: Pick<Participant, 'name' | 'identifier'>,
): boolean {
  const isOther = one.identifier && other.identifier && one.identifier !== other.identifier;
  return one.name === other.name && !isOther;
}

function isOf({ email }: Participant, mailbox: string): boolean {
  return email !== null && addressKey(email) === mailbox;
}
