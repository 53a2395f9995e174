/**
 * Folders of an organization. What a removed folder held is moved or deleted by `empty-folder.ts`.
 *
 * Views: `folders` [organization, createdAt, id] and `folders-in` [organization, parent or `root`, createdAt, id],
 * both → FolderView; counters `folders/<organization>` and `folders-in/<organization>/<parent or root>`. The first root
 * folder of a name holds it (`folderNameKey`): requests with this `newFolderName` put their documents there. View
 * `folder-tree` [organization, id] → FolderInTree, of folders that have grants or lie in another one, until they are
 * empty; counter `folder-grants/<organization>` of those with grants.
 *
 * Source: docs/portal-values.md §16; docs/decisions/0288-rights-on-folders.md.
 */

import { createHash } from 'node:crypto';
import {
  type ActorStore,
  type ActorView,
  accepted,
  type Calls,
  defineActor,
  jsonType,
  type Row,
} from '@sealwright/runtime';
import type { DocumentMove, FolderDeletion, FolderQuery } from '../../../contracts/portal/folders.ts';
import type { Page } from '../../../contracts/portal/lists.ts';
import { type FolderId, type OrganizationId, parsePortalId } from '../../../machines/ids.ts';
import {
  emptyFolder,
  FOLDER_REMOVED,
  type FolderContext,
  folderMachine,
} from '../../../machines/portal/folder.ts';
import { badMember, PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { StepWaits } from '../../shared/coordination/step-waits.ts';
import type { ListOfRows, RowLists } from '../../shared/lists/row-lists.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import {
  assertPlace,
  assertRight,
  filterFor,
  folderNotFound,
  reachesFolder,
} from '../shared/folder-access.ts';
import { cleanName } from '../shared/names.ts';
import { RETENTION_ROW, RETENTION_VIEW, retentionCounters, retentionRow } from '../shared/retention-rows.ts';

const ROOT = 'root';
/** Root folders searched for a name that none holds: those made before folders held names. */
const MAX_FOLDERS_SEARCHED = 1_000;
/** Attempts to get the folder of a name while others make and remove folders of that name. */
const MAX_ATTEMPTS = 5;
/** Folders one inside the other. */
export const MAX_FOLDER_DEPTH = 64;
/**
 * Maximum wait for the content of a removed folder before the answer, milliseconds; the rest continues in the
 * background.
 */
const DELETION_TIMEOUT_MS = 2_000;

export const FOLDER_TREE_VIEW = 'folder-tree';

/** Members that decide about rights. */
export type FolderInTree = Required<Pick<FolderContext, 'parentId' | 'grants'>>;

const TREE_ROW = jsonType<FolderInTree>();

/** Counter of the folders with grants. */
export function grantedFolders(organization: OrganizationId): string {
  return `folder-grants/${organization}`;
}

function folderRows({ id, state, context }: ActorView<FolderContext>): readonly Row[] {
  const { organizationId, parentId, name, createdAt, grants = [] } = context;
  // A folder that is being removed protects what is still in it.
  const inTree: readonly Row[] =
    state === FOLDER_REMOVED || (parentId === null && grants.length === 0)
      ? []
      : [
          {
            view: FOLDER_TREE_VIEW,
            key: [organizationId, id],
            value: TREE_ROW.write({ parentId, grants }),
          },
        ];
  if (state !== 'Active') return inTree;
  const value = { id, name, parentId };
  return [
    ...inTree,
    ...holdRows(id, context),
    { view: 'folders', key: [organizationId, createdAt, id], value },
    { view: 'folders-in', key: [organizationId, parentId ?? ROOT, createdAt, id], value },
  ];
}

function holdRows(id: string, { organizationId, hold }: FolderContext): readonly Row[] {
  if (hold == null) return [];
  return [retentionRow([organizationId, 'Held', hold.at, id], { type: 'Folder', folder: id })];
}

function folderCounters({ id, state, context }: ActorView<FolderContext>): {
  readonly [name: string]: number;
} {
  const { organizationId, parentId, grants = [] } = context;
  const granted =
    grants.length === 0 || state === FOLDER_REMOVED ? {} : { [grantedFolders(organizationId)]: 1 };
  if (state !== 'Active') return granted;
  return {
    ...granted,
    ...retentionCounters(holdRows(id, context)),
    [`folders/${organizationId}`]: 1,
    [`folders-in/${organizationId}/${parentId ?? ROOT}`]: 1,
  };
}

function folderNames({ state, context }: ActorView<FolderContext>): readonly string[] {
  const { organizationId, name, holdsName } = context;
  return state === 'Active' && holdsName === true ? [folderNameKey(organizationId, name)] : [];
}

