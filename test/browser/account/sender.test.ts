/** Senders in a real browser: they compose, place fields, keep drafts, send, and follow their documents. */
import anyTest, { type TestFn } from 'ava';
import type { Locator, Page, Route } from 'playwright-core';
import { until } from '../../actors/portal/service.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { mailedLink, register, SENDER, signedIn } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { openMenu, visit } from '../browser.ts';
import { serveHost } from '../portal/embedding-host.ts';
import { type AccountPages, goTo, ownOrganization, savedDraft, sharePortal } from './account-pages.ts';

const test = anyTest as TestFn<AccountPages>;

const toolTest = withTools(test, 'chromium');
sharePortal(test);

const CONTRACT = { name: 'lease.pdf', mimeType: 'application/pdf', buffer: clausePdf(2) };

interface Action {
  readonly type: string;
  readonly step: number;
  readonly status: string;
  readonly marks: readonly { readonly pageNumber: number }[];
  readonly fields?: readonly { readonly label: string; readonly type: string }[];
}

/** Waits until an element has the focus. */
async function focused(page: Page, id: string): Promise<void> {
  await page.locator(`#${id}:focus`).waitFor();
}

async function focusedBox(page: Page, box: Locator): Promise<void> {
  await focused(page, (await box.getAttribute('id')) ?? '');
}

/** Fills the row of a person. @param row from 0 */
async function fillPerson(page: Page, row: number, name: string, email: string): Promise<void> {
  const item = page.locator('#people-list > li').nth(row);
  await item.locator('[name="name"]').fill(name);
  await item.locator('[name="email"]').fill(email);
}

