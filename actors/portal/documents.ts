/**
 * What applications may do with documents. Implements `PortalDocuments`; see `api.ts` for its promises.
 * What a document looks like is in `DocumentContents`, how it is made in `document-creation.ts`.
 */
import type { FlowChange } from '../../machines/document-context.ts';
import { busyActions } from '../../machines/document-edits.ts';
import { edited } from '../../machines/document-flow.ts';
import type { DocumentId, FlowActionId } from '../../machines/ids.ts';
import { plainText } from '../../machines/plain-text.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { ActorStore, ActorSystem, Clock } from '../../runtime/index.ts';
import type {
  CreateDocuments,
  CreatedDocument,
  DocumentListItem,
  DocumentQuery,
  DocumentView,
  FlowEdit,
  FolderView,
  NewVersion,
  Page,
  PortalDocuments,
  PortalFolders,
  Tenant,
} from './api.ts';
import { cannotCancel, change, type DocumentWord, wrongStatus } from './document-changes.ts';
import type { DocumentCreation } from './document-creation.ts';
import type { DocumentDirectory } from './document-directory.ts';
import type { DocumentFiles } from './document-files.ts';
import { type DocumentActor, documentAddress } from './document-index.ts';
import { listDocuments } from './document-list.ts';
import { bareIdentifier, notifiedEmails, type PlanParts, planMarks } from './document-plans.ts';
import { documentOf } from './document-reader.ts';
import { documentItem, documentView } from './document-view.ts';
import { planFlowEdit } from './flow-edits.ts';
import type { PendingNotices } from './pending-notices.ts';
import type { SigningLinks } from './signing-links.ts';
import { pendingTurn } from './signing-turns.ts';

/** What a document looks like: engineered apart. */
export type DocumentContentsPort = Pick<PortalDocuments, 'content' | 'contentTicket' | 'ticketContent'>;

export interface DocumentServiceParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly directory: DocumentDirectory;
  readonly creation: DocumentCreation;
  readonly files: DocumentFiles;
  readonly folders: Pick<PortalFolders, 'get' | 'create'>;
  readonly contents: DocumentContentsPort;
  readonly links: SigningLinks;
  readonly pending: PendingNotices;
  readonly plans: PlanParts;
  /** `Portal:NotifyParticipants:NewVersion`. */
  readonly tellNewVersion: boolean;
}

export class DocumentService implements PortalDocuments {
  readonly content: PortalDocuments['content'];
  readonly contentTicket: PortalDocuments['contentTicket'];
  readonly ticketContent: PortalDocuments['ticketContent'];
  readonly #parts: DocumentServiceParts;

  constructor(parts: DocumentServiceParts) {
    this.#parts = parts;
    const { contents } = parts;
    this.content = (tenant, id, type) => contents.content(tenant, id, type);
    this.contentTicket = (tenant, id, type, preview) => contents.contentTicket(tenant, id, type, preview);
    this.ticketContent = (ticket) => contents.ticketContent(ticket);
  }

  create(tenant: Tenant, request: CreateDocuments, seed?: string): Promise<readonly CreatedDocument[]> {
    return this.#parts.creation.create(tenant, request, seed);
  }

  async get(tenant: Tenant, id: DocumentId): Promise<DocumentView> {
    await this.#present(tenant, id);
    const document = await this.#parts.directory.byId(id);
    if (document === undefined) throw new PortalRefusal('DocumentNotFound');
    return documentView(document, await this.#folderOf(tenant, document), tenant.organization.identifier);
  }

  async list(tenant: Tenant, query: DocumentQuery): Promise<Page<DocumentListItem>> {
    const { store, directory } = this.#parts;
    const { ids, totalCount } = await listDocuments(store, tenant.organization.id, query);
    const found = await Promise.all(ids.map((id) => directory.byId(id)));
    const folders = new Map<string, Promise<FolderView | null>>();
    const folderOf = (document: DocumentActor): Promise<FolderView | null> => {
      const key = document.context.folderId ?? '';
      const folder = folders.get(key) ?? this.#folderOf(tenant, document);
      folders.set(key, folder);
      return folder;
    };
    const documents = found.filter((document) => document !== undefined);
    const items = await Promise.all(
      documents.map(async (document) => documentItem(document, await folderOf(document))),
    );
    return { items, totalCount };
  }

  async remove(tenant: Tenant, id: DocumentId): Promise<void> {
    await this.#tell(tenant, id, { type: 'DELETE', action: 'DeletedByUserOrApplication' });
  }

  async cancel(tenant: Tenant, id: DocumentId, reason: string): Promise<void> {
    await this.#tell(
      tenant,
      id,
      { type: 'CANCEL', by: doer(tenant), reason: reasonOf(reason) },
      cannotCancel,
    );
  }

