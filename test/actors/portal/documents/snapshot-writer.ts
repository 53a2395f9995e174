/** Changes documents and keeps their tables until it is killed. Arguments: folder of the store, of the tables, seed. */
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import { columnsWithSnapshots, StoredDocuments } from './stored-documents.ts';

const [folder = '', root = '', seed = ''] = process.argv.slice(2);
const store = openLmdbStore({ folder });
const columns = await columnsWithSnapshots(store, root);
await columns.prepare(1);
const documents = new StoredDocuments(store, columns, Number(seed));
await documents.load();
for (let round = 0; ; round += 1) {
  await Promise.all([documents.change(10, 25), round % 4 === 0 ? columns.snapshots?.save(0) : undefined]);
  process.stdout.write('round\n');
}
