/** A mail that is sent again, by an operator and by a sender, in a real browser. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { partsOf, type Relay, startRelay } from '../../actors/portal/mails/relay.ts';
import { startProgram, until } from '../../actors/portal/service.ts';
import { UserBrowser } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { logIn, visit } from '../browser.ts';
import { type AccountPages, ownOrganization, sharePortal } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
let relay: Relay;
sharePortal(test, async (t) => {
  relay = await startRelay(t);
  return startProgram(t, {
    settings: {
      'Portal:Smtp:Host': '127.0.0.1',
      'Portal:Smtp:Port': relay.port,
      'Portal:Smtp:From': 'portal@example.test',
    },
  });
});

async function looksGood(t: ExecutionContext, page: Page, what: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
      `${what}, ${width} px`,
    );
  }
  await assertAccessible(t, page, what);
}

test.serial('an operator sends a waiting mail at once', async (t) => {
  const { acme, service } = t.context.program;
  const visited = await visit(t, service.url, { locale: 'en-US' });
  const { page } = visited;
  relay.busy.add('bo@example.org');
  await acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  await logIn(page, `${service.url}/mails?status=Waiting`, await service.key());
  const resend = page.getByRole('button', { name: 'Send again to bo@example.org' });
  await resend.waitFor();
  await looksGood(t, page, 'mails');
  relay.busy.clear();
  await resend.press('Enter');
  await page.getByText('It is sent again.').waitFor();
  await until(async () => (relay.taken.some(({ to }) => to.includes('bo@example.org')) ? true : undefined));
  await page.getByLabel('Status').selectOption('Sent');
  await page.getByRole('row').filter({ hasText: 'bo@example.org' }).waitFor();
  t.is(await resend.count(), 0);
});

test.serial('an operator sends the mails again that failed since a time', async (t) => {
  const { acme, service } = t.context.program;
  const visited = await visit(t, service.url, { locale: 'en-US' });
  const { page } = visited;
  const people = ['di@example.org', 'ed@example.org'];
  for (const email of people) {
    relay.refusals.set(email, { at: 'RCPT', code: 550, text: '5.1.1 No such user' });
    await acme.create([{ user: { name: email, email } }]);
  }
  const status = (is: string) => page.getByRole('row').filter({ hasText: is });
  await logIn(page, `${service.url}/mails?search=example.org`, await service.key());
  await status('Failed').nth(1).waitFor();
  relay.refusals.clear();
  const sendAgain = async (since: string, said: string) => {
    await page.getByRole('button', { name: 'Send failed ones again' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/^That failed since/).fill(since);
    await assertAccessible(t, page, 'dialog');
    await dialog.getByRole('button', { name: 'Send again' }).press('Enter');
    await page.getByText(said).waitFor();
  };
  await sendAgain('2999-01-01T00:00', '0 e-mails are sent again.');
  t.is(await status('Failed').count(), 2);
  await sendAgain('2020-01-01T00:00', '2 e-mails are sent again.');
  await until(async () =>
    people.every((one) => relay.taken.some(({ to }) => to.includes(one))) ? true : undefined,
  );
  for (const email of people) await status('Sent').filter({ hasText: email }).waitFor();
});

test.serial('a sender finds the failed mail, and sends it again', async (t) => {
  const program = await ownOrganization(t.context, 'sender@example.org');
  const visited = await visit(t, program.url, { locale: 'en-US' });
  const { page } = visited;
  await new UserBrowser(program.url).askForLink('sender@example.org');
  const link = await until(async () => {
    const texts = relay.taken.map((mail) => partsOf(mail.raw).get('text/plain')).join('\n');
    return /http:\S+\/sign-in\/link\?ticket=[\w-]+/.exec(texts)?.[0];
  });
  await page.goto(link);
  await page.getByRole('button', { name: /Sign in/ }).press('Enter');
  await page.locator('.account-main').waitFor();
  relay.busy.add('cy@example.org');
  const id = await program.acme.create([{ user: { name: 'Cy', email: 'cy@example.org' } }]);
  const resend = page.getByRole('button', { name: 'Send again to cy@example.org' });
  await until(async () => {
    await page.goto(`${program.url}/account/documents/${id}`);
    return (await resend.count()) > 0 ? true : undefined;
  });
  await looksGood(t, page, 'waiting');
  relay.busy.clear();
  await resend.press('Enter');
  await page.getByText('The mail is sent again.').waitFor();
  await until(async () => (relay.taken.some(({ to }) => to.includes('cy@example.org')) ? true : undefined));
  for (const [culture, heading] of [
    ['pt', 'E-mails'],
    ['es', 'Correos'],
    ['it', 'E-mail inviate'],
  ] as const) {
    await page.goto(`${program.url}/account/documents/${id}?culture=${culture}`);
    await page.getByRole('heading', { name: heading }).waitFor();
    await looksGood(t, page, heading);
  }
  const other = `${program.url}/account/documents/${id}/mails/${id}/resend`;
  const formToken = await page.locator('[name="formToken"]').first().inputValue();
  const unknown = await page.request.post(other, { form: { formToken }, headers: { origin: program.url } });
  t.is(unknown.status(), 404);
});
