/** The tamper-evident history: hash chains, checkpoints, proofs, and what an offline edit of the store leads to. */

import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { ActorAddress, ActorDefinition, ActorStore, StoredActor } from '@sealwright/runtime';
import { note } from '@sealwright/runtime/actions';
import {
  CHECKPOINTS_VIEW,
  type Checkpoint,
  createCheckpointSigner,
  HistoryProofs,
  HistorySealer,
  isProven,
  lineHash,
  parseAnchor,
  verifyHistory,
} from '@sealwright/runtime/history';
import { openLmdbReader, openLmdbStore } from '@sealwright/runtime/lmdb';
import { MemoryDatabase, MemoryStore, openMemoryNode, SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import { assign, setup } from 'xstate';
import { type HistoryLeaf, leafText, parseLeaf, stateHash, storedLeaf } from '#runtime/history/checkpoint.js';
import { auditPath, leafHash, merkleRoot, rootFromPath } from '#runtime/history/merkle.js';
import { firstStep, nextStep } from '#runtime/step/step.js';
import { type Key, partsOf, type Tables } from '#runtime/store/lmdb/lmdb-tables.js';
import { reached } from '../project/waiting.ts';
import { folderFor } from './folder.ts';
import { openPlainTables } from './store/plain-tables.ts';
import { T1, T2, tally } from './test-runtime.ts';

const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const KINDS = ['thing'];

const definition: ActorDefinition = {
  kind: 'thing',
  version: 1,
  machine: setup({
    types: { context: {} as { turns: number } },
    actions: { note },
  }).createMachine({
    id: 'thing',
    context: { turns: 0 },
    initial: 'Live',
    states: {
      Live: {
        on: {
          WRITE: { actions: { type: 'note', params: { message: 'written', data: { by: 'ana' } } } },
          END: { actions: assign({ turns: -1 }) },
        },
      },
    },
  }),
  ends: ({ context }) => context.turns === -1,
};

const { privateKey } = generateKeyPairSync('ed25519');

interface HistoryFixture {
  readonly store: ActorStore;
  readonly sealer: HistorySealer;
  readonly clock: SimulatedClock;
  tell(id: string, ...events: readonly string[]): Promise<void>;
}

/** An anchor in memory. */
function memoryAnchor() {
  const texts = new Map<string, string>();
  return {
    texts,
    read: () => texts.get('newest'),
    keep: (text: string) => void texts.set('newest', text),
    setAside: (text: string) => void texts.set('aside', text),
    all: () => [...texts.values()].flatMap((text) => parseAnchor(text) ?? []),
  };
}

async function historyFixture(
  store: ActorStore,
  key = privateKey,
  anchor = memoryAnchor(),
): Promise<HistoryFixture> {
  const clock = new SimulatedClock(1000);
  const signer = createCheckpointSigner(key);
  const sealer = new HistorySealer({
    store,
    clock,
    log: QUIET,
    signer,
    anchor,
    every: 60_000,
    kinds: KINDS,
    publishes: false,
  });
  await sealer.start();
  return {
    store,
    sealer,
    clock,
    async tell(id, ...events) {
      const address = { kind: 'thing', id };
      for (const type of events) {
        const context = { now: clock.now() };
        const stored = await store.load(address);
        const step =
          stored === undefined
            ? firstStep(definition, address, null, context)
            : nextStep(definition, stored, { type }, context);
        if (step === undefined) throw new Error('not accepted');
        await store.commit(step);
        sealer.observe(step);
      }
    },
  };
}

const BORN = 'BORN';

/** A store with two sealed actors, closed; what an offline edit does to it is found out by a reader. */
async function afterEdit(
  t: ExecutionContext,
  edit: (tables: Tables) => void | Promise<void>,
  copies: (all: readonly Checkpoint[]) => readonly Checkpoint[] = () => [],
  isAnchored = false,
): Promise<string> {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const anchor = memoryAnchor();
  const { tell, sealer, clock } = await historyFixture(store, privateKey, anchor);
  await tell('a', BORN, 'WRITE', 'WRITE', 'WRITE');
  await tell('b', BORN, 'WRITE');
  await sealer.seal();
  clock.advance(10);
  await tell('b', 'WRITE');
  await sealer.stop();
  const checkpoints = await store.rows({ view: CHECKPOINTS_VIEW, limit: 10 });
  await store.close();
  const tables = openPlainTables(folder);
  await edit(tables);
  await tables.root.close();
  const reader = openLmdbReader(folder);
  const kept = copies(checkpoints.map(({ value }) => value as unknown as Checkpoint));
  const { fault, complete } = await verifyHistory(reader, {
    kinds: KINDS,
    copies: kept,
    nodes: [createCheckpointSigner(privateKey).node],
    ...(isAnchored && { anchors: anchor.all }),
  });
  await reader.close();
  t.true(complete);
  return fault === undefined ? '' : `${fault.entry}: ${fault.problem}`;
}

function line(tables: Tables, id: string, number: number): Record<string, unknown> {
  return JSON.parse(tables.journal.get(['thing', id, number]) ?? '{}');
}

function put(tables: Tables, id: string, number: number, value: object): void {
  tables.journal.putSync(['thing', id, number], JSON.stringify(value));
}

test('a Merkle tree has the root of RFC 6962, and an audit path for each leaf at every size', (t) => {
  // RFC 6962 §2.1: the hash of an empty list, and of a list of one entry.
  t.is(merkleRoot([]), createHash('sha256').digest('hex'));
  t.is(merkleRoot([leafHash('')]), '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d');
  for (let size = 1; size <= 33; size++) {
    const leaves = Array.from({ length: size }, (_, n) => leafHash(`leaf ${n}`));
    const root = merkleRoot(leaves);
    for (const [index, leaf] of leaves.entries()) {
      const path = auditPath(leaves, index);
      t.is(rootFromPath(leaf, index, size, path), root, `${index} of ${size}`);
      t.not(rootFromPath(leafHash('another'), index, size, path), root);
      t.is(rootFromPath(leaf, index, size, [...path, root]), undefined);
    }
  }
});

test('each line has the hash of the previous one, and the actor that of its last', async (t) => {
  const store = new MemoryStore();
  const { tell } = await historyFixture(store);
  await tell('a', BORN, 'WRITE', 'WRITE');
  const address = { kind: 'thing', id: 'a' };
  const [first, second] = await store.journal(address);
  t.truthy(first && second);
  if (first === undefined || second === undefined) return;
  t.is(first.hash, lineHash('', address, first));
  t.is(second.hash, lineHash(first.hash ?? '', address, second));
  t.is((await store.load(address))?.journalHash ?? '', second.hash ?? 'none');
  t.deepEqual(second.data, { by: 'ana' });
  t.is(
    first.hash,
    createHash('sha256')
      .update('["","thing","a",1,1000,"Live","written","WRITE",[["by","ana"]]]')
      .digest('hex'),
  );
});

test('an unchanged store has no fault', async (t) => {
  t.is(
    await afterEdit(
      t,
      () => {},
      (all) => all,
    ),
    '',
  );
});

test('a line that was changed offline is reported', async (t) => {
  const change = (tables: Tables) => put(tables, 'a', 2, { ...line(tables, 'a', 2), message: 'forged' });
  t.is(
    await afterEdit(t, change),
    'thing/a line 2: The line, or the hash of the line before it, was changed.',
  );
  const details = (tables: Tables) => put(tables, 'a', 3, { ...line(tables, 'a', 3), data: { by: 'bob' } });
  t.regex(await afterEdit(t, details), /^thing\/a line 3: /);
});

test('lines that were removed, inserted or stripped of their hash offline are reported', async (t) => {
  t.is(
    await afterEdit(t, (tables) => void tables.journal.removeSync(['thing', 'a', 2])),
    'thing/a line 2: The line is missing.',
  );
  t.is(
    await afterEdit(t, (tables) => put(tables, 'a', 4, { ...line(tables, 'a', 3), id: 4 })),
    'thing/a line 4: The line was inserted behind the last one.',
  );
  t.is(
    await afterEdit(t, (tables) => put(tables, 'a', 4, line(tables, 'a', 2))),
    'thing/a line 4: The line was inserted behind the last one.',
    'with the number of another line',
  );
  const strip = (tables: Tables) => {
    const { hash: _, ...bare } = line(tables, 'a', 2);
    put(tables, 'a', 2, bare);
  };
  t.is(
    await afterEdit(t, strip),
    'thing/a line 2: The line has no hash, although the line before it has one.',
  );
});

/** Writes the last line of an actor anew, with every hash in the store that follows from it. */
function rewrite(tables: Tables, id: string, number: number): void {
  const address = { kind: 'thing', id };
  const before = line(tables, id, number - 1) as { hash?: string };
  const forged = { ...line(tables, id, number), message: 'forged' } as never as { hash: string };
  forged.hash = lineHash(before.hash ?? '', address, forged as never);
  put(tables, id, number, forged);
  const actor = JSON.parse(tables.actors.get(['thing', id]) ?? '{}') as StoredActor;
  const changed = { ...actor, journalHash: forged.hash };
  tables.actors.putSync(['thing', id], JSON.stringify(changed), actor.revision);
}

test('leaves that an earlier program has stored by name are read, and a changed one is found', async (t) => {
  const named = (change: (leaf: HistoryLeaf) => HistoryLeaf) => (tables: Tables) => {
    for (const { key, value } of [...tables.rows.getRange({ start: ['history-leaves'], limit: 9 })]) {
      const leaf = key[0] === 'history-leaves' ? parseLeaf(JSON.parse(value)) : undefined;
      if (leaf !== undefined) tables.rows.putSync(key, JSON.stringify(change(leaf)));
    }
  };
  t.is(
    await afterEdit(
      t,
      named((leaf) => leaf),
    ),
    '',
  );
  t.regex(
    await afterEdit(
      t,
      named((leaf) => ({ ...leaf, line: leaf.line + 1 })),
    ),
    /Its leaves do not lead to its root/,
  );
});

test('a chain that was rewritten offline differs from the sealed one', async (t) => {
  t.is(
    await afterEdit(t, (tables) => rewrite(tables, 'a', 3)),
    'thing/a line 3: The line is not the one that checkpoint 1 sealed.',
  );
});

test('an actor that was removed offline is reported, and one that ended is not', async (t) => {
  t.is(
    await afterEdit(t, (tables) => removeActor(tables, 'a')),
    'thing/a line 3: The line that checkpoint 1 sealed is missing, and no deletion was recorded.',
  );
  const store = new MemoryStore();
  const { tell, sealer } = await historyFixture(store);
  await tell('a', BORN, 'WRITE');
  await sealer.seal();
  await tell('a', 'END');
  t.is(await store.load({ kind: 'thing', id: 'a' }), undefined);
  t.is((await verifyHistory(store, { kinds: KINDS })).fault, undefined, 'not sealed yet');
  await sealer.seal();
  const report = await verifyHistory(store, { kinds: KINDS });
  t.like(report, { fault: undefined, checkpoints: 2, leaves: 3 });
});

test('two exchanged lines, and an actor in the place of another, end the verification with a fault', async (t) => {
  const exchange = (tables: Tables) => {
    const second = line(tables, 'a', 2);
    const third = line(tables, 'a', 3);
    put(tables, 'a', 2, third);
    put(tables, 'a', 3, second);
  };
  t.is(await afterEdit(t, exchange), 'thing/a line 2: The line is missing.');
  // Followed by its id, a list would begin anew behind it without end.
  const rename = (tables: Tables) => {
    const actor = JSON.parse(tables.actors.get(['thing', 'b']) ?? '{}') as StoredActor;
    const renamed = { ...actor, address: { kind: 'thing', id: 'a' } };
    tables.actors.putSync(['thing', 'b'], JSON.stringify(renamed), actor.revision);
  };
  t.regex(await afterEdit(t, rename), /^the store: The store holds another actor in the place of thing\/b:/);
  const damage = (tables: Tables) => void tables.actors.putSync(['thing', 'b'], '{"address"', 1);
  t.regex(await afterEdit(t, damage), /^the store: The store holds actor thing\/b that is no JSON/);
});

function removeActor(tables: Tables, id: string): void {
  tables.actors.removeSync(['thing', id]);
  for (const number of [1, 2, 3]) tables.journal.removeSync(['thing', id, number]);
}

test('a deletion counts only where a sealed leaf says so', async (t) => {
  const node = createCheckpointSigner(privateKey).node;
  const missing =
    'thing/a line 3: The line that checkpoint 1 sealed is missing, and no deletion was recorded.';
  for (const value of [9_999_999_999_999, [node, 1, 0], [node, 1, 99], [node, 7, 0], 'gone', null]) {
    const forge = (tables: Tables) => {
      removeActor(tables, 'a');
      tables.rows.putSync(['history-deletions', 'thing', 'a'], JSON.stringify(value));
    };
    t.is(await afterEdit(t, forge, (all) => all), missing, JSON.stringify(value));
  }
  const unsealed = (tables: Tables) => {
    removeActor(tables, 'a');
    tables.rows.putSync(['history-unsealed', 'thing', 'a', 4, 'aa'], '{"line":3,"hash":"aa"}');
  };
  t.is(await afterEdit(t, unsealed), missing, 'a stopped service has sealed all of its deletions');
});

test('a deletion that an earlier program noted by its time is found', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer, clock } = await historyFixture(store);
  await tell('a', BORN, 'WRITE');
  await sealer.seal();
  clock.advance(5);
  await tell('a', 'END', BORN, 'WRITE');
  const { at } = (await sealer.seal()) ?? { at: 0 };
  const old = { view: 'history-deletions', key: ['thing', 'a'], value: at };
  await sealer.changeRows({ put: [old], remove: [] });
  t.is((await verifyHistory(store, { kinds: KINDS })).fault, undefined);
  await sealer.changeRows({ put: [{ ...old, value: at + 1 }], remove: [] });
  t.regex((await verifyHistory(store, { kinds: KINDS })).fault?.entry ?? '', /^thing\/a/);
});

