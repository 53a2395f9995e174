/**
 * Queries documents over the rows of `document-index.ts`: a filter selects ranges and tests their rows. Ranges are
 * merged by order in batches, so that memory is bounded for any page.
 *
 * Totals are exact: from counters for an organization, its statuses and its folders, else by counting the rows of the
 * selected ranges.
 *
 * Source: docs/portal-values.md §12.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActorStore, Row } from '@sealwright/runtime';
import type { DocumentFilter } from '../../../contracts/portal/document-lists.ts';
import type { ListPosition } from '../../../contracts/portal/lists.ts';
import type { DocumentId, OrganizationId } from '../../../machines/ids.ts';
import { firstOrderNumberAt } from '../../shared/order-numbers.ts';
import { countRows, MergedRows, OrderedRows, type OrderedRowsOptions } from '../../shared/ordered-rows.ts';
import { reachesFolder } from '../shared/folder-scope.ts';
import { addressKey } from '../shared/mail-address.ts';
import {
  type DocumentRow,
  documentRowOf,
  EXPIRING_VIEW,
  externalIdKey,
  folded,
  foldedKey,
  type ListStatus,
  NO_FOLDER,
  type ParticipantRow,
  type PersonRow,
  participantKey,
} from './document-index.ts';

/** Index of a person's fields by filter. */
const SEARCHED_FIELDS = { Name: 0, Identifier: 1, Email: 2, Phone: 3 } as const;

/** Maximum number of compared tags. Source: docs/portal-values.md §12. */
const MAX_TAGS = 10;

const ALL: readonly ListStatus[] = ['Pending', 'Concluded', 'Refused', 'Canceled', 'Expired'];

/** Rows of one read. */
const ROWS_READ = 256;
/** Documents of one address in which those that wait for it are looked for. */
const MOST_OF_ADDRESS = 5_000;

type FactsRow = DocumentRow & Partial<Pick<ParticipantRow, 'pending'>>;
type RowPredicate = (facts: FactsRow) => boolean;

export interface DocumentQuery extends DocumentFilter {
  /** A page by position instead of number; `offset` is not used. @default pages by number */
  readonly position?: 'start' | ListPosition | undefined;
  /** 1 to 100. */
  readonly limit: number;
  /** Pages from 0. */
  readonly offset: number;
  readonly newestFirst: boolean;
  /** Only these; with `status`, those of both. */
  readonly statuses?: readonly ListStatus[];
  /** Only these. */
  readonly only?: ReadonlySet<DocumentId>;
  /** All but these, which are pending and not deleted. */
  readonly without?: ReadonlySet<DocumentId>;
  /** `q` also finds participants. */
  readonly findsPeople?: boolean;
}

interface Selection {
  readonly ranges: readonly Pick<OrderedRowsOptions, 'view' | 'prefix'>[];
  readonly fits: RowPredicate | undefined;
  /** Number of match, where counters know. */
  readonly total: number | undefined;
}

interface DocumentIdPage {
  readonly ids: readonly DocumentId[];
  /** Number that match in all; of a list by position, when it was begun. */
  readonly totalCount: number;
  /** Of a list by position; absent = there is no further page. */
  readonly next?: ListPosition;
}

/** Ids of one page. */
export async function listDocuments(
  store: ActorStore,
  organization: OrganizationId,
  query: DocumentQuery,
): Promise<DocumentIdPage> {
  const { limit, newestFirst, position } = query;
  const offset = position === undefined ? query.offset * limit : 0;
  const { ranges, fits, total: counted } = await select(store, organization, query);
  const total = typeof position === 'object' ? position.totalCount : counted;
  if (total !== undefined && offset >= total) return { ids: [], totalCount: total };
  const bounds = orderBounds(query);
  const rows = ranges.map(
    (range) => new OrderedRows(store, { ...range, ...bounds, newestFirst, expected: limit }),
  );
  const merged = new MergedRows(rows, newestFirst);
  const ids: DocumentId[] = [];
  let matched = fits || total === undefined ? 0 : await merged.skip(offset);
  // A list by position looks for one more: whether there is a further page.
  const fetchLimit = position === undefined ? limit : limit + 1;
  let last = 0;
  let found = 0;
  while (found < fetchLimit) {
    const row = await merged.next();
    if (row === undefined) break;
    const facts = documentRowOf(row.value);
    if (fits && !fits(facts)) continue;
    matched += 1;
    if (matched <= offset) continue;
    found += 1;
    if (found > limit) break;
    ids.push(facts.id);
    last = row.key.at(-1) as number;
  }
  const totalCount =
    total ?? matched + (await countRows(rows, (row) => !fits || fits(documentRowOf(row.value))));
  return { ids, totalCount, ...(found > limit && { next: { after: last, totalCount } }) };
}

