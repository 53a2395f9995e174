import test from 'ava';
import { z } from 'zod';
import { Fatal, Retryable } from '#runtime/model/failures.js';
import { seededIds } from '#runtime/model/ids.js';
import { REFUSALS } from '../../../contracts/batch/refusals.ts';
import { encoderOf } from '../../../contracts/encoder.ts';
import { time } from '../../../contracts/fields.ts';
import {
  replyProperties,
  requestProperties,
  shownProperties,
  storedProperties,
} from '../../../contracts/portal/document-properties.ts';
import { cleanFileName } from '../../../http/batch/upload-form.ts';
import { csvReply } from '../../../http/core/csv-reply.ts';
import { contentDisposition, parseRange } from '../../../http/core/file-reply.ts';
import { problemBody, problemFrom } from '../../../http/core/problem.ts';
import { writeHead } from '../../../http/core/reply.ts';
import { createRequestIds, parseTraceparent } from '../../../http/core/request-ids.ts';
import { parseQuery } from '../../../http/core/router.ts';
import { Refusal } from '../../../machines/refusals.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

test('request ids have the documented form and are unique', (t) => {
  const ids = createRequestIds(seededIds(1));
  const seen = new Set(Array.from({ length: 10_000 }, () => ids.requestId()));
  t.is(seen.size, 10_000);
  for (const id of seen) t.regex(id, /^0H[0-9A-V]{11}:[0-9A-F]{8}$/);
  t.not(createRequestIds(seededIds(2)).requestId(), createRequestIds(seededIds(3)).requestId());
});

