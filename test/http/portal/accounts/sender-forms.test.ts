/** Forms of senders and of the branding, over HTTP: what is stored, sent and answered. */
import anyTest, { type TestFn } from 'ava';
import { type PortalProgram, startProgram, until } from '../../../actors/portal/service.ts';
import { endedAfter } from '../../../project/ended-after.ts';
import { ticketOf } from '../signing/certificate-client.ts';
import { register, signedIn, type UserBrowser } from './users.ts';

const test = anyTest as TestFn<{ readonly program: PortalProgram; readonly browser: UserBrowser }>;
const shared = endedAfter(test);
test.before(async (t) => {
  const program = await startProgram(shared);
  await register(program, 'ana@example.org', { administrator: true }, 'Ana');
  t.context = { program, browser: await signedIn(program, 'ana@example.org') };
});

const MAILED = { type: 'Approver', user: { name: 'Bo Diaz', email: 'bo@example.org' } };
const UNMAILED = { type: 'Approver', user: { name: 'Cy Old', identifier: '123' } };

test.serial('the sample draft has the name and the address of its maker, and nothing else', async (t) => {
  const { program, browser } = t.context;
  const made = await browser.submit('/account/documents/sample');
  const id = (made.headers.get('location') ?? '').split('/').at(-1);
  const draft = await program.acme.get<{ document: { flowActions: { user: object }[] } }>(
    `/api/document-drafts/${id}`,
  );
  t.deepEqual(
    draft.document.flowActions.map(({ user }) => user),
    [{ name: 'Ana', email: 'ana@example.org' }],
  );
});

test.serial(
  'all who wait are reminded as one act, and where nobody has an address the page says so',
  async (t) => {
    const { program, browser } = t.context;
    const { acme } = program;
    const id = await acme.create([
      MAILED,
      { ...MAILED, user: { name: 'Di', email: 'di@example.org' } },
      UNMAILED,
    ]);
    const shown = await browser.page(`/account/documents/${id}`);
    t.true(shown.includes('Remind all 2'));
    t.is(shown.split('Send a reminder').length - 1, 2, 'of those with an address');
    const reminded = await browser.submit(`/account/documents/${id}/remind`);
    t.is(reminded.headers.get('location'), `/account/documents/${id}?done=reminded`);
    const { items } = await acme.get<{ items: { type: string }[] }>(`/api/documents/${id}/history`);
    t.is(items.filter(({ type }) => type === 'Reminded').length, 1);

    const alone = await acme.create([UNMAILED]);
    t.false((await browser.page(`/account/documents/${alone}`)).includes('/remind"'));
    const none = await browser.submit(`/account/documents/${alone}/remind`);
    t.is(none.headers.get('location'), `/account/documents/${alone}?done=notReminded`);
    const told = await browser.page(`/account/documents/${alone}?done=notReminded`);
    t.true(told.includes('Nobody was reminded: nobody whose turn it is has an e-mail address.'));
  },
);

test.serial('a document that was approved only does not offer a signed file', async (t) => {
  const { program, browser } = t.context;
  const { acme } = program;
  const id = await acme.create([MAILED]);
  const { key, ticket } = await ticketOf(acme, id, 'bo@example.org');
  await acme.post(`/api/documents/keys/${key}/approval`, { ticket });
  await until(async () => {
    const { status } = await acme.get<{ status: string }>(`/api/documents/${id}`);
    return status === 'Concluded' || undefined;
  });
  t.false((await browser.page(`/account/documents/${id}`)).includes('type=Signatures"'));
});

const COLORS = { primaryColor: '', headerColor: '', redirectOrigins: '', redirectUrl: '' };

test.serial('a form of the branding that is refused leaves the reply address as it was', async (t) => {
  const { browser } = t.context;
  const path = '/organization/branding';
  const replyTo = async () => / id="replyTo"[^>]* value="([^"]*)"/.exec(await browser.page(path))?.[1];
  const first = { ...COLORS, replyTo: 'Acme Help <help@example.org>' };
  t.is((await browser.submit(`${path}/looks`, first)).status, 302, 'as in the settings, with a name');
  const kept = await replyTo();
  t.regex(kept ?? '', /^Acme Help (?:<|&lt;)help@example\.org/);
  const other = { ...COLORS, replyTo: 'other@example.org', primaryColor: 'red' };
  t.is((await browser.submit(`${path}/looks`, other)).status, 422);
  t.is(await replyTo(), kept);
  for (const wrong of ['Acme <help>', 'a@example.org b@example.org', 'x <y <z@example.org>']) {
    const refused = await browser.submit(`${path}/looks`, { ...COLORS, replyTo: wrong });
    t.is(refused.status, 422, wrong);
  }
});

test.serial(
  'the mail in the frame may be framed here, and has the stored words that the address leaves out',
  async (t) => {
    const { browser } = t.context;
    const path = '/organization/branding';
    const introduction = 'The stored paragraph.';
    t.is((await browser.submit(`${path}/mail`, { kind: 'pending', introduction })).status, 302);
    const answer = await browser.fetch(`${path}/preview?kind=pending&subject=Typed`);
    t.regex(answer.headers.get('content-security-policy') ?? '', /frame-ancestors 'self'/);
    t.falsy(answer.headers.get('x-frame-options'));
    t.true((await answer.text()).includes(introduction));
    const typed = await browser.fetch(`${path}/preview?kind=pending&subject=Typed&introduction=Other`);
    t.false((await typed.text()).includes(introduction));
  },
);
