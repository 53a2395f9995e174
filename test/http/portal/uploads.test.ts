/** Uploads of docs/portal-values.md §4: forms of every client, streamed Base64, segments. */
import { createHash, randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { RawClient } from '../harness.ts';
import { assertRefused } from '../refused.ts';
import { startPortal, type TestPortal } from './harness.ts';
import { KEY } from './memory-portal.ts';

const BYTES = Buffer.from('%PDF-1.7 a file');

/** A raw form; parts are header lines and content. */
function form(boundary: string, ...parts: readonly (readonly [head: string, content: string | Buffer])[]) {
  const pieces = parts.flatMap(([head, content]) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${boundary}--\r\n`)]);
}

function post(portal: TestPortal, body: Buffer, contentType = 'multipart/form-data; boundary=b', query = '') {
  return portal.call(`/api/uploads${query}`, {
    method: 'POST',
    headers: { 'content-type': contentType },
    body: new Uint8Array(body),
  });
}

async function taken(t: ExecutionContext, portal: TestPortal, answer: Response) {
  t.is(answer.status, 200, await answer.clone().text());
  const sink = portal.sinks.at(-1);
  t.deepEqual(sink?.bytes, BYTES);
  t.false(sink?.aborted);
  return (await answer.json()) as { id: string; name: string; contentType: string; location: string };
}

const DISPOSITION = 'Content-Disposition: form-data;';
const PDF = 'Content-Type: application/pdf';

for (const [what, head] of [
  ['content', `${DISPOSITION} name="content"; filename="a b.pdf"`],
  ['file', `${DISPOSITION} name="file"; filename="a b.pdf"`],
  ['like the file', `${DISPOSITION} name="a b.pdf"; filename="a b.pdf"`],
  ['without quotes', `${DISPOSITION} name=Datei; filename="a b.pdf"`],
  ['nothing at all', `${DISPOSITION} filename="a b.pdf"`],
  ['content, in RFC 8187', `${DISPOSITION} name="content"; filename*=UTF-8''a%20b.pdf`],
] as const) {
  test(`the part with a file name is the file under the name ${what}`, async (t) => {
    const portal = await startPortal(t);
    const answer = await post(portal, form('b', [`${head}\r\n${PDF}`, BYTES]));
    const upload = await taken(t, portal, answer);
    t.like(upload, { name: 'a b.pdf', contentType: 'application/pdf' });
    t.deepEqual(Object.keys(upload), ['id', 'name', 'contentType', 'location']);
    t.regex(upload.location, /^\//);
  });
}

for (const name of ['content', 'file', 'File']) {
  test(`a part with the name ${name} is the file when none has a file name`, async (t) => {
    const portal = await startPortal(t);
    const body = form('b', [`${DISPOSITION} name="${name}"`, BYTES], [`${DISPOSITION} name="name"`, 'x.pdf']);
    t.like(await taken(t, portal, await post(portal, body)), {
      name: 'x.pdf',
      contentType: 'application/octet-stream',
    });
  });
}

test('a part with a file name replaces one without, and the first such part stays', async (t) => {
  const portal = await startPortal(t);
  const body = form(
    'b',
    [`${DISPOSITION} name="file"`, 'wrong'],
    [`${DISPOSITION} name="x"; filename="right.pdf"`, BYTES],
    [`${DISPOSITION} name="y"; filename="late.pdf"`, 'late'],
    [`${DISPOSITION} name="content"`, 'later'],
  );
  t.like(await taken(t, portal, await post(portal, body)), { name: 'right.pdf' });
  t.deepEqual(
    portal.sinks.map(({ aborted }) => aborted),
    [true, false],
  );
});

test('two files under one part name are refused, and none is kept', async (t) => {
  const portal = await startPortal(t);
  const file = (head: string) => [`${DISPOSITION} ${head}; filename="a.pdf"`, BYTES] as const;
  await taken(t, portal, await post(portal, form('b', file('name="file"'))));
  const two = await post(portal, form('b', file('name="file"'), file('name="FILE"')));
  t.like(await assertRefused(t, two, 'BadRequest'), {
    errors: { File: ['The File field has more than one file.'] },
  });
  t.true(portal.sinks.at(-1)?.aborted);
});

test('the parts name and contentType override the headers of the file part, before or after it', async (t) => {
  const portal = await startPortal(t);
  const file = [`${DISPOSITION} name="content"; filename="part.bin"\r\n${PDF}`, BYTES] as const;
  const name = [`${DISPOSITION} name="name"`, 'Vertrag ä.pdf'] as const;
  const type = [`${DISPOSITION} name="contentType"`, 'application/x-thing; charset=UTF-8'] as const;
  for (const parts of [
    [name, type, file],
    [file, name, type],
  ]) {
    t.like(await taken(t, portal, await post(portal, form('b', ...parts))), {
      name: 'Vertrag ä.pdf',
      contentType: 'application/x-thing',
    });
  }
});

test('parameters of the media type of the part are removed', async (t) => {
  const portal = await startPortal(t);
  const head = `${DISPOSITION} name="f"; filename="a.pdf"\r\nContent-Type: Application/PDF; charset=UTF-8`;
  t.is((await taken(t, portal, await post(portal, form('b', [head, BYTES])))).contentType, 'application/pdf');
});

test('names in raw UTF-8 are kept, and folders in front of them are removed', async (t) => {
  const portal = await startPortal(t);
  for (const [given, name] of [
    ['日本語 ção.pdf', '日本語 ção.pdf'],
    ['C:\\Users\\me\\a.pdf', 'a.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['a\u0007b.pdf', 'ab.pdf'],
    ['lease\tof 2026.pdf', 'lease of 2026.pdf'],
    ['..', 'file'],
  ] as const) {
    const body = form('b', [`${DISPOSITION} name="${given}"; filename="${given}"`, BYTES]);
    t.is((await taken(t, portal, await post(portal, body))).name, name);
  }
});

for (const [what, contentType, boundary] of [
  ['stars and digits without quotes', 'multipart/form-data; boundary=*****1234567890', '*****1234567890'],
  ['no blank before it', 'multipart/form-data;boundary=b', 'b'],
  ['quotes', 'multipart/form-data; boundary="--b c:1"', '--b c:1'],
  ['dashes', `multipart/form-data; boundary=${'-'.repeat(30)}42`, `${'-'.repeat(30)}42`],
] as const) {
  test(`a boundary with ${what} is read`, async (t) => {
    const portal = await startPortal(t);
    const body = form(boundary, [`${DISPOSITION} name="f"; filename="a.pdf"`, BYTES]);
    await taken(t, portal, await post(portal, body, contentType));
  });
}

test('a chunked form, split at any byte, is read', async (t) => {
  const portal = await startPortal(t);
  const body = form('*b*', [`${DISPOSITION} name="f"; filename="ä.pdf"`, BYTES]);
  const client = await RawClient.connect(portal.port);
  await client.send(
    `POST /api/uploads HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${KEY}\r\nContent-Type: multipart/form-data; boundary=*b*\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (const byte of body) {
    await client.send(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
  }
  await client.send('0\r\n\r\n');
  await client.until(/\}/);
  t.regex(client.received, /^HTTP\/1\.1 200 OK/);
  t.deepEqual(portal.sinks.at(-1)?.bytes, BYTES);
  client.reset();
});

test('a form without a file, or with an empty one, is a bad request and leaves no file', async (t) => {
  const portal = await startPortal(t);
  for (const body of [
    form('b'),
    form('b', [`${DISPOSITION} name="name"`, 'x.pdf']),
    form('b', [`${DISPOSITION} name="file"; filename="a.pdf"`, '']),
    Buffer.from('--b\r\nbroken'),
    Buffer.from(''),
  ]) {
    await assertRefused(t, await post(portal, body), 'BadRequest');
  }
  t.true(portal.sinks.every(({ aborted }) => aborted));
  t.is(portal.last('uploads.accept'), undefined);
});

test('a body other than a form is refused as the wrong type', async (t) => {
  const portal = await startPortal(t);
  await assertRefused(t, await post(portal, BYTES, 'application/pdf'), 'UnsupportedMediaType');
});

test('a file of the maximum size is accepted, and one of a byte more is refused, with and without a length', async (t) => {
  const portal = await startPortal(t, {}, { maxBytes: 100_000 });
  const file = (length: number) => form('b', [`${DISPOSITION} name="f"; filename="a"`, randomBytes(length)]);
  t.is((await post(portal, file(100_000))).status, 200);
  await assertRefused(t, await post(portal, file(100_001)), 'PayloadTooLarge');
  await assertRefused(t, await post(portal, file(400_000)), 'PayloadTooLarge');
  t.deepEqual(
    portal.sinks.map(({ aborted }) => aborted),
    [false, true],
  );
});

test('Base64 is read with any letter case, order and escapes of the surrounding JSON', async (t) => {
  const portal = await startPortal(t);
  const text = Buffer.from([0xfb, 0xff, 0xfe, 1, 2, 3, 4]);
  const base64 = text.toString('base64');
  t.regex(base64, /[+/]/, 'the test needs characters that some encoders escape');
  const escaped = base64.replaceAll('/', '\\/').replaceAll('+', '\\u002B');
  for (const body of [
    `{"bytes":"${base64}"}`,
    `{"Bytes":"${base64}"}`,
    ` { "BYTES" : "${escaped}" } `,
    `\ufeff{"other":{"bytes":"AAAA","list":["]","}","\\""]},"bytes":"${base64}","n":-1.5e3,"t":true,"z":null}`,
    `{"b\\u0079tes":"${base64}"}`,
    `{"bytes":"AAAA","Bytes":"${base64}"}`,
    `{"Bytes":"${base64}","bytes":null}`,
    `{"bytes":"${base64.slice(0, 3)}\\r\\n${base64.slice(3)}"}`,
  ]) {
    const answer = await portal.send('/api/uploads/bytes', body);
    t.is(answer.status, 200, body);
    const upload = (await answer.json()) as { id: string; size: number; digest: string };
    t.deepEqual(portal.sinks.at(-1)?.bytes, text);
    t.deepEqual(upload, {
      id: upload.id,
      size: text.length,
      digest: createHash('md5').update(text).digest('base64'),
    });
  }
});

test('invalid Base64 and invalid JSON are bad requests and leave no file', async (t) => {
  const portal = await startPortal(t);
  for (const body of [
    '',
    '{}',
    '{"bytes":""}',
    '{"bytes":null}',
    '{"bytes":7}',
    '{"bytes":["AAAA"]}',
    '{"bytes":"A"}',
    '{"bytes":"AAA"}',
    '{"bytes":"AA==AA=="}',
    '{"bytes":"AA-_"}',
    '{"bytes":"AAAA"',
    '{"bytes":"AAAA"}}',
    '{"bytes":"AAAA",}x',
    '{"bytes":"AA\\qAA"}',
    '{bytes:"AAAA"}',
    '["AAAA"]',
    'AAAA',
    '{"a":tru,"bytes":"AAAA"}',
  ]) {
    await assertRefused(t, await portal.send('/api/uploads/bytes', body), 'BadRequest');
  }
  t.true(portal.sinks.every(({ aborted }) => aborted));
  t.is(portal.last('uploads.accept'), undefined);
});

test('Base64 of several megabytes, split at any byte, is decoded to the file', async (t) => {
  const portal = await startPortal(t, {}, { maxBytes: 4_000_000 });
  const file = randomBytes(3_000_001);
  const answer = await portal.send('/api/uploads/bytes', {
    x: 'y'.repeat(5000),
    bytes: file.toString('base64'),
  });
  t.like(await answer.json(), { size: file.length });
  t.true(portal.sinks.at(-1)?.bytes.equals(file));
  const larger = { bytes: randomBytes(4_000_001).toString('base64') };
  await assertRefused(t, await portal.send('/api/uploads/bytes', larger), 'PayloadTooLarge');
  const around = `{"x":"${'y'.repeat(3_000_000)}","bytes":"AAAA"}`;
  await assertRefused(t, await portal.send('/api/uploads/bytes', around), 'PayloadTooLarge');
});

test('a ticket for segments is a bare JSON text, and the last segment is answered with the upload', async (t) => {
  const portal = await startPortal(t);
  portal.set('uploads.openSegmented', () => 'ticket-1');
  const opened = await portal.call('/api/uploads/segmented-upload-ticket/', { method: 'POST' });
  t.is(await opened.text(), '"ticket-1"');
  const whole = {
    id: '7b2f0c1e-1111-4111-8111-111111111111',
    name: 'a.pdf',
    contentType: 'x/y',
    location: '/l',
  };
  portal.set('uploads.acceptSegment', (_: string, { to, total }: { to: number; total: number }) =>
    to + 1 === total ? whole : undefined,
  );
  const body = new Uint8Array(form('b', [`${DISPOSITION} name="content"; filename="a.pdf"`, BYTES]));
  const piece = (range: string) =>
    fetch(`${portal.url}/api/uploads?ticket=ticket-1`, {
      method: 'POST',
      headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-range': range },
      body,
    });
  const first = await piece('bytes 0-14/30');
  t.is(first.status, 200, 'no key is needed');
  t.is(await first.text(), '');
  t.deepEqual(portal.last('uploads.acceptSegment')?.args[1], { from: 0, to: 14, total: 30 });
  t.deepEqual(await (await piece('bytes 15-29/30')).json(), whole);
  for (const range of ['', 'bytes 0-14', 'bytes 5-4/30', 'bytes 0-30/30', 'bytes */30']) {
    await assertRefused(t, await piece(range), 'BadRequest');
  }
});

test('an upload repeated under its Idempotency-Key is the same upload, and another file is a conflict', async (t) => {
  const portal = await startPortal(t);
  const headers = { 'idempotency-key': 'once' };
  const upload = (content: Buffer) =>
    portal.call('/api/uploads', {
      method: 'POST',
      headers: { ...headers, 'content-type': 'multipart/form-data; boundary=b' },
      body: new Uint8Array(form('b', [`${DISPOSITION} name="f"; filename="a.pdf"`, content])),
    });
  const first = await (await upload(BYTES)).json();
  t.deepEqual(await (await upload(BYTES)).json(), first);
  await assertRefused(t, await upload(Buffer.from('another')), 'IdempotencyConflict');
  t.deepEqual(
    portal.sinks.map(({ aborted }) => aborted),
    [false, true, true],
    'what was not taken is forgotten',
  );
  const long = portal.send(
    '/api/uploads/bytes',
    { bytes: 'AAAA' },
    { headers: { 'idempotency-key': 'k'.repeat(256) } },
  );
  await assertRefused(t, await long, 'BadRequest');
});
