import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import test from 'ava';
import { MAX_OPEN_UPLOADS } from '../../../../actors/portal/uploads/segmented-uploads.ts';
import { isWhole, SEGMENTED_LIFETIME_MS } from '../../../../machines/portal/segmented-upload.ts';
import { newTenant, type PortalStoreFixture, portalStoreFixture } from './upload-harness.ts';

const CONTENT = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at & 0xff));

async function piece(
  it: PortalStoreFixture,
  ticket: string,
  {
    from,
    to,
    content = CONTENT,
  }: { readonly from: number; readonly to: number; readonly content?: Buffer<ArrayBuffer> | undefined },
) {
  const sink = await it.uploads.open();
  await sink.write(content.subarray(from, to + 1));
  const range = { from, to, total: content.length };
  return it.uploads.acceptSegment(ticket, range, sink, { name: 'big.pdf', contentType: 'application/pdf' });
}

test('segments in any order, repeated and overlapping, make the original file', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const ticket = await it.uploads.openSegmented(tenant);
  t.is(await piece(it, ticket, { from: 600, to: 999 }), undefined);
  t.is(await piece(it, ticket, { from: 0, to: 299 }), undefined);
  t.is(await piece(it, ticket, { from: 600, to: 999 }), undefined);
  t.is(await piece(it, ticket, { from: 250, to: 400 }), undefined);
  const view = await piece(it, ticket, { from: 380, to: 650 });
  t.like(view, { name: 'big.pdf', contentType: 'application/pdf', size: 1_000 });
  const { blob } = await it.uploads.findUpload(tenant.organization.id, view?.id ?? '');
  t.true(readFileSync(it.blobs.pathOf(blob)).equals(CONTENT));
  // The answer may have been lost.
  t.is((await piece(it, ticket, { from: 600, to: 999 }))?.id, view?.id);
  t.deepEqual(readdirSync(join(it.portal, 'segments')), []);
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
});

test('an acknowledged segment exists after a restart', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const ticket = await it.uploads.openSegmented(tenant);
  await piece(it, ticket, { from: 0, to: 499 });
  await it.close();
  const again = await portalStoreFixture(t, { root: it.root });
  const view = await piece(again, ticket, { from: 500, to: 999 });
  t.is(view?.size, 1_000);
});

for (const point of ['portal.segment.placed', 'portal.segment.whole'] as const) {
  test(`a segmented upload whose service fails at ${point} continues with the repeated segment`, async (t) => {
    const it = await portalStoreFixture(t);
    const tenant = await newTenant(it, 'Org');
    const ticket = await it.uploads.openSegmented(tenant);
    await piece(it, ticket, { from: 0, to: 499 });
    it.faults.arm(point, 'throw');
    await t.throwsAsync(piece(it, ticket, { from: 500, to: 999 }), { code: 'fault.injected' });
    await it.close();
    const again = await portalStoreFixture(t, { root: it.root });
    const view = await piece(again, ticket, { from: 500, to: 999 });
    t.is(view?.size, 1_000);
    t.deepEqual(readdirSync(join(again.portal, 'segments')), []);
  });
}

test('concurrent last segments create one upload, and each answer has its id', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  for (let round = 0; round < 5; round++) {
    const ticket = await it.uploads.openSegmented(tenant);
    await piece(it, ticket, { from: 0, to: 499 });
    // Each comes a little later than the one before, the last ones when all is over.
    const views = await Promise.all(
      Array.from({ length: 12 }, async (_, at) => {
        for (let turn = 0; turn < at * 40; turn++) await nextTurn();
        return piece(it, ticket, { from: 500, to: 999 });
      }),
    );
    t.is(new Set(views.map((view) => view?.id)).size, 1);
    t.true(views.every((view) => view?.size === 1_000));
  }
});

test('a segment that does not match its range is refused and not stored', async (t) => {
  const it = await portalStoreFixture(t, { maxBytes: 2_000 });
  const ticket = await it.uploads.openSegmented(await newTenant(it, 'Org'));
  const send = async (from: number, to: number, total: number, bytes: number) => {
    const sink = await it.uploads.open();
    await sink.write(Buffer.alloc(bytes));
    return it.uploads.acceptSegment(ticket, { from, to, total }, sink, { name: 'a', contentType: 'b' });
  };
  await t.throwsAsync(send(0, 9, 100, 11), { code: 'BadRequest' });
  await t.throwsAsync(send(10, 5, 100, 6), { code: 'BadRequest' });
  await t.throwsAsync(send(95, 104, 100, 10), { code: 'BadRequest' });
  await t.throwsAsync(send(-1, 8, 100, 10), { code: 'BadRequest' });
  await t.throwsAsync(send(0.5, 9.5, 100, 10), { code: 'BadRequest' });
  await t.throwsAsync(send(0, 9, 2_001, 10), { code: 'PayloadTooLarge' });
  t.is(await send(0, 9, 100, 10), undefined);
  await t.throwsAsync(send(10, 19, 101, 10), { code: 'BadRequest' });
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
});

test('a ticket of another upload and an expired one accept no segment', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const ticket = await it.uploads.openSegmented(tenant);
  const changed = `${ticket.slice(0, -2)}${ticket.endsWith('AA') ? 'BA' : 'AA'}`;
  await t.throwsAsync(piece(it, changed, { from: 0, to: 9 }), { code: 'NotFound' });
  const other = it.tickets.issue('download', ['00000000-0000-4000-8000-000000000000'], it.clock.now());
  await t.throwsAsync(piece(it, other, { from: 0, to: 9 }), { code: 'NotFound' });
  it.clock.forward(SEGMENTED_LIFETIME_MS + 2_000);
  await t.throwsAsync(piece(it, ticket, { from: 0, to: 9 }), { code: 'NotFound' });
});

test('an organization has a limit of open segmented uploads, and abandoned ones are swept', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const tickets: string[] = [];
  for (let at = 0; at < MAX_OPEN_UPLOADS; at++) tickets.push(await it.uploads.openSegmented(tenant));
  await t.throwsAsync(it.uploads.openSegmented(tenant), { code: 'LimitExceeded' });
  await it.uploads.openSegmented(await newTenant(it, 'Another'));
  await piece(it, tickets[0] ?? '', { from: 0, to: 499 });
  const folders = () => readdirSync(join(it.portal, 'segments'));
  t.is(folders().length, MAX_OPEN_UPLOADS + 1);
  t.is(await it.segmented.sweep(), 0);
  it.clock.forward(SEGMENTED_LIFETIME_MS + 2_000);
  const open = async () => Object.keys(await it.store.counters('segmented-open/')).length;
  // The store can be read before the host knows that a step is stored.
  let swept = 0;
  await it.settle(async () => {
    swept += await it.segmented.sweep();
    return swept > MAX_OPEN_UPLOADS;
  });
  t.is(swept, MAX_OPEN_UPLOADS + 1);
  t.is(await open(), 0);
  t.false(existsSync(join(it.portal, 'segments', folders()[0] ?? 'none')));
});

test('segments are complete when they cover every byte', (t) => {
  t.false(isWhole({ total: null, pieces: [] }));
  t.false(isWhole({ total: 10, pieces: [[0, 4]] }));
  t.false(isWhole({ total: 10, pieces: [[1, 9]] }));
  t.false(
    isWhole({
      total: 10,
      pieces: [
        [0, 3],
        [5, 9],
      ],
    }),
  ); // prettier-ignore
  t.true(
    isWhole({
      total: 10,
      pieces: [
        [0, 3],
        [0, 6],
        [4, 9],
      ],
    }),
  ); // prettier-ignore
});
