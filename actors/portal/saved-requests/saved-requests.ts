/**
 * Requests for documents that are kept under a name: what saved flows, drafts and templates have in common.
 *
 * Each kind has a view [organization, creation, id] → its item with `folderId`, of those that are not sent; counters
 * `<view>/<organization>` and `blob/<sha256>`, one for each version that names the file.
 *
 * Source: docs/decisions/0380-one-kept-request.md.
 */
import type { Actor, ActorView, Row } from '@sealwright/runtime';
import type { ListPosition, Page } from '../../../contracts/portal/lists.ts';
import type { PortalRefusalCode } from '../../../contracts/portal/refusals.ts';
import type { RecordQuery } from '../../../contracts/portal/saved-requests/records.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import {
  cancelDraftDocuments,
  REQUEST_REMOVED,
  type RequestContent,
  type RequestContext,
  type RequestVersion,
  savedRequestMachine,
} from '../../../machines/portal/saved-request.ts';
import { principalOf, type Tenant } from '../api/callers.ts';
import { folderNamed, type RecordRuntime, Records } from '../shared/records.ts';
import { blobCounters } from '../uploads/blobs.ts';

/** Characters of one version as JSON. */
const MAX_CONTENT_LENGTH = 256 * 1024;
/** Requests of one kind that an organization may keep. */
const MAX_REQUESTS = 1_000;

export type SavedRequest = ActorView<RequestContext>;
type RequestActor = Actor<ReturnType<typeof savedRequestMachine>>;

type ItemOf<Item> = (request: SavedRequest, version: RequestVersion) => Item;

/** Members of the definition of each kind of actors. @param most versions that are kept */
export function requestActors(
  id: string,
  { most, view, itemOf }: { readonly most: number; readonly view: string; readonly itemOf: ItemOf<object> },
) {
  const isListed = ({ state }: SavedRequest) => state !== 'Sent' && state !== REQUEST_REMOVED;
  return {
    machine: savedRequestMachine({ id, most }),
    effects: [cancelDraftDocuments],
    rows(request: SavedRequest): readonly Row[] {
      if (!isListed(request)) return [];
      const { organizationId, creationDate, order = creationDate } = request.context;
      const newest = newestOf(request);
      const folderId = folderNamed(newest.document);
      const value = { ...itemOf(request, newest), ...(folderId !== null && { folderId }) };
      return [{ view, key: [organizationId, order, request.id], value: value as object as Row['value'] }];
    },
    counters(request: SavedRequest): { readonly [name: string]: number } {
      if (!isListed(request)) return {};
      const { organizationId, versions } = request.context;
      const blobs = versions.flatMap(({ uploads }) => uploads.map(({ blob }) => blob));
      return { [`${view}/${organizationId}`]: 1, ...blobCounters(blobs) };
    },
    // A step that ends an actor drops its effects: documents of refused attempts are canceled before.
    ends: ({ state, context: { canceling = [] } }: SavedRequest) =>
      state === REQUEST_REMOVED && canceling.length === 0,
  };
}

/** Facts of versions whose rows did not name the folder. */
export function factsWithoutFolder(
  { rows, counters }: Pick<ReturnType<typeof requestActors>, 'rows' | 'counters'>,
  request: SavedRequest,
) {
  const before = rows(request).map((row) => ({
    ...row,
    value: itemOfRow(row.value) as object as Row['value'],
  }));
  return { rows: before, counters: counters(request) };
}

export abstract class SavedRequests<Body, Item extends object> {
  protected readonly records: Records<RequestActor>;

