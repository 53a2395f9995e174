/** Files of documents: bytes, ranges, Base64, tickets and previews. Source: docs/portal-values.md §13. */

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import test from 'ava';
import { assertRefused } from '../refused.ts';
import { startPortal } from './harness.ts';
import { IDS } from './memory-portal.ts';

const DOCUMENT = `/api/documents/${IDS.document}`;

test('content is answered as bytes, with type, length, name and tag', async (t) => {
  const { call, set, last, file } = await startPortal(t);
  const stored = await file('%PDF-1.7 x', 'application/pdf', 'Vertrag "ä".pdf');
  set('documents.content', () => stored);
  const answer = await call(`${DOCUMENT}/content?type=Signatures`);
  t.is(answer.status, 200);
  t.is(await answer.text(), '%PDF-1.7 x');
  const headers = Object.fromEntries(
    ['content-type', 'content-length', 'content-disposition', 'etag', 'accept-ranges'].map((name) => [
      name,
      answer.headers.get(name),
    ]),
  );
  t.deepEqual(headers, {
    'content-type': 'application/pdf',
    'content-length': '10',
    'content-disposition': `attachment; filename="Vertrag \\"_\\".pdf"; filename*=UTF-8''Vertrag%20%22%C3%A4%22.pdf`,
    etag: stored.etag,
    'accept-ranges': 'bytes',
  });
  t.is(last('documents.content')?.args[2], 'Signatures');
  await call(`${DOCUMENT}/content`);
  t.is(last('documents.content')?.args[2], 'Original', 'what is meant when no type is named');
  await assertRefused(t, await call(`${DOCUMENT}/content?type=Everything`), 'BadRequest');
});

test('one range of a file is answered, and 304 to a client with the current version', async (t) => {
  const { call, set, file } = await startPortal(t);
  const stored = await file('0123456789', 'text/plain', 'a.txt');
  set('documents.content', () => stored);
  const part = await call(`${DOCUMENT}/content`, { headers: { range: 'bytes=2-5' } });
  t.deepEqual([part.status, await part.text()], [206, '2345']);
  t.is(part.headers.get('content-range'), 'bytes 2-5/10');
  const outside = await call(`${DOCUMENT}/content`, { headers: { range: 'bytes=10-' } });
  await assertRefused(t, outside, 'RangeNotSatisfiable');
  t.is(outside.headers.get('content-range'), 'bytes */10');
  const known = await call(`${DOCUMENT}/content`, { headers: { 'if-none-match': stored.etag } });
  t.is(known.status, 304);
  const changed = { range: 'bytes=2-5', 'if-range': '"another"' };
  t.is((await call(`${DOCUMENT}/content`, { headers: changed })).status, 200);
  const head = await call(`${DOCUMENT}/content`, { method: 'HEAD' });
  t.deepEqual([head.status, head.headers.get('content-length')], [200, '10']);
});

for (const length of [0, 1, 2, 3, 576 * 1024 - 1, 576 * 1024, 576 * 1024 + 1, 3_000_001]) {
  test(`a file of ${length} bytes survives encoding as Base64`, async (t) => {
    const { call, set, file } = await startPortal(t);
    const content = randomBytes(length);
    const stored = await file(content, 'application/pdf', 'ä "b".pdf');
    set('documents.content', () => stored);
    const answer = await call(`${DOCUMENT}/content-b64?type=original`);
    t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    const text = await answer.text();
    t.is(Number(answer.headers.get('content-length')), Buffer.byteLength(text));
    const body = JSON.parse(text);
    t.true(Buffer.from(body.bytes, 'base64').equals(content));
    t.is(body.bytes, content.toString('base64'));
    t.deepEqual([body.name, body.contentType], ['ä "b".pdf', 'application/pdf']);
  });
}

test('a ticket is requested with a type and an optional preview', async (t) => {
  const { call, set, last } = await startPortal(t);
  set('documents.contentTicket', () => '/api/documents/x/download?ticket=t');
  await call(`${DOCUMENT}/ticket?type=PrinterFriendlyVersion&Preview=True`);
  t.deepEqual(last('documents.contentTicket')?.args.slice(1), [IDS.document, 'PrinterFriendlyVersion', true]);
  await call(`${DOCUMENT}/ticket`);
  t.deepEqual(last('documents.contentTicket')?.args.slice(2), ['Original', false]);
});

test('a preview is shown in the browser without a name, also in frames, and runs no script', async (t) => {
  const { url, set, file } = await startPortal(t);
  for (const [type, isSandboxed] of [
    ['application/pdf', false],
    ['image/png', false],
    ['text/plain', false],
    ['text/html', true],
    ['image/svg+xml', true],
    ['application/xml', true],
    ['application/x-whatever', true],
  ] as const) {
    const stored = await file('<script>alert(1)</script>', type, 'a.pdf');
    set('documents.ticketContent', () => ({ ...stored, inline: true }));
    const answer = await fetch(`${url}${DOCUMENT}/download?ticket=t`);
    t.is(answer.status, 200);
    t.is(answer.headers.get('content-disposition'), 'inline');
    t.is(answer.headers.get('x-frame-options'), null);
    const policy = answer.headers.get('content-security-policy') ?? '';
    t.regex(policy, /default-src 'none'/);
    t.is(policy.startsWith('sandbox;'), isSandboxed, type);
    t.is(answer.headers.get('x-content-type-options'), 'nosniff');
  }
});

test('content with an invalid media type is sent as application/octet-stream', async (t) => {
  const { call, set, file } = await startPortal(t);
  const stored = await file('x', 'text/html\r\nX-Evil: 1', 'a');
  set('documents.content', () => stored);
  const answer = await call(`${DOCUMENT}/content`);
  t.is(answer.headers.get('content-type'), 'application/octet-stream');
  t.is(answer.headers.get('x-evil'), null);
});

test('a download by ticket has its file name', async (t) => {
  const { url, set, file, last } = await startPortal(t);
  const stored = await file('x', 'application/pdf', 'a.pdf');
  set('documents.ticketContent', () => ({ ...stored, inline: false }));
  const answer = await fetch(`${url}${DOCUMENT}/download?Ticket=abc-_1`);
  t.regex(answer.headers.get('content-disposition') ?? '', /^attachment; filename="a\.pdf"/);
  t.is(last('documents.ticketContent')?.args[0], 'abc-_1');
});

test('a missing stored file is answered with 500', async (t) => {
  const { call, set, file } = await startPortal(t);
  const stored = await file('x', 'application/pdf', 'a.pdf');
  rmSync(stored.path);
  set('documents.content', () => stored);
  await assertRefused(t, await call(`${DOCUMENT}/content`), 'InternalError');
  await assertRefused(t, await call(`${DOCUMENT}/content-b64`), 'InternalError');
});
