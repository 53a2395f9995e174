import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Retryable } from '@sealwright/runtime';
import { openLmdbStore } from '@sealwright/runtime/lmdb';
import test from 'ava';
import { mailProbe } from '../../../../actors/batch/health-probes.ts';
import { RECIPIENT_STATUSES } from '../../../../actors/portal/mails/smtp-status.ts';
import { CODE_DELIVERY_TIMEOUT_MS } from '../../../../machines/portal/mail.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { DOCUMENT_1, notice, ORGANIZATION_1, summary } from '../mailbox.ts';
import { PUBLIC_URL, smtpTo, startMailSystem } from './mail-harness.ts';
import { headersOf, partsOf, startRelay } from './relay.ts';

test('each person gets one mail in plain text and HTML, and the answer of the relay is stored', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  await mailSystem.ask([
    notice('pending', 'ana@example.test', { role: 'sign' }),
    notice('pending', 'bo@example.test'),
  ]);
  await mailSystem.reach('Sent', 'ana@example.test', 'bo@example.test');
  t.deepEqual(relay.taken.map(({ to }) => to).sort(), [['ana@example.test'], ['bo@example.test']]);
  const raw = relay.taken.find(({ to }) => to[0] === 'ana@example.test')?.raw ?? '';
  const headers = headersOf(raw);
  t.is(headers.get('from'), 'Acme <no-reply@portal.example.test>');
  t.is(headers.get('to'), 'Ana Lima <ana@example.test>');
  t.is(headers.get('subject'), 'Please sign: Contract');
  t.is(headers.get('auto-submitted'), 'auto-generated');
  t.is(headers.get('content-language'), 'en');
  const parts = partsOf(raw);
  for (const type of ['text/plain', 'text/html'])
    t.regex(
      parts.get(type) ?? '',
      /portal\.example\.test\/document\/key\/ABCDEFGHIJ0123456789\/sign\?ticket=/,
    );
  const [first] = await mailSystem.mails.ofDocument(
    { organization: { id: ORGANIZATION_1 } } as never,
    DOCUMENT_1,
  );
  t.like(first, { status: 'Sent', tries: 1, about: 'pending', lastError: null });
  t.regex(first?.reply ?? '', /^250 /);
});

test('a missing mailbox fails alone and is not retried', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const good = Array.from({ length: 5 }, (_, n) => `person${n}@example.test`);
  await mailSystem.ask(['nobody@example.test', ...good].map((email) => notice('pending', email)));
  await mailSystem.reach('Sent', ...good);
  await mailSystem.reach('Failed', 'nobody@example.test');
  const failed = await mailSystem.mail('nobody@example.test');
  t.like(failed?.context.failures[0], { code: 'mail.refused' });
  t.regex(failed?.context.failures[0]?.message ?? '', /^550 No such user here/);
  mailSystem.clock.advance(24 * 3_600_000);
  await mailSystem.until(() => mailSystem.runtime.stats().effectsInFlight === 0);
  t.is(relay.taken.length, 5);
});

test('an invalid recipient fails without a command to the relay', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const bad = [
    '',
    'nobody',
    'a@b c',
    'a@b\r\nRCPT TO:<evil@example.test>',
    'a@b>,<evil@example.test',
    '<a@b>',
  ];
  await mailSystem.ask(bad.map((email) => notice('pending', email)));
  await mailSystem.reach('Failed', ...bad);
  for (const email of bad) t.is((await mailSystem.mail(email))?.context.failures[0]?.code, 'mail.address');
  t.deepEqual(relay.taken, []);
});

test('names that carry line ends or addresses add neither headers nor recipients', async (t) => {
  const relay = await startRelay(t);
  const evil = 'X\r\nBcc: evil@example.test\r\n\r\nbody';
  const mailSystem = await startMailSystem(t, {
    mailer: smtpTo(relay.port),
    profiles: new Map([
      [
        ORGANIZATION_1,
        { name: `Acme ${evil}`, language: 'en', replyTo: `a@b.test\r\nBcc: evil@example.test` },
      ],
    ]),
  });
  await mailSystem.ask([
    notice('pending', 'ana@example.test', {
      to: { name: `Ana" <evil@example.test>, ${evil}`, email: 'ana@example.test' },
      document: summary({ name: `Contract ${evil}`, description: evil }),
    }),
  ]);
  await mailSystem.reach('Sent', 'ana@example.test');
  t.deepEqual(
    relay.taken.map(({ to }) => to),
    [['ana@example.test']],
  );
  const headers = headersOf(relay.taken[0]?.raw ?? '');
  t.false(headers.has('bcc'));
  t.false(headers.has('reply-to'));
  t.is(headers.get('subject'), 'Please sign: Contract X Bcc: evil@example.test body');
  t.regex(headers.get('to') ?? '', /<ana@example\.test>$/);
  t.false([...headers.keys()].some((name) => !/^[a-z-]+$/.test(name)));
});

