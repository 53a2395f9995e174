/**
 * The fields that lists of documents filter by, in memory: one table for each organization that lists many documents, one for
 * its deleted ones. Source: docs/decisions/0251-lists-in-columns.md.
 */
import { totalmem } from 'node:os';
import { type ActorStore, contextOf, type Step } from '@sealwright/runtime';
import type { DocumentId, Millis, OrganizationId } from '../../../machines/ids.ts';
import type { TablePart } from '../../shared/lists/list.ts';
import { rowPieces } from '../../shared/lists/stored-rows.ts';
import {
  type Condition,
  containingText,
  MANY_RECORDS,
  ObservedTable,
  type TableShape,
} from '../../shared/tables/observed-table.ts';
import { ObservedTables } from '../../shared/tables/observed-tables.ts';
import {
  fieldsOf,
  foldCase,
  foldText,
  isBeyondAscii,
  isNowhere,
  recordsOf,
} from '../../shared/tables/texts.ts';
import { addressKey } from '../shared/mail-address.ts';
import {
  type DocumentQuery,
  exactParticipant,
  folderOf,
  MAX_TAGS,
  SEARCHED_FIELDS,
  statusesOf,
} from './document-filter.ts';
import {
  DOCUMENT,
  type DocumentRow,
  documentRow,
  documentRowOf,
  EXPIRING_VIEW,
  foldedKey,
  NO_FOLDER,
  type PersonRow,
} from './document-index.ts';

/** Memory of all tables; those that were used least recently are given up for others. */
const MAX_BYTES = Math.max(2 ** 30, Math.floor(memoryOfProcess() / 4));
/** Estimated memory of a document. */
const BYTES_EACH = 300;

/** Rows of a read while a table is built: less than a millisecond. */
const ROWS_PER_READ = 64;

const WARM_ROUNDS = 4;
const WARM_QUERIES = [
  { q: 'a', queryType: 'Any', participantQ: 'a' },
  { q: '1', queryType: 'Name', status: 'Pending' },
  { q: '2', queryType: 'Key', folders: [NO_FOLDER] },
] as const;

/** Columns of codes. */
const STATUS = 0;
const FOLDER = 1;
const TYPE = 2;
const CREATOR = 3;
const SIGNS = 4;
const EXPIRES = 5;
/** Columns of texts. */
const NAME = 0;
const ID = 1;
const KEY = 2;
const EXTERNAL_ID = 3;
const EXPIRY = 4;
const TAGS = 5;
const WAITING = 6;
const OTHERS = 7;
/** Fields of a person behind those of `PersonRow`, each only if it differs: numbers bare, the address in its letters. */
const BARE_IDENTIFIER = 4;
const BARE_PHONE = 5;
const ADDRESS = 6;

/** Fields that lists filter by. */
interface Facts {
  readonly row: DocumentRow;
  /** Last moment of a pending document; null: any. */
  readonly expiry: Millis | null;
}

const SHAPE: TableShape<Facts> = {
  codes: 6,
  texts: 8,
  recurring: { [EXPIRY]: 0, [TAGS]: 1, [WAITING]: 2, [OTHERS]: 2 },
  codesOf: ({ row: { status, folder, type, creator, signs }, expiry }) => [
    status,
    folder ?? NO_FOLDER,
    type,
    foldText(creator),
    String(signs),
    String(expiry !== null),
  ],
  textsOf: ({ row: { name, key, id, externalId = '', tags, people }, expiry }) => [
    fieldsOf([foldText(name)]),
    fieldsOf([foldText(id)]),
    fieldsOf([key]),
    fieldsOf([...new Set([externalId, foldText(externalId)])]),
    expiry === null ? '' : String(expiry),
    tags.length === 0
      ? ''
      : recordsOf(tags.map(([label, value]) => [foldText(label ?? ''), foldText(value)])),
    peopleText(people, true),
    peopleText(people, false),
  ],
};

/** Memory that this process may use. */
function memoryOfProcess(): number {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? limit : totalmem();
}

function peopleText(people: DocumentRow['people'], isPending: boolean): string {
  const records: (readonly string[])[] = [];
  for (const [person, isWaiting] of people) if (isWaiting === isPending) records.push(personFields(person));
  return recordsOf(records);
}

/** Called for each person of each document while a table is built. */
function personFields([name, identifier, email, phone]: PersonRow): readonly string[] {
  const fields = [
    foldText(name ?? ''),
    foldText(identifier ?? ''),
    foldCase(email ?? ''),
    foldText(phone ?? ''),
  ];
  const [, itsIdentifier = '', itsEmail = '', itsPhone = ''] = fields;
  const isCoded = itsEmail.includes('xn--') || isBeyondAscii(itsEmail);
  fields.push(unlike(itsIdentifier, bare(itsIdentifier)), unlike(itsPhone, bare(itsPhone)));
  fields.push(isCoded ? unlike(itsEmail, foldCase(addressKey(itsEmail))) : '');
  while (fields.at(-1) === '') fields.pop();
  return fields;
}

