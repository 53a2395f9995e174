/**
 * Authorizes signing: resolves a ticket or an organization's API key to a document and an action. Source: docs/portal-values.md
 * §§9, 10.
 */
import { plainLine } from '../../../contracts/plain-text.ts';
import { isRead, type Reading } from '../../../contracts/portal/signing/reading.ts';
import type { ElectronicSigning } from '../../../contracts/portal/signing/signing.ts';
import { CODE_KINDS, type CodeKind, PHONE_CHANNELS } from '../../../contracts/portal/words.ts';
import type { Millis } from '../../../machines/ids.ts';
import { actorOf } from '../../../machines/portal/documents/deputy-acts.ts';
import type {
  DocumentContext,
  DocumentState,
  Turn,
} from '../../../machines/portal/documents/document-context.ts';
import { requestedUsers, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import { hiddenFields } from '../../../machines/portal/documents/flow-conditions.ts';
import type { ProvenMailbox } from '../../../machines/portal/mailbox-session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type {
  ActingDeputy,
  Evidence,
  FilledValue,
  FlowAction,
  Participant,
} from '../../../machines/portal/portal-types.ts';
import type { RequestOrigin } from '../api/callers.ts';
import type { MailboxAccess, SigningAccess } from '../api/signing.ts';
import { foldedKey } from '../document-records/document-index.ts';
import {
  type DocumentDirectory,
  documentByKey,
  documentOf,
  type ReadDocument,
} from '../document-records/document-reader.ts';
import { isPromised, namedTurn, pageState } from '../document-records/signing-turns.ts';
import { phoneNumber } from '../documents/document-plans.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { evidenceDigest, evidenceFile } from '../renditions/evidence-file.ts';
import { WAITING_CASES, waitingCase } from './waiting-rules.ts';

/** Authorization of a call and its source. */
export interface SigningCall {
  readonly state: DocumentState;
  readonly context: DocumentContext;
  readonly turn: Turn;
  readonly action: FlowAction;
  readonly user: Participant;
  /** True: the participant acts with a ticket; false: an application with its key. */
  readonly isByTicket: boolean;
  /** True: an electronic signature requires an e-mail code. */
  readonly needsEmailCode: boolean;
  /** The application that authenticated the participant, or the host of the device; null = the link was mailed. */
  readonly application: { readonly id: string; readonly name: string } | null;
  /** True: the participant stands before a device of the host. */
  readonly isHere: boolean;
  /** Proven by a code for several documents; absent = each asks its own. */
  readonly mailbox?: ProvenMailbox;
  /** The participant's, who acts; absent = the participant does. */
  readonly deputy?: ActingDeputy;
  /** Last change of the action as the participant was shown it; absent = any. */
  readonly actionDate?: Millis;
}

type KeyAccess = Exclude<SigningAccess, { readonly by: 'ticket' }>;

/** Returns the document that an application names. Refusals: `DocumentNotFound`, `DocumentInvalidKey`, `DocumentIsDeleted`. */
export function documentForKey(access: KeyAccess, directory: DocumentDirectory): Promise<ReadDocument> {
  return access.by === 'key'
    ? documentOf(directory, access.tenant, access.documentId)
    : documentByKey(directory, access.tenant, access.key);
}

/**
 * @param holder numbers in the certificate that signs: they tell the people of a rule apart
 * @param changes false for a call that only reads: it may use a ticket that is older than the version of the document
 *
 * Refusals: `InvalidTicket`, `VersionChanged`, `DocumentNotFound`, `DocumentInvalidKey`, `DocumentIsDeleted`, `FlowActionNotFound`;
 * `InvalidFlowAction`, `CpfNotExpected` for a rule whose participant is not named.
 */
export async function signingCall(
  access: SigningAccess | MailboxAccess,
  directory: DocumentDirectory,
  links: SigningLinks,
  { holder = [], changes = true }: { readonly holder?: readonly string[]; readonly changes?: boolean } = {},
): Promise<SigningCall> {
  if (access.by === 'mailbox') return callOfMailbox(access, await directory.byId(access.documentId));
  if (access.by === 'ticket') {
    const ticket = links.parse(access.ticket);
    const document = ticket && (await directory.byId(ticket.documentId));
    if (!ticket || ticket.expired || !document || document.context.key !== foldedKey(access.key))
      throw new PortalRefusal('InvalidTicket');
    if (document.state === 'Deleted') throw new PortalRefusal('DocumentIsDeleted');
    const named = namedTurn(document.context, ticket);
    // The action was taken out of the flow since.
    if (named === undefined) throw new PortalRefusal('InvalidTicket');
    if (access.documentVersion !== undefined) assertVersion(document.context, access.documentVersion);
    else if (
      changes &&
      ticket.documentVersion !== undefined &&
      ticket.documentVersion !== document.context.version
    )
      throw new PortalRefusal('VersionChanged');
    const { needsEmailCode, application, isHere } = ticket;
    // The next person before the device reads nothing of the last one, and nobody signs when it has ended.
    const isMine = changes || pageState(document, ticket) === 'ready';
    if (isHere && !(isMine && (await directory.isBeforeDevice(document.context))))
      throw new PortalRefusal('InvalidTicket');
    return callOf(document, named, { isByTicket: true, needsEmailCode, application, isHere });
  }
  const document = await documentForKey(access, directory);
  const named = firstTurn(document.context, access, holder);
  if (named === undefined) throw new PortalRefusal('FlowActionNotFound');
  const { application } = access.tenant;
  return callOf(document, named, { isByTicket: false, needsEmailCode: false, application, isHere: false });
}