/** True unless the filter finds every document of an organization. */
export function restricts(filter: DocumentFilter): boolean {
  const { status, folderId, withoutFolder, deleted, createdFrom, createdTo } = filter;
  const isInFolder = folderId !== undefined || withoutFolder === true;
  const isDated = createdFrom !== undefined || createdTo !== undefined;
  const questions = [...predicatesOf({ ...filter, folders: undefined }), ...participantPredicates(filter)];
  return status !== undefined || isInFolder || isDated || deleted === true || questions.length > 0;
}

/** Order numbers never lie before the creation; they lie behind it where the clock was set back. */
function orderBounds({
  createdFrom,
  createdTo,
  position,
  newestFirst,
}: Pick<DocumentQuery, 'createdFrom' | 'createdTo' | 'position' | 'newestFirst'>) {
  const after = typeof position === 'object' ? position.after : undefined;
  const from = Math.max(
    createdFrom === undefined ? 0 : firstOrderNumberAt(createdFrom),
    after === undefined || newestFirst ? 0 : after + 1,
  );
  const below = Math.min(
    createdTo === undefined ? Infinity : firstOrderNumberAt(createdTo + 1),
    after === undefined || !newestFirst ? Infinity : after,
  );
  return { ...(from > 0 && { from }), ...(below < Infinity && { below }) };
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
): Promise<DocumentIdPage> {
  const { limit, position, until = Infinity } = query;
  const skipped = typeof position === 'object' ? position.after : 0;
  const { from = 0, below = Infinity } = orderBounds({ ...query, position: undefined, newestFirst: true });
  const fits = allOf([
    ...[...predicatesOf(query), ...participantPredicates(query)],
    ...[...statusPredicates(query), ...folderPredicates(query)],
  ]);
  const ids: DocumentId[] = [];
  let matched = 0;
  let after: Row['key'] | undefined;
  for (;;) {
    const rows = await store.rows({
      ...{ view: EXPIRING_VIEW, prefix: [organization], limit: ROWS_READ },
      ...(after !== undefined && { after }),
    });
    const near = rows.filter(({ key }) => (key[1] as number) < until);
    for (const { key, value } of near) {
      const order = key[2] as number;
      if (order < from || order >= below) continue;
      const facts = documentRowOf(value);
      if (fits && !fits(facts)) continue;
      matched += 1;
      if (matched > skipped && ids.length < limit) ids.push(facts.id);
    }
    after = rows.at(-1)?.key;
    if (near.length < ROWS_READ || (until < Infinity && ids.length === limit)) break;
    await nextTurn();
  }
  const end = skipped + ids.length;
  return { ids, totalCount: matched, ...(matched > end && { next: { after: end, totalCount: matched } }) };
}

