/**
 * Drafts: requests for documents that are kept, changed and sent later.
 *
 * View `drafts` [organization, creationDate, id] → { id, name }, of those that are not sent; counters
 * `drafts/<organization>` and `blob/<sha256>`.
 *
 * Source: docs/decisions/0122-drafts.md.
 */
import { type ActorView, defineActor, type Row } from '@sealwright/runtime';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { DraftItem, DraftView, NewDraft } from '../../../contracts/portal/kept-requests/drafts.ts';
import type { RecordQuery } from '../../../contracts/portal/kept-requests/records.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import { confirmDraft } from '../../../machines/portal/document/document-effects.ts';
import {
  cancelDraftDocuments,
  DRAFT_REMOVED,
  type DraftContent,
  type DraftContext,
  draftMachine,
  SENT_RETENTION_MS,
} from '../../../machines/portal/draft.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { Tenant } from '../api/callers.ts';
import type { MadeDocument } from '../api/documents.ts';
import { originOf } from '../document-records/document-changes.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { mayChange } from '../shared/folder-access.ts';
import { cleanName } from '../shared/names.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { folderNamed, type RecordRuntime, Records } from '../shared/records.ts';
import { blobCounters } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';

/** Characters of a request as JSON. */
const MAX_CONTENT_LENGTH = 256 * 1024;
/** Files and attachments of one draft: those of the largest creation call. */
const MAX_UPLOADS = 70;

type StoredDraft = ActorView<DraftContext>;

export const DRAFT = defineActor('draft', {
  machine: draftMachine,
  effects: [cancelDraftDocuments],
  version: 4,
  migrations: {
    // Version 1 did not record the calls that send a draft, and had no state Unsaved.
    1: {
      migrate: ({ state, context }) => ({ state, context: { ...context, calls: [] } }),
      facts: factsBefore4,
    },
    // Version 2 did not record which attempts are being canceled, and ended a removed draft with its effects.
    2: { migrate: (stored) => stored, facts: factsBefore4 },
    // The rows of version 3 did not name the folder.
    3: { migrate: (stored) => stored, facts: factsBefore4 },
  },
  rows: draftRows,
  counters: draftCounters,
  // A step that ends an actor drops its effects: documents of refused attempts are canceled before.
  ends: ({ state, context: { canceling = [] } }) => state === DRAFT_REMOVED && canceling.length === 0,
});

function draftRows(draft: StoredDraft): readonly Row[] {
  if (draft.state === 'Sent' || draft.state === DRAFT_REMOVED) return [];
  const { organizationId, creationDate, createdBy } = draft.context;
  const folderId = folderNamed(draft.context.document);
  const value = {
    ...itemOf(draft),
    createdBy: { ...createdBy },
    ...(folderId !== null && { folderId }),
  };
  return [{ view: 'drafts', key: [organizationId, creationDate, draft.id], value }];
}

function factsBefore4(draft: StoredDraft) {
  const rows = draftRows(draft).map(
    (row): Row => ({ ...row, value: itemOfRow(row.value) as object as Row['value'] }),
  );
  return { rows, counters: draftCounters(draft) };
}

function draftCounters({ state, context }: StoredDraft): { readonly [name: string]: number } {
  if (state === 'Sent' || state === DRAFT_REMOVED) return {};
  return {
    [`drafts/${context.organizationId}`]: 1,
    ...blobCounters(context.uploads.map(({ blob }) => blob)),
  };
}

/** Refusals of all that take an id: `DocumentDraftNotFound`. */
export class Drafts {
  readonly #records: Records<typeof DRAFT>;

