/**
 * Drafts of documents. Implements `DocumentDrafts`.
 *
 * View `drafts` [organization, creationDate, id] → { id, name }, of those that are not sent; counters
 * `drafts/<organization>` and `blob/<sha256>`.
 *
 * Source: docs/decisions/0122-drafts.md.
 */

import {
  type ActorStore,
  type ActorSystem,
  type ActorView,
  actorKind,
  type Clock,
  defineActor,
  type EffectHandler,
  type Ids,
  type MessageOf,
  type Row,
} from '@sealwright/runtime';
import type { Principal } from '../../../contracts/portal/entities.ts';
import type { Page, RecordQuery } from '../../../contracts/portal/lists.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import {
  type CancelDraftDocumentsEffect,
  type ConfirmDraftEffect,
  DRAFT_REMOVED,
  type DraftContent,
  type DraftContext,
  draftMachine,
  SENT_RETENTION_MS,
} from '../../../machines/portal/draft.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { containing, pageOfRows } from '../../shared/row-pages.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import type { CreateDocuments, MadeDocument } from '../api/documents.ts';
import type { DocumentDrafts, DraftBody, DraftItem, DraftView } from '../api/drafts.ts';
import { documentAddress } from '../document-records/document-index.ts';
import { originOf } from '../document-records/record-action.ts';
import type { DocumentCreation } from '../documents/document-creation.ts';
import { cleanName } from '../shared/names.ts';
import { assertRoomForRecord, readRecord, recordOnce } from '../shared/organization-records.ts';
import { blobCounters } from '../uploads/blobs.ts';
import type { Uploads } from '../uploads/uploads.ts';

const DRAFT = actorKind<typeof draftMachine>('draft');

/** Characters of a request as JSON. */
const MAX_CONTENT_LENGTH = 256 * 1024;
/** Drafts of one organization that are not sent. */
const MAX_DRAFTS = 1_000;
/** Files and attachments of one draft: those of the largest creation call. */
const MAX_UPLOADS = 70;

type StoredDraft = DraftContext & Pick<DraftItem, 'id' | 'status'>;

export const draftDefinition = defineActor(DRAFT, {
  machine: draftMachine,
  version: 3,
  migrations: {
    // Version 1 did not record the calls that send a draft, and had no state Unsaved.
    1: { migrate: ({ state, context }) => ({ state, context: { ...context, calls: [] } }) },
    // Version 2 did not record which attempts are being canceled, and ended a removed draft with its effects.
    2: { migrate: (stored) => stored },
  },
  rows: draftRows,
  counters: draftCounters,
  // A step that ends an actor drops its effects: documents of refused attempts are canceled before.
  ends: ({ state, context: { canceling = [] } }) => state === DRAFT_REMOVED && canceling.length === 0,
});

function draftRows({ id, state, context }: ActorView<DraftContext>): readonly Row[] {
  if (state === 'Sent' || state === DRAFT_REMOVED) return [];
  const { organizationId, creationDate } = context;
  const item = itemOf({ ...context, id, status: statusOf(state) });
  const value = { ...item, createdBy: { ...item.createdBy } };
  return [{ view: 'drafts', key: [organizationId, creationDate, id], value }];
}

function draftCounters({ state, context }: ActorView<DraftContext>): { readonly [name: string]: number } {
  if (state === 'Sent' || state === DRAFT_REMOVED) return {};
  return {
    [counterOf(context.organizationId)]: 1,
    ...blobCounters(context.uploads.map(({ blob }) => blob)),
  };
}

function counterOf(organization: string): string {
  return `drafts/${organization}`;
}

export interface DraftsDependencies {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly uploads: Pick<Uploads, 'findUpload' | 'locationOf' | 'restore'>;
  readonly creation: Pick<DocumentCreation, 'create'>;
}

/** Refusals of all that take an id: `DocumentDraftNotFound`. */
export class Drafts implements DocumentDrafts {
  readonly #dependencies: DraftsDependencies;

  constructor(dependencies: DraftsDependencies) {
    this.#dependencies = dependencies;
  }

