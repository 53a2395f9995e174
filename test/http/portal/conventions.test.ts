/** Wire conventions of docs/portal-values.md §1, row by row. */
import test from 'ava';
import { z } from 'zod';
import { ask } from '../ask.ts';
import { RawClient } from '../harness.ts';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { DOCUMENT, IDS, KEY, SECRET, UNICODE_KEY } from './memory-portal.ts';

const CREATION = {
  files: [{ displayName: 'A', id: IDS.user, name: 'a.pdf', contentType: 'application/pdf' }],
  flowActions: [{ type: 'Signer', user: { name: 'Zoë', email: 'z@example.com' } }],
};

// Row 1
for (const type of [
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json-patch+json',
  'application/json-patch+json; charset=utf-8',
  'text/json',
  'application/vnd.example.v1+json',
  'application/*+json',
  'APPLICATION/JSON',
]) {
  test(`a JSON body is accepted with the media type ${type}`, async (t) => {
    const { send, last } = await startPortal(t);
    const answer = await send('/api/documents', CREATION, { headers: { 'content-type': type } });
    t.is(answer.status, 200);
    t.like(last('documents.create')?.args[1], { files: CREATION.files });
  });
}

for (const type of ['text/plain', 'application/xml', 'application/json; charset=utf-16', 'multipart/json']) {
  test(`a body with the media type ${type} is not read as JSON`, async (t) => {
    const { send } = await startPortal(t);
    const answer = await send('/api/documents', CREATION, { headers: { 'content-type': type } });
    await assertRefused(t, answer, 'UnsupportedMediaType');
  });
}

for (const coding of ['gzip', 'br', 'deflate, gzip']) {
  test(`a body with the coding ${coding} is refused as compressed`, async (t) => {
    const { send, last } = await startPortal(t);
    const headers = { 'content-type': 'application/json', 'content-encoding': coding };
    const answer = await send('/api/documents', CREATION, { headers });
    t.regex((await assertRefused(t, answer, 'UnsupportedMediaType')).message, /without Content-Encoding/);
    t.is(last('documents.create'), undefined);
  });
}

// Row 2
for (const accept of [
  'application/json',
  'application/json, text/plain, */*',
  'text/plain',
  'text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2',
  'image/png',
]) {
  test(`answers are JSON in UTF-8 for a client that accepts ${accept}`, async (t) => {
    const { call, set, file } = await startPortal(t);
    const answer = await call(`/api/documents/${IDS.document}`, { headers: { accept } });
    t.is(answer.status, 200);
    t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    t.like(await answer.json(), { id: IDS.document });
    const stored = await file('%PDF-1.7', 'application/pdf', 'ä.pdf');
    set('documents.content', () => stored);
    const bytes = await call(`/api/documents/${IDS.document}/content`, { headers: { accept } });
    t.is(bytes.status, 200);
    t.is(bytes.headers.get('content-type'), 'application/pdf');
  });
}

// Row 3
test('members of requests are read in any letter case, at every depth', async (t) => {
  const { send, last } = await startPortal(t);
  const answer = await send('/api/documents', {
    Files: [{ DISPLAYNAME: 'A', Id: IDS.user.toUpperCase(), Name: 'a.pdf', ContentType: 'application/pdf' }],
    FlowActions: [{ Type: 'signer', USER: { NAME: 'Zoë' }, PrePositionedMarks: [] }],
    isenvelope: true,
    EnvelopeName: 'All',
  });
  t.is(answer.status, 200, await answer.text());
  t.like(last('documents.create')?.args[1], {
    files: CREATION.files,
    flowActions: [{ type: 'Signer', user: { name: 'Zoë' }, prePositionedMarks: [] }],
    isEnvelope: true,
    envelopeName: 'All',
  });
});

test('the last value that is not null counts when a member is sent in two letter cases', async (t) => {
  const { send, last } = await startPortal(t);
  const path = `/api/documents/keys/${DOCUMENT.key}/approval`;
  for (const [body, ticket] of [
    ['{"Ticket":"same","ticket":"same"}', 'same'],
    ['{"Ticket":"one","ticket":"two"}', 'two'],
    ['{"Ticket":"one","ticket":null}', 'one'],
    ['{"Ticket":null,"ticket":"two"}', 'two'],
  ]) {
    t.is((await send(path, body)).status, 200);
    t.like(last('signing.approve')?.args[0], { by: 'ticket', ticket });
  }
});