async function select(
  store: ActorStore,
  organization: OrganizationId,
  query: DocumentQuery,
): Promise<Selection> {
  const statuses = statusesOf(query);
  const folder = folderOf(query);
  const questions = predicatesOf(query);
  const isStatus = statusPredicates(query);
  const isFolder = folderPredicates(query);
  if (query.deleted === true) {
    const ranges = [{ view: 'documents-deleted', prefix: [organization] }];
    const conditions = [...questions, ...participantPredicates(query), ...isStatus, ...isFolder];
    return { ranges, fits: allOf(conditions), total: undefined };
  }
  if (query.externalId !== undefined) {
    const ranges = [{ view: 'documents-external', prefix: [organization, externalIdKey(query.externalId)] }];
    const conditions = [...questions, ...participantPredicates(query), ...isStatus, ...isFolder];
    return { ranges, fits: allOf(conditions), total: undefined };
  }
  const participant = exactParticipant(query);
  if (participant !== undefined) {
    const pending: RowPredicate[] =
      query.pendingSignature === true ? [(facts) => facts.pending === true] : [];
    const ranges = [{ view: 'documents-of', prefix: [organization, participant] }];
    return { ranges, fits: allOf([...questions, ...pending, ...isStatus, ...isFolder]), total: undefined };
  }
  const found = [...questions, ...participantPredicates(query)];
  const { without } = query;
  const conditions = without === undefined ? found : [...found, notIn(without)];
  const isCounted = found.length === 0 && query.createdFrom === undefined && query.createdTo === undefined;
  if (folder !== undefined) {
    const ranges = [{ view: 'documents-in', prefix: [organization, folder] }];
    const total =
      isCounted && without === undefined
        ? await counted(store, `documents-in/${organization}/${folder}`, statuses)
        : undefined;
    return { ranges, fits: allOf([...conditions, ...isStatus]), total };
  }
  if (query.folders !== undefined) {
    const ranges = query.folders.map((one) => ({ view: 'documents-in', prefix: [organization, one] }));
    return { ranges, fits: allOf([...conditions, ...isStatus]), total: undefined };
  }
  const total = isCounted
    ? Math.max(0, (await counted(store, `documents/${organization}`, statuses)) - (without?.size ?? 0))
    : undefined;
  const ranges =
    statuses === undefined
      ? [{ view: 'documents', prefix: [organization] }]
      : statuses.map((status) => ({ view: 'documents-by', prefix: [organization, status] }));
  return { ranges, fits: allOf(conditions), total };
}

async function counted(
  store: Pick<ActorStore, 'counters'>,
  name: string,
  statuses: readonly ListStatus[] = ALL,
): Promise<number> {
  const counters = await store.counters(`${name}/`);
  return statuses.reduce((sum, status) => sum + (counters[`${name}/${status}`] ?? 0), 0);
}

type StatusQuery = Pick<DocumentQuery, 'status' | 'statuses'>;

function statusesOf({ status, statuses }: StatusQuery): readonly ListStatus[] | undefined {
  const wanted = statusesNamed(status);
  return wanted === undefined ? statuses : wanted.filter((one) => statuses?.includes(one) ?? true);
}

function statusesNamed(status: DocumentQuery['status']): readonly ListStatus[] | undefined {
  if (status === 'PendingOrRefused') return ['Pending', 'Refused'];
  if (status === 'CanceledOrExpired') return ['Canceled', 'Expired'];
  return status === undefined ? undefined : [status];
}

function statusPredicates(query: StatusQuery): RowPredicate[] {
  const statuses = statusesOf(query);
  return statuses === undefined ? [] : [({ status }) => statuses.includes(status)];
}

type FolderQuery = Pick<DocumentFilter, 'folderId' | 'withoutFolder'>;

function folderOf({ folderId, withoutFolder }: FolderQuery): string | undefined {
  return folderId ?? (withoutFolder === true ? NO_FOLDER : undefined);
}

function folderPredicates(query: FolderQuery): RowPredicate[] {
  const folder = folderOf(query);
  return folder === undefined ? [] : [(facts) => (facts.folder ?? NO_FOLDER) === folder];
}

/** A complete address or identifier uses the index; a part of one is searched for. */
function exactParticipant({ participantQ, participantQueryType: type }: DocumentQuery): string | undefined {
  const text = participantQ?.trim() ?? '';
  // Rows of earlier versions have an internationalized domain as it was given.
  if (type === 'Email' && !/[^\x21-\x7e]|xn--/i.test(text) && /^[^@\s]+@[^@\s][^@\s.]*\.[^@\s]+$/.test(text))
    return participantKey('Email', text);
  if (type === 'Identifier' && /^[\d.\-/ ]{11,}$/.test(text))
    return participantKey('Identifier', text.replace(/[\s.\-/]/g, ''));
  return undefined;
}

