/** Acts of deputies in place of people. Source: docs/decisions/0580-deputies.md. */
import {
  type DeputyAct,
  type DeputyItem,
  type DeputyTurn,
  type DocumentDeputy,
  MAX_REPRESENTED,
} from '../../../contracts/portal/signing/deputies.ts';
import { MAX_WAITING } from '../../../contracts/portal/signing/waiting.ts';
import type { DocumentId, FlowActionId, UserId } from '../../../machines/ids.ts';
import { deputyIn } from '../../../machines/portal/documents/deputy-acts.ts';
import type { Turn } from '../../../machines/portal/documents/document-context.ts';
import { isSigning, requestedUsers, usersOf } from '../../../machines/portal/documents/document-flow.ts';
import type { Deputy } from '../../../machines/portal/mailbox.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { type ActingDeputy, documentType } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { DeputyDemandsOf } from '../accounts/organization-settings.ts';
import { PORTAL_USER } from '../accounts/users.ts';
import type { RequestOrigin, Tenant } from '../api/callers.ts';
import { waitingFor } from '../document-records/document-index.ts';
import { participantPrincipal, recordAction } from '../document-records/document-messages.ts';
import {
  type DocumentDirectory,
  documentOf,
  type ReadDocument,
} from '../document-records/document-reader.ts';
import { namedTurn } from '../document-records/signing-turns.ts';
import { addressKey } from '../shared/mail-address.ts';
import { deputiesOf, deputyshipOf } from '../shared/mailbox-records.ts';
import type { MailboxSessions } from '../signing/mailbox-sessions.ts';
import { faultText, senderOf } from '../signing/passing-on.ts';
import type { Signing } from '../signing/signing-service.ts';
import { positionOf } from '../signing/waiting-documents.ts';
import type { Blobs, StoredFile } from '../uploads/blobs.ts';
import { type DeputyDemands, type DeputyFault, deputyFault } from './deputy-rules.ts';

const FAULTS: { readonly [fault in Exclude<DeputyFault, 'hidden' | 'outside' | 'over'>]: string } = {
  forbidden: 'The organization takes no deputies.',
  person: 'The action needs the person itself: a certificate, a telephone or an app.',
  document: 'The action asks for more than a signature: its person opens it.',
  shared: 'The document has several turns of the mailbox of the person.',
  sender: 'The deputy has sent the document, or nobody knows who has.',
  'other-name': 'The person has named the deputy by another name since.',
  'not-permitted': faultText('not-permitted'),
  'in-progress': faultText('in-progress'),
  'same-person': 'Nobody is the own deputy.',
  'had-it': 'The deputy had the action before.',
  'of-the-flow': 'The deputy takes part in the document already.',
};

/** Turn of a person who has a deputy. */
interface Represented {
  readonly document: ReadDocument;
  readonly turn: Turn;
  readonly person: string;
  readonly deputy: Deputy;
  /** Name that the deputy was shown; for an act. */
  readonly shownName?: string;
}

