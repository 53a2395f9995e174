/** Refusals of docs/portal-values.md §2, and malformed or hostile requests. */

import { Retryable } from '@sealwright/runtime';
import test from 'ava';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import { ask } from '../ask.ts';
import { RawClient } from '../harness.ts';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { IDS, KEY } from './memory-portal.ts';

const DOCUMENT = `/api/documents/${IDS.document}`;

test('a missing member is reported with the documented sentence', async (t) => {
  const { send } = await startPortal(t);
  const answer = await send('/api/uploads/bytes', {});
  t.is(
    await answer.text(),
    '{"code":"BadRequest","message":"The Bytes field is required.","errors":{"Bytes":["The Bytes field is required."]}}',
  );
  t.is(answer.status, 400);
});

test('every invalid member is reported with its path in the request', async (t) => {
  const { send } = await startPortal(t);
  const body = await assertRefused(
    t,
    await send('/api/documents', {
      files: [{ displayName: 'A', id: 'nonsense', name: null, contentType: 7 }],
      flowActions: [{ step: 1.5, user: 'me' }],
      isEnvelope: 'yes',
    }),
    'BadRequest',
  );
  t.deepEqual(body.errors, {
    'Files[0].Id': ['The Id field must be a UUID.'],
    'Files[0].Name': ['The Name field is required.'],
    'Files[0].ContentType': ['The ContentType field must be a string.'],
    'FlowActions[0].Step': ['The Step field must be a whole number.'],
    'FlowActions[0].User': ['The User field must be an object.'],
    IsEnvelope: ['The IsEnvelope field must be true or false.'],
  });
  t.is(body.message, 'The Id field must be a UUID.');
});

test('a reason that is absent, empty or blank is required', async (t) => {
  const { send } = await startPortal(t);
  for (const body of [{}, { reason: '' }, { reason: '  ' }, { reason: null }, '']) {
    for (const what of ['cancellation', 'refusal']) {
      const refused = await assertRefused(t, await send(`${DOCUMENT}/${what}`, body), 'BadRequest');
      t.is(refused.message, 'The Reason field is required.');
    }
  }
});

test('a name without a visible character is required', async (t) => {
  const { send } = await startPortal(t);
  const file = { displayName: 'A', id: IDS.document, name: 'a.pdf', contentType: 'application/pdf' };
  const flowActions = [{ type: 'Signer', user: { name: 'Ana', email: 'ana@example.com' } }];
  const named: readonly (readonly [path: string, body: (name: string) => object, message: string])[] = [
    ['/api/documents', (displayName) => ({ files: [{ ...file, displayName }], flowActions }), 'DisplayName'],
    ['/api/documents', (name) => ({ files: [{ ...file, name }], flowActions }), 'Name'],
    ['/api/folders', (name) => ({ name }), 'Name'],
    ['/api/document-flows', (name) => ({ name, flowActions }), 'Name'],
    ['/api/templates', (name) => ({ name, document: { files: [file], flowActions } }), 'Name'],
    ['/api/document-drafts', (name) => ({ name, document: { files: [file], flowActions } }), 'Name'],
    ['/api/organizations/users', (name) => ({ name, email: 'ana@example.com' }), 'Name'],
  ];
  for (const [path, body, member] of named) {
    for (const name of [' ', '\u200b', '\u2060\u00ad', '\ufe0f', '\u2800']) {
      const refused = await assertRefused(t, await send(path, body(name)), 'BadRequest');
      t.is(refused.message, `The ${member} field is required.`, `${path} ${JSON.stringify(name)}`);
    }
    t.notRegex(await (await send(path, body('\u200bA'))).text(), /is required/, path);
  }
});

test('a refusal has its code, a message and flat details', async (t) => {
  const { send, set } = await startPortal(t);
  set('documents.refuse', () => {
    throw new PortalRefusal('InvalidDocumentStatus', 'Zu spät: 日本語 is\nConcluded.', {
      details: { status: 'Concluded', name: 'Größe' },
    });
  });
  const body = await assertRefused(
    t,
    await send(`${DOCUMENT}/refusal`, { reason: 'x' }),
    'InvalidDocumentStatus',
  );
  t.is(body.message, 'Zu sp?t: ? is?Concluded.');
  t.deepEqual(body.details, { status: 'Concluded', name: 'Größe' });
});

