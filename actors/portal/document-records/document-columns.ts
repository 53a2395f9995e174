/**
 * The fields that lists of documents filter by, in memory: one table for each organization that lists many documents, one for
 * its deleted ones. Source: docs/decisions/0251-lists-in-columns.md.
 */
import { type ActorStore, contextOf, type Step } from '@sealwright/runtime';
import type { DocumentId, OrganizationId } from '../../../machines/ids.ts';
import {
  type Condition,
  containingText,
  ObservedTable,
  type TableShape,
} from '../../shared/observed-table.ts';
import { OrderedRows } from '../../shared/ordered-rows.ts';
import { fieldsOf, foldText, isBeyondAscii, isNowhere, recordsOf } from '../../shared/text-column.ts';
import { addressKey } from '../shared/mail-address.ts';
import {
  type DocumentQuery,
  exactParticipant,
  folderOf,
  MAX_TAGS,
  orderBounds,
  SEARCHED_FIELDS,
  statusesOf,
} from './document-filter.ts';
import {
  DOCUMENT,
  type DocumentRow,
  documentRow,
  documentRowOf,
  foldedKey,
  NO_FOLDER,
  type PersonRow,
} from './document-index.ts';

/** Documents in all tables; the tables that were used least recently are given up for others. */
const MAX_DOCUMENTS = 3_000_000;

/** Rows of a read while a table is built: about a millisecond. */
const ROWS_PER_READ = 64;

/** Columns of codes. */
const [STATUS, FOLDER, TYPE, CREATOR, SIGNS] = [0, 1, 2, 3, 4] as const;
/** Columns of texts. */
const [NAME, IDS, TAGS, WAITING, OTHERS] = [0, 1, 2, 3, 4] as const;
/** Fields of `IDS`; the last one only if it differs from the one before. */
const [KEY, ID, EXTERNAL_ID, FOLDED_EXTERNAL_ID] = [0, 1, 2, 3] as const;
/** Fields of a person behind those of `PersonRow`, each only if it differs: numbers bare, the address in its letters. */
const [BARE_IDENTIFIER, BARE_PHONE, ADDRESS] = [4, 5, 6] as const;

const SHAPE: TableShape<DocumentRow> = {
  codes: 5,
  texts: 5,
  codesOf: ({ status, folder, type, creator, signs }) => [
    status,
    folder ?? NO_FOLDER,
    type,
    foldText(creator),
    String(signs),
  ],
  textsOf: ({ name, key, id, externalId, tags, people }) => [
    fieldsOf([foldText(name)]),
    fieldsOf([key, foldText(id), ...externalFields(externalId)]),
    recordsOf(tags.map(([label, value]) => [foldText(label ?? ''), foldText(value)])),
    recordsOf(people.filter(([, isPending]) => isPending).map(([person]) => personFields(person))),
    recordsOf(people.filter(([, isPending]) => !isPending).map(([person]) => personFields(person))),
  ],
};

function externalFields(externalId: string | undefined): readonly string[] {
  if (externalId === undefined) return [];
  const folded = foldText(externalId);
  return folded === externalId ? [externalId] : [externalId, folded];
}

/** Called for each person of each document while a table is built. */
function personFields([name, identifier, email, phone]: PersonRow): readonly string[] {
  const fields = [
    foldText(name ?? ''),
    foldText(identifier ?? ''),
    foldText(email ?? ''),
    foldText(phone ?? ''),
  ];
  const [, itsIdentifier = '', itsEmail = '', itsPhone = ''] = fields;
  const isCoded = itsEmail.includes('xn--') || isBeyondAscii(itsEmail);
  const other = (text: string, plain: string) => (text === plain ? '' : plain);
  fields.push(other(itsIdentifier, bare(itsIdentifier)), other(itsPhone, bare(itsPhone)));
  fields.push(isCoded ? other(itsEmail, foldText(addressKey(itsEmail))) : '');
  while (fields.at(-1) === '') fields.pop();
  return fields;
}

function bare(text: string): string {
  return /[\s.\-/()+]/.test(text) ? text.replace(/[\s.\-/()+]/g, '') : text;
}

type ColumnPage = {
  readonly found: readonly { readonly id: DocumentId; readonly order: number }[];
  readonly totalCount: number;
};

export class DocumentColumns {
  readonly #store: Pick<ActorStore, 'rows' | 'nodes'>;
  /** Documents that are not deleted. */
  readonly #counts = new Map<string, number>();
  /** By organization and view, the one used last at the end. */
  readonly #tables = new Map<string, ObservedTable<DocumentRow>>();