/** Refusals: `DocumentNotFound` for what the code of the mailbox does not show, `InvalidFlowAction` for what asks more than it. */
function callOfMailbox(access: MailboxAccess, document: ReadDocument | undefined): SigningCall {
  const { mailbox, deputy, documentVersion, actionDate } = access;
  const named = document && namedTurn(document.context, access);
  const email = deputy === undefined ? mailbox.email : (deputy.person.email ?? '');
  const found = document && waitingCase(document, access, email);
  if (
    document === undefined ||
    named === undefined ||
    found === undefined ||
    WAITING_CASES[found] === 'hides'
  )
    throw new PortalRefusal('DocumentNotFound');
  assertVersion(document.context, documentVersion);
  if (named.action.updateDate !== actionDate)
    throw new PortalRefusal('InvalidDocumentStatus', 'What is asked has changed. Look at it again.');
  if (WAITING_CASES[found] !== 'signs')
    throw new PortalRefusal(
      'InvalidFlowAction',
      'The action asks for more than a signature: open it by itself.',
      {
        details: { alone: found },
      },
    );
  const more = { isByTicket: true, needsEmailCode: false, application: null, isHere: false };
  const user = actorOf(named.user, { ...(deputy && { deputy }) });
  return { ...callOf(document, named, more), user, mailbox, actionDate, ...(deputy && { deputy }) };
}

function callOf(
  { state, context }: ReadDocument,
  { action, user }: NamedTurn,
  {
    isByTicket,
    needsEmailCode,
    application,
    isHere,
  }: Pick<SigningCall, 'isByTicket' | 'needsEmailCode' | 'application' | 'isHere'>,
): SigningCall {
  const turn = { flowActionId: action.id, userId: user.id };
  return { state, context, turn, action, user, isByTicket, needsEmailCode, application, isHere };
}

interface NamedTurn {
  readonly action: FlowAction;
  readonly user: Participant;
}

/**
 * Finds the action by its id, or the first pending one; for a rule, the named person, the certificate holder or the
 * only one.
 */
function firstTurn(
  { actions }: Pick<DocumentContext, 'actions'>,
  { flowActionId, userId }: Pick<KeyAccess, 'flowActionId' | 'userId'>,
  holder: readonly string[],
): NamedTurn | undefined {
  const action =
    flowActionId === undefined
      ? actions.find(({ status }) => status === 'Pending')
      : actions.find(({ id }) => id === flowActionId);
  if (action === undefined) return undefined;
  const all = usersOf(action);
  const requested = requestedUsers(action);
  const user =
    userId === undefined
      ? requested.length > 1
        ? oneOf(requested, holder)
        : (requested[0] ?? all[0])
      : all.find(({ id }) => id === userId);
  return user && { action, user };
}

/** National numbers alone are compared; a certificate that names none proves nothing either way. */
export const NATIONAL = /^\d{11}$/;

/** Refuses an ambiguous match: an action must not be attributed to the wrong person. */
function oneOf(requested: readonly Participant[], holder: readonly string[]): Participant {
  const numbers = holder.filter((one) => NATIONAL.test(one));
  const found = requested.find(({ identifier }) => identifier !== null && numbers.includes(identifier));
  if (found !== undefined) return found;
  if (numbers.length > 0 && requested.every(({ identifier }) => NATIONAL.test(identifier ?? '')))
    throw new PortalRefusal('CpfNotExpected');
  throw new PortalRefusal('InvalidFlowAction', 'The rule asks several people; userId says who of them acts.');
}

/** Refusals: `InvalidDocumentStatus` when it is not this person's turn. */
export function assertTurn({ state, context, turn, action }: SigningCall): void {
  const isAsked = requestedUsers(action).some(({ id }) => id === turn.userId);
  const isOpen = state === 'Pending' && action.status === 'Pending' && isAsked;
  if (isOpen && !isPromised(context.accepted, turn)) return;
  const message = isOpen
    ? 'The signature was accepted already.'
    : state === 'Pending' && action.status === 'Created'
      ? 'It is not the turn of this participant yet.'
      : undefined;
  throw new PortalRefusal('InvalidDocumentStatus', message);
}

