/**
 * Rights of senders on the folders of their organization, from the grants of the folders and the groups of the sender.
 * What they permit is decided in `shared/folder-access.ts`.
 *
 * Trees of organizations are kept in memory and follow committed steps, so that a change counts at the next request.
 *
 * Source: docs/decisions/0288-rights-on-folders.md.
 */
import { contextOf, jsonType, type Step } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import { FOLDER_RIGHTS } from '../../../contracts/portal/words.ts';
import type { OrganizationId } from '../../../machines/ids.ts';
import type { FolderContext, FolderGrant, FolderRight } from '../../../machines/portal/folder.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { countOf, rowPieces } from '../../shared/lists/stored-rows.ts';
import type { FolderRights } from '../api/callers.ts';
import { USER_GROUP } from '../scim/groups.ts';
import { FOLDER, FOLDER_TREE_VIEW, type FolderInTree, grantedFolders } from './folders.ts';

/** Organizations kept in memory. */
const CACHE_SIZE = 1_024;
/** Users of one organization whose rights are kept in memory. */
const MAX_CACHED_USERS = 256;
/** Longer chains do not exist: folders lie at most 64 deep, and removals shorten them. */
const MAX_DEPTH = 256;

/** Times that a tree is read for one request while folders change. */
const MAX_LOADS = 3;

interface Tree {
  /** Folders that have grants or lie in another one. */
  readonly folders: ReadonlyMap<string, FolderInTree>;
  /** The nearest folder with grants, by folder. */
  readonly governing: ReadonlyMap<string, readonly FolderGrant[]>;
  /** Members of the groups that grants name. */
  readonly groups: ReadonlyMap<string, ReadonlySet<string>>;
  readonly ofUsers: LRUCache<string, FolderRights>;
}

const TREE_ROW = jsonType<FolderInTree>();

export class FolderRightsDirectory {
  /** Undefined members: no folder has grants. */
  readonly #trees = new LRUCache<OrganizationId, { readonly tree: Tree | undefined }>({ max: CACHE_SIZE });
  /** Raised by each step of a folder or a group: what was read before it is not kept. */
  #steps = 0;

  constructor(private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store'>) {}

  /** Sees each committed step. */
  observe({ actor }: Step): void {
    const folder = contextOf(FOLDER, actor);
    const group = folder === undefined ? contextOf(USER_GROUP, actor) : undefined;
    const organization = (folder ?? group)?.organizationId;
    if (organization === undefined) return;
    this.#steps += 1;
    const tree = this.#trees.get(organization)?.tree;
    // A folder at the top without grants, of which most organizations make many, changes nobody's rights.
    if (folder !== undefined && !concerns(tree, actor.address.id, folder)) return;
    if (group !== undefined && tree?.groups.has(actor.address.id) !== true) return;
    this.#trees.delete(organization);
  }

  /** Rights of a sender; undefined = everything everywhere. */
  async of(organization: OrganizationId, userId: string): Promise<FolderRights | undefined> {
    // The access check has read the steps of other nodes.
    const tree = await this.#tree(organization);
    if (tree === undefined) return undefined;
    const known = tree.ofUsers.get(userId);
    if (known !== undefined) return known;
    const rights = rightsOf(tree, userId);
    tree.ofUsers.set(userId, rights);
    return rights;
  }

  async isRestricted(organization: OrganizationId, folderId: string): Promise<boolean> {
    return (await this.#tree(organization))?.governing.has(folderId) === true;
  }

  async #tree(organization: OrganizationId): Promise<Tree | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const cached = this.#trees.get(organization);
      if (cached !== undefined) return cached.tree;
      const steps = this.#steps;
      const granted = await countOf(this.runtime.store, grantedFolders(organization));
      const tree = granted === 0 ? undefined : await this.#load(organization);
      // Rows read before and after a step may give rights that nobody has.
      if (steps === this.#steps) this.#trees.set(organization, { tree });
      if (steps === this.#steps || attempt === MAX_LOADS) return tree;
    }
  }

  async #load(organization: OrganizationId): Promise<Tree> {
    const { store, actors } = this.runtime;
    const folders = new Map<string, FolderInTree>();
    for await (const rows of rowPieces(store, { view: FOLDER_TREE_VIEW, prefix: [organization] }))
      for (const { key, value } of rows) folders.set(String(key[1]), TREE_ROW.read(value));
    const all = [...folders.values()].flatMap(({ grants }) => grants);
    const groupIds = new Set(all.flatMap(({ type, id }) => (type === 'Group' ? [id] : [])));
    const groups = new Map<string, ReadonlySet<string>>();
    for (const id of groupIds) {
      const group = await actors.read(USER_GROUP, id);
      const isOwn = group?.context.organizationId === organization;
      groups.set(id, new Set(isOwn ? group.context.members : []));
    }
    const ofUsers = new LRUCache<string, FolderRights>({ max: MAX_CACHED_USERS });
    return { folders, governing: governingGrants(folders), groups, ofUsers };
  }
}

/** True when the step of a folder may change rights. */
function concerns(
  tree: Tree | undefined,
  id: string,
  { parentId, grants = [] }: Pick<FolderContext, 'parentId' | 'grants'>,
): boolean {
  if (grants.length > 0 || tree?.folders.has(id) === true) return true;
  return tree !== undefined && parentId !== null;
}

function governingGrants(
  folders: ReadonlyMap<string, FolderInTree>,
): ReadonlyMap<string, readonly FolderGrant[]> {
  const found = new Map<string, readonly FolderGrant[]>();
  for (const id of folders.keys()) {
    let at: string | null = id;
    for (let depth = 0; at !== null && depth < MAX_DEPTH; depth++) {
      const folder: FolderInTree | undefined = folders.get(at);
      if (folder === undefined) break;
      if (folder.grants.length > 0) {
        found.set(id, folder.grants);
        break;
      }
      at = folder.parentId;
    }
  }
  return found;
}

function rightsOf({ governing, groups }: Tree, userId: string): FolderRights {
  const byGrants = new Map<readonly FolderGrant[], FolderRight | null>();
  const rightBy = (grants: readonly FolderGrant[]): FolderRight | null => {
    const given = grants.filter(({ type, id }) =>
      type === 'User' ? id === userId : groups.get(id)?.has(userId) === true,
    );
    return FOLDER_RIGHTS.findLast((right) => given.some((grant) => grant.right === right)) ?? null;
  };
  return new Map(
    [...governing].map(([folder, grants]) => {
      const known = byGrants.get(grants);
      const right = known === undefined ? rightBy(grants) : known;
      byGrants.set(grants, right);
      return [folder, right];
    }),
  );
}
