/** The state index on disk, written late: what its notes are worth. */

import { seededIds } from '@sealwright/runtime/testing';
import test from 'ava';
import { stateIndexEntryOf } from '#runtime/step/derive.js';
import { type Move, StateIndexWriter, settlePending } from '#runtime/store/lmdb/lmdb-changes.js';
import {
  openTables,
  readCounters,
  readRows,
  type Tables,
  transact,
} from '#runtime/store/lmdb/lmdb-tables.js';
import { roundsOf } from '../../project/rounds.ts';
import { folderFor } from '../folder.ts';

const STATES = ['Queued', 'Processing', 'Completed'];

type Places = Map<string, { readonly version: number; readonly state: string }>;

const placeIn = (places: Places, id: string): Move['to'] => {
  const found = places.get(id);
  return found ? stateIndexEntryOf(found) : null;
};

/** Everything rows and counters should say, and what they say. */
function indexContents(tables: Tables, places: Places) {
  const counted: { [name: string]: number } = {};
  for (const { version, state } of places.values()) {
    const name = `actors/job/${version}/${state}`;
    counted[name] = (counted[name] ?? 0) + 1;
  }
  const rows = readRows(tables, { view: 'actors', limit: 1000 });
  return {
    expected: [[...places].map(([id, { state }]) => `job/${state}/${id}`).sort(), counted],
    found: [rows.map(({ key }) => key.join('/')).sort(), readCounters(tables, 'actors/')],
  };
}

function notes(tables: Tables): number {
  return [...tables.meta.getKeys({ start: ['unsettled'], end: ['unsettled', '~'] })].length;
}

const TURNS = roundsOf(450, 1500);

test('the state index equals a count of all actors after any crash and any failed transaction', async (t) => {
  const tables = openTables(folderFor(t));
  t.teardown(() => tables.root.close());
  const dice = seededIds(7);
  const roll = (limit: number) => dice.bytes(4).readUInt32LE() % limit;
  const places: Places = new Map();
  let census = new StateIndexWriter(tables, 20);
  let compared = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    const next: Places = new Map(places);
    const moves: Move[] = [];
    for (let n = roll(8); n > 0; n -= 1) {
      const id = `j/${roll(60)}`;
      const to = roll(5) === 0 ? null : { version: 1 + roll(2), state: STATES[roll(3)] ?? '' };
      const from = placeIn(next, id);
      if (to === null) next.delete(id);
      else next.set(id, to);
      moves.push({ actor: ['job', id], from, to: placeIn(next, id) });
    }
    const fails = roll(6) === 0;
    const settles = roll(12) === 0;
    try {
      let committed = (): void => {};
      transact(tables, () => {
        for (const { actor } of moves) {
          const place = next.get(String(actor[1]));
          if (place === undefined) void tables.actors.remove(actor);
          else void tables.actors.put(actor, JSON.stringify(place), 1);
        }
        committed = census.write(moves, settles);
        if (fails) throw new Error('the disk is full');
      });
      committed();
      places.clear();
      for (const [id, place] of next) places.set(id, place);
    } catch {
      t.true(fails);
      continue;
    }
    const crashes = roll(25) === 0;
    if (crashes) {
      settlePending(tables);
      settlePending(tables);
      census = new StateIndexWriter(tables, 20);
    }
    if (!settles && !crashes) continue;
    const { expected, found } = indexContents(tables, places);
    t.deepEqual(found, expected, `turn ${turn}`);
    t.is(notes(tables), 0);
    compared += 1;
  }
  t.true(compared > TURNS / 15);
});

test('moves of many actors are compacted, and an actor that alternates between states adds no row', (t) => {
  const tables = openTables(folderFor(t));
  t.teardown(() => tables.root.close());
  const census = new StateIndexWriter(tables, 100);
  const move = (id: number, from: Move['from'], to: Move['to']): void => {
    let committed = (): void => {};
    transact(tables, () => {
      committed = census.write([{ actor: ['job', `j${id}`], from, to }], false);
    });
    committed();
  };
  const queued = '1/Queued';
  const done = '1/Done';
  for (let turn = 0; turn < 50; turn += 1) {
    move(1, turn === 0 ? null : done, queued);
    move(1, queued, done);
  }
  t.is(notes(tables), 1);
  t.deepEqual(readRows(tables, { view: 'actors', limit: 9 }), []);
  for (let id = 2; id <= 150; id += 1) move(id, null, queued);
  t.is(notes(tables), 100);
  t.deepEqual(readCounters(tables, 'actors/'), { 'actors/job/1/Done': 1, 'actors/job/1/Queued': 49 });
});