  constructor(
    private readonly runtime: RecordRuntime,
    private readonly uploads: Uploads,
    private readonly creation: Pick<DocumentCreation, 'create'>,
  ) {
    this.#records = new Records(runtime, {
      actor: DRAFT,
      notFound: 'DocumentDraftNotFound',
      list: { view: 'drafts', most: 1_000, items: 'drafts' },
      notAccepted: {
        code: 'InvalidDocumentStatus',
        message: 'The draft is being sent, or was sent. Send it again to get its documents.',
      },
      isOver: ({ state }) => state === DRAFT_REMOVED,
      folderOf: ({ document }) => folderNamed(document),
    });
  }

  /** Drafts that are not sent. */
  async list(tenant: Tenant, query: RecordQuery): Promise<Page<DraftItem>> {
    const { items, ...page } = await this.#records.list(tenant, query);
    // A draft may have 256 Ki characters; a list reads the rows alone.
    return { ...page, items: items.map(({ value }) => itemOfRow(value)) };
  }

  /** The newest of them, with what rights on their folders permit. */
  async newest(tenant: Tenant, limit: number): Promise<Page<DraftItem & { readonly mayChange: boolean }>> {
    const query = { limit, offset: 0, order: 'Desc', q: undefined } as const;
    const { items, ...page } = await this.#records.list(tenant, query);
    return {
      ...page,
      items: items.map(({ value }) => {
        const { folderId = null } = value as { readonly folderId?: string };
        const item = itemOfRow(value);
        return { ...item, mayChange: mayChange(tenant, { folderId, createdBy: item.createdBy }) };
      }),
    };
  }

  /**
   * Refusals: `BadRequest`, `UploadNotFound`, `LimitExceeded`.
   *
   * @param seed as in `DocumentService.create`
   * @param isOfLink true: a draft of a link to the editor, removed after 24 hours if nobody saves it
   */
  async create(tenant: Tenant, body: NewDraft, seed?: string, isOfLink = false): Promise<DraftItem> {
    const made = await this.#records.create(tenant, seed, async () => {
      const origin = this.#records.origin(tenant);
      return {
        ...(await this.#content(tenant, body)),
        ...origin,
        updateDate: origin.creationDate,
        sent: null,
        calls: [],
        ...(isOfLink && { isOfLink }),
      };
    });
    return itemOf(made);
  }

  async get(tenant: Tenant, id: string): Promise<DraftView> {
    const draft = await this.#records.existing(tenant, id);
    return { ...itemOf(draft), document: draft.context.document, documents: sentOf(draft) };
  }

  /** Refusals: as `create`, and `InvalidDocumentStatus` once it is being sent. */
  async replace(tenant: Tenant, id: string, body: NewDraft): Promise<void> {
    const draft = await this.#records.toChange(tenant, id);
    const content = await this.#content(tenant, body, draft.context.uploads);
    await this.#records.change(tenant, id, { type: 'REPLACE', content });
  }

  /** Keeps a draft of a link to the editor as if it was saved. */
  async keep(tenant: Tenant, given: string): Promise<void> {
    const { id } = await this.#records.existing(tenant, given);
    // All other states are kept as they are.
    await this.#records.send(id, { type: 'KEEP' }, (refused) =>
      refused.reason === 'not-accepted' ? undefined : this.#records.refusalOf(refused),
    );
  }

  /** Refusals: `InvalidDocumentStatus` once it is being sent. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    await this.#records.toChange(tenant, id);
    await this.#records.change(tenant, id, { type: 'REMOVE' });
  }

  /** Paths with a ticket from which the files of a draft can be read, by upload id. */
  async locations(tenant: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }> {
    return this.uploads.locationsOf((await this.#records.existing(tenant, id)).context.uploads);
  }

  /** Creates the documents; a repeated call answers the same. Refusals: those of creation; the draft is kept. */
  async send(tenant: Tenant, id: string): Promise<readonly MadeDocument[]> {
    const call = this.runtime.ids.uuid();
    const draft = await this.#begin(tenant, id, call);
    if (draft.state === 'Sent') return sentOf(draft);
    const { attempt = 0, document, uploads } = draft.context;
    try {
      await this.uploads.restoreAll(uploads);
      const request = parsedInput(newDocuments, document);
      const documents = await this.creation.create(tenant, request, seedOf(draft.id, attempt), {
        draft: { id: draft.id, attempt },
      });
      await this.#records.change(tenant, id, { type: 'SENT', attempt, documents });
      return documents;
    } catch (error) {
      // A call at the same time may have ended first.
      const present = await this.#records.find(tenant.organization.id, draft.id);
      if (present?.state === 'Sent') return sentOf(present);
      // A refusal of another call has ended the attempt if this one took too long: its documents cancel themselves.
      if (present !== undefined && (present.context.attempt ?? 0) === attempt)
        await this.#endCall(draft.id, call, error);
      throw error;
    }
  }

  /** Returns the draft of which this call now makes documents, or which another call has sent meanwhile. */
  async #begin(tenant: Tenant, id: string, call: string): Promise<StoredDraft> {
    const kept = await this.#records.existing(tenant, id);
    if (kept.state === 'Sent') return kept;
    try {
      return await this.#records.change(tenant, id, { type: 'SEND', call });
    } catch (error) {
      const present = await this.#records.existing(tenant, id);
      if (present.state === 'Sent') return present;
      // Too many calls send it at the moment, or documents of too many attempts are not canceled yet.
      throw error instanceof PortalRefusal ? new PortalRefusal('ServiceBusy') : error;
    }
  }

  /** Ends a call that made no documents, or only some. A refusal ends the attempt if no other call is in progress. */
  async #endCall(id: string, call: string, error: unknown): Promise<void> {
    const isRefused = error instanceof PortalRefusal && error.code !== 'ServiceBusy';
    await this.#records.send(id, { type: isRefused ? 'REFUSED' : 'FAILED', call });
  }

  /** @param kept uploads of the draft, which may have expired */
  async #content(
    { organization }: Tenant,
    { name: given, document: { read, sent } }: NewDraft,
    kept: DraftContent['uploads'] = [],
  ): Promise<DraftContent> {
    const name = cleanName(given);
    if (JSON.stringify(sent).length > MAX_CONTENT_LENGTH)
      throw new PortalRefusal('LimitExceeded', `A draft may have ${MAX_CONTENT_LENGTH} characters.`);
    const uploadIds = uploadIdsOf(read);
    if (uploadIds.size > MAX_UPLOADS)
      throw new PortalRefusal('LimitExceeded', `A draft may have ${MAX_UPLOADS} files.`);
    await this.uploads.restoreAll(kept.filter(({ id }) => uploadIds.has(id)));
    return { name, document: sent, uploads: await this.uploads.findUploads(organization.id, uploadIds) };
  }
}

