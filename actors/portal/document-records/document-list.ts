/**
 * Queries documents over the rows of `document-index.ts`: a filter selects ranges and tests their rows. Ranges are
 * merged by order in batches, so that memory is bounded for any page. Where that would read many rows, the page comes from
 * `document-columns.ts`, if that table is complete.
 *
 * Totals are exact: from counters for an organization, its statuses and its folders, else by counting.
 *
 * Source: docs/portal-values.md §12.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row } from '@sealwright/runtime';
import type { ListPosition } from '../../../contracts/portal/lists.ts';
import { LISTED_STATUSES, type ListedStatus } from '../../../contracts/portal/words.ts';
import type { DocumentId, OrganizationId } from '../../../machines/ids.ts';
import { countRows, MergedRows, OrderedRows, type OrderedRowsOptions } from '../../shared/ordered-rows.ts';
import type { Tenant } from '../api/callers.ts';
import { filterFor } from '../shared/folder-access.ts';
import type { DocumentColumns } from './document-columns.ts';
import {
  allOf,
  allPredicatesOf,
  type DocumentQuery,
  exactParticipant,
  folderOf,
  folderPredicates,
  orderBounds,
  participantPredicates,
  predicatesOf,
  type RowPredicate,
  statusesOf,
  statusPredicates,
} from './document-filter.ts';
import {
  type DocumentRow,
  documentRowOf,
  EXPIRING_VIEW,
  externalIdKey,
  participantKey,
} from './document-index.ts';

export type { DocumentQuery };

/** Folders whose counters are read one by one rather than those of all folders at once. */
const FEW_FOLDERS = 16;
/** Rows that are read rather than that a table is used. */
const FEW = 1_000;
/** Rows of one read. */
const ROWS_READ = 256;
/** Documents of one address in which those that wait for it are looked for. */
const MOST_OF_ADDRESS = 5_000;

interface Selection {
  readonly ranges: readonly Pick<OrderedRowsOptions, 'view' | 'prefix'>[];
  readonly fits: RowPredicate | undefined;
  /** Number of matches, where counters know. */
  readonly total: number | undefined;
}

interface DocumentIdPage {
  readonly ids: readonly DocumentId[];
  /** Number that match in all; of a list by position, when it was begun. */
  readonly totalCount: number;
  /** Of a list by position; absent = there is no further page. */
  readonly next?: ListPosition;
}

interface Found {
  readonly id: DocumentId;
  readonly order: number;
}

/** Ids of one page. @param columns for lists that rows answer slowly */
export async function listDocuments(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  organization: OrganizationId,
  query: DocumentQuery,
  columns?: Pick<DocumentColumns, 'page'>,
): Promise<DocumentIdPage> {
  const { limit, position, only } = query;
  const offset = position === undefined ? query.offset * limit : 0;
  const selection = await select(store, organization, query);
  const total = typeof position === 'object' ? position.totalCount : selection.total;
  if (total !== undefined && offset >= total) return { ids: [], totalCount: total };
  // A list by position looks for one more: whether there is a further page.
  const page = { offset, total, limit: position === undefined ? limit : limit + 1 };
  const { found, totalCount } =
    only !== undefined
      ? await pageAmong(store, organization, { query, only, part: page })
      : ((await pageOfColumns(store, organization, { query, selection, page, columns })) ??
        (await pageOfRows(store, query, selection, page)));
  const ids = found.slice(0, limit).map(({ id }) => id);
  const after = found[limit - 1]?.order ?? 0;
  return { ids, totalCount, ...(found.length > limit && { next: { after, totalCount } }) };
}

/** Ids of one page of the documents that a caller may read. @param existing folders of his organization */
export async function listReadable(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  tenant: Tenant,
  {
    query,
    existing,
    columns,
  }: {
    readonly query: DocumentQuery;
    readonly existing: () => Promise<NonNullable<DocumentQuery['inFolders']>>;
    readonly columns?: Pick<DocumentColumns, 'page'> | undefined;
  },
): Promise<DocumentIdPage> {
  // A deleted document stays in its folder, whose grants end with it: then nobody knows who might have seen it.
  const isLeft = query.deleted === true && tenant.rights !== undefined && tenant.folders === undefined;
  const folders = isLeft ? { inFolders: await existing() } : {};
  return listDocuments(
    store,
    tenant.organization.id,
    { ...query, ...folders, ...filterFor(tenant) },
    columns,
  );
}

