import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as settled } from 'node:timers/promises';
import { systemClock, systemIds } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import { openSource } from '#crypto/core/files.js';
import { SigningPool } from '../../../../actors/pool/pool.ts';
import { poolOptions } from '../../../../actors/pool/pool-options.ts';
import {
  Blobs,
  blobCounters,
  type StoredBlob,
  storeInPool,
  UNCOUNTED_GRACE_MS,
} from '../../../../actors/portal/uploads/blobs.ts';
import { InspectedUploads } from '../../../../actors/portal/uploads/inspected-uploads.ts';
import { UPLOAD } from '../../../../actors/portal/uploads/uploads.ts';
import type { Profile } from '../../../../actors/shared/signing/profiles.ts';
import type { ProfileName } from '../../../../machines/ids.ts';
import { contract } from '../../../crypto/pades/validation/attack-files.ts';
import { pki } from '../../../pki/pki.ts';
import { newTenant, type PortalStoreFixture, portalStoreFixture } from './upload-harness.ts';

function filesOf(portal: string): string[] {
  return readdirSync(join(portal, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[0-9a-f]{64}$/.test(name),
  );
}

test('content that arrives twice in chunks is stored once, under its digest', async (t) => {
  const { blobs, portal } = await portalStoreFixture(t);
  const content = Buffer.alloc(300_000, 'abc');
  const sink = await blobs.open();
  for (let at = 0; at < content.length; at += 7_001) await sink.write(content.subarray(at, at + 7_001));
  const streamed = await blobs.store(sink);
  const put = await blobs.put(content);
  t.deepEqual(streamed, put);
  t.is(put.blob.sha256, createHash('sha256').update(content).digest('hex'));
  t.is(put.md5, createHash('md5').update(content).digest('base64'));
  t.is(put.blob.length, content.length);
  t.is(filesOf(portal).length, 1);
  t.true(readFileSync(blobs.pathOf(put.blob)).equals(content));
  t.deepEqual(readdirSync(join(portal, 'incoming')), []);
});

test('aborted content leaves no file, and neither does that of a dead process', async (t) => {
  const it = await portalStoreFixture(t);
  const sink = await it.blobs.open();
  await sink.write(Buffer.from('half a file'));
  t.is(readdirSync(join(it.portal, 'incoming')).length, 1);
  await sink.abort();
  await sink.abort();
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
  writeFileSync(it.blobs.temporaryPath(), 'left by a task that failed');
  it.clock.forward(25 * 3_600_000);
  await it.blobs.sweep(it.store);
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
  writeFileSync(it.blobs.temporaryPath(), 'left by a crash');
  await it.close();
  const again = await portalStoreFixture(t, { root: it.root });
  t.deepEqual(readdirSync(join(again.portal, 'incoming')), []);
});

test('an existing file is taken over, and replaces a damaged one of the same content', async (t) => {
  const { blobs } = await portalStoreFixture(t);
  const { blob } = await blobs.put(Buffer.from('the content'));
  truncateSync(blobs.pathOf(blob), 3);
  const path = blobs.temporaryPath();
  writeFileSync(path, 'the content');
  t.deepEqual(await blobs.adopt(path), blob);
  t.is(readFileSync(blobs.pathOf(blob), 'utf8'), 'the content');
  t.false(existsSync(path));
});

test('the sweep removes only unreferenced files after their grace period', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  const sink = await it.uploads.open();
  await sink.write(Buffer.from('counted'));
  const upload = await it.uploads.accept(tenant, sink, { name: 'a', contentType: 'text/plain' });
  const { blob } = await it.blobs.put(Buffer.from('not counted'));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 0, bytes: 0 });
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  const { blob: fresh } = await it.blobs.put(Buffer.from('put here a moment ago'));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 1, bytes: 11 });
  t.false(existsSync(it.blobs.pathOf(blob)));
  t.true(existsSync(it.blobs.pathOf(fresh)));
  t.true(existsSync(it.blobs.pathOf(upload)));
});

test('a file that gets a reference while its sweep waits for the disk stays', async (t) => {
  const it = await portalStoreFixture(t);
  const tenant = await newTenant(it, 'Org');
  for (const isReferred of [true, false]) {
    const { blob, md5 } = await it.blobs.put(Buffer.from(`referred: ${isReferred}`));
    it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
    const owner = { organizationId: tenant.organization.id, applicationId: tenant.application.id };
    const upload = { ...owner, name: 'a', contentType: 'text/plain', md5, createdAt: 0, blob: { ...blob } };
    const id = systemIds.uuid();
    const store: Parameters<typeof it.blobs.sweep>[0] = {
      counters: (prefix) => it.store.counters(prefix),
      async flushed() {
        if (isReferred) t.true((await it.runtime.create(UPLOAD, id, upload)).accepted);
        await it.store.flushed();
      },
    };
    t.deepEqual(await it.blobs.sweepSome(store, [blob]), []);
    t.is(existsSync(it.blobs.pathOf(blob)), isReferred);
  }
});

