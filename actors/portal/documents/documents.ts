/** Document requests of applications. Files are read by `Renditions`, documents made by `DocumentCreation`. */

import type { DocumentListItem, DocumentView } from '../../../contracts/portal/documents.ts';
import type { DocumentMove } from '../../../contracts/portal/folders.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import type { ReminderSchedule } from '../../../contracts/portal/reminders.ts';
import type { DownloadType } from '../../../contracts/portal/words.ts';
import type { DocumentId, FlowActionId, FolderId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { principalOf, type RequestOrigin, type Tenant } from '../api/callers.ts';
import type { CreateDocuments, DocumentOfRequest } from '../api/documents.ts';
import type { DocumentColumns } from '../document-records/document-columns.ts';
import { DocumentHistory } from '../document-records/document-history.ts';
import { DOCUMENT, type DocumentActor } from '../document-records/document-index.ts';
import { type DocumentQuery, listReadable } from '../document-records/document-list.ts';
import {
  applicationPrincipal,
  cannotCancel,
  changeDocument,
  type DocumentRequest,
  originOf,
  recordAction,
  type sendToDocument,
} from '../document-records/document-messages.ts';
import { type DocumentDirectory, documentOf, documentToChange } from '../document-records/document-reader.ts';
import { pendingTurn, peopleWithAddress } from '../document-records/signing-turns.ts';
import { assertNoHold, type Folders, type FolderView } from '../folders/folders.ts';
import type { SigningLinks } from '../mails/signing-links.ts';
import type { Renditions, TicketFile } from '../renditions/renditions.ts';
import { deleteDocument } from '../retention/legal-holds.ts';
import type { StoredFile } from '../uploads/blobs.ts';
import type { DocumentCreation } from './document-creation.ts';
import { digitsOfIdentifier, notifiedEmails } from './document-plans.ts';
import { documentItem, documentView, type Identified } from './document-view.ts';

/** Time in which the script of a page begins to read the file, milliseconds. */
const PREVIEW_MS = 5 * 60_000;

export class DocumentService {
  readonly #history: DocumentHistory;

  constructor(
    private readonly needs: {
      readonly runtime: ServiceRuntime;
      readonly directory: DocumentDirectory;
      readonly creation: DocumentCreation;
      readonly folders: Folders;
      readonly contents: Renditions;
      readonly links: SigningLinks;
      readonly columns: DocumentColumns;
    },
  ) {
    this.#history = new DocumentHistory(needs.runtime.store);
  }

  /** The file of one kind of version; made at first asking and kept. */
  async content(tenant: Tenant, id: DocumentId, type: DownloadType): Promise<StoredFile> {
    const file = await this.needs.contents.content(tenant, id, type);
    await this.#recordDownload(tenant, id, type);
    return file;
  }

  /** The file of an attachment, private or not. Refusals: `AttachmentNotFound`. */
  attachment(tenant: Tenant, id: DocumentId, attachmentId: string): Promise<StoredFile> {
    return this.needs.contents.attachment(tenant, id, attachmentId);
  }

  /**
   * A path with a ticket for the script of a page, which draws a PDF at once: nobody's rights outlast it for long. Undefined
   * for other files.
   */
  previewPath(tenant: Tenant, id: DocumentId): Promise<string | undefined> {
    return this.needs.contents.previewTicket(tenant, id, PREVIEW_MS);
  }

  /** A path with a ticket of one hour. */
  contentTicket(tenant: Tenant, id: DocumentId, type: DownloadType, preview: boolean): Promise<string> {
    return this.needs.contents.contentTicket(tenant, id, { type, preview });
  }

  /** Refusals: `NotFound`. */
  async ticketContent(ticket: string, origin?: RequestOrigin): Promise<TicketFile> {
    const file = await this.needs.contents.ticketContent(ticket);
    const document = await this.needs.directory.byId(file.documentId);
    const principal = { by: null, userId: null, ...originOf(origin) };
    if (document !== undefined && !file.inline)
      await recordAction(this.needs.runtime, document, {
        action: 'downloaded',
        principal,
        detail: file.type,
      });
    return file;
  }

  /**
   * @param seed of the ids: the same request with the same seed creates the same documents, so that a request without
   * an answer can be repeated (`Idempotency-Key`). @default fresh ids
   */
  create(tenant: Tenant, request: CreateDocuments, seed?: string): Promise<readonly DocumentOfRequest[]> {
    return this.needs.creation.create(tenant, request, seed);
  }

  async get(tenant: Tenant, id: DocumentId): Promise<DocumentView & Identified> {
    const document = await this.#present(tenant, id);
    return documentView(document, await this.#folderOf(tenant, document), tenant.organization.identifier);
  }

  async list(tenant: Tenant, query: DocumentQuery): Promise<Page<DocumentListItem & Identified>> {
    const { store } = this.needs.runtime;
    const { directory } = this.needs;
    const existing = () => this.needs.folders.ids(tenant.organization.id);
    const { ids, ...page } = await listReadable(store, tenant, {
      query,
      existing,
      columns: this.needs.columns,
    });
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
    return { ...page, items };
  }

  /** Refusals: those of `documentToChange`. */
  async assertChangeable(tenant: Tenant, id: DocumentId): Promise<void> {
    await this.#changeable(tenant, id);
  }

  async remove(tenant: Tenant, id: DocumentId): Promise<void> {
    await this.#changeable(tenant, id);
    const doneBy = applicationPrincipal(tenant);
    const message = { type: 'DELETE', action: 'DeletedByUserOrApplication', doneBy } as const;
    const refusal = await deleteDocument(this.needs.runtime.actors, id, message);
    if (refusal !== undefined) throw refusal;
  }

  async cancel(tenant: Tenant, id: DocumentId, reason: string): Promise<void> {
    await this.#send(tenant, id, { type: 'CANCEL', by: principalOf(tenant), reason }, cannotCancel);
  }

  async refuse(tenant: Tenant, id: DocumentId, reason: string): Promise<void> {
    await this.#send(tenant, id, { type: 'REFUSE', by: principalOf(tenant), reason });
  }

  async setNotifiedEmails(tenant: Tenant, id: DocumentId, emails: readonly string[]): Promise<void> {
    const unique = notifiedEmails(emails);
    await this.#send(tenant, id, { type: 'SET_NOTIFIED_EMAILS', emails: unique });
  }

  async move(tenant: Tenant, id: DocumentId, to: DocumentMove): Promise<void> {
    const { context } = await this.#changeable(tenant, id);
    const folderId = await this.needs.folders.ofDocument(tenant, to);
    if (folderId !== context.folderId) await assertNoHold(this.needs.runtime.actors, context.folderId);
    await this.#send(tenant, id, { type: 'MOVE', folderId });
  }

  /** Absolute URLs. Source: docs/portal-values.md §9. */
  async actionUrl(
    tenant: Tenant,
    id: DocumentId,
    who: {
      readonly identifier?: string | undefined;
      readonly emailAddress?: string | undefined;
      readonly flowActionId?: FlowActionId | undefined;
      readonly requireEmailAuthentication: boolean;
    },
  ): Promise<{ readonly url: string; readonly embedUrl: string }> {
    const { state, context } = await this.#changeable(tenant, id);
    const turn =
      state === 'Pending'
        ? pendingTurn(context, { ...who, identifier: withoutFormatting(who.identifier) })
        : undefined;
    if (turn === undefined) throw new PortalRefusal('NoPendingActionFoundForEmailAndIdentifier');
    return this.needs.links.forApplication(tenant, context, turn, who.requireEmailAuthentication);
  }

  /**
   * Resolves with the number of people who are reminded: 0 when the action is not pending, or nobody of it has an address.
   * @param flowActionId null: all pending actions
   */
  async remind(tenant: Tenant, id: DocumentId, flowActionId: FlowActionId | null): Promise<number> {
    const { context } = await this.#changeable(tenant, id);
    if (flowActionId !== null && !context.actions.some((action) => action.id === flowActionId))
      throw new PortalRefusal('FlowActionNotFound');
    const reminded = await this.needs.runtime.actors.send(DOCUMENT, id, {
      type: 'REMIND',
      doneBy: applicationPrincipal(tenant),
      flowActionId,
    });
    return reminded.accepted ? peopleWithAddress(reminded.context, flowActionId) : 0;
  }

  async setReminders(tenant: Tenant, id: DocumentId, schedule: ReminderSchedule): Promise<void> {
    await this.#send(tenant, id, { type: 'SET_REMINDERS', schedule });
  }

  async history(
    tenant: Tenant,
    id: DocumentId,
    page: { readonly limit: number; readonly offset: number },
  ): ReturnType<DocumentHistory['page']> {
    await this.#present(tenant, id);
    return this.#history.page(id, page);
  }

  async retryProcessing(tenant: Tenant, id: DocumentId): Promise<void> {
    await this.#changeable(tenant, id);
    await this.needs.runtime.actors.send(DOCUMENT, id, { type: 'RETRY' });
  }

  async #recordDownload(tenant: Tenant, id: DocumentId, detail: string): Promise<void> {
    const principal = applicationPrincipal(tenant);
    const document = await this.#present(tenant, id);
    await recordAction(this.needs.runtime, document, { action: 'downloaded', principal, detail });
  }

  #present(tenant: Tenant, id: DocumentId): Promise<DocumentActor> {
    return documentOf(this.needs.directory, tenant, id);
  }

  #changeable(tenant: Tenant, id: DocumentId): Promise<DocumentActor> {
    return documentToChange(this.needs.directory, tenant, id);
  }

  #send(
    tenant: Tenant,
    id: DocumentId,
    message: DocumentRequest,
    refusal?: Parameters<typeof sendToDocument>[3],
  ): Promise<void> {
    return changeDocument(this.needs.runtime.actors, this.needs.directory, { tenant, id, message, refusal });
  }

  async #folderOf(tenant: Tenant, { context }: DocumentActor): Promise<FolderView | null> {
    if (context.folderId === null) return null;
    try {
      return await this.needs.folders.get(tenant, context.folderId as FolderId);
    } catch (error) {
      // It was deleted, and the document is on its way out of it.
      if (error instanceof PortalRefusal && error.code === 'FolderNotFound') return null;
      throw error;
    }
  }
}

function withoutFormatting(identifier: string | undefined): string | undefined {
  return identifier === undefined ? undefined : digitsOfIdentifier(identifier);
}
