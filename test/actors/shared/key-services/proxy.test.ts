/** Keys of each service behind a proxy: requests go there, and what it refuses is said. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryOutput, signFileAtLevel } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { CscPersons } from '../../../../actors/shared/key-services/csc-person.ts';
import type { ServiceSigner } from '../../../../actors/shared/key-services/key-service.ts';
import { described, MACHINE, opened, SERVICES } from './described.ts';
import { startKeyServer } from './key-server.ts';

const HOST = 'keys.test';

/** A proxy that refuses all. */
async function startProxy(t: ExecutionContext) {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on('connect', ({ url = '' }, socket) => {
    asked.push(url);
    socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  t.teardown(() => proxy.close());
  return { asked, url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` };
}

test('requests to a signing provider of participants go through the proxy', async (t) => {
  const { asked, url } = await startProxy(t);
  const settings = {
    origin: 'operator' as const,
    name: 'a',
    title: 'A',
    address: `https://${HOST}/csc/v2`,
    clientId: 'a',
    clientSecret: 'b',
  };
  const provider = new CscPersons({ ...settings, proxy: url }, MACHINE.clock);
  await t.throwsAsync(provider.credentials('token'), { message: /HTTP status 403 of the proxy/ });
  t.deepEqual(asked, [`${HOST}:443`]);
});

for (const service of [...SERVICES, 'Csc'] as const)
  test.serial(`requests to ${service} go through the proxy`, async (t) => {
    const { asked, url } = await startProxy(t);
    const server = await startKeyServer(t);
    const own = described(server, service === 'Csc' ? 'Vault' : service);
    const place: ServiceSigner['place'] =
      service === 'Csc'
        ? { service, address: `https://${HOST}/csc/v2`, key: 'a' }
        : { ...own.place, address: `https://${HOST}` };
    Object.assign(process.env, {
      CSC_CLIENT_ID: 'a',
      CSC_CLIENT_SECRET: 'b',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
    });
    const { signer } = opened(t, {
      ...own,
      place,
      limits: { maxInFlight: 1, timeoutMs: 1_000 },
      proxy: url,
    });
    const file = { format: 'Cades', input: Buffer.from('any file'), output: new MemoryOutput() } as const;
    await t.throwsAsync(signFileAtLevel({ ...file, signer, at: Date.now() }), {
      code: 'key.unavailable',
      message: /can't be reached \(HTTP status 403 of the proxy\)/,
    });
    t.true(asked.length > 0);
    t.true(
      asked.every((target) => target === `${HOST}:443`),
      asked.join(' '),
    );
    t.is(server.signed, 0);
  });
