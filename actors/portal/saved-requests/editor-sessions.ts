/**
 * Sessions of the document editor in other applications.
 *
 * Source: docs/decisions/0119-editor-in-other-applications.md.
 */

import { hash } from 'node:crypto';
import { defineActor } from '@sealwright/runtime';
import { draftedDocuments } from '../../../contracts/portal/new-documents.ts';
import type { NewDraft } from '../../../contracts/portal/saved-requests/drafts.ts';
import type {
  EditorSessionLink,
  EditorSessionView,
  NewEditorSession,
} from '../../../contracts/portal/saved-requests/editor-sessions.ts';
import type { UploadId } from '../../../machines/ids.ts';
import type { PageBranding } from '../../../machines/portal/branding.ts';
import {
  EDITOR_LINK_LIFETIME_MS,
  EDITOR_SESSION_ENDED,
  EDITOR_SESSION_LIFETIME_MS,
  type EditorSessionContext,
  editorSessionMachine,
  MAX_SESSION_UPLOADS,
} from '../../../machines/portal/editor-session.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { ownerOf } from '../accounts/link-owners.ts';
import { isSame } from '../accounts/session-tokens.ts';
import { callerName, type FolderRightsReader, type Tenant, type Tenants } from '../api/callers.ts';
import type { DocumentOfRequest } from '../api/documents.ts';
import { pageLookOf } from '../branding/branding.ts';
import { parsedInput } from '../shared/parsed-input.ts';
import { type RecordRuntime, Records } from '../shared/records.ts';
import type { Tickets } from '../shared/tickets.ts';
import { type Drafts, uploadIdsOf } from './drafts.ts';

const SECRET_BYTES = 32;
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;

/** Members of the request that the editor shows; all others stay as the application has set them. */
const EDITED: ReadonlySet<string> = new Set(
  ['files', 'flowActions', 'observers', 'description', 'expirationDate', 'reminders'].map((name) =>
    name.toLowerCase(),
  ),
);

export const EDITOR_SESSION = defineActor('editor-session', {
  machine: editorSessionMachine,
  version: 1,
  ends: ({ state }) => state === EDITOR_SESSION_ENDED,
});

/** Content of a link that the page needs before the session is opened. */
export interface EditorSessionPage {
  readonly id: string;
  readonly draftId: string;
  /** Origins that may frame the page; empty = any. */
  readonly embedOrigins: readonly string[];
  /** Look of the organization's pages; absent = ours. */
  readonly branding?: PageBranding | undefined;
}

/** The methods that take a tenant need one of `session`, all but `create`. */
export class EditorSessionService {
  readonly #records: Records<typeof EDITOR_SESSION>;

