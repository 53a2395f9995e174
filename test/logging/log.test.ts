import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import test from 'ava';
import { createDescriptorSink, createLogging, type Level, type LoggingOptions } from '../../logging.ts';

const clock = { now: () => Date.UTC(2026, 4, 26, 15, 42, 11, 123) };

/** A log that really writes to a file, and what that file then holds. */
function logToFile(options: Omit<LoggingOptions, 'clock' | 'sinks'> = {}, time = clock) {
  const path = join(mkdtempSync(join(tmpdir(), 'sealwright-log-')), 'log.txt');
  const descriptor = openSync(path, 'w');
  const log = createLogging({ ...options, clock: time, sinks: [createDescriptorSink(descriptor)] });
  const lines = async () => {
    await log.flush();
    closeSync(descriptor);
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  };
  return { log, lines };
}

test('a line has time, level, text and properties in the documented form', async (t) => {
  const { log, lines } = logToFile();
  log.info('Job done', { JobId: '42', format: 'Pades', ms: 12.5, ok: true, error: null, left: undefined });
  log.warn('Plain');
  t.deepEqual(await lines(), [
    '2026-05-26T15:42:11.123Z [INF] Job done {JobId: "42", Format: "Pades", Ms: 12.5, Ok: true, Error: null}',
    '2026-05-26T15:42:11.123Z [WRN] Plain',
  ]);
});

test('each line has its own time, within a second and beyond', async (t) => {
  const start = Date.UTC(2026, 4, 26, 23, 59, 58, 7);
  const times = [0, 1, 992, 993, 1993].map((later) => start + later);
  const { log, lines } = logToFile({}, { now: () => times.shift() ?? 0 });
  const expected = times.map((at) => new Date(at).toISOString());
  for (const _ of expected) log.info('x');
  t.deepEqual(
    (await lines()).map((line) => line.slice(0, 24)),
    expected,
  );
});

for (const [level, written] of [
  ['Debug', 'DBG INF WRN ERR FTL'],
  ['Information', 'INF WRN ERR FTL'],
  ['Error', 'ERR FTL'],
  ['Fatal', 'FTL'],
] as const satisfies readonly (readonly [Level, string])[]) {
  test(`the level ${level} omits less severe lines`, async (t) => {
    const { log, lines } = logToFile({ level });
    for (const name of ['debug', 'info', 'warn', 'error', 'fatal'] as const) log[name]('x');
    t.is((await lines()).map((line) => line.slice(26, 29)).join(' '), written);
  });
}

test('percent signs and names reserved by the serializer are written literally', async (t) => {
  const { log, lines } = logToFile();
  log.info('100% of %s, %%d', { level: 'a', at: 1, text: 'b', properties: 'c' });
  t.is((await lines())[0]?.slice(31), '100% of %s, %%d {Level: "a", At: 1, Text: "b", Properties: "c"}');
});

test('a value in a log line can neither start another line nor control a terminal', async (t) => {
  const { log, lines } = logToFile();
  const forged = 'a\n2026-05-26T15:42:11.123Z [INF] forged\r\u001b[2Jb\u2028c\u0085d\u202ee\u0000';
  log.info(forged, { [`na\nme`]: forged, quoted: 'say "hi" \\' });
  const written = await lines();
  t.is(written.length, 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must be absent.
  t.notRegex(written[0] ?? '', /[\u0000-\u001f\u007f-\u009f\u2028\u202e]/);
  t.regex(written[0] ?? '', /a\\n2026/);
  t.regex(written[0] ?? '', /Quoted: "say \\"hi\\" \\\\"/);
});

for (const name of [
  'Password',
  'dbPassword',
  'userPin',
  'Pin',
  'PIN',
  'pin',
  'License',
  'ApiKey',
  'x-api-key',
  'clientSecret',
  'Salt',
  'ConnectionString',
  'authorization',
  'Set-Cookie',
]) {
  test(`a property named ${name} is hidden whatever it holds`, async (t) => {
    const { log, lines } = logToFile();
    log.info('x', { [name]: 'v1', [`${name}Value`]: 2 });
    t.notRegex((await lines()).join(), /v1|: 2/);
  });
}

for (const name of ['mapping', 'shipping', 'spinning', 'Folder', 'Key']) {
  test(`a property named ${name} is shown`, async (t) => {
    const { log, lines } = logToFile();
    log.info('x', { [name]: 'shown' });
    t.regex((await lines()).join(), /"shown"/);
  });
}

test('a configured secret is replaced everywhere, in every usual encoding', async (t) => {
  const secret = 'p@ss "word" #1/long';
  const { log, lines } = logToFile({ secrets: [secret, 'short'] });
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret),
    Buffer.from(secret).toString('base64'),
  ];
  for (const form of forms) log.error(`failed with ${form}!`, { detail: `at ${form}`, note: 'short' });
  const written = (await lines()).join('\n');
  t.notRegex(written, /word|cEBzcyAid29yZC/);
  t.is(written.match(/\*\*\*/g)?.length, 8);
  // Below 12 characters a value would also hide ordinary words.
  t.regex(written, /Note: "short"/);
});

test('a secret that contains another one is replaced as a whole', async (t) => {
  const { log, lines } = logToFile({ secrets: ['abcdefghijkl', 'abcdefghijkl-and-more'] });
  log.info('x abcdefghijkl-and-more y');
  t.regex((await lines())[0] ?? '', /x \*\*\* y$/);
});

test('a secret made after the start is masked from then on', async (t) => {
  const { log, lines } = logToFile();
  log.hide('made-just-now-123');
  log.info('the key is made-just-now-123');
  t.regex((await lines())[0] ?? '', /the key is \*\*\*$/);
});

test('a reader that stops reading loses lines, and costs neither time nor memory, and the loss is reported', async (t) => {
  // A pipe with ends of our own: nobody reads, so it fills up, and nobody closes a descriptor under the sink.
  const fifo = join(mkdtempSync(join(tmpdir(), 'sealwright-log-')), 'pipe');
  execFileSync('mkfifo', [fifo]);
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const fd = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
  const sink = createDescriptorSink(fd);
  const log = createLogging({ clock, sinks: [sink] });
  const text = 'x'.repeat(1000);
  for (let count = 0; count < 10_000; count += 1) log.info(text);
  t.true(sink.dropped > 4000);
  const before = sink.dropped;
  log.error('still taken');
  t.is(sink.dropped, before);
  closeSync(reader);
  await sink.flush();
  t.notThrows(() => log.info('the reader is gone'));
  t.is(sink.dropped, before + 1);
  rmSync(dirname(fifo), { recursive: true });
});

test('a flush at the end of a process ends too when the reader of its lines has left', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-log-'));
  const fifo = join(folder, 'pipe');
  execFileSync('mkfifo', [fifo]);
  const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const sink = createDescriptorSink(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
  closeSync(reader);
  sink.write('being written\n', 'Error');
  sink.write('behind it\n', 'Error');
  sink.flushSync();
  sink.write('nobody reads this\n', 'Error');
  t.is(sink.dropped, 1);
  rmSync(folder, { recursive: true });
});

test('lines before a flush are on the disk after it, in order', async (t) => {
  const { log, lines } = logToFile();
  for (let count = 0; count < 2000; count += 1) log.info(`line ${count}`);
  const written = await lines();
  t.is(written.length, 2000);
  t.true(written.every((line, index) => line.endsWith(` line ${index}`)));
});