test('a sender and a reply address may have a name, and the display name is that of the organization', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, {
    mailer: smtpTo(relay.port),
    sender: 'Signing desk <desk@portal.example.test>',
    profiles: new Map([
      [ORGANIZATION_1, { name: 'Acme, Inc. "A"', language: 'pt', replyTo: 'Ana <ana@acme.test>' }],
    ]),
  });
  await mailSystem.ask([notice('pending', 'bo@example.test')]);
  await mailSystem.reach('Sent', 'bo@example.test');
  const headers = headersOf(relay.taken[0]?.raw ?? '');
  t.is(relay.taken[0]?.from, 'desk@portal.example.test');
  t.regex(headers.get('from') ?? '', /^"Acme, Inc\. \\"A\\"" <desk@portal\.example\.test>$/);
  t.is(headers.get('reply-to'), 'ana@acme.test');
  t.regex(headers.get('message-id') ?? '', /^<[0-9a-f-]{36}@portal\.example\.test>$/);
});

test('a mail deferred by the relay is sent after a pause', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  await mailSystem.ask([notice('pending', 'greylisted@example.test')]);
  await mailSystem.reach('Waiting', 'greylisted@example.test');
  t.like((await mailSystem.mail('greylisted@example.test'))?.context.failures[0], { code: 'mail.delayed' });
  const [waiting] = (await mailSystem.mails.newest({ limit: 1, offset: 0 })).items;
  t.is(waiting?.nextTryDate, mailSystem.clock.now() + 30_000);
  mailSystem.clock.advance(30_000);
  await mailSystem.until(async () => (await mailSystem.mail('greylisted@example.test'))?.context.tries === 2);
  t.pass();
});

/** Refusals that speak of relay, sender or policy, as relays in use write them. */
const OF_THE_RELAY: readonly (readonly [at: 'RCPT' | 'DATA', code: number, text: string])[] = [
  ['RCPT', 550, '5.4.5 Daily user sending limit exceeded'],
  ['RCPT', 550, '5.4.1 No answer from host'],
  ['DATA', 550, '5.4.5 Daily SMTP relay limit exceeded'],
  ['RCPT', 550, '5.7.54 Unable to relay recipient in non-accepted domain'],
  ['DATA', 550, '5.1.90 Your message can\u0027t be sent because you\u0027ve reached your daily limit'],
  ['DATA', 554, '5.2.252 SendAsDenied'],
  ['DATA', 554, '5.7.0 The limit of outgoing messages was exceeded'],
  ['RCPT', 550, 'Failure sending mail. Try again later.'],
  ['RCPT', 554, '5.7.1 Relay access denied'],
  ['RCPT', 550, 'relay access denied'],
  ['RCPT', 550, 'Authentication required'],
  ['RCPT', 553, 'sorry, sender domain is not allowed'],
  ['RCPT', 550, '5.1.8 Sender address rejected: Domain not found'],
  ['RCPT', 550, '5.1.7 Bad sender address'],
  ['DATA', 550, '5.7.26 Unauthenticated mail is not accepted'],
  ['DATA', 554, '5.7.9 Message not accepted for policy reasons'],
  ['DATA', 554, 'Message rejected as spam'],
  ['RCPT', 552, 'Too many recipients'],
  ['RCPT', 503, '5.5.1 Error: need MAIL command'],
  ['RCPT', 550, '5.999.1 Something new'],
  ['RCPT', 550, '4.2.1 Mailbox disabled for now'],
  ['RCPT', 421, '4.7.0 Try again later'],
  ['DATA', 454, '4.7.0 Temporary authentication failure'],
  ['RCPT', 450, '4.2.0 Greylisted'],
  ['RCPT', 450, '5.1.1 No such mailbox yet'],
];