test('a trace continues with a span of its own', (t) => {
  const ids = createRequestIds(seededIds(1));
  const first = ids.traceId(`00-${TRACE}-b7ad6b7169203331-01`);
  const second = ids.traceId(`00-${TRACE}-b7ad6b7169203331-01`);
  t.regex(first, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  t.false(first.includes('b7ad6b7169203331'));
  t.not(first, second);
});

test('without a valid traceparent every request gets a trace of its own', (t) => {
  const ids = createRequestIds(seededIds(1));
  const traces = Array.from({ length: 100 }, () => ids.traceId('').slice(3, 35));
  t.is(new Set(traces).size, 100);
  for (const trace of traces) t.regex(trace, /^(?!0+$)[0-9a-f]{32}$/);
});

test('trace ids count on over all of their digits, and start again after the last', (t) => {
  for (const [start, next] of [
    ['000000ffffff', '000001000000'],
    ['00000000002a', '00000000002b'],
    ['ffffffffffff', '000000000000'],
  ] as const) {
    const bytes = (length: number) => Buffer.from(start.padStart(16, '0').slice(-2 * length), 'hex');
    const [, trace = '', span = ''] = createRequestIds({ bytes, uuid: () => '' })
      .traceId('')
      .split('-');
    t.is(trace.slice(-12), next);
    t.is(span.slice(-12), next);
  }
});

test('only valid traceparent headers are adopted', (t) => {
  const span = 'b7ad6b7169203331';
  t.deepEqual(parseTraceparent(`00-${TRACE}-${span}-01`), { trace: TRACE, flags: '01' });
  t.deepEqual(parseTraceparent(`cc-${TRACE}-${span}-00-what-comes`), { trace: TRACE, flags: '00' });
  for (const bad of [
    '',
    'x',
    `00-${TRACE}-${span}`,
    `ff-${TRACE}-${span}-01`,
    `00-${TRACE}-${span}-01-more`,
    `00-${TRACE.toUpperCase()}-${span}-01`,
    `00-${'0'.repeat(32)}-${span}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
  ]) {
    t.is(parseTraceparent(bad), undefined, bad);
  }
});

test('every code with a status becomes a problem with that status and its type', (t) => {
  const types = new Map<number, string>();
  for (const [code, { status, title }] of Object.entries(REFUSALS)) {
    if (status === null) continue;
    const problem = problemFrom(new Refusal(code as keyof typeof REFUSALS, 'because'));
    const body = problemBody(problem, { traceId: 't', requestId: 'r', path: '/p', production: true });
    t.is(body['status'], status);
    t.is(body['code'], code);
    t.is(body['title'], title);
    const type = String(body['type']);
    t.true(type.startsWith('https://tools.ietf.org/html/rfc'), code);
    t.is(types.get(status) ?? type, type);
    types.set(status, type);
  }
  t.is(types.get(404), 'https://tools.ietf.org/html/rfc9110#section-15.5.5');
  t.is(types.get(429), 'https://tools.ietf.org/html/rfc6585#section-4');
  t.is(new Set(types.values()).size, types.size);
});

test('retryable failures become 503 with whole seconds, and all others 500', (t) => {
  t.like(problemFrom(new Retryable('mailbox.full', 'busy', 1200)), {
    code: 'service.busy',
    status: 503,
    retryAfterSeconds: 2,
  });
  t.like(problemFrom(new Retryable('mailbox.full', 'busy', 0)), { retryAfterSeconds: 1 });
  // As received from another thread.
  t.like(problemFrom({ message: 'busy', retryable: true, retryAfter: 5000 }), { retryAfterSeconds: 5 });
  for (const thrown of [
    new Fatal('x', 'y'),
    new TypeError('oops'),
    'text',
    undefined,
    null,
    { code: 'job.not-found' },
  ]) {
    t.like(problemFrom(thrown), { code: 'internal', status: 500 });
  }
  // A code that is only recorded is never a reply.
  t.is(problemFrom(new Refusal('remote.timeout', 'x')).status, 500);
});

test('production omits detail, path and exception', (t) => {
  const context = { traceId: 't', requestId: 'r', path: '/p' };
  const failure = problemFrom(new Error('secret place'));
  t.deepEqual(Object.keys(problemBody(failure, { ...context, production: true })), [
    'type',
    'title',
    'status',
    'code',
    'traceId',
    'requestId',
  ]);
  const open = problemBody(failure, { ...context, production: false });
  t.is(open['instance'], '/p');
  t.regex(String(open['exception']), /secret place[\s\S]+parts\.test/);
  const refusal = problemFrom(new Refusal('upload.empty', 'why', { errors: { file: ['is missing'] } }));
  t.deepEqual(problemBody(refusal, { ...context, production: true })['errors'], { file: ['is missing'] });
  t.is(problemBody(refusal, { ...context, production: false })['exception'], undefined);
});

test('upload names are reduced to their last segment, in NFC, without control characters', (t) => {
  t.is(cleanFileName('a.pdf'), 'a.pdf');
  t.is(cleanFileName('lease\r\nof 2026.pdf'), 'lease of 2026.pdf', 'a line end does not join words');
  t.is(cleanFileName('../../etc/passwd'), 'passwd');
  t.is(cleanFileName('C:\\Users\\me\\a.pdf'), 'a.pdf');
  t.is(cleanFileName('a\\b/c\u0000\u001f\u007f\u0085.pdf'), 'c.pdf');
  t.is(cleanFileName('cafe\u0301.pdf'), 'caf\u00e9.pdf');
  t.is(cleanFileName('annex\u202efdp.exe'), 'annexfdp.exe', 'a name that reads as another one');
  t.is(
    cleanFileName('\u0646\u0627\u0645\u0647\u200c\u0647\u0627.pdf'),
    '\u0646\u0627\u0645\u0647\u200c\u0647\u0627.pdf',
  );
  for (const none of [
    '',
    '.',
    '..',
    'a/',
    'a/..',
    '\\',
    '\u0001',
    '.\u0000.',
    'x/\u0007.',
    ' ',
    'a/\u200b',
    '\u2800',
  ]) {
    t.throws(() => cleanFileName(none), { code: 'upload.invalid-name' }, JSON.stringify(none));
  }
});

test('ranges are single, absent or unsatisfiable, by an exhaustive test of small files', (t) => {
  const bytes = [...'0123456789'];
  for (let size = 0; size <= 4; size += 1) {
    for (let from = 0; from <= 5; from += 1) {
      for (let to = from; to <= 6; to += 1) {
        const range = parseRange(`bytes=${from}-${to}`, size);
        const wanted = bytes
          .slice(0, size)
          .slice(from, to + 1)
          .join('');
        if (wanted === '') t.is(range, 'outside');
        else t.deepEqual(range, { first: from, last: Math.min(to, size - 1) });
      }
      t.deepEqual(
        parseRange(`bytes=${from}-`, size),
        from < size ? { first: from, last: size - 1 } : 'outside',
      );
      t.deepEqual(
        parseRange(`bytes=-${from}`, size),
        from === 0 || size === 0 ? 'outside' : { first: Math.max(0, size - from), last: size - 1 },
      );
    }
  }
  for (const ignored of [
    '',
    'bytes=',
    'bytes=-',
    'bytes=3-2',
    'bytes=0-1,3-4',
    'items=0-1',
    'bytes=a-b',
    'bytes=0x1-2',
  ]) {
    t.is(parseRange(ignored, 10), 'whole', ignored);
  }
});

test('a download name is encoded in ASCII and in UTF-8, and no name breaks the header', (t) => {
  t.is(
    contentDisposition('a.signed.pdf'),
    `attachment; filename="a.signed.pdf"; filename*=UTF-8''a.signed.pdf`,
  );
  t.is(
    contentDisposition('é"\\.pdf'),
    `attachment; filename="_\\"\\\\.pdf"; filename*=UTF-8''%C3%A9%22%5C.pdf`,
  );
  t.is(
    contentDisposition("it's (1)*.pdf"),
    `attachment; filename="it's (1)*.pdf"; filename*=UTF-8''it%27s%20%281%29%2A.pdf`,
  );
  const long = `${'€'.repeat(74)}.pdf`;
  t.true(
    contentDisposition(`${'€'.repeat(100)}.pdf`).endsWith(`''${encodeURIComponent(`${'€'.repeat(83)}.pdf`)}`),
  );
  t.true(contentDisposition(long).endsWith(`''${encodeURIComponent(long)}`), 'a shorter name stays');
  for (const rude of ['a\r\nX-Evil: 1', '\u0000', '\ud800', '😀.pdf']) {
    t.regex(contentDisposition(rude), /^[\x20-\x7e]+$/);
  }
});

test('a query is parsed to strings, arrays for repeated names, and objects without prototypes', (t) => {
  t.deepEqual(
    { ...parseQuery('a=1&b=2&b=3&b=4&c=%20x+y&d') },
    { a: '1', b: ['2', '3', '4'], c: ' x y', d: '' },
  );
  t.deepEqual({ ...parseQuery(undefined) }, {});
  t.is(Object.getPrototypeOf(parseQuery('__proto__=x')), null);
  t.notThrows(() => parseQuery('%zz=%ff&&=&='));
});

test('a line end in a header value starts no second header', (t) => {
  let written = '';
  const response = { writeHeader: (name: string, value: string) => (written = `${name}: ${value}`) };
  const context = {
    requestId: 'id',
    https: false,
    headOnly: false,
    lastOnConnection: false,
    setCookie: undefined,
    ignored: undefined,
  };
  const headers = [['Location', '/a\r\nSet-Cookie: session=stolen\r\n\r\n<script>\0']] as const;
  writeHead(response as unknown as Parameters<typeof writeHead>[0], { status: 200, headers }, context);
  const names = written.split('\r\n').map((line) => line.split(':')[0]);
  t.true(names.includes('Location'));
  t.false(names.includes('Set-Cookie'));
  t.notRegex(written, /\r\n\r\n|\0/);
});

test('a reply is encoded by its schema: declared members only, and times as text', (t) => {
  const node = z.strictObject({
    at: time.nullable(),
    'a "name"': z.string().optional(),
    get inner() {
      return z.array(node);
    },
  });
  const schema = z.strictObject({
    node,
    byName: z.record(z.string(), time),
    one: z.union([
      z.strictObject({ since: time, of: z.int() }),
      z.strictObject({ count: z.int() }),
      z.null(),
    ]),
    free: z.looseObject({}).nullable(),
  });
  const inner = { at: 0, inner: [], secret: 'no' };
  const value = {
    node: { at: null, 'a "name"': 'x', inner: [inner], secret: 'no' },
    byName: { first: 1 },
    one: { since: 2, of: 3, secret: 'no' },
    free: { more: [1] },
    secret: 'no',
  };
  const encode = encoderOf(schema);
  t.deepEqual(JSON.parse(JSON.stringify(encode(value))), {
    node: {
      at: null,
      'a "name"': 'x',
      inner: [{ at: '1970-01-01T00:00:00.000Z', inner: [] }],
    },
    byName: { first: '1970-01-01T00:00:00.001Z' },
    one: { since: '1970-01-01T00:00:00.002Z', of: 3 },
    free: { more: [1] },
  });
  const counted = JSON.parse(JSON.stringify(encode({ ...value, one: { count: 4, of: 5 } })));
  t.deepEqual(counted.one, { count: 4 });
  t.is(JSON.parse(JSON.stringify(encode({ ...value, one: null }))).one, null);
});

test('a reply names what is absent: null, unless its schema leaves it out', (t) => {
  const schema = z.strictObject({
    text: z.string().nullable(),
    at: time.nullable(),
    list: z.array(z.int().nullable()),
    left: z.string().nullish(),
    out: time.optional(),
  });
  t.is(
    JSON.stringify(encoderOf(schema)({ list: [1, undefined] })),
    '{"text":null,"at":null,"list":[1,null]}',
  );
});

test('a document stores each property that its request gives, and replies show every one', (t) => {
  const given = Object.fromEntries(Object.keys(requestProperties).map((name) => [name, `the ${name}`]));
  t.deepEqual({ ...storedProperties(given) }, given as object);
  const nothing = Object.fromEntries(Object.keys(requestProperties).map((name) => [name, null]));
  for (const request of [{}, nothing, { externalId: '', requireReading: false }]) {
    const stored = storedProperties(request);
    t.false('externalId' in stored || 'requireReading' in stored);
    t.like(stored, { type: null, description: null, isEnvelope: false, timestampEnabled: false });
    const shown = shownProperties(stored);
    t.deepEqual(Object.keys(shown), Object.keys(replyProperties));
    t.like(shown, { externalId: null, requireReading: false, type: null });
  }
});

test('a CSV reply has a line of names and those of every page, and rejects with what the first page throws', async (t) => {
  const table = { columns: ['number', 'text'], cellsOf: (n: number) => [String(n), `=${n}, "x"`] };
  async function* pages() {
    yield [1, 2];
    yield [3];
  }
  const { chunks } = await csvReply('numbers.csv', pages(), table);
  let text = '';
  for await (const chunk of chunks) text += chunk;
  const line = (n: number) => `"${n}","'=${n}, ""x"""\r\n`;
  t.is(text, `\ufeff"number","text"\r\n${line(1)}${line(2)}${line(3)}`);
  async function* broken(): AsyncGenerator<number[]> {
    if (text !== '') throw new Error('no page');
    yield [1];
  }
  await t.throwsAsync(csvReply('numbers.csv', broken(), table), { message: 'no page' });
});
