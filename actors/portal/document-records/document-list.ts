/**
 * Queries documents over the rows of `document-index.ts`: a filter selects ranges and tests their rows. Ranges are
 * merged by order in batches, so that memory is bounded for any page. Where that would read many rows, the page comes from
 * `document-columns.ts`, if that table is complete.
 *
 * Totals are exact: from counters for an organization, its statuses and its folders, else by counting.
 *
 * Source: docs/portal-values.md §12.
 */

import type { ActorStore } from '@sealwright/runtime';
import type { ListPosition } from '../../../contracts/portal/lists.ts';
import { LISTED_STATUSES, type ListedStatus } from '../../../contracts/portal/words.ts';
import type { DocumentId, OrganizationId } from '../../../machines/ids.ts';
import { FEW, foundPage, isLong, type ListPart, pageOf, type TablePart } from '../../shared/lists/list.ts';
import { mergedRows, type RowRange, rowPieces } from '../../shared/lists/stored-rows.ts';
import type { Tenant } from '../api/callers.ts';
import { filterFor } from '../shared/folder-access.ts';
import type { DocumentColumns } from './document-columns.ts';
import {
  allOf,
  allPredicatesOf,
  createdBounds,
  type DocumentQuery,
  exactParticipant,
  folderOf,
  folderPredicates,
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
/** Rows of one read. */
const ROWS_READ = 256;
/** Documents of one address in which those that wait for it are looked for. */
const MOST_OF_ADDRESS = 5_000;

interface Selection {
  readonly ranges: readonly RowRange[];
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

/** Ids of one page. @param columns for lists that rows answer slowly */
export async function listDocuments(
  store: Pick<ActorStore, 'rows' | 'counters'>,
  organization: OrganizationId,
  query: DocumentQuery,
  columns?: Pick<DocumentColumns, 'page'>,
): Promise<DocumentIdPage> {
  const part = partOf(query);
  const { ranges, fits, total } = await select(store, organization, query);
  const among = query.only;
  const { items, ...page } =
    among !== undefined
      ? await foundPage(part, total, (wanted) => pageAmong(store, organization, { query, among, wanted }))
      : await pageOf(
          store,
          {
            ranges,
            total,
            fits: fits && ((row) => fits(documentRowOf(row.value), row.key.at(-1) as number)),
            itemOf: ({ value }) => documentRowOf(value).id,
            table: columns && ((wanted) => pageOfColumns(columns, organization, query, wanted)),
          },
          part,
        );
  return { ids: items, ...page };
}

function partOf(query: DocumentQuery): ListPart {
  const { limit, offset, newestFirst, position } = query;
  return { ...createdBounds(query), limit, offset: offset * limit, newestFirst, position };
}

async function pageOfColumns(
  columns: Pick<DocumentColumns, 'page'>,
  organization: OrganizationId,
  query: DocumentQuery,
  part: TablePart,
) {
  const page = await columns.page(organization, query, part);
  return page && { ...page, found: page.found.map(({ id, order }) => ({ item: id, number: order })) };
}

/** Ids of one page of the documents that a caller may read. @param existing folders of the organization */
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

/** Of a few documents. */
async function pageAmong(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
  {
    query,
    among,
    wanted: { from = 0, below = Infinity, newestFirst, offset, limit, total },
  }: { readonly query: DocumentQuery; readonly among: ReadonlySet<number>; readonly wanted: TablePart },
) {
  const fits = allOf(allPredicatesOf(query));
  const found: { item: DocumentId; number: number }[] = [];
  for (const number of among) {
    if (number < from || number >= below) continue;
    const [row] = await store.rows({ view: 'documents', prefix: [organization, number], limit: 1 });
    const facts: DocumentRow | undefined = row && documentRowOf(row.value);
    if (facts !== undefined && (fits === undefined || fits(facts, number)))
      found.push({ item: facts.id, number });
  }
  found.sort((a, b) => (newestFirst ? b.number - a.number : a.number - b.number));
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
  const ids: DocumentId[] = [];
  let read = 0;
  for await (const row of mergedRows(store, [{ view: 'documents-of', prefix }], { newestFirst: true })) {
    const facts = documentRowOf(row.value);
    if (facts.status === 'Pending') ids.push(facts.id);
    read += 1;
    if (read === MOST_OF_ADDRESS) break;
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
  const isTabled =
    until === Infinity &&
    (await isLong(store, { ranges: [{ view: EXPIRING_VIEW, prefix: [organization] }] }));
  const all = { ...query, position: undefined, expiring: true, offset: 0, newestFirst: true };
  const few = isTabled
    ? await columns?.page(organization, all, {
        ...createdBounds(query),
        newestFirst: true,
        offset: 0,
        limit: FEW,
        total: undefined,
      })
    : undefined;
  // A few are sorted here; of many, the page is soon found among the rows.
  if (few !== undefined && few.totalCount <= FEW) {
    const found = few.found.toSorted((a, b) => a.expiry - b.expiry || a.order - b.order);
    const ids = found.slice(skipped, skipped + limit).map(({ id }) => id);
    return countedPage(ids, skipped, limit, few.totalCount);
  }
  const known = few?.totalCount;
  const { from = 0, below = Infinity } = createdBounds(query);
  const fits = allOf(allPredicatesOf(query));
  const ids: DocumentId[] = [];
  let matched = 0;
  const range = { view: EXPIRING_VIEW, prefix: [organization] };
  for await (const rows of rowPieces(store, range, { below: until, most: ROWS_READ })) {
    for (const { key, value } of rows) {
      const order = key[2] as number;
      if (order < from || order >= below) continue;
      const facts = documentRowOf(value);
      if (fits && !fits(facts, order)) continue;
      matched += 1;
      if (matched > skipped && ids.length < limit) ids.push(facts.id);
    }
    if (ids.length === limit && (until < Infinity || known !== undefined)) break;
  }
  return countedPage(ids, skipped, limit, known ?? matched);
}

/** A page whose position counts the documents before it. */
function countedPage(
  ids: readonly DocumentId[],
  skipped: number,
  limit: number,
  totalCount: number,
): DocumentIdPage {
  const end = skipped + ids.length;
  const isLast = ids.length < limit || totalCount <= end;
  return { ids, totalCount, ...(!isLast && { next: { after: end, totalCount } }) };
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
