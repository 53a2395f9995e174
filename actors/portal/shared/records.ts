/**
 * Records of organizations that clients name by id: saved flows, drafts, templates, generations, sessions of the editor
 * and for marks. Each is one actor, whose context names its organization.
 */
import {
  type Actor,
  accepted,
  type CreateInput,
  type EventOf,
  type Refused,
  type Row,
  type View,
} from '@sealwright/runtime';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import type { RecordQuery } from '../../../contracts/portal/saved-requests/records.ts';
import { type Millis, parsePortalId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import { pageOf } from '../../shared/lists/list.ts';
import { countOf } from '../../shared/lists/stored-rows.ts';
import { containing } from '../../shared/tables/texts.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import { derivedId } from './effect-ids.ts';
import { assertMayChange, reachesFolder } from './folder-access.ts';

export type RecordRuntime = Pick<ServiceRuntime, 'actors' | 'store' | 'clock' | 'ids'>;

/** Properties in which kinds of records differ. */
export interface RecordKind<Kind extends Actor> {
  readonly actor: Kind;
  /** Code of an id that names no record of the organization. */
  readonly notFound: PortalRefusalCode;
  /**
   * View of its rows [organization, order, id] → { name, … }, and the most that one organization may keep, whose counter is
   * `<view>/<organization>`. @default not listed, any number
   */
  readonly list?: { readonly view: string; readonly most: number; readonly items: string };
  /** Refusal of a message that the state of the record does not accept. @default `ServiceBusy` */
  readonly notAccepted?: { readonly code: PortalRefusalCode; readonly message: string };
  /** True for a record that counts as removed although its actor has not ended. @default never */
  readonly isOver?: (actor: View<Kind>, now: Millis) => boolean;
  /** Folder that a record names, null = none; also `folderId` of its row. Who must not know it knows no such record. @default none */
  readonly folderOf?: (context: View<Kind>['context']) => string | null;
}

/** The folder that a kept creation request names; null = none. Names of members are in any case, and the last one counts. */
export function folderNamed(document: unknown): string | null {
  const named = Object.entries(Object(document) as object).filter(
    ([name, value]) => name.toLowerCase() === 'folderid' && typeof value === 'string',
  );
  return String(named.at(-1)?.[1] ?? '').toLowerCase() || null;
}

/** True when a caller may know a record that names this folder. */
export function isKnown(tenant: Tenant, folderId: string | null): boolean {
  return folderId === null || reachesFolder(tenant, folderId);
}

/** For creations: an actor that exists already was made by the same request. */
export function busyUnlessMade({ reason }: Refused): PortalRefusal | undefined {
  return reason === 'exists' ? undefined : new PortalRefusal('ServiceBusy');
}

export class Records<Kind extends Actor> {
  constructor(
    private readonly runtime: RecordRuntime,
    private readonly kind: RecordKind<Kind>,
  ) {}

  /** The rows of one page; by position where the query has one. @param matches further filter of rows */
  async list(
    tenant: Tenant,
    {
      q,
      limit,
      offset,
      order,
      position,
    }: RecordQuery & { readonly position?: 'start' | ListPosition | undefined },
    matches?: (row: Row) => boolean,
  ): Promise<Page<Row>> {
    const { organization } = tenant;
    const view = this.kind.list?.view ?? '';
    const { store } = this.runtime;
    const named = containing(q, ({ value }: Row) => (value as { readonly name: string }).name);
    const isRestricted = this.kind.folderOf !== undefined && tenant.rights !== undefined;
    const known = ({ value }: Row) =>
      isKnown(tenant, (value as { readonly folderId?: string }).folderId ?? null);
    const filters = [named, matches, isRestricted ? known : undefined].filter((one) => one !== undefined);
    const isWhole = filters.length === 0;
    const list = {
      ranges: [{ view, prefix: [organization.id] }],
      fits: isWhole ? undefined : (row: Row) => filters.every((fits) => fits(row)),
      total: isWhole ? await countOf(store, `${view}/${organization.id}`) : undefined,
      itemOf: (row: Row) => row,
    };
    return pageOf(store, list, { newestFirst: order === 'Desc', limit, offset: offset * limit, position });
  }

  /**
   * Creates the record of a request, durably. Of a request that is executed again, returns the record that it has made.
   * Refusals: `LimitExceeded`, `ServiceBusy`.
   *
   * @param seed of a request that may be executed again; undefined = a fresh id
   * @param make makes the input of the record; called if there is none
   */
  async create(
    { organization }: Tenant,
    seed: string | undefined,
    make: (id: string) => CreateInput<Kind>[0] | Promise<CreateInput<Kind>[0]>,
  ): Promise<View<Kind>> {
    const { actors, ids } = this.runtime;
    const { actor: kind } = this.kind;
    const id = seed === undefined ? ids.uuid() : derivedId(kind.kind, seed);
    const find = async () => (seed === undefined ? undefined : await actors.read(kind, id));
    const made = await find();
    if (made !== undefined) return made;
    let input: CreateInput<Kind>[0];
    try {
      await this.#assertRoom(organization.id);
      input = await make(id);
    } catch (error) {
      // The same request may have made it on another node meanwhile, for example as the last one below a limit.
      const existing = error instanceof PortalRefusal ? await find() : undefined;
      if (existing === undefined) throw error;
      return existing;
    }
    // The same request may be executed on another node.
    const created =
      (await accepted(
        actors.create(kind, id, ...([input] as readonly unknown[] as CreateInput<Kind>)),
        busyUnlessMade,
      )) ?? (await find());
    if (created === undefined) throw new PortalRefusal('ServiceBusy');
    return created;
  }

  async #assertRoom(organization: string): Promise<void> {
    const { list } = this.kind;
    if (list === undefined) return;
    if ((await countOf(this.runtime.store, `${list.view}/${organization}`)) >= list.most)
      throw new PortalRefusal('LimitExceeded', `An organization may keep ${list.most} ${list.items}.`);
  }

  /** Members that the context of a new record begins with. */
  origin(tenant: Tenant) {
    const createdBy = principalOf(tenant);
    return { organizationId: tenant.organization.id, createdBy, creationDate: this.runtime.clock.now() };
  }

  /** The record of an id that a client sent, of any organization; undefined: none, or it is over. */
  async read(given: string): Promise<View<Kind> | undefined> {
    const { actor: kind, isOver } = this.kind;
    // Ids of records have the form of document ids.
    const id = parsePortalId('DocumentId', given);
    const actor = id && (await this.runtime.actors.read(kind, id));
    return actor && isOver?.(actor, this.runtime.clock.now()) !== true ? actor : undefined;
  }

  /** The record of an id that a client sent; undefined also for one of another organization. */
  async find(organization: string, id: string): Promise<View<Kind> | undefined> {
    const actor = await this.read(id);
    const context: { readonly organizationId?: string; readonly organization?: { readonly id: string } } =
      actor?.context ?? {};
    return (context.organizationId ?? context.organization?.id) === organization ? actor : undefined;
  }

  async existing(tenant: Tenant, id: string): Promise<View<Kind>> {
    const actor = await this.find(tenant.organization.id, id);
    if (actor === undefined || !this.knows(tenant, actor)) throw new PortalRefusal(this.kind.notFound);
    return actor;
  }

  /** True unless the record names a folder that the caller must not know. */
  knows(tenant: Tenant, { context }: Pick<View<Kind>, 'context'>): boolean {
    return isKnown(tenant, this.kind.folderOf?.(context) ?? null);
  }

  /** As `existing`. Refusals: also `Forbidden`, where rights on the folder of the record do not permit a change. */
  async toChange(tenant: Tenant, id: string): Promise<View<Kind>> {
    const actor = await this.existing(tenant, id);
    const folderId = this.kind.folderOf?.(actor.context) ?? null;
    const { createdBy }: { readonly createdBy?: { readonly id: string } } = actor.context ?? {};
    if (folderId !== null && createdBy !== undefined) assertMayChange(tenant, { folderId, createdBy });
    return actor;
  }

  /** Changes a record of the organization, durably, and returns it. */
  async change(tenant: Tenant, given: string, message: EventOf<Kind>): Promise<View<Kind>> {
    const { id } = await this.existing(tenant, given);
    return accepted(this.runtime.actors.send(this.kind.actor, id, message), (refused) =>
      this.refusalOf(refused),
    );
  }

  /** The refusal of a message that was not accepted. */
  refusalOf({ reason }: Refused): PortalRefusal {
    const { notFound, notAccepted } = this.kind;
    if (reason === 'not-accepted' && notAccepted !== undefined)
      return new PortalRefusal(notAccepted.code, notAccepted.message);
    return new PortalRefusal(reason === 'unknown-actor' ? notFound : 'ServiceBusy');
  }

  /**
   * Sends a message, durably.
   * @param refusal error of a message that is not accepted. @default none
   * @returns undefined when it is not accepted and that is no error
   */
  send(
    id: string,
    message: EventOf<Kind>,
    refusal: (refused: Refused) => Error | undefined = () => undefined,
  ): Promise<View<Kind> | undefined> {
    return accepted(this.runtime.actors.send(this.kind.actor, id, message), refusal);
  }
}
