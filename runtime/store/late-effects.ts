/** Effects that wait for a time which lies too far ahead, because the wall clock was set back. */
import type { ActorStore, Millis, StoredEffect } from '../ports.ts';
import { AFTER_ALL_TEXT } from './keys.ts';
import { readEffect, type Tables } from './lmdb-tables.ts';

/** Lanes read at once. */
const PIECE = 64;

/** All that are due after `now`, with those of all lanes. */
export async function effectsDueAfter(
  { due, lanes }: Pick<Tables, 'due' | 'lanes'>,
  store: Pick<ActorStore, 'lanes'>,
  now: Millis,
): Promise<readonly StoredEffect[]> {
  const found: StoredEffect[] = [];
  for (const { key, value } of due.getRange({ start: [now, AFTER_ALL_TEXT] }))
    found.push(readEffect(key, value));
  let after: string | undefined;
  do {
    const piece = await store.lanes({ prefix: '', ...(after !== undefined && { after }), limit: PIECE });
    for (const { lane } of piece) {
      const range = lanes.getRange({ start: [lane, now, AFTER_ALL_TEXT], end: [lane, AFTER_ALL_TEXT] });
      for (const { key, value } of range) found.push(readEffect(key.slice(1), value, lane));
    }
    after = piece.at(-1)?.lane;
  } while (after !== undefined);
  return found;
}
