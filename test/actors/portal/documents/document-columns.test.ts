/** The tables that answer lists of documents. Source: docs/decisions/0251-lists-in-columns.md. */
import type { Row, RowQuery, Step } from '@sealwright/runtime';
import { MemoryStore } from '@sealwright/runtime/testing';
import test from 'ava';
import { DocumentColumns } from '../../../../actors/portal/document-records/document-columns.ts';
import {
  allPredicatesOf,
  createdBounds,
  type DocumentQuery,
  exactParticipant,
} from '../../../../actors/portal/document-records/document-filter.ts';
import {
  DOCUMENT,
  type DocumentActor,
  documentRowOf,
  participantKey,
} from '../../../../actors/portal/document-records/document-index.ts';
import {
  expiringDocuments,
  listDocuments,
} from '../../../../actors/portal/document-records/document-list.ts';
import type { OrganizationId } from '../../../../machines/ids.ts';
import { stepOf } from '../../../contract/steps.ts';
import { documentsBy, OURS, random, TAGS, THEIRS } from './some-documents.ts';

const next = random(20_261_127);
const { below, oneOf, maybe, someDocument } = documentsBy(next);

class CountingStore extends MemoryStore {
  read = 0;

  override async rows(query: RowQuery): Promise<readonly Row[]> {
    const rows = await super.rows(query);
    this.read += rows.length;
    return rows;
  }
}

/** A store whose documents are written as steps write them. */
async function storeOf(count: number) {
  const store = new CountingStore();
  const columns = new DocumentColumns(store, {});
  const stored = new Map<number, { readonly actor: DocumentActor; readonly revision: number }>();
  const facts = (actor: DocumentActor) => ({
    rows: DOCUMENT.rows?.(actor) ?? [],
    counters: DOCUMENT.counters?.(actor) ?? {},
  });
  const write = async (actor: DocumentActor): Promise<Step> => {
    const { order } = actor.context;
    const before = stored.get(order);
    const was = before ? facts(before.actor) : { rows: [], counters: {} };
    const is = facts(actor);
    const counters: Record<string, number> = { ...is.counters };
    for (const [name, by] of Object.entries(was.counters)) counters[name] = (counters[name] ?? 0) - by;
    const keys = new Set(is.rows.map(({ view, key }) => JSON.stringify([view, key])));
    const remove = was.rows.filter(({ view, key }) => !keys.has(JSON.stringify([view, key])));
    const address = { kind: DOCUMENT.kind, id: actor.id };
    const revision = before?.revision ?? 0;
    const step = stepOf(
      address,
      revision,
      { rows: { put: is.rows, remove }, counters },
      { state: actor.state, context: actor.context as never },
    );
    const { ok } = await store.commit(step);
    if (!ok) throw new Error('The step was not committed.');
    stored.set(order, { actor, revision: revision + 1 });
    columns.observe(step);
    return step;
  };
  for (let order = 1; order <= count; order += 1)
    await write(someDocument(order, order % 5 === 0 ? THEIRS : OURS));
  return { store, columns, write };
}