test('refusals of relay, sender or policy wait and are sent later; those of a mailbox fail at once', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const waiting = OF_THE_RELAY.map(([at, code, text], n) => {
    relay.refusals.set(`waits${n}@example.test`, { at, code, text });
    return `waits${n}@example.test`;
  });
  const ofMailbox = [...RECIPIENT_STATUSES.keys()].map(
    (status) => [status, `${status} What it means`] as const,
  );
  const without = [550, 551, 553, 556].map((code) => [String(code), 'No such user here', code] as const);
  const failing = [...ofMailbox, ...without].map(([name, text, code = 550], n) => {
    const address = `fails-${name}@example.test`;
    relay.refusals.set(address, { at: n % 2 === 0 || code !== 550 ? 'RCPT' : 'DATA', code, text });
    return address;
  });
  const unknown = '5.4.1 Recipient address rejected: Access denied.';
  relay.refusals.set('fails-unknown@example.test', { at: 'RCPT', code: 550, text: unknown });
  failing.push('fails-unknown@example.test');
  // Without an enhanced status code only an answer to the recipient speaks of it.
  relay.refusals.set('fails-550@example.test', { at: 'RCPT', code: 550, text: 'No such user here' });
  await mailSystem.ask([...waiting, ...failing].map((email) => notice('pending', email)));
  await mailSystem.reach('Waiting', ...waiting);
  await mailSystem.reach('Failed', ...failing);
  const codes = await Promise.all(
    waiting.map(async (email) => (await mailSystem.mail(email))?.context.failures[0]?.code),
  );
  for (const [n, [, code, text]] of OF_THE_RELAY.entries()) {
    const expected = code < 500 ? ['mail.delayed'] : ['mail.relay-refused'];
    // The relay also ends the connection, which may be noticed first.
    if (code === 421) expected.push('mail.unreachable');
    t.true(expected.includes(codes[n] ?? ''), `${code} ${text}: ${codes[n]}`);
  }
  relay.refusals.clear();
  await mailSystem.until(async () => {
    mailSystem.clock.advance(30_000);
    const states = await Promise.all(waiting.map(async (email) => (await mailSystem.mail(email))?.state));
    return states.every((state) => state === 'Sent');
  });
  t.deepEqual(relay.taken.flatMap(({ to }) => to).toSorted(), waiting.toSorted());
});

test('a relay that refuses all mails is named until it takes one', async (t) => {
  const relay = await startRelay(t);
  const { clock, ...mailSystem } = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const check = async () => (await mailProbe(mailSystem.trouble)())[0];
  t.like(await check(), { name: 'mail', status: 'Healthy' });
  const since = new Date(clock.now()).toISOString();
  relay.refusals.set('ana@example.test', { at: 'RCPT', code: 550, text: '5.4.5 Daily limit exceeded' });
  await mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.reach('Waiting', 'ana@example.test');
  t.like(await check(), {
    status: 'Degraded',
    detail: `mails wait since ${since} and are tried again: 550 5.4.5 Daily limit exceeded`,
  });
  relay.refusals.clear();
  clock.advance(30_000);
  await mailSystem.reach('Sent', 'ana@example.test');
  t.like(await check(), { status: 'Healthy' });
});

test('a relay is no longer named when the last mail that waited for it has failed for good', async (t) => {
  const relay = await startRelay(t);
  const { clock, ...mailSystem } = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const status = async () => (await mailProbe(mailSystem.trouble)())[0]?.status;
  relay.refusals.set('ana@example.test', { at: 'RCPT', code: 550, text: '5.4.5 Daily limit exceeded' });
  await mailSystem.ask([notice('code', 'ana@example.test', { codeGeneration: 1 })]);
  await mailSystem.reach('Waiting', 'ana@example.test');
  t.is(await status(), 'Degraded');
  clock.advance(CODE_DELIVERY_TIMEOUT_MS);
  await mailSystem.reach('Failed', 'ana@example.test');
  t.is(await status(), 'Healthy');
  // A mail that waits for an hour is named until then.
  await mailSystem.ask([notice('pending', 'ana@example.test')], 'another-document');
  await mailSystem.until(async () => (await status()) === 'Degraded');
});

