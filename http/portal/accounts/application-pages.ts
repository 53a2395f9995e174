/**
 * `/organization/applications` and the page behind the Keys button of an application.
 *
 * Source: docs/portal-values.md §0 ("Authentication" 3 and 4); docs/decisions/0129-scopes-and-expiry-of-keys.md.
 */
import type { Clock } from '@sealwright/runtime';
import { z } from 'zod';
import {
  type Administration,
  type ApplicationView,
  callerName,
  type Folders,
  type FolderView,
  type SignedInUser,
  type Tenant,
} from '../../../actors/portal/api.ts';
import { KEY_SCOPES } from '../../../contracts/portal/operation.ts';
import { APPLICATION_ROLES, MAX_KEY_FOLDERS } from '../../../contracts/portal/organizations.ts';
import type { FolderId } from '../../../machines/ids.ts';
import { SYSTEM_ORGANIZATION } from '../../../machines/portal/accounts/organization.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { AccountNotice, AccountPage } from '../../../web/pages/portal/account-frame.ts';
import {
  applicationPage,
  applicationsPage,
  FOLDER_FIELD,
  type KeyFolders,
} from '../../../web/pages/portal/applications-view.tsx';
import type { AnyRoute } from '../../core/router.ts';
import { applicationId, folderId } from '../input/ids.ts';
import { accountGet, accountReply, formText } from './account-route.ts';
import { accountForm, doneNotice, doneReply, orNotice } from './outcomes.ts';

/** Folders offered; an organization may have more. */
const MAX_OFFERED = 200;

/**
 * The folders that a new key can be restricted to, and the names of those of the keys of an application, which may be
 * others than the offered ones.
 */
