/** Copies of originals in buckets. */
import { systemIds } from '@sealwright/runtime';
import test from 'ava';
import { BucketOriginals } from '../../../actors/batch/objects/bucket-originals.ts';
import { temporaryRoot } from '../../service/service.ts';

test('an object that has no room here is not read: it would fill the disk again and again', async (t) => {
  let reads = 0;
  const object = { key: 'a', length: 2 ** 52, modifiedAt: 0, etag: '"1"' };
  const buckets = {
    head: async () => object,
    get: async () => {
      reads += 1;
      return undefined;
    },
    list: async () => ({ objects: [], next: undefined }),
    remove: async () => 'gone' as const,
  };
  const originals = new BucketOriginals(buckets, systemIds, await temporaryRoot(t));
  await t.throwsAsync(
    originals.withCopy('s3://b/a', async () => undefined),
    { code: 'input.unreadable', message: /are needed here/ },
  );
  t.is(reads, 0);
});