test('one call sends all mails again that failed since a time, but no codes', async (t) => {
  const relay = await startRelay(t);
  const { clock, mails, ...mailSystem } = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const refuse = (...people: readonly string[]) => {
    for (const email of people) relay.refusals.set(email, { at: 'RCPT', code: 550, text: '5.1.1 None' });
  };
  refuse('early@example.test', 'ana@example.test', 'bo@example.test', 'code@example.test');
  await mailSystem.ask([notice('pending', 'early@example.test')]);
  await mailSystem.reach('Failed', 'early@example.test');
  clock.advance(1000);
  const since = clock.now();
  await mailSystem.ask(
    [
      notice('pending', 'ana@example.test'),
      notice('pending', 'bo@example.test'),
      notice('code', 'code@example.test', { codeGeneration: 3 }),
    ],
    'another-document',
  );
  await mailSystem.reach('Failed', 'ana@example.test', 'bo@example.test', 'code@example.test');
  relay.refusals.clear();
  t.deepEqual(await mails.sendFailedAgain(since, 'operator'), { count: 2, complete: true });
  await mailSystem.reach('Sent', 'ana@example.test', 'bo@example.test');
  await mailSystem.reach('Failed', 'early@example.test', 'code@example.test');
  t.deepEqual(await mails.sendFailedAgain(0), { count: 1, complete: true });
  await mailSystem.reach('Sent', 'early@example.test');
  t.is(relay.taken.length, 3);
});

for (const kind of ['folder', 'relay'])
  test(`a ${kind} takes mails after the mail library could not be loaded once`, async (t) => {
    const folder = folderFor(t);
    const script = new URL('./missing-library.js', import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [script, kind, folder]);
    const [first, second] = stdout.trim().split('\n');
    t.regex(first ?? '', /^mail\.(?:folder|unreachable) retried .*the library is away$/);
    t.regex(second ?? '', kind === 'folder' ? /^Written to .*\.eml\.$/ : /ECONNREFUSED/);
  });

test('a mailer that is closed before its first mail sends none', async (t) => {
  const relay = await startRelay(t);
  const mailer = smtpTo(relay.port);
  mailer.close();
  const mailSystem = await startMailSystem(t, { mailer });
  await mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.reach('Waiting', 'ana@example.test');
  t.like((await mailSystem.mail('ana@example.test'))?.context.failures[0], { code: 'mail.unreachable' });
  t.deepEqual(relay.taken, []);
});

for (const [what, error, failures] of [
  ['an unavailable store', new Retryable('store.unavailable', 'The connection was lost.'), 0],
  ['an error that nobody foresaw', new Error('Something is odd.'), 1],
] as const)
  test(`${what} does not fail the mail that is written`, async (t) => {
    const relay = await startRelay(t);
    let isAway = true;
    const mailSystem = await startMailSystem(t, {
      mailer: smtpTo(relay.port),
      async reading() {
        if (!isAway) return;
        isAway = false;
        throw error;
      },
    });
    await mailSystem.ask([notice('pending', 'ana@example.test')]);
    await mailSystem.until(async () => {
      mailSystem.clock.advance(30_000);
      const state = (await mailSystem.mail('ana@example.test'))?.state;
      return state === 'Sent' || state === 'Failed';
    });
    const { state, context } = (await mailSystem.mail('ana@example.test')) ?? {};
    t.deepEqual([state, context?.failures.length], ['Sent', failures]);
    t.is(relay.taken.length, 1);
  });

test('an unavailable relay loses no mail, also over a restart, and gets every mail afterwards', async (t) => {
  const gone = await startRelay(t);
  await gone.close();
  const folder = folderFor(t);
  const people = Array.from({ length: 12 }, (_, n) => `person${n}@example.test`);
  const store = openLmdbStore({ folder });
  const before = await startMailSystem(t, { mailer: smtpTo(gone.port), store });
  await before.ask(people.map((email) => notice('pending', email)));
  await before.reach('Waiting', ...people);
  t.is((await before.mail('person0@example.test'))?.context.failures[0]?.code, 'mail.unreachable');
  await before.runtime.stop();
  await store.close();

  const back = await startRelay(t, gone.port);
  const again = openLmdbStore({ folder });
  t.teardown(() => again.close());
  const after = await startMailSystem(t, { mailer: smtpTo(back.port), store: again, clock: before.clock });
  after.clock.advance(60_000);
  after.runtime.start();
  await after.reach('Sent', ...people);
  t.deepEqual(back.taken.flatMap(({ to }) => to).sort(), [...people].sort());
});