test('a refusal without details has details null', async (t) => {
  const { call, set } = await startPortal(t);
  set('documents.get', () => {
    throw new PortalRefusal('DocumentNotFound');
  });
  const answer = await call(DOCUMENT);
  t.is(
    await answer.text(),
    '{"code":"DocumentNotFound","message":"No document has this id.","details":null}',
  );
});

test('an unknown path is 404 with a null resource name', async (t) => {
  const { call } = await startPortal(t);
  const answer = await call('/api/nothing');
  t.is(answer.status, 404);
  t.deepEqual(await answer.json(), {
    message: 'Nothing is at /api/nothing.',
    resourceName: null,
    resourceId: null,
  });
});

test('malformed ids are answered like unknown ones', async (t) => {
  const { call, send, calls } = await startPortal(t);
  await assertRefused(t, await call('/api/documents/7'), 'DocumentNotFound');
  await assertRefused(t, await call('/api/documents/7/content'), 'DocumentNotFound');
  await assertRefused(t, await call('/api/folders/7'), 'FolderNotFound');
  await assertRefused(t, await call('/api/organizations/7'), 'OrganizationNotFound');
  const organization = `/api/organizations/${IDS.organization}`;
  await assertRefused(t, await call(`${organization}/webhooks/7`, { method: 'DELETE' }), 'WebhookNotFound');
  await assertRefused(t, await send('/api/organizations/7/webhooks', { url: 'x' }), 'OrganizationNotFound');
  t.deepEqual(
    calls.filter(({ name }) => name !== 'tenants.identify'),
    [],
    'nobody was asked',
  );
});

test('a webhook of another organization is answered like an unknown one', async (t) => {
  const { call, send } = await startPortal(t);
  const other = `/api/organizations/${IDS.folder}`;
  await assertRefused(t, await call(other), 'OrganizationNotFound');
  for (const path of ['webhooks', 'deliveries']) {
    await assertRefused(t, await call(`${other}/${path}`), 'OrganizationNotFound');
  }
  await assertRefused(t, await send(`${other}/webhooks`, { url: 'https://x' }), 'OrganizationNotFound');
  const replay = { from: '2026-01-01', to: '2026-01-02' };
  await assertRefused(t, await send(`${other}/deliveries/replay`, replay), 'OrganizationNotFound');
});

test('an unsupported method is answered with the supported ones', async (t) => {
  const { call } = await startPortal(t);
  const answer = await call(DOCUMENT, { method: 'PATCH' });
  await assertRefused(t, answer, 'MethodNotAllowed');
  t.is(answer.headers.get('allow'), 'DELETE, GET, HEAD');
});

