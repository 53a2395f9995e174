/** Mails to the people of an organization with its branding, through a mail server. Source: docs/decisions/0130-branding.md. */
import test from 'ava';
import { headersOf, startRelay } from '../../../actors/portal/mails/relay.ts';
import { startProgram, until } from '../../../actors/portal/service.ts';
import { assertRefused } from '../../refused.ts';
import { register, UserBrowser } from './users.ts';

const COLOR = '#7a1f5c';
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MAIL_TEXTS = [
  {
    kind: 'sign-in',
    subject: 'Enter {organization}',
    introduction: 'Hello {recipient}, <b>{minutes}</b> minutes.',
  },
  { kind: 'pending-list', subject: '{count} to do at {organization}', introduction: 'Dear {recipient}' },
];

/** Text without the marks around names. */
const plain = (text: string) => text.replaceAll(/[\u2068\u2069]/g, '');

/** Text and HTML of a mail, at any depth of its parts. */
function bodiesOf(raw: string): { readonly text: string; readonly html: string } {
  const bodies = new Map<string, string>();
  const pieces = raw.split(/^--\S+\r?\n/m).map((piece) => piece.replace(/^--\S+--[\s\S]*$/m, ''));
  for (const piece of pieces) {
    const headers = headersOf(piece);
    const type = /^text\/(plain|html)/.exec(headers.get('content-type') ?? '')?.[1];
    if (type === undefined) continue;
    const body = piece.slice(piece.search(/\r?\n\r?\n/));
    const encoding = headers.get('content-transfer-encoding');
    if (encoding === 'base64') bodies.set(type, Buffer.from(body, 'base64').toString('utf8'));
    else if (encoding !== 'quoted-printable') bodies.set(type, body);
    else
      bodies.set(
        type,
        Buffer.from(
          body
            .replaceAll(/=\r?\n/g, '')
            .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
          'latin1',
        ).toString('utf8'),
      );
  }
  return { text: plain(bodies.get('plain') ?? ''), html: plain(bodies.get('html') ?? '') };
}

test('sign-in links, lists of pending documents and test mails have the branding of the organization', async (t) => {
  const relay = await startRelay(t);
  const settings = {
    'Portal:Smtp:Host': '127.0.0.1',
    'Portal:Smtp:Port': relay.port,
    'Portal:Smtp:From': 'portal@example.test',
  };
  const { acme, url } = await startProgram(t, { settings });
  const quiet = { disablePendingActionNotifications: true };
  const bo = { name: 'Bo', email: 'bo@example.org' };
  const ids = [
    await acme.create([{ user: bo, allowElectronicSignature: true }], quiet),
    await acme.create([{ user: bo, allowElectronicSignature: true }], quiet),
  ];
  const { organization } = await acme.get<{ organization: { id: string } }>(`/api/documents/${ids[0]}`);
  const branding = `/api/organizations/${organization.id}/branding`;
  const replace = (mailTexts: readonly object[]) =>
    acme.send(branding, { primaryColor: COLOR, headerColor: '#ffcc00', mailTexts }, 'PUT');
  for (const { kind } of MAIL_TEXTS) {
    const refused = await assertRefused(
      t,
      await replace([{ kind, subject: 'About {document}' }]),
      'InvalidBranding',
    );
    t.regex(refused.message, /unknown placeholder \{document\}; known are \{organization\}, \{recipient\}, /);
  }
  t.is((await replace(MAIL_TEXTS)).status, 200);
  t.is((await acme.send(`${branding}/logo`, { bytes: PIXEL }, 'PUT')).status, 200);
  t.deepEqual(
    (await acme.get<{ mailTexts: { kind: string }[] }>(branding)).mailTexts.map(({ kind }) => kind).sort(),
    ['pending-list', 'sign-in'],
  );
  const mailed = async (address: string, count = 1) => {
    const raw = await until(async () => relay.taken.filter(({ to }) => to.includes(address))[count - 1]?.raw);
    const bodies = bodiesOf(raw);
    t.true(bodies.html.includes('cid:logo@branding') && raw.includes('<logo@branding>'), raw);
    t.true(bodies.html.includes('background:#ffcc00'), bodies.html);
    return bodies;
  };

  const browser = new UserBrowser(url);
  await register({ acme }, 'zoe@example.org', undefined, 'Zoë');
  await browser.askForLink('zoe@example.org');
  const signIn = await mailed('zoe@example.org');
  t.true(signIn.html.includes('<title>Enter Acme</title>'), signIn.html);
  t.regex(signIn.text, /Hello Zoë, <b>\d+<\/b> minutes\./);
  t.regex(signIn.text, /If you did not ask for it/);
  t.true(signIn.html.includes(`background:${COLOR}`) && signIn.html.includes('&lt;b&gt;'), signIn.html);
  const [link = ''] = /http:\S+\/sign-in\/link\?ticket=[\w-]+/.exec(signIn.text) ?? [];
  t.is((await browser.follow(link)).status, 302);

  t.is((await browser.submit('/organization/mail-test')).status, 200);
  t.regex((await mailed('zoe@example.org', 2)).text, /You asked for this test mail/);

  const nobody = await acme.send('/api/users/notify-pending', { emails: ['nobody@example.org'] });
  t.is(nobody.headers.get('x-notified-count'), '0');
  const listed = await acme.send('/api/users/notify-pending', { emails: [bo.email, 'nobody@example.org'] });
  t.is(listed.headers.get('x-notified-count'), '1');
  const list = await mailed(bo.email);
  t.true(list.html.includes('<title>2 to do at Acme</title>'), list.html);
  t.regex(list.text, /Dear Bo/);
  t.is(list.html.split(`background:${COLOR}`).length - 1, 2, 'a button for each document');
  t.is(list.text.split('/sign?ticket=').length - 1, 2);

  for (const { kind, subject } of MAIL_TEXTS) {
    const shown = await acme.post<{ subject: string; html: string }>(`${branding}/preview`, { kind });
    t.is(plain(shown.subject), subject.replace('{organization}', 'Acme').replace('{count}', '2'));
    t.true(shown.html.includes(`background:${COLOR}`), shown.html);
    const page = await browser.page(`/organization/branding?kind=${kind}&culture=es`);
    t.regex(page, new RegExp(`<option (selected value="${kind}"|value="${kind}" selected)>`));
    t.true(page.includes(kind === 'sign-in' ? '<code>{minutes}</code>' : '<code>{count}</code>'), page);
  }
  const words = { kind: 'sign-in', subject: 'In {organization}', introduction: '' };
  t.is((await browser.submit('/organization/branding/mail', words)).status, 302);
  t.regex(await browser.page('/organization/branding?kind=sign-in'), /value="In \{organization\}"/);
  t.is((await browser.submit('/organization/branding/mail', { ...words, subject: '{by}' })).status, 422);
});
