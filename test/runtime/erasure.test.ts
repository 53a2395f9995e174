/** Erased texts of a history: its chain and proofs stay whole, and what was removed without a record is found. */
import { generateKeyPairSync } from 'node:crypto';
import { cpSync } from 'node:fs';
import type { ActorDefinition, ActorStore, JournalLine, StoredActor } from '@sealwright/runtime';
import { type Erasure, erase, note } from '@sealwright/runtime/actions';
import {
  createCheckpointSigner,
  erasureOf,
  HistoryPacker,
  HistoryProofs,
  HistorySealer,
  isProven,
  lineHash,
  verifyHistory,
} from '@sealwright/runtime/history';
import { openLmdbReader, openLmdbStore } from '@sealwright/runtime/lmdb';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { setup } from 'xstate';
import { firstStep, nextStep } from '#runtime/step/step.js';
import type { Tables } from '#runtime/store/lmdb/lmdb-tables.js';
import { folderFor } from './folder.ts';
import { openPlainTables } from './store/plain-tables.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const ADDRESS = { kind: 'file', id: 'a' };
const { privateKey } = generateKeyPairSync('ed25519');

type Message =
  | { readonly type: 'WRITE'; readonly by: string }
  | { readonly type: 'ERASE'; readonly erasure: Erasure };

const definition: ActorDefinition = {
  kind: 'file',
  version: 1,
  isErasable: true,
  machine: setup({ types: { events: {} as Message }, actions: { note, erase } }).createMachine({
    id: 'file',
    initial: 'Live',
    states: {
      Live: {
        on: {
          WRITE: {
            actions: {
              type: 'note',
              params: ({ event }) => ({ message: `${event.by} wrote.`, data: { by: event.by } }),
            },
          },
          ERASE: { actions: { type: 'erase', params: ({ event }) => event.erasure } },
        },
      },
    },
  }),
};

let salts = 0;

async function writer(store: ActorStore) {
  const clock = new SimulatedClock(1000);
  const signer = createCheckpointSigner(privateKey);
  const kinds = ['file'];
  const sealer = new HistorySealer({
    store,
    clock,
    log: QUIET,
    signer,
    every: 60_000,
    kinds,
    publishes: false,
  });
  await sealer.start();
  const tell = async (message: Message | undefined, isSalted = true): Promise<void> => {
    salts += 1;
    const salt = () => `salt-${salts}`;
    const context = { now: clock.now(), ...(isSalted && { salt }) };
    const stored = await store.load(ADDRESS);
    const step =
      stored === undefined || message === undefined
        ? firstStep(definition, ADDRESS, null, context)
        : nextStep(definition, stored, message, context);
    if (step === undefined) throw new Error('not accepted');
    if (!(await store.commit(step)).ok) throw new Error('refused');
    sealer.observe(step);
  };
  const forget = async (by: string): Promise<boolean> => {
    const erasure = erasureOf(await store.journal(ADDRESS), ({ data }) => data?.['by'] === by);
    if (erasure !== undefined) await tell({ type: 'ERASE', erasure });
    return erasure !== undefined;
  };
  return { sealer, clock, tell, forget };
}

/** Lines 1 and 2 of an earlier program, 3 to 6 with salts; those of Ana (1, 3, 4, 6) are erased, which line 7 records. */
async function erased(t: ExecutionContext): Promise<string> {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const { sealer, tell, forget } = await writer(store);
  await tell(undefined);
  for (const by of ['ana', 'bob']) await tell({ type: 'WRITE', by }, false);
  for (const by of ['ana', 'ana', 'bob']) await tell({ type: 'WRITE', by });
  await sealer.seal();
  await tell({ type: 'WRITE', by: 'ana' });
  const proof = await new HistoryProofs(store).of(ADDRESS);
  await sealer.seal();
  t.true(await forget('ana'));
  t.false(await forget('ana'), 'nothing is left');
  await sealer.stop();
  t.true(proof !== undefined && isProven(ADDRESS, proof), 'a proof that was given out before');
  t.is((await store.journal(ADDRESS))[4]?.hash, proof?.hash);
  await store.close();
  return folder;
}

async function verified(folder: string) {
  const reader = openLmdbReader(folder);
  try {
    return await verifyHistory(reader, { kinds: ['file'] });
  } finally {
    await reader.close();
  }
}

test('erased lines keep nothing of the text, and their history is whole and names them', async (t) => {
  const folder = await erased(t);
  t.like(await verified(folder), { fault: undefined, erased: 4, erasedFrom: ['file/a'], lines: 7 });
  const reader = openLmdbReader(folder);
  const lines = await reader.journal(ADDRESS);
  await reader.close();
  t.notRegex(JSON.stringify(lines), /ana/);
  t.deepEqual(
    lines.map(({ message, salt, erased: content }) => [message !== '', salt !== undefined, content?.length]),
    [
      [false, false, 0],
      [true, false, undefined],
      [false, false, 64],
      [false, false, 64],
      [true, true, undefined],
      [false, false, 64],
      [true, false, undefined],
    ],
  );
});

const line = (tables: Tables, id: number): JournalLine & Record<string, unknown> =>
  JSON.parse(tables.journal.get(['file', 'a', id]) ?? '{}');
