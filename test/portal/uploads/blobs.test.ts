import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { blobCounters, UNCOUNTED_GRACE } from '../../../actors/portal/blobs.ts';
import { openSource } from '../../../crypto/files/source.ts';
import { newTenant, room } from './room.ts';

function filesOf(portal: string): string[] {
  return readdirSync(join(portal, 'blobs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    /[0-9a-f]{64}$/.test(name),
  );
}

test('content that comes twice is stored once, under the digest of what arrived in pieces', async (t) => {
  const { blobs, portal } = room(t);
  const content = Buffer.alloc(300_000, 'abc');
  const sink = await blobs.open();
  for (let at = 0; at < content.length; at += 7_001) await sink.write(content.subarray(at, at + 7_001));
  const streamed = await blobs.keep(sink);
  const put = await blobs.put(content);
  t.deepEqual(streamed, put);
  t.is(put.blob.sha256, createHash('sha256').update(content).digest('hex'));
  t.is(put.md5, createHash('md5').update(content).digest('base64'));
  t.is(put.blob.length, content.length);
  t.is(filesOf(portal).length, 1);
  t.true(readFileSync(blobs.pathOf(put.blob)).equals(content));
  t.deepEqual(readdirSync(join(portal, 'incoming')), []);
});

test('bytes given up on leave nothing behind, and neither do those of a process that died', async (t) => {
  const it = room(t);
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
  const again = room(t, { root: it.root });
  t.deepEqual(readdirSync(join(again.portal, 'incoming')), []);
});

test('a file made elsewhere is taken over, and heals a damaged one of the same content', async (t) => {
  const { blobs } = room(t);
  const { blob } = await blobs.put(Buffer.from('the content'));
  truncateSync(blobs.pathOf(blob), 3);
  const path = blobs.temporaryPath();
  writeFileSync(path, 'the content');
  t.deepEqual(await blobs.adopt(path), blob);
  t.is(readFileSync(blobs.pathOf(blob), 'utf8'), 'the content');
  t.false(existsSync(path));
});

test('the sweep removes what nobody counts, once its grace is over, and nothing else', async (t) => {
  const it = room(t);
  const tenant = await newTenant(it, 'Org');
  const sink = await it.uploads.open();
  await sink.write(Buffer.from('counted'));
  const upload = await it.uploads.accept(tenant, sink, { name: 'a', contentType: 'text/plain' });
  const { blob } = await it.blobs.put(Buffer.from('not counted'));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 0, bytes: 0 });
  it.clock.forward(UNCOUNTED_GRACE + 1_000);
  const { blob: fresh } = await it.blobs.put(Buffer.from('put here a moment ago'));
  t.deepEqual(await it.blobs.sweep(it.store), { removed: 1, bytes: 11 });
  t.false(existsSync(it.blobs.pathOf(blob)));
  t.true(existsSync(it.blobs.pathOf(fresh)));
  t.true(existsSync(it.blobs.pathOf(upload)));
});

test('content put here again while a sweep runs is there afterwards', async (t) => {
  const { blobs, store, clock } = room(t);
  const contents = Array.from({ length: 60 }, (_, at) => Buffer.from(`content ${at}`));
  for (const content of contents) await blobs.put(content);
  for (let round = 0; round < 5; round++) {
    clock.forward(UNCOUNTED_GRACE + 1_000);
    const sweeping = blobs.sweep(store);
    const kept = await Promise.all(contents.map((content) => blobs.put(content)));
    await sweeping;
    t.true(kept.every(({ blob }) => existsSync(blobs.pathOf(blob))));
  }
});

test('a path is only made of a digest, and counters add up what refers to a file', (t) => {
  const { blobs } = room(t);
  t.throws(() => blobs.pathOf({ sha256: '../../../etc/passwd' }), { instanceOf: TypeError });
  t.deepEqual(blobCounters([{ sha256: 'a' }, { sha256: 'b' }, { sha256: 'a' }]), {
    'blob/a': 2,
    'blob/b': 1,
  });
});

test('content put here again is the same file to whoever reads it meanwhile', async (t) => {
  const { blobs, clock } = room(t);
  const { blob } = await blobs.put(Buffer.from('the content'));
  const source = openSource(blobs.pathOf(blob));
  clock.forward(60_000);
  await blobs.put(Buffer.from('the content'));
  clock.forward(60_000);
  t.true(await blobs.touch(blob));
  t.notThrows(() => source.assertUnchanged());
  source.close();
});