for (const [what, options] of [
  ['desktop', { locale: 'en-US', viewport: { width: 1280, height: 800 } }],
  [
    'dark phone',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
  ],
] as const) {
  toolTest.serial(
    `a sender composes a document with fields, saves it as a draft, sends it and follows it (${what})`,
    async (t) => {
      const email = `${what.replace(' ', '-')}@example.org`;
      const program = await ownOrganization(t.context, email);
      const visited = await visit(t, program.url, { ...options, reducedMotion: 'reduce' });
      const { page } = visited;
      await page.goto(await mailedLink(program, email));
      await page.getByRole('button', { name: /Sign in/ }).click();
      await openMenu(page);
      await page.getByRole('link', { name: /^All/ }).click();
      await page.getByText('Here are the documents that you send.').waitFor();
      await assertAccessible(t, page, 'empty list');
      await page.getByRole('banner').getByRole('link', { name: 'New document' }).click();
      await page.locator('#editor[data-ready]').waitFor();

      // No step is left that lacks its parts.
      await page.locator('#next').press('Enter');
      await page.locator('#faults', { hasText: 'Add a file first.' }).waitFor();
      await focused(page, 'add-files');
      await page.evaluate(`new MutationObserver(() => {
        (globalThis.announced ??= []).push(document.querySelector('#file-state').textContent);
      }).observe(document.querySelector('#file-state'), { childList: true, characterData: true, subtree: true })`);
      await page.locator('#add-files').setInputFiles(CONTRACT);
      await page.locator('#file-list input').waitFor();
      const announced = ['lease.pdf is being uploaded.', 'lease.pdf is uploaded.'];
      t.deepEqual(await page.evaluate('announced'), announced, 'an upload is announced twice only');
      t.is(await page.locator('progress').count(), 0);
      await assertAccessible(t, page, 'files');
      await page.locator('#next').press('Enter');
      await focused(page, 'step-people');
      await fillPerson(page, 0, 'Ana', 'ana@example.org');
      await page.getByRole('button', { name: 'Add a person' }).press('Enter');
      await focused(page, 'person-1-name');
      await page.locator('#next').press('Enter');
      await page.locator('#faults', { hasText: '2 entries need your attention' }).waitFor();
      await focused(page, 'person-1-name');
      t.is(await page.locator('[aria-invalid="true"]').count(), 2);
      await assertAccessible(t, page, 'faults of people');
      await fillPerson(page, 1, 'Bo', 'bo@example.org');
      t.is(await page.locator('[aria-invalid="true"]').count(), 0);
      await page.locator('#person-1-role').selectOption('Approver');
      await page.getByRole('button', { name: 'Add an observer' }).press('Enter');
      await fillPerson(page, 2, 'Eve', 'eve@example.org');
      await page.locator('#next').press('Enter');

      // Fields by button and keyboard.
      await page.locator('#pages[data-shown]').waitFor();
      const addText = page.locator('#add-Text');
      await page.locator('.person', { hasText: 'Bo' }).press('Enter');
      t.true(await addText.isDisabled(), 'approvers have no fields');
      await page.getByText('Fields are filled in by one person who signs.').waitFor();
      await page.locator('.person', { hasText: 'Ana' }).press('Enter');
      await page.locator('#add-Signature').press('Enter');
      const signature = page.getByRole('button', { name: 'Signature: Ana' });
      await focusedBox(page, signature);
      await page.keyboard.press('PageDown');
      await page.locator('.page[data-page="2"] .placed').waitFor();
      await focusedBox(page, signature);
      await addText.press('Enter');
      const text = page.getByRole('button', { name: 'Text 1 of Ana: Ana' });
      await focusedBox(page, text);
      await page.locator('#item-label').fill('City');
      await page.getByRole('button', { name: 'City: Ana' }).waitFor();
      await assertAccessible(t, page, 'fields');
      await page.locator('#next').press('Enter');
      await page.locator('#message').fill('Please sign by Friday.');
      await assertAccessible(t, page, 'review');

      // Leaving loses entries that cannot be saved, and is asked for.
      await savedDraft(page);
      await page.route('**/api/document-drafts/*', (route) => route.abort(), { times: 1 });
      await page.locator('#message').press('End');
      await page.keyboard.type('!');
      await page.locator('#saved', { hasText: 'Not saved: The service cannot be reached.' }).waitFor();
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.type());
        void (dialog.type() === 'beforeunload' ? dialog.dismiss() : dialog.accept());
      });
      await page.evaluate('location.reload()');
      await until(async () => (dialogs.length > 0 ? true : undefined));
      t.deepEqual(dialogs, ['beforeunload']);
      t.is(await page.locator('#message').inputValue(), 'Please sign by Friday.!');
      await page.getByRole('button', { name: 'Save again' }).press('Enter');
      await savedDraft(page);

      // The draft comes back as it was, at its step.
      await page.locator('#message').fill('Please sign by Friday.');
      await savedDraft(page);
      await page.reload();
      await page.locator('#editor[data-ready]').waitFor();
      t.is(await page.locator('#message').inputValue(), 'Please sign by Friday.');
      await page.goBack();
      await page.locator('#pages[data-shown]').waitFor();
      t.is(await page.locator('.placed').count(), 2);
      await page.goForward();
      await page.locator('#step-review').waitFor();
      await page.getByText('3 fields').waitFor({ state: 'detached' });
      t.is((await program.acme.get<{ items: unknown[] }>('/api/documents')).items.length, 0);

      await page.locator('#message').press('End');
      await page.keyboard.type(' Thanks.');
      await page.getByRole('button', { name: 'Send', exact: true }).press('Enter');
      await page.getByText('The document is sent').waitFor();
      t.deepEqual(dialogs, ['beforeunload'], 'nothing is asked after a save or the sending');
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const made = await program.acme.get<{
        name: string;
        description: string;
        createdBy: { name: string };
        flowActions: Action[];
        observers: { user: { email: string } }[];
      }>(`/api/documents/${id}`);
      t.is(made.name, 'lease');
      t.is(made.description, 'Please sign by Friday. Thanks.');
      t.is(made.createdBy.name, 'Sam Sender');
      t.deepEqual(
        made.flowActions.map(({ type, step }) => [type, step]),
        [
          ['Signer', 1],
          ['Approver', 2],
        ],
      );
      t.is(made.flowActions[0]?.marks[0]?.pageNumber, 2);
      t.is(made.flowActions[0]?.fields?.[0]?.label, 'City');
      t.is(made.observers[0]?.user.email, 'eve@example.org');
      await assertAccessible(t, page, 'document');

      // Follows it: reminder, download, cancellation.
      await page.getByRole('button', { name: 'Send a reminder' }).press('Enter');
      await page.getByText('The reminder is on its way.').waitFor();
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Original' }).press('Enter');
      t.is((await saving).suggestedFilename(), 'lease.pdf');
      // The script of the page, which sends the file, listens.
      await page.locator('main[data-live]').waitFor();
      await page.getByLabel('More', { exact: true }).press('Enter');
      await page.locator('#new-version summary').press('Enter');
      await page.locator('#version-file').setInputFiles({ ...CONTRACT, buffer: clausePdf(3) });
      await page.getByRole('button', { name: 'Replace the file' }).press('Enter');
      await page.getByText('The new version is sent.').waitFor();
      await page.getByLabel('More', { exact: true }).press('Enter');
      await page.getByText('Cancel the document', { exact: true }).first().press('Enter');
      await page.locator('[name="reason"]').fill('Agreed otherwise.');
      await page.getByRole('button', { name: 'Cancel the document' }).press('Enter');
      await page.getByText('The document is canceled.').waitFor();
      await page.getByRole('link', { name: 'All documents' }).press('Enter');
      await page.locator('td', { hasText: 'Canceled' }).waitFor();
      await page.locator('.find-documents [name="q"]').fill('nothing like it');
      await page.keyboard.press('Enter');
      await page.getByText('No document matches').waitFor();
      await assertAccessible(t, page, 'list');
    },
  );
}