  /** @param publicUrl gives `Portal:PublicUrl`, without a slash at its end */
  constructor(
    private readonly needs: {
      readonly runtime: RecordRuntime;
      readonly tickets: Tickets;
      readonly tenants: Tenants;
      readonly drafts: Drafts;
      readonly publicUrl: () => string;
      readonly folderRights: Pick<FolderRightsReader, 'of'>;
    },
  ) {
    this.#records = new Records(needs.runtime, {
      actor: EDITOR_SESSION,
      // It may have ended since the request was admitted.
      notFound: 'Unauthorized',
      isOver: ({ context: { createdAt, opened } }, now) =>
        now >=
        (opened === null ? createdAt + EDITOR_LINK_LIFETIME_MS : opened.at + EDITOR_SESSION_LIFETIME_MS),
    });
  }

  /** Refusals: `DocumentDraftNotFound`, `UploadNotFound`, `LimitExceeded`, `InvalidDocumentStatus` for a sent draft. */
  async create(tenant: Tenant, { draftId, files, returnUrl }: NewEditorSession): Promise<EditorSessionLink> {
    const drafts = this.needs.drafts;
    const edited = draftId
      ? await drafts.get(tenant, draftId)
      : await drafts.create(tenant, draftOf(files ?? []), undefined, true);
    if (edited.status === 'Sent') throw new PortalRefusal('InvalidDocumentStatus', 'The draft was sent.');
    // An unsaved draft must not end before the new session.
    if (draftId) await drafts.keep(tenant, edited.id);
    const at = this.needs.runtime.clock.now();
    const { organization, application, user, keyId } = tenant;
    const { id } = await this.#records.create(tenant, undefined, () => ({
      organizationId: organization.id,
      application: { id: application.id, name: application.name },
      ...(user !== undefined && { isUser: true }),
      ...(keyId !== undefined && { keyId }),
      draftId: edited.id,
      uploads: [],
      returnUrl: returnUrl ?? null,
      createdAt: at,
      opened: null,
    }));
    const ticket = this.needs.tickets.issue('editor', [id], at);
    const address = (page: string) => `${this.needs.publicUrl()}/document/${page}?ticket=${ticket}`;
    return {
      draftId: edited.id,
      url: address('editor'),
      embedUrl: address('editor-embedded'),
      expirationDate: at + EDITOR_LINK_LIFETIME_MS,
    };
  }

  /** Reads a link without using it; undefined when the session is over, or the link is not one of ours. */
  async page(ticket: string): Promise<EditorSessionPage | undefined> {
    const parsed = this.needs.tickets.read('editor', ticket, this.needs.runtime.clock.now());
    const [id = ''] = parsed?.claims ?? [];
    const session = await this.#find(id);
    // An opened session is shown again after a reload, to a page that has its token.
    if (!session || (session.opened === null && parsed?.expired)) return undefined;
    const owner = await this.#ownerOf(session, id);
    if (owner === undefined) return undefined;
    const { draftId, organizationId } = session;
    return {
      id,
      draftId,
      embedOrigins: await this.needs.tenants.embedOrigins(organizationId),
      branding: await pageLookOf(this.needs.runtime.actors, owner.organization),
    };
  }

  /** Uses the link. Refusals: `InvalidTicket`. */
  async open(ticket: string): Promise<EditorSessionView & { readonly token: string }> {
    const { clock, ids } = this.needs.runtime;
    const parsed = this.needs.tickets.read('editor', ticket, clock.now());
    const [id] = parsed?.claims ?? [];
    if (!parsed || parsed.expired || id === undefined) throw new PortalRefusal('InvalidTicket');
    const found = await this.#find(id);
    // A link that cannot open a session is not used up.
    if (found === undefined || (await this.#ownerOf(found, id)) === undefined)
      throw new PortalRefusal('InvalidTicket');
    const secret = ids.bytes(SECRET_BYTES).toString('base64url');
    const opening = { type: 'OPEN', sha256: hash('sha256', secret) } as const;
    await this.#records.send(id, opening, () => new PortalRefusal('InvalidTicket'));
    const token = `${id}.${secret}`;
    const tenant = await this.session(token);
    if (tenant === undefined) throw new PortalRefusal('InvalidTicket');
    return { ...(await this.view(tenant)), token };
  }

  /** The caller of a session's token; undefined = 401. */
  async session(token: string): Promise<Tenant | undefined> {
    const [, id = '', secret = ''] = TOKEN.exec(token) ?? [];
    const session = await this.#find(id);
    if (!session?.opened || !isSame(session.opened.sha256, hash('sha256', secret))) return undefined;
    return this.#ownerOf(session, id);
  }

  async #ownerOf(session: EditorSessionContext, id: string): Promise<Tenant | undefined> {
    const owner = await ownerOf(this.needs, session);
    return owner && { ...owner, editorSession: id };
  }

  async view(tenant: Tenant): Promise<EditorSessionView> {
    const { draftId, returnUrl, opened } = await this.#of(tenant);
    const { status, document, documents } = await this.needs.drafts.get(tenant, draftId);
    if (status === 'Sent') throw draftSent();
    return {
      draftId,
      status,
      document,
      documents,
      returnUrl,
      locations: await this.needs.drafts.locations(tenant, draftId),
      expirationDate: (opened?.at ?? 0) + EDITOR_SESSION_LIFETIME_MS,
    };
  }

  /** Replaces what the editor edits of the draft's request, and keeps the rest. Refusals: those of drafts. */
  async save(tenant: Tenant, { name, document: { sent: given } }: NewDraft): Promise<void> {
    const drafts = this.needs.drafts;
    const { draftId, uploads } = await this.#of(tenant);
    const { document: before, status } = await drafts.get(tenant, draftId);
    if (status === 'Sent') throw draftSent();
    const sent = { ...without(before, true), ...without(given, false) };
    const own = new Set([...Object.keys(await drafts.locations(tenant, draftId)), ...uploads]);
    const read = parsedInput(draftedDocuments, sent);
    // The session must not reach other uploads of the organization.
    if (![...uploadIdsOf(read)].every((id) => own.has(id))) throw new PortalRefusal('UploadNotFound');
    await drafts.replace(tenant, draftId, { name, document: { read, sent } });
  }

  /** Refusals: `LimitExceeded`. */
  async checkUpload(tenant: Tenant): Promise<void> {
    const { draftId, uploads } = await this.#of(tenant);
    if ((await this.needs.drafts.get(tenant, draftId)).status === 'Sent') throw draftSent();
    if (uploads.length >= MAX_SESSION_UPLOADS) throw tooManyUploads();
  }

  /** Lets the session use an upload. Refusals: `LimitExceeded`. */
  async uploaded(tenant: Tenant, id: UploadId): Promise<void> {
    await this.#records.send(idOf(tenant), { type: 'UPLOADED', uploadId: id }, tooManyUploads);
  }

  /** As `Drafts.send`. */
  async send(tenant: Tenant): Promise<readonly DocumentOfRequest[]> {
    return this.needs.drafts.send(tenant, (await this.#of(tenant)).draftId);
  }

  async close(tenant: Tenant): Promise<void> {
    await this.#records.send(idOf(tenant), { type: 'CLOSE', by: callerName(tenant) });
  }

  async #of(tenant: Tenant): Promise<EditorSessionContext> {
    return (await this.#records.existing(tenant, idOf(tenant))).context;
  }

  /** Undefined also while the deadline of a session that is over has not fired. */
  async #find(id: string): Promise<EditorSessionContext | undefined> {
    return (await this.#records.read(id))?.context;
  }
}

/** A new draft of these files. */
function draftOf(files: NonNullable<NewEditorSession['files']>): NewDraft {
  const document = { files: [...files] };
  return { name: files[0]?.displayName.slice(0, 200) ?? '', document: { read: document, sent: document } };
}

function idOf({ editorSession }: Tenant): string {
  if (editorSession === undefined) throw new PortalRefusal('Unauthorized');
  return editorSession;
}

/** After the draft is sent, the token of a session only repeats the call that sends it. */
function draftSent(): PortalRefusal {
  return new PortalRefusal('Unauthorized', 'The draft was sent, so the session of the editor is over.');
}

function tooManyUploads(): PortalRefusal {
  return new PortalRefusal('LimitExceeded', `A session may upload ${MAX_SESSION_UPLOADS} files.`);
}

/** The members of a request that the editor edits, or the others; names in any case. */
function without(document: unknown, edited: boolean): object {
  if (typeof document !== 'object' || document === null) return {};
  return Object.fromEntries(
    Object.entries(document).filter(([name]) => EDITED.has(name.toLowerCase()) !== edited),
  );
}
