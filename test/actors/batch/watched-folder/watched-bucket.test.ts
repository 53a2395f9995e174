/** Listing of a bucket: pages, versions, and what is listed after its removal. */
import { Retryable } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import test, { type ExecutionContext } from 'ava';
import {
  type Candidate,
  createWatchedBucket,
  type OfferResult,
} from '../../../../actors/batch/watched-folder/index.ts';
import type { BucketObject, ListOptions } from '../../../../actors/shared/objects/input-buckets.ts';
import { reached } from '../../../project/waiting.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Watches objects that the test holds, two a page. */
function watching(t: ExecutionContext) {
  const clock = new SimulatedClock();
  const objects = new Map<string, BucketObject>();
  const asked: ListOptions[] = [];
  const offers: Candidate[] = [];
  const held = {
    clock,
    objects,
    asked,
    offers,
    failure: undefined as Error | undefined,
    answer: (async () => 'enqueued') as (file: Candidate) => Promise<OfferResult>,
  };
  const list = async (_: string, options: ListOptions) => {
    asked.push(options);
    if (held.failure !== undefined) throw held.failure;
    const from = options.next ?? options.after ?? '';
    const found = [...objects.values()].filter(({ key }) => key > from).slice(0, 3);
    const page = found.slice(0, 2);
    return { objects: page, next: found.length > 2 ? page.at(-1)?.key : undefined };
  };
  const watcher = createWatchedBucket({
    name: 'scans',
    path: 's3://b',
    clock,
    onState: () => {},
    log: { debug() {}, info() {}, warn() {}, error() {} },
    source: { buckets: { list }, bucket: 'b', prefix: '' },
    settings: {
      stability: { intervalMs: 50, requiredSamples: 2, timeoutMs: 10_000 },
      concurrency: 2,
      ignoredExtensions: [],
      ignoredPrefixes: [],
      recursive: true,
      sweepIntervalMs: 5_000,
    },
    async offer(file) {
      offers.push(file);
      return held.answer(file);
    },
  });
  t.teardown(() => watcher.stop());
  const put = (key: string, etag = '"1"') => objects.set(key, { key, length: 1, modifiedAt: 1_000, etag });
  /** Lets a listing run to its end. */
  const listing = async () => {
    const pages = Math.max(1, Math.ceil(objects.size / 2));
    const before = asked.length;
    await turn();
    clock.advance(5_000);
    await reached(() => asked.length >= before + pages);
    await turn();
  };
  return { ...held, held, watcher, put, listing };
}

test('every page is listed, and a version of an object is offered once', async (t) => {
  const { watcher, put, offers, listing } = watching(t);
  for (const key of ['a', 'b', 'c/d', 'e', 'f']) put(key);
  watcher.start();
  await watcher.ready;
  t.deepEqual(offers.map(({ path }) => path).sort(), [
    's3://b/a',
    's3://b/b',
    's3://b/c/d',
    's3://b/e',
    's3://b/f',
  ]);
  t.like(
    offers.find(({ fileName }) => fileName === 'd'),
    { subfolder: 'c', etag: '"1"' },
  );
  await listing();
  t.is(offers.length, 5);
  put('e', '"2"');
  await listing();
  t.is(offers.length, 6);
});

test('after a failure a listing goes on behind the last key that was listed', async (t) => {
  const { watcher, put, offers, asked, held, clock } = watching(t);
  for (const key of ['a', 'b', 'c']) put(key);
  held.answer = async () => {
    held.failure = new Retryable('storage.unavailable', 'the bucket is away');
    return 'enqueued';
  };
  watcher.start();
  await reached(() => watcher.state().error === 'the bucket is away');
  t.false(await watcher.exists());
  await turn();
  held.failure = undefined;
  held.answer = async () => 'enqueued';
  clock.advance(1_000);
  await watcher.ready;
  t.is(asked.at(-1)?.after, 'b');
  t.is(offers.length, 3);
  t.true(await watcher.exists());
  t.is(watcher.state().error, null);
});

test('an object that is listed after its removal is not offered again for a minute', async (t) => {
  const { watcher, put, offers, clock, listing } = watching(t);
  put('a');
  watcher.start();
  await watcher.ready;
  watcher.recheck('s3://b/a');
  await listing();
  t.is(offers.length, 1);
  clock.advance(60_000);
  await reached(() => offers.length === 2);
});

test('an object that waits for the job of another version is offered as soon as that has ended', async (t) => {
  const { watcher, put, offers, held, listing } = watching(t);
  held.answer = async () => 'active';
  put('a');
  watcher.start();
  await watcher.ready;
  held.answer = async ({ path }) => {
    // The job ends while the object is offered.
    watcher.recheck(path);
    return offers.length < 3 ? 'active' : 'enqueued';
  };
  await listing();
  await listing();
  t.is(offers.length, 3);
  await listing();
  t.is(offers.length, 3);
});
