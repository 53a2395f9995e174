/** The one HTTP client for outgoing requests: DNS rebinding, and which addresses each caller may reach. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '@sealwright/runtime';
import { createEvidenceSource } from '@sealwright/signatures';
import { AddressNotAllowed, type AddressPolicy, createHttpClient } from '@sealwright/signatures/http';
import test, { type ExecutionContext } from 'ava';
import { createAuthorityTransport } from '../../../actors/shared/signing/authority-transport.ts';
import { startAuthority } from '../../pki/authority.ts';
import { startDns } from '../../project/dns-server.ts';

async function startServer(t: ExecutionContext) {
  let connections = 0;
  const server = createServer((request, response) => response.end(`for ${request.headers.host}`));
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

function get(url: string, policy: AddressPolicy) {
  const signal = new AbortController().signal;
  return { url: new URL(url), method: 'GET' as const, headers: {}, policy, repeatable: true, signal };
}

test('a name that a DNS server rebinds to loopback after its first answer is not requested there', async (t) => {
  const server = await startServer(t);
  const dns = await startDns(t, [['127.0.0.1'], ['10.0.0.1', '127.0.0.1'], ['169.254.169.254']]);
  const client = createHttpClient({ resolve: dns.resolve });
  t.teardown(() => client.close());
  const url = `http://rebinding.test:${server.port}/`;
  for (let round = 0; round < 3; round++) {
    const error = await t.throwsAsync(client.send(get(url, 'public')), { instanceOf: AddressNotAllowed });
    t.is(error.message, 'rebinding.test has no public address.');
  }
  t.is(server.connections(), 0);
  t.deepEqual(dns.asked, ['rebinding.test', 'rebinding.test', 'rebinding.test'], 'once for each connection');
});

test('a connection uses the validated address, although the DNS server answers differently at once', async (t) => {
  const server = await startServer(t);
  const dns = await startDns(t, [['127.0.0.1'], ['192.0.2.1']]);
  const client = createHttpClient({ resolve: dns.resolve });
  t.teardown(() => client.close());
  const url = `http://rebinding.test:${server.port}/`;
  for (let round = 0; round < 3; round++) {
    const response = await client.send(get(url, 'any'));
    t.is(response.statusCode, 200);
    t.is(response.socket.remoteAddress, '127.0.0.1');
    for await (const body of response) t.is(String(body), `for rebinding.test:${server.port}`);
  }
  t.deepEqual(dns.asked, ['rebinding.test'], 'resolved once, for one kept connection');
  t.is(server.connections(), 1);
});

test('a connection opened for an operator’s address is not reused for requests to public addresses only', async (t) => {
  const server = await startServer(t);
  const client = createHttpClient();
  t.teardown(() => client.close());
  const url = `http://localhost:${server.port}/`;
  const response = await client.send(get(url, 'any'));
  for await (const _ of response);
  await t.throwsAsync(client.send(get(url, 'public')), { instanceOf: AddressNotAllowed });
  await t.throwsAsync(client.send(get(`http://127.0.0.1:${server.port}/`, 'public')), {
    instanceOf: AddressNotAllowed,
  });
  t.is(server.connections(), 1);
});

test('an address from a certificate is requested only when it is public, allowed or on a listed host', async (t) => {
  const server = await startServer(t);
  const dns = await startDns(t, [['127.0.0.1']]);
  const ask = async (allowPrivate: boolean, issuerHosts: readonly string[]): Promise<string> => {
    const transport = createAuthorityTransport({
      clock: systemClock,
      allowPrivate,
      issuerHosts,
      resolve: dns.resolve,
    });
    const url = `http://ocsp.test:${server.port}/`;
    const request = { url, method: 'GET', headers: {}, timeout: 60_000, maxBytes: 100 } as const;
    try {
      return String(await transport.exchange({ ...request, urlFrom: 'certificate' }));
    } catch (error) {
      return (error as Error).message;
    } finally {
      transport.close();
    }
  };
  t.regex(await ask(false, []), /^ocsp\.test has no public address\. .* Signing:Trust:AllowPrivate\.$/);
  t.is(server.connections(), 0);
  t.is(await ask(false, ['ocsp.test']), `for ocsp.test:${server.port}`);
  t.is(await ask(true, []), `for ocsp.test:${server.port}`);
});

test('authorities are not asked about a certificate without a path to a trusted root', async (t) => {
  const authority = await startAuthority();
  const other = await startAuthority();
  t.teardown(() => Promise.all([authority.close(), other.close()]));
  const transport = createAuthorityTransport({ clock: systemClock, allowPrivate: true, issuerHosts: [] });
  t.teardown(() => transport.close());
  const source = createEvidenceSource({
    transport,
    anchors: [other.pki.root.certificate],
    intermediates: [],
    issuerHosts: [],
    cacheMinutes: 60,
    timeoutMs: 60_000,
    now: () => Date.now(),
    wait: () => Promise.resolve(),
    retries: 0,
  });
  const { certificate, chain } = authority.pki.freshSigner();
  const found = await source.gather?.([certificate], chain, Date.now());
  t.regex(found?.problems.join() ?? '', /no chain to a trust anchor/);
  t.deepEqual(authority.requests, { timestamp: 0, ocsp: 0, crl: 0, ca: 0 });
});

/** `commands/` talks to the service's own API; the pages' scripts run in browsers. */
const EXEMPT = /^(node_modules|dist|test|bench|docs|scripts|commands|http)$/;

test('only the outgoing client opens HTTP connections', (t) => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const folders = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !EXEMPT.test(entry.name))
    .map(({ name }) => name);
  t.true(folders.includes('actors') && folders.includes('service'));
  const offenders = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .map((name) => `${folder}/${name}`)
      .filter((name) => name.endsWith('.ts') && name !== 'crypto/evidence/http-client.ts')
      .filter((name) =>
        /\bfetch\(|import (?!type)[^;]*\brequest\b[^;]*from 'node:https?'/.test(
          readFileSync(join(root, name), 'utf8'),
        ),
      ),
  );
  t.deepEqual(offenders, []);
});

test('a host with several addresses is reached by a process that is busy for a moment', async (t) => {
  const { port } = await startServer(t);
  const client = createHttpClient({
    async resolve() {
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400));
      return [
        { address: '127.0.0.1', family: 4 },
        { address: '::2', family: 6 },
      ];
    },
  });
  t.teardown(() => client.close());
  const answer = await client.send(get(`http://two.test:${port}/`, 'any'));
  t.is(answer.resume().statusCode, 200);
});
