/**
 * Sessions of the document editor in other applications. Implements `EditorSessions`.
 *
 * Source: docs/decisions/0119-editor-in-other-applications.md.
 */

import { hash, timingSafeEqual } from 'node:crypto';
import {
  type ActorSystem,
  actorKind,
  type Clock,
  defineActor,
  type Ids,
  type MessageOf,
} from '@sealwright/runtime';
import { type Millis, type OrganizationId, parsePortalId, type UploadId } from '../../../machines/ids.ts';
import {
  EDITOR_LINK_LIFETIME,
  EDITOR_SESSION_ENDED,
  EDITOR_SESSION_LIFETIME,
  type EditorSessionContext,
  editorSessionMachine,
  MAX_SESSION_UPLOADS,
} from '../../../machines/portal/editor-session.ts';
import type { OrganizationContext } from '../../../machines/portal/organization.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { roleIn } from '../../../machines/portal/portal-user.ts';
import { callerName, type Tenant, type Tenants } from '../api/callers.ts';
import type { CreateDocuments, MadeDocument } from '../api/documents.ts';
import type { DocumentDrafts, DraftBody } from '../api/drafts.ts';
import type {
  EditorSessionLink,
  EditorSessionPage,
  EditorSessionRequest,
  EditorSessions,
  EditorSessionView,
} from '../api/editor-sessions.ts';
import { pageLookOf } from '../branding/branding.ts';
import type { Tickets } from '../shared/tickets.ts';
import { ORGANIZATION } from '../tenants/organizations.ts';
import { PORTAL_USER } from '../tenants/users.ts';

const EDITOR_SESSION = actorKind<typeof editorSessionMachine>('editor-session');

const SECRET_BYTES = 32;
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;
const NOBODY = '00000000-0000-0000-0000-000000000000';

/** Members of the request that the editor shows; all others stay as the application has set them. */
const EDITED: ReadonlySet<string> = new Set(
  ['files', 'flowActions', 'observers', 'description', 'expirationDate', 'reminders'].map((name) =>
    name.toLowerCase(),
  ),
);

export const editorSessionDefinition = defineActor(EDITOR_SESSION, {
  machine: editorSessionMachine,
  version: 1,
  ends: ({ state }) => state === EDITOR_SESSION_ENDED,
});

export interface EditorSessionsDependencies {
  readonly system: ActorSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Pick<Ids, 'uuid' | 'bytes'>;
  readonly tickets: Tickets;
  readonly tenants: Pick<Tenants, 'embedOrigins'>;
  readonly drafts: Pick<DocumentDrafts, 'create' | 'get' | 'keep' | 'replace' | 'locations' | 'send'>;
  /** `Portal:PublicUrl`, without a slash at its end. */
  readonly publicUrl: string;
}

export class EditorSessionService implements EditorSessions {
  readonly #dependencies: EditorSessionsDependencies;

  constructor(dependencies: EditorSessionsDependencies) {
    this.#dependencies = dependencies;
  }

  async create(
    tenant: Tenant,
    { draftId, draft, returnUrl }: EditorSessionRequest,
  ): Promise<EditorSessionLink> {
    const { system, clock, ids, tickets, drafts, publicUrl } = this.#dependencies;
    const edited =
      draftId === undefined
        ? await drafts.create(tenant, draft, { isOfLink: true })
        : await drafts.get(tenant, draftId);
    if (edited.status === 'Sent') throw new PortalRefusal('InvalidDocumentStatus', 'The draft was sent.');
    // An unsaved draft must not end before the new session.
    if (draftId !== undefined) await drafts.keep(tenant, edited.id);
    const id = ids.uuid();
    const at = clock.now();
    const { organization, application, user, keyId } = tenant;
    const context: EditorSessionContext = {
      organizationId: organization.id,
      application: { id: application.id, name: application.name },
      ...(user !== undefined && { isUser: true }),
      ...(keyId !== undefined && { keyId }),
      draftId: edited.id,
      uploads: [],
      returnUrl,
      createdAt: at,
      opened: null,
    };
    const made = await system.create({ kind: EDITOR_SESSION, id }, context);
    if (!made.accepted) throw new PortalRefusal('ServiceBusy');
    await made.durable;
    const ticket = tickets.issue('editor', [id], at);
    const address = (page: string) => `${publicUrl}/document/${page}?ticket=${ticket}`;
    return {
      draftId: edited.id,
      url: address('editor'),
      embedUrl: address('editor-embedded'),
      expiresAt: at + EDITOR_LINK_LIFETIME,
    };
  }