interface Part {
  readonly offset: number;
  readonly limit: number;
  /** Number of matches where it is known. */
  readonly total: number | undefined;
}

interface FoundPart {
  readonly found: readonly Found[];
  readonly totalCount: number;
}

/** Undefined where rows answer soon, or there is no table yet. */
async function pageOfColumns(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  {
    query,
    selection: { ranges, fits, total: counted },
    page,
    columns,
  }: {
    readonly query: DocumentQuery;
    readonly selection: Selection;
    readonly page: Part;
    readonly columns: Pick<DocumentColumns, 'page'> | undefined;
  },
): Promise<FoundPart | undefined> {
  const isSoon = fits === undefined && counted !== undefined && page.offset < FEW;
  if (columns === undefined || isSoon || !(await haveMany(store, ranges))) return undefined;
  return columns.page(organization, query, page);
}

/** True if the ranges have more than a few rows. */
async function haveMany(store: Pick<ActorStore, 'rows'>, ranges: Selection['ranges']): Promise<boolean> {
  const offset = Math.floor(FEW / ranges.length);
  for (const range of ranges) if ((await store.rows({ ...range, offset, limit: 1 })).length > 0) return true;
  return false;
}

async function pageOfRows(
  store: Pick<ActorStore, 'rows'>,
  query: DocumentQuery,
  { ranges, fits, total: counted }: Selection,
  { offset, limit, total }: Part,
): Promise<FoundPart> {
  const { newestFirst } = query;
  const bounds = orderBounds(query);
  const rows = ranges.map(
    (range) => new OrderedRows(store, { ...range, ...bounds, newestFirst, expected: limit }),
  );
  const merged = new MergedRows(rows, newestFirst);
  const found: Found[] = [];
  // Rows may be skipped unread only when the total shows that the page starts inside the range.
  let matched = fits || counted === undefined ? 0 : await merged.skip(offset);
  while (found.length < limit) {
    const row = await merged.next();
    if (row === undefined) break;
    const facts = documentRowOf(row.value);
    const order = row.key.at(-1) as number;
    if (fits && !fits(facts, order)) continue;
    matched += 1;
    if (matched > offset) found.push({ id: facts.id, order });
  }
  if (total !== undefined) return { found, totalCount: total };
  const left = await countRows(
    rows,
    (row) => !fits || fits(documentRowOf(row.value), row.key.at(-1) as number),
  );
  return { found, totalCount: matched + left };
}

/** Of a few documents. */
async function pageAmong(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  {
    query,
    only,
    part: { offset, limit, total },
  }: { readonly query: DocumentQuery; readonly only: ReadonlySet<number>; readonly part: Part },
): Promise<FoundPart> {
  const { from = 0, below = Infinity } = orderBounds(query);
  const fits = allOf(allPredicatesOf(query));
  const found: Found[] = [];
  for (const order of only) {
    if (order < from || order >= below) continue;
    const [row] = await store.rows({ view: 'documents', prefix: [organization, order], limit: 1 });
    const facts: DocumentRow | undefined = row && documentRowOf(row.value);
    if (facts !== undefined && (fits === undefined || fits(facts, order)))
      found.push({ id: facts.id, order });
  }
  found.sort((a, b) => (query.newestFirst ? b.order - a.order : a.order - b.order));
  return { found: found.slice(offset, offset + limit), totalCount: total ?? found.length };
}

