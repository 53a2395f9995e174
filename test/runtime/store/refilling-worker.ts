/**
 * Fills the pages of the store named on the command line, a range at a time, and kills itself while it
 * works on the range after the given one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openLmdbStore } from '@sealwright/runtime/lmdb';

const [, , folder = '', killedAfter = ''] = process.argv;
const store = openLmdbStore({ folder });
let ranges = 0;
const goesOn = async () => {
  ranges += 1;
  if (ranges === Number(killedAfter)) setImmediate(() => process.kill(process.pid, 'SIGKILL'));
  else await nextTurn();
  return true;
};
await store.packing?.refill?.(goesOn);
await store.packing?.refill?.(goesOn);
await store.close();
