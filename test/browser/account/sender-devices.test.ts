/** Pages of senders and administrators on narrow screens, zoomed, by finger, printed, and with names that read from right to left. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { LANGUAGES } from '../../../contracts/portal/words.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible, assertAccessibleInThemes } from '../axe.ts';
import { OUT_OF_REACH, openSigning, visit } from '../browser.ts';
import { type AccountPages, goTo, PHONE, savedDraft, shareAccountPages, signIn } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
shareAccountPages(test, 'أحمد Ana', ({ acme }) => acme.post('/api/folders', { name: 'Sales' }));
const CONTRACT = { name: 'lease.pdf', mimeType: 'application/pdf', buffer: clausePdf(2) };
const HEBREW = 'חוזה שכירות (2030)';
/** Narrowest screen, and a desktop screen of 1280 × 800 at 200 % zoom. */
const SIZES = [
  { width: 320, height: 640 },
  { width: 640, height: 400 },
];

async function fits(t: ExecutionContext, page: Page, what: string): Promise<void> {
  for (const size of SIZES) {
    await page.setViewportSize(size);
    t.deepEqual(await page.evaluate(OUT_OF_REACH), [], `${what} at ${size.width} px`);
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
      `${what} scrolls sideways at ${size.width} px`,
    );
  }
  await assertAccessible(t, page, what);
}

async function fill(row: Locator, values: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, value] of Object.entries(values)) await row.locator(`[name="${name}"]`).fill(value);
}

/** A finger that touches a point, moves in steps, and lifts. */
async function drag(
  session: CDPSession,
  from: { readonly x: number; readonly y: number },
  by: { readonly x: number; readonly y: number },
): Promise<void> {
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', part: number) =>
    session.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x: from.x + by.x * part, y: from.y + by.y * part }],
    });
  await touch('touchStart', 0);
  for (const part of [0.25, 0.5, 0.75, 1]) await touch('touchMove', part);
  await touch('touchEnd', 1);
}

