/**
 * Drafts: requests for documents that are kept, changed and sent later.
 *
 * Source: docs/decisions/0122-drafts.md.
 */
import { type ActorView, defineActor, type Json } from '@sealwright/runtime';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import { newDocuments } from '../../../contracts/portal/new-documents.ts';
import {
  type DraftItem,
  type DraftView,
  type NewDraft,
  newDraft,
} from '../../../contracts/portal/saved-requests/drafts.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import { confirmDraft } from '../../../machines/portal/documents/document-effects.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  cancelDraftDocuments,
  type RequestContent,
  type RequestContext,
  SENT_RETENTION_MS,
} from '../../../machines/portal/saved-request.ts';
import type { Tenant } from '../api/callers.ts';
import type { DocumentOfRequest } from '../api/documents.ts';
import { DOCUMENT } from '../document-records/document-index.ts';
import { originOf } from '../document-records/document-messages.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { mayChange } from '../shared/folder-access.ts';
import { cleanName } from '../shared/names.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import type { RecordRuntime } from '../shared/records.ts';
import { SAMPLE_MARK, sampleContract } from '../uploads/sample-contract.ts';
import type { Uploads } from '../uploads/uploads.ts';
import {
  assertLength,
  factsWithoutFolder,
  itemOfRow,
  newestOf,
  requestActors,
  type SavedRequest,
  SavedRequests,
  timesOf,
} from './saved-requests.ts';

/** Files and attachments of one draft: those of the largest creation call. */
const MAX_UPLOADS = 70;

const DRAFTS = requestActors('draft', { most: 1, view: 'drafts', itemOf });

// The rows of version 3 did not name the folder.
const facts = ({ context, ...draft }: ActorView) =>
  factsWithoutFolder(DRAFTS, {
    ...draft,
    context: inVersions(context as StoredContext) as object as RequestContext,
  });

export const DRAFT = defineActor('draft', {
  ...DRAFTS,
  version: 5,
  migrations: {
    // Version 1 did not record the calls that send a draft, and had no state Unsaved.
    1: { migrate: ({ state, context }) => ({ state, context: { ...context, calls: [] } }), facts },
    // Version 2 did not record which attempts are being canceled, and ended a removed draft with its effects.
    2: { migrate: (stored) => stored, facts },
    3: { migrate: (stored) => stored, facts },
    // Version 4 kept its content beside the dates.
    4: { migrate: ({ state, context }) => ({ state, context: inVersions(context) }) },
  },
});

type StoredContext = { readonly [member: string]: Json };

function inVersions({ name, document, uploads, ...context }: StoredContext): StoredContext {
  const { createdBy, updateDate } = context;
  const version = { name, document, uploads, version: 1, createdBy, creationDate: updateDate };
  return { ...context, versions: [version] } as StoredContext;
}

/** Refusals of all that take an id: `DocumentDraftNotFound`. */
export class Drafts extends SavedRequests<NewDraft, DraftItem> {
  constructor(
    private readonly runtime: RecordRuntime,
    private readonly uploads: Uploads,
    private readonly creation: Pick<DocumentCreation, 'create'>,
  ) {
    super(runtime, {
      actor: DRAFT,
      notFound: 'DocumentDraftNotFound',
      view: 'drafts',
      items: 'drafts',
      itemOf,
      notAccepted: {
        code: 'InvalidDocumentStatus',
        message: 'The draft is being sent, or was sent. Send it again to get its documents.',
      },
    });
  }

  protected override origin(): Partial<RequestContext> {
    return { sent: null, calls: [] };
  }

  /** The newest of them, with what rights on their folders permit. */
  async newest(tenant: Tenant, limit: number): Promise<Page<DraftItem & { readonly mayChange: boolean }>> {
    const query = { limit, offset: 0, order: 'Desc', q: undefined } as const;
    const { items, ...page } = await this.records.list(tenant, query);
    return {
      ...page,
      items: items.map(({ value }) => {
        const { folderId = null } = value as { readonly folderId?: string };
        const item = itemOfRow<DraftItem>(value);
        return { ...item, mayChange: mayChange(tenant, { folderId, createdBy: item.createdBy }) };
      }),
    };
  }

  async get(tenant: Tenant, id: string): Promise<DraftView> {
    const draft = await this.records.existing(tenant, id);
    return { ...itemOf(draft), document: newestOf(draft).document, documents: sentOf(draft) };
  }

