/** Pages of rows and of tables of them, compared with plain lists. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Row, RowQuery, Step } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryDatabase, openMemoryNode, SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { pageOf } from '../../../actors/shared/lists/list.ts';
import { type ListOfRows, type ListSearch, RowLists } from '../../../actors/shared/lists/row-lists.ts';
import { rowPieces } from '../../../actors/shared/lists/stored-rows.ts';
import { stepOf } from '../../contract/steps.ts';
import { folderFor } from '../../runtime/folder.ts';
import { SILENT } from '../portal/uploads/upload-harness.ts';

const COUNT = 3_000;
const LIST: ListOfRows = {
  view: 'people',
  kind: 'test',
  prefix: ['acme'],
  counter: 'people/acme',
  textOf: ({ value }) => (value as { readonly name: string }).name,
};
const FIRST = 'acme';
const SECOND = 'other';

type Person = readonly [organization: string, time: number, id: string, name: string];

/** Two people have the same time. */
function personAt(at: number, organization: string = FIRST): Person {
  return [
    organization,
    1_000 + (at >> 1),
    `id-${String(at * 7919).padStart(9, '0')}`,
    `Person ${at} Ünal ${at % 13}`,
  ];
}

function rowOf([organization, time, id, name]: Person): Row {
  return { view: 'people', key: [organization, time, id], value: { name } };
}

async function fixture(t: ExecutionContext) {
  const store = openLmdbStore({ folder: folderFor(t) });
  t.teardown(() => store.close());
  let revision = 0;
  /** Rows read since it was set to 0. */
  const read = { rows: 0 };
  const counting = {
    counters: (prefix: string) => store.counters(prefix),
    async rows(query: RowQuery) {
      const rows = await store.rows(query);
      read.rows += rows.length;
      return rows;
    },
  };
  const people = new Map<string, Person>();
  const commit = async (put: readonly Person[], remove: readonly Person[] = []): Promise<Step> => {
    const counters: { [name: string]: number } = {};
    const count = (person: Person, by: number) => {
      counters[`people/${person[0]}`] = (counters[`people/${person[0]}`] ?? 0) + by;
    };
    for (const person of put) {
      if (!people.has(person[2])) count(person, 1);
      people.set(person[2], person);
    }
    for (const person of remove) {
      count(person, -1);
      people.delete(person[2]);
    }
    const rows = { put: put.map(rowOf), remove: remove.map(rowOf) };
    const step = stepOf({ kind: 'test', id: 'all' }, revision, { rows, counters });
    revision += 1;
    const committed = await store.commit(step);
    t.true(committed.ok);
    return step;
  };
  const expected = (organization: string, { q = '', except, newestFirst, limit, offset }: ListSearch) => {
    const found = [...people.values()]
      .filter(
        ([its, , id, name]) => its === organization && name.toLowerCase().includes(q) && !except?.has(id),
      )
      .sort(([, time, id], [, otherTime, otherId]) => time - otherTime || (id < otherId ? -1 : 1))
      .map(([, , id]) => id);
    if (newestFirst) found.reverse();
    return { ids: found.slice(offset * limit, (offset + 1) * limit), totalCount: found.length };
  };
  return { store: counting, read, commit, expected, people };
}

const SEARCHES: readonly ListSearch[] = [
  { q: 'person 29', newestFirst: false, limit: 7, offset: 2 },
  { q: 'ünal 12', newestFirst: true, limit: 100, offset: 1 },
  { q: 'nobody', newestFirst: true, limit: 100, offset: 0 },
  { newestFirst: true, limit: 100, offset: 17 },
  { newestFirst: false, limit: 100, offset: 29 },
  { newestFirst: false, limit: 100, offset: 31 },
  { except: new Set([personAt(3)[2], personAt(2_999)[2]]), newestFirst: true, limit: 10, offset: 0 },
];

test('the ids of a list are read once, and follow rows that are added and removed', async (t) => {
  const { store, read, commit, people } = await fixture(t);
  await commit(Array.from({ length: COUNT }, (_, at) => personAt(at)));
  const lists = new RowLists(store);
  // A step while they are read: what was read is not kept.
  const reading = lists.ids(LIST);
  lists.observe(await commit([], [personAt(0)]));
  await reading;
  t.deepEqual([...(await lists.ids(LIST))].sort(), [...people.keys()].sort());
  read.rows = 0;
  lists.observe(await commit([personAt(COUNT)], [personAt(1)]));
  lists.observe(await commit([[SECOND, 1, 'theirs', 'Person']]));
  people.delete('theirs');
  t.deepEqual([...(await lists.ids(LIST))].sort(), [...people.keys()].sort());
  t.is(read.rows, 0);
});

