/** The list of documents in a real browser: counts that filter, people, a selection with its actions, live updates. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import avaTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { type Client, type PortalProgram, until } from '../../actors/portal/service.ts';
import { contract, hiddenLook } from '../../crypto/pades/validation/attack-files.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { register, SENDER } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible, assertAccessibleInThemes } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, PHONE, shareAccountPages, signIn } from './account-pages.ts';

const test = withTools(avaTest as TestFn<AccountPages>, 'chromium');
const DESK = { locale: 'en-US', viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } as const;
const DAY_MS = 86_400_000;

shareAccountPages(test, 'Ana Lima');

function signer(name: string, email = `${name.toLowerCase().replace(/\W/g, '.')}@example.org`, step = 1) {
  return { type: 'Signer', step, user: { name, email }, allowElectronicSignature: true };
}

/** Makes a document of a title. */
async function make(client: Client, displayName: string, people: readonly object[], more: object = {}) {
  const upload = await client.upload();
  const files = [{ ...upload, displayName }];
  const body = { files, flowActions: people, ...more };
  const [made] = await client.post<{ documentId: string }[]>('/api/documents', body);
  return made?.documentId ?? '';
}

async function open(
  t: ExecutionContext<AccountPages>,
  path: string,
  options: Parameters<typeof visit>[2] = DESK,
): Promise<Page> {
  const { program } = t.context;
  const visited = await visit(t, program.url, options);
  await signIn(visited.page, program);
  await visited.page.goto(program.url + path);
  await visited.page.locator('main[data-live]').waitFor();
  return visited.page;
}

const row = (page: Page, name: string) => page.locator('#rows tr').filter({ hasText: name });

/** Mails to an address in the folder of a service without a relay. */
function mailsTo({ service }: PortalProgram, email: string): number {
  const folder = join(service.root, 'mail');
  return readdirSync(folder).filter(
    (name) => name.endsWith('.eml') && readFileSync(join(folder, name), 'utf8').includes(`<${email}>`),
  ).length;
}

async function fits(page: Page): Promise<boolean> {
  return page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth');
}

test.serial('an empty list says what will be here, and leads to the first document', async (t) => {
  const page = await open(t, '/account/documents');
  await page.getByText('Here are the documents that you send.').waitFor();
  await page.locator('main').getByRole('link', { name: 'New document' }).waitFor();
  await assertAccessible(t, page, 'empty list');
});

test.serial(
  'counts lead to the documents that wait for the person, for others, and those that ended',
  async (t) => {
    const { acme } = t.context.program;
    await make(acme, 'For Ana', [signer('Ana Lima', 'ana@example.org')]);
    await make(acme, 'For both', [signer('Ana Lima', 'ana@example.org'), signer('Bo Diaz')]);
    await make(acme, 'For Bo first', [signer('Bo Diaz'), signer('Ana Lima', 'ana@example.org', 2)]);
    await make(acme, 'Approval', [{ ...signer('Ana Lima', 'ana@example.org'), type: 'Approver' }]);
    await make(acme, 'Soon over', [signer('Cy Old')], {
      expirationDate: new Date(Date.now() + 3 * DAY_MS).toISOString(),
    });
    await make(acme, 'Later over', [signer('Cy Old')], {
      expirationDate: new Date(Date.now() + 30 * DAY_MS).toISOString(),
    });
    const refused = await make(acme, 'Refused one', [signer('Bo Diaz')]);
    await acme.send(`/api/documents/${refused}/refusal`, { reason: 'No' });
    const other = await t.context.program.organization('Other');
    await make(other, 'Of another organization', [signer('Ana Lima', 'ana@example.org')]);

    const page = await open(t, '/account/documents');
    const names = () => page.locator('#rows td .name').allTextContents();
    const tile = (name: string) => page.getByRole('link', { name: new RegExp(`^${name}`) });
    t.is((await names()).length, 7, 'nothing of another organization');
    t.regex((await tile('Waiting for me').textContent()) ?? '', /3/);
    await tile('Waiting for me').click();
    await page.locator('.tile[aria-current]').waitFor();
    t.deepEqual((await names()).sort(), ['Approval', 'For Ana', 'For both']);
    await page.getByRole('link', { name: /^Waiting for others/ }).click();
    await page.waitForURL('**/account/documents?show=others');
    t.deepEqual((await names()).sort(), ['For Bo first', 'For both', 'Later over', 'Soon over']);
    await page.getByText('1 expires this week').waitFor();
    await row(page, 'Soon over')
      .getByText('in 3 days')
      .or(row(page, 'Soon over').getByText('in 2 days'))
      .waitFor();
    await row(page, 'For both').getByText('0 of 2').waitFor();
    await row(page, 'For both').getByText('and 1 more').waitFor();
    t.regex((await row(page, 'For Bo first').textContent()) ?? '', /Bo Diaz.*not opened/);
    await page.getByRole('link', { name: 'Last day' }).click();
    await page.waitForURL('**/account/documents?show=expiring');
    t.deepEqual(await names(), ['Soon over', 'Later over'], 'the next last day first');
    await page.getByRole('link', { name: /^Refused, canceled or expired/ }).click();
    await row(page, 'Refused one').getByText('Refused', { exact: true }).waitFor();
    t.is((await names()).length, 1);

    // The search finds people, and stays in the address.
    await page.goto(`${t.context.program.url}/account/documents`);
    await page.keyboard.press('/');
    await page.keyboard.type('cy old');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account/documents?q=cy+old');
    t.deepEqual((await names()).sort(), ['Later over', 'Soon over']);
    await page.getByRole('link', { name: 'Remove the filter cy old' }).click();
    await page.waitForURL('**/account/documents');
  },
);

