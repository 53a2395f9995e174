/** Files that go while they are offered, as the input of a job that ends on another node does. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ActorStore } from '@sealwright/runtime';
import test from 'ava';
import { batchFixture } from '../batch-harness.ts';

/** A store that does something before it reads rows of paths. */
const beforePathsAreRead =
  (act: () => Promise<void>) =>
  (store: ActorStore): ActorStore =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (name !== 'rows') return member.bind(target);
        return async (query: Parameters<ActorStore['rows']>[0]) => {
          if (query.view === 'paths') await act();
          return target.rows(query);
        };
      },
    });

test('a file that its job has removed since a rescan listed it gets no second job', async (t) => {
  let path = '';
  const fixture = await batchFixture(t, {
    start: false,
    wrapStore: beforePathsAreRead(async () => {
      if (path !== '') await rm(path, { force: true });
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
    wrapStore: beforePathsAreRead(async () => {
      if (path === '' || removal !== undefined) return;
      removal = rm(path);
      await removal;
      removed();
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
