/** Costs of a body: credentials are checked first, size and faults are bounded, a worker parses large ones. */
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { MAX_FIELD_FILE_BYTES } from '../../../contracts/portal/signing/signing.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { portalTable } from '../descriptions.ts';
import { RawClient } from '../harness.ts';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { IDS, KEY } from './memory-portal.ts';

const BY_KEY = '/api/documents/keys/ABCDEFGHIJ0123456789';
const OPEN_BODY_BYTES = 64 * 1024;
const FILE = { displayName: 'A', id: IDS.user, name: 'a.pdf', contentType: 'application/pdf' };
const MARK = { topLeftX: 1, topLeftY: 2, width: 3, height: 4, pageNumber: 1 };
const NO_KEY = { 'x-api-key': '' };

/** Operations that read JSON of anonymous callers. */
const OPEN = portalTable()
  .filter(
    ({ auth, bodyPolicy }) => bodyPolicy === 'json' && (auth === 'anonymous' || auth === 'known-or-ticket'),
  )
  .map(({ path }) => path.replace('{key}', 'ABCDEFGHIJ0123456789'));
/** Those of participants; the bodies of the others are a ticket alone, or what a visitor of a link enters. */
const OF_PARTICIPANTS = OPEN.filter((path) => path.startsWith(BY_KEY));
const WITH_PICTURE = `${BY_KEY}/electronic-signature`;

test('a body without a valid ticket is read up to the ticket alone', async (t) => {
  const { send, set, calls } = await startPortal(t);
  set('signing.checkAccess', () => {
    throw new PortalRefusal('InvalidTicket');
  });
  t.deepEqual([OPEN.length, OF_PARTICIPANTS.length], [24, 9]);
  for (const path of OF_PARTICIPANTS) {
    const faults = {
      signaturePositions: [{}],
      certificate: 7,
      signature: 7,
      reason: 7,
      documentVersion: 'x',
    };
    const bad = await send(path, { ...faults, ticket: 'stolen' }, { headers: NO_KEY });
    await assertRefused(t, bad, 'InvalidTicket');
    await assertRefused(t, await send(path, faults, { headers: NO_KEY }), 'Unauthorized');
  }
  t.deepEqual([...new Set(calls.map(({ name }) => name))], ['signing.checkAccess']);
});

test('a file upload of a participant stores nothing without a valid ticket, nor above its limit', async (t) => {
  const { url, set, calls, sinks } = await startPortal(t);
  const send = (bytes: number, query = '?ticket=x&field=id') => {
    const body = new FormData();
    body.set('file', new Blob([Buffer.alloc(bytes)]), 'a.pdf');
    return fetch(`${url}${BY_KEY}/uploads${query}`, { method: 'POST', body });
  };
  set('signing.checkFieldUpload', () => {
    throw new PortalRefusal('InvalidTicket');
  });
  await assertRefused(t, await send(1_000_000), 'InvalidTicket');
  await assertRefused(t, await send(1_000_000, '?field=id'), 'Unauthorized');
  await assertRefused(t, await send(1_000_000, '?ticket=x'), 'BadRequest');
  t.is(sinks.length, 0);
  set('signing.checkFieldUpload', () => undefined);
  await assertRefused(t, await send(MAX_FIELD_FILE_BYTES + 1), 'PayloadTooLarge');
  t.true(sinks.every(({ aborted }) => aborted));
  t.false(calls.some(({ name }) => name === 'signing.acceptFieldUpload'));
});

test('one client uploads thirty files for fields in ten seconds', async (t) => {
  const { url, set } = await startPortal(t, {}, { clock: { ...systemClock, elapsed: () => 0 } });
  set('signing.checkFieldUpload', () => {
    throw new PortalRefusal('InvalidTicket');
  });
  const send = () => fetch(`${url}${BY_KEY}/uploads?ticket=x&field=id`, { method: 'POST' });
  for (let count = 0; count < 30; count += 1) await assertRefused(t, await send(), 'InvalidTicket');
  await assertRefused(t, await send(), 'TooManyRequests');
});

test('a token alone is checked before the signature that comes with it', async (t) => {
  const { send, set } = await startPortal(t);
  set('signing.checkAccess', ({ by }: { by: string }) => {
    if (by === 'token') throw new PortalRefusal('InvalidTicket');
  });
  const answer = await send(`${BY_KEY}/signature`, { token: 'x', signature: 7 }, { headers: NO_KEY });
  await assertRefused(t, answer, 'InvalidTicket');
});

test('without a key exactly 64 KiB of JSON are read', async (t) => {
  const { send } = await startPortal(t);
  for (const path of OPEN) {
    if (path === WITH_PICTURE) continue;
    const body = (bytes: number) => `{"ticket":"x","typedName":7}`.padEnd(bytes);
    const most = await send(path, body(OPEN_BODY_BYTES), { headers: NO_KEY });
    t.not(most.status, 413, path);
    await most.arrayBuffer();
    await assertRefused(
      t,
      await send(path, body(OPEN_BODY_BYTES + 1), { headers: NO_KEY }),
      'PayloadTooLarge',
    );
  }
});

