import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { systemClock } from '@sealwright/runtime';
import { SimulatedClock } from '@sealwright/runtime/testing';
import type { AuthorityRequest, CryptoError, HttpTransport } from '@sealwright/signatures';
import test from 'ava';
import { createAuthorityTransport } from '../../../../actors/shared/signing/authority-transport.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serving(
  handler: Handler,
  work: (baseUrl: string, connections: () => number) => Promise<void>,
): Promise<void> {
  let connections = 0;
  const server = createServer(handler);
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, () => connections);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

const transport = createAuthorityTransport({ clock: systemClock, allowPrivate: false, issuerHosts: [] });
const anywhere = createAuthorityTransport({ clock: systemClock, allowPrivate: true, issuerHosts: [] });
test.after.always(() => {
  transport.close();
  anywhere.close();
});

function get(url: string, others: Partial<AuthorityRequest> = {}): AuthorityRequest {
  return {
    url,
    method: 'GET',
    headers: {},
    timeout: 60_000,
    maxBytes: 1_000,
    urlFrom: 'operator',
    ...others,
  };
}

async function refusal(work: Promise<unknown>): Promise<CryptoError> {
  try {
    await work;
  } catch (error) {
    return error as CryptoError;
  }
  throw new Error('Nothing was refused.');
}

test('an exchange sends headers and body unchanged and returns the body of the answer', async (t) => {
  const handler: Handler = async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
    const { method, url, headers } = request;
    response.end(
      JSON.stringify([
        method,
        url,
        headers['x-a'],
        headers['content-length'],
        Buffer.concat(pieces).toString(),
      ]),
    );
  };
  await serving(handler, async (baseUrl) => {
    const request = get(`${baseUrl}/a?b=c`, {
      method: 'POST',
      headers: { 'x-a': 'yes' },
      body: Buffer.from('bytes'),
    });
    t.deepEqual(JSON.parse((await transport.exchange(request)).toString()), [
      'POST',
      '/a?b=c',
      'yes',
      '5',
      'bytes',
    ]);
  });
});

test('connections to an authority are reused', async (t) => {
  await serving(
    (_, response) => response.end('x'),
    async (baseUrl, connections) => {
      for (let round = 0; round < 5; round++) await transport.exchange(get(baseUrl));
      t.is(connections(), 1);
    },
  );
});

test('retryable statuses are unreachable, the others are refusals, and both messages contain the address alone', async (t) => {
  await serving(
    (request, response) => response.writeHead(Number(request.url?.slice(1, 4))).end(),
    async (baseUrl) => {
      for (const [status, code] of [
        [500, 'authority.unreachable'],
        [503, 'authority.unreachable'],
        [429, 'authority.unreachable'],
        [404, 'authority.refused'],
        [401, 'authority.refused'],
        [204, 'authority.refused'],
        [304, 'authority.refused'],
      ] as const) {
        const url = `${baseUrl.replace('//', '//user:secret@')}/${status}?token=secret`;
        const error = await refusal(transport.exchange(get(url)));
        t.is(error.code, code, String(status));
        t.is(error.message, `${baseUrl}/${status} answers with HTTP status ${status}.`);
      }
    },
  );
});

test('an address without a listener is reported as unreachable, with the address and the reason', async (t) => {
  const error = await refusal(transport.exchange(get('http://user:secret@127.0.0.1:1/x')));
  t.is(error.code, 'authority.unreachable');
  t.is(error.message, "http://127.0.0.1:1/x can't be reached: ECONNREFUSED.");
});

test('a body over the limit is refused, with and without a length', async (t) => {
  const handler: Handler = (request, response) => {
    if (request.url === '/announced') response.writeHead(200, { 'content-length': 2000 });
    response.write(Buffer.alloc(500));
    response.end(Buffer.alloc(1500));
  };
  await serving(handler, async (baseUrl) => {
    for (const path of ['/announced', '/streamed']) {
      const error = await refusal(transport.exchange(get(baseUrl + path)));
      t.is(error.code, 'authority.refused');
      t.is(error.message, `${baseUrl}${path} answers with more than 1000 bytes.`);
    }
    t.is((await transport.exchange(get(`${baseUrl}/streamed`, { maxBytes: 2000 }))).length, 2000);
  });
});

