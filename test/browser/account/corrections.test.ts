/** A mail that is sent again, by an operator and by a sender, in a real browser. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { partsOf, type Relay, startRelay } from '../../actors/portal/mail/relay.ts';
import { startProgram, until } from '../../actors/portal/service.ts';
import { UserBrowser } from '../../http/portal/account/users.ts';
import { assertAccessible } from '../axe.ts';
import { logIn, visit } from '../browser.ts';
import { type AccountPages, ownOrganization, sharePortal } from './account-pages.ts';

const test = anyTest as TestFn<AccountPages>;
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
  if (visited === undefined) return;
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

test.serial('a sender finds the failed mail, and sends it again', async (t) => {
  const program = await ownOrganization(t.context, 'sender@example.org');
  const visited = await visit(t, program.url, { locale: 'en-US' });
  if (visited === undefined) return;
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