// Row 4
test('unknown members with any content are ignored, and named in a header', async (t) => {
  const { send, last } = await startPortal(t);
  const strange = { __proto__: 1, constructor: { x: [] }, toString: null, größe: [[{}]] };
  const body = `{"reason":"why","Unknown":${JSON.stringify(strange)},"__proto__":{"reason":7}}`;
  const answer = await send(`/api/documents/${IDS.document}/cancellation`, body);
  t.is(answer.status, 200);
  t.is(answer.headers.get('x-ignored-members'), 'Unknown, __proto__');
  t.is(last('documents.cancel')?.args[2], 'why');
});

test('members that are ignored at any depth are named by their paths, as far as the header has place', async (t) => {
  const { send } = await startPortal(t);
  const user = { ...CREATION.flowActions[0]?.user, 'e-mäil, 2\r\n\ud800': 1 };
  const flowActions = [{ type: 'Signer', user, when: null }];
  const ignoredOf = async (body: object, key = {}) => {
    const answer = await send('/api/documents', { ...CREATION, ...body }, { headers: key });
    t.is(answer.status, 200);
    return answer.headers.get('x-ignored-members');
  };
  t.is(await ignoredOf({}), null);
  t.is(await ignoredOf({ DESCRIPTION: 'known' }), null);
  const named = 'flowActions[0].when, flowActions[0].user.e-m%C3%A4il%2C%202%0D%0A%EF%BF%BD';
  // Stored answers have no headers; a large body is read by a thread.
  const again = { 'idempotency-key': 'again' };
  t.is(await ignoredOf({ flowActions }, again), named);
  t.is(await ignoredOf({ flowActions }, again), named);
  const tags = Array.from({ length: 30 }, () => ({ value: 'x'.repeat(3000) }));
  t.is(await ignoredOf({ flowActions, tags }), named);
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`m${index}`, 1]));
  t.is(await ignoredOf(many), `${Object.keys(many).slice(0, 10).join(', ')}, ...`);
  t.is(await ignoredOf({ [`x${'y'.repeat(300)}`]: 1 }), '...');
});

// Row 5
test('query parameters are read in any letter case, and unknown ones are ignored', async (t) => {
  const { call, last } = await startPortal(t);
  const answer = await call(
    '/api/documents?Q=abc&LIMIT=7&offset=2&OrganizationType=Normal&Status=concluded&participantq=z&what=ever',
  );
  t.is(answer.status, 200);
  t.like(last('documents.list')?.args[1], {
    q: 'abc',
    limit: 7,
    offset: 2,
    status: 'Concluded',
    participantQ: 'z',
  });
});

// Row 6
test('an empty query value or the text null counts as absent, also for ids, flags and enumerations', async (t) => {
  const { call, last, set } = await startPortal(t);
  set('folders.list', () => ({ items: [], totalCount: 0 }));
  const names = ['folderId', 'Order', 'IsConcluded', 'Status', 'ParticipantQ', 'Limit', 'Offset', 'Q'];
  for (const value of ['', 'null']) {
    const query = names.map((name) => `${name}=${value}`).join('&');
    t.is((await call(`/api/documents?organizationId=&${query}`)).status, 200);
    t.like(last('documents.list')?.args[1], {
      folderId: undefined,
      newestFirst: false,
      status: undefined,
      participantQ: undefined,
      q: undefined,
      limit: 10,
      offset: 0,
    });
    t.is((await call(`/api/folders?parentId=${value}&filterByParent=true`)).status, 200);
    t.like(last('folders.list')?.args[1], { filterByParent: true, parentId: undefined });
  }
});

