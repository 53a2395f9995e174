/** Calls that send one draft at the same time, on several nodes. */

import { systemIds } from '@sealwright/runtime';
import test from 'ava';
import { DRAFT, Drafts } from '../../../../actors/portal/saved-requests/drafts.ts';
import { PortalRefusal } from '../../../../machines/portal/portal-refusals.ts';
import { type PortalFixture, portalFixture, signer } from '../documents/flow-harness.ts';
import { until } from '../service.ts';
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

async function keptDraft(): Promise<string> {
  const files = [await fixture.file('one.pdf'), await fixture.file('two.pdf')];
  const request = { files, flowActions: [signer('Ana')] };
  const document = { read: request, sent: request };
  return (await fixture.portal.drafts.create(fixture.tenant, { name: 'Draft', document })).id;
}

/** Drafts of another node, on the same store, where a rule refuses every creation. */
function refusingNode(): Drafts {
  const runtime = { actors: fixture.runtime, store: fixture.store, clock, ids: systemIds };
  return new Drafts(runtime, fixture.portal.uploads, {
    create: () => Promise.reject(new PortalRefusal('FolderNotFound')),
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
  return fixture.runtime.send(DRAFT, id, { type: 'SEND', call });
}

test.serial('a refusal on one node does not cancel the documents of a call on another node', async (t) => {
  const id = await keptDraft();
  const other = refusingNode();
  let during: unknown;
  fixture.faults.arm('portal.create.some', async () => {
    during = await other.send(fixture.tenant, id).catch((error) => error.code);
  });
  const sent = await fixture.portal.drafts.send(fixture.tenant, id);
  t.is(during, 'FolderNotFound');
  t.deepEqual(await other.send(fixture.tenant, id), sent, 'the other node returns the same documents');
  t.is(sent.length, 2);
  for (const { documentId } of sent) t.is((await fixture.get(documentId)).status, 'Pending');
});

test.serial('an attempt of a dead node holds the draft for 30 s at most', async (t) => {
  const id = await keptDraft();
  t.true((await begin(id, 'of a dead node')).accepted);
  const node = refusingNode();
  await t.throwsAsync(node.send(fixture.tenant, id), { code: 'FolderNotFound' });
  t.is(await stateOf(id), 'Sending');
  clock.forward(30_000);
  await t.throwsAsync(node.send(fixture.tenant, id), { code: 'FolderNotFound' });
  t.is(await stateOf(id), 'Saved');
  t.is((await fixture.portal.drafts.send(fixture.tenant, id)).length, 2);
});

/** Resolves once the two newest documents have this status. */
async function untilBoth(status: string): Promise<void> {
  await until(async () => {
    const { items } = await fixture.portal.documents.list(fixture.tenant, {
      limit: 2,
      offset: 0,
      newestFirst: true,
    });
    return items.every((document) => document.status === status) ? true : undefined;
  });
}

test.serial('documents that a late call makes after the end of its attempt are canceled', async (t) => {
  const id = await keptDraft();
  fixture.faults.arm('portal.create.some', async () => {
    clock.forward(30_000);
    await t.throwsAsync(refusingNode().send(fixture.tenant, id), { code: 'FolderNotFound' });
    t.is(await stateOf(id), 'Saved');
  });
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id), {
    code: 'InvalidDocumentStatus',
  });
  await untilBoth('Canceled');
  for (const { documentId } of await fixture.portal.drafts.send(fixture.tenant, id))
    t.is((await fixture.get(documentId)).status, 'Pending');
});

test.serial('documents that a late call makes of a removed draft are canceled', async (t) => {
  const id = await keptDraft();
  const before = await countOfDocuments();
  fixture.faults.arm('portal.create.some', async () => {
    // It is being sent.
    await t.throwsAsync(fixture.portal.drafts.remove(fixture.tenant, id), { code: 'InvalidDocumentStatus' });
    clock.forward(30_000);
    await t.throwsAsync(refusingNode().send(fixture.tenant, id), { code: 'FolderNotFound' });
    await fixture.portal.drafts.remove(fixture.tenant, id);
  });
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id), {
    code: 'DocumentDraftNotFound',
  });
  await t.throwsAsync(fixture.portal.drafts.get(fixture.tenant, id), { code: 'DocumentDraftNotFound' });
  t.is(await countOfDocuments(), before + 2);
  await untilBoth('Canceled');
});

test.serial('a removed draft is stored until the documents of its attempts are canceled', async (t) => {
  const id = await keptDraft();
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  t.teardown(() => go());
  fixture.faults.arm('portal.create.some', 'throw');
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id));
  fixture.faults.arm('effect.leased.before-run/cancelDraftDocuments', () => held);
  await t.throwsAsync(refusingNode().send(fixture.tenant, id), { code: 'FolderNotFound' });
  await fixture.portal.drafts.remove(fixture.tenant, id);
  await t.throwsAsync(fixture.portal.drafts.get(fixture.tenant, id), { code: 'DocumentDraftNotFound' });
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id), {
    code: 'DocumentDraftNotFound',
  });
  const { items } = await fixture.portal.drafts.list(fixture.tenant, {
    limit: 100,
    offset: 0,
    order: 'Desc',
  });
  t.false(items.some((draft) => draft.id === id));
  t.is((await fixture.store.load({ kind: 'draft', id }))?.state, 'Removed');
  go();
  await until(async () =>
    (await fixture.store.load({ kind: 'draft', id })) === undefined ? true : undefined,
  );
  const [made] = (
    await fixture.portal.documents.list(fixture.tenant, { limit: 1, offset: 0, newestFirst: true })
  ).items;
  t.is(made?.status, 'Canceled');
});

test.serial('at most 16 calls send one draft at the same time', async (t) => {
  const id = await keptDraft();
  for (let call = 0; call < 16; call += 1) t.true((await begin(id, `call ${call}`)).accepted);
  await t.throwsAsync(fixture.portal.drafts.send(fixture.tenant, id), { code: 'ServiceBusy' });
});