test('a state that was changed offline is reported, with the same revision or a later one', async (t) => {
  const change = (change: (actor: StoredActor) => object) => (tables: Tables) => {
    const actor = JSON.parse(tables.actors.get(['thing', 'a']) ?? '{}') as StoredActor;
    const changed = { ...actor, ...change(actor) } as StoredActor;
    tables.actors.putSync(['thing', 'a'], JSON.stringify(changed), changed.revision);
  };
  const context = { turns: 7 };
  t.is(
    await afterEdit(
      t,
      change(() => ({ context })),
    ),
    'thing/a: Its state is not the one that checkpoint 1 sealed.',
  );
  t.is(
    await afterEdit(
      t,
      change(() => ({ timers: { later: 5 } })),
    ),
    'thing/a: Its state is not the one that checkpoint 1 sealed.',
  );
  const later = change(({ revision }) => ({ context, revision: revision + 1 }));
  t.is(await afterEdit(t, later), 'thing/a: It was changed after the service had stopped.');
  const earlier = change(({ revision }) => ({ context, revision: revision - 1 }));
  t.is(await afterEdit(t, earlier), 'thing/a: Its state is not the one that checkpoint 1 sealed.');
});

test('removed checkpoints are missed by the anchor, at a verification and at the next start', async (t) => {
  const node = createCheckpointSigner(privateKey).node;
  const remove = (tables: Tables) => {
    for (const { key } of [...tables.rows.getRange({ start: ['history-'], end: ['history-~'] })])
      if (key.includes(node) === false || key[2] === 2) tables.rows.removeSync(key);
  };
  t.is(await afterEdit(t, remove, () => [], true), `checkpoint 2 of node ${node}: ${ANCHORED}`);
  t.is(
    await afterEdit(
      t,
      () => {},
      () => [],
      true,
    ),
    '',
  );
  const anchor = memoryAnchor();
  const before = await historyFixture(new MemoryStore(), privateKey, anchor);
  await before.tell('a', BORN, 'WRITE');
  await before.sealer.stop();
  const restored = new MemoryStore();
  const { tell, sealer } = await historyFixture(restored, privateKey, anchor);
  await tell('b', BORN, 'WRITE');
  await sealer.seal();
  const { fault } = await verifyHistory(restored, { kinds: KINDS, anchors: anchor.all });
  t.regex(fault?.problem ?? '', /^The folder of keys has an anchor of it/);
  const isAnchored = async (store: ActorStore, anchors?: () => ReturnType<typeof anchor.all>) =>
    (await verifyHistory(store, { kinds: KINDS, ...(anchors && { anchors }) })).anchored;
  t.true(await isAnchored(restored, anchor.all));
  t.false(await isAnchored(restored, () => []), 'an anchor was removed');
  t.true(await isAnchored(restored), 'none was asked for');
  t.true(await isAnchored(new MemoryStore(), () => []), 'nothing is there to anchor');
});

