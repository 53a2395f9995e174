/**
 * Folders of an organization. Implements `PortalFolders`; what a removed folder held is moved or deleted by
 * `effects/empty-folder.ts`.
 *
 * Views: `folders` [organization, createdAt, id] and `folders-in` [organization, parent or `root`, createdAt, id],
 * both → FolderView; counters `folders/<organization>` and `folders-in/<organization>/<parent or root>`.
 *
 * Source: portal-gaps §16.
 */
import { FOLDER_REMOVED, type FolderContext, folderMachine } from '../../machines/folder.ts';
import { type FolderId, type OrganizationId, parsePortalId } from '../../machines/ids.ts';
import { visibleText } from '../../machines/plain-text.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type {
  ActorDefinition,
  ActorStore,
  ActorSystem,
  ActorView,
  Clock,
  Ids,
  Row,
  Step,
} from '../../runtime/index.ts';
import type { FolderQuery, FolderView, Page, PortalFolders, Tenant } from './api.ts';
import { containing, pageOfRows } from './row-pages.ts';

export const FOLDER = 'folder';

const ROOT = 'root';
const LONGEST_NAME = 255;
/** Folders one inside the other. */
const DEEPEST = 64;
/** How long a removal waits for what the folder held before it answers, milliseconds; the rest goes on without it. */
const PATIENCE = 2_000;

function folderRows({ id, state, context }: ActorView): readonly Row[] {
  if (state !== 'Active') return [];
  const { organizationId, parentId, name, createdAt } = context as FolderContext;
  const value = { id, name, parentId };
  return [
    { view: 'folders', key: [organizationId, createdAt, id], value },
    { view: 'folders-in', key: [organizationId, parentId ?? ROOT, createdAt, id], value },
  ];
}

function folderCounters({ state, context }: ActorView): { readonly [name: string]: number } {
  if (state !== 'Active') return {};
  const { organizationId, parentId } = context as FolderContext;
  return {
    [`folders/${organizationId}`]: 1,
    [`folders-in/${organizationId}/${parentId ?? ROOT}`]: 1,
  };
}

export const folderDefinition: ActorDefinition = {
  kind: FOLDER,
  machine: folderMachine,
  version: 1,
  rows: folderRows,
  counters: folderCounters,
  ends: ({ state }) => state === FOLDER_REMOVED,
};

/** Ids of folders that lie in this one, at most `limit`. */
export async function foldersIn(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  folder: FolderId,
  limit: number,
): Promise<readonly FolderId[]> {
  const rows = await store.rows({ view: 'folders-in', prefix: [organization, folder], limit });
  return rows.map(viewOfRow).map(({ id }) => id);
}

export interface FoldersParts {
  readonly system: ActorSystem;
  readonly store: ActorStore;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
}

export class Folders implements PortalFolders {
  readonly #parts: FoldersParts;
  /** Who waits for the end of a folder. */
  readonly #waiting = new Map<string, () => void>();

  constructor(parts: FoldersParts) {
    this.#parts = parts;
  }

  /** Sees each committed step. */
  observe({ actor: { address, state } }: Step): void {
    if (address.kind === FOLDER && state === FOLDER_REMOVED) this.#waiting.get(address.id)?.();
  }

  /** Refusals: `BadRequest` for the name, `FolderNotFound` for the parent. */
  async create(tenant: Tenant, name: string, parentId: string | null): Promise<FolderView> {
    const { system, clock, ids } = this.#parts;
    const organizationId = tenant.organization.id;
    const parent = parentId === null ? null : await this.#existing(organizationId, parentId);
    if (parent !== null && (await this.#depth(organizationId, parent)) >= DEEPEST) {
      throw new PortalRefusal('LimitExceeded', `Folders lie at most ${DEEPEST} deep.`);
    }
    const id = ids.uuid() as FolderId;
    const view: FolderView = { id, name: cleanFolderName(name), parentId: parent?.id ?? null };
    const context = { organizationId, name: view.name, parentId: view.parentId, createdAt: clock.now() };
    const made = await system.create({ kind: FOLDER, id }, context);
    if (!made.accepted) throw new PortalRefusal('ServiceBusy');
    if (parent !== null && (await this.find(organizationId, parent.id)) === undefined) {
      // Removed in the meantime, perhaps after it was looked through.
      await system.tell({ kind: FOLDER, id }, { type: 'REPARENT', parentId: null });
      await made.durable;
      return { ...view, parentId: null };
    }
    await made.durable;
    return view;
  }

  get(tenant: Tenant, id: FolderId): Promise<FolderView> {
    return this.#existing(tenant.organization.id, id);
  }

  /** A folder of the organization that is not being removed; undefined = unknown. */
  async find(organization: OrganizationId, id: string): Promise<FolderView | undefined> {
    const folder = await this.#read(organization, id);
    return folder && { id: folder.id, name: folder.name, parentId: folder.parentId };
  }

  /**
   * Where documents are to go: an existing folder, a new one, or none. `folderId` wins over `newFolderName`.
   * Refusals: `FolderNotFound`, `BadRequest` for the name.
   */
  async resolve(
    tenant: Tenant,
    wanted: {
      readonly folderId?: string | null | undefined;
      readonly newFolderName?: string | null | undefined;
    },
  ): Promise<FolderView | null> {
    const { folderId, newFolderName } = wanted;
    if (folderId) return this.#existing(tenant.organization.id, folderId);
    return newFolderName ? this.create(tenant, newFolderName, null) : null;
  }

  async list(tenant: Tenant, query: FolderQuery): Promise<Page<FolderView>> {
    const organization = tenant.organization.id;
    const { parent, limit, offset, newestFirst } = query;
    const inside = parent === undefined ? undefined : (parent ?? ROOT);
    const { rows, totalCount } = await pageOfRows(this.#parts.store, {
      view: inside === undefined ? 'folders' : 'folders-in',
      prefix: inside === undefined ? [organization] : [organization, inside],
      newestFirst,
      limit,
      offset,
      matches: containing(query.q, (row) => viewOfRow(row).name),
      counter: inside === undefined ? `folders/${organization}` : `folders-in/${organization}/${inside}`,
    });
    return { items: rows.map(viewOfRow), totalCount };
  }

