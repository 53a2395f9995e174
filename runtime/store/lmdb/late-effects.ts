/** Finds effects whose due time is too far in the future, because the wall clock was set back. */

import { AFTER_ALL_TEXT } from '../../model/keys.ts';
import type { ActorStore, Millis, StoredEffect } from '../../model/ports.ts';
import { readEffect, type Tables } from './lmdb-tables.ts';

/** Partitions read at once. */
const PAGE_SIZE = 64;

/** Returns all effects that are due after `now`, of all partitions. */
export async function effectsDueAfter(
  { due, partitions }: Pick<Tables, 'due' | 'partitions'>,
  store: Pick<ActorStore, 'partitions'>,
  now: Millis,
): Promise<readonly StoredEffect[]> {
  const found: StoredEffect[] = [];
  for (const { key, value } of due.getRange({ start: [now, AFTER_ALL_TEXT] }))
    found.push(readEffect(key, value));
  let after: string | undefined;
  do {
    const page = await store.partitions({
      prefix: '',
      ...(after !== undefined && { after }),
      limit: PAGE_SIZE,
    });
    for (const { partition } of page) {
      const range = partitions.getRange({
        start: [partition, now, AFTER_ALL_TEXT],
        end: [partition, AFTER_ALL_TEXT],
      });
      for (const { key, value } of range) found.push(readEffect(key.slice(1), value, partition));
    }
    after = page.at(-1)?.partition;
  } while (after !== undefined);
  return found;
}