const ANCHORED =
  'The folder of keys has an anchor of it, and the store holds no such checkpoint. The store was changed, or restored from an older backup.';

test('actors that changed since the newest checkpoint are counted while the service runs', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer } = await historyFixture(store);
  await tell('a', BORN, 'WRITE');
  t.like(await verifyHistory(store, { kinds: KINDS }), { fault: undefined, uncovered: 1 });
  await sealer.seal();
  t.like(await verifyHistory(store, { kinds: KINDS }), { fault: undefined, uncovered: 0 });
  await tell('a', 'WRITE');
  t.like(await verifyHistory(store, { kinds: KINDS }), { fault: undefined, uncovered: 1 });
});

test('the record of a deletion excuses no lines that were sealed after it', async (t) => {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const { tell, sealer, clock } = await historyFixture(store);
  await tell('a', BORN, 'WRITE', 'END');
  await sealer.seal();
  clock.advance(10);
  await tell('a', BORN, 'WRITE');
  await sealer.stop();
  await store.close();
  const check = async () => {
    const reader = openLmdbReader(folder);
    const { fault, checkpoints } = await verifyHistory(reader, { kinds: KINDS });
    await reader.close();
    t.is(checkpoints, fault === undefined ? 2 : 1);
    return fault?.problem;
  };
  t.is(await check(), undefined);
  const tables = openPlainTables(folder);
  tables.actors.removeSync(['thing', 'a']);
  for (const number of [1, 2]) tables.journal.removeSync(['thing', 'a', number]);
  await tables.root.close();
  t.is(await check(), 'The line that checkpoint 2 sealed is missing, and no deletion was recorded.');
});

