import { defineActor, Faults, systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { assign, setup } from 'xstate';
import type { Tenant } from '../../../../actors/portal/api.ts';
import { emptyFolderHandler } from '../../../../actors/portal/folders/empty-folder.ts';
import { FOLDER, Folders } from '../../../../actors/portal/folders/folders.ts';
import { StepWaits } from '../../../../actors/shared/coordination/step-waits.ts';
import type { DocumentId, FolderId } from '../../../../machines/ids.ts';
import { reached } from '../../../project/waiting.ts';
import { newTenant, type PortalStoreFixture, portalStoreFixture } from '../uploads/upload-harness.ts';

/** As much of a document as a folder has to do with. */
const paper = defineActor('paper', {
  version: 1,
  machine: setup({
    types: {
      context: {} as { folderId: string | null; organizationId: string; action?: string },
      input: {} as { folderId: string | null; organizationId: string },
      events: {} as { type: 'MOVE'; folderId: string | null } | { type: 'DELETE'; action: string },
    },
  }).createMachine({
    id: 'paper',
    context: ({ input }) => input,
    initial: 'Pending',
    states: {
      Pending: {
        on: {
          MOVE: { actions: assign(({ event }) => ({ folderId: event.folderId })) },
          DELETE: { target: 'Deleted' },
        },
      },
      Deleted: {},
    },
  }),
  rows: ({ id, state, context }) =>
    state === 'Pending' && context.folderId !== null
      ? [{ view: 'papers', key: [context.organizationId, context.folderId, id], value: id }]
      : [],
});

async function folderFixture(
  t: ExecutionContext,
  root?: string,
): Promise<PortalStoreFixture & { readonly folders: Folders }> {
  let waits: StepWaits | undefined;
  const it: PortalStoreFixture = await portalStoreFixture(t, {
    ...(root !== undefined && { root }),
    definitions: [FOLDER, paper],
    handlers: [
      emptyFolderHandler(
        {
          get store() {
            return it.store;
          },
          faults: new Faults(),
        },
        async (store, organization, folder, limit) =>
          (await store.rows({ view: 'papers', prefix: [organization, folder], limit })).map(
            ({ value }) => value as DocumentId,
          ),
        paper,
      ),
    ],
    observe: (step) => waits?.observe(step),
  });
  const { runtime: actors, store, clock, lists } = it;
  waits = new StepWaits(clock);
  const folders = new Folders({ actors, store, clock, ids: systemIds }, lists, waits);
  return { ...it, folders };
}

async function papers(
  it: PortalStoreFixture,
  tenant: Tenant,
  folderId: FolderId,
  count: number,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  const organizationId = tenant.organization.id;
  await Promise.all(ids.map((id) => it.runtime.create(paper, id, { folderId, organizationId })));
  return ids;
}

const ALL = { limit: 100, offset: 0 } as const;

async function names(it: { readonly folders: Folders }, tenant: Tenant, query: object = {}) {
  const { items, totalCount } = await it.folders.list(tenant, { ...ALL, ...query });
  return [totalCount, ...items.map(({ name }) => name)];
}

test('folders are listed by level, by part of their name and in both orders, with exact totals', async (t) => {
  const it = await folderFixture(t);
  const tenant = await newTenant(it, 'Org');
  const a = await it.folders.create(tenant, ' Alpha ', null);
  it.clock.forward(1);
  const b = await it.folders.create(tenant, 'Beta', a.id);
  it.clock.forward(1);
  await it.folders.create(tenant, 'Alphabet', b.id);
  t.deepEqual(b, { id: b.id, name: 'Beta', parentId: a.id });
  t.deepEqual(await it.folders.get(tenant, b.id.toUpperCase() as FolderId), b);
  t.deepEqual(await names(it, tenant), [3, 'Alpha', 'Beta', 'Alphabet']);
  t.deepEqual(await names(it, tenant, { order: 'Desc', limit: 1, offset: 1 }), [3, 'Beta']);
  t.deepEqual(await names(it, tenant, { filterByParent: true }), [1, 'Alpha']);
  t.deepEqual(await names(it, tenant, { filterByParent: true, parentId: a.id }), [1, 'Beta']);
  t.deepEqual(await names(it, tenant, { q: 'aLPHA' }), [2, 'Alpha', 'Alphabet']);
  t.deepEqual(await names(it, tenant, { q: 'alpha', limit: 1, offset: 1 }), [2, 'Alphabet']);
  t.deepEqual(await names(it, tenant, { limit: 10, offset: 5 }), [3]);
});

test('a folder of another organization is unknown', async (t) => {
  const it = await folderFixture(t);
  const mine = await newTenant(it, 'Mine');
  const theirs = await newTenant(it, 'Theirs');
  const { id } = await it.folders.create(theirs, 'Secret', null);
  t.deepEqual(await names(it, mine), [0]);
  for (const other of [id, crypto.randomUUID() as FolderId, 'x' as FolderId]) {
    await t.throwsAsync(it.folders.get(mine, other), { code: 'FolderNotFound' });
    await t.throwsAsync(it.folders.create(mine, 'Inside', other), { code: 'FolderNotFound' });
    await t.throwsAsync(it.folders.remove(mine, other, { deleteAction: 'DeleteContent' }), {
      code: 'FolderNotFound',
    });
    t.is(await it.folders.find(mine.organization.id, other), undefined);
  }
  const own = await it.folders.create(mine, 'Own', null);
  await t.throwsAsync(
    it.folders.remove(mine, own.id, { deleteAction: 'MoveContent', destinationFolderId: id }),
    { code: 'FolderNotFound' },
  );
  t.deepEqual(await names(it, theirs), [1, 'Secret']);
});

test('invalid names of folders are refused', async (t) => {
  const it = await folderFixture(t);
  const tenant = await newTenant(it, 'Org');
  for (const name of ['', '   ', 'a\u0000b', 'x'.repeat(256)]) {
    await t.throwsAsync(it.folders.create(tenant, name, null), { code: 'BadRequest' });
  }
  t.is((await it.folders.create(tenant, '..|/<script>', null)).name, '..|/<script>');
});

test('requests for one name get one folder, also concurrently, and a new one after its removal', async (t) => {
  const it = await folderFixture(t);
  const tenant = await newTenant(it, 'Org');
  const other = await newTenant(it, 'Other');
  const named = await Promise.all(Array.from({ length: 20 }, () => it.folders.named(tenant, 'New')));
  t.is(new Set(named.map(({ id }) => id)).size, 1);
  t.deepEqual(await names(it, tenant), [1, 'New']);
  t.not((await it.folders.named(other, 'New')).id, named[0]?.id);
  const there = await it.folders.create(tenant, 'There', null);
  // A folder of this name may be made again, and the first one goes on to take documents.
  await it.folders.create(tenant, 'There', null);
  const inside = await it.folders.create(tenant, 'Inside', there.id);
  t.is((await it.folders.named(tenant, ' There ')).id, there.id);
  t.not((await it.folders.named(tenant, 'Inside')).id, inside.id);
  await it.folders.remove(tenant, there.id, { deleteAction: 'DeleteContent' });
  t.not((await it.folders.named(tenant, 'There')).id, there.id);
  await t.throwsAsync(it.folders.named(tenant, 'a\u0000'), { code: 'BadRequest' });
});

test('a root folder stored before folders had names is found by its name', async (t) => {
  const it = await folderFixture(t);
  const tenant = await newTenant(it, 'Org');
  const id = crypto.randomUUID() as FolderId;
  const context = { organizationId: tenant.organization.id, name: 'Old', parentId: null, createdAt: 1 };
  await it.runtime.create(FOLDER, id, context);
  t.is((await it.folders.named(tenant, 'Old')).id, id);
});

test('removal of a folder moves its content to the destination', async (t) => {
  const it = await folderFixture(t);
  it.runtime.start();
  const tenant = await newTenant(it, 'Org');
  const gone = await it.folders.create(tenant, 'Gone', null);
  const inner = await it.folders.create(tenant, 'Inner', gone.id);
  const target = await it.folders.create(tenant, 'Target', null);
  const ids = await papers(it, tenant, gone.id, 150);
  const kept = await papers(it, tenant, inner.id, 2);
  await it.folders.remove(tenant, gone.id, { deleteAction: 'MoveContent', destinationFolderId: target.id });
  // The answer comes after two seconds, also where the work goes on.
  await reached(async () => (await it.runtime.read(FOLDER, gone.id)) === undefined);
  t.is((await it.folders.get(tenant, inner.id)).parentId, target.id);
  for (const id of ids) {
    t.is((await it.runtime.read(paper, id))?.context.folderId, target.id);
  }
  for (const id of kept) {
    t.is((await it.runtime.read(paper, id))?.context.folderId, inner.id);
  }
  t.deepEqual(await names(it, tenant, { filterByParent: true, parentId: target.id }), [1, 'Inner']);
});

test('removal of a folder with its content deletes the documents of all nested folders', async (t) => {
  const it = await folderFixture(t);
  it.runtime.start();
  const tenant = await newTenant(it, 'Org');
  const gone = await it.folders.create(tenant, 'Gone', null);
  const inner = await it.folders.create(tenant, 'Inner', gone.id);
  const innermost = await it.folders.create(tenant, 'Innermost', inner.id);
  const ids = [
    ...(await papers(it, tenant, gone.id, 70)),
    ...(await papers(it, tenant, inner.id, 3)),
    ...(await papers(it, tenant, innermost.id, 3)),
  ];
  await it.folders.remove(tenant, gone.id, { deleteAction: 'DeleteContent' });
  const states = async () => Promise.all(ids.map(async (id) => (await it.runtime.read(paper, id))?.state));
  await it.settle(async () => (await states()).every((state) => state === 'Deleted'));
  await it.settle(async () => (await it.runtime.read(FOLDER, innermost.id)) === undefined);
  t.deepEqual(await names(it, tenant), [0]);
});

test('a folder is not moved into itself', async (t) => {
  const it = await folderFixture(t);
  const tenant = await newTenant(it, 'Org');
  const outer = await it.folders.create(tenant, 'Outer', null);
  const inner = await it.folders.create(tenant, 'Inner', outer.id);
  for (const destination of [outer.id, inner.id]) {
    await t.throwsAsync(
      it.folders.remove(tenant, outer.id, { deleteAction: 'MoveContent', destinationFolderId: destination }),
      {
        code: 'BadRequest',
      },
    );
  }
  t.deepEqual(await names(it, tenant), [2, 'Outer', 'Inner']);
});

test('an acknowledged removal is completed after a restart', async (t) => {
  const it = await folderFixture(t);
  const tenant = await newTenant(it, 'Org');
  const gone = await it.folders.create(tenant, 'Gone', null);
  const ids = await papers(it, tenant, gone.id, 5);
  // The runtime was not started: nothing of the stored work is done in this life.
  await it.folders.remove(tenant, gone.id, { deleteAction: 'MoveContent' });
  t.deepEqual(await names(it, tenant), [0]);
  await t.throwsAsync(it.folders.get(tenant, gone.id), { code: 'FolderNotFound' });
  await it.close();
  const again = await folderFixture(t, it.root);
  await again.settle(async () => (await again.runtime.read(FOLDER, gone.id)) === undefined);
  for (const id of ids) {
    t.is((await again.runtime.read(paper, id))?.context.folderId, null);
  }
});