  /** @param counters those that begin with `documents/` */
  constructor(store: Pick<ActorStore, 'rows' | 'nodes'>, counters: { readonly [name: string]: number }) {
    this.#store = store;
    this.#move(counters);
  }

  /** Forgets all: steps of other nodes were missed. */
  reset(counters: { readonly [name: string]: number }): void {
    this.#tables.clear();
    this.#counts.clear();
    this.#move(counters);
  }

  /** Processes a committed step. */
  observe({ actor, counters }: Step): void {
    const context = contextOf(DOCUMENT, actor);
    if (context === undefined) return;
    this.#move(counters);
    const { id } = context.organization;
    const present = this.#tables.get(tableKey(id, false));
    const deleted = this.#tables.get(tableKey(id, true));
    if (present?.observes !== true && deleted?.observes !== true) return;
    const isDeleted = actor.state === 'Deleted';
    const facts = documentRow({ state: actor.state, context });
    present?.observe(context.order, isDeleted ? undefined : facts);
    deleted?.observe(context.order, isDeleted ? facts : undefined);
  }

  /** Number of documents of an organization that are not deleted. */
  count(organization: OrganizationId): number {
    return this.#counts.get(organization) ?? 0;
  }

  /**
   * One page; undefined while the table is incomplete.
   * @param offset documents to skip
   * @param total number of matches where it is known
   */
  async page(
    organization: OrganizationId,
    query: DocumentQuery,
    {
      offset,
      limit,
      total,
    }: { readonly offset: number; readonly limit: number; readonly total: number | undefined },
  ): Promise<ColumnPage | undefined> {
    const groups = groupsOf(query);
    if (groups === undefined) return undefined;
    const table = this.#table(organization, query.deleted === true);
    const { newestFirst } = query;
    const page = await table.page({ ...orderBounds(query), groups, newestFirst, offset, limit, total });
    if (page === undefined) return undefined;
    const found = page.orders.map((order) => ({ order, id: idOf(table.textOf(order, IDS)) }));
    return { found: found.filter(({ id }) => id !== ''), totalCount: page.totalCount };
  }

  #table(organization: OrganizationId, isDeleted: boolean): ObservedTable<DocumentRow> {
    const key = tableKey(organization, isDeleted);
    let table = this.#tables.get(key);
    // The one that is used last is the last one.
    this.#tables.delete(key);
    let others = isDeleted ? 0 : this.count(organization);
    for (const one of this.#tables.values()) others += one.size;
    for (const [oldest, { size }] of this.#tables) {
      if (others <= MAX_DOCUMENTS) break;
      this.#tables.get(oldest)?.reset();
      this.#tables.delete(oldest);
      others -= size;
    }
    table ??= new ObservedTable(SHAPE, {
      read: () => readDocuments(this.#store, isDeleted ? 'documents-deleted' : 'documents', organization),
      count: isDeleted ? () => undefined : () => this.count(organization),
      most: MAX_DOCUMENTS,
      nodes: this.#store.nodes,
    });
    this.#tables.set(key, table);
    return table;
  }

  #move(counters: { readonly [name: string]: number }): void {
    for (const name in counters) {
      if (!name.startsWith('documents/')) continue;
      const organization = name.split('/')[1] ?? '';
      this.#counts.set(organization, (this.#counts.get(organization) ?? 0) + (counters[name] ?? 0));
    }
  }
}

function tableKey(organization: OrganizationId, isDeleted: boolean): string {
  return isDeleted ? `${organization}/deleted` : organization;
}

function idOf(ids: string): DocumentId {
  return (ids.split('\x01')[ID] ?? '') as DocumentId;
}

async function* readDocuments(
  store: Pick<ActorStore, 'rows'>,
  view: string,
  organization: OrganizationId,
): AsyncGenerator<readonly [number, DocumentRow]> {
  const rows = new OrderedRows(store, {
    view,
    prefix: [organization],
    newestFirst: false,
    most: ROWS_PER_READ,
  });
  for (await rows.fill(); rows.head !== undefined; await rows.fill())
    for (let row = rows.next(); row !== undefined; row = rows.next())
      yield [row.key.at(-1) as number, documentRowOf(row.value)];
}