function someQuery(): DocumentQuery {
  const named = maybe(0.3, () =>
    oneOf([
      'lease',
      'LÉASE 2',
      'Le\u0301ase 1',
      'ße',
      'ana',
      'KEY1',
      'erp',
      '2026',
      'order-1',
      'a\x01b',
      '-',
      '0000',
      'A',
      '-4000-8000-',
      '000a',
      'b',
      '3-0',
      '0-4',
      'c7',
      'document-2',
    ]),
  );
  const who = maybe(0.3, () =>
    oneOf([
      'ana',
      'ANA1@',
      'an0@example.org',
      'bo2@example.org',
      '0@müller',
      'mller',
      'xn--',
      '529.982.247-12',
      '52998224712',
      '+49',
      '3012',
      'groß',
      'ANÁ',
      'aná1@',
      ' - ',
      '\x02',
    ]),
  );
  const externalId = maybe(0.1, () => oneOf(['Order-1', 'order-1', 'order-9']));
  const query = {
    status: maybe(0.3, () =>
      oneOf(['Pending', 'Concluded', 'Refused', 'PendingOrRefused', 'CanceledOrExpired'] as const),
    ),
    statuses: maybe(0.1, () => ['Pending', 'Expired'] as const),
    folderId: maybe(0.15, () => oneOf(['f0', 'f1', 'f9'])),
    withoutFolder: maybe(0.1, () => true as const),
    folders: maybe(0.2, () => oneOf([['f0'], ['f0', 'f2'], ['-', 'f1'], []])),
    inFolders: maybe(0.1, () => new Set(oneOf([['f0'], ['f1', 'f2'], []]))),
    q: named,
    queryType: maybe(0.7, () => oneOf(['Name', 'Key', 'Id', 'CreatorName', 'Tag', 'Any'] as const)),
    participantQ: who,
    participantQueryType: maybe(0.6, () => oneOf(['Name', 'Identifier', 'Email', 'Phone'] as const)),
    pendingSignature: maybe(0.2, () => true),
    filterByDocumentType: maybe(0.1, () => true),
    documentType: maybe(0.5, () => 'Deed'),
    tags: maybe(0.15, () =>
      [oneOf(TAGS), oneOf(TAGS)]
        .map(({ label, value }) => ({ label: oneOf([label?.toUpperCase() ?? null, null]), value }))
        .filter(({ value }) => value !== ''),
    ),
    deleted: maybe(0.15, () => true),
    externalId,
    createdFrom: undefined,
    without: maybe(0.1, () => new Set([3, 7, 50])),
    findsPeople: next() < 0.2,
    limit: 1 + below(20),
    offset: below(3),
    newestFirst: next() < 0.5,
  };
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined),
  ) as unknown as DocumentQuery;
}

/** All that a query finds, by reading every row. */
async function scan(store: MemoryStore, organization: OrganizationId, query: DocumentQuery) {
  const view = query.deleted === true ? 'documents-deleted' : 'documents';
  const rows = await store.rows({ view, prefix: [organization], limit: 10_000 });
  const exact = exactParticipant(query);
  const { participantQ: _, ...others } = query;
  const tests = allPredicatesOf(exact === undefined ? query : others);
  const by = query.participantQueryType === 'Email' ? ('Email' as const) : ('Identifier' as const);
  const { from = 0, below: end = Infinity } = createdBounds(query);
  const found = rows.filter(({ key, value }) => {
    const facts = documentRowOf(value);
    const order = key.at(-1) as number;
    const isNamed = facts.people.some(([[, identifier, email], isPending]) => {
      const text = by === 'Email' ? email : identifier;
      return (
        text !== null && participantKey(by, text) === exact && (isPending || query.pendingSignature !== true)
      );
    });
    return (
      order >= from &&
      order < end &&
      (exact === undefined || isNamed) &&
      tests.every((fits) => fits(facts, order))
    );
  });
  const ids = found.map(({ value }) => documentRowOf(value).id);
  return query.newestFirst ? ids.toReversed() : ids;
}

test('tables find what reading every row finds, with exact totals, while documents change', async (t) => {
  const { store, columns, write } = await storeOf(200);
  let answered = 0;
  for (let round = 0; round < 700; round += 1) {
    const organization = oneOf([OURS, THEIRS]);
    const query = someQuery();
    const offset = query.offset * query.limit;
    const page = await columns.page(organization, query, {
      ...createdBounds(query),
      newestFirst: query.newestFirst,
      offset,
      limit: query.limit,
      total: undefined,
    });
    const all = await scan(store, organization, query);
    if (page === undefined) continue;
    answered += 1;
    const said = JSON.stringify({ organization, query });
    t.is(page.totalCount, all.length, said);
    t.deepEqual(
      page.found.map(({ id }) => id),
      all.slice(offset, offset + query.limit),
      said,
    );
    const order = 1 + below(220);
    await write(someDocument(order, order % 5 === 0 ? THEIRS : OURS));
  }
  t.true(answered > 600, `${answered} were answered`);
});

