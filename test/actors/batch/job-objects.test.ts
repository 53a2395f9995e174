/** Jobs whose files are in an object store: what a node has on its disk may be lost. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Retryable } from '@sealwright/runtime';
import test, { type ExecutionContext } from 'ava';
import {
  type ObjectFile,
  type PutOptions,
  StoreRefusal,
} from '../../../actors/shared/objects/object-store.ts';
import type { JobId } from '../../../machines/ids.ts';
import { HastyClock } from '../../project/hasty-clock.ts';
import { reached } from '../../project/waiting.ts';
import { FolderObjects } from '../shared/objects/folder-objects.ts';
import { fileOf } from '../shared/objects/object-contract.ts';
import { type BatchFixture, batchFixture } from './batch-harness.ts';

/** A store that can fail for a time, and that may know no conditions. */
class Objects extends FolderObjects {
  failures = 0;
  errorFailures = 0;
  isAble = true;
  /** Keys that may not be removed. */
  locked: RegExp | undefined;

  override isExclusive(): Promise<boolean> {
    return Promise.resolve(this.isAble);
  }

  override async remove(key: string): Promise<void> {
    if (this.locked?.test(key)) throw new StoreRefusal('bucket b refuses s3:DeleteObject (AccessDenied)');
    await super.remove(key);
  }

  override async put(key: string, file: ObjectFile, options: PutOptions = {}) {
    if (key.startsWith('batch/output/') && this.failures > 0) {
      this.failures -= 1;
      throw new Retryable('storage.unavailable', 'the bucket is away');
    }
    if (key.startsWith('batch/error/') && this.errorFailures > 0) {
      this.errorFailures -= 1;
      throw new Retryable('storage.unavailable', 'the bucket is away');
    }
    // Without conditions, a put replaces.
    return super.put(key, file, { ...options, replace: options.replace === true || !this.isAble });
  }

  async keys(prefix = ''): Promise<readonly string[]> {
    const keys: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = await this.list(prefix, next);
      keys.push(...page.objects.map(({ key }) => key));
      next = page.next;
    }
    return keys;
  }
}

function newObjects(t: ExecutionContext): Objects {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-objects-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return new Objects(folder);
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

async function outputOf(fixture: BatchFixture, id: JobId): Promise<Buffer> {
  const output = await fixture.batch.jobs.output(id);
  const file = await output.open();
  const bytes = Buffer.alloc(output.length);
  for (let at = 0; at < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, at, bytes.length - at, at);
    at += bytesRead;
  }
  await file.close();
  return bytes;
}

test('an upload is signed from the store into the store, and nothing stays on the disk', async (t) => {
  const objects = newObjects(t);
  const fixture = await batchFixture(t, { objects, watch: false, start: false });
  const { batch, layout } = fixture;
  const id = await fixture.upload('a.txt', 'content');
  const { originalPath } = await batch.jobs.get(id);
  t.regex(originalPath, /^objects:\/input\/[0-9a-f-]{36}\.txt$/);
  t.is((await objects.keys('batch/input/')).length, 1);
  // The copies of the node are lost before the job is claimed.
  rmSync(join(layout.processing, '.objects'), { recursive: true });
  await fixture.close();
  const second = await batchFixture(t, { objects, watch: false, root: layout.root });
  await second.reach('Completed', 1);
  const { outputSha256, outputFileName } = await second.batch.jobs.get(id);
  t.is(sha256(await outputOf(second, id)), outputSha256 ?? '');
  t.is((await objects.head(`batch/output/${outputFileName}`))?.owner, id);
  // The upload is removed after the end of the job.
  await reached(async () => (await objects.keys('batch/input/')).length === 0);
  await second.close();
  t.deepEqual(await objects.keys(), [`batch/output/${outputFileName}`]);
  t.deepEqual(readdirSync(layout.output), []);
  t.deepEqual(readdirSync(join(layout.processing, '.objects')), []);
});