  async refuse(tenant: Tenant, id: DocumentId, reason: string): Promise<void> {
    await this.#tell(tenant, id, { type: 'REFUSE', by: doer(tenant), reason: reasonOf(reason) });
  }

  async newVersion(tenant: Tenant, id: DocumentId, version: NewVersion): Promise<void> {
    const { context } = await this.#present(tenant, id);
    if (context.isEnvelope)
      throw new PortalRefusal('InvalidDocumentStatus', 'An envelope gets new versions of its own kind.');
    const [input, ...more] = version.files;
    if (input === undefined || more.length > 0)
      throw new PortalRefusal('BadRequest', 'The File field is required.', {
        errors: { File: ['The File field is required.'] },
      });
    this.#assertVersionable(await this.#present(tenant, id));
    const prepared = await this.#parts.files.single(
      tenant.organization.id,
      input,
      context.forceCadesSignature,
    );
    await this.#replaceFile(tenant, id, version, prepared.file.displayName, prepared);
  }

  async newEnvelopeVersion(tenant: Tenant, id: DocumentId, version: NewVersion): Promise<void> {
    const document = await this.#present(tenant, id);
    const { context } = document;
    if (!context.isEnvelope) throw new PortalRefusal('InvalidDocumentStatus', 'The document is no envelope.');
    this.#assertVersionable(document);
    const name = version.envelopeName?.trim() ? version.envelopeName : context.name;
    const { files } = this.#parts;
    const prepared = await files.envelope(
      tenant.organization.id,
      version.files,
      name,
      context.forceCadesSignature,
    );
    await this.#replaceFile(tenant, id, version, prepared.file.displayName, prepared);
  }

  async #replaceFile(
    tenant: Tenant,
    id: DocumentId,
    version: NewVersion,
    name: string,
    { file, format, parts, marked }: Awaited<ReturnType<DocumentFiles['single']>>,
  ): Promise<void> {
    const { context } = await this.#present(tenant, id);
    await this.#parts.files.assertSignable({ file, format }, context.actions);
    const marks = (version.prePositionedMarks ?? []).map(({ flowActionId, prePositionedDocumentMarks }) => {
      const action = context.actions.find((one) => one.id === flowActionId.toLowerCase());
      if (action === undefined) throw new PortalRefusal('FlowActionNotFound');
      return { flowActionId: action.id, marks: planMarks(prePositionedDocumentMarks, marked) };
    });
    await this.#tell(tenant, id, {
      type: 'NEW_VERSION',
      ...{ name, file, format, parts, marks },
      ...(version.additionalInfo && { additionalInfo: version.additionalInfo }),
      quietStart: version.disablePendingActionNotifications === true,
      tellParticipants: this.#parts.tellNewVersion,
    });
  }

  #assertVersionable({ state }: Pick<DocumentActor, 'state'>): void {
    if (state !== 'Pending' && state !== 'Refused') throw wrongStatus({ state });
  }

  async editFlow(tenant: Tenant, id: DocumentId, edit: FlowEdit): Promise<void> {
    const { context } = await this.#present(tenant, id);
    const planned = planFlowEdit(context, edit, this.#parts.plans);
    const { added, deleted } = planned;
    const staying = context.actions.filter((action) => !deleted.includes(action.id));
    await this.#parts.files.assertSignable(context, [...staying, ...added], added);
    await this.#tell(tenant, id, { type: 'EDIT_FLOW', change: planned }, (now) => {
      if (now.state !== 'Pending') return wrongStatus(now);
      return editFault(now, planned, this.#parts.clock.now()) ?? 'InvalidFlowAction';
    });
  }

  async setNotifiedEmails(tenant: Tenant, id: DocumentId, emails: readonly string[]): Promise<void> {
    const unique = notifiedEmails(emails);
    await this.#tell(tenant, id, { type: 'SET_NOTIFIED_EMAILS', emails: unique });
  }

  async move(
    tenant: Tenant,
    id: DocumentId,
    to: { readonly folderId: string | null; readonly newFolderName: string | null },
  ): Promise<void> {
    await this.#present(tenant, id);
    const folderId = await this.#parts.creation.folder(tenant, to.folderId, to.newFolderName);
    await this.#tell(tenant, id, { type: 'MOVE', folderId });
  }

  async actionUrl(
    tenant: Tenant,
    id: DocumentId,
    who: Parameters<PortalDocuments['actionUrl']>[2],
  ): Promise<{ readonly url: string; readonly embedUrl: string }> {
    const { state, context } = await this.#present(tenant, id);
    const turn =
      state === 'Pending' ? pendingTurn(context, { ...who, identifier: bare(who.identifier) }) : undefined;
    if (turn === undefined) throw new PortalRefusal('NoPendingActionFoundForEmailAndIdentifier');
    return this.#parts.links.forApplication(tenant, context, turn, who.requireEmailAuthentication);
  }

  async remind(tenant: Tenant, id: DocumentId, flowActionId: FlowActionId): Promise<void> {
    const { context } = await this.#present(tenant, id);
    if (!context.actions.some((action) => action.id === flowActionId))
      throw new PortalRefusal('FlowActionNotFound');
    const outcome = await this.#parts.system.tell(documentAddress(id), { type: 'REMIND', flowActionId });
    if (outcome.accepted) await outcome.durable;
  }

  notifyPending(tenant: Tenant, emails: readonly string[]): Promise<void> {
    return this.#parts.pending.notify(tenant, emails);
  }

  async retryProcessing(tenant: Tenant, id: DocumentId): Promise<void> {
    await this.#present(tenant, id);
    const outcome = await this.#parts.system.tell(documentAddress(id), { type: 'RETRY' });
    if (outcome.accepted) await outcome.durable;
  }

  #present(tenant: Tenant, id: DocumentId): Promise<DocumentActor> {
    return documentOf(this.#parts.directory, tenant, id) as Promise<DocumentActor>;
  }

  async #tell(
    tenant: Tenant,
    id: DocumentId,
    word: DocumentWord,
    because: Parameters<typeof change>[3] = wrongStatus,
  ): Promise<void> {
    await this.#present(tenant, id);
    await change(this.#parts.system, id, word, because);
  }

  async #folderOf(tenant: Tenant, { context }: DocumentActor): Promise<FolderView | null> {
    if (context.folderId === null) return null;
    try {
      return await this.#parts.folders.get(tenant, context.folderId as never);
    } catch (error) {
      // It was deleted, and the document is on its way out of it.
      if (error instanceof PortalRefusal && error.code === 'FolderNotFound') return null;
      throw error;
    }
  }
}

function bare(identifier: string | undefined): string | undefined {
  return identifier === undefined ? undefined : bareIdentifier(identifier);
}

function doer({ application: { id, name } }: Tenant) {
  return { id, name, type: 'Application' } as const;
}

/** Refusals: `BadRequest` when there is none. Source: portal-gaps §8. */
export function reasonOf(text: string): string {
  const reason = plainText(text);
  if (reason !== '') return reason.slice(0, 2000);
  const message = 'The Reason field is required.';
  throw new PortalRefusal('BadRequest', message, { errors: { Reason: [message] } });
}

function editFault(
  { context }: DocumentActor,
  planned: FlowChange,
  at: number,
): 'FlowActionNotFound' | 'InvalidFlowAction' | undefined {
  const outcome = edited(context.actions, planned, busyActions(context, at), at);
  if (outcome === 'unknown') return 'FlowActionNotFound';
  return outcome === 'invalid' ? 'InvalidFlowAction' : undefined;
}
