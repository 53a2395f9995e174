/** Files of the portal in an object store: nodes share nothing else. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { Blobs, UNCOUNTED_GRACE_MS } from '../../../../actors/portal/uploads/blobs.ts';
import { SegmentedUploads } from '../../../../actors/portal/uploads/segmented-uploads.ts';
import { SegmentObjects } from '../../../../actors/portal/uploads/segments.ts';
import { Uploads } from '../../../../actors/portal/uploads/uploads.ts';
import { StoreRefusal } from '../../../../actors/shared/objects/object-store.ts';
import { FolderObjects } from '../../shared/objects/folder-objects.ts';
import { assertObjectContract } from '../../shared/objects/object-contract.ts';
import { newTenant, type PortalStoreFixture, portalStoreFixture } from './upload-harness.ts';

const DAY = 24 * 3_600_000;

interface TwoNodes {
  readonly it: PortalStoreFixture;
  readonly objects: FolderObjects;
  /** Files of the second node, whose folder is its own. */
  readonly other: Blobs;
  /** Portal folder of the second node. */
  readonly folder: string;
}

function temporaryFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-remote-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function twoNodes(t: ExecutionContext): Promise<TwoNodes> {
  let now = () => Date.now();
  const objects = new FolderObjects(temporaryFolder(t), { now: () => now() });
  const it = await portalStoreFixture(t, { objects });
  now = () => it.clock.now();
  const folder = join(temporaryFolder(t), 'portal');
  const parts = { ids: systemIds, clock: it.clock };
  return {
    it,
    objects,
    folder,
    other: new Blobs({
      root: folder,
      runtime: parts,
      disk: it.disk,
      storeSmall: undefined,
      isShared: undefined,
      objects,
    }),
  };
}

function filesOf(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /[0-9a-f]{64}$/.test(name));
}

test('a folder keeps the contract of an object store', (t) =>
  assertObjectContract(t, new FolderObjects(temporaryFolder(t))));

test('what one node stores is read by another without a common folder', async (t) => {
  const { it, other, folder } = await twoNodes(t);
  const content = Buffer.from(`${'x'.repeat(500_000)}end`);
  const { blob } = await it.blobs.put(content);
  const sent = other.file(blob, 'a.pdf', 'application/pdf');
  const file = await sent.open();
  const part = Buffer.alloc(16);
  t.is((await file.read(part, 0, 16, 499_998)).bytesRead, 5);
  t.is(part.toString('utf8', 0, 5), 'xxend');
  t.is((await file.read(part, 0, 4, 2)).bytesRead, 4);
  t.is((await file.read(part, 0, 4, content.length)).bytesRead, 0);
  t.deepEqual(await file.stat(), { size: content.length } as never);
  await file.close();
  t.deepEqual(filesOf(folder), []);
  t.is(await other.pathHere(blob), undefined);
  const path = await sent.bring();
  t.is(path, sent.path);
  t.is(await other.pathHere(blob), path);
  t.true(readFileSync(path).equals(content));
  t.deepEqual(readdirSync(join(folder, 'incoming')), []);
});

test('an object whose bytes are not those of its name is refused', async (t) => {
  const { it, objects, other, folder } = await twoNodes(t);
  const { blob } = await it.blobs.put(Buffer.from('the content'));
  const key = `blobs/${blob.sha256.slice(0, 2)}/${blob.sha256}`;
  writeFileSync(join(objects.location, key), 'the c0ntent');
  await t.throwsAsync(other.localPath(blob), { code: 'storage.unavailable' });
  t.deepEqual(filesOf(folder), []);
  t.deepEqual(readdirSync(join(folder, 'incoming')), []);
});

test('a disk that refuses a file leaves no connection to the object store open', async (t) => {
  const { it, objects, other, folder } = await twoNodes(t);
  const { blob } = await it.blobs.put(Buffer.from('the content'));
  const opened: Readable[] = [];
  const get = objects.get.bind(objects);
  objects.get = async (...given) => {
    const found = await get(...given);
    if (found !== undefined) opened.push(found.stream);
    return found;
  };
  rmSync(join(folder, 'incoming'), { recursive: true });
  await t.throwsAsync(other.localPath(blob), { code: 'storage.unavailable' });
  t.deepEqual(
    opened.map(({ destroyed }) => destroyed),
    opened.map(() => true),
  );
});