async function middleOf(locator: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error('The element is not shown.');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

test.serial('a group of approvers is created by keyboard, and missing data is named', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, { locale: 'en-US', reducedMotion: 'reduce' });
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#editor[data-ready]').waitFor();
  await page.locator('#add-files').setInputFiles({ ...CONTRACT, name: `${HEBREW}.pdf` });
  await page.locator('#file-list input').waitFor();
  await goTo(page, 'People');
  const rows = page.locator('#people-list > li');
  await fill(rows.nth(0), { name: 'Bo', email: 'bo@example.org' });
  await page.getByRole('button', { name: 'Add a group' }).press('Enter');
  await page.locator('#person-1-name:focus').waitFor();
  await page.keyboard.type('Auditors');
  await rows.nth(1).locator('[name="role"]').selectOption('ApproverGroup');
  t.false(await rows.nth(1).getByText('May sign without a certificate').isVisible());
  await rows.nth(1).getByText('Continue after a refusal').press('Space');
  await rows.nth(1).locator('[name="needed"]').fill('2');
  const member = (number: number) =>
    page.getByRole('group', { name: `Person 2, member ${number}`, exact: true });
  await member(1).getByLabel('Name').fill('فاطمة الزهراء');
  await member(1).getByLabel('E-mail').fill('fay@example.org');
  await page.locator('#next').press('Enter');
  await page.locator('#faults', { hasText: 'Auditors: Give at least as many members' }).waitFor();
  // Lines that are pasted become members.
  await member(2).getByLabel('E-mail').focus();
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', 'Gus <gus@example.org>\\nHal <hal@example.org>');
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(paste);
  })()`);
  t.is(await member(3).getByLabel('E-mail').inputValue(), 'hal@example.org');
  await page.locator('#person-1-member-2-name:focus').waitFor();
  await page.getByRole('button', { name: 'Add a member' }).press('Enter');
  await page.getByRole('button', { name: 'Remove Person 2, member 4' }).press('Enter');
  await rows.nth(1).getByRole('checkbox', { name: 'Continue after a refusal' }).check();
  await fits(t, page, 'editor with a group');
  await goTo(page, 'Fields');
  await page.locator('#pages[data-shown]').waitFor();
  await page.locator('.person', { hasText: 'Auditors' }).press('Enter');
  t.true(await page.locator('#add-Text').isDisabled());
  await fits(t, page, 'fields of a group');

  await savedDraft(page);
  await goTo(page, 'People');
  await page.reload();
  await page.locator('#editor[data-ready]').waitFor();
  t.is(await rows.nth(1).locator('[name="role"]').inputValue(), 'ApproverGroup');
  await goTo(page, 'Review');
  await page.getByRole('button', { name: 'Send', exact: true }).press('Enter');
  await page.getByText('The document is sent.').waitFor();
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { flowActions } = await program.acme.get<{
    flowActions: readonly {
      type: string;
      step: number;
      numberRequiredSignatures: number;
      allowRuleFlowToContinueIfRefused: boolean;
      signRuleUsers: readonly { user: { name: string } }[];
    }[];
  }>(`/api/documents/${id}`);
  const group = flowActions[1];
  t.like(group, { type: 'ApproverRule', step: 2, numberRequiredSignatures: 2 });
  t.true(group?.allowRuleFlowToContinueIfRefused);
  t.is(group?.signRuleUsers.length, 3);

  // The sender sees the people of the group, and names keep their direction.
  await page.getByText('Any 2 of 3 must act:').waitFor();
  t.is(await page.locator('.group-members bdi').first().textContent(), 'فاطمة الزهراء');
  await fits(t, page, 'document');
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width: 700, height: 990 });
  t.true(await page.getByText('Any 2 of 3 must act:').isVisible());
  t.true(await page.locator('.history li').first().isVisible());
  const shown = page.locator('nav, button, .button, summary').filter({ visible: true });
  t.is(await shown.count(), 0, 'controls are not printed');
  t.deepEqual(await page.evaluate(OUT_OF_REACH), [], 'printed');
  await page.emulateMedia({ media: 'screen' });
  await page.goto(`${program.url}/account/documents`);
  t.is(await page.locator('td bdi').first().textContent(), HEBREW);
  await page.goto(`${program.url}/account/documents/${id}`);
  await page.locator('#document-menu > summary').press('Enter');
  await page.getByText('Save as template', { exact: true }).first().press('Enter');
  await page.getByRole('button', { name: 'Save as template' }).press('Enter');
  await page.getByText('The template is saved.').waitFor();
  await fits(t, page, 'template');
});

test.serial('each page fits on 320 px and at 200 % zoom, with all its actions', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, { locale: 'en-US', reducedMotion: 'reduce' });
  const { page } = visited;
  await signIn(page, program);
  await program.acme
    .post('/api/notifications/urls', { url: 'https://example.org/hook' })
    .catch(() => undefined);
  for (const path of [
    '/account',
    '/account/documents',
    '/account/documents/new',
    '/account/templates',
    '/account/templates/new',
    '/organization',
    '/organization/applications',
    '/organization/branding',
    '/organization/signing-providers',
    '/organization/users',
  ]) {
    await page.goto(`${program.url}${path}`);
    await assertAccessibleInThemes(t, page, path);
    await fits(t, page, path);
    // Words of other languages are longer.
    await page.setViewportSize({ width: 320, height: 640 });
    for (const culture of ['pt', 'es', 'de', 'fr']) {
      await page.goto(`${program.url}${path}?culture=${culture}`);
      t.deepEqual(await page.evaluate(OUT_OF_REACH), [], `${path} in ${culture}`);
    }
  }
  // A key for one folder.
  await page.goto(`${program.url}/organization/applications`);
  await page
    .getByRole('link', { name: /^Keys of/ })
    .first()
    .click();
  await page.getByRole('checkbox', { name: 'Sales' }).check();
  await fits(t, page, 'keys');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('.new-key').waitFor();
  t.true(await page.getByRole('listitem').filter({ hasText: 'Sales' }).isVisible());
  await fits(t, page, 'new key');
});

test.serial('a pasted list fills a group up to its limit, and the rest is announced', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, PHONE);
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#editor[data-ready]').waitFor();
  await page.goto(`${page.url().split('#')[0]}#people`);
  await page.reload();
  await page.getByRole('button', { name: 'Add a group' }).press('Enter');
  await page.getByRole('group', { name: 'Person 2, member 1', exact: true }).getByLabel('E-mail').focus();
  await page.evaluate(`(() => {
    const clipboardData = new DataTransfer();
    const lines = Array.from({ length: 150 }, (_, index) => 'P' + index + ' <p' + index + '@example.org>');
    clipboardData.setData('text/plain', lines.join('\\n'));
    const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(paste);
  })()`);
  await page.getByText('The rest was left out.').waitFor();
  t.is(await page.locator('.member').count(), 100);
  await page.getByRole('button', { name: 'Add a member' }).press('Enter');
  t.is(await page.locator('.member').count(), 100);
  await assertAccessible(t, page, 'full group');
  await fits(t, page, 'full group');
  await page.getByRole('button', { name: 'Remove Person 2, member 100' }).press('Enter');
  await page.getByText('The rest was left out.').waitFor({ state: 'detached' });
});

