/** Pages of users of the portal in a browser: sign-in by the mailed link, and what an administrator does there. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { type PortalProgram, until } from '../../actors/portal/service.ts';
import { ADMINISTRATOR, mailedLink } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible, assertAccessibleInThemes, assertColours } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, ownOrganization, sharePortal } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
sharePortal(test);

/** Sizes at which each page is tested: desktop, phone, the narrowest, and 200 % zoom on the desktop. */
const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
  { width: 640, height: 400 },
];

/** Evaluates to the controls of rows of which something covers an edge. */
const COVERED = `[...document.querySelectorAll('td :is(select, button, summary)')].filter((control) => {
  control.scrollIntoView({ block: 'center' });
  control.closest('.scroll').scrollLeft = 0;
  const { left, right, top, bottom } = control.getBoundingClientRect();
  const isCovered = (x) => document.elementFromPoint(x, (top + bottom) / 2) !== control;
  return control.checkVisibility() && (isCovered(left + 4) || isCovered(right - 4));
}).map((control) => control.outerHTML)`;

/** Evaluates to the tables with actions that scroll sideways. */
const SIDEWAYS = `[...document.querySelectorAll('.scroll.with-actions')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((table) => table.getAttribute('aria-label'))`;

async function looksGood(t: ExecutionContext, page: Page, what: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await assertAccessible(t, page, what);
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertColours(t, page, `${what}, dark`);
  await fits(t, page, what);
}