test('names, tags and creators are found with and without accents, addresses only as they are spelled', async (t) => {
  const { store, columns } = await storeOf(200);
  const list = (query: Partial<DocumentQuery>, table?: DocumentColumns) =>
    listDocuments(store, OURS, { limit: 100, offset: 0, newestFirst: false, ...query }, table);
  const same: readonly (readonly [Partial<DocumentQuery>, Partial<DocumentQuery>])[] = [
    [{ participantQ: 'Ana María' }, { participantQ: 'ANA MARIA' }],
    [{ participantQ: 'Änne Groß' }, { participantQ: 'anne groß' }],
    [
      { q: 'Ü', queryType: 'Tag' },
      { q: 'u\u0308', queryType: 'Tag' },
    ],
  ];
  for (const table of [undefined, columns]) {
    for (const [one, other] of same) {
      const found = await list(one, table);
      t.true(found.totalCount > 0, JSON.stringify(one));
      t.deepEqual(await list(other, table), found, JSON.stringify(other));
    }
    const address = { participantQ: 'an0@example.org', participantQueryType: 'Email' } as const;
    const accented = { ...address, participantQ: 'än0@example.org' };
    t.is((await list(accented, table)).totalCount, 0, 'an address with another letter is another one');
    t.true((await list(address, table)).totalCount > 0);
  }
});

test('a long list is paged by number and by position without reading rows, while documents come and go', async (t) => {
  const { store, columns, write } = await storeOf(2_400);
  const filter = { q: 'lease', limit: 29, offset: 0, newestFirst: false } as const;
  const list = (query: DocumentQuery) => listDocuments(store, OURS, query, columns);
  const before = await scan(store, OURS, filter);
  const { totalCount } = await list(filter);
  t.is(totalCount, before.length);
  const changed = new Set<string>();
  const listed: string[] = [];
  let created = 2_400;
  let position: NonNullable<DocumentQuery['position']> | undefined = 'start';
  while (position !== undefined) {
    store.read = 0;
    const page = await list({ ...filter, position });
    t.true(store.read <= 1, `${store.read} rows were read`);
    listed.push(...page.ids);
    position = page.next;
    t.is(page.totalCount, before.length);
    created += 1;
    for (const order of [1 + below(2_400), created]) {
      if (order % 5 === 0) continue;
      const actor = someDocument(order, OURS);
      changed.add(actor.id);
      await write(actor);
    }
  }
  t.is(new Set(listed).size, listed.length, 'no document is listed twice');
  t.deepEqual(
    before.filter((id) => !changed.has(id)),
    listed.filter((id) => !changed.has(id) && before.includes(id as never)) as never,
  );
  const last = await list({ ...filter, newestFirst: true, offset: 3 });
  t.deepEqual(last.ids, (await scan(store, OURS, { ...filter, newestFirst: true })).slice(87, 116));
});

test('a table after a restart finds the same, and none knows documents of another organization', async (t) => {
  const { store, columns, write } = await storeOf(1_600);
  const query = { q: 'lease', queryType: 'Any', limit: 100, offset: 2, newestFirst: true } as const;
  const page = { newestFirst: true, offset: 200, limit: 100, total: undefined };
  await columns.page(OURS, query, page);
  for (let order = 1; order < 400; order += 1) if (order % 5 !== 0) await write(someDocument(order, OURS));
  const again = new DocumentColumns(store, await store.counters('documents/'));
  const found = await again.page(OURS, query, page);
  t.deepEqual(await columns.page(OURS, query, page), found);
  t.is(found?.found.length, 100);
  store.read = 0;
  const theirs = await again.page(THEIRS, { ...query, q: 'key1' }, { ...page, offset: 0 });
  // A row and a last day of each of its documents, at most.
  t.true(store.read <= 640, `${store.read} rows were read of 320 documents of the other organization`);
  t.true(theirs?.found.every(({ order }) => order % 5 === 0));
  t.is(theirs?.totalCount, (await scan(store, THEIRS, { ...query, q: 'key1' })).length);
});