test('the time limit of an exchange covers its last byte, by the given clock', async (t) => {
  for (const part of ['', 'beginning']) {
    const clock = new SimulatedClock(0);
    const simulated = createAuthorityTransport({ clock, allowPrivate: false, issuerHosts: [] });
    let arrived: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const handler: Handler = (_, response) => {
      if (part !== '') response.write(part);
      arrived();
    };
    await serving(handler, async (baseUrl) => {
      const failed = refusal(simulated.exchange(get(baseUrl, { timeout: 250 })));
      await asked;
      await clock.advance(250);
      const error = await failed;
      t.is(error.code, 'authority.unreachable');
      t.regex(error.message, /no answer within 250 milliseconds/);
    });
    simulated.close();
  }
});

test('answers that count as created or as copies are answers, and GZIP that nobody asked for is taken off', async (t) => {
  const content = Buffer.alloc(900, 'answer ');
  const handler: Handler = (request, response) => {
    const [, status, form] = request.url?.split('/') ?? [];
    const body = form === 'plain' ? content : gzipSync(content);
    response.writeHead(Number(status), form === 'gzip' ? { 'content-encoding': 'gzip' } : {});
    response.end(form === 'cut' ? body.subarray(0, -9) : body);
  };
  await serving(handler, async (baseUrl) => {
    for (const path of ['/200/plain', '/201/plain', '/203/plain', '/200/gzip', '/200/unsaid'])
      t.deepEqual(await transport.exchange(get(baseUrl + path)), content, path);
    const large = await refusal(transport.exchange(get(`${baseUrl}/200/gzip`, { maxBytes: 899 })));
    t.is(large.message, `${baseUrl}/200/gzip answers with more than 899 bytes.`);
    const cut = await refusal(transport.exchange(get(`${baseUrl}/200/cut`)));
    t.is(cut.code, 'authority.refused');
    t.regex(cut.message, /damaged GZIP/);
  });
});

test('redirects are followed three times, and credentials stay with their server', async (t) => {
  const seen: (string | undefined)[] = [];
  const other: Handler = (request, response) => {
    seen.push(request.headers.authorization);
    response.end('there');
  };
  await serving(other, async (elsewhere) => {
    const handler: Handler = (request, response) => {
      const hops = Number(request.url?.slice(1));
      seen.push(request.headers.authorization);
      const location = hops > 0 ? `/${hops - 1}` : elsewhere;
      response.writeHead(302, { location }).end();
    };
    await serving(handler, async (baseUrl) => {
      const headers = { authorization: 'Basic eA==' };
      const refused = await refusal(transport.exchange(get(`${baseUrl}/0`, { headers })));
      t.regex(refused.message, /^127\.0\.0\.1 has no public address/);
      seen.length = 0;
      t.is((await anywhere.exchange(get(`${baseUrl}/2`, { headers }))).toString(), 'there');
      t.deepEqual(seen, ['Basic eA==', 'Basic eA==', 'Basic eA==', undefined]);
      const error = await refusal(transport.exchange(get(`${baseUrl}/3`)));
      t.is(error.code, 'authority.refused');
      t.regex(error.message, /redirects more than 3 times/);
    });
  });
});

test('a redirect leads from http to https, and to no other scheme', async (t) => {
  const redirected = (location: string, how: HttpTransport) =>
    new Promise<CryptoError>((resolve, reject) => {
      serving(
        (_, response) => response.writeHead(301, { location }).end(),
        async (baseUrl) => resolve(await refusal(how.exchange(get(baseUrl)))),
      ).catch(reject);
    });
  for (const location of ['file:///etc/passwd', 'http://[']) {
    const error = await redirected(location, transport);
    t.is(error.code, 'authority.refused');
    t.regex(error.message, /not an http or https URL/);
  }
  // Nobody listens there: that it was tried is what counts. The addresses of a redirect are public ones.
  t.regex((await redirected('https://127.0.0.1:1/', anywhere)).message, /can't be reached: ECONNREFUSED/);
  t.regex((await redirected('https://127.0.0.1:1/', transport)).message, /has no public address/);
});

test('a connection that breaks during an answer is unreachable', async (t) => {
  const handler: Handler = (_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('part', () => response.destroy());
  };
  await serving(handler, async (baseUrl) => {
    const error = await refusal(transport.exchange(get(baseUrl)));
    t.is(error.code, 'authority.unreachable');
  });
});

test('a reused connection that the server closes is replaced by a new one', async (t) => {
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections++;
    let requests = 0;
    socket.on('error', () => {});
    socket.on('data', () => (++requests === 1 ? socket.write(answer) : socket.resetAndDestroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const own = createAuthorityTransport({ clock: systemClock, allowPrivate: false, issuerHosts: [] });
  for (let round = 0; round < 3; round++) t.is((await own.exchange(get(url))).toString(), 'ok');
  t.is(connections, 3);
  own.close();
  await new Promise((resolve) => server.close(resolve));
});