/** Tests of columns for a query, which find what `allPredicatesOf` finds; undefined where columns cannot tell. */
function groupsOf(query: DocumentQuery): readonly (readonly Condition[])[] | undefined {
  const { q, externalId, folders, pendingSignature, filterByDocumentType, documentType, tags, without } =
    query;
  const groups: (readonly Condition[])[] = [];
  const require = (codes: number, passes: (text: string | null) => boolean) =>
    groups.push([{ codes, passes }]);
  const among = (codes: number, values: readonly (string | null)[]) =>
    require(codes, (text) => values.includes(text));
  const statuses = statusesOf(query);
  if (statuses !== undefined) among(STATUS, statuses);
  const folder = folderOf(query);
  if (folder !== undefined) among(FOLDER, [folder]);
  if (folders !== undefined) among(FOLDER, folders);
  if (filterByDocumentType === true) among(TYPE, [documentType ?? null]);
  if (pendingSignature === true) among(SIGNS, ['true']);
  for (const { label, value } of tags?.slice(0, MAX_TAGS) ?? []) {
    const [pattern, labeled] = [foldText(value), foldText(label ?? '')];
    if (label === null && pattern === '') return undefined;
    if (label === null) groups.push(containingText(TAGS, pattern, { fields: [1], isWhole: true }));
    else if (isNowhere(pattern) || isNowhere(labeled)) groups.push([]);
    else groups.push([{ texts: TAGS, pattern: `${labeled}\x01${pattern}`, fields: [0], isWhole: true }]);
  }
  if (externalId !== undefined) {
    if (externalId === '') return undefined;
    groups.push(containingText(IDS, externalId, { fields: [EXTERNAL_ID], isWhole: true }));
  }
  if (q !== undefined && q !== '')
    groups.push([
      ...searchOf(q, query.queryType ?? 'Name'),
      ...(query.findsPeople === true ? personSearch({ participantQ: q }) : []),
    ]);
  const participants = personSearch(query);
  if ((query.participantQ?.trim() ?? '') !== '') groups.push(participants);
  if (without !== undefined) groups.push([{ without }]);
  return groups;
}

function searchOf(q: string, by: NonNullable<DocumentQuery['queryType']>): readonly Condition[] {
  const text = foldText(q);
  const creators = { codes: CREATOR, passes: (creator: string | null) => creator?.includes(text) === true };
  switch (by) {
    case 'Name':
      return containingText(NAME, text);
    case 'Key': {
      const key = foldedKey(q);
      return key === '' ? [] : containingText(IDS, key, { fields: [KEY] });
    }
    case 'Id':
      return containingText(IDS, text, { fields: [ID] });
    case 'CreatorName':
      return [creators];
    case 'Tag':
      return containingText(TAGS, text);
    case 'Any':
      return [
        ...[creators, ...containingText(NAME, text), ...containingText(TAGS, text)],
        ...containingText(IDS, text, { fields: [ID, EXTERNAL_ID, FOLDED_EXTERNAL_ID] }),
        ...searchOf(q, 'Key'),
      ];
  }
}

/** Participants with a text; with `pendingSignature`, among those whose signature is pending. */
function personSearch(
  query: Pick<DocumentQuery, 'participantQ' | 'participantQueryType' | 'pendingSignature'>,
): readonly Condition[] {
  const columns = query.pendingSignature === true ? [WAITING] : [WAITING, OTHERS];
  const find = (pattern: string, fields: readonly number[], isWhole = false) =>
    columns.flatMap((texts) => (pattern === '' ? [] : containingText(texts, pattern, { fields, isWhole })));
  const given = query.participantQ?.trim() ?? '';
  const type = query.participantQueryType;
  const exact = exactParticipant(query);
  if (exact !== undefined) {
    const fields = type === 'Email' ? [SEARCHED_FIELDS.Email, ADDRESS] : [SEARCHED_FIELDS.Identifier];
    return find(exact.slice(2), fields, true);
  }
  const text = foldText(given);
  const places: readonly number[] =
    type === undefined ? Object.values(SEARCHED_FIELDS) : [SEARCHED_FIELDS[type]];
  const others = [
    ...(places.includes(SEARCHED_FIELDS.Identifier) ? [SEARCHED_FIELDS.Identifier, BARE_IDENTIFIER] : []),
    ...(places.includes(SEARCHED_FIELDS.Phone) ? [SEARCHED_FIELDS.Phone, BARE_PHONE] : []),
  ];
  // An internationalized domain is found in both of its forms; numbers are compared without their punctuation.
  const patterns = new Map<string, readonly number[]>();
  const also = (pattern: string, fields: readonly number[]) =>
    patterns.set(pattern, [...new Set([...(patterns.get(pattern) ?? []), ...fields])].sort());
  also(text, places);
  if (given.includes('@'))
    also(foldText(addressKey(given)), [
      ...places,
      ...(places.includes(SEARCHED_FIELDS.Email) ? [ADDRESS] : []),
    ]);
  else if (places.includes(SEARCHED_FIELDS.Email)) also(text, [ADDRESS]);
  if (others.length > 0) also(bare(text), others);
  return [...patterns].flatMap(([pattern, fields]) => find(pattern, fields));
}
