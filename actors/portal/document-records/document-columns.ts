/**
 * The fields that lists of documents filter by, in memory: one table for each organization that lists many documents, one for
 * its deleted ones. Source: docs/decisions/0251-lists-in-columns.md.
 */
import { readdir, rm } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ActorStore, type Clock, contextOf, type Ids, type Row, type Step } from '@sealwright/runtime';
import type { DocumentId, Millis, OrganizationId } from '../../../machines/ids.ts';
import { hasRoom } from '../../shared/tables/kept-file.ts';
import {
  type Condition,
  containingText,
  ObservedTable,
  type TableShape,
} from '../../shared/tables/observed-table.ts';
import {
  fieldsOf,
  foldText,
  isBeyondAscii,
  isNowhere,
  recordsOf,
  splitFields,
} from '../../shared/tables/text-column.ts';
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
  EXPIRING_VIEW,
  foldedKey,
  NO_FOLDER,
  type PersonRow,
} from './document-index.ts';
import { changedDocuments } from './kept-documents.ts';

/** Memory of all tables; those that were used least recently are given up for others. */
const MAX_BYTES = Math.max(2 ** 30, Math.floor(memoryOfProcess() / 4));
/** Estimated memory of a document. */
const BYTES_EACH = 300;
/** Documents of an organization whose table is built at the start: about 100 ms. */
const MANY = 10_000;

/** Rows of a read while a table is built: less than a millisecond. */
const ROWS_PER_READ = 64;

/** Time between two looks at whether tables are to be kept. */
const KEPT_EVERY: Millis = 10 * 60_000;
/** Share of the documents that may differ from the kept file, since it takes as long to read them: while in use, at the end. */
const UNKEPT_SHARE = 0.02;
const UNKEPT_SHARE_AT_END = 0.002;
const WARM_ROUNDS = 4;
const WARM_QUERIES = [
  { q: 'a', queryType: 'Any', participantQ: 'a' },
  { q: '1', queryType: 'Name', status: 'Pending' },
  { q: '2', queryType: 'Key', folders: [NO_FOLDER] },
] as const;

const KEPT_FOLDER = 'lists';
const KEPT_SUFFIX = '.table';

/** Columns of codes. */
const [STATUS, FOLDER, TYPE, CREATOR, SIGNS, EXPIRES] = [0, 1, 2, 3, 4, 5] as const;
/** Columns of texts. */
const [NAME, IDS, TAGS, WAITING, OTHERS] = [0, 1, 2, 3, 4] as const;
/** Fields of `IDS`; the folded one only if it differs from the one before. */
const [KEY, ID, EXTERNAL_ID, FOLDED_EXTERNAL_ID, EXPIRY] = [0, 1, 2, 3, 4] as const;
/** Fields of a person behind those of `PersonRow`, each only if it differs: numbers bare, the address in its letters. */
const [BARE_IDENTIFIER, BARE_PHONE, ADDRESS] = [4, 5, 6] as const;

/** Fields that lists filter by. */
interface Facts {
  readonly row: DocumentRow;
  /** Last moment of a pending document; null: any. */
  readonly expiry: Millis | null;
}