  constructor(
    runtime: RecordRuntime,
    private readonly kind: {
      readonly actor: RequestActor;
      readonly notFound: PortalRefusalCode;
      readonly view: string;
      /** Names them in a refusal. */
      readonly items: string;
      readonly itemOf: ItemOf<Item>;
      /** As of `Records`. */
      readonly notAccepted?: { readonly code: PortalRefusalCode; readonly message: string };
    },
  ) {
    const { actor, notFound, view, items, notAccepted } = kind;
    this.records = new Records(runtime, {
      actor,
      notFound,
      list: { view, most: MAX_REQUESTS, items },
      ...(notAccepted && { notAccepted }),
      isOver: ({ state }) => state === REQUEST_REMOVED,
      folderOf: ({ versions }) => folderNamed(versions.at(-1)?.document),
    });
  }

  /** Checks what is to be kept. @param earlier uploads of the request, which may have expired */
  protected abstract contentOf(
    tenant: Tenant,
    body: Body,
    earlier: RequestContent['uploads'],
  ): RequestContent | Promise<RequestContent>;

  /** Further members of a new request. */
  protected origin(): Partial<RequestContext> {
    return {};
  }

  async list(
    tenant: Tenant,
    query: RecordQuery & { readonly position?: 'start' | ListPosition | undefined },
    matches?: (row: Row) => boolean,
  ): Promise<Page<Item>> {
    const { items, ...page } = await this.records.list(tenant, query, matches);
    // A request may be long; a list reads the rows alone.
    return { ...page, items: items.map(({ value }) => itemOfRow<Item>(value)) };
  }

  /**
   * Refusals: `BadRequest`, `LimitExceeded`, `UploadNotFound`; of templates those of creation.
   *
   * @param given the body; a function is called unless the request has made it already
   * @param seed as in `DocumentService.create`
   * @param isOfLink true: of a link to the editor, removed after 24 hours if nobody saves it
   */
  async create(
    tenant: Tenant,
    given: Body | (() => Promise<Body>),
    seed?: string,
    isOfLink = false,
  ): Promise<Item> {
    const made = await this.records.create(tenant, seed, async () => {
      const body = given instanceof Function ? await given() : given;
      const content = await this.contentOf(tenant, body, []);
      const { organizationId, ...made } = this.records.origin(tenant);
      const versions = [{ ...content, version: 1, ...made }];
      return { organizationId, ...made, ...this.origin(), versions, ...(isOfLink && { isOfLink }) };
    });
    return this.kind.itemOf(made, newestOf(made));
  }

  /** Adds a version. Refusals: as `create`. @param request the same request adds one version */
  async replace(tenant: Tenant, id: string, body: Body, request?: string): Promise<void> {
    const { context } = await this.records.toChange(tenant, id);
    const earlier = context.versions.flatMap(({ uploads }) => uploads);
    await this.records.change(tenant, id, {
      type: 'REPLACE',
      content: await this.contentOf(tenant, body, earlier),
      createdBy: principalOf(tenant),
      ...(request && { request }),
    });
  }

  async remove(tenant: Tenant, id: string): Promise<void> {
    await this.records.toChange(tenant, id);
    await this.records.change(tenant, id, { type: 'REMOVE' });
  }
}

export function newestOf({ context: { versions } }: Pick<SavedRequest, 'context'>): RequestVersion {
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error('A saved request has a version.');
  return newest;
}

/** Members of the item of a request of which one version is kept. */
export function timesOf(
  { context: { creationDate, updateDate, createdBy } }: SavedRequest,
  version: RequestVersion,
) {
  return { creationDate, updateDate: updateDate ?? version.creationDate, createdBy };
}

/** The item in a row of a list. */
export function itemOfRow<Item extends object>(value: Row['value']): Item {
  const { folderId: _folder, ...item } = value as object as Item & { readonly folderId?: string };
  return item as object as Item;
}

/** Refusals: `LimitExceeded`. @param name of the kind, with its article */
export function assertLength(content: unknown, name: string): void {
  if (JSON.stringify(content).length > MAX_CONTENT_LENGTH)
    throw new PortalRefusal('LimitExceeded', `${name} may have ${MAX_CONTENT_LENGTH} characters.`);
}