function unlike(text: string, plain: string): string {
  return text === plain ? '' : plain;
}

function bare(text: string): string {
  return /[\s.\-/()+]/.test(text) ? text.replace(/[\s.\-/()+]/g, '') : text;
}

interface ListedDocument {
  readonly id: DocumentId;
  readonly order: number;
  /** Last moment of a pending document; infinite: any. */
  readonly expiry: Millis;
}

interface ColumnPage {
  readonly found: readonly ListedDocument[];
  readonly totalCount: number;
}

export class DocumentColumns {
  readonly #store: Pick<ActorStore, 'rows' | 'nodes'>;
  /** Documents that are not deleted. */
  readonly #counts = new Map<string, number>();
  /** By organization and view. */
  readonly #tables = new ObservedTables<Facts>(MAX_BYTES);
  #isClosed = false;

  /** @param counters those that begin with `documents/` */
  constructor(store: Pick<ActorStore, 'rows' | 'nodes'>, counters: { readonly [name: string]: number }) {
    this.#store = store;
    this.#move(counters);
  }

  /** Forgets all: steps of other nodes were missed. */
  reset(counters: { readonly [name: string]: number }): void {
    this.#tables.reset();
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
    const expiry = actor.state === 'Pending' ? context.expirationDate : null;
    const facts = { row: documentRow({ state: actor.state, context }), expiry };
    present?.observe(context.order, isDeleted ? undefined : facts);
    deleted?.observe(context.order, isDeleted ? facts : undefined);
  }

  /** Number of documents of an organization that are not deleted. */
  count(organization: OrganizationId): number {
    return this.#counts.get(organization) ?? 0;
  }

  /** One page; undefined while the table is incomplete. */
  async page(
    organization: OrganizationId,
    query: DocumentQuery,
    part: TablePart,
  ): Promise<ColumnPage | undefined> {
    const groups = groupsOf(query);
    if (groups === undefined) return undefined;
    const table = this.#table(organization, query.deleted === true);
    const page = await table.page({ ...part, groups });
    if (page === undefined) return undefined;
    const found = page.orders.map((order) => ({
      order,
      expiry: expiryOf(table.textOf(order, EXPIRY)),
      id: table.textOf(order, ID) as DocumentId,
    }));
    // Gone meanwhile: a page without it would look like the last one.
    return found.every(({ id }) => id !== '') ? { found, totalCount: page.totalCount } : undefined;
  }