test('an upload is not acknowledged when the object store refuses it', async (t) => {
  const { it, objects } = await twoNodes(t);
  rmSync(objects.location, { recursive: true });
  writeFileSync(objects.location, 'no folder');
  await t.throwsAsync(it.blobs.put(Buffer.from('the content')));
  t.deepEqual(filesOf(it.portal), []);
});

test('segments that arrive at two nodes make the file', async (t) => {
  const { it, objects } = await twoNodes(t);
  const tenant = await newTenant(it, 'Org');
  const second = secondService(t, it, objects);
  const content = Buffer.from(Array.from({ length: 1_000 }, (_, at) => at & 0xff));
  const ticket = await it.uploads.openSegmented(tenant);
  const piece = async ({ uploads }: Pick<PortalStoreFixture, 'uploads'>, from: number, to: number) => {
    const sink = await uploads.open();
    await sink.write(content.subarray(from, to + 1));
    return uploads.acceptSegment(ticket, { from, to, total: 1_000 }, sink, { name: 'a', contentType: 'a/b' });
  };
  t.is(await piece(it, 0, 599), undefined);
  t.is(await piece(it, 0, 599), undefined);
  const view = await piece(second, 400, 999);
  t.is(view?.size, 1_000);
  const path = await it.blobs.localPath({ sha256: view?.sha256 ?? '' });
  t.true(readFileSync(path).equals(content));
  t.deepEqual((await objects.list('segments/')).objects, []);
  t.is((await piece(it, 400, 999))?.id, view?.id);
  // A node ended after it had stored a late segment.
  await objects.put(`segments/${systemIds.uuid()}/0-9`, { path, length: 1_000 });
  t.is(await it.segmented.sweep(), 1);
  t.deepEqual((await objects.list('segments/')).objects, []);
});

test('the sweep removes unreferenced objects an hour after their grace, and no others', async (t) => {
  const { it, objects, other } = await twoNodes(t);
  const tenant = await newTenant(it, 'Org');
  const sink = await it.uploads.open();
  await sink.write(Buffer.from('counted'));
  const upload = await it.uploads.accept(tenant, sink, { name: 'a', contentType: 'text/plain' });
  const { blob } = await it.blobs.put(Buffer.from('not counted'));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 0, bytes: 0 });
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  const { blob: touched } = await it.blobs.put(Buffer.from('put here a moment ago'));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 1, bytes: 11 });
  t.is(filesOf(join(objects.location, 'trash')).length, 1);
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  t.true(await other.touch(touched));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 0, bytes: 0 });
  t.is(filesOf(join(objects.location, 'trash')).length, 0);
  t.false(await other.touch(blob));
  t.deepEqual(await it.blobs.sweepSome(it.store, [blob, upload, touched]), [touched.sha256]);
  t.false(existsSync(it.blobs.pathOf(blob)));
  t.true(existsSync(it.blobs.pathOf(upload)));
  t.true(await other.touch(upload));
  t.true(await other.touch(touched));
});

test('a file that the store does not let be removed holds no other', async (t) => {
  const { it, objects } = await twoNodes(t);
  const blobs = [];
  for (const content of ['a', 'b', 'c']) blobs.push((await it.blobs.put(Buffer.from(content))).blob);
  const [refused] = (await objects.list('blobs/')).objects;
  const { remove } = objects;
  objects.remove = async (key) => {
    if (key === refused?.key) throw new StoreRefusal('bucket b refuses s3:DeleteObject (AccessDenied)');
    await remove.call(objects, key);
  };
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  t.deepEqual(await it.blobs.sweepSome(it.store, blobs), []);
  t.deepEqual(
    (await objects.list('blobs/')).objects.map(({ key }) => key),
    [refused?.key ?? ''],
  );
  t.deepEqual(await it.blobs.sweep(it.store), {
    removed: 0,
    bytes: 0,
    refusal: 'bucket b refuses s3:DeleteObject (AccessDenied)',
  });
});

test('a store that lets nothing be removed is not given a copy of each file at each sweep', async (t) => {
  const { it, objects } = await twoNodes(t);
  for (let n = 0; n < 40; n += 1) await it.blobs.put(Buffer.from(`content ${n}`));
  objects.remove = async () => {
    throw new StoreRefusal('bucket b refuses s3:DeleteObject (AccessDenied)');
  };
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  t.like(await it.blobs.sweep(it.store), { removed: 0 });
  t.is(filesOf(join(objects.location, 'trash')).length, 16);
  t.is(filesOf(join(objects.location, 'blobs')).length, 40);
});