/** Unique key of the root folder that holds a name. */
function folderNameKey(organization: OrganizationId, name: string): string {
  return `folder-name:${organization}:${createHash('sha256').update(name).digest('base64url')}`;
}

export const FOLDER = defineActor('folder', {
  machine: folderMachine,
  effects: [emptyFolder],
  version: 2,
  migrations: {
    // Version 1 had no grants and no rows of the tree.
    1: {
      migrate: (stored) => stored,
      facts: (folder) => ({
        rows: folderRows(folder).filter(({ view }) => view !== FOLDER_TREE_VIEW),
        names: folderNames(folder),
        counters: folderCounters(folder),
      }),
    },
  },
  rows: folderRows,
  names: folderNames,
  counters: folderCounters,
  ends: ({ state }) => state === FOLDER_REMOVED,
});

/** Ids of folders in this one, at most `limit`. */
export async function foldersIn(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  folder: FolderId,
  limit: number,
): Promise<readonly FolderId[]> {
  const rows = await store.rows({ view: 'folders-in', prefix: [organization, folder], limit });
  return rows.map(viewOfRow).map(({ id }) => id);
}

type Reading = Pick<Calls, 'read'>;

/** A folder and those around it, from the inside, and whether one of them is held. */
export async function pathOf(
  actors: Reading,
  folderId: string | null,
): Promise<{ readonly ids: readonly string[]; readonly isHeld: boolean }> {
  const ids: string[] = [];
  let isHeld = false;
  for (let at = folderId; at !== null && ids.length <= MAX_FOLDER_DEPTH; ) {
    ids.push(at);
    const folder = await actors.read(FOLDER, at as FolderId);
    isHeld ||= folder?.context.hold != null;
    at = folder?.context.parentId ?? null;
  }
  return { ids, isHeld };
}

/** Refusals: `LegalHold` where the folder, or one around it, is held. */
export async function assertNoHold(actors: Reading, folderId: string | null): Promise<void> {
  if ((await pathOf(actors, folderId)).isHeld) throw new PortalRefusal('LegalHold');
}

/** Refusals: `LegalHold` where something in the folder, or in one inside, is held. */
async function assertNothingHeld(
  { actors, store }: { readonly actors: Reading; readonly store: Pick<ActorStore, 'rows'> },
  organization: OrganizationId,
  folderId: FolderId,
): Promise<void> {
  for await (const rows of rowPieces(store, { view: RETENTION_VIEW, prefix: [organization, 'Held'] }))
    for (const { value } of rows)
      if ((await pathOf(actors, RETENTION_ROW.read(value).folder)).ids.includes(folderId))
        throw new PortalRefusal('LegalHold', 'Something in the folder is under legal hold.');
}

export interface FolderView extends Pick<FolderContext, 'name' | 'parentId'> {
  readonly id: FolderId;
}

/** @param inside folder or `ROOT`. @default any */
function listOf(organization: OrganizationId, inside?: string): ListOfRows {
  return {
    view: inside === undefined ? 'folders' : 'folders-in',
    prefix: inside === undefined ? [organization] : [organization, inside],
    counter: inside === undefined ? `folders/${organization}` : `folders-in/${organization}/${inside}`,
    kind: FOLDER.kind,
    textOf: (row) => viewOfRow(row).name,
  };
}

export class Folders {
  constructor(
    private readonly runtime: Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>,
    private readonly lists: Pick<RowLists, 'page' | 'ids'>,
    private readonly waits: StepWaits,
  ) {}