test.serial('twenty documents are reminded with three clicks, each with its result', async (t) => {
  const { program } = t.context;
  for (let index = 1; index <= 20; index += 1)
    await make(program.acme, `Reminded ${index}`, [signer('Dee Late')]);
  await until(async () => (mailsTo(program, 'dee.late@example.org') >= 20 ? true : undefined));
  const page = await open(t, '/account/documents?q=Reminded');
  await page.getByRole('checkbox', { name: 'Select all of this page' }).click();
  await page.getByText('20 selected').waitFor();
  await assertAccessible(t, page, 'selection');
  await page.getByRole('button', { name: 'Remind', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remind' }).click();
  await page.getByText('20 done, 0 not').waitFor();
  t.is(await page.locator('#rows').getByText('reminded', { exact: true }).count(), 20);
  await until(async () => (mailsTo(program, 'dee.late@example.org') >= 40 ? true : undefined));
});

test.serial(
  'selected documents are moved, downloaded and canceled by keyboard, and a refusal is told in its row',
  async (t) => {
    const { program } = t.context;
    const one = await make(program.acme, 'Bulk one', [signer('Eve Fast')]);
    const two = await make(program.acme, 'Bulk two', [signer('Eve Fast')]);
    const page = await open(t, '/account/documents?q=Bulk');
    const select = async () => {
      await page.getByRole('checkbox', { name: 'Select all of this page' }).press('Space');
      await page.getByText('2 selected').waitFor();
    };
    await select();
    await page.getByRole('button', { name: 'Move' }).press('Enter');
    await page.getByLabel('Name of a new folder').fill('Contracts');
    await page.keyboard.press('Enter');
    await page.getByText('2 done, 0 not').waitFor();
    await row(page, 'Bulk one')
      .getByText(/^Contracts · /)
      .waitFor();
    await select();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).press('Enter');
    t.is((await saving).suggestedFilename(), 'documents.zip');
    await page.getByText('2 done, 0 not').waitFor();

    // One of them is canceled meanwhile by a program; the page shows it by itself.
    await select();
    await page.getByRole('button', { name: 'Cancel…' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByText('Give a reason').waitFor();
    t.is(await page.evaluate('document.activeElement.name'), 'reason');
    await assertAccessible(t, page, 'refused dialog');
    await program.acme.send(`/api/documents/${two}/cancellation`, { reason: 'By program' });
    await page.getByLabel('Reason, which participants see').fill('Agreed otherwise.');
    await page.keyboard.press('Enter');
    await page.getByText('1 done, 1 not').waitFor();
    await row(page, 'Bulk one').getByText('canceled', { exact: true }).waitFor();
    t.is(await row(page, 'Bulk two').locator('.fault').count(), 1);
    t.is((await program.acme.get<{ status: string }>(`/api/documents/${one}`)).status, 'Canceled');
    t.regex(
      (await page.locator('.side').textContent()) ?? '',
      /Contracts/,
      'the folder is in the navigation',
    );
  },
);

test.serial('a list shows a change without a reload, also after an answer that failed', async (t) => {
  const { program } = t.context;
  const page = await open(t, '/account/documents?q=Appears');
  await page.getByText('No document matches').waitFor();
  await page.evaluate('globalThis.isSame = true');
  await make(program.acme, 'Appears later', [signer('Flo New')]);
  await row(page, 'Appears later').waitFor();
  await page.route('**/account/documents?q=Appears', (route) => route.fulfill({ status: 503 }), { times: 1 });
  await make(program.acme, 'Appears after a failure', [signer('Flo New')]);
  await page.locator('#connection', { hasText: 'cannot be reached' }).waitFor();
  await row(page, 'Appears after a failure').waitFor();
  // A hidden page waits for nothing; shown again, it is up to date.
  const setHidden = (isHidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'))`,
    );
  let ended = 0;
  page.on('requestfailed', (request) => {
    if (request.url().includes('/account/changes')) ended += 1;
  });
  await until(async () => {
    await setHidden(false);
    await setHidden(true);
    return ended > 0 || undefined;
  });
  await make(program.acme, 'Appears when shown', [signer('Flo New')]);
  await setHidden(false);
  await row(page, 'Appears when shown').waitFor();
  t.true(await page.evaluate('globalThis.isSame'), 'the page was not loaded again');
});

test.serial('on a phone each row is a card that is whole, and the first is near the top', async (t) => {
  await make(t.context.program.acme, 'Agreement with a long title that takes more than one line', [
    signer('Gil Maximilian Longname'),
    signer('Hal Second', undefined, 2),
  ]);
  const page = await open(t, '/account/documents?show=others', PHONE);
  for (const [width, height] of [
    [390, 844],
    [320, 640],
  ] as const) {
    await page.setViewportSize({ width, height });
    t.true(await fits(page), `${width}`);
    const top = await page.evaluate<number>('document.querySelector("#rows tr").getBoundingClientRect().top');
    t.true(top <= 320, `the first row begins at ${top}`);
    t.deepEqual(
      await page.evaluate(
        `[...document.querySelectorAll('#rows tr > td')].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)`,
      ),
      [],
      'nothing is cut',
    );
  }
  await assertAccessible(t, page, 'phone');
});

test.serial('the list is accessible in each theme, and begins within 320 px on a desk', async (t) => {
  await make(t.context.program.acme, 'Shown in each theme', [signer('Ivy Bright')]);
  const page = await open(t, '/account/documents');
  const top = await page.evaluate<number>('document.querySelector("#rows tr").getBoundingClientRect().top');
  t.true(top <= 320, `the first row begins at ${top}`);
  await assertAccessibleInThemes(t, page, 'list');
});

test.serial('a document shows the places of those who are to act, and has one primary action', async (t) => {
  const { acme } = t.context.program;
  const mark = { topLeftX: 72, topLeftY: 300, width: 180, height: 60, pageNumber: 1 };
  const field = { ...mark, name: 'city', label: 'City', topLeftY: 500, height: 20, pageNumber: 2 };
  const first = { ...signer('Ivo First'), prePositionedMarks: [mark], fields: [field] };
  const second = { ...signer('Una Second', undefined, 2), prePositionedMarks: [{ ...mark, topLeftY: 400 }] };
  const file = { name: 'two.pdf', content: clausePdf(2), type: 'application/pdf' };
  const id = await acme.create([first, second], {}, file);
  const page = await open(t, `/account/documents/${id}`);
  const places = page.locator('.preview .place');
  await places.first().waitFor();
  t.deepEqual(await places.allTextContents(), ['Signature: Ivo First', 'Signature: Una Second']);
  const box = await places.first().boundingBox();
  const sheet = await page.locator('.preview canvas').boundingBox();
  t.true(
    Math.abs(((box?.x ?? 0) - (sheet?.x ?? 0)) / (sheet?.width ?? 1) - 72 / 595) < 0.02,
    'where it is signed',
  );
  await page.getByRole('button', { name: 'Next page' }).press('Enter');
  await page.locator('.preview', { hasText: 'Page 2 of 2' }).waitFor();
  await page.locator('.place', { hasText: 'City: Ivo First' }).waitFor();
  t.is(await places.count(), 1);
  t.is(await page.evaluate('document.activeElement.ariaLabel'), 'Next page', 'the last page keeps the focus');
  // The ticket of the page has ended: the page is read once more, for another one.
  let ended = 0;
  const content = '**/download?ticket=*';
  await page.route(content, (route) => {
    ended += 1;
    return ended === 1 ? route.fulfill({ status: 404 }) : route.continue();
  });
  await page.getByRole('button', { name: 'Previous page' }).press('Enter');
  await places.nth(1).waitFor();
  t.true(ended > 1, 'asked again');
  await page.unroute(content);
  await page.route(content, (route) => route.fulfill({ status: 404 }));
  await page.getByRole('button', { name: 'Next page' }).press('Enter');
  await page.locator('.preview', { hasText: 'The document could not be shown.' }).waitFor();
  await page.unroute(content);
  await page.getByRole('button', { name: 'Previous page' }).press('Enter');
  await places.nth(1).waitFor();
  const primary = page.locator('button.main:visible, .button.main:visible');
  t.deepEqual(
    (await primary.allTextContents()).map((text) => text.trim()),
    ['Remind Ivo First'],
  );
  await assertAccessible(t, page, 'preview');
  await primary.press('Enter');
  await page.getByText('The reminder is on its way.').waitFor();
  const { items } = await acme.get<{ items: { type: string }[] }>(`/api/documents/${id}/history`);
  t.true(items.some(({ type }) => type === 'Reminded'));
});

test.serial(
  'a sender corrects an address, replaces a person, moves the document, and sees it live',
  async (t) => {
    const { program } = t.context;
    const { user, ...late } = signer('Kim Late', undefined, 2);
    const kim = { ...late, user: { ...user, phone: '+351 911 222 333' } };
    const id = await make(program.acme, 'Corrected', [signer('Jo Wrong'), kim]);
    const page = await open(t, `/account/documents/${id}`);
    const dialog = page.getByRole('dialog');
    // Each person has the address, one action and a menu.
    const person = page.locator('.participants > li', { hasText: 'Jo Wrong' });
    await person.getByText(/@/).waitFor();
    t.deepEqual(await person.locator('button:visible').allTextContents(), ['Send a reminder']);
    await page.getByLabel('More: Jo Wrong').press('Enter');
    await page.getByRole('button', { name: 'Change the address: Jo Wrong' }).press('Enter');
    await dialog.getByLabel('E-mail address').fill('jo at home');
    await page.keyboard.press('Enter');
    await dialog.getByText('Enter an e-mail address').waitFor();
    t.is(await page.evaluate('document.activeElement.name'), 'email');
    await dialog.getByLabel('E-mail address').fill('jo.right@example.org');
    await page.keyboard.press('Enter');
    await page.locator('.toast', { hasText: 'The change is saved.' }).waitFor();
    await until(async () => (mailsTo(program, 'jo.right@example.org') > 0 ? true : undefined));
    await page.getByLabel('More: Kim Late').press('Enter');
    await page.getByRole('button', { name: 'Replace the person: Kim Late' }).press('Enter');
    await dialog.getByLabel('Name').fill('Lou New');
    await dialog.getByLabel('E-mail address').fill('lou@example.org');
    await page.keyboard.press('Enter');
    await dialog.getByText('it was given for the person before').waitFor();
    await dialog.getByLabel('Phone').fill('+351 944 555 666');
    await page.keyboard.press('Enter');
    await page.locator('.participants', { hasText: 'Lou New' }).waitFor();
    t.is(await page.locator('.participants', { hasText: 'Kim Late' }).count(), 0);
    await page.getByLabel('More', { exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Move to a folder' }).press('Enter');
    await dialog.getByLabel('Name of a new folder').fill('Corrections');
    await page.keyboard.press('Enter');
    await page.locator('.side', { hasText: 'Corrections' }).waitFor();
    await page.getByLabel('More', { exact: true }).press('Enter');
    await page.getByRole('button', { name: 'Move to a folder' }).press('Enter');
    t.is(await dialog.locator('option:checked').textContent(), 'Corrections');

    // What changes while a dialog is open is shown when it is closed.
    const { flowActions } = await program.acme.get<{ flowActions: { id: string; step: number }[] }>(
      `/api/documents/${id}`,
    );
    const read = page.waitForResponse((answer) => answer.url().endsWith(`/account/documents/${id}`));
    const last = flowActions.find(({ step }) => step === 2)?.id;
    await program.acme.post(`/api/documents/${id}/flow`, {
      editedFlowActions: [{ flowActionId: last, participantEmailAddress: 'lou@elsewhere.example' }],
    });
    await (await read).finished();
    await page.keyboard.press('Escape');
    await page.locator('.participants', { hasText: 'lou@elsewhere.example' }).waitFor();
    const made = await program.acme.get<{
      folder: { name: string } | null;
      flowActions: { step: number; user: { name: string; email: string; phone: string | null } }[];
    }>(`/api/documents/${id}`);
    t.is(made.folder?.name, 'Corrections');
    t.is(made.flowActions[1]?.user.phone, '+351 944 555 666');
    t.deepEqual(
      made.flowActions.map(({ step, user }) => [step, user.email]),
      [
        [1, 'jo.right@example.org'],
        [2, 'lou@elsewhere.example'],
      ],
    );
    await page.locator('.preview canvas').waitFor();
    // The file is freed once its first page is drawn.
    await page.addInitScript(`{
      globalThis.sent = [];
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function (message, ...more) {
        sent.push(message?.action);
        return postMessage.call(this, message, ...more);
      };
    }`);
    await page.reload();
    await page.locator('.preview canvas').waitFor();
    await until(async () => ((await page.evaluate('sent.includes("Terminate")')) ? true : undefined));
    const leftOf = async (selectors: string) => (await page.locator(selectors).boundingBox())?.x ?? 0;
    t.true(
      (await leftOf('.preview canvas')) + 300 < (await leftOf('.participants')),
      'the file stands at the left',
    );
    const created = page.locator('.facts time').first();
    t.regex((await created.textContent()) ?? '', /ago|now/);
    t.regex((await created.getAttribute('title')) ?? '', /\d{4}.*(?:UTC|GMT)/);
    await assertAccessible(t, page, 'document');

    // The link works, and asks for a code.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByLabel('More: Jo Wrong').press('Enter');
    await page.getByRole('button', { name: 'Copy the link: Jo Wrong' }).press('Enter');
    await page.locator('.toast', { hasText: 'The link is copied.' }).waitFor();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    t.true(link.startsWith(`${program.url}/document/`), link);
    const signing = await (await fetch(link)).text();
    t.true(signing.includes('send-code'), 'a code is asked for');
    // Where no script may copy it, it is shown.
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`);
    await page.getByLabel('More: Jo Wrong').press('Enter');
    await page.getByRole('button', { name: 'Copy the link: Jo Wrong' }).press('Enter');
    t.true((await dialog.getByLabel('Copy the link').inputValue()).startsWith(`${program.url}/document/`));
    await assertAccessible(t, page, 'link');
    await page.keyboard.press('Escape');

    // A program cancels it; the page shows it by itself.
    await page.evaluate('globalThis.isSame = true');
    await program.acme.send(`/api/documents/${id}/cancellation`, { reason: 'Changed our mind' });
    await page.locator('.facts', { hasText: 'Changed our mind' }).waitFor();
    t.true(await page.evaluate('globalThis.isSame'), 'the page was not loaded again');
    t.is(await page.getByRole('button', { name: /Change the address/ }).count(), 0);
  },
);

test.serial(
  'the rights on a folder are given, changed and removed by keyboard, and never over those of others',
  async (t) => {
    const { program } = t.context;
    const { acme } = program;
    const { id } = await acme.post<{ id: string }>('/api/folders', { name: 'Leases' });
    const bo = await register(program, 'bo.rights@example.org', SENDER, 'Bo Rights');
    const path = `/api/folders/${id}/grants`;
    const rights = async () =>
      (await acme.get<{ grants: { id: string; right: string }[] }>(path)).grants.map((one) => one.right);
    const page = await open(t, `/account/documents?folder=${id}`, PHONE);
    const dialog = page.getByRole('dialog', { name: 'Access to Leases' });
    const saved = () => page.locator('#toasts').getByText('The access is saved.').last().waitFor();
    const show = async () => {
      await page.locator('#folder-access').focus();
      await page.keyboard.press('Enter');
      await dialog.locator('[name="q"]:focus').waitFor();
    };
    await show();
    await dialog.getByText('Every sender may do everything here.').waitFor();
    await page.keyboard.type('bo rights');
    await page.keyboard.press('Enter');
    await dialog.getByRole('button', { name: 'Add Bo Rights' }).focus();
    await page.keyboard.press('Enter');
    const right = dialog.getByRole('combobox', { name: 'Right of Bo Rights' });
    await dialog.locator('select:focus').waitFor();
    await right.selectOption('Send');
    await assertAccessible(t, page, 'access to a folder');
    t.true(await fits(page));
    await dialog.getByRole('button', { name: 'Save' }).click();
    await saved();
    t.deepEqual(await rights(), ['Send']);

    // Somebody else changes them while the dialog is open.
    await show();
    await right.selectOption('Read');
    await acme.post(path, { grants: [{ type: 'User', id: bo, right: 'Manage' }] }, 'PUT');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Somebody else has changed the access meanwhile.').waitFor();
    t.is(await right.inputValue(), 'Manage');
    t.deepEqual(await rights(), ['Manage']);
    await dialog.getByRole('button', { name: 'Remove Bo Rights' }).click();
    await dialog.getByText('Without entries').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.deepEqual(await rights(), []);
    const file = { name: 'odd.pdf', content: contract(hiddenLook), type: 'application/pdf' };
    const odd = await acme.create([signer('Bo Diaz')], {}, file);
    await page.goto(`${program.url}/account/documents/${odd}`);
    await page
      .locator('#document .trouble', { hasText: 'hidden fields' })
      .filter({ hasText: 'Approval' })
      .waitFor();
  },
);
