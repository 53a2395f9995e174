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
import { isSigning, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { ProvenMailbox } from '../../../machines/portal/mailbox-session.ts';
import { badField, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { QualificationOf } from '../accounts/organization-settings.ts';
import type { RequestOrigin } from '../api/callers.ts';
import type { MailboxAccess } from '../api/signing.ts';
import { waitingFor } from '../document-records/document-index.ts';
import type { DocumentDirectory, ReadDocument } from '../document-records/document-reader.ts';
import { namedTurn, pageState } from '../document-records/signing-turns.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import { addressKey } from '../shared/mail-address.ts';
import type { MailboxSessions } from './mailbox-sessions.ts';
import type { Signing } from './signing-service.ts';
import { WAITING_CASES, waitingCase } from './waiting-rules.ts';

/** Time for which an address of the list opens its document, milliseconds: browsers of others may keep it. */
const LINK_LIFETIME_MS = 3_600_000;
/** Signatures of one act that are made at the same time. */
const AT_ONCE = 4;

interface WaitingPage {
  readonly email: string;
  readonly endDate: number;
  readonly items: readonly WaitingItem[];
  readonly nextCursor: string | null;
}

export class WaitingDocuments {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'store' | 'clock'>;
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
    for (const document of documents) {
      if (document === undefined) continue;
      const { id } = document.context.organization;
      const isDemanding = demands.get(id) ?? (await this.needs.qualificationOf(id)) !== null;
      demands.set(id, isDemanding);
      items.push(...this.#itemsOf(document, email, isDemanding));
    }
    const last = rows.length > MAX_WAITING ? shown.at(-1) : undefined;
    return { email, endDate, items, nextCursor: last === undefined ? null : String(last.order) };
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
    { documents, typedName: given }: WaitingSignatures,
    origin: RequestOrigin,
  ): Promise<readonly WaitingResult[]> {
    const typedName = given ?? undefined;
    const { email, provenAt } = await this.needs.sessions.read(ticket);
    const mailbox = { email, provenAt };
    const results: WaitingResult[] = [];
    const left = [...documents.entries()];
    const work = async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const [at, named] = next;
        const turn = { flowActionId: named.flowActionId as FlowActionId, userId: named.userId as UserId };
        const { documentVersion } = named;
        const documentId = named.documentId as DocumentId;
        const access = { by: 'mailbox', documentId, ...turn, documentVersion, mailbox } as const;
        results[at] = await this.#signed(access, typedName, origin);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return results;
  }

  async #signed(
    access: MailboxAccess,
    typedName: string | undefined,
    origin: RequestOrigin,
  ): Promise<WaitingResult> {
    const { documentId, flowActionId, userId, mailbox } = access;
    const about = { documentId, flowActionId, userId };
    try {
      await this.#act(access, typedName, origin);
      return { ...about, isDone: true, code: null, message: null };
    } catch (error) {
      if (!(error instanceof PortalRefusal)) throw error;
      // The same call may have come before.
      if (await this.#hasActed(access, mailbox)) return { ...about, isDone: true, code: null, message: null };
      return { ...about, isDone: false, code: error.code, message: error.message };
    }
  }

  async #act(access: MailboxAccess, typedName: string | undefined, origin: RequestOrigin): Promise<void> {
    const { signing, directory } = this.needs;
    const document = await directory.byId(access.documentId);
    const named = document && namedTurn(document.context, access);
    if (named !== undefined && !isSigning(named.action)) await signing.approve(access, origin);
    else await signing.signElectronically(access, signatureOf(typedName), origin);
  }

  async #hasActed(turn: MailboxAccess, { email }: ProvenMailbox): Promise<boolean> {
    const document = await this.needs.directory.byId(turn.documentId);
    const address = document && namedTurn(document.context, turn)?.user.email;
    if (document === undefined || !address || addressKey(address) !== addressKey(email)) return false;
    if (document.context.version !== turn.documentVersion) return false;
    return ['processing', 'done', 'concluded'].includes(pageState(document, turn));
  }
}

function signatureOf(typedName: string | undefined): Parameters<Signing['signElectronically']>[1] {
  return { typedName, positions: [], initialsPositions: [] };
}

/** Refusals: `BadRequest`. */
function positionOf(cursor: string): number {
  if (!/^\d{1,16}$/.test(cursor)) throw badField('Cursor', 'is no position');
  return Number(cursor);
}