async function keyFolders(
  folders: Folders,
  tenant: Tenant,
  { keys }: Pick<ApplicationView, 'keys'>,
): Promise<KeyFolders> {
  const { items, totalCount } = await folders.list(tenant, {
    limit: MAX_OFFERED,
    offset: 0,
    order: 'Desc',
  });
  const known = new Map(items.map((folder) => [String(folder.id), folder]));
  const named = new Set(keys.flatMap((key) => key.folderIds ?? []));
  for (const id of named) {
    const folder = known.has(id) ? undefined : await found(folders, tenant, id);
    if (folder !== undefined) known.set(id, folder);
  }
  const names = new Map([...known].map(([id, folder]) => [id, pathOf(folder, known)]));
  const offered = items
    .map(({ id }) => ({ id, name: names.get(id) ?? '' }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return { offered, names, hasMore: totalCount > items.length };
}

/** Undefined: the folder was removed. */
async function found(folders: Folders, tenant: Tenant, id: string): Promise<FolderView | undefined> {
  try {
    return await folders.get(tenant, folderId(id));
  } catch (error) {
    if (error instanceof PortalRefusal && error.code === 'FolderNotFound') return undefined;
    throw error;
  }
}

/** Names of the folder and of those around it, outermost first. */
function pathOf(folder: FolderView, known: ReadonlyMap<string, FolderView>): string {
  const names = [folder.name];
  let parent = folder.parentId;
  while (parent !== null && names.length < MAX_NAMES) {
    const around = known.get(parent);
    if (around === undefined) break;
    names.unshift(around.name);
    parent = around.parentId;
  }
  return names.join(' / ');
}

const MAX_NAMES = 8;

const PATH = '/organization/applications';

const applicationParams = z.object({ applicationId: z.string() });
const keyParams = z.object({ applicationId: z.string(), keyId: z.string() });
/** Each chosen folder has a field of its own, `folder-` and its id. */
const keyForm = z.looseObject({
  scopeRead: formText,
  scopeCreate: formText,
  scopeSign: formText,
  scopeAdminister: formText,
  expiry: formText,
});

export function applicationPageRoutes(
  administration: Administration,
  folders: Folders,
  clock: Pick<Clock, 'now'>,
): readonly AnyRoute[] {
  const pages = { administration, folders, views: new ApplicationViews(administration, folders, clock) };
  return [listRoute(pages), addRoute(pages), keysRoute(pages), addKeyRoute(pages), revokeKeyRoute(pages)];
}

interface ApplicationRoutes {
  readonly administration: Administration;
  readonly folders: Folders;
  readonly views: ApplicationViews;
}

class ApplicationViews {
  constructor(
    private readonly administration: Administration,
    private readonly folders: Folders,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  async all(page: AccountPage, user: SignedInUser, notice: AccountNotice | undefined) {
    const { organization } = user.tenant;
    const { applications } = await this.administration.organization(organization.id);
    const hasRoles = organization.name === SYSTEM_ORGANIZATION;
    return accountReply(200, applicationsPage(page, user, applications, { hasRoles, notice }));
  }

  /** Refusals: `ApplicationNotFound`, which becomes a notice on the list. */
  one(
    page: AccountPage,
    user: SignedInUser,
    id: string,
    more: {
      readonly made?: string;
      readonly notice?: AccountNotice | undefined;
    },
  ) {
    return orNotice(
      page,
      async () => {
        const { applications } = await this.administration.organization(user.tenant.organization.id);
        const wanted = applicationId(id);
        const found = applications.find((application) => application.id === wanted);
        if (found === undefined) throw new PortalRefusal('ApplicationNotFound');
        const offered = await keyFolders(this.folders, user.tenant, found);
        const now = this.clock.now();
        return accountReply(200, applicationPage(page, user, found, { ...more, folders: offered, now }));
      },
      (notice) => this.all(page, user, notice),
    );
  }

  async withNotice(page: AccountPage, user: SignedInUser, id: string, notice: AccountNotice) {
    const shown = await this.one(page, user, id, { notice });
    return shown.kind === 'page' ? shown : this.all(page, user, notice);
  }
}

function listRoute({ views }: ApplicationRoutes): AnyRoute {
  return accountGet({
    path: PATH,
    summary: 'A page for administrators: the applications of the organization.',
    handle: ({ page, user, query }) => views.all(page, user, doneNotice(page, query)),
  });
}

function addRoute({ administration, views }: ApplicationRoutes): AnyRoute {
  return accountForm({
    path: PATH,
    summary: 'Creates an application.',
    description: 'It has no key yet.',
    body: z.object({ name: formText, role: formText }),
    async act({ page, user, body }) {
      const { tenant } = user;
      const role = APPLICATION_ROLES.find((one) => one === body.role) ?? 'Normal';
      const input = { name: body.name, role };
      const { id } = tenant.organization;
      const made = await administration.createApplication(id, input, undefined, callerName(tenant));
      return doneReply(page, `${PATH}/${made.id}`, 'applicationAdded');
    },
    again: (notice, { page, user }) => views.all(page, user, notice),
    sent: ({ page, body }) => ({
      action: PATH,
      values: body,
      faults: { Name: ['name', page.texts.faults.applicationName], NameTaken: ['name'] },
    }),
  });
}

function keysRoute({ views }: ApplicationRoutes): AnyRoute {
  return accountGet({
    path: `${PATH}/{applicationId}`,
    summary: 'A page for administrators: the keys of an application.',
    params: applicationParams,
    handle: ({ page, user, params, query }) =>
      views.one(page, user, params.applicationId, { notice: doneNotice(page, query) }),
  });
}

function addKeyRoute({ administration, folders, views }: ApplicationRoutes): AnyRoute {
  return accountForm({
    path: `${PATH}/{applicationId}/keys`,
    summary: 'Creates a key, and shows it once.',
    description: 'Only the hash of its secret is stored.',
    params: applicationParams,
    body: keyForm,
    async act({ page, user, params, body }) {
      const { tenant } = user;
      const chosen = foldersOf(body);
      // Refuses folders of other organizations.
      for (const id of chosen) await folders.get(tenant, id);
      const { key } = await administration.createSecret(
        tenant.organization.id,
        applicationId(params.applicationId),
        { ...limitsOf(body), ...(chosen.length > 0 && { folders: chosen }) },
        tenant,
      );
      return views.one(page, user, params.applicationId, { made: key });
    },
    again: (notice, { page, user, params }) => views.withNotice(page, user, params.applicationId, notice),
    sent: ({ page, params, body }) => ({
      action: `${PATH}/${params.applicationId}/keys`,
      values: textsIn(body),
      faults: { ExpirationDate: ['expiry', page.texts.faults.expiry] },
    }),
  });
}

function revokeKeyRoute({ administration, views }: ApplicationRoutes): AnyRoute {
  return accountForm({
    path: `${PATH}/{applicationId}/keys/{keyId}/revocation`,
    summary: 'Revokes a key.',
    description: 'Requests with the key are answered with 401 from now on.',
    params: keyParams,
    body: z.object({}),
    async act({ page, user, params }) {
      const { tenant } = user;
      const application = applicationId(params.applicationId);
      const { id } = tenant.organization;
      await administration.revokeSecret(id, application, params.keyId, callerName(tenant));
      return doneReply(page, `${PATH}/${application}`, 'keyRevoked');
    },
    again: (notice, { page, user, params }) => views.withNotice(page, user, params.applicationId, notice),
  });
}

/** Ids of the chosen folders. Refusals: `LimitExceeded` for too many, `FolderNotFound` for what is no id. */
function foldersOf(body: z.infer<typeof keyForm>): readonly FolderId[] {
  const names = Object.keys(body).filter((name) => name.startsWith(FOLDER_FIELD));
  if (names.length > MAX_KEY_FOLDERS) throw new PortalRefusal('LimitExceeded');
  return names.map((name) => folderId(name.slice(FOLDER_FIELD.length)));
}

function textsIn(body: z.infer<typeof keyForm>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
}

/** Refusals: `BadRequest` for an expiry that is no day. */
function limitsOf(body: z.infer<typeof keyForm>) {
  const scopes = KEY_SCOPES.filter((scope) => body[`scope${scope}`] !== '');
  const { expiry } = body;
  const expiresAt = expiry === '' ? undefined : Date.parse(`${expiry}T23:59:59.999Z`);
  if (expiresAt !== undefined && !Number.isFinite(expiresAt))
    throw badMember('ExpirationDate', 'The ExpirationDate is no day.');
  return {
    ...(scopes.length > 0 && { scopes }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