test('content stored again during a sweep exists afterwards', async (t) => {
  const { blobs, store, clock } = await portalStoreFixture(t);
  const contents = Array.from({ length: 60 }, (_, at) => Buffer.from(`content ${at}`));
  for (const content of contents) await blobs.put(content);
  for (let round = 0; round < 5; round++) {
    clock.forward(UNCOUNTED_GRACE_MS + 1_000);
    const sweeping = blobs.sweep(store);
    const kept = await Promise.all(contents.map((content) => blobs.put(content)));
    await sweeping;
    t.true(kept.every(({ blob }) => existsSync(blobs.pathOf(blob))));
  }
});

test('a path is made of a digest alone, and counters sum up the references to a file', async (t) => {
  const { blobs } = await portalStoreFixture(t);
  t.throws(() => blobs.pathOf({ sha256: '../../../etc/passwd' }), { instanceOf: TypeError });
  t.deepEqual(
    { ...blobCounters([{ sha256: 'a' }, { sha256: 'b' }, { sha256: 'a' }]) },
    {
      'blob/a': 2,
      'blob/b': 1,
    },
  );
});

test('content stored again is the same file for a concurrent reader', async (t) => {
  const { blobs, clock } = await portalStoreFixture(t);
  const { blob } = await blobs.put(Buffer.from('the content'));
  const source = openSource(blobs.pathOf(blob));
  clock.forward(60_000);
  await blobs.put(Buffer.from('the content'));
  clock.forward(60_000);
  t.true(await blobs.touch(blob));
  t.notThrows(() => source.assertUnchanged());
  source.close();
});

test('a small file is stored by a pool thread, under the digest of its chunks', async (t) => {
  const it = await portalStoreFixture(t);
  const { pool, blobs } = await withPool(t, it);
  const content = Buffer.alloc(100_000, 'abc');
  const sink = await blobs.open();
  for (let at = 0; at < content.length; at += 7_001) await sink.write(content.subarray(at, at + 7_001));
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
  const [first, second] = await Promise.all([blobs.store(sink), blobs.put(content)]);
  t.is(pool.stages.get('portal.store')?.tasks, 2);
  t.deepEqual(first, second);
  t.is(first.blob.sha256, createHash('sha256').update(content).digest('hex'));
  t.is(first.md5, createHash('md5').update(content).digest('base64'));
  t.is(statSync(blobs.pathOf(first.blob)).mtimeMs, 0);
  t.is(filesOf(it.portal).length, 1);
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
});

test('content over the memory limit is streamed through a file, with the same result', async (t) => {
  const it = await portalStoreFixture(t);
  const { pool, blobs } = await withPool(t, it);
  const content = Buffer.alloc(300_000, 'abc');
  const sink = await blobs.open();
  for (let at = 0; at < content.length; at += 70_001) await sink.write(content.subarray(at, at + 70_001));
  t.is(readdirSync(join(it.portal, 'incoming')).length, 1);
  const { blob } = await blobs.store(sink);
  t.is(pool.stages.get('portal.store'), undefined);
  t.true(readFileSync(blobs.pathOf(blob)).equals(content));
});

test('a file that a sweep removes while another thread stores it again is not answered as stored', async (t) => {
  const it = await portalStoreFixture(t);
  const { blob } = await it.blobs.put(Buffer.from('not counted'));
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  const lost = it.blobs.placing(
    async () => {
      await it.blobs.sweep(it.store);
      return blob;
    },
    (placed) => placed,
  );
  await t.throwsAsync(lost, { code: 'storage.unavailable' });
  await it.blobs.put(Buffer.from('not counted'));
  it.clock.forward(UNCOUNTED_GRACE_MS + 1_000);
  const path = it.blobs.pathOf(blob);
  const kept = it.blobs.placing(
    async () => {
      await it.blobs.sweep(it.store);
      writeFileSync(path, 'not counted');
      return blob;
    },
    (placed) => placed,
  );
  t.deepEqual(await kept, blob);
});

test('bytes count as held in memory until they are stored, and over a limit for all files none are held', async (t) => {
  const it = await portalStoreFixture(t);
  const storing: (() => void)[] = [];
  const storeSmall = ({ bytes }: { readonly bytes: Uint8Array }) =>
    new Promise<StoredBlob>((resolve) => {
      const blob = { sha256: 'a'.repeat(64), length: bytes.length };
      storing.push(() => resolve({ blob, md5: '' }));
    });
  const blobs = new Blobs({
    root: it.portal,
    runtime: { ids: systemIds, clock: it.clock },
    disk: it.disk,
    storeSmall,
  });
  const inFiles = () => readdirSync(join(it.portal, 'incoming')).length;
  const puts: Promise<unknown>[] = [];
  while (inFiles() === 0) puts.push(blobs.put(Buffer.alloc(128 * 1024))) && (await settled());
  await Promise.all(puts.slice(-1));
  t.is(storing.length, 256);
  for (const done of storing) done();
  await Promise.all(puts);
  const sink = await blobs.open();
  await sink.write(Buffer.from('few'));
  t.is(inFiles(), 0);
  await sink.abort();
});

