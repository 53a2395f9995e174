import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import test from 'ava';
import { uploadFile } from '../../../contracts/batch/files.ts';
import { Refusal } from '../../../machines/refusals.ts';
import { reached } from '../../project/waiting.ts';
import { assertProblem, form, KEY, pdf, RawClient, startServer, type TestServer } from '../harness.ts';
import { onWire } from '../on-wire.ts';
import { callsOf } from './test-service.ts';

const send = (
  server: TestServer,
  body: FormData | string | null,
  query = '',
  headers: Record<string, string> = {},
) => server.call(`/api/files${query}`, { method: 'POST', body, headers });

const left = (server: TestServer) => readdir(server.service.input);

/** The head of an upload and the start of its form, as raw text. */
const head = (length: number | 'chunked', name = 'a.pdf') =>
  `POST /api/files HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\n` +
  'Content-Type: multipart/form-data; boundary=b\r\n' +
  (length === 'chunked' ? 'Transfer-Encoding: chunked\r\n\r\n' : `Content-Length: ${length}\r\n\r\n`) +
  (length === 'chunked' ? '' : partHead(name));
const partHead = (name: string) =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\n\r\n`;
const TAIL = '\r\n--b--\r\n';

test('an uploaded file becomes a queued job and is stored unchanged', async (t) => {
  const server = await startServer(t);
  for (const [name, format] of [
    ['a.pdf', 'Pades'],
    ['rechnung-ä.XML', 'Xades'],
    ['notes', 'Cades'],
  ] as const) {
    const bytes = randomBytes(300_000);
    const response = await send(server, form([['file', pdf(bytes, name)]]));
    t.is(response.status, 202);
    const body = onWire(uploadFile.replies[202], await response.json());
    t.like(body, { fileName: name, format, status: 'Queued' });
    t.true(bytes.equals(await readFile(body.originalPath)));
  }
  t.is((await left(server)).length, 3);
});

test('format and profile are read from query or field, before or after the file, and the query wins', async (t) => {
  const server = await startServer(t);
  const file = ['file', pdf()] as const;
  const accepted = async (body: FormData, query = '') => {
    const response = await send(server, body, query);
    t.is(response.status, 202, await response.clone().text());
    const { jobId, format } = onWire(uploadFile.replies[202], await response.json());
    const { items } = await server.service.jobs.list({
      statuses: [],
      profile: undefined,
      page: 1,
      pageSize: 1,
    });
    t.is(items[0]?.id as string, jobId);
    return `${format} ${items[0]?.profileName}`;
  };
  const plans = callsOf(server.service.jobs.uploads, 'plan');
  t.is(await accepted(form([['format', 'XADES'], file])), 'Xades default');
  t.is(plans.length, 1, 'fields before the file are checked once');
  t.is(await accepted(form([file])), 'Pades default');
  t.is(await accepted(form([file]), '?format=cades'), 'Cades default');
  t.is(await accepted(form([file, ['format', 'Cades'], ['profile', 'invoices']])), 'Cades invoices');
  t.is(await accepted(form([['format', 'Cades'], file]), '?format=Xades&profile=invoices'), 'Xades invoices');
  t.is(await accepted(form([['format', 'nonsense'], file]), '?format=Pades'), 'Pades default');
  t.is(await accepted(form([['format', ''], ['profile', ' '], file]), '?profile='), 'Pades default');
  t.is(await accepted(form([['format', 'Cades'], ['format', 'Xades'], file])), 'Cades default');
});

test('the first part with a file name is the file, under any part name, and a second one is refused', async (t) => {
  const server = await startServer(t);
  const parts = [
    ['comment', 'x'.repeat(5000)],
    ['attachment', pdf('first', 'first.pdf')],
  ] as const;
  for (const name of ['file', 'attachment', 'comment']) {
    const two = await send(server, form([...parts, [name, pdf('second', 'second.pdf')]]));
    await assertProblem(t, two, 'upload.too-many-files');
  }
  t.deepEqual(await left(server), [], 'nothing is queued');
  const response = await send(server, form(parts));
  t.is(response.status, 202);
  const body = onWire(uploadFile.replies[202], await response.json());
  t.is(body.fileName, 'first.pdf');
  t.is(await readFile(body.originalPath, 'utf8'), 'first');
  t.is((await left(server)).length, 1);
});

test('a form without a file, with an empty one, and a body that is not a form are upload.empty', async (t) => {
  const server = await startServer(t);
  for (const body of [
    form([['format', 'Pades']]),
    form([['file', pdf('')]]),
    form([
      ['file', pdf('')],
      ['more', pdf('content')],
    ]),
    'plain text',
    null,
  ]) {
    await assertProblem(t, await send(server, body), 'upload.empty');
  }
  await assertProblem(
    t,
    await send(server, '%PDF', '', { 'content-type': 'application/pdf' }),
    'upload.empty',
  );
  t.deepEqual(await left(server), []);
});

test('a compressed body is refused, and one that says identity is read', async (t) => {
  const server = await startServer(t);
  const body = `${partHead('a.pdf')}content${TAIL}`;
  const type = { 'content-type': 'multipart/form-data; boundary=b' };
  const compressed = await send(server, body, '', { ...type, 'content-encoding': 'gzip' });
  await assertProblem(t, compressed, 'validation.encoding-unsupported');
  t.is(server.service.opened, 0);
  t.is((await send(server, body, '', { ...type, 'content-encoding': 'identity' })).status, 202);
});

test('a file part without a usable name is upload.invalid-name', async (t) => {
  const server = await startServer(t);
  for (const name of ['..', '.', 'a/..', 'x\\\\']) {
    const body = `${partHead(name)}content${TAIL}`;
    const response = await send(server, body, '', { 'content-type': 'multipart/form-data; boundary=b' });
    await assertProblem(t, response, 'upload.invalid-name');
  }
  await assertProblem(t, await send(server, form([['file', 'a field called file']])), 'upload.invalid-name');
  const type = { 'content-type': 'multipart/form-data; boundary=b' };
  const upload = (stem: string) => send(server, `${partHead(`${stem}.pdf`)}content${TAIL}`, '', type);
  await assertProblem(t, await upload(`${'é'.repeat(122)}e`), 'upload.invalid-name');
  t.is(server.service.opened, 0);
  t.is(
    (await upload('é'.repeat(122))).status,
    202,
    'with .signed it has the 255 bytes that file systems take',
  );
});

test('folders in front of the name are removed', async (t) => {
  const server = await startServer(t);
  const response = await send(server, `${partHead('../../C:\\tmp\\a.pdf')}content${TAIL}`, '', {
    'content-type': 'multipart/form-data; boundary=b',
  });
  t.is(onWire(uploadFile.replies[202], await response.json()).fileName, 'a.pdf');
});

test('unknown formats and profiles are refused and leave no file', async (t) => {
  const server = await startServer(t);
  const file = ['file', pdf()] as const;
  const body = await assertProblem(
    t,
    await send(server, form([file]), '?format=Docx'),
    'upload.format-unsupported',
  );
  t.deepEqual(Object.keys(body.errors ?? {}), ['format']);
  await assertProblem(t, await send(server, form([['format', 'x'], file])), 'upload.format-unsupported');
  await assertProblem(t, await send(server, form([file, ['format', 'x']])), 'upload.format-unsupported');
  await assertProblem(t, await send(server, form([file]), '?profile=none'), 'profile.not-found');
  await assertProblem(t, await send(server, form([file, ['profile', 'none']])), 'profile.not-found');
  await assertProblem(
    t,
    await send(server, form([file]), '?profile=a&profile=b'),
    'validation.filter-invalid',
  );
  await assertProblem(
    t,
    await send(server, form([['format', 'x'.repeat(2000)], file])),
    'validation.body-invalid',
  );
  t.deepEqual(await left(server), []);
});

test('an upload returns the refusal of the service, and its bytes are removed', async (t) => {
  const server = await startServer(t);
  server.service.accepting = () => {
    throw new Refusal('job.already-processing', 'asked for');
  };
  await assertProblem(t, await send(server, form([['file', pdf()]])), 'job.already-processing');
  server.service.accepting = () => {
    throw new Error('disk on fire');
  };
  await assertProblem(t, await send(server, form([['file', pdf()]])), 'internal');
  t.deepEqual(await left(server), []);
});

test('malformed forms are validation.body-invalid and leave no file', async (t) => {
  const server = await startServer(t);
  const type = { 'content-type': 'multipart/form-data; boundary=b' };
  for (const body of [
    '',
    'no delimiter',
    `${partHead('a.pdf')}never closed`,
    `--b\r\nno colon\r\n\r\nx${TAIL}`,
    `--b\r\nX: ${'y'.repeat(20_000)}\r\n\r\nx${TAIL}`,
    `${partHead('a.pdf')}x\r\n${'--b\r\n\r\n\r\n'.repeat(100)}--b--`,
  ]) {
    await assertProblem(t, await send(server, body, '', type), 'validation.body-invalid');
  }
  const noBoundary = await send(server, 'x', '', { 'content-type': 'multipart/form-data' });
  await assertProblem(t, noBoundary, 'validation.body-invalid');
  t.deepEqual(await left(server), []);
});

test('a file of the maximum size is accepted, and one of a byte more is refused', async (t) => {
  const server = await startServer(t, { maxUploadBytes: 500_000 });
  t.is((await send(server, form([['file', pdf(randomBytes(500_000))]]))).status, 202);
  await assertProblem(t, await send(server, form([['file', pdf(randomBytes(500_001))]])), 'upload.too-large');
  t.is((await left(server)).length, 1);
});

test('a body with a Content-Length over the limit is refused before it is read', async (t) => {
  const server = await startServer(t, { maxUploadBytes: 1024 });
  const client = await RawClient.connect(server.port);
  await client.send(head(1024 + 64 * 1024 + 1));
  await client.until(/upload\.too-large[\s\S]*\}$/);
  t.regex(client.received, /^HTTP\/1\.1 413 Content Too Large\r\n/);
  t.is(server.service.opened, 0);
  client.reset();
});

test('a body of unknown length is ended at the limit, form included', async (t) => {
  const server = await startServer(t, { maxUploadBytes: 1024 });
  const client = await RawClient.connect(server.port);
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
  await client.send(head('chunked'));
  await client.send(chunk('preamble '.repeat(1000)));
  for (let round = 0; round < 8; round += 1) await client.send(chunk('preamble '.repeat(1000)));
  await client.until(/upload\.too-large/);
  t.regex(client.received, /^HTTP\/1\.1 413 /);
  client.reset();
});

test('a chunked upload without a length is accepted, and its first bytes tell its format, one by one', async (t) => {
  const server = await startServer(t);
  const client = await RawClient.connect(server.port);
  const body = `${partHead('a.dat')}%PDF-1.7 content${TAIL}`;
  await client.send(head('chunked'));
  for (const piece of body) await client.send(`1\r\n${piece}\r\n`);
  await client.send('0\r\n\r\n');
  await client.until(/"status":"Queued"/);
  t.regex(client.received, /^HTTP\/1\.1 202 Accepted\r\n/);
  t.regex(client.received, /"format":"Pades"/);
  client.reset();
});

test('a client that reads only after sending everything still receives its 413', async (t) => {
  const server = await startServer(t, { maxUploadBytes: 100_000 });
  const client = await RawClient.connect(server.port);
  // Just below the limit of the announced length.
  const content = Buffer.alloc(150_000, 'x');
  const start = head(partHead('a.pdf').length + content.length + TAIL.length);
  client.socket.pause();
  await client.send(start);
  await client.send(content);
  await client.send(TAIL);
  client.socket.resume();
  await client.until(/upload\.too-large/);
  t.regex(client.received, /^HTTP\/1\.1 413 /);
  // The connection is still usable: the rest of the body has been read and dropped.
  await client.send(`GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n`);
  await client.until(/Healthy/);
  t.regex(client.received, /\{"status":"Healthy"\}$/);
  t.deepEqual(await left(server), []);
  client.reset();
});

test('an upload interrupted at any point leaves no file', async (t) => {
  const server = await startServer(t);
  const content = 'y'.repeat(200_000);
  const start = head(partHead('a.pdf').length + content.length + TAIL.length);
  const whole = start + content + TAIL;
  const bodyAt = whole.indexOf('\r\n\r\n') + 4;
  const cuts = [20, bodyAt, bodyAt + 30, start.length, start.length + 1, 100_000, whole.length - TAIL.length];
  for (const cut of [...cuts, whole.length - 1]) {
    const before = server.seen.length;
    server.service.opened = 0;
    const client = await RawClient.connect(server.port);
    await client.send(whole.slice(0, cut));
    // Before the file is open there is nothing to leave behind.
    await reached(() => cut < start.length || server.service.opened > 0);
    client.reset();
    await client.whenClosed;
    const gone = () => server.seen.slice(before).some(({ status }) => status === 0);
    await reached(() => cut < start.length || gone());
  }
  // The end of an earlier request may have been taken for that of the last one.
  await reached(async () => (await left(server)).length === 0);
  const { totalCount } = await server.service.jobs.list({
    statuses: [],
    profile: undefined,
    page: 1,
    pageSize: 1,
  });
  t.is(totalCount, 0);
});

test('a client that disconnects while its file is accepted does not cancel the job', async (t) => {
  const server = await startServer(t);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const accepting = new Promise<void>((resolve) => {
    server.service.accepting = () => {
      resolve();
      return gate;
    };
  });
  const client = await RawClient.connect(server.port);
  await client.send(`${head(partHead('a.pdf').length + 7 + TAIL.length)}content${TAIL}`);
  await accepting;
  client.reset();
  await client.whenClosed;
  await server.call('/api/health');
  open();
  const all = { statuses: [], profile: undefined, page: 1, pageSize: 1 };
  await reached(async () => (await server.service.jobs.list(all)).totalCount > 0);
  t.is((await left(server)).length, 1);
  t.is((await server.call('/api/jobs')).status, 200);
});

test('a client that stops sending is disconnected and leaves no file', async (t) => {
  const server = await startServer(t);
  const client = await RawClient.connect(server.port);
  await client.send(`${head(100_000)}only the beginning`);
  await client.whenClosed;
  t.is(client.received, '');
  await reached(() => server.seen.some(({ status }) => status === 0));
  t.is(server.service.opened, 1);
  t.deepEqual(await left(server), []);
});

test('a slow steady client is not disconnected', async (t) => {
  const server = await startServer(t);
  const client = await RawClient.connect(server.port);
  const content = 'z'.repeat(26_000);
  await client.send(head(partHead('a.pdf').length + content.length + TAIL.length));
  // Far below the library's minimum rate, for longer than its timeout of about eleven seconds.
  for (let at = 0; at < content.length; at += 2000) {
    await client.send(content.slice(at, at + 2000));
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
  await client.send(TAIL);
  await client.until(/Queued/);
  t.regex(client.received, /^HTTP\/1\.1 202 /);
  client.reset();
});

test('many concurrent uploads are all accepted, each with its own bytes', async (t) => {
  const server = await startServer(t);
  const digests = await Promise.all(
    Array.from({ length: 60 }, async (_, index) => {
      const bytes = randomBytes(1000 * index + 1);
      const response = await send(server, form([['file', pdf(bytes, `f${index}.pdf`)]]));
      t.is(response.status, 202);
      const { originalPath, fileName } = onWire(uploadFile.replies[202], await response.json());
      t.is(fileName, `f${index}.pdf`);
      const stored = createHash('sha256')
        .update(await readFile(originalPath))
        .digest('hex');
      t.is(stored, createHash('sha256').update(bytes).digest('hex'));
      return stored;
    }),
  );
  t.is(new Set(digests).size, 60);
  t.is((await left(server)).length, 60);
});

test('uploads have a rate limit of their own', async (t) => {
  const server = await startServer(t, {
    rateLimiting: {
      enabled: true,
      upload: { permits: 2, windowSeconds: 60 },
      actions: { permits: 1, windowSeconds: 60 },
    },
  });
  const job = await server.service.add();
  t.is((await server.call(`/api/jobs/${job.id}/cancel`, { method: 'POST' })).status, 200);
  t.is((await send(server, form([['file', pdf()]]))).status, 202);
  await assertProblem(t, await send(server, 'x'), 'upload.empty');
  const refused = await send(server, form([['file', pdf(randomBytes(400_000))]]));
  await assertProblem(t, refused, 'rate-limited');
  t.regex(refused.headers.get('retry-after') ?? '', /^[1-9]\d?$/);
  t.is((await left(server)).length, 2, 'that of the job and one upload');
});

test('an upload that waits is answered with the ended job, or as usual when the job does not end in time', async (t) => {
  const server = await startServer(t);
  const waits = callsOf(server.service.jobs, 'whenEnded');
  const first = await send(server, form([['file', pdf(Buffer.from('%PDF-'), 'a.pdf')]]), '?wait=1');
  t.is(first.status, 202, 'not ended in time');
  onWire(uploadFile.replies[202], await first.json());
  t.is(waits[0]?.[1], 1000);
  const waiting = send(server, form([['file', pdf(Buffer.from('%PDF-'), 'b.pdf')]]), '?wait=60');
  await reached(() => waits.length === 2);
  if (waits[1] !== undefined) await server.service.finish(waits[1][0], Buffer.from('signed'));
  const second = await waiting;
  t.is(second.status, 200);
  t.like(onWire(uploadFile.replies[200], await second.json()), { fileName: 'b.pdf', status: 'Completed' });
  for (const wait of ['0', '61', '-1', '1.5', 'long', '']) {
    const refused = await send(server, form([['file', pdf(Buffer.from('%PDF-'), 'c.pdf')]]), `?wait=${wait}`);
    await assertProblem(t, refused, 'validation.filter-invalid');
  }
});