test('each end of an actor that was made anew is sealed', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer, clock } = await historyFixture(store);
  for (let life = 0; life < 2; life += 1) {
    await tell('a', BORN, 'WRITE', 'END');
    clock.advance(1);
  }
  await sealer.seal();
  t.like(await verifyHistory(store, { kinds: KINDS }), { fault: undefined, checkpoints: 1, leaves: 2 });
});

test('checkpoints that were changed, removed or signed anew offline are reported', async (t) => {
  const node = createCheckpointSigner(privateKey).node;
  const own = (tables: Tables, sequence: number) =>
    JSON.parse(tables.rows.get([CHECKPOINTS_VIEW, node, sequence]) ?? '{}') as Checkpoint;
  const change = (tables: Tables) =>
    void tables.rows.putSync([CHECKPOINTS_VIEW, node, 1], JSON.stringify({ ...own(tables, 1), at: 5 }));
  t.is(await afterEdit(t, change), `checkpoint 1 of node ${node}: Its signature is not valid.`);
  t.is(
    await afterEdit(t, (tables) => void tables.rows.removeSync([CHECKPOINTS_VIEW, node, 1])),
    `checkpoint 2 of node ${node}: Checkpoint 1 before it is missing.`,
  );
  t.is(
    await afterEdit(t, (tables) => void tables.rows.removeSync(['history-leaves', node, 1, 0])),
    `checkpoint 1 of node ${node}: Its leaves do not lead to its root.`,
  );
  // Whoever has the key can sign anew; a copy that is kept elsewhere tells.
  const sign = (tables: Tables) => {
    const { sequence, at, leaves, root, previous } = own(tables, 2);
    const signer = createCheckpointSigner(privateKey);
    const forged = signer.sign({ sequence, at: at + 1, leaves, root, previous });
    tables.rows.putSync([CHECKPOINTS_VIEW, node, 2], JSON.stringify(forged));
  };
  t.is(await afterEdit(t, sign), '');
  // One that has a successor is named by it.
  const signFirst = (tables: Tables) => {
    const { sequence, at, leaves, root, previous } = own(tables, 1);
    const forged = createCheckpointSigner(privateKey).sign({ sequence, at: at + 1, leaves, root, previous });
    tables.rows.putSync([CHECKPOINTS_VIEW, node, 1], JSON.stringify(forged));
  };
  t.is(
    await afterEdit(t, signFirst),
    `checkpoint 2 of node ${node}: It was made after another checkpoint than the one before it.`,
  );
  t.is(
    await afterEdit(t, sign, (all) => all),
    `checkpoint 2 of node ${node}: The store holds another checkpoint of this number than the copy.`,
  );
});