toolTest.serial('a document is not made twice after a lost answer', async (t) => {
  const program = await ownOrganization(t.context, 'lost@example.org');
  const visited = await visit(t, program.url, { locale: 'en-US', viewport: { width: 1280, height: 1000 } });
  const { page } = visited;
  await page.goto(await mailedLink(program, 'lost@example.org'));
  await page.locator('form button[type="submit"]').first().click();
  const made = async () => (await program.acme.get<{ totalCount: number }>('/api/documents')).totalCount;
  const compose = async () => {
    await page.goto(`${program.url}/account/documents/new`);
    await page.locator('#add-files').setInputFiles(CONTRACT);
    await page.locator('#file-list input').waitFor();
    await goTo(page, 'People');
    await fillPerson(page, 0, 'Ana', 'ana@example.org');
    await goTo(page, 'Review');
    // The service does what is asked; its answer does not arrive.
    const lose = async (route: Route) => {
      await route.fetch();
      await route.abort();
    };
    await page.route('**/api/document-drafts/*/send', lose, { times: 1 });
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.locator('#outcome.bad').waitFor();
  };
  await compose();
  t.is(await made(), 1);
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.getByText('The document is sent').waitFor();
  t.is(await made(), 1, 'repeated without a change');
  await compose();
  t.is(await made(), 2);
  await page.locator('#message').fill('Please sign by Friday.');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await page.locator('#outcome.bad', { hasText: 'not open for this any more' }).waitFor();
  t.is(await made(), 2, 'what was sent is not changed');
  // Its address leads to the document.
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByText('Ana').first().waitFor();
  t.regex(page.url(), /\/account\/documents\/[-0-9a-f]{36}/);
});