  async list({ organization }: Tenant, query: RecordQuery): Promise<Page<DraftItem>> {
    const { rows, totalCount } = await pageOfRows(this.#dependencies.store, {
      view: 'drafts',
      prefix: [organization.id],
      newestFirst: query.newestFirst,
      limit: query.limit,
      offset: query.offset,
      matches: containing(query.q, ({ value }) => itemOfRow(value).name),
      counter: counterOf(organization.id),
    });
    // A draft may have 256 Ki characters; a list reads the rows alone.
    return { items: rows.map(({ value }) => itemOfRow(value)), totalCount };
  }

  /** Refusals: `BadRequest`, `UploadNotFound`, `LimitExceeded`. */
  async create(
    tenant: Tenant,
    body: DraftBody,
    { isOfLink = false, seed }: { readonly isOfLink?: boolean; readonly seed?: string | undefined } = {},
  ): Promise<DraftItem> {
    const { store, clock } = this.#dependencies;
    const { organization } = tenant;
    const made = await recordOnce(this.#dependencies, DRAFT, seed, async () => {
      await assertRoomForRecord(store, counterOf(organization.id), MAX_DRAFTS, 'drafts');
      const at = clock.now();
      return {
        ...(await this.#content(tenant, body)),
        organizationId: organization.id,
        createdBy: principalOf(tenant),
        creationDate: at,
        updateDate: at,
        sent: null,
        calls: [],
        ...(isOfLink && { isOfLink }),
      };
    });
    return itemOf({ ...made.context, id: made.id, status: statusOf(made.state) });
  }

  async get({ organization }: Tenant, id: string): Promise<DraftView> {
    const draft = await this.#existing(organization.id, id);
    return { ...itemOf(draft), document: draft.document, documents: sentOf(draft) };
  }

  /** Refusals: as `create`, and `InvalidDocumentStatus` once it is being sent. */
  async replace(tenant: Tenant, id: string, body: DraftBody): Promise<void> {
    const draft = await this.#existing(tenant.organization.id, id);
    const content = await this.#content(tenant, body, draft.uploads);
    await this.#send(tenant, id, { type: 'REPLACE', content });
  }

  async keep({ organization }: Tenant, id: string): Promise<void> {
    const draft = await this.#existing(organization.id, id);
    const kept = await this.#dependencies.system.send({ kind: DRAFT, id: draft.id }, { type: 'KEEP' });
    // All other states are kept as they are.
    if (kept.accepted) await kept.durable;
    else if (kept.reason !== 'not-accepted')
      throw new PortalRefusal(kept.reason === 'unknown-actor' ? 'DocumentDraftNotFound' : 'ServiceBusy');
  }

  /** Refusals: `InvalidDocumentStatus` once it is being sent. */
  async remove(tenant: Tenant, id: string): Promise<void> {
    await this.#send(tenant, id, { type: 'REMOVE' });
  }

  async locations({ organization }: Tenant, id: string): Promise<{ readonly [uploadId: string]: string }> {
    const { uploads } = this.#dependencies;
    const draft = await this.#existing(organization.id, id);
    // Uploads are swept after a day; the draft keeps their content.
    for (const upload of draft.uploads) await uploads.restore(upload);
    return Object.fromEntries(draft.uploads.map((upload) => [upload.id, uploads.locationOf(upload.id)]));
  }

  async send(
    tenant: Tenant,
    id: string,
    read: (document: unknown) => CreateDocuments,
  ): Promise<readonly MadeDocument[]> {
    const call = this.#dependencies.ids.uuid();
    const draft = await this.#begin(tenant, id, call);
    if (draft.status === 'Sent') return sentOf(draft);
    const { attempt = 0 } = draft;
    try {
      const { creation, uploads } = this.#dependencies;
      for (const upload of draft.uploads) await uploads.restore(upload);
      const documents = await creation.create(tenant, read(draft.document), seedOf(draft.id, attempt), {
        draft: { id: draft.id, attempt },
      });
      await this.#send(tenant, id, { type: 'SENT', attempt, documents });
      return documents;
    } catch (error) {
      // A call at the same time may have ended first.
      const present = await this.#find(tenant.organization.id, draft.id);
      if (present?.status === 'Sent') return sentOf(present);
      // A refusal of another call has ended the attempt if this one took too long: its documents cancel themselves.
      if (present !== undefined && (present.attempt ?? 0) === attempt)
        await this.#endCall(draft.id, call, error);
      throw error;
    }
  }

  /** Returns the draft of which this call now makes documents, or which another call has sent meanwhile. */
  async #begin(tenant: Tenant, id: string, call: string): Promise<StoredDraft> {
    const kept = await this.#existing(tenant.organization.id, id);
    if (kept.status === 'Sent') return kept;
    try {
      return await this.#send(tenant, id, { type: 'SEND', call });
    } catch (error) {
      const present = await this.#existing(tenant.organization.id, id);
      if (present.status === 'Sent') return present;
      // Too many calls send it at the moment, or documents of too many attempts are not canceled yet.
      throw error instanceof PortalRefusal ? new PortalRefusal('ServiceBusy') : error;
    }
  }

  /** Ends a call that made no documents, or only some. A refusal ends the attempt if no other call is in progress. */
  async #endCall(id: string, call: string, error: unknown): Promise<void> {
    const isRefused = error instanceof PortalRefusal && error.code !== 'ServiceBusy';
    const message = { type: isRefused ? 'REFUSED' : 'FAILED', call } as const;
    const outcome = await this.#dependencies.system.send({ kind: DRAFT, id }, message);
    if (outcome.accepted) await outcome.durable;
  }

  /** @param kept uploads of the draft, which may have expired */
  async #content(
    { organization }: Tenant,
    body: DraftBody,
    kept: DraftContent['uploads'] = [],
  ): Promise<DraftContent> {
    const name = cleanName(body.name);
    if (JSON.stringify(body.document).length > MAX_CONTENT_LENGTH)
      throw new PortalRefusal('LimitExceeded', `A draft may have ${MAX_CONTENT_LENGTH} characters.`);
    const uploadIds = [...new Set(body.uploadIds)];
    if (uploadIds.length > MAX_UPLOADS)
      throw new PortalRefusal('LimitExceeded', `A draft may have ${MAX_UPLOADS} files.`);
    const { uploads } = this.#dependencies;
    for (const upload of kept) if (uploadIds.includes(upload.id)) await uploads.restore(upload);
    const found = await Promise.all(uploadIds.map((id) => uploads.findUpload(organization.id, id)));
    return { name, document: body.document, uploads: found };
  }

  async #send({ organization }: Tenant, id: string, message: MessageOf<typeof DRAFT>): Promise<StoredDraft> {
    const draft = await this.#existing(organization.id, id);
    const outcome = await this.#dependencies.system.send({ kind: DRAFT, id: draft.id }, message);
    if (outcome.accepted) {
      await outcome.durable;
      return { ...outcome.actor.context, id: draft.id, status: statusOf(outcome.actor.state) };
    }
    if (outcome.reason === 'not-accepted')
      throw new PortalRefusal(
        'InvalidDocumentStatus',
        'The draft is being sent, or was sent. Send it again to get its documents.',
      );
    throw new PortalRefusal(outcome.reason === 'unknown-actor' ? 'DocumentDraftNotFound' : 'ServiceBusy');
  }

  async #existing(organization: string, id: string): Promise<StoredDraft> {
    const draft = await this.#find(organization, id);
    if (draft === undefined) throw new PortalRefusal('DocumentDraftNotFound');
    return draft;
  }

  async #find(organization: string, id: string): Promise<StoredDraft | undefined> {
    const actor = await readRecord(this.#dependencies.system, DRAFT, organization, id);
    if (actor === undefined || actor.state === DRAFT_REMOVED) return undefined;
    return { ...actor.context, id: actor.id, status: statusOf(actor.state) };
  }
}

