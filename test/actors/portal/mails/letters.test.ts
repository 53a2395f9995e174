import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime';
import { MemoryStore, SimulatedClock } from '@sealwright/runtime/testing';
import test from 'ava';
import { migrateStore } from '#runtime/step/migrate.js';
import { mailBodyHtml, mailBodyText } from '../../../../actors/portal/mails/letter.ts';
import { createMailFolder } from '../../../../actors/portal/mails/mail-folder.ts';
import { oneLine } from '../../../../actors/portal/mails/mail-port.ts';
import { type MailRenderingOptions, renderMail } from '../../../../actors/portal/mails/mail-rendering.ts';
import { MAIL } from '../../../../actors/portal/mails/mails.ts';
import { addressKey, isMailAddress } from '../../../../actors/portal/shared/mail-address.ts';
import { LANGUAGES, type Language } from '../../../../contracts/portal/words.ts';
import { isoDayEndingAt, parseEndOfDay } from '../../../../contracts/times.ts';
import type { DocumentId } from '../../../../machines/ids.ts';
import type { DocumentContext } from '../../../../machines/portal/documents/document-context.ts';
import { concludedMails, startMails } from '../../../../machines/portal/documents/document-notifications.ts';
import type { MailContent } from '../../../../machines/portal/mail.ts';
import type { MailRequest } from '../../../../machines/portal/portal-types.ts';
import { folderFor } from '../../../runtime/folder.ts';
import { ACTION_1, DOCUMENT_1, notice, ORGANIZATION_1, summary, USER_1 } from '../mailbox.ts';
import { stubDocument } from '../stub-document.ts';
import { PUBLIC_URL, startMailSystem } from './mail-harness.ts';
import { headersOf, partsOf } from './relay.ts';

const CACHE_SIZE = { clock: { now: () => 0 }, keep: 30 * 86_400_000 };

const KINDS: readonly MailRequest['about'][] = [
  'pending',
  'reminder',
  'concluded',
  'refused',
  'canceled',
  'new-version',
  'flow-edited',
  'code',
];

function parts(language: Language, name = 'Acme'): MailRenderingOptions {
  return {
    organization: { name, language },
    links: {
      action: ({ key }, action, user) => `${PUBLIC_URL}/document/key/${key}/sign?ticket=${action}.${user}`,
      observer: ({ key }, observer) => `${PUBLIC_URL}/document/key/${key}/read?ticket=${observer}`,
      check: (key) => `${PUBLIC_URL}/check/${key}`,
      signIn: ({ linkId }) => `https://portal.test/sign-in/link?ticket=${linkId}`,
      waiting: (culture) => `${PUBLIC_URL}/waiting?culture=${culture}`,
    },
    codeFor: () => '012345',
  };
}

const list = (names: readonly string[]): MailContent => ({
  about: 'pending-list',
  to: { name: 'Ana', email: 'ana@example.test' },
  documents: names.map((name) => ({
    document: summary({ name }),
    flowActionId: ACTION_1,
    userId: USER_1,
    role: 'approve',
  })),
});