test('a list in memory follows rows that are added, changed and removed, and reads those of whole pages alone', async (t) => {
  const { store, read, commit, expected, people } = await fixture(t);
  await commit(Array.from({ length: COUNT }, (_, at) => personAt(at)));
  await commit([personAt(1, SECOND)].map(([its, time, , name]) => [its, time, 'theirs', name]));
  const lists = new RowLists(store);
  for (const search of SEARCHES)
    t.deepEqual(await lists.page(LIST, search), expected(FIRST, search), JSON.stringify(search));
  const whole = SEARCHES.filter(({ q, except }) => q === undefined && except === undefined);
  const shown = whole.reduce((sum, { limit }) => sum + limit, 0);
  for (let round = 0; round < 12; round += 1) {
    const at = (round * 997) % COUNT;
    const other = (round * 1_009 + 5) % COUNT;
    const added = personAt(COUNT + round);
    // One that belongs between others.
    const late: Person = [FIRST, 1_000 + other, `late-${round}`, `Person late ${round} Ünal 12`];
    const [organization, time, id] = personAt(at);
    const isThere = people.has(id);
    const removed = people.get(personAt(other)[2]);
    const step = await commit(
      [
        added,
        late,
        ...(isThere && at !== other ? [[organization, time, id, `Changed ${round}`] as const] : []),
      ],
      removed && at !== other ? [removed] : [],
    );
    lists.observe(step);
    read.rows = 0;
    for (const search of [...SEARCHES, { q: `changed ${round}`, newestFirst: false, limit: 5, offset: 0 }])
      t.deepEqual(
        await lists.page(LIST, search),
        expected(FIRST, search),
        `${round} ${JSON.stringify(search)}`,
      );
    t.true(read.rows <= shown, `${read.rows} rows were read`);
  }
  // The rows of a step of another node are parsed when they are read.
  const ofOthers = { ...stepOf({ kind: 'other', id: 'a' }, 0) };
  lists.observe(Object.defineProperty(ofOthers, 'rows', { get: () => t.fail('rows of another kind') }));
});

test('a step that is committed while the rows are read is in the list', async (t) => {
  const { store, commit, expected } = await fixture(t);
  await commit(Array.from({ length: COUNT }, (_, at) => personAt(at)));
  const gone = personAt(5);
  const renamed = personAt(2_990);
  let lists: RowLists | undefined;
  let reads = 0;
  const late = {
    counters: (prefix: string) => store.counters(prefix),
    async rows(query: RowQuery) {
      const rows = await store.rows(query);
      reads += 1;
      // What the first read has found is removed before the list is complete.
      if (reads === 1)
        lists?.observe(await commit([[renamed[0], renamed[1], renamed[2], 'Person renamed']], [gone]));
      return rows;
    },
  };
  lists = new RowLists(late);
  const all = { q: 'person', newestFirst: false, limit: 100, offset: 0 };
  t.deepEqual(await lists.page(LIST, all), expected(FIRST, all));
  const one = { ...all, q: 'renamed' };
  t.deepEqual(await lists.page(LIST, one), expected(FIRST, one));
});

test('lists that take too much memory are read from the rows, and the one used last stays', async (t) => {
  const { store, read, commit, expected } = await fixture(t);
  await commit(Array.from({ length: COUNT }, (_, at) => personAt(at)));
  await commit(
    Array.from({ length: COUNT }, (_, at) => personAt(at, SECOND)).map(([its, time, id, name]) => [
      its,
      time,
      `their-${id}`,
      name,
    ]),
  );
  const other = { ...LIST, prefix: [SECOND], counter: `people/${SECOND}` };
  const search = { q: 'person 7', newestFirst: false, limit: 20, offset: 0 };
  const reads = async (lists: RowLists, list: ListOfRows) => {
    read.rows = 0;
    t.deepEqual(await lists.page(list, search), expected(list.prefix[0] ?? '', search));
    return read.rows;
  };
  const roomForOne = new RowLists(store, 1_000_000);
  t.is(await reads(roomForOne, LIST), COUNT);
  t.is(await reads(roomForOne, LIST), 0);
  t.is(await reads(roomForOne, other), COUNT);
  t.is(await reads(roomForOne, other), 0);
  t.is(await reads(roomForOne, LIST), COUNT, 'given up for the other one');
  const roomForNone = new RowLists(store, 400_000);
  for (let round = 0; round < 2; round += 1) t.is(await reads(roomForNone, LIST), COUNT, 'each time');
});