  /** Refusals: `BadRequest` for the name, `FolderNotFound` and `Forbidden` for the parent. */
  async create(tenant: Tenant, name: string, parentId: string | null): Promise<FolderView> {
    const organizationId = tenant.organization.id;
    const parent = parentId === null ? null : await this.#existing(organizationId, parentId);
    if (parent !== null) assertRight(tenant, parent.id, 'Manage');
    if (parent !== null && (await this.#depth(organizationId, parent)) >= MAX_FOLDER_DEPTH) {
      throw new PortalRefusal('LimitExceeded', `Folders lie at most ${MAX_FOLDER_DEPTH} deep.`);
    }
    const given = { organizationId, name: cleanName(name), parentId: parent?.id ?? null };
    const held = parent === null ? await this.#make(given, true) : undefined;
    const view = held ?? (await this.#make(given, false));
    if (view === undefined) throw new PortalRefusal('ServiceBusy');
    if (parent !== null && (await this.find(organizationId, parent.id)) === undefined) {
      // Removed in the meantime, perhaps after its content was listed.
      const event = { type: 'REPARENT', parentId: null } as const;
      await this.runtime.actors.send(FOLDER, view.id, event);
      return { ...view, parentId: null };
    }
    return view;
  }

  /**
   * The root folder of this name, created when missing; concurrent callers get the same one. Refusals: `BadRequest` for
   * the name, `Forbidden` for a key that is restricted to folders and where the caller may put nothing, `ServiceBusy`.
   */
  async named(tenant: Tenant, name: string): Promise<FolderView> {
    assertPlace(tenant, null, name);
    const organizationId = tenant.organization.id;
    const given = { organizationId, name: cleanName(name), parentId: null };
    const { store } = this.runtime;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const holder = await store.holder(folderNameKey(organizationId, given.name));
      const folder = holder && (await this.find(organizationId, holder.id));
      if (folder !== undefined) return usable(tenant, folder);
      const unheld = await this.#unheld(organizationId, given.name);
      if (unheld !== undefined) return usable(tenant, unheld);
      const made = await this.#make(given, true);
      if (made !== undefined) return made;
    }
    throw new PortalRefusal('ServiceBusy');
  }

  /** The oldest root folder of this name, among those made before folders held names. */
  async #unheld(organization: OrganizationId, name: string): Promise<FolderView | undefined> {
    const rows = await this.runtime.store.rows({
      view: 'folders-in',
      prefix: [organization, ROOT],
      limit: MAX_FOLDERS_SEARCHED,
    });
    return rows.map(viewOfRow).find((folder) => folder.name === name);
  }