async function fits(t: ExecutionContext, page: Page, what: string): Promise<void> {
  for (const size of SIZES) {
    await page.setViewportSize(size);
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
      `${what} at ${size.width} px`,
    );
    if (size.width < 600) t.deepEqual(await page.evaluate(SIDEWAYS), [], `${what} at ${size.width} px`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

async function signIn(t: ExecutionContext, program: PortalProgram, email: string, locale = 'en-US') {
  const visited = await visit(t, program.url, { locale });
  const { page } = visited;
  await page.goto(await mailedLink(program, email));
  await page.getByRole('button').last().click();
  await page.locator('.account-main').waitFor();
  return page;
}

/** A receiver of webhooks that keeps the type and the credentials of each event. */
async function startReceiver(t: ExecutionContext) {
  const types: string[] = [];
  const headers: string[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers.authorization ?? '');
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      types.push((JSON.parse(text) as { type: string }).type);
      response.end('thanks');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return { types, headers, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
}

test.serial(
  'the first administrator signs in by the mailed link, and sets up the organization',
  async (t) => {
    const program = await ownOrganization(t.context, 'ana@example.org', ADMINISTRATOR, 'أحمد Ana');
    const visited = await visit(t, program.url, { locale: 'en-US' });
    const { page } = visited;
    const receiver = await startReceiver(t);

    // Asks for a link as a person does, from the first page.
    await page.goto(program.url);
    await page.getByRole('link', { name: 'Sign in' }).click();
    await looksGood(t, page, 'sign in');
    await page.getByLabel('E-mail address').fill('nobody@example.org');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Check your mailbox' }).waitFor();
    await looksGood(t, page, 'link sent');
    const link = await mailedLink(program, 'ana@example.org');
    await page.goto(link);
    await page.reload();
    await looksGood(t, page, 'link');
    await page.keyboard.press('Tab');
    t.is(await page.evaluate('document.activeElement.localName'), 'button');
    await page.keyboard.press('Enter');
    // The documents are the first page of everybody; an administrator finds the steps that are left.
    await page.getByRole('heading', { name: 'Documents', exact: true }).waitFor();
    await page.getByText(/Ana.*administrator/).waitFor();
    const steps = page.getByRole('navigation', { name: 'First steps' });
    t.deepEqual(await steps.locator('li.done').allTextContents(), ['You are signed in done']);
    await looksGood(t, page, 'first steps');
    await steps.getByRole('button', { name: 'Use our sample' }).press('Enter');
    await page.locator('#editor[data-ready]').waitFor();
    await page.locator('#next').press('Enter');
    t.is(await page.locator('#people-list [name="email"]').first().inputValue(), 'ana@example.org');
    await page.goto(`${program.url}/organization`);
    await page.getByRole('heading', { name: 'Organization', exact: true }).waitFor();
    await looksGood(t, page, 'organization');

    // A key, used as a program does.
    await page.getByRole('link', { name: 'Applications' }).click();
    await page.getByLabel('Name').fill('Shop');
    await page.getByRole('button', { name: 'Create application' }).click();
    await page.getByRole('heading', { name: 'Keys of Shop' }).waitFor();
    await page.getByRole('checkbox', { name: 'read' }).check();
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = (await page.locator('.new-key').textContent()) ?? '';
    await looksGood(t, page, 'new key');
    const call = () => fetch(`${program.url}/api/documents`, { headers: { 'x-api-key': key } });
    t.is((await call()).status, 200);
    await page.getByRole('link', { name: 'All applications' }).click();
    await looksGood(t, page, 'applications');
    await page.getByRole('link', { name: 'Keys of Shop' }).click();
    t.is(await page.locator('.new-key').count(), 0, 'shown once');
    await page.getByText('Revoke', { exact: true }).click();
    await page.getByRole('button', { name: 'Yes, revoke it' }).click();
    await page.getByText('The key is revoked.').waitFor();
    t.is((await call()).status, 401);

    // A webhook to a real receiver.
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('button', { name: 'Register webhook' }).click();
    await page.getByText('The webhook is registered.').waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('The test event was answered with status 200.').waitFor();
    t.deepEqual(receiver.types, ['Test']);
    const document = await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
    await program.acme.send(`/api/documents/${document}/refusal`, { reason: 'No' });
    await until(async () => (receiver.types.includes('DocumentRefused') ? true : undefined));
    const row = page.getByRole('row').filter({ hasText: 'DocumentRefused' }).filter({ hasText: 'delivered' });
    await until(async () => {
      await page.goto(`${program.url}/organization?status=Delivered`);
      return (await row.count()) > 0 ? true : undefined;
    });
    await row.locator('summary').click();
    await page.getByText('thanks').first().waitFor();
    await looksGood(t, page, 'deliveries');
    const before = receiver.types.length;
    await row.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('The delivery is sent again.').waitFor();
    await until(async () => (receiver.types.length > before ? true : undefined));
    await page.getByRole('button', { name: 'Send test mail' }).click();
    await page.getByText('The mail server accepted the mail').waitFor();

    // A sender, who is removed while signed in.
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByLabel('Name').fill('Sam');
    await page.getByLabel('E-mail address').fill('sam@example.org');
    await page.getByRole('button', { name: 'Add user' }).click();
    await page.getByText('The user is added.').waitFor();
    await looksGood(t, page, 'users');
    const sender = await signIn(t, program, 'sam@example.org');
    await looksGood(t, sender, 'account of a sender');
    await sender.goto(`${program.url}/organization`);
    await sender.getByRole('heading', { name: 'You may not do this' }).waitFor();
    await looksGood(t, sender, 'not allowed');
    await page.getByText('Remove', { exact: true }).click();
    await page.getByRole('button', { name: 'Yes, remove' }).click();
    await page.getByText('The user is removed, and signed out.').waitFor();
    await sender.goto(`${program.url}/account`);
    await sender.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'This link does not work any more' }).waitFor();
    await looksGood(t, page, 'used link');
  },
);

test.serial('the pages have the language of the browser, or the chosen one', async (t) => {
  const program = await ownOrganization(t.context, 'eva@example.org', ADMINISTRATOR, 'Eva');
  const page = await signIn(t, program, 'eva@example.org', 'pt-BR');
  await page.goto(`${program.url}/organization`);
  await page.getByRole('heading', { name: 'Organização', exact: true }).waitFor();
  await looksGood(t, page, 'Portuguese');
  await page.getByRole('link', { name: 'Español' }).click();
  await page.getByRole('heading', { name: 'Organización', exact: true }).waitFor();
  await page.getByRole('link', { name: 'Usuarios' }).click();
  await page.getByLabel('Nombre').fill('Sam');
  await page.getByLabel('Correo electrónico').fill('sol@example.org');
  await page.getByRole('button', { name: 'Añadir usuario' }).click();
  await page.getByText('El usuario se ha añadido.').waitFor();
  await looksGood(t, page, 'Spanish');
  // On a phone nothing covers a control of a row.
  await page.setViewportSize({ width: 390, height: 844 });
  t.deepEqual(await page.evaluate(COVERED), []);
});

test.serial('a refused form keeps its entries, and the focus is in the field at fault', async (t) => {
  const program = await ownOrganization(t.context, 'ida@example.org', ADMINISTRATOR, 'Ida');
  const page = await signIn(t, program, 'ida@example.org');
  await page.goto(`${program.url}/organization`);
  const url = page.getByLabel('URL');
  await url.fill('https://receiver.example/hook');
  await page.getByLabel('Authentication').selectOption('Bearer');
  await page.getByRole('button', { name: 'Register webhook' }).click();
  await page.getByText('This authentication needs a token').waitFor();
  t.is(await url.inputValue(), 'https://receiver.example/hook');
  t.is(await page.getByLabel('Authentication').inputValue(), 'Bearer');
  await page.locator('#token:focus').waitFor();
  t.true(
    await page.evaluate('scrollY > 0 || document.activeElement.getBoundingClientRect().bottom < innerHeight'),
  );
  await looksGood(t, page, 'refused webhook');
  await page.keyboard.type('token-0123');
  await page.keyboard.press('Enter');
  await page.getByText('The webhook is registered.').waitFor();

  // A change of a webhook stays open.
  await page.getByText('Edit', { exact: true }).click();
  const edition = page.locator('article details[open]').first();
  await edition.getByLabel('Secret for signed calls').fill('whsec_short');
  await edition.getByRole('button', { name: 'Save the webhook' }).click();
  await page.getByText('The secret is whsec_').waitFor();
  await edition.locator('[id^="secret-"]:focus').waitFor();
  await looksGood(t, page, 'refused change of a webhook');

  // A user that exists.
  await page.goto(`${program.url}/organization/users`);
  await page.getByLabel('Name').fill('Ida');
  await page.getByLabel('E-mail address').fill('ida@example.org');
  await page.getByRole('button', { name: 'Add user' }).click();
  await page.getByText('You cannot change or remove yourself').waitFor();
  await page.locator('#email:focus').waitFor();
  await looksGood(t, page, 'refused user');

  // Every field at fault at once; the summary leads to them.
  await page.getByLabel('Name').fill('');
  await page.getByLabel('E-mail address').fill('ida');
  await page.getByRole('button', { name: 'Add user' }).click();
  const summary = page.getByRole('group', { name: 'Please correct the marked entries:' });
  await summary.getByRole('link', { name: 'Name' }).waitFor();
  await page.locator('#name:focus').waitFor();
  await page.getByText('Enter an e-mail address').waitFor();
  await summary.getByRole('link', { name: 'E-mail address' }).press('Enter');
  await page.locator('#email:focus').waitFor();
  await assertAccessibleInThemes(t, page, 'two fields at fault');
  t.is(await page.locator('button.main, .button.main').count(), 1, 'one primary action');
});

test.serial('an administrator changes a webhook, whose token stays with its host', async (t) => {
  const program = await ownOrganization(t.context, 'amy@example.org', ADMINISTRATOR, 'Amy');
  const first = await startReceiver(t);
  const second = await startReceiver(t);
  const page = await signIn(t, program, 'amy@example.org');
  await page.goto(`${program.url}/organization`);
  await page.getByLabel('URL').fill(`${first.url}`);
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
    await fits(t, page, 'edit');
    await form.getByRole('button', { name: 'Save the webhook' }).press('Enter');
  };
  const call = async () => {
    await page.getByRole('button', { name: 'Send test event' }).press('Enter');
    await page.getByText('The test event was answered with status 200.').waitFor();
  };
  await change(`${first.url}-of-another`);
  await page.getByText('The webhook is changed.').waitFor();
  await page.getByRole('heading', { name: `${first.url}-of-another` }).waitFor();
  t.true(await page.getByRole('checkbox', { name: 'DocumentSigned', includeHidden: true }).isChecked());
  await call();
  t.deepEqual(first.headers, ['Bearer secret-token']);

  // Another host does not learn the token of the first one.
  await change(`${second.url}`);
  await page.getByText('This authentication needs a token').waitFor();
  await change(`${second.url}`, 'another-token');
  await page.getByText('The webhook is changed.').waitFor();
  await call();
  t.deepEqual(second.headers, ['Bearer another-token']);
  t.is(first.headers.length, 1);
});