// Row 7
test('flags in queries are true or false in any letter case, and a stray ampersand is ignored', async (t) => {
  const { call, last } = await startPortal(t);
  for (const [text, value] of [
    ['true', true],
    ['True', true],
    ['false', false],
    ['False', false],
  ] as const) {
    t.is((await call(`/api/documents?IsDeleted=${text}&`)).status, 200);
    t.like(last('documents.list')?.args[1], { deleted: value });
  }
  const body = await assertRefused(t, await call('/api/documents?IsDeleted=yes'), 'BadRequest');
  t.deepEqual(Object.keys(body.errors ?? {}), ['IsDeleted']);
});

// Row 8
test('enumeration values are read in any letter case and answered in their own, and unknown ones are refused', async (t) => {
  const { send, call, last, set, file } = await startPortal(t);
  const stored = await file('x', 'application/pdf', 'x.pdf');
  set('documents.content', () => stored);
  t.is((await call(`/api/documents/${IDS.document}/content?type=ORIGINALWITHMARKS`)).status, 200);
  t.is(last('documents.content')?.args[2], 'OriginalWithMarks');
  const detail = await (await call(`/api/documents/${IDS.document}`)).json();
  t.like(detail, { status: 'Pending', flowActions: [{ type: 'Signer', status: 'Pending' }] });
  const wrong = { ...CREATION, flowActions: [{ type: 'Witness' }] };
  const body = await assertRefused(t, await send('/api/documents', wrong), 'BadRequest');
  t.deepEqual(body.errors, {
    'FlowActions[0].Type': ['The Type field must be one of Signer, Approver, SignRule, ApproverRule.'],
  });
});

// Row 9
test('times are answered in UTC with milliseconds', async (t) => {
  const { call } = await startPortal(t);
  const body = (await (await call(`/api/documents/${IDS.document}`)).json()) as { creationDate: string };
  t.is(body.creationDate, '2026-05-26T15:42:11.123Z');
});

for (const [text, ends] of [
  ['2030-01-02T06:04:05+00:00', '2030-01-02T23:59:59.999Z'],
  ['2030-01-02T06:04:05Z', '2030-01-02T23:59:59.999Z'],
  ['2030-01-02T06:04:05.1234567Z', '2030-01-02T23:59:59.999Z'],
  ['2030-01-02T23:04:05.12-03:00', '2030-01-03T02:59:59.999Z'],
  ['2030-01-02T01:00:00+02:00', '2030-01-02T21:59:59.999Z'],
  ['2030-01-02T06:04:05', '2030-01-02T23:59:59.999Z'],
  ['2030-01-02', '2030-01-02T23:59:59.999Z'],
] as const) {
  test(`a document with the expiry ${text} expires after ${ends}`, async (t) => {
    const { send, last } = await startPortal(t);
    t.is((await send('/api/documents', { ...CREATION, expirationDate: text })).status, 200);
    t.like(last('documents.create')?.args[1], { expirationDate: Date.parse(ends) });
  });
}

test('an invalid time is refused', async (t) => {
  const { send } = await startPortal(t);
  for (const expirationDate of ['tomorrow', '2030-02-30', '2030-01-02T25:00:00Z', '', 7, '2030-01-02T06']) {
    const answer = await send('/api/documents', { ...CREATION, expirationDate });
    const body = await assertRefused(t, answer, 'BadRequest');
    t.deepEqual(Object.keys(body.errors ?? {}), ['ExpirationDate'], String(expirationDate));
  }
});

// Row 10
test('every id in an answer is a UUID or null', async (t) => {
  const { call } = await startPortal(t);
  const detail = await (await call(`/api/documents/${IDS.document}`)).json();
  const look = (value: unknown, name: string): void => {
    if (Array.isArray(value)) for (const item of value) look(item, name);
    else if (typeof value === 'object' && value !== null) {
      for (const [inner, content] of Object.entries(value)) look(content, inner);
    } else if (/^id$|Id$/.test(name)) t.true(value === null || z.guid().safeParse(value).success, name);
  };
  look(detail, '');
});