test('a hanging relay times out, and delays no other work', async (t) => {
  const relay = await startRelay(t);
  const people = Array.from({ length: 20 }, (_, n) => `slow${n}@example.test`);
  for (const email of people) relay.hanging.add(email);
  // One slot for all other work: if mails took it, the stub's own effect would wait for them.
  const mailSystem = await startMailSystem(t, {
    mailer: smtpTo(relay.port, { silenceTimeout: 300 }),
    effectsInFlight: 1,
  });
  await mailSystem.ask(people.map((email) => notice('pending', email)));
  await mailSystem.until(() => mailSystem.runtime.stats().effectsInFlight > 0);
  await mailSystem.ask([notice('pending', 'bo@example.test')], 'another-document');
  t.truthy(await mailSystem.mail('bo@example.test'), 'it was made while the relay hung');
  await mailSystem.reach('Waiting', ...people);
  const failure = (await mailSystem.mail('slow0@example.test'))?.context.failures[0];
  t.is(failure?.code, 'mail.unreachable');
  // The silence that is waited for is short: a busy machine makes a relay that answers seem silent, too.
  await mailSystem.until(async () => {
    const bo = await mailSystem.mail('bo@example.test');
    if (bo?.state === 'Waiting') await mailSystem.clock.advance(600_000);
    return bo?.state === 'Sent';
  });
});

test('codes overtake a long queue of other mails', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  const crowd = Array.from({ length: 60 }, (_, n) => notice('pending', `crowd${n}@example.test`));
  await mailSystem.ask([...crowd, notice('code', 'ana@example.test', { codeGeneration: 3 })]);
  await mailSystem.reach('Sent', 'ana@example.test');
  const place = relay.taken.findIndex(({ to }) => to[0] === 'ana@example.test');
  t.true(place >= 0 && place < 30, `the code was mail number ${place}`);
  t.regex(relay.taken[place]?.raw ?? '', /100003/);
  await mailSystem.reach('Sent', 'crowd59@example.test');
});

test('a mail effect repeated after a crash sends no second mail', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  let crashed = false;
  // The first outcome is that of `notify`: its work is done without a report.
  mailSystem.faults.arm('effect.done.before-outcome', () => {
    crashed = true;
    throw new Error('crashed after the work');
  });
  const asked = mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.until(() => crashed);
  mailSystem.clock.advance(10_000);
  await asked;
  await mailSystem.reach('Sent', 'ana@example.test');
  await mailSystem.until(() => mailSystem.runtime.stats().effectsInFlight === 0);
  t.is((await mailSystem.mails.newest({ limit: 9, offset: 0 })).totalCount, 1);
  t.is(relay.taken.length, 1);
});

test('a stored mail contains no part of a code or a ticket', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  await mailSystem.ask([
    notice('code', 'ana@example.test', { codeGeneration: 8 }),
    notice('pending', 'bo@example.test'),
  ]);
  await mailSystem.reach('Sent', 'ana@example.test', 'bo@example.test');
  const stored = JSON.stringify([
    await mailSystem.mail('ana@example.test'),
    await mailSystem.mail('bo@example.test'),
  ]);
  t.true(relay.taken.some(({ raw }) => raw.includes('100008')));
  t.false(stored.includes('100008'));
  t.false(stored.includes(PUBLIC_URL));
});

test('a mail is removed 30 days after it was sent', async (t) => {
  const relay = await startRelay(t);
  const mailSystem = await startMailSystem(t, { mailer: smtpTo(relay.port) });
  await mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.reach('Sent', 'ana@example.test');
  const count = async () => (await mailSystem.mails.newest({ limit: 9, offset: 0 })).totalCount;
  const sentAt = mailSystem.clock.now();
  await mailSystem.until(async () => {
    mailSystem.clock.advance(12 * 3_600_000);
    return (await count()) === 0;
  });
  t.true(mailSystem.clock.now() - sentAt >= 30 * 24 * 3_600_000);
  t.deepEqual(await mailSystem.store.rows({ view: 'document-mails', limit: 9 }), []);
});