/** Seed of the ids of the documents of one attempt. */
function seedOf(id: string, attempt = 0): string {
  return attempt === 0 ? `draft/${id}` : `draft/${id}/${attempt}`;
}

/** Cancels what a refused attempt has made. A repeated effect cancels nothing twice. */
export function cancelDraftDocumentsHandler(
  creation: Pick<DocumentCreation, 'idsOf'>,
): EffectHandler<CancelDraftDocumentsEffect> {
  return {
    after: 'durable',
    async run({ attempt, by }, { actor }, { system }) {
      for (const id of creation.idsOf(seedOf(actor.id, attempt))) {
        const outcome = await system.send(documentAddress(id), cancellation(by));
        if (outcome.accepted) await outcome.durable;
      }
      return { type: 'CANCELED', attempt };
    },
  };
}

/**
 * Cancels a document that was made after the end of its attempt, by a call that took longer than 30 s. No record of the
 * draft names such a document: it asks itself, so that its cancellation also survives the end of the process.
 */
export function confirmDraftHandler({
  store,
}: {
  readonly store: Pick<ActorStore, 'nodes'>;
}): EffectHandler<ConfirmDraftEffect> {
  return {
    after: 'durable',
    async run({ draft: { id, attempt }, createdAt, by }, _, { system, clock }) {
      // The attempt may have ended on another node.
      await store.nodes?.sync();
      const draft = await system.read({ kind: DRAFT, id });
      // A sent draft is removed after its retention.
      const isLate = draft === undefined && clock.now() - createdAt >= SENT_RETENTION_MS;
      const isEnded = draft === undefined || (draft.context.attempt ?? 0) !== attempt;
      return isEnded && !isLate ? cancellation(by) : null;
    },
  };
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

function itemOf({ id, name, status, creationDate, updateDate, createdBy }: StoredDraft): DraftItem {
  return { id, name, status, creationDate, updateDate, createdBy };
}

/** The value that `draftRows` wrote. */
function itemOfRow(value: Row['value']): DraftItem {
  return value as object as DraftItem;
}

function sentOf({ sent }: DraftContext): readonly MadeDocument[] {
  return (sent ?? []).map((one) => ({ ...one, documentId: one.documentId as DocumentId }));
}