  /** Builds the tables of organizations with many documents before a list needs them, the largest first. */
  async prepare(many = MANY_RECORDS): Promise<void> {
    const large = [...this.#counts].filter(([, count]) => count >= many).sort(([, a], [, b]) => b - a);
    let bytes = 0;
    for (const [organization, count] of large) {
      bytes += count * BYTES_EACH;
      if (this.#isClosed || bytes > MAX_BYTES) return;
      await this.#table(organization as OrganizationId, false).prepare();
    }
    if (large[0] !== undefined) await this.#warm(large[0][0] as OrganizationId);
  }

  /** Lets the engine compile what lists run, of which the first ones would else take twice as long. */
  async #warm(organization: OrganizationId): Promise<void> {
    for (let round = 0; round < WARM_ROUNDS && !this.#isClosed; round += 1)
      for (const query of WARM_QUERIES)
        await this.page(
          organization,
          // Results are kept for the next page of the same list: each is another one.
          { ...query, q: query.q + round, limit: 1, offset: 0, newestFirst: true },
          { offset: 1, limit: 1, newestFirst: round % 2 === 0, total: undefined },
        );
  }

  /** Ends what is being built. */
  close(): void {
    this.#isClosed = true;
    this.#tables.close();
  }

  #table(organization: OrganizationId, isDeleted: boolean): ObservedTable<Facts> {
    const key = tableKey(organization, isDeleted);
    return this.#tables.use(
      key,
      (mayTake) =>
        new ObservedTable(SHAPE, {
          read: () => readDocuments(this.#store, isDeleted, organization),
          count: isDeleted ? () => undefined : () => this.count(organization),
          bytesEach: BYTES_EACH,
          mayTake,
          nodes: this.#store.nodes,
        }),
    );
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

function expiryOf(text: string): Millis {
  return text === '' ? Infinity : Number(text);
}

async function* readDocuments(
  store: Pick<ActorStore, 'rows'>,
  isDeleted: boolean,
  organization: OrganizationId,
): AsyncGenerator<readonly (readonly [number, Facts])[]> {
  const expiries = isDeleted ? new Map<number, Millis>() : yield* expiriesOf(store, organization);
  const range = { view: isDeleted ? 'documents-deleted' : 'documents', prefix: [organization] };
  for await (const rows of rowPieces(store, range, { most: ROWS_PER_READ }))
    yield rows.map(({ key, value }) => {
      const order = key.at(-1) as number;
      return [order, { row: documentRowOf(value), expiry: expiries.get(order) ?? null }];
    });
}

/** Last moments by order number. Yields no records: who reads may end it between two turns. */
async function* expiriesOf(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
): AsyncGenerator<readonly [], Map<number, Millis>> {
  const expiries = new Map<number, Millis>();
  const range = { view: EXPIRING_VIEW, prefix: [organization] };
  for await (const rows of rowPieces(store, range, { most: ROWS_PER_READ })) {
    for (const { key } of rows) expiries.set(key[2] as number, key[1] as Millis);
    yield [];
  }
  return expiries;
}

/** Tests of columns for a query, which find what `allPredicatesOf` finds; undefined where columns cannot tell. */
function groupsOf(query: DocumentQuery): readonly (readonly Condition[])[] | undefined {
  const {
    q,
    externalId,
    folders,
    inFolders,
    pendingSignature,
    filterByDocumentType,
    documentType,
    tags,
    without,
  } = query;
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
  if (inFolders !== undefined)
    require(FOLDER, (text) => text === null || text === NO_FOLDER || inFolders.has(text));
  if (query.exceptFolders !== undefined) {
    const hidden = new Set(query.exceptFolders);
    require(FOLDER, (text) => !hidden.has(text ?? NO_FOLDER));
  }
  if (filterByDocumentType === true) among(TYPE, [documentType ?? null]);
  if (pendingSignature === true) among(SIGNS, ['true']);
  for (const { label, value } of tags?.slice(0, MAX_TAGS) ?? []) {
    const pattern = foldText(value);
    const labeled = foldText(label ?? '');
    if (label === null && pattern === '') return undefined;
    if (label === null) groups.push(containingText(TAGS, pattern, { fields: [1], isWhole: true }));
    else if (isNowhere(pattern) || isNowhere(labeled)) groups.push([]);
    else groups.push([{ texts: TAGS, pattern: fieldsOf([labeled, pattern]), fields: [0], isWhole: true }]);
  }
  if (externalId !== undefined) {
    if (externalId === '') return undefined;
    groups.push(containingText(EXTERNAL_ID, externalId, { fields: [0], isWhole: true }));
  }
  const sought = q?.trim() ?? '';
  if (sought !== '')
    groups.push([
      ...searchOf(sought, query.queryType ?? 'Name'),
      ...(query.findsPeople === true ? personSearch({ participantQ: sought }) : []),
    ]);
  const participants = personSearch(query);
  if ((query.participantQ?.trim() ?? '') !== '') groups.push(participants);
  if (query.expiring === true) among(EXPIRES, ['true']);
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
      return key === '' ? [] : containingText(KEY, key);
    }
    case 'Id':
      return containingText(ID, text);
    case 'CreatorName':
      return [creators];
    case 'Tag':
      return containingText(TAGS, text);
    case 'Any':
      return [
        creators,
        ...containingText(NAME, text),
        ...containingText(TAGS, text),
        ...containingText(EXTERNAL_ID, text),
        ...searchOf(q, 'Key'),
        ...searchOf(q, 'Id'),
      ];
  }
}

/** Participants with a text; with `pendingSignature`, among those whose signature is pending. */
function personSearch(
  query: Pick<DocumentQuery, 'participantQ' | 'participantQueryType' | 'pendingSignature'>,
): readonly Condition[] {
  const columns = query.pendingSignature === true ? [WAITING] : [WAITING, OTHERS];
  const find = (pattern: string, fields: readonly number[], isWhole = false) =>
    columns.flatMap((texts) =>
      pattern === ''
        ? []
        : // Anywhere is found without a look at the fields.
          containingText(texts, pattern, fields.length > ADDRESS ? {} : { fields, isWhole }),
    );
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
  const address = given.includes('@') ? addressKey(given) : given;
  const named = places.filter((place) => place !== SEARCHED_FIELDS.Email);
  also(text, named);
  also(foldText(address), named);
  // An address with other letters is another person's.
  if (places.includes(SEARCHED_FIELDS.Email)) {
    also(foldCase(given), [SEARCHED_FIELDS.Email]);
    also(foldCase(address), [SEARCHED_FIELDS.Email, ADDRESS]);
  }
  if (others.length > 0) also(bare(text), others);
  return [...patterns].flatMap(([pattern, fields]) => find(pattern, fields));
}