/** Ids of the documents that wait for an address to act, oldest first; of its newest `MOST_OF_ADDRESS`. */
export async function pendingOf(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  email: string,
  limit: number,
): Promise<readonly DocumentId[]> {
  const prefix = [organization, participantKey('Email', email)];
  const rows = new MergedRows(
    [new OrderedRows(store, { view: 'documents-of', prefix, newestFirst: true })],
    true,
  );
  const ids: DocumentId[] = [];
  for (let read = 0; read < MOST_OF_ADDRESS; read += 1) {
    const row = await rows.next();
    if (row === undefined) break;
    const facts = documentRowOf(row.value);
    if (facts.status === 'Pending') ids.push(facts.id);
  }
  return ids.toReversed().slice(0, limit);
}

/**
 * Ids of pending documents with a last day, the next one first. A position counts them.
 * @param query.until only those that expire before; more than `limit` are not counted
 */
export async function expiringDocuments(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  query: Omit<DocumentQuery, 'offset' | 'newestFirst'> & { readonly until?: number },
  columns?: Pick<DocumentColumns, 'page'>,
): Promise<DocumentIdPage> {
  const { limit, position, until = Infinity } = query;
  const skipped = typeof position === 'object' ? position.after : 0;
  const isLong =
    until === Infinity && (await haveMany(store, [{ view: EXPIRING_VIEW, prefix: [organization] }]));
  const all = { ...query, position: undefined, expiring: true, offset: 0, newestFirst: true };
  const few = isLong
    ? await columns?.page(organization, all, { offset: 0, limit: FEW, total: undefined })
    : undefined;
  // A few are sorted here; of many, the page is soon found among the rows.
  if (few !== undefined && few.totalCount <= FEW) {
    const found = few.found.toSorted((a, b) => a.expiry - b.expiry || a.order - b.order);
    return partOf(found, skipped, limit, few.totalCount);
  }
  const known = few?.totalCount;
  const { from = 0, below = Infinity } = orderBounds({ ...query, position: undefined, newestFirst: true });
  const fits = allOf(allPredicatesOf(query));
  const ids: DocumentId[] = [];
  let matched = 0;
  let after: Row['key'] | undefined;
  for (;;) {
    const rows = await store.rows({
      view: EXPIRING_VIEW,
      prefix: [organization],
      limit: ROWS_READ,
      ...(after !== undefined && { after }),
    });
    const near = rows.filter(({ key }) => (key[1] as number) < until);
    for (const { key, value } of near) {
      const order = key[2] as number;
      if (order < from || order >= below) continue;
      const facts = documentRowOf(value);
      if (fits && !fits(facts, order)) continue;
      matched += 1;
      if (matched > skipped && ids.length < limit) ids.push(facts.id);
    }
    after = rows.at(-1)?.key;
    const isFull = ids.length === limit && (until < Infinity || known !== undefined);
    if (near.length < ROWS_READ || isFull) break;
    await nextTurn();
  }
  const totalCount = known ?? matched;
  const end = skipped + ids.length;
  return {
    ids,
    totalCount,
    ...(ids.length === limit && totalCount > end && { next: { after: end, totalCount } }),
  };
}

function partOf(
  all: readonly Pick<Found, 'id'>[],
  skipped: number,
  limit: number,
  totalCount: number,
): DocumentIdPage {
  const ids = all.slice(skipped, skipped + limit).map(({ id }) => id);
  const end = skipped + ids.length;
  return {
    ids,
    totalCount,
    ...(ids.length === limit && totalCount > end && { next: { after: end, totalCount } }),
  };
}