function participantPredicates({
  participantQ,
  participantQueryType: type,
  pendingSignature,
}: DocumentFilter): RowPredicate[] {
  const given = participantQ?.trim() ?? '';
  const text = folded(given);
  if (text === '') return [];
  // An internationalized domain is found in both of its forms.
  const address = given.includes('@') ? folded(addressKey(given)) : text;
  const bare = text.replace(/[\s.\-/()+]/g, '');
  const places = type === undefined ? Object.values(SEARCHED_FIELDS) : [SEARCHED_FIELDS[type]];
  const isWho = (person: PersonRow) =>
    places.some((place) => {
      const value = folded(person[place] ?? '');
      if (value.includes(text) || value.includes(address)) return true;
      if (value.includes('xn--') && folded(addressKey(value)).includes(address)) return true;
      // Numbers are compared without their punctuation.
      return place % 2 === 1 && bare !== '' && value.replace(/[\s.\-/()+]/g, '').includes(bare);
    });
  return [
    // Rows of one participant have no list of people.
    ({ people = [] }: { readonly people?: FactsRow['people'] }) =>
      people.some(([who, pending]) => isWho(who) && (pending || pendingSignature !== true)),
  ];
}

function notIn(ids: ReadonlySet<DocumentId>): RowPredicate {
  return ({ id }) => !ids.has(id);
}

function predicatesOf(query: DocumentFilter & Pick<DocumentQuery, 'only' | 'findsPeople'>): RowPredicate[] {
  const questions: RowPredicate[] = [];
  const { only } = query;
  if (only !== undefined) questions.push(({ id }) => only.has(id));
  const {
    q,
    queryType = 'Name',
    pendingSignature,
    filterByDocumentType,
    documentType,
    tags,
    externalId,
    folders,
  } = query;
  if (q !== undefined && q !== '') {
    const isFound = searched(q, queryType);
    const [isPerson] = query.findsPeople === true ? participantPredicates({ participantQ: q }) : [];
    questions.push((facts) => isFound(facts) || isPerson?.(facts) === true);
  }
  if (folders !== undefined) questions.push((facts) => reachesFolder({ folders }, facts.folder ?? null));
  if (externalId !== undefined) questions.push((facts) => facts.externalId === externalId);
  if (pendingSignature === true) questions.push(({ signs }) => signs);
  if (filterByDocumentType === true) questions.push(({ type }) => type === (documentType ?? null));
  for (const tag of tags?.slice(0, MAX_TAGS) ?? []) {
    const [label, value] = [tag.label === null ? null : folded(tag.label), folded(tag.value)];
    questions.push((facts) =>
      facts.tags.some(
        ([itsLabel, itsValue]) =>
          folded(itsValue) === value && (label === null || folded(itsLabel ?? '') === label),
      ),
    );
  }
  return questions;
}

function searched(q: string, by: NonNullable<DocumentQuery['queryType']>): RowPredicate {
  const text = folded(q);
  const has = (value: string) => folded(value).includes(text);
  switch (by) {
    case 'Name':
      return ({ name }) => has(name);
    case 'Key': {
      const key = foldedKey(q);
      // A text of hyphens and spaces is no part of a key.
      return (facts) => key !== '' && facts.key.includes(key);
    }
    case 'Id':
      return ({ id }) => has(id);
    case 'CreatorName':
      return ({ creator }) => has(creator);
    case 'Tag':
      return ({ tags }) => tags.some(([label, value]) => has(value) || has(label ?? ''));
    case 'Any': {
      const others = (['Name', 'Key', 'Id', 'CreatorName', 'Tag'] as const).map((one) => searched(q, one));
      return (facts) => has(facts.externalId ?? '') || others.some((isFound) => isFound(facts));
    }
  }
}

function allOf(questions: readonly RowPredicate[]): RowPredicate | undefined {
  if (questions.length === 0) return undefined;
  return (facts) => questions.every((question) => question(facts));
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
