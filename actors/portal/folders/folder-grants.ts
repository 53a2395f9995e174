/** Grants of folders: who has which right there. Source: docs/decisions/0288-rights-on-folders.md. */
import { hash } from 'node:crypto';
import { accepted } from '@sealwright/runtime';
import type {
  FolderGrantsView,
  GranteeView,
  NewFolderGrants,
} from '../../../contracts/portal/folder-grants.ts';
import { type FolderId, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import type { FolderContext, FolderGrant } from '../../../machines/portal/folder.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import type { UserDirectory } from '../accounts/users.ts';
import { callerName, type Tenant } from '../api/callers.ts';
import { GROUP_VIEW, USER_GROUP } from '../scim/groups.ts';
import { assertMayGrant, assertRight, folderNotFound } from '../shared/folder-access.ts';
import { FOLDER, grantedFolders, MAX_FOLDER_DEPTH } from './folders.ts';

/** Users, and groups, of one answer. */
const MAX_FOUND = 20;
/** Groups in which names are searched. */
const MAX_GROUPS_SEARCHED = 1_000;
/** Folders with grants of one organization: each request of a sender reads their rights. */
const MAX_GRANTED_FOLDERS = 1_000;

type Named = Pick<GranteeView, 'name' | 'email'>;

export class FolderGrants {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store'>,
    private readonly users: Pick<UserDirectory, 'member' | 'members'>,
  ) {}

  /** Refusals: `FolderNotFound`, `Forbidden`. */
  async get(tenant: Tenant, id: FolderId): Promise<FolderGrantsView> {
    assertRight(tenant, id, 'Manage');
    return this.#viewOf(tenant.organization.id, await this.#existing(tenant, id));
  }

  /** Refusals: `FolderNotFound`, `Forbidden`, `BadRequest`, `UserNotFound`, `LimitExceeded`, `GrantsChanged`. */
  async replace(
    tenant: Tenant,
    id: FolderId,
    { grants: given, version }: NewFolderGrants,
  ): Promise<FolderGrantsView> {
    assertMayGrant(tenant, id);
    const before = await this.#existing(tenant, id);
    const organization = tenant.organization.id;
    const grants = given.map((grant): FolderGrant => ({ ...grant, id: grant.id.toLowerCase() }));
    if (new Set(grants.map((grant) => `${grant.type} ${grant.id}`)).size < grants.length)
      throw badMember('Grants', 'Each user and each group has at most one right.');
    for (const grant of grants) {
      if ((await this.#named(organization, grant)) !== undefined) continue;
      throw grant.type === 'User'
        ? new PortalRefusal('UserNotFound')
        : badMember('Grants', 'No group has this id.');
    }
    if (grants.length > 0 && (before.grants ?? []).length === 0) await this.#assertRoom(organization);
    const replaced = before.grants ?? [];
    if (version != null && version !== versionOf(replaced)) throw new PortalRefusal('GrantsChanged');
    const message = {
      type: 'GRANT' as const,
      grants,
      by: callerName(tenant),
      ...(version != null && { replaced }),
    };
    const changed = await accepted(this.runtime.actors.send(FOLDER, id, message), () =>
      version == null ? folderNotFound(id) : new PortalRefusal('GrantsChanged'),
    );
    return this.#viewOf(organization, changed.context);
  }

  /** Users and groups whose name contains the text. Refusals: `FolderNotFound`, `Forbidden`. */
  async grantees(tenant: Tenant, id: FolderId, q: string | undefined): Promise<readonly GranteeView[]> {
    assertMayGrant(tenant, id);
    await this.#existing(tenant, id);
    const organization = tenant.organization.id;
    const users = await this.users.members(organization, { q, limit: MAX_FOUND, offset: 0 });
    const range = { view: GROUP_VIEW, prefix: [organization], limit: MAX_GROUPS_SEARCHED };
    const groups: GranteeView[] = [];
    const text = q?.trim().toLowerCase() ?? '';
    for (const { key } of await this.runtime.store.rows(range)) {
      if (groups.length === MAX_FOUND) break;
      const group = { type: 'Group' as const, id: String(key[2]) };
      const named = await this.#named(organization, group);
      if (named?.name.toLowerCase().includes(text)) groups.push({ ...group, ...named });
    }
    return [
      ...users.items.map(({ id: user, name, email }) => ({ type: 'User' as const, id: user, name, email })),
      ...groups,
    ];
  }

  async #assertRoom(organization: OrganizationId): Promise<void> {
    if ((await countOf(this.runtime.store, grantedFolders(organization))) >= MAX_GRANTED_FOLDERS)
      throw new PortalRefusal('LimitExceeded', `At most ${MAX_GRANTED_FOLDERS} folders have grants.`);
  }

  async #viewOf(organization: OrganizationId, folder: FolderContext): Promise<FolderGrantsView> {
    const { grants: own = [] } = folder;
    const grants = await Promise.all(
      own.map(async (grant) => {
        // Who has left keeps the place: the folder stays restricted.
        const { name, email } = (await this.#named(organization, grant)) ?? { name: '', email: null };
        return { type: grant.type, id: grant.id, name, email, right: grant.right };
      }),
    );
    const version = versionOf(own);
    let at = own.length === 0 ? folder.parentId : null;
    for (let depth = 0; at !== null && depth < MAX_FOLDER_DEPTH; depth++) {
      const around = await this.runtime.actors.read(FOLDER, at);
      if ((around?.context.grants ?? []).length > 0) return { grants, inheritedFrom: at, version };
      at = around?.context.parentId ?? null;
    }
    return { grants, inheritedFrom: null, version };
  }

  /** Undefined: nobody of the organization. */
  async #named(
    organization: OrganizationId,
    { type, id }: Pick<FolderGrant, 'type' | 'id'>,
  ): Promise<Named | undefined> {
    if (type === 'User') {
      const userId = parsePortalId('UserId', id);
      const user = userId && (await this.users.member(organization, userId));
      return user && { name: user.name, email: user.email };
    }
    const group = await this.runtime.actors.read(USER_GROUP, id);
    return group?.context.organizationId === organization
      ? { name: group.context.displayName, email: null }
      : undefined;
  }

  async #existing(tenant: Tenant, id: FolderId): Promise<FolderContext> {
    const folder = await this.runtime.actors.read(FOLDER, id);
    if (folder?.state !== 'Active' || folder.context.organizationId !== tenant.organization.id)
      throw folderNotFound(id);
    return folder.context;
  }
}

function versionOf(grants: readonly FolderGrant[]): string {
  return hash('sha256', grants.map(({ type, id, right }) => `${type} ${id} ${right}`).join('\n')).slice(
    0,
    12,
  );
}