  /** Durable when this resolves; undefined when another folder holds the name. */
  async #make(
    given: Pick<FolderContext, 'organizationId' | 'name' | 'parentId'>,
    holdsName: boolean,
  ): Promise<FolderView | undefined> {
    const { actors, clock, ids } = this.runtime;
    const id = ids.uuid() as FolderId;
    const context: FolderContext = { ...given, createdAt: clock.now(), ...(holdsName && { holdsName }) };
    const made = await accepted(actors.create(FOLDER, id, { ...context }), ({ reason }) =>
      reason === 'taken' ? undefined : new PortalRefusal('ServiceBusy'),
    );
    return made && { id, name: given.name, parentId: given.parentId };
  }

  async get(tenant: Tenant, id: FolderId): Promise<FolderView> {
    if (!reachesFolder(tenant, id)) throw folderNotFound(id);
    return this.#existing(tenant.organization.id, id);
  }

  /** Resolves the folder of a document; null = none. Equal new names give one folder. Refusals: `FolderNotFound`. */
  async ofDocument(
    tenant: Tenant,
    { folderId = null, newFolderName: newName = null }: DocumentMove,
  ): Promise<string | null> {
    assertPlace(tenant, folderId, newName);
    if (folderId !== null) {
      const id = parsePortalId('FolderId', folderId);
      if (id === undefined) throw folderNotFound(folderId);
      return (await this.get(tenant, id satisfies FolderId)).id;
    }
    const name = newName?.trim() ?? '';
    return name === '' ? null : (await this.named(tenant, name)).id;
  }

  /** A folder of the organization that is not being removed; undefined = unknown. */
  async find(organization: OrganizationId, id: string): Promise<FolderView | undefined> {
    const folder = await this.#read(organization, id);
    return folder && { id: folder.id, name: folder.name, parentId: folder.parentId };
  }

  async list(tenant: Tenant, query: FolderQuery): Promise<Page<FolderView>> {
    const organization = tenant.organization.id;
    const { q, limit, offset } = query;
    if (tenant.folders !== undefined) return this.#reachable(organization, tenant.folders, query);
    const except = new Set(filterFor(tenant).exceptFolders);
    const { ids, totalCount } = await this.lists.page(
      listOf(organization, query.filterByParent === true ? (query.parentId ?? ROOT) : undefined),
      { q, except, limit, offset, newestFirst: query.order === 'Desc' },
    );
    const found = await Promise.all(ids.map((id) => this.find(organization, id)));
    return { items: found.filter((folder) => folder !== undefined), totalCount };
  }

  /** Those of all folders of the organization that are not being removed. */
  ids(organization: OrganizationId): ReturnType<RowLists['ids']> {
    return this.lists.ids(listOf(organization));
  }

  /** Of the folders that a key reaches, in its order. */
  async #reachable(
    organization: OrganizationId,
    ids: readonly string[],
    { filterByParent, parentId, limit, offset, order, q }: FolderQuery,
  ): Promise<Page<FolderView>> {
    const found = await Promise.all(ids.map((id) => this.find(organization, id)));
    const needle = q?.toLowerCase();
    const all = found.filter(
      (folder) =>
        folder !== undefined &&
        (filterByParent !== true || folder.parentId === (parentId ?? null)) &&
        (!needle || folder.name.toLowerCase().includes(needle)),
    ) as FolderView[];
    const items = (order === 'Desc' ? all.reverse() : all).slice(offset * limit, (offset + 1) * limit);
    return { items, totalCount: all.length };
  }

  /**
   * Resolves when the folder is removed and the treatment of its content is stored; a small folder is empty by then.
   * Refusals: `FolderNotFound`, `Forbidden`, `BadRequest` for a destination inside the folder; `LegalHold` for a folder that is
   * held or lies in one, and to delete one with something held.
   */
  async remove(
    tenant: Tenant,
    id: FolderId,
    { deleteAction: action, destinationFolderId: destination }: FolderDeletion,
  ): Promise<void> {
    const organization = tenant.organization.id;
    const folder = await this.#existing(organization, id);
    await this.#assertManagesAll(tenant, folder);
    const target =
      action === 'MoveContent' && destination != null
        ? await this.#existing(organization, destination)
        : null;
    if (target !== null) assertRight(tenant, target.id, 'Manage');
    if (target !== null && (await this.#isInside(organization, target, folder.id)))
      throw badMember('DestinationFolderId', 'The destination is the folder itself or lies in it.');
    await assertNoHold(this.runtime.actors, folder.id);
    if (action === 'DeleteContent') await assertNothingHeld(this.runtime, organization, folder.id);
    const by = principalOf(tenant);
    const end = this.waits.begin(
      FOLDER,
      folder.id,
      ({ state }) => state === FOLDER_REMOVED,
      DELETION_TIMEOUT_MS,
    );
    try {
      const event = { type: 'REMOVE', action, destination: target?.id ?? null, by } as const;
      await accepted(this.runtime.actors.send(FOLDER, folder.id, event), () => folderNotFound(folder.id));
      await end.actor;
    } finally {
      end.cancel();
    }
  }

  async #existing(organization: OrganizationId, id: string): Promise<FolderView> {
    const folder = await this.find(organization, id);
    if (folder === undefined) throw folderNotFound(id);
    return folder;
  }

  async #read(
    organization: OrganizationId,
    id: string,
  ): Promise<(FolderContext & { readonly id: FolderId }) | undefined> {
    const folderId = parsePortalId('FolderId', id);
    const actor = folderId && (await this.runtime.actors.read(FOLDER, folderId));
    if (!folderId || actor?.state !== 'Active') return undefined;
    const context = actor.context;
    return context.organizationId === organization ? { ...context, id: folderId } : undefined;
  }

  /** Number of folders that are around this one. */
  async #depth(organization: OrganizationId, { parentId }: FolderView): Promise<number> {
    let depth = 1;
    for (let at = parentId; at !== null && depth < MAX_FOLDER_DEPTH; depth++) {
      at = (await this.#read(organization, at))?.parentId ?? null;
    }
    return depth;
  }

  /** Refusals: `FolderNotFound`, and `Forbidden` also for a folder inside. */
  async #assertManagesAll(tenant: Tenant, folder: FolderView): Promise<void> {
    assertRight(tenant, folder.id, 'Manage');
    for (const id of filterFor(tenant, 'Manage').exceptFolders ?? []) {
      const inner = await this.find(tenant.organization.id, id);
      if (inner !== undefined && (await this.#isInside(tenant.organization.id, inner, folder.id)))
        throw new PortalRefusal('Forbidden', 'The folder contains one that you do not manage.');
    }
  }

  async #isInside(organization: OrganizationId, folder: FolderView, outer: FolderId): Promise<boolean> {
    let at: FolderView | undefined = folder;
    for (let depth = 0; at !== undefined && depth <= MAX_FOLDER_DEPTH; depth++) {
      if (at.id === outer) return true;
      at = at.parentId === null ? undefined : await this.#read(organization, at.parentId);
    }
    return false;
  }
}

/** Refusals: `Forbidden`: the name is taken by a folder in which the caller may create nothing. */
function usable(tenant: Tenant, folder: FolderView): FolderView {
  if (reachesFolder(tenant, folder.id, 'Send')) return folder;
  throw new PortalRefusal('Forbidden', 'You may put no documents into the folder of this name.');
}

const FOLDER_ROW = jsonType<FolderView>();

function viewOfRow({ value }: Pick<Row, 'value'>): FolderView {
  return FOLDER_ROW.read(value);
}
