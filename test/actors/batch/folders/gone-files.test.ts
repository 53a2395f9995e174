/** Files that go while they are offered, as the input of a job that ends on another node does. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { batchFixture } from '../batch-harness.ts';

test('a file that its job has removed since a rescan listed it gets no second job', async (t) => {
  let path = '';
  const fixture = await batchFixture(t, {
    start: false,
    wrapStore: (store) =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          if (name !== 'rows') return member.bind(target);
          return async (query: Parameters<typeof store.rows>[0]) => {
            if (query.view === 'paths' && path !== '') await rm(path, { force: true });
            return target.rows(query);
          };
        },
      }),
  });
  path = join(fixture.layout.input, 'gone.txt');
  await writeFile(path, 'gone');
  const { totals } = await fixture.batch.folders.rescan(undefined);
  t.is(totals.scanned, 1);
  t.is(totals.enqueued, 0);
});

test('a file that its job has removed since it was sampled gets no second job', async (t) => {
  let removal: Promise<void> | undefined;
  let removed = () => {};
  const isRemoved = new Promise<void>((resolve) => {
    removed = resolve;
  });
  let path = '';
  const fixture = await batchFixture(t, {
    wrapStore: (store) =>
      new Proxy(store, {
        get(target, name) {
          const member: unknown = Reflect.get(target, name);
          if (typeof member !== 'function') return member;
          if (name !== 'rows') return member.bind(target);
          return async (query: Parameters<typeof store.rows>[0]) => {
            if (query.view === 'paths' && path !== '' && removal === undefined) {
              removal = rm(path);
              await removal;
              removed();
            }
            return target.rows(query);
          };
        },
      }),
  });
  path = join(fixture.layout.input, 'gone.txt');
  await writeFile(path, 'gone');
  await isRemoved;
  await writeFile(join(fixture.layout.input, 'stays.txt'), 'stays');
  await fixture.reach('Completed', 1);
  const rows = await fixture.store.rows({ view: 'jobs', limit: 10 });
  t.deepEqual(
    rows.map(({ value }) => (value as { readonly fileName: string }).fileName),
    ['stays.txt'],
  );
});