/** Ids of the files and attachments of a request. */
export function uploadIdsOf({
  files,
  attachments,
}: Pick<NewDraft['document']['read'], 'files' | 'attachments'>): ReadonlySet<string> {
  return new Set([...(files ?? []), ...(attachments ?? [])].map((file) => file.id));
}

/** Seed of the ids of the documents of one attempt. */
function seedOf(id: string, attempt = 0): string {
  return attempt === 0 ? `draft/${id}` : `draft/${id}/${attempt}`;
}

/** Cancels what a refused attempt has made. A repeated effect cancels nothing twice. */
export function cancelDraftDocumentsHandler(creation: Pick<DocumentCreation, 'idsOf'>) {
  return cancelDraftDocuments.handledBy({
    async run({ attempt, by }, { actor, runtime }) {
      for (const id of creation.idsOf(seedOf(actor.id, attempt))) {
        await runtime.send(DOCUMENT, id, cancellation(by));
      }
      return { type: 'CANCELED', attempt };
    },
  });
}

/**
 * Cancels a document that was made after the end of its attempt, by a call that took longer than 30 s. No record of the
 * draft names such a document: it asks itself, so that its cancellation also survives the end of the process.
 */
export function confirmDraftHandler({ actors, store, clock }: RecordRuntime) {
  return confirmDraft.handledBy({
    async run({ draft: { id, attempt }, createdAt, by }) {
      // The attempt may have ended on another node.
      await store.nodes?.sync();
      const draft = await actors.read(DRAFT, id);
      // A sent draft is removed after its retention.
      const isLate = draft === undefined && clock.now() - createdAt >= SENT_RETENTION_MS;
      const isEnded = draft === undefined || (draft.context.attempt ?? 0) !== attempt;
      return isEnded && !isLate ? cancellation(by) : null;
    },
  });
}

function cancellation(by: Principal) {
  const doneBy = { by: by.name, userId: null, ...originOf(undefined) };
  return { type: 'CANCEL', by, reason: ABANDONED_REASON, doneBy } as const;
}

const ABANDONED_REASON = 'The draft could not be sent as a whole.';

/** Status by state: an unsaved draft has the same status, and expires earlier. */
function statusOf(state: string): DraftItem['status'] {
  return state === 'Unsaved' ? 'Saved' : (state as DraftItem['status']);
}

function itemOf({ id, state, context }: StoredDraft): DraftItem {
  const { name, creationDate, updateDate, createdBy } = context;
  return { id, name, status: statusOf(state), creationDate, updateDate, createdBy };
}

/** The value that `draftRows` wrote. */
function itemOfRow(value: Row['value']): DraftItem {
  const { folderId: _folder, ...item } = value as object as DraftItem & { readonly folderId?: string };
  return item;
}

function sentOf({ context }: StoredDraft): readonly MadeDocument[] {
  return (context.sent ?? []).map((one) => ({ ...one, documentId: one.documentId as DocumentId }));
}