/** Rows of a checkpoint over these leaves, with their positions as those of the newest. */
function sealByHand(tables: Tables, key: KeyObject, leaves: readonly HistoryLeaf[]): Checkpoint {
  const root = merkleRoot(leaves.map((leaf) => leafHash(leafText(leaf))));
  const signer = createCheckpointSigner(key);
  const checkpoint = signer.sign({ sequence: 1, at: 5000, leaves: leaves.length, root, previous: '' });
  const position = (index: number) => [checkpoint.node, 1, index];
  tables.rows.putSync([CHECKPOINTS_VIEW, checkpoint.node, 1], JSON.stringify(checkpoint));
  for (const [index, leaf] of leaves.entries()) {
    tables.rows.putSync(['history-leaves', ...position(index)], JSON.stringify(storedLeaf(leaf, false)));
    const view = { head: 'history-heads', deleted: 'history-deletions', state: undefined }[leaf.type];
    if (view !== undefined) tables.rows.putSync([view, leaf.kind, leaf.id], JSON.stringify(position(index)));
  }
  return checkpoint;
}

/** Adds a line to the chain of `a`, and the state behind it; leaves that cover both. */
function addLine(tables: Tables): readonly HistoryLeaf[] {
  const address = { kind: 'thing', id: 'a' };
  const actor = JSON.parse(tables.actors.get(['thing', 'a']) ?? '{}') as StoredActor;
  const { journalHash = '', journalLength } = actor;
  const added = { ...line(tables, 'a', 1), id: journalLength + 1, message: 'signed by the director' };
  const hash = lineHash(journalHash, address, added as never);
  put(tables, 'a', added.id, { ...added, hash });
  const revision = actor.revision + 1;
  const changed = { ...actor, revision, journalLength: added.id, journalHash: hash };
  tables.actors.putSync(['thing', 'a'], JSON.stringify(changed), revision);
  return [
    { type: 'head', ...address, line: added.id, hash },
    { type: 'state', ...address, line: revision, hash: stateHash(changed) },
  ];
}

test('a line and a deletion that a key of the forger seals are reported, and a copy vouches for a changed key', async (t) => {
  const strange = generateKeyPairSync('ed25519').privateKey;
  const fault = `checkpoint 1 of node ${createCheckpointSigner(strange).node}: Its key is not the one in the folder of keys.`;
  const added = await afterEdit(
    t,
    (tables) => void sealByHand(tables, strange, addLine(tables)),
    undefined,
    true,
  );
  t.true(added.startsWith(fault), added);
  const removed = await afterEdit(t, (tables) => {
    removeActor(tables, 'a');
    sealByHand(tables, strange, [{ type: 'deleted', kind: 'thing', id: 'a', line: 4, hash: 'aa' }]);
  });
  t.true(removed.startsWith(fault), removed);
  let made: Checkpoint | undefined;
  const vouched = await afterEdit(
    t,
    (tables) => {
      made = sealByHand(tables, strange, addLine(tables));
    },
    () => (made === undefined ? [] : [made]),
  );
  t.is(vouched, '');
});

test('the anchor of a changed key vouches for the checkpoints that it made', async (t) => {
  const anchor = memoryAnchor();
  const store = new MemoryStore();
  const before = await historyFixture(store, privateKey, anchor);
  await before.tell('a', BORN, 'WRITE');
  await before.sealer.stop();
  const changed = generateKeyPairSync('ed25519').privateKey;
  const nodes = [createCheckpointSigner(changed).node];
  const { tell, sealer } = await historyFixture(store, changed, anchor);
  await tell('a', 'WRITE');
  await sealer.stop();
  t.is((await verifyHistory(store, { kinds: KINDS, nodes, anchors: anchor.all })).fault, undefined);
  anchor.texts.delete('aside');
  const { fault } = await verifyHistory(store, { kinds: KINDS, nodes, anchors: anchor.all });
  t.regex(fault?.problem ?? '', /^Its key is not the one/);
});

test('an actor with lines without hashes is counted, and reported where they are newer than the first checkpoint', async (t) => {
  const insert = (at: number) => (tables: Tables) => {
    const { journalHash: _, ...actor } = JSON.parse(tables.actors.get(['thing', 'a']) ?? '{}');
    const { hash: __, ...bare } = line(tables, 'a', 1);
    put(tables, 'c', 1, { ...bare, at });
    const inserted = { ...actor, address: { kind: 'thing', id: 'c' }, journalLength: 1 };
    tables.actors.putSync(['thing', 'c'], JSON.stringify(inserted), actor.revision);
  };
  t.is(await afterEdit(t, insert(1)), '');
  t.is(
    await afterEdit(t, insert(9_999)),
    'thing/c line 1: The line has no hash, although it was written after the first checkpoint.',
  );
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const { tell, sealer } = await historyFixture(store);
  await tell('a', BORN, 'WRITE');
  await sealer.stop();
  t.is((await verifyHistory(store, { kinds: KINDS })).unchained, 0);
  await store.close();
  const tables = openPlainTables(folder);
  insert(1)(tables);
  await tables.root.close();
  const reader = openLmdbReader(folder);
  t.is((await verifyHistory(reader, { kinds: KINDS })).unchained, 1);
  await reader.close();
});