test('a search of a list that takes too much memory keeps the rows of the page alone', async (t) => {
  const { store, read, commit, expected } = await fixture(t);
  await commit(Array.from({ length: COUNT }, (_, at) => personAt(at)));
  const queries: RowQuery[] = [];
  const lists = new RowLists(
    {
      counters: (prefix) => store.counters(prefix),
      rows(query) {
        queries.push(query);
        return store.rows(query);
      },
    },
    COUNT,
  );
  const except = new Set([personAt(2_998)[2]]);
  for (const offset of [0, 3, 1_000]) {
    const search = { q: 'person', except, newestFirst: true, limit: 20, offset };
    read.rows = 0;
    t.deepEqual(await lists.page(LIST, search), expected(FIRST, search));
    t.is(read.rows, COUNT);
  }
  // What is put into a list is read in the order of the keys.
  t.true(queries.every(({ reverse }) => reverse === true));
});

test('a row that is removed while a search takes turns is none of its page', async (t) => {
  // More than a search looks at in one turn.
  const count = 70_000;
  const rows = Array.from({ length: count }, (_, at) => rowOf(personAt(at)));
  const places = new Map(rows.map(({ key }, at) => [key[2], at]));
  let reads = 0;
  const lists = new RowLists({
    counters: async (name) => ({ [name]: count }),
    async rows({ after, limit }) {
      reads += 1;
      const first = after === undefined ? 0 : (places.get(after[2] ?? '') ?? 0) + 1;
      return rows.slice(first, first + limit);
    },
  });
  const search = { q: 'person', newestFirst: false, limit: 2, offset: 0 };
  const whole = { ids: [personAt(0)[2], personAt(1)[2]], totalCount: count };
  t.deepEqual(await lists.page(LIST, search), whole);
  reads = 0;
  const found = lists.page(LIST, search);
  await nextTurn();
  lists.observe(stepOf({ kind: 'test', id: 'all' }, 0, { rows: { put: [], remove: rows.slice(0, 1) } }));
  const left = { ids: [personAt(1)[2], personAt(2)[2]], totalCount: count - 1 };
  t.deepEqual(await found, left);
  t.deepEqual(await lists.page(LIST, search), left);
  t.is(reads, 0);
});

test('a list follows another node, also over a time in which the database did not answer', async (t) => {
  const clock = new SimulatedClock();
  const database = new MemoryDatabase(clock);
  let isCut = false;
  const shared = { database, clock, log: SILENT, leaseSeconds: 10 };
  const one = await openMemoryNode({ ...shared, node: 'one', link: (statement) => statement() });
  const two = await openMemoryNode({
    ...shared,
    node: 'two',
    link: (statement) => (isCut ? Promise.reject(new Error('The link is cut.')) : statement()),
  });
  t.teardown(() => Promise.all([one.close(), two.close()]));
  let reads = 0;
  const lists = new RowLists({
    counters: two.counters,
    nodes: two.nodes,
    rows(query) {
      reads += 1;
      return two.rows(query);
    },
  });
  two.nodes.follow({ committed: (step) => lists.observe(step), adopted() {} });
  let revision = 0;
  const commit = async (put: readonly Person[], remove: readonly Person[] = []) => {
    const rows = { put: put.map(rowOf), remove: remove.map(rowOf) };
    const counters = { [LIST.counter]: put.length - remove.length };
    const committed = await one.commit(stepOf({ kind: 'test', id: 'all' }, revision, { rows, counters }));
    revision += 1;
    t.true(committed.ok);
  };
  const search = { q: 'person', newestFirst: true, limit: 2, offset: 0 };
  const newest = (...ats: readonly number[]) => ats.map((at) => personAt(at)[2]);
  await commit(Array.from({ length: COUNT }, (_, at) => personAt(at)));
  t.deepEqual(await lists.page(LIST, search), {
    ids: newest(COUNT - 1, COUNT - 2),
    totalCount: COUNT,
  });
  reads = 0;
  isCut = true;
  await commit([personAt(COUNT), personAt(COUNT + 1)], [personAt(COUNT - 1)]);
  await t.throwsAsync(two.nodes.sync(), { code: 'store.unavailable' });
  await commit([], [personAt(COUNT)]);
  isCut = false;
  // As before each request.
  await two.nodes.sync();
  t.deepEqual(await lists.page(LIST, search), {
    ids: newest(COUNT + 1, COUNT - 2),
    totalCount: COUNT,
  });
  t.is(reads, 0);
});