  /** Keeps a draft of a link to the editor as if it was saved. */
  async keep(tenant: Tenant, given: string): Promise<void> {
    const { id } = await this.records.existing(tenant, given);
    // All other states are kept as they are.
    await this.records.send(id, { type: 'KEEP' }, (refused) =>
      refused.reason === 'not-accepted' ? undefined : this.records.refusalOf(refused),
    );
  }

  /** Paths with a ticket from which the files of a draft can be read, by upload id. */
  async locations(tenant: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }> {
    return this.uploads.locationsOf(newestOf(await this.records.existing(tenant, id)).uploads);
  }

  /** A draft with a sample contract, which the user signs. Refusals: those of uploads and drafts. */
  async createSample(
    tenant: Tenant,
    title: string,
    { name: signerName, email }: { readonly name: string; readonly email: string },
  ) {
    const sink = await this.uploads.open();
    await sink.write(sampleContract());
    const given = { name: 'sample-contract.pdf', contentType: 'application/pdf' };
    const { id, name, contentType } = await this.uploads.accept(tenant, sink, given);
    const document = {
      files: [{ id, name, contentType, displayName: title }],
      flowActions: [
        {
          type: 'Signer',
          step: 1,
          allowElectronicSignature: true,
          // The caller may hand over more, such as a session, and what is stored is shown to all who read drafts.
          user: { name: signerName, email },
          prePositionedMarks: [SAMPLE_MARK],
        },
      ],
    };
    return this.create(tenant, parsedInput(newDraft, { name: title, document }));
  }

  /** Creates the documents; a repeated call answers the same. Refusals: those of creation; the draft is kept. */
  async send(tenant: Tenant, id: string): Promise<readonly DocumentOfRequest[]> {
    const call = this.runtime.ids.uuid();
    const draft = await this.#begin(tenant, id, call);
    if (draft.state === 'Sent') return sentOf(draft);
    const { attempt = 0 } = draft.context;
    const { document, uploads } = newestOf(draft);
    try {
      await this.uploads.restoreAll(uploads);
      const request = parsedInput(newDocuments, document);
      const documents = await this.creation.create(tenant, request, seedOf(draft.id, attempt), {
        draft: { id: draft.id, attempt },
      });
      await this.records.change(tenant, id, { type: 'SENT', attempt, documents });
      return documents;
    } catch (error) {
      // A call at the same time may have ended first.
      const present = await this.records.find(tenant.organization.id, draft.id);
      if (present?.state === 'Sent') return sentOf(present);
      // A refusal of another call has ended the attempt if this one took too long: its documents cancel themselves.
      if (present !== undefined && (present.context.attempt ?? 0) === attempt)
        await this.#endCall(draft.id, call, error);
      throw error;
    }
  }

  /** Returns the draft of which this call now makes documents, or which another call has sent meanwhile. */
  async #begin(tenant: Tenant, id: string, call: string): Promise<SavedRequest> {
    const kept = await this.records.existing(tenant, id);
    if (kept.state === 'Sent') return kept;
    try {
      return await this.records.change(tenant, id, { type: 'SEND', call });
    } catch (error) {
      const present = await this.records.existing(tenant, id);
      if (present.state === 'Sent') return present;
      // Too many calls send it at the moment, or documents of too many attempts are not canceled yet.
      throw error instanceof PortalRefusal ? new PortalRefusal('ServiceBusy') : error;
    }
  }

  /** Ends a call that made no documents, or only some. A refusal ends the attempt if no other call is in progress. */
  async #endCall(id: string, call: string, error: unknown): Promise<void> {
    const isRefused = error instanceof PortalRefusal && error.code !== 'ServiceBusy';
    await this.records.send(id, { type: isRefused ? 'REFUSED' : 'FAILED', call });
  }

  protected override async contentOf(
    { organization }: Tenant,
    { name: given, document: { read, sent } }: NewDraft,
    earlier: RequestContent['uploads'],
  ): Promise<RequestContent> {
    const name = cleanName(given);
    assertLength(sent, 'A draft');
    const uploadIds = uploadIdsOf(read);
    if (uploadIds.size > MAX_UPLOADS)
      throw new PortalRefusal('LimitExceeded', `A draft may have ${MAX_UPLOADS} files.`);
    await this.uploads.restoreAll(earlier.filter(({ id }) => uploadIds.has(id)));
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

function itemOf(draft: SavedRequest, version = newestOf(draft)): DraftItem {
  return { id: draft.id, name: version.name, status: statusOf(draft.state), ...timesOf(draft, version) };
}

function sentOf({ context }: SavedRequest): readonly DocumentOfRequest[] {
  return (context.sent ?? []).map((one) => ({ ...one, documentId: one.documentId as DocumentId }));
}