test('a proof connects the newest sealed line with the signed root, and no other line', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer } = await historyFixture(store);
  for (let n = 0; n < 20; n++) await tell(`a${n}`, BORN, 'WRITE');
  const address: ActorAddress = { kind: 'thing', id: 'a7' };
  t.is(await new HistoryProofs(store).of(address), undefined, 'not sealed yet');
  await sealer.seal();
  const proof = await new HistoryProofs(store).of(address);
  t.truthy(proof);
  if (proof === undefined) return;
  t.is(proof.hash, (await store.load(address))?.journalHash ?? '');
  t.true(isProven(address, proof));
  t.false(isProven({ kind: 'thing', id: 'a8' }, proof));
  t.false(isProven(address, { ...proof, line: 2 }));
  t.false(isProven(address, { ...proof, checkpoint: { ...proof.checkpoint, at: 5 } }));
});

test('after a crash the chains that were not sealed are found and sealed', async (t) => {
  const store = new MemoryStore();
  const before = await historyFixture(store);
  await before.tell('a', BORN, 'WRITE');
  await before.tell('b', BORN, 'WRITE');
  await before.sealer.seal();
  await before.tell('b', 'WRITE');
  // Its sealer is never stopped.
  const { sealer } = await historyFixture(store);
  const checkpoint = await sealer.seal();
  t.like(checkpoint, { sequence: 2, leaves: 2 });
  const proof = await new HistoryProofs(store).of({ kind: 'thing', id: 'b' });
  t.is(proof?.line, 2);
});

test('checkpoints are made at the interval, in pages after many changes, and none without changes', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer, clock } = await historyFixture(store);
  await tell('a', BORN, 'WRITE');
  clock.advance(60_000);
  await reached(async () => (await store.rows({ view: CHECKPOINTS_VIEW, limit: 5 })).length > 0);
  t.is((await sealer.seal())?.sequence, 1);
  for (let n = 0; n < 2500; n++) await tell(`x${n}`, BORN, 'WRITE');
  t.like(await sealer.seal(), { sequence: 4, leaves: 2 * (2500 - 2 * 1024) });
});

test('a stop ends before very many changes are sealed, and the next start finds those that are left', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer } = await historyFixture(store);
  for (let n = 0; n < 2500; n++) await tell(`x${n}`, BORN, 'WRITE');
  // The time is up after one checkpoint.
  sealer.beginStop(0);
  t.is((await sealer.seal())?.sequence, 1);
  await sealer.stop();
  t.false(await sealer.isRecordedAsStopped());
  const next = await historyFixture(store);
  t.like(await next.sealer.seal(), { sequence: 3, leaves: 2 * (2500 - 2 * 1024) });
  await next.sealer.stop();
  t.true(await next.sealer.isRecordedAsStopped());
});

test('a stop is not recorded before each deletion is sealed', async (t) => {
  const store = new MemoryStore();
  const { tell, sealer } = await historyFixture(store);
  const ids = Array.from({ length: 2 * 2048 + 1 }, (_, n) => `x${n}`);
  for (const id of ids) await tell(id, BORN, 'WRITE');
  await sealer.seal();
  for (const id of ids) await tell(id, 'END');
  // The time is up after one checkpoint, and the stop makes one more.
  sealer.beginStop(0);
  await sealer.seal();
  await sealer.stop();
  t.false(await sealer.isRecordedAsStopped());
  t.is((await verifyHistory(store, { kinds: KINDS })).fault, undefined);
});

test('a stop is not recorded before each actor was compared after a crash', async (t) => {
  const store = new MemoryStore();
  const { tell } = await historyFixture(store);
  for (let n = 0; n < 300; n++) await tell(`x${n}`, BORN, 'WRITE');
  // Its sealer is never stopped, and the next one has no time to compare.
  const stopped = async (isCompared: boolean) => {
    const { sealer } = await historyFixture(store);
    if (isCompared) await sealer.seal();
    await sealer.stop();
    return sealer.isRecordedAsStopped();
  };
  t.false(await stopped(false));
  t.is((await verifyHistory(store, { kinds: KINDS })).fault, undefined);
  const { sealer } = await historyFixture(store);
  sealer.beginStop();
  // Its comparison has ended before the last actors.
  t.true(((await sealer.seal())?.leaves ?? 0) < 600);
  t.true(await stopped(true));
  t.like(await verifyHistory(store, { kinds: KINDS }), { fault: undefined, uncovered: 0 });
});