test('tables of many documents can be built before a list needs them, and none after the end', async (t) => {
  const { store } = await storeOf(300);
  const columns = new DocumentColumns(store, await store.counters('documents/'));
  const page = { newestFirst: true, offset: 0, limit: 5, total: undefined };
  const query = { q: 'lease', limit: 5, offset: 0, newestFirst: true } as const;
  await columns.prepare(columns.count(THEIRS) + 1);
  const ours = (await scan(store, OURS, query)).length;
  store.read = 0;
  t.is((await columns.page(OURS, query, page))?.totalCount, ours);
  t.is(store.read, 0);
  const theirs = (await scan(store, THEIRS, query)).length;
  store.read = 0;
  t.is((await columns.page(THEIRS, query, page))?.totalCount, theirs);
  t.true(store.read > 0, 'too few for a table at the start');
  columns.close();
  t.is(await columns.page(OURS, query, page), undefined);
});

test('the build of a table stops at the end, and after missed steps', async (t) => {
  const { store } = await storeOf(2_400);
  const page = { newestFirst: true, offset: 0, limit: 5, total: undefined };
  const query = { q: 'lease', limit: 5, offset: 0, newestFirst: true } as const;
  const counters = await store.counters('documents/');
  const end = async (how: (columns: DocumentColumns) => void) => {
    const columns = new DocumentColumns(store, counters);
    store.read = 0;
    const found = columns.page(OURS, query, page);
    how(columns);
    t.is(await found, undefined);
    t.true(store.read <= 64, `${store.read} rows were read`);
  };
  await end((columns) => columns.close());
  await end((columns) => columns.reset(counters));
});

test('totals of several folders come from counters, and documents in no folder can be among them', async (t) => {
  const { store } = await storeOf(300);
  for (const folders of [['f0', '-'], ['f1'], ['f2', 'f0', 'f9'], []])
    for (const status of [undefined, 'Pending', 'CanceledOrExpired'] as const) {
      const query = { limit: 5, offset: 0, newestFirst: true, folders, ...(status && { status }) };
      store.read = 0;
      const { ids, totalCount } = await listDocuments(store, OURS, query);
      if (status === undefined) t.true(store.read <= 15, `${store.read} rows were read`);
      const all = await scan(store, OURS, query);
      t.deepEqual([ids, totalCount], [all.slice(0, 5), all.length]);
    }
});

test('documents with a last day are listed by it, with exact totals, few and many', async (t) => {
  const { store, columns } = await storeOf(7_000);
  const orderOf = async (filter: Partial<DocumentQuery>) => {
    const query = { limit: 10_000, offset: 0, newestFirst: false, ...filter };
    const wanted = new Set<string>(await scan(store, OURS, query));
    const rows = await store.rows({ view: 'documents-expiring', prefix: [OURS], limit: 10_000 });
    return rows.map(({ value }) => documentRowOf(value).id).filter((id) => wanted.has(id));
  };
  for (const filter of [{ q: 'größe' }, {}, { q: 'lease', folders: ['f0', '-'] }, { q: 'nowhere' }]) {
    const all = await orderOf(filter);
    const listed: string[] = [];
    let position: NonNullable<DocumentQuery['position']> | undefined = 'start';
    while (position !== undefined) {
      const page: Awaited<ReturnType<typeof expiringDocuments>> = await expiringDocuments(
        store,
        OURS,
        { ...filter, limit: 100, position },
        columns,
      );
      t.is(page.totalCount, all.length);
      listed.push(...page.ids);
      position = page.next;
    }
    t.deepEqual(listed, all);
  }
});