// Row 11
test('success is always 200, with an empty body when there is no result', async (t) => {
  const { send, call } = await startPortal(t);
  const document = `/api/documents/${IDS.document}`;
  for (const answer of [
    await send(`${document}/cancellation`, { reason: 'x' }),
    await send(`${document}/refusal`, { reason: 'x' }),
    await send('/api/notifications/flow-action-reminder', {
      documentId: IDS.document,
      flowActionId: IDS.action,
    }),
    await send(`${document}/notified-emails`, { emails: ['a@example.com'] }, { method: 'PUT' }),
    await call(document, { method: 'DELETE' }),
  ]) {
    t.is(answer.status, 200);
    t.is(await answer.text(), '');
    t.is(answer.headers.get('content-length'), '0');
  }
  const made = await send('/api/documents', CREATION);
  t.is(made.status, 200);
  t.deepEqual(await made.json(), [{ uploadId: IDS.user, documentId: IDS.document, attachments: [] }]);
});

test('a deletion with a body length and no body is answered', async (t) => {
  const { port } = await startPortal(t);
  const client = await RawClient.connect(port);
  await client.send(
    `DELETE /api/documents/${IDS.document} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n`,
  );
  await client.until(/\r\n\r\n/);
  t.regex(client.received, /^HTTP\/1\.1 200 OK\r\n/);
  client.reset();
});

// Row 12
test('a slash at the end of a path is ignored', async (t) => {
  const { call, send, last } = await startPortal(t);
  t.is((await call('/api/documents/')).status, 200);
  t.is((await call(`/api/documents/${IDS.document}/`)).status, 200);
  t.is((await send('/api/folders/', { name: 'x' })).status, 500, 'the answer is not laid down');
  t.is(last('folders.create')?.args[1], 'x');
  await assertRefused(t, await call('/api/documents//'), 'NotFound');
});

test('a key is compared whole, with the blanks in the name of its application', async (t) => {
  const { port, last } = await startPortal(t);
  const get = (key: string) => ask(port, 'GET', { path: '/api/documents', headers: { 'X-Api-Key': key } });
  t.is((await get(KEY)).status, 200);
  t.is(last('tenants.identify')?.args[0], `My App|${SECRET}`);
  t.is((await get(Buffer.from(UNICODE_KEY).toString('latin1'))).status, 200, 'a name in UTF-8');
  t.is((await get(UNICODE_KEY)).status, 200, 'a name in Latin-1');
  for (const wrong of [`my app|${SECRET}`, `My App|${SECRET.toUpperCase()}`, SECRET, `My App |${SECRET}`]) {
    t.is((await get(wrong)).status, 401, wrong);
  }
});

// Row 13
test('addresses of pages are absolute, and locations are paths', async (t) => {
  const { send, call, set } = await startPortal(t);
  const page = await send(`/api/documents/${IDS.document}/action-url`, { emailAddress: 'z@example.com' });
  t.like(await page.json(), { url: 'http://h/document/key/K/sign?ticket=t' });
  set('documents.contentTicket', () => '/api/documents/x/download?ticket=t');
  const ticket = await call(`/api/documents/${IDS.document}/ticket?type=Original&preview=true`);
  t.deepEqual(await ticket.json(), { location: '/api/documents/x/download?ticket=t' });
});

// Row 14
test('an operation with a ticket needs no key, and ignores a key', async (t) => {
  const { url, set, file } = await startPortal(t);
  const stored = await file('x', 'application/pdf', 'x.pdf');
  set('documents.ticketContent', () => ({ ...stored, inline: false }));
  set('uploads.preview', () => stored);
  set('reports.file', () => stored);
  for (const path of [
    `/api/documents/${IDS.document}/download?ticket=t`,
    `/api/uploads/${IDS.user}/preview?ticket=t`,
    `/api/reports/${IDS.report}?access_ticket=t`,
  ]) {
    t.is((await fetch(`${url}${path}`)).status, 200, path);
    t.is((await fetch(`${url}${path}`, { headers: { 'x-api-key': 'wrong|key' } })).status, 200, path);
    await assertRefused(t, await fetch(`${url}${path.replace(/\?.*/, '')}`), 'NotFound');
  }
  const signed = await fetch(`${url}/api/documents/keys/K/electronic-signature`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'wrong|key' },
    body: '{"ticket":"t"}',
  });
  t.is(signed.status, 200);
});

// Row 15
test('paths have no version', async (t) => {
  const { call } = await startPortal(t);
  await assertRefused(t, await call('/api/v1/documents'), 'NotFound');
});