test('every kind of mail has its own text in every language', (t) => {
  const subjects = new Set<string>();
  for (const language of LANGUAGES) {
    const contents: readonly MailContent[] = [
      ...KINDS.map((about) => notice(about, 'ana@example.test', { codeGeneration: 1, reason: 'Wrong date' })),
      list(['A']),
      list(['A', 'B']),
    ];
    for (const content of contents) {
      const letter = renderMail(content, parts(language));
      const text = mailBodyText(letter);
      const html = mailBodyHtml(letter, language);
      t.true(html.includes(`<html lang="${language}">`));
      for (const said of [text, html]) {
        t.true(said.includes('Acme'), `${language} ${content.about}`);
        t.false(/\b(undefined|null|NaN)\b|\[object/.test(said), `${language} ${content.about}`);
      }
      if (content.about === 'refused' || content.about === 'canceled') t.true(text.includes('Wrong date'));
      const isAsking = ['pending', 'reminder', 'pending-list'].includes(content.about);
      for (const said of [text, html])
        t.is(said.includes(`/waiting?culture=${language}`), isAsking, `${language} ${content.about}`);
      if (content.about === 'code') t.true(text.includes('012345') && html.includes('012345'));
      subjects.add(`${language} ${content.about === 'reminder' ? 'again ' : ''}${letter.subject}`);
    }
  }
  t.is(subjects.size, LANGUAGES.length * (KINDS.length + 2), 'no two have the same subject');
});

test('a reminder has the content of the first mail', (t) => {
  for (const language of LANGUAGES) {
    t.deepEqual(
      renderMail(notice('reminder', 'a@b.test', { role: 'approve' }), parts(language)),
      renderMail(notice('pending', 'a@b.test', { role: 'approve' }), parts(language)),
    );
  }
});

test('documents of one call are one mail to a person, which counts each once and has their description once', (t) => {
  const user = { id: USER_1, name: 'Ana', identifier: null, email: 'ana@example.test', phone: null };
  const action = { type: 'Signer', status: 'Pending', user };
  const documents = ['Lease', 'Annex'].map((name, at) => ({
    ...summary({ id: `${DOCUMENT_1.slice(0, -1)}${at}` as DocumentId, name, description: 'The office.' }),
    organization: { id: ORGANIZATION_1, name: 'Acme' },
    observers: [],
    tags: [],
    version: 1,
    // For herself, and for a company.
    actions: ['a', 'b'].map((end) => ({ ...action, id: `${ACTION_1.slice(0, -1)}${end}` })),
  })) as unknown as readonly DocumentContext[];
  const [mail, ...more] = startMails(documents);
  if (mail === undefined) return t.fail('there is no mail');
  t.is(more.length, 0);
  t.deepEqual(
    mail.others?.map(({ document }) => [document.name, document.description]),
    [
      ['Lease', null],
      ['Annex', null],
      ['Annex', null],
    ],
  );
  const letter = renderMail(mail, parts('en'));
  t.is(letter.items?.length, 4, 'each action has a link');
  t.is(letter.subject, 'Please sign: Lease and Annex');
  const text = mailBodyText(letter);
  t.regex(text, /asks you to sign these 2 documents/);
  t.is(text.split('The office.').length, 2);
});

test('a mail links to the action it names, and a concluded one without action to the public check page', (t) => {
  const link = (content: MailContent) => renderMail(content, parts('en')).button?.url;
  t.is(
    link(notice('pending', 'a@b.test')),
    `${PUBLIC_URL}/document/key/ABCDEFGHIJ0123456789/sign?ticket=${ACTION_1}.${USER_1}`,
  );
  const nobody = { flowActionId: null, userId: null };
  t.is(link(notice('concluded', 'a@b.test', nobody)), `${PUBLIC_URL}/check/ABCDEFGHIJ0123456789`);
  t.is(link(notice('canceled', 'a@b.test', nobody)), undefined);
});

test('a mail names the person who sends, the last day and the organization', (t) => {
  const document = summary({ createdBy: { id: USER_1, type: 'User', name: 'Marta Reis' } });
  const dated = { document, expirationDate: Date.UTC(2030, 0, 31, 12) };
  const letter = renderMail(notice('pending', 'a@b.test', dated), parts('pt'));
  const html = mailBodyHtml(letter, 'pt', {
    name: 'Acme',
    primaryColor: null,
    headerColor: null,
    logo: null,
  });
  for (const said of [mailBodyText(letter), html]) {
    t.regex(said, /Marta Reis[^<]*Acme[^<]* solicita/);
    t.true(said.includes('Assine até o fim do dia 31 de janeiro de 2030 (UTC).'), said);
  }
  t.regex(html, /role="banner"[\s\S]*Acme[\s\S]*role="main"/);
  const zoned: readonly (readonly [string, string])[] = [
    ['2030-01-10T23:59:59-03:00', '10 de janeiro de 2030 (UTC-3)'],
    ['2030-01-10T00:30:00+05:30', '10 de janeiro de 2030 (UTC+5:30)'],
    ['2030-01-10T12:00:00+13:00', '10 de janeiro de 2030 (UTC+13)'],
    ['2030-01-10T12:00:00-10:00', '10 de janeiro de 2030 (UTC-10)'],
    ['2030-01-10', '10 de janeiro de 2030 (UTC)'],
  ];
  for (const [written, said] of zoned) {
    const expirationDate = parseEndOfDay(written) ?? Number.NaN;
    const text = mailBodyText(
      renderMail(notice('pending', 'a@b.test', { document, expirationDate }), parts('pt')),
    );
    t.true(text.includes(`até o fim do dia ${said}.`), text);
    t.is(isoDayEndingAt(expirationDate), '2030-01-10');
  }
  for (const language of LANGUAGES) {
    const dated = { document, expirationDate: parseEndOfDay('2030-01-10T23:59:59-03:00') ?? Number.NaN };
    for (const about of ['pending', 'expiring'] as const) {
      const text = mailBodyText(renderMail(notice(about, 'a@b.test', dated), parts(language)));
      t.true(text.includes('(UTC-3)'), `${language}: ${text}`);
    }
  }
  const without = mailBodyText(renderMail(notice('pending', 'a@b.test'), parts('pt')));
  t.notRegex(without, /Marta|até o fim|\{/);
  const concluded = (more: object) => renderMail(notice('concluded', 'a@b.test', more), parts('en')).button;
  t.is(concluded({})?.label, 'See and download the signed document');
  t.is(concluded({ flowActionId: null, userId: null })?.label, 'See the signatures');
});

test('names from users are escaped in the HTML of a mail', (t) => {
  const evil = '"><img src=x onerror=alert(1)><a href="https://evil.example">&amp;</a>\'';
  for (const content of [
    notice('refused', 'a@b.test', {
      to: { name: evil, email: 'a@b.test' },
      document: summary({ name: evil, description: evil }),
      reason: evil,
      byName: evil,
    }),
    notice('pending', 'a@b.test', { document: summary({ name: evil, description: evil }) }),
    list([evil]),
  ]) {
    const letter = renderMail(content, parts('en', evil));
    const html = mailBodyHtml(letter, 'en');
    t.false(/<(img|script|iframe|link)|onerror=alert\(1\)>|evil\.example">/.test(html));
    t.deepEqual(
      [...html.matchAll(/<a href="([^"]*)"/g)].map(
        ([, url = '']) => new URL(url.replaceAll('&amp;', '&')).origin,
      ),
      [...(letter.button || letter.items ? [PUBLIC_URL] : []), ...(letter.more ? [PUBLIC_URL] : [])],
    );
  }
});

test('a right-to-left name does not reorder the text beside it in a mail', (t) => {
  const person = 'נועה \u202e לוי';
  for (const content of [
    notice('refused', 'a@b.test', {
      to: { name: person, email: 'a@b.test' },
      byName: person,
      reason: '\u202eno',
    }),
    list([person]),
  ]) {
    const letter = renderMail(content, parts('en', person));
    const said = `${mailBodyText(letter)} ${mailBodyHtml(letter, 'en')}`;
    t.false(/[\u202a-\u202e\u200e\u200f]/.test(said), said);
    const names = said.split('\u2068נועה  לוי\u2069').length + said.split('\u2068נועה לוי\u2069').length - 2;
    t.true(names >= 3, said);
    t.false(/[\u2066-\u2069]/.test(letter.subject), letter.subject);
  }
});

test('a mail loads no remote content and has no tracking', (t) => {
  for (const about of KINDS) {
    const html = mailBodyHtml(
      renderMail(notice(about, 'a@b.test', { codeGeneration: 1 }), parts('pt')),
      'pt',
    );
    t.false(/\b(src|background|action)=|url\(|@import|<link/i.test(html), about);
    const addresses = [...html.matchAll(/https?:\/\/[^\s"<]+/g)].map(([address]) => new URL(address).origin);
    t.true(
      addresses.every((origin) => origin === PUBLIC_URL),
      about,
    );
  }
});

test('header texts are single lines of limited length', (t) => {
  t.is(oneLine('a\r\nb\u0000c\u2028d\u202ee'), 'a b c de');
  t.is(oneLine('  x  '), 'x');
  t.is(oneLine('y'.repeat(300)).length, 200);
  t.is(oneLine('\ud800'), '');
  t.is(oneLine(`${'y'.repeat(8)}😀z`, 10), `${'y'.repeat(8)}…`, 'no half of a surrogate pair');
  t.is(oneLine(`${'y'.repeat(6)}👩‍👩‍👧 and more`, 12), `${'y'.repeat(6)}…`, 'no part of a family');
});

test('a participant who is also told in any case gets the link to the signed file', (t) => {
  const user = { id: USER_1, name: 'Ana', identifier: null, email: 'Ana@example.test', phone: null };
  const document = {
    ...summary({}),
    organization: { id: ORGANIZATION_1, name: 'Acme' },
    observers: [],
    made: [],
    tags: [],
    notifiedEmails: ['ana@example.test', 'boss@example.test'],
    disableNotifications: false,
    actions: [{ id: ACTION_1, type: 'Signer', status: 'Completed', user }],
  } as unknown as DocumentContext;
  const told = (one: DocumentContext, tellParticipants: boolean) =>
    concludedMails(one, tellParticipants).map(({ to, flowActionId }) => [to.email, flowActionId]);
  const others = ['boss@example.test', null];
  t.deepEqual(told(document, true), [['Ana@example.test', ACTION_1], others]);
  t.deepEqual(told(document, false), [['ana@example.test', null], others]);
});

test('an address is what a relay can be handed', (t) => {
  for (const good of ['a@b.test', 'ana.lima+x@exämple.test', "o'hara@x.test", 'josé@example.test'])
    t.true(isMailAddress(good), good);
  for (const bad of [
    '',
    'a',
    'a@',
    '@b',
    'a@b@c',
    'a b@c',
    'a@b,c@d',
    '<a@b>',
    'a@b\n',
    `${'x'.repeat(65)}@b`,
    'ana@[192.0.2.1]',
    'ana@192.0.2.1',
    'ana(x)@example.com',
    'ana@exa(mple).com',
    'a@b..c',
    'ana@.com',
    'ana@example.com.',
    'ana@-b.com',
    'ana@*.com',
    'ana@example.com?subject=x',
    `ana@${'a'.repeat(64)}.com`,
    `ana@${'a.'.repeat(127)}com`,
  ])
    t.false(isMailAddress(bad), bad);
});

test('without a relay each mail becomes one file that mail programs and operators can read', async (t) => {
  const folder = join(folderFor(t), 'mail');
  const mailSystem = await startMailSystem(t, { mailer: createMailFolder(folder, CACHE_SIZE) });
  await mailSystem.ask([
    notice('pending', 'ana@example.test', { document: summary({ name: 'Contrato de locação' }) }),
    notice('pending', 'bo@example.test'),
  ]);
  await mailSystem.reach('Sent', 'ana@example.test', 'bo@example.test');
  const names = await readdir(folder);
  t.is(names.length, 2);
  t.true(
    names.every((name) => /^\d{8}T\d{9}Z-[0-9a-f-]{36}\.eml$/.test(name)),
    String(names),
  );
  const raws = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const ana = raws.find((raw) => raw.includes('ana@example.test')) ?? '';
  t.regex(headersOf(ana).get('subject') ?? '', /^=\?UTF-8\?/i);
  // Absences are not told, but a mail that cannot be delivered is.
  t.is(headersOf(ana).get('x-auto-response-suppress'), 'DR, RN, NRN, OOF, AutoReply');
  t.regex(partsOf(ana).get('text/plain') ?? '', /Contrato de locação/);
  const found = async (search: string) => {
    const { items, totalCount } = await mailSystem.mails.mailbox({ search, limit: 9, offset: 0 });
    t.is(items.length, totalCount);
    return items.map(({ to }) => to);
  };
  t.deepEqual(await found('LOCAÇÃO'), ['ana@example.test']);
  t.deepEqual(await found('bo@'), ['bo@example.test']);
  t.deepEqual(await found('nobody'), []);
  for (const mail of (await mailSystem.mails.newest({ limit: 9, offset: 0 })).items) {
    const { id, to } = mail;
    t.is(await mailSystem.mails.textState(mail), 'stored');
    const content = await mailSystem.mails.content(id);
    const text = content?.text ?? '';
    const raw = raws.find((one) => one.includes(to)) ?? '';
    t.true(text.startsWith(raw.slice(0, raw.indexOf('\r\n\r\n'))), to);
    t.true(text.trim().endsWith((partsOf(raw).get('text/plain') ?? '-').trim()), text);
    t.false(text.includes('<html'), text);
    t.is(content?.html?.trim(), partsOf(raw).get('text/html'));
    // Links survive copying from the file.
    t.regex(raw, /^Content-Transfer-Encoding: 8bit\r$/m);
    t.notRegex(raw.slice(raw.indexOf('\r\n\r\n')), /quoted-printable|=\r\n/);
    const [link = '-'] = /http\S+\/sign\?ticket=\S+/.exec(text) ?? [];
    t.true(raw.includes(`\r\n${link}\r\n`), raw);
    await rm(join(folder, names.find((name) => name.endsWith(`-${id}.eml`)) ?? ''));
    t.is(await mailSystem.mails.content(id), undefined);
    t.is(await mailSystem.mails.textState(mail), 'removed');
  }
  await t.throwsAsync(mailSystem.mails.content('nobody'), { code: 'MailNotFound' });
});

test('folder and files of mails are private', async (t) => {
  const folder = join(folderFor(t), 'mail');
  const mailSystem = await startMailSystem(t, { mailer: createMailFolder(folder, CACHE_SIZE) });
  await mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.reach('Sent', 'ana@example.test');
  const names = await readdir(folder);
  t.is((await stat(join(folder, names[0] ?? ''))).mode & 0o777, 0o600);
  t.is((await stat(folder)).mode & 0o777, 0o700);
});

test('mails in the folder over the retention age are removed, and other files are kept', async (t) => {
  const folder = join(folderFor(t), 'mail');
  await mkdir(folder);
  const old = '20200101T000000000Z-aaaa.eml';
  for (const name of [old, `${old}.part`, 'notes.eml', '20200101T000000000Z.txt'])
    await writeFile(join(folder, name), '');
  const mailSystem = await startMailSystem(t, {
    mailer: createMailFolder(folder, { clock: systemClock, keep: 86_400_000 }),
    clock: new SimulatedClock(Date.now()),
  });
  await mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.reach('Sent', 'ana@example.test');
  const left = await readdir(folder);
  t.deepEqual(left.filter((name) => !/-[0-9a-f-]{36}\.eml$/.test(name)).sort(), [
    '20200101T000000000Z.txt',
    'notes.eml',
  ]);
  t.is(left.length, 3);
});

test('mails are listed by state, also from an earlier store, and sent again where permitted', async (t) => {
  const store = new MemoryStore();
  const before = await startMailSystem(t, {
    mailer: createMailFolder(join(folderFor(t), 'mail'), CACHE_SIZE),
    store,
  });
  await before.ask([notice('pending', 'ana@example.test')]);
  await before.reach('Sent', 'ana@example.test');
  const [mail] = (await before.mails.newest({ status: 'Sent', limit: 9, offset: 0 })).items;
  const address = { kind: 'mail', id: mail?.id ?? '' };
  const stored = await store.load(address);
  if (stored === undefined) return t.fail();
  const [row] = await store.rows({ view: 'mails-by', limit: 1 });
  if (row === undefined) return t.fail();
  await store.commit({
    actor: { ...stored, revision: stored.revision + 1, version: 1 },
    basedOn: stored.revision,
    journal: [],
    effects: [],
    settles: null,
    dropsEffects: false,
    timers: { arm: [], disarm: [] },
    rows: { put: [], remove: [row] },
    names: { take: [], release: [] },
    counters: {},
    moved: { from: `${MAIL.version}/Sent`, to: '1/Sent' },
  });
  t.deepEqual((await before.mails.newest({ status: 'Sent', limit: 9, offset: 0 })).items, []);
  await migrateStore(store, [MAIL, stubDocument], { log: { info() {} }, now: 0 });
  t.is((await before.mails.newest({ status: 'Sent', limit: 9, offset: 0 })).items[0]?.id, address.id);
  t.like(await before.mails.newest({ status: 'Failed', limit: 9, offset: 0 }), { items: [], totalCount: 0 });
  await t.throwsAsync(before.mails.sendNow(address.id), { code: 'MailAlreadySent' });
  for (const id of ['nobody', 'x'.repeat(3000), 'é'.repeat(250)]) {
    await t.throwsAsync(before.mails.sendNow(id), { code: 'MailNotFound' });
    await t.throwsAsync(before.mails.get(id), { code: 'MailNotFound' });
  }
});

test('a mail that cannot be written to the folder waits', async (t) => {
  const file = join(folderFor(t), 'file');
  await writeFile(file, '');
  const mailSystem = await startMailSystem(t, { mailer: createMailFolder(join(file, 'mail'), CACHE_SIZE) });
  await mailSystem.ask([notice('pending', 'ana@example.test')]);
  await mailSystem.reach('Waiting', 'ana@example.test');
  t.is((await mailSystem.mail('ana@example.test'))?.context.failures[0]?.code, 'mail.folder');
});

test('equal addresses have one key, whatever form the domain is in', (t) => {
  t.is(addressKey('Ana@Mail-1.Example.ORG'), 'ana@mail-1.example.org');
  for (const same of [
    'ana@exämple.test',
    'ana@EXÄMPLE.test',
    'ana@xn--exmple-cua.test',
    'ana@XN--exmple-cua.TEST',
  ])
    t.is(addressKey(same), 'ana@exämple.test', same);
});