test('a page of several lists is that of all their rows, from either end', async (t) => {
  const store = openLmdbStore({ folder: folderFor(t) });
  t.teardown(() => store.close());
  // Many have the same time.
  const rows = Array.from({ length: 18_000 }, (_, n) => {
    const key = ['abc'[((n * n) % 7) % 3] ?? 'a', 1_000 + (n >> 2), `${(n * 7919) % 10_000}-${n}`] as const;
    return { view: 'entries', key, value: null };
  });
  await store.commit(stepOf({ kind: 'entries', id: 'all' }, 0, { rows: { put: rows, remove: [] } }));
  const sorted = rows.toSorted(({ key: [kind, time, id] }, { key: [otherKind, otherTime, otherId] }) =>
    time !== otherTime
      ? time - otherTime
      : kind !== otherKind
        ? kind > otherKind
          ? -1
          : 1
        : id < otherId
          ? -1
          : 1,
  );
  // Newest first, rows of one time are in the order of the lists.
  const ids = sorted.map(({ key }) => key[2]).reverse();
  const list = {
    ranges: ['a', 'b', 'c'].map((kind) => ({ view: 'entries', prefix: [kind] })),
    total: rows.length,
    itemOf: ({ key }: Row) => key[2],
  };
  for (const offset of [0, 30, 5_000, 8_999, 9_001, 12_345, 17_990, 18_000]) {
    const { items } = await pageOf(store, list, { newestFirst: true, offset, limit: 25 });
    t.deepEqual(items, ids.slice(offset, offset + 25), `${offset}`);
  }
});

test('a page near the end is read from there, in the same order', async (t) => {
  const { store, read, commit, expected } = await fixture(t);
  await commit(Array.from({ length: 20_000 }, (_, at) => personAt(at)));
  for (const newestFirst of [false, true])
    for (const offset of [0, 7, 8190, 8197, 9996, 11_802, 11_809, 17_500, 19_992, 20_006]) {
      read.rows = 0;
      let skipped = 0;
      const counting = {
        rows(query: RowQuery) {
          skipped += query.offset ?? 0;
          return store.rows(query);
        },
      };
      const list = {
        ranges: [{ view: 'people', prefix: [FIRST] }],
        total: 20_000,
        itemOf: ({ key }: Row) => key[2],
      };
      const { items } = await pageOf(counting, list, { newestFirst, offset, limit: 7 });
      t.deepEqual(items, expected(FIRST, { newestFirst, limit: 7, offset: offset / 7 }).ids);
      t.true(skipped <= 10_000, `${skipped} rows were skipped`);
    }
});

test('a range is read between bounds of its numbers, and without them whatever follows the prefix', async (t) => {
  const store = openLmdbStore({ folder: folderFor(t) });
  t.teardown(() => store.close());
  const numbers = Array.from({ length: 700 }, (_, n) => n);
  const put = numbers.flatMap((n): readonly Row[] => [
    { view: 'tree', key: ['acme', `id-${n}`], value: n },
    { view: 'numbered', key: ['acme', n, 'x'], value: n },
  ]);
  await store.commit(stepOf({ kind: 'test', id: 'all' }, 0, { rows: { put, remove: [] } }));
  const read = async (view: string, options: Parameters<typeof rowPieces>[2]) => {
    const found: unknown[] = [];
    for await (const rows of rowPieces(store, { view, prefix: ['acme'] }, options))
      found.push(...rows.map(({ value }) => value));
    return found;
  };
  for (const newestFirst of [false, true]) {
    t.is((await read('tree', { newestFirst })).length, 700);
    const found = await read('numbered', { newestFirst, from: 10, below: 20, first: 3 });
    const expected = numbers.slice(10, 20);
    t.deepEqual(found, newestFirst ? expected.reverse() : expected);
  }
});
