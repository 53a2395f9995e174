/** https requests through a proxy: a real one on loopback, and a server that the proxy alone can find by its name. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import {
  type AddressPolicy,
  createHttpClient,
  type HttpClientOptions,
} from '#crypto/evidence/http-client.js';
import { certificatePem } from '#crypto/x509/certificate.js';
import { issueCertificate } from '../../pki/issuing.ts';
import { keyOf } from '../../pki/pki.ts';

const NAME = 'keys.test';
const { publicKey, privateKey } = keyOf('p-256');
const subject = { commonName: NAME };
const certificate = issueCertificate({
  subject,
  issuer: subject,
  publicKey,
  issuerKey: privateKey,
  serial: randomBytes(8),
  notBefore: Date.now() - 86_400_000,
  notAfter: Date.now() + 86_400_000,
  use: { kind: 'signer', purposes: ['1.3.6.1.5.5.7.3.1'] },
  alternativeNames: [{ kind: 'dns', text: NAME }],
});
const own = { key: privateKey.export({ format: 'pem', type: 'pkcs8' }), cert: certificatePem(certificate) };

async function listening(t: ExecutionContext, server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function parts(t: ExecutionContext, status = 200) {
  const served = await listening(
    t,
    createTlsServer(own, ({ method, url }, response) => response.end(`${method} ${url}`)) as never,
  );
  const asked: { readonly target: string; readonly authorization: string | undefined }[] = [];
  const proxy = createServer((_, response) => response.writeHead(400).end());
  proxy.on('connect', ({ url = '', headers }, socket) => {
    asked.push({ target: url, authorization: headers['proxy-authorization'] });
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const to = connect(served, '127.0.0.1', () => socket.write('HTTP/1.1 200 Connected\r\n\r\n'));
    to.on('error', () => socket.destroy());
    socket.on('error', () => to.destroy());
    socket.on('close', () => to.destroy());
    return socket.pipe(to).pipe(socket);
  });
  const port = await listening(t, proxy);
  const get = async (
    url: string,
    { policy = 'any', ...options }: HttpClientOptions & { readonly policy?: AddressPolicy } = {},
  ) => {
    const client = createHttpClient({
      proxy: new URL(`http://127.0.0.1:${port}`),
      checkCertificates: false,
      ...options,
    });
    t.teardown(() => client.close());
    const { signal } = new AbortController();
    const send = async () => {
      const request = {
        url: new URL(url),
        method: 'GET',
        headers: {},
        policy,
        repeatable: true,
        signal,
      } as const;
      const answer = await client.send(request);
      let text = '';
      for await (const piece of answer) text += piece;
      return text;
    };
    return [await send(), await send()];
  };
  return { asked, get, port, served };
}

test('requests share a tunnel, whose host the proxy alone resolves', async (t) => {
  const { asked, get } = await parts(t);
  t.deepEqual(await get(`https://${NAME}/sign?a=1`), ['GET /sign?a=1', 'GET /sign?a=1']);
  t.deepEqual(asked, [{ target: `${NAME}:443`, authorization: undefined }]);
});

test('user and password go to the proxy', async (t) => {
  const { asked, get, port } = await parts(t);
  await get(`https://${NAME}:8443/`, { proxy: new URL(`http://ana:p%40ss@127.0.0.1:${port}`) });
  const authorization = `Basic ${Buffer.from('ana:p@ss').toString('base64')}`;
  t.deepEqual(asked, [{ target: `${NAME}:8443`, authorization }]);
});

test('the certificate of the server counts, not that of the proxy', async (t) => {
  const { get } = await parts(t);
  await t.throwsAsync(get(`https://${NAME}/`, { checkCertificates: true }), {
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
  });
});

for (const status of [403, 407, 502])
  test(`a proxy that answers with ${status} is named`, async (t) => {
    const { get } = await parts(t, status);
    await t.throwsAsync(get(`https://${NAME}/`), { code: `HTTP status ${status} of the proxy` });
  });

test('a proxy that is down is an error', async (t) => {
  const { get } = await parts(t);
  await t.throwsAsync(get(`https://${NAME}/`, { proxy: new URL('http://127.0.0.1:9') }), {
    code: 'ECONNREFUSED',
  });
});

test('this machine, plain addresses and those of certificates are not asked through it', async (t) => {
  const { asked, get, port, served } = await parts(t);
  t.deepEqual(await get(`https://127.0.0.1:${served}/a`), ['GET /a', 'GET /a']);
  t.deepEqual(await get(`http://127.0.0.1:${port}/`), ['', '']);
  const resolve = () => Promise.resolve([{ address: '10.0.0.1', family: 4 }]);
  await t.throwsAsync(get(`https://${NAME}/`, { policy: 'public', resolve }), { code: 'address.not-public' });
  t.deepEqual(asked, []);
});