test('an electronic signature with a picture of two MiB and a thousand marks arrives unchanged', async (t) => {
  const { send, last } = await startPortal(t);
  const picture = Buffer.alloc(2 * 1024 * 1024, 'picture');
  const body = {
    ticket: 't',
    signaturePositions: Array.from({ length: 1000 }, () => MARK),
    signatureImage: { contentB64: picture.toString('base64') },
  };
  t.is((await send(WITH_PICTURE, body, { headers: NO_KEY })).status, 200);
  const [, signing] = last('signing.signElectronically')?.args ?? [];
  const { image, positions } = signing as { readonly image: Buffer; readonly positions: readonly object[] };
  t.true(Buffer.isBuffer(image) && image.equals(picture));
  t.is(positions.length, 1000);
  const more = { ...body, signaturePositions: [...body.signaturePositions, MARK] };
  const refused = await assertRefused(t, await send(WITH_PICTURE, more, { headers: NO_KEY }), 'BadRequest');
  t.deepEqual(refused.errors, {
    SignaturePositions: ['The SignaturePositions field must have at most 1000 items.'],
  });
});

test('the answer to a request with many faults names at most twenty and stays small', async (t) => {
  const { send } = await startPortal(t);
  const empty = { prePositionedMarks: Array.from({ length: 4 }, () => ({})) };
  for (const body of [
    {
      files: Array.from({ length: 50 }, () => ({})),
      flowActions: Array.from({ length: 100 }, () => empty),
    },
    {
      files: [FILE],
      flowActions: [{}],
      additionalInfo: { fields: { ['\u0001'.repeat(400)]: 7, ['x'.repeat(501)]: 'y' } },
    },
    { files: [FILE], flowActions: [{}], tags: Array.from({ length: 100 }, () => ({ value: '' })) },
  ]) {
    const answer = await send('/api/documents', body);
    const { errors = {} } = await assertRefused(t, answer.clone(), 'BadRequest');
    const errorCount = Object.values(errors).flat().length;
    t.true(errorCount >= 1 && errorCount <= 20, String(errorCount));
    t.true((await answer.text()).length < 64 * 1024);
  }
});

for (const [what, text] of [
  ['twenty thousand values', `{"ticket":"x","signaturePositions":[${'{},'.repeat(10_001)}`],
  ['sixty-four levels', `{"ticket":"x","a":${'['.repeat(64)}`],
] as const) {
  test(`a body of more than ${what} is refused while it arrives`, async (t) => {
    const { port } = await startPortal(t);
    const client = await RawClient.connect(port);
    await client.send(
      `POST ${BY_KEY}/approval HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n${text}`,
    );
    await client.until(/HTTP\/1\.1 \d{3}[\s\S]*"code"/);
    t.regex(client.received, /^HTTP\/1\.1 400 [\s\S]*"BadRequest"/);
    client.reset();
  });
}

test.serial('large JSON is parsed on another thread with the same result', async (t) => {
  const { send, calls } = await startPortal(t);
  const creation = (marks: number) => ({
    files: [FILE],
    flowActions: [
      {
        user: { name: 'Ann', email: 'ann@example.com' },
        prePositionedMarks: Array.from({ length: marks }, () => MARK),
      },
    ],
    tags: Array.from({ length: 100 }, (_, index) => ({ label: null, value: `${index}`.padEnd(3000, 'x') })),
  });
  const parsed: number[] = [];
  const parse = JSON.parse;
  JSON.parse = (text: string, ...more: []) => {
    parsed.push(text.length);
    return parse(text, ...more);
  };
  try {
    const key = { 'idempotency-key': 'once' };
    t.is((await send('/api/documents', creation(10), { headers: key })).status, 200);
    t.is((await send('/api/documents', creation(10), { headers: key })).status, 200);
    await assertRefused(
      t,
      await send('/api/documents', creation(11), { headers: key }),
      'IdempotencyConflict',
    );
    const wrong = { ...creation(10), envelopeName: 7 };
    const refused = await assertRefused(t, await send('/api/documents', wrong), 'BadRequest');
    t.deepEqual(refused.errors, { EnvelopeName: ['The EnvelopeName field must be a string.'] });
    const { tags, ...others } = creation(10);
    const excess = { ...others, tags: [...tags, { value: 'one more' }] };
    const over = await assertRefused(t, await send('/api/documents', excess), 'LimitExceeded');
    t.is(over.message, 'A document has at most 100 tags.');
  } finally {
    JSON.parse = parse;
  }
  t.true(
    parsed.every((length) => length < 64 * 1024),
    'the main thread parsed a large body',
  );
  const made = calls.filter(({ name }) => name === 'documents.create');
  t.is(made.length, 1);
  const [, request] = made[0]?.args ?? [];
  t.like(request, {
    files: [FILE],
    tags: { length: 100 },
    flowActions: { 0: { prePositionedMarks: { length: 10 } } },
  });
});

test('a segment of an upload without a valid ticket is refused before any byte is stored', async (t) => {
  const { port, set, sinks } = await startPortal(t);
  set('uploads.checkSegmentTicket', () => {
    throw new PortalRefusal('NotFound');
  });
  const client = await RawClient.connect(port);
  await client.send(
    'POST /api/uploads?ticket=x HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n' +
      'Content-Range: bytes 0-99999/200000\r\nContent-Length: 100200\r\n\r\n' +
      '--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\nfirst bytes',
  );
  await client.until(/HTTP\/1\.1 \d{3}/);
  t.regex(client.received, /^HTTP\/1\.1 404 /);
  t.deepEqual(sinks, []);
  client.reset();
});

test('with a key and without a ticket the principal is the application of the key', async (t) => {
  const { send, calls } = await startPortal(t);
  t.is(
    (await send(`${BY_KEY}/approval`, { flowActionId: IDS.action }, { headers: { 'x-api-key': KEY } }))
      .status,
    200,
  );
  t.false(calls.some(({ name }) => name === 'signing.checkAccess'));
});