const SHAPE: TableShape<Facts> = {
  format: 'documents 1',
  codes: 6,
  texts: 5,
  codesOf: ({ row: { status, folder, type, creator, signs }, expiry }) => [
    status,
    folder ?? NO_FOLDER,
    type,
    foldText(creator),
    String(signs),
    String(expiry !== null),
  ],
  textsOf: ({ row: { name, key, id, externalId, tags, people }, expiry }) => [
    fieldsOf([foldText(name)]),
    fieldsOf([key, foldText(id), ...lastFields(externalId, expiry)]),
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

function lastFields(externalId = '', expiry: Millis | null): readonly string[] {
  const folded = foldText(externalId);
  const other = folded === externalId ? '' : folded;
  if (expiry !== null) return [externalId, other, String(expiry)];
  return other === '' ? [externalId].filter((text) => text !== '') : [externalId, other];
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
  fields.push(unlike(itsIdentifier, bare(itsIdentifier)), unlike(itsPhone, bare(itsPhone)));
  fields.push(isCoded ? unlike(itsEmail, foldText(addressKey(itsEmail))) : '');
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

/** Place of tables that are kept over a restart. */
interface KeptTables {
  /** `{Storage:Root}/portal`. */
  readonly root: string;
  /** Documents from which on a table is kept. @default 10,000 */
  readonly atLeast?: number;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly clock: Pick<Clock, 'after'>;
}

export class DocumentColumns {
  readonly #store: Pick<ActorStore, 'rows' | 'nodes' | 'marks'>;
  readonly #keeping: KeptTables | undefined;
  #cancelKeep = (): void => {};
  #kept: Promise<void> = Promise.resolve();
  /** Documents that are not deleted. */
  readonly #counts = new Map<string, number>();
  /** By organization and view, the one used last at the end. */
  readonly #tables = new Map<string, ObservedTable<Facts>>();
  #isClosed = false;

  /** @param counters those that begin with `documents/`. @param keeping missing: every start builds the tables */
  constructor(
    store: Pick<ActorStore, 'rows' | 'nodes' | 'marks'>,
    counters: { readonly [name: string]: number },
    keeping?: KeptTables,
  ) {
    this.#store = store;
    this.#keeping = keeping;
    this.#move(counters);
  }

  /** Forgets all: steps of other nodes were missed. */
  reset(counters: { readonly [name: string]: number }): void {
    // One that is being built misses steps too: the list that waits for it reads the rows.
    for (const table of this.#tables.values()) table.reset();
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
    const expiry = actor.state === 'Pending' ? context.expirationDate : null;
    const facts = { row: documentRow({ state: actor.state, context }), expiry };
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
    const found = page.orders.map((order) => listed(order, table.textOf(order, IDS)));
    // Gone meanwhile: a page without it would look like the last one.
    return found.every(({ id }) => id !== '') ? { found, totalCount: page.totalCount } : undefined;
  }

  /** Builds the tables of organizations with many documents before a list needs them, the largest first. */
  async prepare(many = MANY): Promise<void> {
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
          { ...query, q: query.q + round, limit: 1, offset: 0, newestFirst: round % 2 === 0 },
          { offset: 1, limit: 1, total: undefined },
        );
  }

  /** Keeps tables in files from now on, where the store can tell what has changed since. */
  keepAtIntervals(): void {
    if (this.#keeping === undefined || this.#store.marks === undefined || this.#isClosed) return;
    void this.keep(UNKEPT_SHARE).finally(() => {
      if (this.#isClosed) return;
      this.#cancelKeep = this.#keeping?.clock.after(KEPT_EVERY, () => this.keepAtIntervals()) ?? (() => {});
    });
  }

  /** Keeps all tables if one of them has changed; their files are of one moment. */
  keep(share = UNKEPT_SHARE_AT_END): Promise<void> {
    // A file that cannot be written is one that the next start does without.
    this.#kept = this.#kept.then(() => this.#keep(share)).catch(() => {});
    return this.#kept;
  }

  /** Keeps them, and waits for so long: what is not written by then is built by the next start. */
  async keepWithin(time: Millis): Promise<void> {
    let cancel = (): void => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#keeping?.clock.after(time, resolve) ?? cancel;
    });
    await Promise.race([this.keep(), late]);
    cancel();
  }

  async #keep(share: number): Promise<void> {
    const [keeping, marks] = [this.#keeping, this.#store.marks];
    const tables = [...this.#tables].filter(([key]) => this.#mayBeKept(key));
    if (keeping === undefined || marks === undefined || !tables.some(([, { unkept }]) => unkept > share))
      return;
    const bytes = tables.reduce((sum, [, table]) => sum + table.bytes, 0);
    const folder = join(keeping.root, KEPT_FOLDER);
    if (!(await hasRoom(folder, bytes))) return;
    const name = keeping.ids.uuid();
    await marks.set(name);
    const names = new Set<string>();
    for (const [key, table] of tables) {
      const path = this.#pathOf(key);
      if (path !== undefined && (await table.keep(path, name))) names.add(fileName(key));
    }
    // Tables that are given up at the close are not kept, and their earlier files are still of use.
    if (this.#isClosed) return;
    for (const other of await readdir(folder))
      if (!names.has(other)) await rm(join(folder, other), { force: true });
  }

  #mayBeKept(key: string): boolean {
    return (this.#counts.get(key) ?? 0) >= (this.#keeping?.atLeast ?? MANY);
  }

  #pathOf(key: string): string | undefined {
    const keeping = this.#mayBeKept(key) ? this.#keeping : undefined;
    return keeping && join(keeping.root, KEPT_FOLDER, fileName(key));
  }

  /** Ends what is being built. */
  close(): void {
    this.#isClosed = true;
    this.#cancelKeep();
    for (const table of this.#tables.values()) table.reset();
  }

  #table(organization: OrganizationId, isDeleted: boolean): ObservedTable<Facts> {
    const key = tableKey(organization, isDeleted);
    const table =
      this.#tables.get(key) ??
      new ObservedTable(SHAPE, {
        read: () => readDocuments(this.#store, isDeleted, organization),
        keptFile: this.#pathOf(key),
        readSince: (name, { textOf, orders }) =>
          changedDocuments(this.#store, organization, name, {
            orders: (bounds) => orders([], bounds),
            expiringOrders: () => orders([[{ codes: EXPIRES, passes: (text) => text === 'true' }]], {}),
            expiryOf: (order) => listed(order, textOf(order, IDS)).expiry,
          }),
        count: isDeleted ? () => undefined : () => this.count(organization),
        bytesEach: BYTES_EACH,
        mayTake: (bytes) => !this.#isClosed && this.#makesRoom(key, bytes),
        nodes: this.#store.nodes,
      });
    // The one that is used last is the last one.
    this.#tables.delete(key);
    this.#tables.set(key, table);
    return table;
  }

  /** Gives up tables for this one. @returns false if it is too large without any other */
  #makesRoom(key: string, bytes: number): boolean {
    if (bytes > MAX_BYTES) return false;
    let others = -(this.#tables.get(key)?.bytes ?? 0);
    for (const table of this.#tables.values()) others += table.bytes;
    for (const [oldest, table] of this.#tables) {
      if (others + bytes <= MAX_BYTES) break;
      if (oldest === key) continue;
      others -= table.bytes;
      table.reset();
      this.#tables.delete(oldest);
    }
    return true;
  }

  #move(counters: { readonly [name: string]: number }): void {
    for (const name in counters) {
      if (!name.startsWith('documents/')) continue;
      const organization = name.split('/')[1] ?? '';
      this.#counts.set(organization, (this.#counts.get(organization) ?? 0) + (counters[name] ?? 0));
    }
  }
}

function fileName(key: string): string {
  return `${encodeURIComponent(key)}${KEPT_SUFFIX}`;
}

function tableKey(organization: OrganizationId, isDeleted: boolean): string {
  return isDeleted ? `${organization}/deleted` : organization;
}

function listed(order: number, ids: string): ListedDocument {
  const fields = splitFields(ids);
  return { order, id: (fields[ID] ?? '') as DocumentId, expiry: Number(fields[EXPIRY] ?? Infinity) };
}

async function* readDocuments(
  store: Pick<ActorStore, 'rows'>,
  isDeleted: boolean,
  organization: OrganizationId,
): AsyncGenerator<readonly (readonly [number, Facts])[]> {
  const expiries = isDeleted ? new Map<number, Millis>() : yield* expiriesOf(store, organization);
  const range = {
    view: isDeleted ? 'documents-deleted' : 'documents',
    prefix: [organization],
    limit: ROWS_PER_READ,
  };
  for (let after: Row['key'] | undefined; ; ) {
    const rows: readonly Row[] = await store.rows({ ...range, ...(after && { after }) });
    yield rows.map(({ key, value }) => {
      const order = key.at(-1) as number;
      return [order, { row: documentRowOf(value), expiry: expiries.get(order) ?? null }];
    });
    after = rows.at(-1)?.key;
    if (rows.length < ROWS_PER_READ) return;
    await nextTurn();
  }
}

/** Last moments by order number. Yields no records: who reads may end it between two turns. */
async function* expiriesOf(
  store: Pick<ActorStore, 'rows'>,
  organization: OrganizationId,
): AsyncGenerator<readonly [], Map<number, Millis>> {
  const expiries = new Map<number, Millis>();
  const range = { view: EXPIRING_VIEW, prefix: [organization], limit: ROWS_PER_READ };
  let after: Row['key'] | undefined;
  for (;;) {
    const rows = await store.rows({ ...range, ...(after && { after }) });
    for (const { key } of rows) expiries.set(key[2] as number, key[1] as Millis);
    after = rows.at(-1)?.key;
    if (rows.length < ROWS_PER_READ) return expiries;
    yield [];
    await nextTurn();
  }
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
  if (query.exceptFolders !== undefined) {
    const hidden = new Set(query.exceptFolders);
    require(FOLDER, (text) => !hidden.has(text ?? NO_FOLDER));
  }
  if (filterByDocumentType === true) among(TYPE, [documentType ?? null]);
  if (pendingSignature === true) among(SIGNS, ['true']);
  for (const { label, value } of tags?.slice(0, MAX_TAGS) ?? []) {
    const [pattern, labeled] = [foldText(value), foldText(label ?? '')];
    if (label === null && pattern === '') return undefined;
    if (label === null) groups.push(containingText(TAGS, pattern, { fields: [1], isWhole: true }));
    else if (isNowhere(pattern) || isNowhere(labeled)) groups.push([]);
    else groups.push([{ texts: TAGS, pattern: fieldsOf([labeled, pattern]), fields: [0], isWhole: true }]);
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