  async page(ticket: string): Promise<EditorSessionPage | undefined> {
    const { system, tickets, tenants, clock } = this.#dependencies;
    const parsed = tickets.read('editor', ticket, clock.now());
    const [id = NOBODY] = parsed?.claims ?? [];
    const session = parsed && (await this.#existing(id));
    // An opened session is shown again after a reload, to a page that has its token.
    if (!session || (session.opened === null && parsed.expired)) return undefined;
    const owner = await this.#ownerOf(session, id);
    if (owner === undefined) return undefined;
    const { draftId, organizationId } = session;
    return {
      ...{ id, draftId },
      embedOrigins: await tenants.embedOrigins(organizationId),
      branding: await pageLookOf(system, owner.organization),
    };
  }

  async open(ticket: string): Promise<{ readonly token: string; readonly view: EditorSessionView }> {
    const { tickets, clock, ids } = this.#dependencies;
    const parsed = tickets.read('editor', ticket, clock.now());
    const [id] = parsed?.claims ?? [];
    if (!parsed || parsed.expired || id === undefined) throw new PortalRefusal('InvalidTicket');
    const found = await this.#existing(id);
    // A link that cannot open a session is not used up.
    if (found === undefined || (await this.#ownerOf(found, id)) === undefined)
      throw new PortalRefusal('InvalidTicket');
    const secret = ids.bytes(SECRET_BYTES).toString('base64url');
    if (!(await this.#send(id, { type: 'OPEN', sha256: hash('sha256', secret) })))
      throw new PortalRefusal('InvalidTicket');
    const token = `${id}.${secret}`;
    const tenant = await this.session(token);
    if (tenant === undefined) throw new PortalRefusal('InvalidTicket');
    return { token, view: await this.view(tenant) };
  }

  async session(token: string): Promise<Tenant | undefined> {
    const [, id = NOBODY, secret = ''] = TOKEN.exec(token) ?? [];
    const session = await this.#existing(id);
    if (!session?.opened || !isSame(session.opened.sha256, hash('sha256', secret))) return undefined;
    return this.#ownerOf(session, id);
  }

  /** Returns who made the link of a session; undefined once the key has been revoked or has expired, or the user has left. */
  async #ownerOf(session: EditorSessionContext, id: string): Promise<Tenant | undefined> {
    const { system, clock } = this.#dependencies;
    const { organizationId, application, isUser = false } = session;
    const organization = await system.read({ kind: ORGANIZATION, id: organizationId });
    if (organization === undefined) return undefined;
    const mayEdit = isUser
      ? await this.#hasRole(application.id, organizationId)
      : hasLiveKey(organization.context, session, clock.now());
    if (!mayEdit) return undefined;
    const { name, identifier } = organization.context;
    return {
      organization: { id: organizationId, name, ...(identifier !== null && { identifier }) },
      application: { ...application, role: 'Normal' },
      ...(isUser && { user: application }),
      editorSession: id,
    };
  }

  async #hasRole(userId: string, organization: OrganizationId): Promise<boolean> {
    const user = await this.#dependencies.system.read({ kind: PORTAL_USER, id: userId });
    return user !== undefined && roleIn(user.context, organization) !== undefined;
  }

  async view(tenant: Tenant): Promise<EditorSessionView> {
    const { drafts } = this.#dependencies;
    const { draftId, returnUrl, opened } = await this.#of(tenant);
    const { status, document, documents } = await drafts.get(tenant, draftId);
    if (status === 'Sent') throw draftSent();
    return {
      ...{ draftId, status, document, documents, returnUrl },
      locations: await drafts.locations(tenant, draftId),
      expiresAt: (opened?.at ?? 0) + EDITOR_SESSION_LIFETIME,
    };
  }

  async save(
    tenant: Tenant,
    { name, document: given }: Pick<DraftBody, 'name' | 'document'>,
    uploadIdsOf: (document: unknown) => readonly string[],
  ): Promise<void> {
    const { drafts } = this.#dependencies;
    const { draftId, uploads } = await this.#of(tenant);
    const { document: before, status } = await drafts.get(tenant, draftId);
    if (status === 'Sent') throw draftSent();
    const document = { ...without(before, true), ...without(given, false) };
    const own = new Set([...Object.keys(await drafts.locations(tenant, draftId)), ...uploads]);
    const uploadIds = uploadIdsOf(document);
    // The session must not reach other uploads of the organization.
    if (!uploadIds.every((id) => own.has(id))) throw new PortalRefusal('UploadNotFound');
    await drafts.replace(tenant, draftId, { name, document, uploadIds });
  }

  async checkUpload(tenant: Tenant): Promise<void> {
    const { draftId, uploads } = await this.#of(tenant);
    if ((await this.#dependencies.drafts.get(tenant, draftId)).status === 'Sent') throw draftSent();
    if (uploads.length >= MAX_SESSION_UPLOADS) throw tooManyUploads();
  }

  async uploaded(tenant: Tenant, id: UploadId): Promise<void> {
    const isKept = await this.#send(idOf(tenant), { type: 'UPLOADED', uploadId: id });
    if (!isKept) throw tooManyUploads();
  }

  async send(tenant: Tenant, read: (document: unknown) => CreateDocuments): Promise<readonly MadeDocument[]> {
    const { draftId } = await this.#of(tenant);
    return this.#dependencies.drafts.send(tenant, draftId, read);
  }

  async close(tenant: Tenant): Promise<void> {
    await this.#send(idOf(tenant), { type: 'CLOSE', by: callerName(tenant) });
  }

  async #of(tenant: Tenant): Promise<EditorSessionContext> {
    const session = await this.#existing(idOf(tenant));
    // It may have ended since the request was admitted.
    if (session === undefined) throw new PortalRefusal('Unauthorized');
    return session;
  }

  /** Undefined also while the deadline of a session that is over has not fired. */
  async #existing(id: string): Promise<EditorSessionContext | undefined> {
    const { system, clock } = this.#dependencies;
    if (parsePortalId('DocumentId', id) === undefined) return undefined;
    const actor = await system.read({ kind: EDITOR_SESSION, id });
    if (actor === undefined) return undefined;
    const { createdAt, opened } = actor.context;
    const end = opened === null ? createdAt + EDITOR_LINK_LIFETIME : opened.at + EDITOR_SESSION_LIFETIME;
    return clock.now() < end ? actor.context : undefined;
  }

  async #send(id: string, message: MessageOf<typeof EDITOR_SESSION>): Promise<boolean> {
    const outcome = await this.#dependencies.system.send({ kind: EDITOR_SESSION, id }, message);
    if (!outcome.accepted) return false;
    await outcome.durable;
    return true;
  }
}

function idOf({ editorSession }: Tenant): string {
  if (editorSession === undefined) throw new PortalRefusal('Unauthorized');
  return editorSession;
}

function hasLiveKey(
  { applications }: OrganizationContext,
  { application: { id }, keyId }: EditorSessionContext,
  now: Millis,
): boolean {
  const application = applications.find((one) => one.id === id);
  // Sessions of earlier versions do not name their key.
  if (application === undefined || keyId === undefined) return application !== undefined;
  const key = application.secrets.find((one) => one.id === keyId);
  return key !== undefined && (key.expiresAt ?? Infinity) > now;
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

function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one, 'hex'), Buffer.from(other, 'hex'));
}