test('a body over the limit is refused before and while it is read', async (t) => {
  const { send, port } = await startPortal(t);
  const large = JSON.stringify({ reason: 'x'.repeat(9 * 1024 * 1024) });
  await assertRefused(t, await send(`${DOCUMENT}/cancellation`, large), 'PayloadTooLarge');
  const client = await RawClient.connect(port);
  await client.send(
    `POST ${DOCUMENT}/cancellation HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  const chunk = `100000\r\n${' '.repeat(0x100000)}\r\n`;
  for (let sent = 0; sent < 9; sent += 1) await client.send(chunk);
  await client.until(/\r\n\r\n/);
  t.regex(client.received, /^HTTP\/1\.1 413 Content Too Large\r\n/);
  client.reset();
});

const NONSENSE: { readonly [what: string]: string } = {
  'no JSON': '{"reason":',
  'a list': '["reason"]',
  'a text': '"reason"',
  'nothing but null': 'null',
  'lists in lists': `{"reason":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  'objects in objects': `${'{"a":'.repeat(30_000)}1${'}'.repeat(30_000)}`,
  'bytes that are no UTF-8': '{"reason":"\u00ff"}',
};
for (const [what, text] of Object.entries(NONSENSE)) {
  test(`a body that is ${what} is a bad request`, async (t) => {
    const { call } = await startPortal(t);
    const answer = await call(`${DOCUMENT}/cancellation`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(text, 'latin1'),
    });
    await assertRefused(t, answer, 'BadRequest');
  });
}

test('names of Object.prototype are not members of a request', async (t) => {
  const { send, calls } = await startPortal(t);
  const body = '{"__proto__":{"reason":"x"},"constructor":{"prototype":{"reason":"y"}}}';
  await assertRefused(t, await send(`${DOCUMENT}/cancellation`, body), 'BadRequest');
  t.false(calls.some(({ name }) => name === 'documents.cancel'));
  t.is(({} as { reason?: string }).reason, undefined);
});

test('an internal error has no internal details in Production', async (t) => {
  for (const production of [true, false]) {
    const { call, set, lines } = await startPortal(t, { production });
    set('documents.get', () => {
      throw new Error('secret of the inside');
    });
    const text = await (await call(DOCUMENT)).text();
    t.is(text.includes('secret'), !production);
    const { details, ...body } = JSON.parse(text);
    t.deepEqual(body, { code: 'InternalError', message: 'Something went wrong inside the service.' });
    t.is(details === null, production);
    t.is(lines.filter(({ level }) => level === 'error').length, 1);
  }
});

test('a busy or throttled service answers with Retry-After', async (t) => {
  const { call, send, set } = await startPortal(t);
  set('documents.get', () => {
    throw new Retryable('mailbox.full', 'Too many wait.', 2500);
  });
  const busy = await call(DOCUMENT);
  await assertRefused(t, busy, 'ServiceBusy');
  t.is(busy.headers.get('retry-after'), '3');
  set('signing.sendCode', () => {
    throw new PortalRefusal('TooManyRequests');
  });
  const throttled = await send('/api/documents/keys/K/email-authentication-code', { ticket: 't' });
  await assertRefused(t, throttled, 'TooManyRequests');
  t.is(throttled.headers.get('retry-after'), '1');
});

test('each client gets ten validations by key a second', async (t) => {
  const elapsed = { now: 0 };
  const clock = {
    now: () => 0,
    elapsed: () => elapsed.now,
    after: () => () => {},
    sleep: () => Promise.resolve(),
  };
  const { call, set } = await startPortal(t, {}, { clock });
  set('validation.byKey', () => {
    throw new PortalRefusal('DocumentInvalidKey');
  });
  const validate = () => call('/api/documents/keys/ABC/signatures');
  for (let count = 0; count < 10; count += 1) await assertRefused(t, await validate(), 'DocumentInvalidKey');
  const refused = await validate();
  await assertRefused(t, refused, 'TooManyRequests');
  t.is(refused.headers.get('retry-after'), '1');
  elapsed.now = 1000;
  await assertRefused(t, await validate(), 'DocumentInvalidKey');
});

test('a request head over the limit is refused, and the next client is served', async (t) => {
  const { port, call } = await startPortal(t);
  const client = await RawClient.connect(port);
  await client.send(`GET /api/documents HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${'k'.repeat(100_000)}\r\n\r\n`);
  await client.until(/\r\n\r\n/);
  t.notRegex(client.received, /^HTTP\/1\.1 2/);
  client.reset();
  t.is((await call('/api/documents')).status, 200);
});

test('a host that is not allowed is refused', async (t) => {
  const { port } = await startPortal(t, { allowedHosts: ['portal.example'] });
  const answer = await ask(port, 'GET', {
    path: '/api/documents',
    headers: { Host: 'evil.example', 'X-Api-Key': KEY },
  });
  t.is(answer.status, 400);
  t.is(JSON.parse(answer.text).code, 'BadRequest');
  t.is(
    (await ask(port, 'GET', { path: '/api/health', headers: { Host: 'portal.example:8090' } })).status,
    200,
  );
});

test('request log lines contain no keys or tickets', async (t) => {
  const { call, send, lines, port } = await startPortal(t);
  await call(`${DOCUMENT}/content`);
  await send('/api/documents/keys/K/approval', { ticket: 'my-ticket' });
  await call('/api/reports/7?access_ticket=my-ticket');
  await ask(port, 'GET', { path: '/api/documents', headers: { 'X-Api-Key': 'Other|my-secret' } });
  t.true(lines.length >= 4);
  t.notRegex(JSON.stringify(lines), /my-ticket|my-secret|0123456789abcdef/);
});

test('requests during the stop are answered with its code', async (t) => {
  const { port, set, server } = await startPortal(t);
  let finish = () => {};
  const held = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    set('documents.list', async () => {
      resolve();
      await held;
      return { items: [], totalCount: 0 };
    });
  });
  const client = await RawClient.connect(port);
  await client.send(`GET /api/documents HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${KEY}\r\n\r\n`);
  await asked;
  const late = await RawClient.connect(port);
  await late.send('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
  await late.until(/Healthy/);
  const closing = server.close();
  await late.send('GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n');
  await late.whenClosed;
  t.regex(late.received, /503 Service Unavailable[\s\S]*Retry-After: 1[\s\S]*"code":"ServiceBusy"/);
  finish();
  await client.whenClosed;
  t.regex(client.received, /^HTTP\/1\.1 200 OK/);
  await closing;
});
