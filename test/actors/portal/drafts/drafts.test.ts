/** Calls that send one draft at the same time, on several nodes. */
import test from 'ava';
import type { CreateDocuments } from '../../../../actors/portal/api.ts';
import { Drafts } from '../../../../actors/portal/drafts/drafts.ts';
import { PortalRefusal } from '../../../../machines/portal/portal-refusals.ts';
import { systemIds } from '../../../../runtime/index.ts';
import { type PortalFixture, portalFixture, signer } from '../documents/flow-harness.ts';
import { movableClock } from '../uploads/upload-harness.ts';

const clock = movableClock();
let fixture: PortalFixture;

const ends: (() => unknown)[] = [];

test.before(async () => {
  fixture = await portalFixture({ teardown: (end) => ends.push(end) }, { clock });
});
test.after.always(async () => {
  for (const end of ends) await end();
});

const read = (document: unknown) => document as CreateDocuments;

async function keptDraft(): Promise<string> {
  const files = [await fixture.file('one.pdf'), await fixture.file('two.pdf')];
  const uploadIds = files.map(({ id }) => id);
  const document = { files, flowActions: [signer('Ana')] };
  return (await fixture.portal.drafts.create(fixture.tenant, { name: 'Draft', document, uploadIds })).id;
}

/**
 * Drafts of another node, on the same store, where a rule refuses every creation.
 * @param isBegun false: it looked before the first document was made
 */
function refusingNode(isBegun = true): Drafts {
  return new Drafts({
    ...{
      system: fixture.runtime.system,
      store: fixture.store,
      clock,
      ids: systemIds,
      uploads: fixture.portal.uploads,
    },
    creation: {
      create: () => Promise.reject(new PortalRefusal('FolderNotFound')),
      isBegun: () => Promise.resolve(isBegun),
      idsOf: () => [],
    },
  });
}

async function stateOf(id: string): Promise<string> {
  return (await fixture.portal.drafts.get(fixture.tenant, id)).status;
}

async function countOfDocuments(): Promise<number> {
  const page = { limit: 1, offset: 0, newestFirst: true };
  return (await fixture.portal.documents.list(fixture.tenant, page)).totalCount;
}

function begin(id: string, call: string) {
  return fixture.runtime.system.send({ kind: 'draft', id }, { type: 'SEND', call });
}

test.serial('a refusal on one node does not cancel the documents of a call on another node', async (t) => {
  const id = await keptDraft();
  const other = refusingNode();
  let during: unknown;
  fixture.faults.arm('portal.create.some', async () => {
    during = await other.send(fixture.tenant, id, read).catch((error) => error.code);
  });
  const sent = await fixture.portal.drafts.send(fixture.tenant, id, read);
  t.is(during, 'FolderNotFound');
  t.deepEqual(await other.send(fixture.tenant, id, read), sent, 'the other node returns the same documents');
  t.is(sent.length, 2);
  for (const { documentId } of sent) t.is((await fixture.get(documentId)).status, 'Pending');
});

test.serial('an attempt of a dead node holds the draft for 30 s at most', async (t) => {
  const id = await keptDraft();
  t.true((await begin(id, 'of a dead node')).accepted);
  const node = refusingNode();
  await t.throwsAsync(node.send(fixture.tenant, id, read), { code: 'FolderNotFound' });
  t.is(await stateOf(id), 'Sending');
  clock.forward(30_000);
  await t.throwsAsync(node.send(fixture.tenant, id, read), { code: 'FolderNotFound' });
  t.is(await stateOf(id), 'Saved');
  t.is((await fixture.portal.drafts.send(fixture.tenant, id, read)).length, 2);
});

test.serial('a late call cancels its documents after its attempt was abandoned', async (t) => {
  const id = await keptDraft();
  const node = refusingNode();
  fixture.faults.arm('portal.create.some', async () => {
    clock.forward(30_000);
    await t.throwsAsync(node.send(fixture.tenant, id, read), { code: 'FolderNotFound' });
    t.is(await stateOf(id), 'Saved');
  });
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id, read), {
    code: 'InvalidDocumentStatus',
  });
  const { items } = await fixture.portal.documents.list(fixture.tenant, {
    limit: 2,
    offset: 0,
    newestFirst: true,
  });
  t.deepEqual(
    items.map(({ status }) => status),
    ['Canceled', 'Canceled'],
  );
  t.is((await fixture.portal.drafts.send(fixture.tenant, id, read)).length, 2);
});

test.serial('a late call cancels its documents after a refusal that found no documents', async (t) => {
  const id = await keptDraft();
  fixture.faults.arm('portal.create.some', async () => {
    clock.forward(30_000);
    await t.throwsAsync(refusingNode(false).send(fixture.tenant, id, read), { code: 'FolderNotFound' });
    t.is(await stateOf(id), 'Saved');
  });
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id, read), {
    code: 'InvalidDocumentStatus',
  });
  const { items } = await fixture.portal.documents.list(fixture.tenant, {
    limit: 2,
    offset: 0,
    newestFirst: true,
  });
  t.deepEqual(
    items.map(({ status }) => status),
    ['Canceled', 'Canceled'],
  );
  for (const { documentId } of await fixture.portal.drafts.send(fixture.tenant, id, read))
    t.is((await fixture.get(documentId)).status, 'Pending');
});

for (const [when, isBegun] of [
  ['some of its documents were made', true],
  ['no document was made', false],
] as const)
  test.serial(
    `a slow call cancels what it made of a draft that was refused and removed when ${when}`,
    async (t) => {
      const id = await keptDraft();
      const before = await countOfDocuments();
      fixture.faults.arm('portal.create.some', async () => {
        // It is being sent.
        await t.throwsAsync(fixture.portal.drafts.remove(fixture.tenant, id), {
          code: 'InvalidDocumentStatus',
        });
        clock.forward(30_000);
        await t.throwsAsync(refusingNode(isBegun).send(fixture.tenant, id, read), { code: 'FolderNotFound' });
        await fixture.portal.drafts.remove(fixture.tenant, id);
      });
      await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id, read), {
        code: 'DocumentDraftNotFound',
      });
      await t.throwsAsync(fixture.portal.drafts.get(fixture.tenant, id), { code: 'DocumentDraftNotFound' });
      const { items, totalCount } = await fixture.portal.documents.list(fixture.tenant, {
        limit: 2,
        offset: 0,
        newestFirst: true,
      });
      t.is(totalCount, before + 2);
      t.deepEqual(
        items.map(({ status }) => status),
        ['Canceled', 'Canceled'],
      );
    },
  );

test.serial('at most 16 calls send one draft at the same time', async (t) => {
  const id = await keptDraft();
  for (let call = 0; call < 16; call += 1) t.true((await begin(id, `call ${call}`)).accepted);
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id, read), { code: 'ServiceBusy' });
});