toolTest.serial('a field is dragged from its button onto a page', async (t) => {
  const program = await ownOrganization(t.context, 'drag@example.org');
  const visited = await visit(t, program.url, { locale: 'pt-BR', viewport: { width: 1280, height: 1000 } });
  const { page } = visited;
  await page.goto(await mailedLink(program, 'drag@example.org'));
  await page.locator('form button[type="submit"]').first().click();
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#add-files').setInputFiles(CONTRACT);
  await page.locator('#file-list input').waitFor();
  await page.locator('.steps button').nth(2).click();
  await page.locator('#pages[data-shown]').waitFor();
  const first = page.locator('.page').first();
  await page.locator('#palette [data-kind="Checkbox"]').dragTo(first, { targetPosition: { x: 100, y: 80 } });
  const box = page.locator('.placed');
  await box.waitFor();
  await page.getByRole('heading', { name: 'Caixa de seleção' }).waitFor();
  const placed = await box.boundingBox();
  const frame = await first.boundingBox();
  const middle = (placed?.x ?? 0) + (placed?.width ?? 0) / 2 - (frame?.x ?? 0);
  t.true(Math.abs(middle - 100) < 5, `${middle}`);

  // The session ends. What was entered is saved once this person, and no other, has signed in again in another tab.
  await savedDraft(page);
  const tab = await page.context().newPage();
  const signInThere = async (email: string) => {
    await page.context().clearCookies();
    await tab.goto(await mailedLink(program, email));
    await tab.locator('form button[type="submit"]').first().click();
    await tab.locator('.account-main').waitFor();
  };
  const saved = page.locator('#saved');
  await page.context().clearCookies();
  await page.locator('#item-label').fill('Aceito');
  await saved.filter({ hasText: 'Sua sessão terminou.' }).waitFor();
  await register(program, 'other@example.org', SENDER, 'Otto Other');
  await signInThere('other@example.org');
  await page.getByRole('button', { name: 'Salvar de novo' }).press('Enter');
  await saved.filter({ hasText: 'Sua conta não tem permissão para isso.' }).waitFor();
  await signInThere('drag@example.org');
  await page.getByRole('button', { name: 'Salvar de novo' }).press('Enter');
  await savedDraft(page);
  await tab.goto(page.url());
  await tab.getByRole('button', { name: /^Aceito/ }).waitFor();
});

test.serial(
  'scripts of other sites cannot use the session, and it neither administers nor signs',
  async (t) => {
    const program = await ownOrganization(t.context, 'script@example.org');
    const browser = await signedIn(program, 'script@example.org');
    await browser.page('/account');
    const token = browser.token;
    const call = (method: string, path: string, headers: Record<string, string>, body?: object) =>
      browser.fetch(path, {
        method,
        headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    const draft = { name: 'A draft', document: {} };
    t.is((await call('POST', '/api/document-drafts', {}, draft)).status, 403);
    t.is((await call('POST', '/api/document-drafts', { 'x-form-token': `${token}x` }, draft)).status, 403);
    t.is((await call('POST', '/api/document-drafts', { 'x-form-token': token }, draft)).status, 200);
    t.is((await call('GET', '/api/documents', {})).status, 200);
    t.is((await call('GET', '/api/organizations/users', {})).status, 403);
    const id = '11111111-1111-4111-8111-111111111111';
    const person = { name: 'Ana', email: 'ana@example.org', accessProfile: SENDER };
    for (const [path, body] of [
      ['/api/organizations/users', person],
      [`/api/documents/${id}/action-url`, { emailAddress: 'ana@example.org' }],
    ] as const)
      t.is((await call('POST', path, { 'x-form-token': token }, body)).status, 403, path);
    const upload = new FormData();
    upload.set('file', new Blob(['x']), 'a.txt');
    t.is((await browser.fetch('/api/uploads', { method: 'POST', body: upload })).status, 401, 'no token');
    await browser.submit('/sign-out');
    await until(async () => ((await call('GET', '/api/documents', {})).status === 401 ? true : undefined));
  },
);

toolTest.serial(
  'a link on another site leads to its page with one request more, or to the sign-in',
  async (t) => {
    const email = 'linked@example.org';
    const program = await ownOrganization(t.context, email);
    const path = '/account/documents?q=lease';
    const host = await serveHost(t, `<a href="${program.url}${path}">Open</a>`);
    const { page } = await visit(t, program.url, { locale: 'en-US' }, { alsoAsks: [host] });
    // The page itself asks for its list again when something changes: that is no further step of the way.
    const loaded: string[] = [];
    page.on('request', (request) => request.isNavigationRequest() && loaded.push(request.url()));
    const follow = async (end: string, shown: string) => {
      await page.goto(host);
      const before = loaded.length;
      await page.getByRole('link', { name: 'Open' }).click();
      await page.waitForURL(end);
      await page.locator(shown).waitFor();
      return loaded.slice(before).filter((url) => url === `${program.url}${path}`).length;
    };
    t.is(await follow(`${program.url}/sign-in`, 'main'), 2);
    await page.goto(await mailedLink(program, email));
    await page.getByRole('button', { name: /Sign in/ }).click();
    await page.locator('.account-main').waitFor();
    const signedIn = await follow(`${program.url}${path}`, '.account-main');
    t.is(signedIn, 2, 'the second request has the cookie');
  },
);
