/** Fills the pages of the store named on the command line, a range at a time, says so each time, and is killed meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openLmdbStore } from '@sealwright/runtime/lmdb';

const store = openLmdbStore({ folder: process.argv[2] ?? '' });
const goesOn = async () => {
  console.log('range');
  await nextTurn();
  return true;
};
await store.packing?.refill?.(goesOn);
await store.packing?.refill?.(goesOn);
await store.close();
