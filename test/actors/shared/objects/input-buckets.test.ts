/** Buckets of inputs on servers that ignore what they are asked. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock } from '@sealwright/runtime';
import test from 'ava';
import { InputBuckets } from '../../../../actors/shared/objects/input-buckets.ts';

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
      ...{ endpoint, region: 'us-east-1', forcePathStyle: true },
      ...{ accessKeyId: 'id', secretAccessKey: 'secret' },
    },
    { clock: systemClock, log: { warn: () => {} } },
  );
  const object = { key: 'a', length: 6, modifiedAt: 0, etag: '"1"' };
  const whole = await buckets.get('bucket', object, 0);
  t.is((await whole?.toArray())?.join(''), 'signed');
  await t.throwsAsync(buckets.get('bucket', object, 3), { message: /sends no ranges/ });
});
