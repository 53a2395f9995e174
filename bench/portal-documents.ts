/** Stores copies of one document under new ids and keys, with all its rows. */

import { type Step, type StoredActor, systemIds } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { stateMove } from '#runtime/step/state-index.js';
import { storageLayout } from '../actors/index.ts';
import { documentDefinition } from '../actors/portal/document-records/document-index.ts';
import type { DocumentId } from '../machines/ids.ts';
import type { DocumentContext } from '../machines/portal/document/document-context.ts';

/** Steps per commit. */
const GROUP = 2000;

/**
 * Stores the copies.
 * @param root data folder of a stopped program
 * @param id document to copy
 * @param done receives the number of stored copies
 */
export async function storeCopies(
  root: string,
  id: string,
  count: number,
  done: (stored: number) => void,
): Promise<void> {
  const store = openLmdbStore({ folder: storageLayout(root).db });
  try {
    const model = await store.load({ kind: 'document', id });
    if (model === undefined) throw new Error('The document is not stored.');
    for (let stored = 0; stored < count; stored += GROUP) {
      const length = Math.min(GROUP, count - stored);
      await Promise.all(Array.from({ length }, (_, n) => store.commit(copyOf(model, stored + n))));
      done(stored + length);
    }
  } finally {
    await store.close();
  }
}

function copyOf(model: StoredActor, n: number): Step {
  const id = systemIds.uuid() as DocumentId;
  const before = model.context as unknown as DocumentContext;
  const context = {
    ...before,
    id,
    key: systemIds.bytes(10).toString('hex').toUpperCase(),
    order: before.order - 1 - n,
    name: `Contract ${n}`,
    actions: before.actions.map((action) => ({
      ...action,
      user: action.user && { ...action.user, email: `p${n % 5000}@example.org` },
    })),
  };
  const actor: StoredActor = {
    ...model,
    address: { kind: 'document', id },
    revision: 1,
    context: context as never,
    journalLength: 0,
  };
  const view = { id, state: actor.state, context };
  return {
    actor,
    basedOn: 0,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    names: { take: documentDefinition.names?.(view) ?? [], release: [] },
    rows: { put: documentDefinition.rows?.(view) ?? [], remove: [] },
    counters: documentDefinition.counters?.(view) ?? {},
    moved: stateMove(undefined, actor),
  };
}
