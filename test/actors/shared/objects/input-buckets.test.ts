/** Buckets of inputs on servers that ignore what they are asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { InputBuckets } from '../../../../actors/shared/objects/input-buckets.ts';
import { within } from '../../../../actors/shared/objects/s3-client.ts';

test('a signal of a stop ends a request, and keeps nothing of those that it did not end', async (t) => {
  const stopping = new AbortController();
  const { signal } = stopping;
  for (let n = 0; n < 3; n += 1) t.is(await within(systemClock, 60_000, async () => n, signal), n);
  // Node notes there which signals were made of this one.
  const marks = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  const kept: unknown = marks && Reflect.get(signal, marks);
  t.is((kept as { readonly size: number } | undefined)?.size ?? 0, 0);
  const hangs = within(
    systemClock,
    60_000,
    ({ abortSignal }) =>
      new Promise((_, reject) => abortSignal.addEventListener('abort', () => reject(new Error('aborted')))),
    signal,
  );
  stopping.abort();
  await t.throwsAsync(hangs, { message: 'aborted' });
});

test('a part of an object is never taken from a server that sends the whole', async (t) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { etag: '"1"', 'content-length': '6' }).end('signed');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const buckets = new InputBuckets(
    {
      endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      accessKeyId: 'id',
      secretAccessKey: 'secret',
    },
    { clock: systemClock, log: { warn: () => {} } },
  );
  const object = { key: 'a', length: 6, modifiedAt: 0, etag: '"1"' };
  const whole = await buckets.get('bucket', object, 0);
  t.is((await whole?.toArray())?.join(''), 'signed');
  await t.throwsAsync(buckets.get('bucket', object, 3), { message: /sends no ranges/ });
});