export class DeputySigning {
  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock'>;
      readonly directory: DocumentDirectory;
      readonly sessions: MailboxSessions;
      readonly blobs: Pick<Blobs, 'file'>;
      readonly signing: Pick<Signing, 'signElectronically' | 'approve'>;
      readonly demandsOf: DeputyDemandsOf;
    },
  ) {}

  /** One page of what a deputy may do for a person. Refusals: `InvalidTicket`, `BadRequest` for a position that is none. */
  async list(
    ticket: string,
    person: string,
    cursor?: string | null,
  ): Promise<{ items: readonly DeputyItem[]; nextCursor: string | null }> {
    const { runtime, sessions, directory } = this.needs;
    const { email } = await sessions.read(ticket);
    const after = cursor ? positionOf(cursor) : undefined;
    const deputy = await deputyshipOf(runtime.actors, { person, deputy: email }, runtime.clock.now());
    if (deputy === undefined) return { items: [], nextCursor: null };
    const rows = await waitingFor(runtime.store, person, { limit: MAX_WAITING + 1, after });
    const shown = rows.slice(0, MAX_WAITING);
    const documents = await Promise.all(shown.map(({ documentId }) => directory.byId(documentId)));
    const items: DeputyItem[] = [];
    for (const document of documents)
      if (document !== undefined) items.push(...(await this.#itemsOf(document, person, deputy)));
    const last = shown.at(-1)?.order;
    return { items, nextCursor: rows.length > shown.length && last !== undefined ? String(last) : null };
  }

  async #itemsOf(document: ReadDocument, person: string, deputy: Deputy): Promise<readonly DeputyItem[]> {
    const { context } = document;
    const items: DeputyItem[] = [];
    const demands = await this.#demandsOf(document);
    for (const action of context.actions)
      for (const user of usersOf(action)) {
        if (user.email === null || addressKey(user.email) !== addressKey(person)) continue;
        const turn = { flowActionId: action.id, userId: user.id };
        if (this.#faultOf({ document, turn, person, deputy }, demands) !== undefined) continue;
        items.push({
          documentId: context.id,
          ...turn,
          documentVersion: context.version,
          actionDate: action.updateDate,
          name: context.name,
          organizationName: context.organization.name,
          person,
          participantName: user.name,
          deputyName: deputy.name,
          asked: isSigning(action) ? 'Sign' : 'Approve',
          expirationDate: context.expirationDate,
        });
      }
    return items;
  }

  /** Of organization and sender, once for all turns of a document. */
  async #demandsOf({ context }: ReadDocument): Promise<DeputyDemands> {
    const { runtime, demandsOf } = this.needs;
    const { createdBy, organization } = context;
    const demands = await demandsOf(organization.id);
    // Also of a user who has left the organization.
    const user = createdBy.type === 'User' ? await runtime.actors.read(PORTAL_USER, createdBy.id) : null;
    return { ...demands, sender: user === null ? null : user?.context.email };
  }

  #faultOf(
    { document, turn, person, deputy, shownName }: Represented,
    demands: DeputyDemands,
  ): DeputyFault | undefined {
    const at = this.needs.runtime.clock.now();
    return deputyFault(document, turn, { person, deputy, shownName }, { ...demands, at });
  }

  /** The file to read before an act; the history records it. Refusals: those of the operation. */
  async content(ticket: string, given: DeputyTurn, origin: RequestOrigin): Promise<StoredFile> {
    const { runtime, sessions, blobs } = this.needs;
    const { email } = await sessions.read(ticket);
    const found = await this.#represented(email, given);
    const fault = this.#faultOf(found, await this.#demandsOf(found.document));
    if (fault !== undefined) throw faultRefusal(fault);
    const { context } = found.document;
    const principal = participantPrincipal(found.deputy, origin);
    await recordAction(runtime, found.document, {
      action: 'opened',
      principal,
      flowActionId: found.turn.flowActionId,
      emailAddress: found.deputy.email,
    });
    return blobs.file(context.current, context.file.name, documentType(context));
  }

  /** Signs or approves in place of the person; done before, it does nothing. Refusals: those of the operation. */
  async act(ticket: string, given: DeputyAct, origin: RequestOrigin): Promise<void> {
    const { sessions, signing, runtime } = this.needs;
    const { email, provenAt } = await sessions.read(ticket);
    const found = await this.#represented(email, given);
    const { document, turn, deputy } = found;
    const { context } = document;
    if (deputyIn(context, turn)?.email === deputy.email) return;
    const demands = await this.#demandsOf(document);
    const fault = this.#faultOf({ ...found, shownName: given.deputyName }, demands);
    const named = namedTurn(context, turn);
    if (fault !== undefined || named === undefined) throw faultRefusal(fault ?? 'hidden');
    const sender = await senderOf(runtime.actors, context);
    const { id, name, email: personEmail, language } = named.user;
    const acting: ActingDeputy = {
      ...deputy,
      id: deputy.id as UserId,
      person: { id, name, email: personEmail, ...(language && { language }) },
      ...(sender && { sender }),
    };
    const { documentVersion, actionDate } = given;
    const access = {
      by: 'mailbox',
      documentId: context.id,
      ...turn,
      documentVersion,
      actionDate,
      mailbox: { email, provenAt },
      deputy: acting,
    } as const;
    if (!isSigning(named.action)) await signing.approve(access, origin);
    else await signing.signElectronically(access, { positions: [], initialsPositions: [] }, origin);
  }

  /** Refusals: `DocumentNotFound` for what is not of a person whose deputy the mailbox is now. */
  async #represented(email: string, given: DeputyTurn): Promise<Represented> {
    const { actors, clock } = this.needs.runtime;
    const turn = { flowActionId: given.flowActionId as FlowActionId, userId: given.userId as UserId };
    const document = await this.needs.directory.byId(given.documentId as DocumentId);
    const person = document && namedTurn(document.context, turn)?.user.email;
    const deputy = person && (await deputyshipOf(actors, { person, deputy: email }, clock.now()));
    if (!document || !person || !deputy) throw new PortalRefusal('DocumentNotFound');
    return { document, turn, person, deputy };
  }

  /** Deputies who may act on a document now, for its organization. Refusals: those of the operation. */
  async ofDocument(tenant: Tenant, id: DocumentId): Promise<readonly DocumentDeputy[]> {
    const { runtime, directory } = this.needs;
    const document = await documentOf(directory, tenant, id);
    const turns = document.context.actions
      .filter(({ status }) => status === 'Pending')
      .flatMap((action) => requestedUsers(action).map((user) => ({ action, user })))
      .slice(0, MAX_REPRESENTED);
    const found: DocumentDeputy[] = [];
    const demands = await this.#demandsOf(document);
    for (const { action, user } of turns) {
      if (user.email === null) continue;
      const turn = { flowActionId: action.id, userId: user.id };
      for (const deputy of await deputiesOf(runtime.actors, user.email, runtime.clock.now())) {
        if (this.#faultOf({ document, turn, person: user.email, deputy }, demands) !== undefined) continue;
        const { name, email, from, until } = deputy;
        found.push({ ...turn, name, email, startDate: from, endDate: until });
      }
    }
    return found;
  }
}

/** Tells a stranger not whether it is out of the time, or hidden. */
function faultRefusal(fault: DeputyFault): PortalRefusal {
  if (fault === 'outside' || fault === 'hidden' || fault === 'over')
    return new PortalRefusal('DocumentNotFound');
  return new PortalRefusal('InvalidFlowAction', FAULTS[fault], { details: { deputy: fault } });
}
