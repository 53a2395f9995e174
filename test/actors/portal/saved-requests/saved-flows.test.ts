import { type ActorView, defineActor, systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { BRANDING } from '../../../../actors/portal/branding/branding.ts';
import {
  cancelDraftDocumentsHandler,
  DRAFT,
  Drafts,
} from '../../../../actors/portal/saved-requests/drafts.ts';
import {
  MARKS_SESSION,
  MarksSessionService,
} from '../../../../actors/portal/saved-requests/marks-sessions.ts';
import { SAVED_FLOW, SavedFlowService } from '../../../../actors/portal/saved-requests/saved-flows.ts';
import { Records } from '../../../../actors/portal/shared/records.ts';
import { blobCounters } from '../../../../actors/portal/uploads/blobs.ts';
import type { StoredUpload } from '../../../../actors/portal/uploads/uploads.ts';
import { PortalRefusal } from '../../../../machines/portal/portal-refusals.ts';
import { type RecordMessage, recordMachine } from '../../../../machines/record.ts';
import { newTenant, portalStoreFixture } from '../uploads/upload-harness.ts';

async function savedFlowFixture(t: ExecutionContext, earlier: { readonly root?: string } = {}) {
  const handlers = [cancelDraftDocumentsHandler({ idsOf: () => [] })];
  const definitions = [SAVED_FLOW, DRAFT, MARKS_SESSION, BRANDING];
  const it = await portalStoreFixture(t, { ...earlier, definitions, handlers });
  const { store, clock, uploads, tenants } = it;
  const runtime = { actors: it.runtime, store, clock, ids: systemIds };
  return {
    ...it,
    records: new Records(runtime, { actor: SAVED_FLOW, notFound: 'DocumentFlowNotFound' }),
    drafts: new Drafts(runtime, uploads, { create: async () => [] }),
    flows: new SavedFlowService(runtime, { create: async () => [] }),
    sessions: new MarksSessionService(runtime, uploads, tenants, () => 'https://sign.example'),
  };
}

const BODY = {
  name: 'Contract',
  areActionsOrdered: true,
  flowActions: [{ type: 'Signer', user: { name: 'Ana', email: 'ana@example.com' } }],
  observers: [],
};
const PAGE = { limit: 10, offset: 0 };

test('a saved flow is returned as sent, replaced and removed', async (t) => {
  const it = await savedFlowFixture(t);
  const tenant = await newTenant(it, 'Org');
  const item = await it.flows.create(tenant, BODY);
  t.deepEqual(item.createdBy, { id: tenant.application.id, type: 'Application', name: 'Org App' });
  t.deepEqual(await it.flows.get(tenant, item.id), { ...item, ...BODY });
  it.clock.forward(5_000);
  const other = { ...BODY, name: 'Lease', areActionsOrdered: false, observers: [{ user: { name: 'Bo' } }] };
  await it.flows.replace(tenant, item.id, other);
  const replaced = await it.flows.get(tenant, item.id);
  t.like(replaced, { name: 'Lease', areActionsOrdered: false, creationDate: item.creationDate });
  t.true(replaced.updateDate > item.updateDate);
  t.deepEqual((await it.flows.list(tenant, { ...PAGE, q: 'contract' })).totalCount, 0);
  t.deepEqual((await it.flows.list(tenant, { ...PAGE, q: 'LEASE' })).items[0]?.id, item.id);
  await it.flows.remove(tenant, item.id);
  await t.throwsAsync(it.flows.get(tenant, item.id), { code: 'DocumentFlowNotFound' });
  t.deepEqual(await it.flows.list(tenant, PAGE), { items: [], totalCount: 0 });
});

test('a saved flow of another organization is unknown', async (t) => {
  const it = await savedFlowFixture(t);
  const mine = await newTenant(it, 'Mine');
  const { id } = await it.flows.create(await newTenant(it, 'Theirs'), BODY);
  const notFound = { code: 'DocumentFlowNotFound' };
  await t.throwsAsync(it.flows.get(mine, id), notFound);
  await t.throwsAsync(it.flows.replace(mine, id, BODY), notFound);
  await t.throwsAsync(it.flows.remove(mine, id), notFound);
  await t.throwsAsync(it.flows.get(mine, 'nonsense'), notFound);
  t.is((await it.flows.list(mine, PAGE)).totalCount, 0);
});

test('saved flows without a name or over the size limit are refused', async (t) => {
  const it = await savedFlowFixture(t);
  const tenant = await newTenant(it, 'Org');
  await t.throwsAsync(it.flows.create(tenant, { ...BODY, name: ' ' }), { code: 'BadRequest' });
  const flowActions = ['x'.repeat(300_000)];
  await t.throwsAsync(it.flows.create(tenant, { ...BODY, flowActions }), { code: 'LimitExceeded' });
});

test('a request that another node has made meanwhile returns its record, also if it is refused here', async (t) => {
  const it = await savedFlowFixture(t);
  const tenant = await newTenant(it, 'Org');
  const refuse = async () => {
    throw new PortalRefusal('LimitExceeded');
  };
  await t.throwsAsync(it.records.create(tenant, 'seed', refuse), { code: 'LimitExceeded' });
  let made = '';
  const { id } = await it.records.create(tenant, 'seed', async () => {
    made = (await it.flows.create(tenant, BODY, 'seed')).id;
    return refuse();
  });
  t.is(id, made);
  t.is((await it.flows.list(tenant, PAGE)).totalCount, 1);
});

/** The actors of a kind as the program stored them whose content stood beside the dates. */
function earlierActors(kind: string, view: string, version: number) {
  return defineActor(kind, {
    machine: recordMachine<StoredBefore, RecordMessage>({
      id: kind,
      state: 'Saved',
      context: (stored) => stored,
      changes: {},
    }),
    version,
    rows: ({ id, context: { organizationId, creationDate, name } }: ActorView<StoredBefore>) => [
      { view, key: [organizationId, creationDate, id], value: { id, name } },
    ],
    counters: ({ context: { organizationId, uploads } }: ActorView<StoredBefore>) => ({
      [`${view}/${organizationId}`]: 1,
      ...blobCounters(uploads?.map(({ blob }) => blob) ?? []),
    }),
  });
}

interface StoredBefore {
  readonly organizationId: string;
  readonly name: string;
  readonly creationDate: number;
  readonly uploads?: readonly StoredUpload[];
}

test('a saved flow and a draft that an earlier program stored are answered, changed and removed', async (t) => {
  const flowBefore = earlierActors('saved-flow', 'saved-flows', 1);
  const draftBefore = earlierActors('draft', 'drafts', 4);
  const was = await portalStoreFixture(t, { definitions: [flowBefore, draftBefore] });
  const tenant = await newTenant(was, 'Org');
  const { id: organizationId } = tenant.organization;
  const sink = await was.uploads.open();
  await sink.write(Buffer.from('%PDF-1.7'));
  const given = { name: 'a.pdf', contentType: 'application/pdf' };
  const upload = await was.uploads.accept(tenant, sink, given);
  const uploads = await was.uploads.findUploads(organizationId, [upload.id]);
  const createdBy = { id: tenant.application.id, type: 'Application', name: 'Org App' } as const;
  const dates = { organizationId, createdBy, creationDate: 5, updateDate: 7 };
  const flow = systemIds.uuid();
  const draft = systemIds.uuid();
  await was.runtime.create(flowBefore, flow, { ...dates, ...BODY });
  const document = { files: [{ id: upload.id, displayName: 'A', ...given }], flowActions: BODY.flowActions };
  const members = { name: 'Draft', document, uploads, sent: null, calls: [] };
  await was.runtime.create(draftBefore, draft, { ...dates, ...members });
  await was.close();

  const it = await savedFlowFixture(t, { root: was.root });
  const shown = { createdBy, creationDate: 5, updateDate: 7 };
  t.deepEqual(await it.flows.get(tenant, flow), { id: flow, ...shown, ...BODY });
  t.deepEqual((await it.flows.list(tenant, PAGE)).items, [{ id: flow, name: BODY.name, ...shown }]);
  const item = { id: draft, name: 'Draft', status: 'Saved', ...shown };
  t.deepEqual(await it.drafts.get(tenant, draft), { ...item, document, documents: [] } as never);
  t.deepEqual(Object.keys(await it.drafts.locations(tenant, draft)), [upload.id]);
  it.clock.forward(9);
  await it.flows.replace(tenant, flow, { ...BODY, name: 'Other' });
  t.like((await it.flows.list(tenant, { ...PAGE, q: 'other' })).items[0], { id: flow, creationDate: 5 });
  t.deepEqual(await it.drafts.send(tenant, draft), []);
  t.is((await it.drafts.list(tenant, PAGE)).totalCount, 0);
  await it.flows.remove(tenant, flow);
  t.is((await it.flows.list(tenant, PAGE)).totalCount, 0);
});

test('a marks session shows its files without a key for an hour', async (t) => {
  const it = await savedFlowFixture(t);
  const tenant = await newTenant(it, 'Org');
  const sink = await it.uploads.open();
  await sink.write(Buffer.from('%PDF-1.7'));
  const file = { name: 'a.pdf', contentType: 'application/pdf' };
  const { id: upload } = await it.uploads.accept(tenant, sink, file);
  const data = { files: [{ id: upload, ...file }], flowActions: [{ type: 'Signer' }] };
  const { id, embedUrl } = await it.sessions.create(tenant, [{ id: upload, ...file }], data);
  t.is(embedUrl, `https://sign.example/position-marks/${id}?v=1`);
  const session = await it.sessions.get(id);
  t.deepEqual(session.data, data);
  const [shown] = session.files;
  t.is(shown?.id, upload);
  t.is((await it.uploads.preview(shown?.location.split('=')[1] ?? '')).length, 8);
  it.clock.forward(60 * 60_000 + 1);
  await t.throwsAsync(it.sessions.get(id), { code: 'MarksSessionNotFound' });
  await it.settle(async () => (await it.runtime.read(MARKS_SESSION, id)) === undefined);
});

test('a marks session needs files of its own organization', async (t) => {
  const it = await savedFlowFixture(t);
  const mine = await newTenant(it, 'Mine');
  const theirs = await newTenant(it, 'Theirs');
  const sink = await it.uploads.open();
  await sink.write(Buffer.from('secret'));
  const file = { name: 'a.pdf', contentType: 'application/pdf' };
  const { id } = await it.uploads.accept(theirs, sink, file);
  await t.throwsAsync(it.sessions.create(mine, [{ id, ...file }], {}), { code: 'UploadNotFound' });
  await t.throwsAsync(it.sessions.get('nonsense'), { code: 'MarksSessionNotFound' });
});
