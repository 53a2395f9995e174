/** The person of a visit to a link for anybody: an address or a number, and the actor that has the visits of that person. */
import { accepted } from '@sealwright/runtime';
import { plainLine, visibleText } from '../../../contracts/plain-text.ts';
import type { NewField, NewFlowAction } from '../../../contracts/portal/flow.ts';
import type {
  PublicLinkPage,
  PublicLinkVisit,
} from '../../../contracts/portal/saved-requests/public-links.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../machines/ids.ts';
import type { DocumentState, Turn } from '../../../machines/portal/documents/document-context.ts';
import type { LinkVisit } from '../../../machines/portal/link-visitor.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { PublicLinkContext } from '../../../machines/portal/public-link.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { DOCUMENT, type DocumentActor, seededId } from '../document-records/document-index.ts';
import { pageState } from '../document-records/signing-turns.ts';
import { phoneNumber } from '../documents/document-plans.ts';
import { roleKey } from '../saved-requests/flow-roles.ts';
import { derivedId } from '../shared/effect-ids.ts';
import { addressKey, isMailAddress, mailboxKey } from '../shared/mail-address.ts';
import type { CodeRecipient } from '../signing/signing-codes.ts';
import type { Linked } from './public-links.ts';

const LEFT = 'The person has left the device.';

/** The person of a visit, and the actor of the person's mailbox or number. */
export interface Visitor {
  /** Of the mailbox or number: limits are for both. */
  readonly id: string;
  /** Of the exact address or number, which a code proves. */
  readonly person: string;
  readonly user: LinkVisit['user'];
}

/** Seed of the id of the document of a person's visit. */
export function seedOf(visitorId: string, number: number): string {
  return `public-link/${visitorId}/${number}`;
}

/** The person, checked. Refusals: `BadRequest`. */
export function visitorOf(
  { id, link }: Linked,
  given: Pick<PublicLinkVisit, 'name' | 'email' | 'phone' | 'language'>,
): Visitor {
  const name = plainLine(given.name ?? '');
  if (name === '') throw badField('Name', 'is required');
  const language = link.language ?? given.language;
  const user = { name, ...(language && { language }) };
  if (link.contact === 'Email') {
    const email = visibleText(given.email ?? '').trim();
    if (!isMailAddress(email)) throw badField('Email', 'must be an e-mail address');
    return {
      id: derivedId('link-visitor', id, mailboxKey(email)),
      person: derivedId('link-person', id, addressKey(email)),
      user: { ...user, email } as Visitor['user'],
    };
  }
  const phone = phoneNumber(given.phone ?? null);
  if (phone === undefined)
    throw badField('Phone', 'must be a number with its country code, as +351 912 345 678');
  return {
    id: derivedId('link-visitor', id, phone),
    person: derivedId('link-person', id, phone),
    user: { ...user, phone } as Visitor['user'],
  };
}

/** Hash of the id that a client has drawn: whoever knows the id gets the address of the document. */
export function hashOf(visitId: string): string {
  return derivedId('link-visit', visitId.toLowerCase());
}

/** The person before a device: each visit has an actor of its own, for nobody has proven an address. Refusals: `BadRequest`. */
export function visitorHere(
  found: Linked,
  given: Pick<PublicLinkVisit, 'visitId' | 'name' | 'email' | 'phone' | 'language'>,
): Visitor {
  const person = hashOf(given.visitId);
  return { ...visitorOf(found, given), id: visitorIdHere(found.id, person), person };
}

function visitorIdHere(linkId: string, visit: string): string {
  return derivedId('link-visitor', linkId, 'here', visit);
}

/** The document of a visit before a device, which may not be made. @param visit its hash */
export function documentHere(linkId: string, visit: string): DocumentId {
  return seededId(seedOf(visitorIdHere(linkId, visit), 0), 0);
}

/** True when a role is alone in the first step, and needs no certificate there. */
export function beginsAlone(
  actions: readonly Pick<NewFlowAction, 'title' | 'type' | 'step' | 'allowElectronicSignature'>[],
  role: string,
): boolean {
  const first = Math.min(...actions.map(({ step }) => step ?? 0));
  return actions
    .filter(({ step }) => (step ?? 0) === first)
    .every(
      ({ title, type, allowElectronicSignature }) =>
        roleKey(title ?? '') === roleKey(role) && (type === 'Approver' || allowElectronicSignature === true),
    );
}

/** True for a refusal that the visitor can mend; of all others the sender learns. */
export function isOfVisitor({ code }: PortalRefusal): boolean {
  return code === 'InvalidFieldValue' || code === 'LimitExceeded';
}

/** Whose codes prove the address or number: of the link and the person. */
export function holderOf({ id, link: { contact } }: Linked, visitor: Visitor): CodeRecipient {
  return {
    documentId: seededId(seedOf(visitor.id, 0), 0),
    flowActionId: id as FlowActionId,
    userId: visitor.person as UserId,
    isOfLink: true,
    ...(contact === 'Phone' && { channel: 'Sms' as const }),
  };
}

export function shownField(field: NewField): PublicLinkPage['fields'][number] {
  const { name, label, type, readOnly, options, maxLength, minimum, maximum } = field;
  return {
    name: name.trim(),
    label: label?.trim() || null,
    type: type ?? 'Text',
    // The participant could not fill it.
    required: readOnly === true,
    options: options ?? [],
    maxLength: maxLength ?? null,
    minimum: minimum ?? null,
    maximum: maximum ?? null,
  };
}

/** Refusals: `InvalidFieldValue`. */
export function assertAsked({ fields }: PublicLinkContext, names: readonly string[]): void {
  const other = names.filter((name) => !fields.includes(name.trim()));
  if (other.length === 0) return;
  const fault = 'The link does not ask for this field.';
  const details = Object.fromEntries(other.slice(0, 20).map((name) => [name.slice(0, 100), fault]));
  throw new PortalRefusal('InvalidFieldValue', fault, { details });
}

/** The action of the visitor: the pending one, or the first. */
export function turnOf({ context: { actions } }: Pick<DocumentActor, 'context'>, role: string) {
  const own = actions.filter(({ title, user }) => user !== null && roleKey(title ?? '') === roleKey(role));
  const action = own.find(({ status }) => status === 'Pending') ?? own[0];
  return action?.user == null ? undefined : { flowActionId: action.id, userId: action.user.id };
}

/** State of the document as the visitor sees it. */
export function shownState(
  { state, context }: Pick<DocumentActor, 'state' | 'context'>,
  turn: Turn,
): ReturnType<typeof pageState> {
  return pageState({ state: state as DocumentState, context }, turn);
}

/** Cancels a document that the person before a device has not acted on, without a mail. */
export async function leaveDocument(
  { actors }: Pick<ServiceRuntime, 'actors'>,
  { role, createdBy }: PublicLinkContext,
  documentId: DocumentId,
): Promise<void> {
  const document = await actors.read(DOCUMENT, documentId);
  const turn = document && turnOf(document, role);
  if (turn === undefined || (document?.state as DocumentState) !== 'Pending') return;
  const untouched = turn.flowActionId;
  const message = { type: 'CANCEL', by: createdBy, reason: LEFT, isQuiet: true, untouched } as const;
  // It may have been signed, or have ended.
  await accepted(actors.send(DOCUMENT, documentId, message), ({ reason }) =>
    reason === 'not-accepted' || reason === 'unknown-actor' ? undefined : new PortalRefusal('ServiceBusy'),
  );
}