test.serial('on a phone a button opens the navigation, by keyboard and without a script', async (t) => {
  const { program } = t.context;
  for (const javaScriptEnabled of [true, false]) {
    const visited = await visit(t, program.url, { ...PHONE, javaScriptEnabled });
    const { page } = visited;
    await signIn(page, program);
    await page.goto(`${program.url}/organization`);
    const users = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Users' });
    t.false(await users.isVisible());
    const head = await page.locator('.side').boundingBox();
    t.true((head?.height ?? 844) < 80, `the header is ${head?.height} px high`);
    await page.locator('.menu summary').press('Enter');
    await users.waitFor();
    if (javaScriptEnabled) {
      await assertAccessible(t, page, 'open navigation');
      await fits(t, page, 'open navigation');
      await page.setViewportSize(PHONE.viewport);
    }
    await page.keyboard.press('Tab');
    t.is(await page.evaluate('document.activeElement.textContent'), 'All');
    await users.press('Enter');
    await page.getByRole('heading', { name: 'Users', exact: true }).waitFor();
    t.false(await users.isVisible());
    await page.setViewportSize({ width: 1280, height: 800 });
    t.true(await users.isVisible());
    t.false(await page.locator('.menu').isVisible());
  }
});

test.serial(
  'the navigation of an administrator is whole at the side of a desktop screen, in each language',
  async (t) => {
    const { program } = t.context;
    const visited = await visit(t, program.url, { locale: 'en-US', viewport: { width: 1280, height: 800 } });
    const { page } = visited;
    await signIn(page, program);
    for (const culture of LANGUAGES) {
      await page.goto(`${program.url}/account/documents?culture=${culture}`);
      t.is(await page.locator('.side ul a').count(), 10, culture);
      const cut = await page.evaluate(`[...document.querySelectorAll('.side :is(a, button)')]
        .filter((one) => {
          const { bottom, right } = one.getBoundingClientRect();
          const text = one.querySelector('.cut');
          return bottom > 800 || right > 232 || (text !== null && text.scrollWidth > text.clientWidth);
        })
        .map((one) => one.textContent)`);
      t.deepEqual(cut, [], culture);
      t.is(await page.evaluate('document.documentElement.scrollWidth'), 1280, culture);
    }
  },
);

test.serial('a touch places a field, moves it, and draws the signature', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, PHONE);
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#add-files').setInputFiles(CONTRACT);
  await page.locator('#file-list input').waitFor();
  await goTo(page, 'People');
  await fill(page.locator('#people-list > li'), { name: 'Bo', email: 'bo@example.org' });
  await goTo(page, 'Fields');
  await page.locator('#pages[data-shown]').waitFor();
  await page.locator('#add-Signature').tap();
  await page.locator('.placed').waitFor();
  await page.locator('#add-Text').tap();
  await page.locator('.placed').nth(1).waitFor();
  await page.getByRole('button', { name: 'Close', exact: true }).tap();
  const box = page.locator('.placed[data-kind="Signature"]');
  const text = page.locator('.placed[data-kind="Text"]');
  const first = await box.boundingBox();
  const second = await text.boundingBox();
  t.true((first?.y ?? 0) + (first?.height ?? 0) <= (second?.y ?? 0) + 1, 'the second covers no other');
  await box.scrollIntoViewIfNeeded();
  const session = await page.context().newCDPSession(page);
  const scrolled = await page.evaluate('window.scrollY');
  const from = await middleOf(box);
  await drag(session, from, { x: 40, y: 50 });
  const to = await middleOf(box);
  t.true(Math.abs(to.x - from.x - 40) < 4 && Math.abs(to.y - from.y - 50) < 4, JSON.stringify({ from, to }));
  t.is(await page.evaluate('window.scrollY'), scrolled, 'the page stays');
  // A long press selects no text and opens no menu.
  await session.send('Input.synthesizeTapGesture', {
    ...to,
    duration: 900,
    gestureSourceType: 'touch',
  });
  t.is(await page.evaluate('String(getSelection())'), '');
  const rest = await middleOf(box);
  t.true(Math.abs(rest.x - to.x) < 4 && Math.abs(rest.y - to.y) < 4, 'a long press moves nothing');
  await page.getByRole('button', { name: 'Text 1 of Bo: Bo' }).tap();
  await page.getByRole('button', { name: 'Remove', exact: true }).tap();
  t.is(await page.locator('.placed').count(), 1);
  await goTo(page, 'Review');
  await page.getByRole('button', { name: 'Send', exact: true }).tap();
  await page.getByText('The document is sent.').waitFor();

  // The participant, on the same phone.
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  const { url } = await program.acme.post<{ url: string }>(`/api/documents/${id}/action-url`, {
    emailAddress: 'bo@example.org',
  });
  await page.goto(url);
  await page.locator('.page[data-drawn]').first().waitFor();
  await openSigning(page);
  await page.getByRole('tab', { name: 'Draw' }).tap();
  const pad = page.locator('#drawing-area');
  await pad.scrollIntoViewIfNeeded();
  const strokes = () =>
    page.evaluate(`(() => {
      const canvas = document.querySelector('#drawing-area');
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      let dark = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at + 3] > 128 && data[at] < 128) dark += 1;
      return dark;
    })()`);
  t.is(await strokes(), 0);
  const before = await page.evaluate('window.scrollY');
  await drag(session, await middleOf(pad), { x: 60, y: 20 });
  t.true(Number(await strokes()) > 20, 'the finger draws');
  t.is(await page.evaluate('window.scrollY'), before, 'the page stays while the finger draws');

  // Printed: the document alone, whole.
  await page.getByRole('button', { name: 'Close' }).tap();
  await page.emulateMedia({ media: 'print' });
  t.true(await page.locator('.page canvas').first().isVisible());
  for (const hidden of ['.actions', '.top', '.tools', '#guide', '.languages', '.thumbs'])
    t.is(await page.locator(hidden).filter({ visible: true }).count(), 0, hidden);
  t.true(
    await page.evaluate(`[...document.querySelectorAll('.page')].every((one) =>
      one.getBoundingClientRect().right <= document.documentElement.clientWidth + 1)`),
    'no page is cut off',
  );
});