for (const isAble of [true, false])
  test(`no job replaces the output of another one, ${isAble ? 'by conditional puts' : 'by claims'}`, async (t) => {
    const objects = newObjects(t);
    objects.isAble = isAble;
    const fixture = await batchFixture(t, { objects, watch: false });
    const stranger = Buffer.from('of another program');
    await objects.put('batch/output/a.signed.pdf', fileOf(t, stranger));
    const ids = await Promise.all(
      Array.from({ length: 6 }, (_, at) => fixture.upload('b.xml', `<a n="${at}"/>`)),
    );
    await fixture.reach('Completed', 6);
    const names = new Set<string>();
    for (const id of ids) {
      const { outputFileName, outputSha256 } = await fixture.batch.jobs.get(id);
      names.add(outputFileName ?? '');
      t.is(sha256(await outputOf(fixture, id)), outputSha256 ?? '');
    }
    t.is(names.size, 6);
    t.true(names.has('b.signed.xml'));
    const found = await objects.get('batch/output/a.signed.pdf');
    t.deepEqual(found && (await buffer(found.stream)), stranger);
    // Claims end with the publication.
    t.deepEqual(await fixture.store.actors({ kind: 'output-claim', limit: 1 }), []);
  });

test('an original that may not be removed is told with its remedy, and others go on', async (t) => {
  const objects = newObjects(t);
  const clock = new HastyClock();
  const fixture = await batchFixture(t, { objects, watch: false, clock });
  const { batch } = fixture;
  objects.locked = /\.txt$/;
  await fixture.upload('a.txt', 'content');
  await fixture.upload('b.xml', '<a/>');
  await fixture.reach('Completed', 2);
  clock.haste(300);
  const told = () => batch.events.list({ kinds: ['InputNotRemoved'], page: 1, pageSize: 2 });
  await reached(async () => (await told()).totalCount > 0);
  clock.haste(1);
  const { totalCount, items } = await told();
  t.is(totalCount, 1);
  const message = items[0]?.message ?? '';
  const [locked = ''] = (await objects.keys('batch/input/')).filter((key) => key.endsWith('.txt'));
  t.true(message.includes(`Remove the object ${locked}, and give the service the right`), message);
  t.true(message.includes('refuses s3:DeleteObject'), message);
  await reached(async () => (await objects.keys('batch/input/')).length === 1);
  t.deepEqual(await objects.keys('batch/input/'), [locked]);
});

test('a job of a broken file leaves it in the store, and is retried from there', async (t) => {
  const objects = newObjects(t);
  const fixture = await batchFixture(t, { objects, watch: false });
  const id = await fixture.upload('a.pdf', 'no PDF');
  await fixture.reach('Failed', 1);
  const { originalPath } = await fixture.batch.jobs.get(id);
  const retried = await fixture.batch.jobs.retry(id);
  t.is(retried.originalPath, originalPath);
  await fixture.reach('Failed', 2);
  // Files are put aside after the end of a job.
  await reached(async () => (await objects.keys(`batch/error/${id}/`)).length > 0);
  await reached(() => readdirSync(fixture.layout.error).length === 0);
  await fixture.close();
  const keys = await objects.keys();
  t.true(keys.includes(`batch/error/${id}/a.pdf`), `${keys}`);
  t.is(keys.filter((key) => key.startsWith('batch/input/')).length, 1);
  t.deepEqual(readdirSync(fixture.layout.error), []);
});

test('an upload that became no job is removed after a day; what a job has or a cleared one left stays', async (t) => {
  const objects = newObjects(t);
  const fixture = await batchFixture(t, { objects, watch: false });
  await fixture.upload('a.pdf', 'no PDF');
  await fixture.reach('Failed', 1);
  // Its files are put aside first.
  await reached(async () => (await fixture.batch.bulk.clear()).deleted === 1);
  await fixture.upload('b.pdf', 'no PDF');
  await fixture.reach('Failed', 1);
  await fixture.close();
  const kept = await objects.keys('batch/input/');
  t.is(kept.length, 2);
  const lost = ['batch/input/lost.pdf', 'batch/input/also lost'];
  const locked = 'batch/input/a lost one that stays';
  objects.locked = /that stays$/;
  for (const key of [locked, ...lost]) await objects.put(key, fileOf(t, Buffer.from('lost')));
  const old = Date.now() / 1000 - 25 * 3600;
  for (const key of [locked, ...kept, ...lost]) utimesSync(join(objects.location, key), old, old);
  await objects.put('batch/input/new', fileOf(t, Buffer.from('new')));
  await batchFixture(t, { objects, watch: false, root: fixture.layout.root });
  await reached(async () => (await objects.head(lost[1] ?? '')) === undefined);
  await reached(async () => (await objects.head(lost[0] ?? '')) === undefined);
  t.deepEqual([...(await objects.keys('batch/input/'))].sort(), ['batch/input/new', locked, ...kept].sort());
});