async function select(
  store: Pick<ActorStore, 'counters'>,
  organization: OrganizationId,
  query: DocumentQuery,
): Promise<Selection> {
  const statuses = statusesOf(query);
  const folder = folderOf(query);
  const { folders, exceptFolders = [], without, externalId } = query;
  const participant = exactParticipant(query);
  const found = [...predicatesOf(query), ...participantPredicates(query)];
  const isStatus = statusPredicates(query);
  const isFolder = folderPredicates(query);
  if (query.deleted === true || externalId !== undefined) {
    const range =
      query.deleted === true
        ? { view: 'documents-deleted', prefix: [organization] }
        : { view: 'documents-external', prefix: [organization, externalIdKey(externalId ?? '')] };
    return { ranges: [range], fits: allOf([...found, ...isStatus, ...isFolder]), total: undefined };
  }
  if (participant !== undefined) {
    const pending: RowPredicate[] =
      query.pendingSignature === true ? [(facts) => facts.pending === true] : [];
    const ranges = [{ view: 'documents-of', prefix: [organization, participant] }];
    const conditions = [...predicatesOf(query), ...pending, ...isStatus, ...isFolder];
    return { ranges, fits: allOf(conditions), total: undefined };
  }
  const isDated = query.createdFrom !== undefined || query.createdTo !== undefined;
  // The ranges of folders hold what the conditions on folders find; counters know nothing of those that are left out.
  const isHidden = folder !== undefined && exceptFolders.includes(folder);
  const inFolders =
    folder === undefined ? folders : isHidden || folders?.includes(folder) === false ? [] : [folder];
  const more = [
    ...predicatesOf({ ...query, folders: undefined, exceptFolders: undefined, without: undefined }),
    ...participantPredicates(query),
  ];
  const isCounted = more.length === 0 && !isDated;
  if (inFolders !== undefined) {
    const ranges = inFolders.map((one) => ({ view: 'documents-in', prefix: [organization, one] }));
    const total =
      isCounted && without === undefined
        ? await countedIn(store, organization, inFolders, statuses)
        : undefined;
    const conditions = [...predicatesOf({ ...query, folders: undefined }), ...participantPredicates(query)];
    return { ranges, fits: allOf([...conditions, ...isStatus]), total };
  }
  const total = isCounted
    ? Math.max(0, (await countDocuments(store, organization, statuses, exceptFolders)) - (without?.size ?? 0))
    : undefined;
  const ranges =
    statuses === undefined
      ? [{ view: 'documents', prefix: [organization] }]
      : statuses.map((status) => ({ view: 'documents-by', prefix: [organization, status] }));
  return { ranges, fits: allOf(found), total };
}

async function countedIn(
  store: Pick<ActorStore, 'counters'>,
  organization: OrganizationId,
  folders: readonly string[],
  statuses: readonly ListedStatus[] | undefined,
): Promise<number> {
  const counts = await Promise.all(
    folders.map((one) => counted(store, `documents-in/${organization}/${one}`, statuses)),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Number of documents in these statuses that are in none of some folders. */
export async function countDocuments(
  store: Pick<ActorStore, 'counters'>,
  organization: OrganizationId,
  statuses: readonly ListedStatus[] | undefined,
  exceptFolders: readonly string[] = [],
): Promise<number> {
  const all = await counted(store, `documents/${organization}`, statuses);
  if (exceptFolders.length > FEW_FOLDERS) {
    const counters = await store.counters(`documents-in/${organization}/`);
    const of = (folder: string, status: ListedStatus) =>
      counters[`documents-in/${organization}/${folder}/${status}`] ?? 0;
    return exceptFolders.reduce(
      (sum, folder) => (statuses ?? LISTED_STATUSES).reduce((left, status) => left - of(folder, status), sum),
      all,
    );
  }
  const hidden = await Promise.all(
    exceptFolders.map((one) => counted(store, `documents-in/${organization}/${one}`, statuses)),
  );
  return hidden.reduce((sum, count) => sum - count, all);
}

async function counted(
  store: Pick<ActorStore, 'counters'>,
  name: string,
  statuses: readonly ListedStatus[] = LISTED_STATUSES,
): Promise<number> {
  const counters = await store.counters(`${name}/`);
  return statuses.reduce((sum, status) => sum + (counters[`${name}/${status}`] ?? 0), 0);
}

/** Ids of documents in a folder that are not deleted, at most `limit`. */
export async function documentsIn(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  folder: string,
  limit: number,
): Promise<readonly DocumentId[]> {
  const rows = await store.rows({ view: 'documents-in', prefix: [organization, folder], limit });
  return rows.map(({ value }) => documentRowOf(value).id);
}