/** A stopped store with an effect, a deadline, a counter and a name; returns what the verification says after each edit. */
async function stoppedWork(t: ExecutionContext) {
  const folder = folderFor(t);
  const store = openLmdbStore({ folder });
  const anchor = memoryAnchor();
  const { sealer, clock } = await historyFixture(store, privateKey, anchor);
  const context = { now: clock.now() };
  for (const [address, events] of [
    [T1, ['WORKED', 'WORK', 'CLAIM']],
    [T2, ['WORKED', 'WAIT']],
  ] as const) {
    const steps = [firstStep(tally, address, null, context)];
    for (const type of events) {
      const last = steps.at(-1)?.actor;
      const next = last && nextStep(tally, last, { type }, context);
      if (next !== undefined) steps.push(next);
    }
    t.is(steps.length, events.length + 1);
    for (const step of steps) {
      await store.commit(step);
      sealer.observe(step);
    }
  }
  await sealer.stop();
  await store.close();
  return async (edit: (tables: Tables) => void): Promise<string> => {
    const tables = openPlainTables(folder);
    edit(tables);
    await tables.root.close();
    const reader = openLmdbReader(folder);
    const { fault } = await verifyHistory(reader, { kinds: ['tally'], anchors: anchor.all });
    await reader.close();
    return fault === undefined ? '' : `${fault.entry}: ${fault.problem}`;
  };
}

const unlisted = (queued: number) =>
  `the store: The store lists 1 effects, and its queues hold ${queued}: its file was changed from outside. Keep a copy of the folder, and restore the last backup (docs/operations.md).`;

/** Makes another value of an entry. */
const OTHER = {
  effects: ['"work"', '"wreck"'],
  timers: ['}', ',"more":1}'],
  counters: [/$/, '0'],
  names: ['t1', 't2'],
} as const;

test('pending effects, deadlines, counters and names that were changed after a stop are reported', async (t) => {
  const verifyAfter = await stoppedWork(t);
  t.is(await verifyAfter(() => {}), '');
  const late = (what: string) => `the ${what}: They were changed after the service had stopped.`;
  for (const [what, table] of [
    ['effects', 'due'],
    ['timers', 'timers'],
    ['counters', 'counters'],
    ['names', 'names'],
  ] as const) {
    let key: Key = [];
    let value = '';
    const take = (tables: Tables) => {
      const [entry] = [...tables[table].getRange({ limit: 1 })];
      key = partsOf(entry?.key ?? []);
      value = entry?.value ?? '';
      tables[table].removeSync(key);
    };
    const isQueue = table === 'due';
    t.is(await verifyAfter(take), isQueue ? unlisted(0) : late(what), `${what} without one`);
    t.not(value, '');
    const last = key.at(-1);
    const other = [...key.slice(0, -1), typeof last === 'number' ? last + 1 : `${last}x`];
    const moved = (tables: Tables) => tables[table].putSync(other, value);
    const found = await verifyAfter(moved);
    if (isQueue)
      t.regex(
        found,
        /^the store: The store lists effect 0 of revision \d+ of tally\/t1, which no queue holds: /,
      );
    else t.is(found, late(what), `${what} with another key`);
    const more = (tables: Tables) => tables[table].putSync(key, value);
    t.is(await verifyAfter(more), isQueue ? unlisted(2) : late(what), `${what} with one more`);
    const back = (tables: Tables) => tables[table].removeSync(other);
    t.is(await verifyAfter(back), '', `${what} as they were`);
    const changed = value.replace(OTHER[what][0], OTHER[what][1]);
    t.not(changed, value);
    const change = (tables: Tables) => tables[table].putSync(key, changed);
    t.is(await verifyAfter(change), late(what), `${what} with another value`);
    t.is(await verifyAfter(more), '', `${what} as they were`);
  }
});

test('an effect in a queue that is not listed is found though the numbers agree, and a damaged entry is named', async (t) => {
  const verifyAfter = await stoppedWork(t);
  const hidden = (tables: Tables) => {
    const [queued] = [...tables.due.getRange({ limit: 1 })];
    const [listed] = [...tables.effects.getRange({ limit: 1 })];
    const [due = 0, ...own] = partsOf(queued?.key ?? []);
    tables.due.putSync([Number(due) + 1, ...own], queued?.value ?? '');
    tables.effects.putSync(['tally', 't9', 7, 0], listed?.value ?? '');
  };
  t.regex(
    await verifyAfter(hidden),
    /^the store: .* effect 0 of revision 7 of tally\/t9, which no queue holds: /,
  );
  const damages = [
    ['journal', /line \d+ of tally\/t1 that is no JSON/],
    ['timers', /deadline \S+ of tally\/t2 that is no JSON/],
    ['names', /name \S+ that is no JSON/],
    ['actors', /actor tally\/t1 that is no JSON/],
  ] as const;
  for (const [table, words] of damages) {
    const edited = await stoppedWork(t);
    const said = await edited((tables) => {
      if (table === 'actors') return tables.actors.putSync(['tally', 't1'], '{', 0);
      const start = table === 'journal' ? ['tally'] : [];
      const [entry] = [...tables[table].getRange({ start, limit: 1 })];
      return tables[table].putSync(partsOf(entry?.key ?? []), '{');
    });
    t.regex(said, words, table);
  }
});