test('a store without jobs, which may not be restored yet, removes no upload from the bucket', async (t) => {
  const objects = newObjects(t);
  const before = await batchFixture(t, { objects, watch: false });
  await before.upload('a.pdf', 'no PDF');
  await before.reach('Failed', 1);
  await before.close();
  const kept = await objects.keys('batch/input/');
  t.is(kept.length, 1);
  const old = Date.now() / 1000 - 25 * 3600;
  for (const key of kept) utimesSync(join(objects.location, key), old, old);
  const after = await batchFixture(t, { objects, watch: false });
  // Takes longer than the sweep of the start.
  await after.upload('b.pdf', 'no PDF');
  await after.reach('Failed', 1);
  t.true((await objects.keys('batch/input/')).includes(kept[0] ?? ''));
});

test('a job waits for a store that is away while it is published', async (t) => {
  const objects = newObjects(t);
  objects.failures = 2;
  const fixture = await batchFixture(t, { objects, watch: false });
  const id = await fixture.upload('a.xml', '<a/>');
  await fixture.reach('Completed', 1);
  t.is(objects.failures, 0);
  t.is(sha256(await outputOf(fixture, id)), (await fixture.batch.jobs.get(id)).outputSha256 ?? '');
  t.true(fixture.complaints.some((text) => text.includes('the bucket is away')));
});

test('an output that a lost step published is withdrawn with its job', async (t) => {
  const objects = newObjects(t);
  const fixture = await batchFixture(t, { objects, watch: false });
  fixture.faults.arm('job.output.stored', 'throw');
  const id = await fixture.upload('a.xml', '<a/>');
  await fixture.reach('Failed', 1);
  // The output is withdrawn, and the files are put aside, after the end of the job.
  await reached(async () => (await objects.keys()).includes(`batch/error/${id}/a.signed.xml`));
  await fixture.close();
  const keys = await objects.keys();
  t.deepEqual(
    keys.filter((key) => key.startsWith('batch/output/')),
    [],
  );
  t.true(keys.includes(`batch/error/${id}/a.signed.xml`), `${keys}`);
});

test('a start moves folders of failed jobs into the store, and nothing else', async (t) => {
  const objects = newObjects(t);
  const first = await batchFixture(t, { objects, watch: false });
  const { error, root } = first.layout;
  await first.close();
  writeFileSync(join(error, 'note.txt'), 'of an operator');
  for (const name of ['one', 'two']) {
    mkdirSync(join(error, name));
    writeFileSync(join(error, name, 'a.txt'), 'content');
  }
  objects.errorFailures = 1;
  await (await batchFixture(t, { objects, watch: false, root })).close();
  // The store was away for the first one: the second one was not tried.
  t.deepEqual(await objects.keys(), []);
  await (await batchFixture(t, { objects, watch: false, root })).close();
  t.deepEqual(await objects.keys(), ['batch/error/one/a.txt', 'batch/error/two/a.txt']);
  t.deepEqual(readdirSync(error), ['note.txt']);
});

test('an upload that no job takes leaves nothing in the store', async (t) => {
  const objects = newObjects(t);
  const { batch } = await batchFixture(t, { objects, watch: false, start: false });
  const key = { caller: '', key: 'k' };
  const plan = {
    fileName: 'a.txt',
    ...batch.jobs.uploads.plan({ fileName: 'a.txt', format: undefined, profile: undefined }),
    key,
  };
  const both = await Promise.all([1, 2].map(() => batch.jobs.uploads.openUpload('a.txt', key)));
  const ids = new Set<string>();
  for (const sink of both) {
    await sink.write(Buffer.from('content'));
    ids.add((await batch.jobs.uploads.acceptUpload(sink, plan)).id);
  }
  t.is(ids.size, 1);
  t.is((await objects.keys('batch/input/')).length, 1);
});
