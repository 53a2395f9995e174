/** Corrections in a real browser: a changed webhook, and a mail that is sent again. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { partsOf, startRelay } from '../../actors/portal/mail/relay.ts';
import { startProgram, until } from '../../actors/portal/service.ts';
import { mailedLink, register, SENDER, UserBrowser } from '../../http/portal/account/users.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, logIn, visit } from '../browser.ts';

test.after.always(() => closeBrowser());

async function looksGood(t: ExecutionContext, page: Page, what: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
      `${what}, ${width} px`,
    );
    await assertAccessible(t, page, `${what}, ${width} px`);
  }
}

/** A receiver of webhooks that keeps the header of each call. */
async function startReceiver(t: ExecutionContext) {
  const headers: string[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers.authorization ?? '');
    request.resume();
    request.on('end', () => response.end('thanks'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { headers, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test.serial('an administrator changes a webhook, whose token stays with its host', async (t) => {
  const program = await startProgram(t);
  await register(program, 'ana@example.org', { administrator: true }, 'Ana');
  const [first, second] = [await startReceiver(t), await startReceiver(t)];
  const visited = await visit(t, program.url, { locale: 'en-US' });
  if (visited === undefined) return;
  const { page } = visited;
  await page.goto(await mailedLink(program, 'ana@example.org'));
  await page.getByRole('button').last().click();
  await page.locator('.account-main').waitFor();
  await page.goto(`${program.url}/organization`);
  await page.getByLabel('URL').fill(`${first.origin}/hook`);
  await page.getByLabel('Authentication').selectOption('Bearer');
  await page.getByLabel('Token').fill('secret-token');
  await page.getByRole('button', { name: 'Register webhook' }).press('Enter');
  await page.getByText('The webhook is registered.').waitFor();
  const change = async (url: string, token = '') => {
    const form = page.locator('article details[open] form').first();
    // A refused form is open already.
    if ((await form.count()) === 0) await page.getByText('Edit', { exact: true }).press('Enter');
    await form.getByLabel('URL').fill(url);
    if (token !== '') await form.getByLabel('Token').fill(token);
    await form.getByRole('checkbox', { name: 'DocumentSigned' }).check();
    await looksGood(t, page, 'edit');
    await form.getByRole('button', { name: 'Save the webhook' }).press('Enter');
  };
  const call = async () => {
    await page.getByRole('button', { name: 'Send test event' }).press('Enter');
    await page.getByText('The test event was answered with status 200.').waitFor();
  };
  await change(`${first.origin}/other`);
  await page.getByText('The webhook is changed.').waitFor();
  await page.getByRole('heading', { name: `${first.origin}/other` }).waitFor();
  t.true(await page.getByRole('checkbox', { name: 'DocumentSigned', includeHidden: true }).isChecked());
  await call();
  t.deepEqual(first.headers, ['Bearer secret-token']);

  // Another host does not learn the token of the first one.
  await change(`${second.origin}/hook`);
  await page.getByText('This authentication needs a token').waitFor();
  await change(`${second.origin}/hook`, 'another-token');
  await page.getByText('The webhook is changed.').waitFor();
  await call();
  t.deepEqual(second.headers, ['Bearer another-token']);
  t.is(first.headers.length, 1);
});

function smtp(port: number) {
  return {
    'Portal:Smtp:Host': '127.0.0.1',
    'Portal:Smtp:Port': port,
    'Portal:Smtp:From': 'portal@example.test',
  };
}

test.serial('an operator sends a waiting mail at once', async (t) => {
  const relay = await startRelay(t);
  const { acme, service } = await startProgram(t, { settings: smtp(relay.port) });
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
  const relay = await startRelay(t);
  const program = await startProgram(t, { settings: smtp(relay.port) });
  await register(program, 'sender@example.org', SENDER, 'Sam Sender');
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
  relay.busy.add('bo@example.org');
  const id = await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  const resend = page.getByRole('button', { name: 'Send again to bo@example.org' });
  await until(async () => {
    await page.goto(`${program.url}/account/documents/${id}`);
    return (await resend.count()) > 0 ? true : undefined;
  });
  await looksGood(t, page, 'waiting');
  relay.busy.clear();
  await resend.press('Enter');
  await page.getByText('The mail is sent again.').waitFor();
  await until(async () => (relay.taken.some(({ to }) => to.includes('bo@example.org')) ? true : undefined));
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
