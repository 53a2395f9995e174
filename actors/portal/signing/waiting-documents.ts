/** Documents of all organizations that wait for a mailbox. Source: docs/decisions/0570-what-waits-for-a-mailbox.md. */
import {
  MAX_WAITING,
  OPENED_ALONE,
  type OpenedAlone,
  type WaitingItem,
  type WaitingResult,
  type WaitingSignatures,
} from '../../../contracts/portal/signing/waiting.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../machines/ids.ts';
import { deputyIn } from '../../../machines/portal/documents/deputy-acts.ts';
import { isSigning, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { ProvenMailbox } from '../../../machines/portal/mailbox-session.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Participant } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { QualificationOf } from '../accounts/organization-settings.ts';
import type { RequestOrigin } from '../api/callers.ts';
import type { MailboxAccess } from '../api/signing.ts';
import { waitingFor } from '../document-records/document-index.ts';
import type { DocumentDirectory, ReadDocument } from '../document-records/document-reader.ts';
import { isPromised, namedTurn } from '../document-records/signing-turns.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { addressKey } from '../shared/mail-address.ts';
import type { MailboxSessions } from './mailbox-sessions.ts';
import type { Signing } from './signing-service.ts';
import { isSamePerson, WAITING_CASES, waitingCase } from './waiting-rules.ts';

/** Time for which an address of the list opens its document, milliseconds: browsers of others may keep it. */
const LINK_LIFETIME_MS = 3_600_000;
/** Signatures of one act that are made at the same time. */
const AT_ONCE = 4;

/** Time after which an act takes no further document, milliseconds. */
const ACT_MS = 30_000;
const OTHER_PERSON = 'The document names another person at this mailbox. One act is of one person.';

interface WaitingPage {
  readonly email: string;
  readonly endDate: number;
  readonly items: readonly WaitingItem[];
  readonly nextCursor: string | null;
}

export class WaitingDocuments {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'store' | 'clock' | 'log'>;
      readonly directory: DocumentDirectory;
      readonly sessions: MailboxSessions;
      readonly links: SigningLinks;
      readonly signing: Pick<Signing, 'signElectronically' | 'approve'>;
      readonly qualificationOf: QualificationOf;
    },
  ) {}

  get sessions(): MailboxSessions {
    return this.needs.sessions;
  }

  /** One page, oldest first. Refusals: `InvalidTicket`, `BadRequest` for a position that is none. */
  async list(ticket: string, cursor?: string | null): Promise<WaitingPage> {
    const { runtime, directory, sessions } = this.needs;
    const { email, endDate } = await sessions.read(ticket);
    const after = cursor ? positionOf(cursor) : undefined;
    const rows = await waitingFor(runtime.store, email, { limit: MAX_WAITING + 1, after });
    const shown = rows.slice(0, MAX_WAITING);
    const documents = await Promise.all(shown.map(({ documentId }) => directory.byId(documentId)));
    const demands = new Map<string, boolean>();
    const items: WaitingItem[] = [];
    let last: number | undefined;
    for (const [at, document] of documents.entries()) {
      // Of a document all turns of the mailbox are listed.
      if (items.length >= MAX_WAITING) break;
      last = shown[at]?.order;
      if (document === undefined) continue;
      const { id } = document.context.organization;
      const isDemanding = demands.get(id) ?? (await this.needs.qualificationOf(id)) !== null;
      demands.set(id, isDemanding);
      items.push(...this.#itemsOf(document, email, isDemanding));
    }
    const isMore = last !== undefined && last !== rows.at(-1)?.order;
    return { email, endDate, items, nextCursor: isMore ? String(last) : null };
  }

  #itemsOf(document: ReadDocument, email: string, isDemanding: boolean): readonly WaitingItem[] {
    const { links, runtime } = this.needs;
    const { context } = document;
    const until = runtime.clock.now() + LINK_LIFETIME_MS;
    return context.actions.flatMap((action) =>
      usersOf(action).flatMap((user): readonly WaitingItem[] => {
        const turn = { flowActionId: action.id, userId: user.id };
        const found = waitingCase(document, turn, email, isDemanding);
        if (WAITING_CASES[found] === 'hides') return [];
        return [
          {
            documentId: context.id,
            ...turn,
            documentVersion: context.version,
            actionDate: action.updateDate,
            name: context.name,
            organizationName: context.organization.name,
            senderName: context.createdBy.type === 'User' ? context.createdBy.name : null,
            participantName: user.name,
            title: action.title,
            asked: isSigning(action) ? 'Sign' : 'Approve',
            creationDate: context.creationDate,
            expirationDate: context.expirationDate,
            alone: OPENED_ALONE.includes(found as OpenedAlone) ? (found as OpenedAlone) : null,
            url: links.action(context, action.id, user.id, until),
          },
        ];
      }),
    );
  }

  /** Signs or approves each document by itself. Refusals: `InvalidTicket`. */
  async sign(
    ticket: string,
    { documents, typedName }: WaitingSignatures,
    origin: RequestOrigin,
  ): Promise<readonly WaitingResult[]> {
    const { clock } = this.needs.runtime;
    const { email, provenAt } = await this.needs.sessions.read(ticket);
    const mailbox = { email, provenAt };
    const named = documents.map((one) => accessTo(one, mailbox));
    const people = await Promise.all(named.map((access) => this.#personOf(access)));
    const first = people.find((one) => one !== undefined);
    const ends = clock.elapsed() + ACT_MS;
    const results: WaitingResult[] = [];
    const left = [...named.entries()];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [at, access] = next;
        const person = people[at];
        const isOther = first !== undefined && person !== undefined && !isSamePerson(first, person);
        if (isOther) results[at] = resultOf(access, new PortalRefusal('InvalidFlowAction', OTHER_PERSON));
        else if (clock.elapsed() > ends) results[at] = resultOf(access, new PortalRefusal('ServiceBusy'));
        else results[at] = resultOf(access, await this.#refusalOf(access, typedName ?? undefined, origin));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return results;
  }

  /** The person of an action, if of the mailbox: of others nothing is told, not even that a name differs. */
  async #personOf(access: MailboxAccess): Promise<Participant | undefined> {
    const document = await this.needs.directory.byId(access.documentId);
    const user = document && namedTurn(document.context, access)?.user;
    return user?.email && addressKey(user.email) === addressKey(access.mailbox.email) ? user : undefined;
  }

  /** Undefined: the person has signed or approved, now or before. */
  async #refusalOf(
    access: MailboxAccess,
    typedName: string | undefined,
    origin: RequestOrigin,
  ): Promise<PortalRefusal | undefined> {
    try {
      await this.#act(access, typedName, origin);
      return undefined;
    } catch (error) {
      if (error instanceof PortalRefusal) return (await this.#hasActed(access)) ? undefined : error;
      const { documentId } = access;
      this.needs.runtime.log.warn('A document of an act was not signed.', {
        documentId,
        error: String(error),
      });
      return new PortalRefusal('ServiceBusy');
    }
  }

  async #act(access: MailboxAccess, typedName: string | undefined, origin: RequestOrigin): Promise<void> {
    const { signing, directory } = this.needs;
    const document = await directory.byId(access.documentId);
    const named = document && namedTurn(document.context, access);
    if (named !== undefined && !isSigning(named.action)) await signing.approve(access, origin);
    else await signing.signElectronically(access, signatureOf(typedName), origin);
  }

  /** True when exactly this person has acted: others of a rule may have, or a deputy, and the person may have refused. */
  async #hasActed(turn: MailboxAccess): Promise<boolean> {
    const document = await this.needs.directory.byId(turn.documentId);
    if (document === undefined || (await this.#personOf(turn)) === undefined) return false;
    const { version, accepted, made } = document.context;
    const isDone = isPromised(accepted, turn) || isPromised(made, turn);
    return version === turn.documentVersion && isDone && deputyIn(document.context, turn) === undefined;
  }
}

function accessTo(
  { documentId, flowActionId, userId, documentVersion, actionDate }: WaitingSignatures['documents'][number],
  mailbox: ProvenMailbox,
): MailboxAccess {
  const turn = { flowActionId: flowActionId as FlowActionId, userId: userId as UserId };
  return {
    by: 'mailbox',
    documentId: documentId as DocumentId,
    ...turn,
    documentVersion,
    actionDate,
    mailbox,
  };
}

function resultOf(
  { documentId, flowActionId, userId }: MailboxAccess,
  refusal: PortalRefusal | undefined,
): WaitingResult {
  const about = { documentId, flowActionId, userId };
  return {
    ...about,
    isDone: refusal === undefined,
    code: refusal?.code ?? null,
    message: refusal?.message ?? null,
  };
}

function signatureOf(typedName: string | undefined): Parameters<Signing['signElectronically']>[1] {
  return { typedName, positions: [], initialsPositions: [] };
}

/** Refusals: `BadRequest`. */
export function positionOf(cursor: string): number {
  if (!/^\d{1,16}$/.test(cursor)) throw badField('Cursor', 'is no position');
  return Number(cursor);
}