test.serial('a tap removes a field, and the saved draft no longer has it', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, PHONE);
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#editor[data-ready]').waitFor();
  await page.locator('#add-files').setInputFiles(CONTRACT);
  await page.locator('#file-list input').waitFor();
  await goTo(page, 'People');
  await page.locator('#people-list [name="name"]').first().fill('Bo');
  await page.locator('#people-list [name="email"]').first().fill('bo@example.org');
  await goTo(page, 'Fields');
  await page.locator('#pages[data-shown]').waitFor();
  for (const kind of ['Signature', 'Date', 'Text']) {
    await page.locator(`#add-${kind}`).tap();
    await page.locator(`.placed[data-kind="${kind}"][aria-pressed="true"]`).waitFor();
  }
  t.is(await page.locator('.placed').count(), 3);
  const remove = page.getByRole('button', { name: 'Remove', exact: true });
  const box = await remove.boundingBox();
  t.true((box?.height ?? 0) >= 44, `the button is ${box?.height} px high`);
  await assertAccessible(t, page, 'chosen field');
  await remove.tap();
  await page.locator('#place-state', { hasText: 'Text 1 of Bo was removed.' }).waitFor();
  t.is(await page.locator('.placed').count(), 2);
  t.is(await page.locator('.placed', { hasText: 'Text' }).count(), 0);
  t.is(await page.evaluate('document.activeElement.id'), 'add-Text');
  await assertAccessible(t, page, 'after a removal');
  await savedDraft(page);
  await page.reload();
  await page.locator('#pages[data-shown]').waitFor();
  await page.locator('.placed').nth(1).waitFor();
  t.is(await page.locator('.placed').count(), 2);
});

test.serial('the filters of the documents are folded, also without a script', async (t) => {
  const { program } = t.context;
  await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  for (const javaScriptEnabled of [true, false]) {
    const visited = await visit(t, program.url, { ...PHONE, javaScriptEnabled });
    const { page } = visited;
    await signIn(page, program);
    await page.goto(`${program.url}/account/documents`);
    const filters = page.locator('.filters');
    t.false(await filters.isVisible());
    const row = await page.locator('tbody tr').first().boundingBox();
    t.true((row?.y ?? 844) < 320, `the first document begins at ${row?.y}`);
    await page.getByText('Filters', { exact: true }).press('Enter');
    await filters.waitFor();
    if (javaScriptEnabled) await assertAccessible(t, page, 'open filters');
    await page.getByLabel('Status').selectOption('Concluded');
    await page.getByRole('button', { name: 'Show' }).press('Enter');
    await page.getByText('No document matches.').waitFor();
    await page.getByRole('link', { name: 'Remove the filter Concluded' }).click();
    await page.locator('tbody tr').first().waitFor();
  }
});