  /**
   * The folder is gone, and what becomes of its content is stored, when this resolves; a small folder is empty by then.
   * Refusals: `FolderNotFound`, `BadRequest` for a destination inside of the folder.
   */
  async remove(
    tenant: Tenant,
    id: FolderId,
    action: 'MoveContent' | 'DeleteContent',
    destination: FolderId | null,
  ): Promise<void> {
    const organization = tenant.organization.id;
    const folder = await this.#existing(organization, id);
    const target =
      action === 'MoveContent' && destination !== null
        ? await this.#existing(organization, destination)
        : null;
    if (target !== null && (await this.#liesIn(organization, target, folder.id))) {
      const message = 'The destination is the folder itself or lies in it.';
      throw new PortalRefusal('BadRequest', message, { errors: { DestinationFolderId: [message] } });
    }
    const { id: applicationId, name } = tenant.application;
    const by = { id: applicationId, type: 'Application', name } as const;
    const ended = this.#end(folder.id);
    try {
      const told = await this.#parts.system.tell(
        { kind: FOLDER, id: folder.id },
        { type: 'REMOVE', action, destination: target?.id ?? null, by },
      );
      if (!told.accepted) throw notFound(folder.id);
      await told.durable;
      await ended.soon;
    } finally {
      ended.forget();
    }
  }

  /** Resolves when the folder has ended, or when patience has. */
  #end(id: FolderId): { readonly soon: Promise<void>; forget(): void } {
    let stop = () => {};
    const soon = new Promise<void>((resolve) => {
      const cancel = this.#parts.clock.after(PATIENCE, resolve);
      stop = () => {
        cancel();
        this.#waiting.delete(id);
        resolve();
      };
      this.#waiting.set(id, stop);
    });
    return { soon, forget: () => stop() };
  }

  async #existing(organization: OrganizationId, id: string): Promise<FolderView> {
    const folder = await this.find(organization, id);
    if (folder === undefined) throw notFound(id);
    return folder;
  }

  async #read(
    organization: OrganizationId,
    id: string,
  ): Promise<(FolderContext & { readonly id: FolderId }) | undefined> {
    const folderId = parsePortalId('FolderId', id);
    const actor = folderId && (await this.#parts.system.read({ kind: FOLDER, id: folderId }));
    if (!folderId || actor?.state !== 'Active') return undefined;
    const context = actor.context as FolderContext;
    return context.organizationId === organization ? { ...context, id: folderId } : undefined;
  }

  /** How many folders are around this one. */
  async #depth(organization: OrganizationId, { parentId }: FolderView): Promise<number> {
    let depth = 1;
    for (let at = parentId; at !== null && depth < DEEPEST; depth++) {
      at = (await this.#read(organization, at))?.parentId ?? null;
    }
    return depth;
  }

  async #liesIn(organization: OrganizationId, folder: FolderView, outer: FolderId): Promise<boolean> {
    let at: FolderView | undefined = folder;
    for (let depth = 0; at !== undefined && depth <= DEEPEST; depth++) {
      if (at.id === outer) return true;
      at = at.parentId === null ? undefined : await this.#read(organization, at.parentId);
    }
    return false;
  }
}

function viewOfRow({ value }: Row): FolderView {
  return value as unknown as FolderView;
}

function notFound(id: string): PortalRefusal {
  const shown = id.replace(/[^\x20-\x7e]/g, '?').slice(0, 64);
  return new PortalRefusal('FolderNotFound', undefined, { details: { folderId: shown } });
}

function cleanFolderName(given: string): string {
  const name = visibleText(given).trim();
  if (name !== '' && name.length <= LONGEST_NAME && !/[\p{Cc}\p{Surrogate}]/u.test(name)) return name;
  const message = `The Name must have 1 to ${LONGEST_NAME} characters and no control character.`;
  throw new PortalRefusal('BadRequest', message, { errors: { Name: [message] } });
}