for (const healer of ['a reader', 'a further use', 'the next sweep'] as const)
  test(`a file that another node refers to while it is removed is moved back by ${healer}`, async (t) => {
    const { it, objects, other } = await twoNodes(t);
    const { blob } = await it.blobs.put(Buffer.from('the content'));
    it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
    t.is((await it.blobs.sweep(it.store)).removed, 1);
    // The reference of the other node was stored between the look at the counters and the move.
    const store = { counters: async () => ({ [`blob/${blob.sha256}`]: 1 }), flushed: async () => {} };
    if (healer === 'a reader') t.is(readFileSync(await other.localPath(blob), 'utf8'), 'the content');
    if (healer === 'a further use') t.true(await other.touch(blob));
    if (healer === 'the next sweep') {
      it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
      await other.sweep(store);
      t.deepEqual((await objects.list('trash/')).objects, []);
    }
    t.is((await objects.list('blobs/')).objects.length, 1);
  });

test('the cache loses what was not used for a day, and the oldest files above its size', async (t) => {
  const { it, objects } = await twoNodes(t);
  const paths: string[] = [];
  const put = async (content: string) => {
    const { blob } = await it.blobs.put(Buffer.from(content));
    paths.push(it.blobs.pathOf(blob));
    it.clock.forward(60_000);
  };
  await put('old');
  it.clock.forward(DAY);
  await put('oldest above the size');
  await put('in the size');
  it.clock.forward(UNCOUNTED_GRACE_MS);
  await put('in use');
  const there = () => paths.map((path) => existsSync(path));
  await it.blobs.trim(it.store);
  t.deepEqual(there(), [false, true, true, true]);
  await it.blobs.trim(it.store, undefined, 20);
  t.deepEqual(there(), [false, false, true, true]);
  t.is((await objects.list('blobs/')).next === undefined, false);
  const incoming = ['of a node that was killed', 'under way'].map((name) =>
    join(it.portal, 'incoming', name),
  );
  for (const path of incoming) writeFileSync(path, '');
  utimesSync(incoming[0] ?? '', 0, (it.clock.now() - DAY - 1_000) / 1_000);
  utimesSync(incoming[1] ?? '', 0, (it.clock.now() - DAY + 60_000) / 1_000);
  await it.blobs.trim(it.store);
  t.deepEqual(
    incoming.map((path) => existsSync(path)),
    [false, true],
  );
  const { blob } = await it.blobs.put(Buffer.from('old'));
  t.is(readFileSync(await it.blobs.localPath(blob), 'utf8'), 'old');
});

test('files of a folder without an object store enter it before they leave the folder', async (t) => {
  const plain = await portalStoreFixture(t);
  const tenant = await newTenant(plain, 'Org');
  const sink = await plain.uploads.open();
  await sink.write(Buffer.from('counted'));
  const upload = await plain.uploads.accept(tenant, sink, { name: 'a', contentType: 'text/plain' });
  await plain.close();
  const objects = new FolderObjects(temporaryFolder(t));
  const it = await portalStoreFixture(t, { root: plain.root, objects });
  it.clock.forward(DAY + 1_000);
  // Its reading counts as a use.
  for (let round = 0; round < 2; round++) await it.blobs.trim(it.store);
  t.false(existsSync(it.blobs.pathOf(upload)));
  t.is(readFileSync(await it.blobs.localPath(upload), 'utf8'), 'counted');
});

/** Uploads of a second node: the same store, a folder of its own. */
function secondService(
  t: ExecutionContext,
  it: PortalStoreFixture,
  objects: FolderObjects,
): Pick<PortalStoreFixture, 'uploads'> {
  const actors = it.runtime;
  const parts = { actors, store: it.store, clock: it.clock, ids: systemIds, faults: it.faults };
  const root = join(temporaryFolder(t), 'portal');
  const blobs = new Blobs({
    root,
    runtime: parts,
    disk: it.disk,
    storeSmall: undefined,
    isShared: undefined,
    objects,
  });
  const segmented = new SegmentedUploads(new SegmentObjects(objects), parts, blobs, it.tickets);
  return {
    uploads: new Uploads({ runtime: parts, blobs, tickets: it.tickets, segmented, maxBytes: 1_000_000 }),
  };
}
