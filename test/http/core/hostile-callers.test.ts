import test from 'ava';
import { logIn } from '../ask.ts';
import { KEY, RawClient, startServer } from '../harness.ts';

/** A request line and headers, as bytes; the answer's status, or 0 when the connection was dropped. */
async function status(port: number, head: string, body = ''): Promise<number> {
  const client = await RawClient.connect(port);
  await client.send(
    `${head}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  await client.until(/HTTP\/1\.1 \d{3}/);
  client.reset();
  return Number(/HTTP\/1\.1 (\d{3})/.exec(client.received)?.[1] ?? 0);
}

const TRUST = { anyProxy: true, proxies: [], networks: [], limit: 16 };

test('hostile caller and session headers are refused, and the service continues', async (t) => {
  const { port, lines } = await startServer(t, {
    forwarded: TRUST,
    allowedHosts: ['x'],
    requireHttps: false,
  });
  const { cookie } = await logIn(port, KEY, { Host: 'x' });
  const strange = [
    '',
    ',',
    ',,,,,,,,,,,,,,,,,,,,,',
    '\u0000',
    '\u00ff\u00fe',
    '[',
    '[]',
    '[::',
    '[::1]:99999999999',
    '1.2.3.4:',
    '999.999.999.999',
    '0x7f.1',
    '%00',
    '::ffff:1.2.3',
    '::%',
    'a'.repeat(4000),
    '1.1.1.1,'.repeat(400),
    '__proto__',
    '=;=;=',
    'batch-auth',
    'batch-auth==',
    `batch-auth=${'A'.repeat(3000)}`,
    '"',
    'https://',
    'https://[',
    'null',
    'same-origin, same-origin',
  ];
  for (const name of [
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Forwarded-Host',
    'Cookie',
    'Origin',
    'Sec-Fetch-Site',
    'X-API-Key',
    'Accept',
    'Traceparent',
  ]) {
    for (const value of strange) {
      for (const start of [
        'GET /api/whoami',
        'POST /api/auth/login',
        'POST /api/pipeline/pause',
        'GET /scalar/v1',
      ]) {
        const head = `${start} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n${name}: ${value}`;
        const given = await status(port, head, 'ApiKey=x');
        t.true(
          [0, 302, 400, 401, 403, 429].includes(given),
          `${start} ${name} ${value.slice(0, 40)}: ${given}`,
        );
      }
    }
  }
  t.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  );
  t.is(await status(port, `GET /api/whoami HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}`), 200);
});