/** Refusals: `InvalidDocumentStatus` when the file was replaced since it was read. */
export function assertVersion({ version }: Pick<DocumentContext, 'version'>, shownVersion: number): void {
  if (version === shownVersion) return;
  throw new PortalRefusal('InvalidDocumentStatus', 'The document has a new version. Open the page again.');
}

/** Codes without which the action is not signed electronically. An application with a key is asked for no e-mail code. */
export function neededCodes({
  action,
  needsEmailCode,
}: Pick<SigningCall, 'action' | 'needsEmailCode'>): readonly CodeKind[] {
  if (!action.allowElectronicSignature) return [];
  return CODE_KINDS.filter((kind) =>
    kind === 'Email'
      ? needsEmailCode && !action.disableEmailAuthentication
      : action.confirmations.includes(kind),
  );
}

/** Codes that were right. */
export interface ConfirmedCodes {
  readonly kinds: readonly CodeKind[];
  /** Time at which the authenticator app was set up; absent = no code of one. */
  readonly appSince?: Millis;
  /** Time at which the passkey was added; absent = none was used. */
  readonly passkeySince?: Millis;
}

/** Refusals: `DocumentNotRead`. */
export function assertRead(
  { requireReading }: Pick<DocumentContext, 'requireReading'>,
  reading: Reading | undefined,
) {
  if (requireReading === true && !isRead(reading)) throw new PortalRefusal('DocumentNotRead');
}

/** Identifies the acting participant, and the files that came with the signature. */
export function evidenceOf(
  call: SigningCall,
  origin: RequestOrigin,
  {
    signing,
    confirmed: { kinds, appSince, passkeySince },
    at,
  }: {
    readonly signing: Pick<ElectronicSigning, 'geolocation' | 'typedName' | 'timeZoneOffset' | 'reading'> & {
      readonly values?: readonly FilledValue[] | undefined;
      readonly provider?: Evidence['signingProvider'];
    };
    readonly confirmed: ConfirmedCodes;
    readonly at: Millis;
  },
): { readonly evidence: Evidence; readonly evidenceSha256: string } {
  const { context, user, application, isHere, turn, mailbox, deputy } = call;
  const phone = PHONE_CHANNELS.some((channel) => kinds.includes(channel))
    ? phoneNumber(user.phone)
    : undefined;
  const hidden = hiddenFields(context, call.action, signing.values);
  const evidence: Evidence = {
    ipAddress: origin.ipAddress || null,
    userAgent: origin.userAgent.slice(0, 500) || null,
    authenticationTypes: [
      ...kinds.map((kind) => (kind === 'Sms' ? 'SMS' : kind)),
      ...(passkeySince === undefined ? [] : (['Login'] as const)),
      ...(application === null ? [] : ([isHere ? 'InPerson' : 'Application'] as const)),
    ],
    authenticatedEmail: kinds.includes('Email') ? user.email : null,
    ...(mailbox !== undefined && { emailConfirmedAt: mailbox.provenAt }),
    ...(signing.provider !== undefined && { signingProvider: signing.provider }),
    ...(phone !== undefined && { authenticatedPhone: phone }),
    ...(appSince !== undefined && { authenticatorAppSince: appSince }),
    ...(passkeySince !== undefined &&
      user.email !== null && { passkey: { email: user.email, since: passkeySince } }),
    authenticatedApplication: isHere
      ? null
      : application && {
          id: application.id,
          name: application.name,
          organizationName: context.organization.name,
        },
    ...(isHere && application !== null && { host: { id: application.id, name: application.name } }),
    ...(call.action.passedOn !== undefined && { passedOn: call.action.passedOn }),
    ...(deputy !== undefined && { deputy }),
    geolocation: signing.geolocation ?? null,
    typedName: plainLine(signing.typedName ?? '').slice(0, 200) || null,
    timeZoneOffset: signing.timeZoneOffset ?? null,
    ...(hidden.length > 0 && { hiddenFields: hidden.map(({ name }) => name) }),
    ...(signing.reading !== undefined && { reading: { ...signing.reading } }),
    at,
  };
  const { id, key, file } = context;
  const signedEvidence = evidenceFile({
    document: { id, key, sha256: file.blob.sha256 },
    flowActionId: turn.flowActionId,
    participant: user,
    evidence,
    values: signing.values,
  });
  return { evidence, evidenceSha256: evidenceDigest(signedEvidence) };
}
