/** Nobody signs what was not shown: blocked, failing and slow content. Source: docs/decisions/0320-signed-as-read.md. */
import ava from 'ava';
import type { Route } from 'playwright-core';
import { withTools } from '../../verifiers/tool.ts';
import { closeBrowser, openSigning, openUnread, visit } from '../browser.ts';
import { startPagesServer } from '../pages-server.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

const CONTENT = '**/document/key/*/content*';
const PHONE = {
  locale: 'en-US',
  viewport: { width: 360, height: 640 },
  hasTouch: true,
  isMobile: true,
} as const;
const DESK = { locale: 'en-US', viewport: { width: 1280, height: 800 } } as const;

/** The worker of pdf.js asks for the file's headers long after the file was refused. */
const SLOW_WORKER = `{
  const listen = Worker.prototype.addEventListener;
  Worker.prototype.addEventListener = function (type, listener, ...others) {
    const late = (event) =>
      setTimeout(() => listener.call(this, event), event.data?.action === 'ReaderHeadersReady' ? 500 : 0);
    listen.call(this, type, type === 'message' ? late : listener, ...others);
  };
}`;

for (const [what, failing, shape] of [
  ['is blocked, on a desktop screen', (route: Route) => route.abort(), DESK],
  ['is answered with 503, on a phone', (route: Route) => route.fulfill({ status: 503 }), PHONE],
] as const) {
  test.serial(
    `a document whose content ${what} is signed only after it was declared to be read`,
    async (t) => {
      const site = await startPagesServer(t);
      const visited = await visit(t, site.url, shape);
      const { page } = visited;
      await page.route(CONTENT, failing);
      await page.addInitScript(SLOW_WORKER);
      await page.goto(`${site.url}${site.signPath}`);
      await page.getByText('The document could not be shown.').waitFor();
      await openUnread(page);
      const sign = page.getByRole('button', { name: 'Sign the document' });
      t.true(await sign.isDisabled());
      await page.getByLabel('Your full name').fill('Ana');
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('The document has not been shown here yet.').waitFor();
      t.deepEqual(site.done, []);
      t.is(await page.locator('#unread a[download]').count(), 1);
      const tick = page.getByLabel('I have read the document.');
      await tick.focus();
      await page.keyboard.press('Space');
      await sign.click();
      await page.getByText('You signed the document.').waitFor();
      t.deepEqual(site.done[0]?.given['reading'], {
        pages: '',
        pageCount: 0,
        isDownloaded: false,
        isDeclared: true,
      });
      await page.context().close();
    },
  );
}

test.serial(
  'a document that comes slowly is signed once a page is drawn, with the pages that were seen',
  async (t) => {
    const site = await startPagesServer(t);
    const visited = await visit(t, site.url, PHONE);
    const { page } = visited;
    const held: Route[] = [];
    let isHeld = true;
    await page.route(CONTENT, async (route) => {
      if (isHeld) held.push(route);
      else await route.continue();
    });
    await page.goto(`${site.url}${site.signPath}`);
    await openUnread(page);
    const sign = page.getByRole('button', { name: 'Sign the document' });
    t.true(await sign.isDisabled());
    await page.getByLabel('Your full name').fill('Ana');
    await page.keyboard.press('Enter');
    const told = page.getByRole('status').getByText('The document has not been shown here yet.');
    await told.waitFor();
    isHeld = false;
    for (const route of held) await route.continue();
    await page.locator('#unread').waitFor({ state: 'hidden' });
    await told.waitFor({ state: 'detached' });
    t.deepEqual(site.done, [], 'an earlier press signs nothing');
    t.true(await sign.isEnabled());
    await sign.click();
    await page.getByText('You signed the document.').waitFor();
    t.like(site.done[0]?.given['reading'], { pageCount: 3, isDownloaded: false, isDeclared: false });
    t.regex(JSON.stringify(site.done[0]?.given['reading']), /"pages":"1(-2)?"/);
    await page.context().close();
  },
);

test.serial('an approval after all pages were seen says so', async (t) => {
  const site = await startPagesServer(t, { action: { type: 'Approver' } });
  const visited = await visit(t, site.url, DESK);
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  for (const number of [1, 2, 3]) {
    await page.locator(`.page[data-page="${number}"]`).scrollIntoViewIfNeeded();
    await page.locator(`#thumbnails [data-number="${number}"][data-seen]`).waitFor({ state: 'attached' });
  }
  await openSigning(page);
  await page.getByRole('button', { name: 'Approve the document' }).click();
  await page.getByText('You approved the document.').waitFor();
  t.deepEqual(site.done[0]?.given['reading'], {
    pages: '1-3',
    pageCount: 3,
    isDownloaded: false,
    isDeclared: false,
  });
});

test.serial(
  'where reading is required the buttons wait for the last page, or for a download that was declared to be read',
  async (t) => {
    const site = await startPagesServer(t, { document: { requireReading: true } });
    const visited = await visit(t, site.url, PHONE);
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await page.locator('.page[data-drawn]').first().waitFor();
    const sign = page.getByRole('button', { name: 'Sign the document' });
    await openUnread(page);
    await page.getByText('See every page of the document first').waitFor();
    await page.getByLabel('I have read the document.').check();
    t.true(await sign.isDisabled(), 'declared alone');
    const download = page.waitForEvent('download');
    await page.locator('#unread a').click();
    await (await download).cancel();
    t.true(await sign.isEnabled(), 'downloaded and declared');
    await page.getByLabel('I have read the document.').uncheck();
    t.true(await sign.isDisabled());
    await page.keyboard.press('Escape');
    for (const number of [1, 2, 3]) {
      await page.locator(`.page[data-page="${number}"]`).scrollIntoViewIfNeeded();
      await page.locator(`#thumbnails [data-number="${number}"][data-seen]`).waitFor({ state: 'attached' });
    }
    await openSigning(page);
    await sign.click();
    await page.getByText('You signed the document.').waitFor();
    t.like(site.done[0]?.given['reading'], { pages: '1-3', pageCount: 3, isDeclared: false });
  },
);
