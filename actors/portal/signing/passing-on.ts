/** Participants who hand an action on to another person. Source: docs/decisions/0550-passing-on.md. */
import { MAX_PASSED_ON, type PassingOn } from '../../../contracts/portal/signing/passing-on.ts';
import { DAY_MS } from '../../../contracts/times.ts';
import type { DocumentContext } from '../../../machines/portal/documents/document-context.ts';
import { type PassingFault, passingFault } from '../../../machines/portal/documents/passing-on.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { MailRequest } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { PORTAL_USER } from '../accounts/users.ts';
import type { RequestOrigin } from '../api/callers.ts';
import type { DocumentActor } from '../document-records/document-index.ts';
import { participantPrincipal, sendToDocument, wrongStatus } from '../document-records/document-messages.ts';
import { type PlanDependencies, planSuccessor } from '../documents/document-plans.ts';
import { addressKey, mailboxKey } from '../shared/mail-address.ts';
import { countUse } from '../shared/use-limits.ts';
import { assertTurn, type SigningCall } from './signing-access.ts';
import type { SigningCodes } from './signing-codes.ts';

/** Of one mailbox that hands on, and of one that is asked; of an organization. */
const PER_MAILBOX = { most: 10, period: DAY_MS };
const PER_ORGANIZATION = { most: 200, period: DAY_MS };
const TOO_MANY = 'As many actions were handed on as may in a day.';

const FAULTS: { readonly [fault in Exclude<PassingFault, 'too-long'>]: string } = {
  'not-permitted': 'The sender has not allowed that this action is handed on.',
  'in-progress': 'A signature of this action has begun. Hand it on when that is over.',
  'same-person': 'Hand it on to another person.',
  'had-it': 'This person had the action before.',
  'of-the-flow': 'This person takes part in the document already.',
};

export function faultText(fault: keyof typeof FAULTS): string {
  return FAULTS[fault];
}

export interface PassingNeeds {
  readonly runtime: Pick<ServiceRuntime, 'actors' | 'clock'>;
  readonly codes: SigningCodes;
  readonly plans: PlanDependencies;
}

/** Refusals: those of the operation. @param onWrong records a wrong code */
export async function passOn(
  { runtime: { actors, clock }, codes, plans }: PassingNeeds,
  call: SigningCall,
  { name, email, phone, identifier, reason, emailCode }: Omit<PassingOn, 'ticket'>,
  { origin, onWrong }: { readonly origin: RequestOrigin; readonly onWrong: () => Promise<void> },
): Promise<void> {
  const { context, turn, user, action } = call;
  if (!call.isByTicket || call.isHere)
    throw new PortalRefusal(
      'InvalidFlowAction',
      'A participant hands on with the link of a mail or an application.',
    );
  assertTurn(call);
  const to = planSuccessor({ name, email, phone, identifier }, action, plans);
  const address = addressKey(to.email ?? '');
  const named = { ...to, address };
  const fault = passingFault(context, turn, named, clock.now());
  if (fault !== undefined) throw refusalOf(fault);
  // Whoever has a link that was forwarded is not its person: the same code as before a signature.
  if (call.needsEmailCode) await confirmed(codes, call, emailCode ?? '', onWrong);
  const organization = context.organization.id;
  const mailboxes = [
    ['passes', user.email ?? user.id],
    ['passed-to', to.email ?? to.id],
  ] as const;
  for (const [kind, address] of mailboxes)
    await countUse(actors, { of: [kind, organization, mailboxKey(address)], ...PER_MAILBOX }, TOO_MANY);
  await countUse(actors, { of: ['passes', organization], ...PER_ORGANIZATION }, TOO_MANY);
  const { version } = context;
  const sender = await senderOf(actors, context);
  const doneBy = participantPrincipal(user, origin);
  const message = { type: 'PASS_ON', ...turn, version, to, address, reason, sender, doneBy } as const;
  await sendToDocument(actors, context.id, message, (document: DocumentActor) => {
    if (document.state !== 'Pending') return wrongStatus(document);
    return refusalOf(passingFault(document.context, turn, named, clock.now()) ?? 'over');
  });
}

async function confirmed(
  codes: SigningCodes,
  call: SigningCall,
  code: string,
  onWrong: () => Promise<void>,
): Promise<void> {
  if (code === '')
    throw new PortalRefusal('InvalidAuthenticationCode', 'The code that was sent by e-mail is needed.', {
      details: { channel: 'Email' },
    });
  try {
    await codes.checkMailed(call, code);
  } catch (error) {
    if (error instanceof PortalRefusal) await onWrong();
    throw error;
  }
}

function refusalOf(fault: PassingFault | 'over'): PortalRefusal {
  if (fault === 'over') return new PortalRefusal('InvalidDocumentStatus');
  if (fault === 'too-long')
    return new PortalRefusal('LimitExceeded', `An action is handed on at most ${MAX_PASSED_ON} times.`);
  return new PortalRefusal('InvalidFlowAction', FAULTS[fault]);
}

/** The user who sends the document, while a member of the organization. */
export async function senderOf(
  actors: ServiceRuntime['actors'],
  { createdBy: { id, type }, organization }: DocumentContext,
): Promise<MailRequest['to'] | undefined> {
  const user = type === 'User' ? (await actors.read(PORTAL_USER, id))?.context : undefined;
  const member = user?.memberships.find((one) => one.organizationId === organization.id);
  if (user === undefined || member === undefined) return undefined;
  return { name: (member.profile ?? user).name, email: user.email };
}