test.serial('an administrator edits the embedding origins, which then apply to frames', async (t) => {
  const program = await ownOrganization(t.context, 'kay@example.org', ADMINISTRATOR, 'Kay');
  const document = await program.acme.create([
    { user: { name: 'Bo', email: 'bo@example.org' }, allowElectronicSignature: true },
  ]);
  const { embedUrl } = await program.acme.post<{ embedUrl: string }>(
    `/api/documents/${document}/action-url`,
    { emailAddress: 'bo@example.org' },
  );
  const ancestors = async () => {
    const answer = await fetch(embedUrl);
    return /frame-ancestors ([^;]+)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
  };
  const page = await signIn(t, program, 'kay@example.org');
  await page.goto(`${program.url}/organization`);
  const origins = page.getByLabel('Origins that may show the signing pages');
  const save = page.getByRole('region', { name: 'Embedding' }).getByRole('button', { name: 'Save' });
  await origins.fill('https://app.example.org\nnot an origin');
  await save.press('Enter');
  await page.locator('#origins-error', { hasText: 'Each line must be an origin' }).waitFor();
  t.is(await page.evaluate('document.activeElement.id'), 'origins');
  t.is(await origins.inputValue(), 'https://app.example.org\nnot an origin');
  await assertAccessible(t, page, 'refused origins');
  t.not(await ancestors(), 'https://app.example.org');

  await origins.fill('https://app.example.org\nhttps://shop.example.org');
  await save.press('Enter');
  await page.getByText('The origins are saved.').waitFor();
  t.is(await origins.inputValue(), 'https://app.example.org\nhttps://shop.example.org');
  t.is(await ancestors(), 'https://app.example.org https://shop.example.org');
  await origins.fill('');
  await save.press('Enter');
  await page.getByText('The origins are saved.').waitFor();
  await page.reload();
  t.is(await origins.inputValue(), '');
  t.is(await ancestors(), undefined);
});