const put = (tables: Tables, id: number, value: object): void =>
  void tables.journal.putSync(['file', 'a', id], JSON.stringify(value));

/** Chains the lines from `first` on anew, and the actor with them. */
function chainAnew(tables: Tables, first: number): void {
  const actor = JSON.parse(tables.actors.get(['file', 'a']) ?? '{}') as StoredActor;
  let head = line(tables, first - 1).hash ?? '';
  for (let id = first; id <= actor.journalLength; id += 1) {
    const { hash: _, ...bare } = line(tables, id);
    head = bare.erased === '' ? (line(tables, id).hash ?? '') : lineHash(head, ADDRESS, bare);
    put(tables, id, { ...bare, hash: head });
  }
  tables.actors.putSync(['file', 'a'], JSON.stringify({ ...actor, journalHash: head }), actor.revision);
}

const EDITS: readonly (readonly [title: string, edit: (tables: Tables) => void, fault: RegExp])[] = [
  [
    'a text is altered',
    (tables) => put(tables, 5, { ...line(tables, 5), message: 'forged' }),
    /line 5: The line, or the hash/,
  ],
  [
    'a salt is removed',
    (tables) => {
      const { salt: _, ...bare } = line(tables, 5);
      put(tables, 5, bare);
    },
    /line 5: The line, or the hash/,
  ],
  [
    'text and salt are removed without a record',
    (tables) => {
      const { salt: _, data: _data, hash, ...bare } = line(tables, 5);
      put(tables, 5, { ...bare, message: '', erased: line(tables, 4).erased, hash });
    },
    /line 5: The line, or the hash/,
  ],
  [
    'text and salt are replaced by their hash without a record, and the chain is made anew',
    (tables) => {
      const { salt: _, data: _data, hash, ...bare } = line(tables, 5);
      put(tables, 5, { ...bare, message: '', erased: '0'.repeat(64), hash });
      chainAnew(tables, 5);
    },
    /line 5: Its text is missing, and no erasure was recorded|is not as its erasure/,
  ],
  [
    'a line of an earlier program loses its text without a record',
    (tables) => {
      const { data: _, hash, ...bare } = line(tables, 2);
      put(tables, 2, { ...bare, message: '', erased: '', hash });
    },
    /line 2: Its text is missing, and no erasure was recorded/,
  ],
  [
    'an erased line gets a text',
    (tables) => put(tables, 3, { ...line(tables, 3), message: 'forged' }),
    /line 3: The line says that its text was erased, and has one/,
  ],
  [
    'an erased line gets data',
    (tables) => put(tables, 3, { ...line(tables, 3), data: { by: 'bob' } }),
    /line 3: The line says that its text was erased, and has one/,
  ],
  [
    'an erased line of an earlier program gets another time',
    (tables) => put(tables, 1, { ...line(tables, 1), at: 1 }),
    /line 1: The line is not as its erasure, line 7, has left it/,
  ],
  [
    'an erased line gets another time',
    (tables) => put(tables, 4, { ...line(tables, 4), at: 1 }),
    /line 4: The line, or the hash/,
  ],
  [
    'the record is altered',
    (tables) => put(tables, 7, { ...line(tables, 7), data: { '@erased': '3-4:0' } }),
    /line 0: The line is not as its erasure, line 7/,
  ],
  [
    'the record is removed, and the chain ends before it',
    (tables) => {
      const actor = JSON.parse(tables.actors.get(['file', 'a']) ?? '{}') as StoredActor;
      tables.journal.removeSync(['file', 'a', 7]);
      const before = { ...actor, journalLength: 6, journalHash: line(tables, 6).hash };
      tables.actors.putSync(['file', 'a'], JSON.stringify(before), actor.revision);
    },
    /line 1: Its text is missing, and no erasure was recorded/,
  ],
];

test('each removal that no erasure has recorded is found', async (t) => {
  const whole = await erased(t);
  for (const [title, edit, fault] of EDITS) {
    const folder = folderFor(t);
    cpSync(whole, folder, { recursive: true });
    const tables = openPlainTables(folder);
    edit(tables);
    await tables.root.close();
    const found = (await verified(folder)).fault;
    t.regex(`${found?.entry}: ${found?.problem}`, fault, title);
  }
});

test('lines of an ended actor are erased, and packed again', async (t) => {
  const folder = await erased(t);
  const store = openLmdbStore({ folder });
  t.teardown(() => store.close());
  const { tell, forget, sealer, clock } = await writer(store);
  await tell({ type: 'WRITE', by: 'cem' });
  const pack = async () => {
    await sealer.seal();
    const restsIn = new Map([['file', ['Live']]]);
    const packer = new HistoryPacker({ store, clock, log: QUIET, restsIn });
    packer.start();
    for (let turn = 0; turn < 50; turn += 1) {
      await new Promise(setImmediate);
      clock.advance(10);
    }
    packer.stop();
  };
  await pack();
  const before = await store.journal(ADDRESS);
  t.regex(JSON.stringify(before), /cem/);
  t.true(await forget('cem'));
  await pack();
  const after = await store.journal(ADDRESS);
  t.is(after.length, before.length + 1);
  t.notRegex(JSON.stringify(after), /cem/);
  t.like(await verifyHistory(store, { kinds: ['file'] }), { fault: undefined, erased: 5, lines: 9 });
});
