/** Packs all actors of the store named on the command line, the last ones first, says what is done, and is killed meanwhile. */
import { openLmdbStore } from '@sealwright/runtime/lmdb';

const [, , folder = '', kind = ''] = process.argv;
const store = openLmdbStore({ folder });
const all = await store.actors({ kind, limit: 10_000 });
for (const { address, revision, state } of all.toReversed()) {
  await store.packing?.pack([{ ...address, revision, states: [state] }], 'node', ['node', 1]);
  console.log(address.id);
}
await store.close();
