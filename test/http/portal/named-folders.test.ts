/** Documents created and moved with a `newFolderName`, over HTTP. Source: docs/portal-values.md §§5, 16. */
import test from 'ava';
import { sharedProgram } from '../../actors/portal/service.ts';

const FLOW = [{ user: { name: 'Ana', email: 'ana@example.org' } }];

test('documents with equal new folder names are in one folder, also when they are created concurrently', async (t) => {
  const { acme } = await sharedProgram(t);
  const made = await Promise.all(
    Array.from({ length: 4 }, () => acme.create(FLOW, { newFolderName: 'Letters' })),
  );
  const later = await acme.create(FLOW);
  await acme.post(`/api/documents/${later}/folder`, { newFolderName: 'Letters' });
  const batch = await acme.create(FLOW);
  await acme.post('/api/documents/batch/folder', { documents: [batch], newFolderName: 'Letters' });
  const folders = await acme.get<{ items: { id: string; name: string }[] }>('/api/folders');
  t.deepEqual(
    folders.items.map(({ name }) => name),
    ['Letters'],
  );
  const inside = await acme.get<{ items: { id: string }[] }>(
    `/api/documents?folderId=${folders.items[0]?.id ?? ''}`,
  );
  t.deepEqual(inside.items.map(({ id }) => id).sort(), [...made, later, batch].sort());
  // A folder that is made by itself may have a name that is taken.
  await acme.post('/api/folders', { name: 'Letters' });
  t.is((await acme.get<{ totalCount: number }>('/api/folders')).totalCount, 2);
});