test('a small PDF is inspected while it is stored, and stored also when it cannot be signed', async (t) => {
  const it = await portalStoreFixture(t);
  const { pool, blobs } = await withPool(t, it);
  const store = async (bytes: Buffer, isPdf: boolean) => {
    const sink = await blobs.open();
    await sink.write(bytes);
    return blobs.store(sink, { name: 'a.pdf', contentType: 'application/octet-stream', isPdf });
  };
  t.is((await store(contract(), true)).inspected?.format, 'Pades');
  t.is((await store(contract(), false)).inspected, undefined);
  const broken = await store(Buffer.from('%PDF-1.7 torn'), true);
  t.is(broken.inspected, undefined);
  t.is(readFileSync(blobs.pathOf(broken.blob), 'utf8'), '%PDF-1.7 torn');
  t.is(pool.stages.get('portal.store')?.tasks, 3);
});

test('a file whose inspection ends its thread is stored without the result', async (t) => {
  const it = await portalStoreFixture(t);
  const asked: unknown[] = [];
  const pool = {
    run: async (task: { readonly inspect?: unknown }) => {
      asked.push(task.inspect !== undefined);
      return task.inspect === undefined
        ? { ok: true, ms: 1, result: { blob: { sha256: 'a', length: 1 }, md5: 'b' } }
        : { ok: false, ms: 1, code: 'pool.worker-lost', message: 'lost' };
    },
  } as unknown as Pick<SigningPool, 'run'>;
  const store = storeInPool(pool, { profile: 'default', clock: it.clock });
  const file = { name: 'a.pdf', contentType: 'application/pdf', isPdf: true };
  const stored = await store({ bytes: Buffer.from('x'), output: 'o', blobs: 'b', file });
  t.is(stored.md5, 'b');
  t.deepEqual(asked, [true, false]);
});

test('an inspection is kept for some minutes, for a file of the same content, name and type', async (t) => {
  const { clock } = await portalStoreFixture(t);
  const inspected = new InspectedUploads(clock);
  const file = { name: 'a.pdf', contentType: 'application/pdf' };
  const result = { format: 'Pades' } as const;
  inspected.add({ sha256: 'a' }, file, result);
  t.is(inspected.resultOf({ sha256: 'a' }, file), result);
  t.is(inspected.resultOf({ sha256: 'b' }, file), undefined);
  t.is(inspected.resultOf({ sha256: 'a' }, { ...file, name: 'b.pdf' }), undefined);
  t.is(inspected.resultOf({ sha256: 'a' }, { ...file, contentType: 'text/plain' }), undefined);
  clock.forward(11 * 60_000);
  t.is(inspected.resultOf({ sha256: 'a' }, file), undefined);
});

test('a full disk refuses the upload as retryable, and leaves no file', async (t) => {
  const it = await portalStoreFixture(t);
  const { blobs } = await withPool(t, it);
  rmSync(join(it.portal, 'blobs'), { recursive: true });
  await t.throwsAsync(blobs.put(Buffer.from('the content')), { code: 'storage.unavailable' });
  t.deepEqual(readdirSync(join(it.portal, 'incoming')), []);
});

/** The files of a fixture with a pool that stores the small ones. */
async function withPool(t: ExecutionContext, it: PortalStoreFixture) {
  const folder = (name: string) => join(it.root, name);
  const pool = new SigningPool({
    threads: 1,
    ...poolOptions(
      { profiles: [PROFILE] },
      { processing: folder('processing'), output: folder('output'), error: folder('error'), faults: '' },
    ),
    clock: systemClock,
    log: SILENT_LOG,
  });
  t.teardown(() => pool.close());
  const storeSmall = storeInPool(pool, { profile: PROFILE.name, clock: it.clock });
  const parts = { ids: systemIds, clock: it.clock };
  return { pool, blobs: new Blobs({ root: it.portal, runtime: parts, disk: it.disk, storeSmall }) };
}

const PROFILE: Profile = {
  method: 'Local',
  verify: true,
  encrypt: false,
  name: 'default' as ProfileName,
  format: undefined,
  signer: pki().signer('p-256'),
  choices: {},
  anchors: [pki().root.certificate],
  validTo: Date.now() + 86_400_000,
  certificate: 'test',
};

const SILENT_LOG = { debug() {}, info() {}, warn() {}, error() {} };