/** Two nodes on one database; the first one makes the checkpoints. */
async function twoNodes(anchor = memoryAnchor()) {
  const clock = new SimulatedClock(1000);
  const database = new MemoryDatabase(clock);
  const open = (node: string) =>
    openMemoryNode({
      database,
      clock,
      node,
      log: QUIET,
      leaseSeconds: 10,
      link: (statement) => statement(),
    });
  const first = await open('first');
  const second = await open('second');
  const { sealer } = await historyFixture(first, privateKey, anchor);
  first.nodes.follow({ committed: (step) => sealer.observe(step), adopted() {} });
  const write = async (store: ActorStore, id: string) => {
    const context = { now: clock.now() };
    const born = firstStep(definition, { kind: 'thing', id }, null, context);
    await store.commit(born);
    const step = nextStep(definition, born.actor, { type: 'WRITE' }, context);
    if (step !== undefined) await store.commit(step);
  };
  return { first, second, sealer, write, open };
}

test('a node that stops while another one runs records no stop', async (t) => {
  const anchor = memoryAnchor();
  const { first, second, sealer, write } = await twoNodes(anchor);
  await write(first, 'a');
  await write(second, 'b');
  await sealer.stop();
  await first.close();
  await write(second, 'c');
  const verified = await verifyHistory(second, { kinds: KINDS, anchors: anchor.all });
  t.like(verified, { fault: undefined, uncovered: 1 });
  t.is((await verifyHistory(second, { kinds: KINDS })).fault, undefined, 'without an anchor');
});

test('the last node records its stop, with what others had committed', async (t) => {
  const anchor = memoryAnchor();
  const { first, second, sealer, write } = await twoNodes(anchor);
  await write(second, 'b');
  await second.close();
  await sealer.stop();
  t.true(anchor.all().every(({ stopped }) => stopped));
  t.like(await verifyHistory(first, { kinds: KINDS, anchors: anchor.all }), {
    fault: undefined,
    uncovered: 0,
  });
});

test('a stop is withdrawn where another node has started meanwhile', async (t) => {
  const anchor = memoryAnchor();
  const { first, second, sealer, open } = await twoNodes(anchor);
  await second.close();
  const { commit } = first;
  let third: ActorStore | undefined;
  Object.assign(first, {
    commit: async (step: Parameters<ActorStore['commit']>[0]) => {
      if (step.actor.state === 'Stopped') third = await open('third');
      return commit(step);
    },
  });
  await sealer.stop();
  t.truthy(third);
  t.false(await sealer.isRecordedAsStopped());
  t.false(anchor.all().some(({ stopped }) => stopped));
});

test('the record of a stop ends with the next start, also with another key and before a checkpoint', async (t) => {
  const anchor = memoryAnchor();
  const store = new MemoryStore();
  const before = await historyFixture(store, privateKey, anchor);
  await before.tell('a', BORN, 'WRITE');
  await before.sealer.stop();
  t.true(anchor.all().every(({ stopped }) => stopped));
  const { tell } = await historyFixture(store, generateKeyPairSync('ed25519').privateKey, anchor);
  await tell('a', 'WRITE');
  t.is((await verifyHistory(store, { kinds: KINDS, anchors: anchor.all })).fault, undefined);
  // A folder of keys that cannot be written would keep the record.
  await before.sealer.stop();
  const unwritable = { ...anchor, keep: () => fail('read-only') };
  await t.throwsAsync(historyFixture(store, privateKey, unwritable), { message: 'read-only' });
});

function fail(message: string): never {
  throw new Error(message);
}

type RowsQuery = Parameters<ActorStore['rows']>[0];

/** Reads from a store, and does something once before rows are read. */
function readerThat(store: ActorStore, isDue: (query: RowsQuery) => boolean, act: () => Promise<unknown>) {
  let isDone = false;
  const first = async (query: RowsQuery) => {
    if (isDone || !isDue(query)) return;
    isDone = true;
    await act();
  };
  const reader: Parameters<typeof verifyHistory>[0] = {
    effects: (query) => store.effects(query),
    timers: (query) => store.timers(query),
    counters: (prefix) => store.counters(prefix),
    names: (query) => store.names(query),
    load: (address) => store.load(address),
    actors: (query) => store.actors(query),
    journal: (address, range) => store.journal(address, range),
    rows: async (query) => {
      await first(query);
      return store.rows(query);
    },
  };
  return reader;
}

test('a service that is stopped, or that seals a deletion, during a verification is no fault', async (t) => {
  const anchor = memoryAnchor();
  const store = new MemoryStore();
  const { tell, sealer } = await historyFixture(store, privateKey, anchor);
  await tell('a', BORN, 'WRITE');
  await tell('b', BORN, 'WRITE');
  await sealer.seal();
  await tell('a', 'WRITE');
  // The actors were read before it.
  const stopping = readerThat(
    store,
    ({ view, prefix }) => view === CHECKPOINTS_VIEW && prefix?.length === 0,
    () => sealer.stop(),
  );
  const rowsOf = () => [];
  const { fault } = await verifyHistory(stopping, { kinds: KINDS, rowsOf, anchors: () => anchor.all() });
  t.is(fault, undefined);
  const next = await historyFixture(store, privateKey, anchor);
  await next.tell('b', 'END');
  // Between the reads of both places where the deletion may be noted.
  let reads = 0;
  const sealing = readerThat(
    store,
    ({ view }) => (view === 'history-deletions' || view === 'history-unsealed') && ++reads === 2,
    () => next.sealer.seal(),
  );
  t.is((await verifyHistory(sealing, { kinds: KINDS })).fault, undefined);
  t.true(reads >= 2);
});
