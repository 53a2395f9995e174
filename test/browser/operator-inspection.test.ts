/** The operator pages about actors, threads, documents, webhooks, certificates and failures, in a browser. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { logIn, type SharedService, shareService, toast, visit } from './browser.ts';

const test = withTools(anyTest as TestFn<SharedService>, 'chromium');
shareService(test);

async function assertFits(t: ExecutionContext, page: Page, what: string): Promise<void> {
  const isTooWide = await page.evaluate(
    'document.documentElement.scrollWidth > document.documentElement.clientWidth',
  );
  t.false(isTooWide, `${what} is wider than the screen`);
}

// The list is empty, and the next test counts: these two come first.
test.serial('a page requests data again only after a change, and never while it is hidden', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page, requests } = visited;
  await logIn(page, `${service.url}/jobs`, await service.key());
  await page.getByText('No job fits.').waitFor();
  const waits = () => requests.filter((request) => request.includes('/api/changes')).length;
  const lists = () => requests.filter((request) => request.includes('/api/jobs?')).length;
  // The first wait is answered at once, since the page knows no version.
  await service.until('the page to wait for a change', async () => (waits() >= 2 ? true : undefined));
  const before = lists();
  await service.upload('early.txt', 'hello');
  await page.getByRole('link', { name: 'early.txt' }).waitFor();
  t.true(lists() > before);
  t.true(lists() <= waits() + 1, 'each list but the first follows a wait');
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { value: true }); document.dispatchEvent(new Event('visibilitychange'))`,
  );
  const hidden = requests.length;
  await service.upload('later.txt', 'hello');
  await service.idle();
  await page.waitForTimeout(1000);
  t.is(requests.length, hidden);
});

test.serial('an operator opens a failed job from the kinds, with the path it took', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  const { jobId } = await service.upload('broken.pdf', 'this is no PDF');
  await service.finished(jobId);
  await logIn(page, `${service.url}/actors`, await service.key());
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'job', exact: true }) });
  await row.getByRole('link', { name: 'Failed 1' }).click();
  await page.getByRole('link', { name: jobId }).waitFor();
  t.is(await page.getByLabel('State').inputValue(), 'Failed');
  await page.getByLabel('Id begins with').fill('no such id');
  await page.keyboard.press('Enter');
  await page.getByText('No actor fits.').waitFor();
  await page.getByLabel('Id begins with').fill('');
  await page.getByLabel('Name or id contains').fill('BROKEN');
  await page.keyboard.press('Enter');
  await page.getByText('1 actor on this page, 1 searched').waitFor();
  await page.getByLabel('Name or id contains').fill('');
  await page.getByLabel('Id begins with').fill(jobId.slice(0, 8));
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: jobId }).click();
  const picture = page.getByRole('img', { name: /State machine of job/ });
  await picture.waitFor();
  t.regex((await picture.getAttribute('aria-label')) ?? '', /Queued, then Processing, then Failed/);
  t.is(await picture.locator('.current text').textContent(), 'Failed');
  t.is(await picture.locator('.edge.taken').count(), 2);
  await page.getByText('As text').click();
  await page.getByText('CLAIM to Processing').first().waitFor();
  await page.getByText('Show', { exact: true }).click();
  await page.getByText('"errorCode": "pdf.malformed"').waitFor();
});

test.serial(
  'a button opens the navigation on a narrow screen, by keyboard and without a script',
  async (t) => {
    const { service } = t.context;
    const key = await service.key();
    for (const javaScriptEnabled of [true, false]) {
      const visited = await visit(t, service.url, {
        viewport: { width: 320, height: 640 },
        javaScriptEnabled,
      });
      const { page } = visited;
      await logIn(page, service.url, key);
      await page.goto(`${service.url}/jobs`);
      const jobs = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Jobs' });
      t.false(await jobs.isVisible());
      const bar = await page.locator('.side').boundingBox();
      t.true((bar?.height ?? 640) < 160, `the bar is ${bar?.height} px high`);
      await page.locator('.menu summary').press('Enter');
      await jobs.waitFor();
      t.is(await jobs.getAttribute('aria-current'), 'page');
      if (javaScriptEnabled) await assertAccessible(t, page, 'open navigation');
      await assertFits(t, page, 'open navigation');
      await page.keyboard.press('Tab');
      t.is(await page.evaluate('document.activeElement.textContent'), 'Overview');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      await page.setViewportSize({ width: 1280, height: 800 });
      t.true(await jobs.isVisible());
      t.false(await page.locator('.menu').isVisible());
    }
  },
);

test.serial('times are shown in UTC or as a distance on each page, as chosen', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  const { jobId } = await service.upload('good.txt', 'hello');
  await service.finished(jobId);
  await logIn(page, `${service.url}/jobs`, await service.key());
  const time = page.locator('#rows time').first();
  // A choice counts only after the script of the page has started.
  await time.waitFor();
  await page.getByLabel('Times').selectOption('utc');
  await page.locator('#rows time', { hasText: / UTC$/ }).first().waitFor();
  await page.getByLabel('Times').selectOption('relative');
  t.regex((await time.textContent()) ?? '', /now|seconds? ago/);
  await page.goto(`${service.url}/jobs/${jobId}`);
  await page.locator('#timeline time').first().waitFor();
  t.regex((await page.locator('#timeline time').first().textContent()) ?? '', /now|seconds? ago/);
  await page
    .locator('#timeline')
    .getByText(/ for \d+ ms| for \d+ s/)
    .first()
    .waitFor();
});

test.serial(
  'failures are grouped by cause, and all jobs of a cause are retried after a display of their number',
  async (t) => {
    const { service } = t.context;
    const visited = await visit(t, service.url);
    const { page } = visited;
    for (const name of ['one.pdf', 'two.pdf', 'three.pdf'])
      await service.finished((await service.upload(name, 'this is no PDF')).jobId);
    const { examined: before } = await service.json<{ examined: number }>('/api/failures');
    await logIn(page, `${service.url}/failures`, await service.key());
    const group = page.getByRole('region', { name: 'pdf.malformed' });
    await group.getByRole('heading', { name: `${before} jobs failed: The PDF is damaged.` }).waitFor();
    await group.getByText('Save it again with a PDF program.').waitFor();
    await group.getByRole('button', { name: 'Retry all of them' }).click();
    await page.getByRole('heading', { name: `Retry ${before} jobs?` }).waitFor();
    await page.getByLabel('Reason').fill('Tried again');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Retry ${before} jobs` })
      .click();
    await page.getByText(`${before} of ${before} done, 0 skipped. Completed.`).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await group.getByRole('heading', { name: `${2 * before} jobs failed: The PDF is damaged.` }).waitFor();
    t.is((await service.json<{ examined: number }>('/api/failures')).examined, 2 * before);
  },
);

test.serial(
  'all waiting jobs of a filtered list are canceled, and an id in the search opens its job',
  async (t) => {
    const { service } = t.context;
    const visited = await visit(t, service.url);
    const { page } = visited;
    await service.fetch('/api/pipeline/pause', { method: 'POST' });
    t.teardown(() => service.fetch('/api/pipeline/resume', { method: 'POST' }).then(() => undefined));
    const { jobId } = await service.upload('first.txt', 'hello');
    await service.upload('second.txt', 'hello');
    const { jobId: other } = await service.upload('other.txt', 'hello');
    await logIn(page, `${service.url}/jobs?fileName=s`, await service.key());
    await page.getByText('2 jobs, page 1 of 1').waitFor();
    await page.getByLabel('Actions on the whole list').click();
    await page.getByRole('button', { name: 'Cancel all waiting jobs' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel 2 jobs' }).click();
    await page.getByText('2 of 2 done, 0 skipped. Completed.').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    t.is((await service.job(jobId)).status, 'Canceled');
    t.is((await service.job(other)).status, 'Queued');
    await page.getByLabel('File name contains, or id').fill(other);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'other.txt' }).waitFor();
    t.is(new URL(page.url()).pathname, `/jobs/${other}`);
    await toast(page, 'page.fault').waitFor({ state: 'detached' });
  },
);

test.serial('the page of the threads shows how busy each one is', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  await logIn(page, `${service.url}/runtime`, await service.key());
  const main = page.locator('.tile', { hasText: 'Main thread busy' }).locator('b');
  await main.waitFor();
  t.regex((await main.textContent()) ?? '', /^\d{1,3} %$/);
  const { shards } = await service.json<{ shards: readonly unknown[] }>('/api/runtime');
  const busy = await page.locator('#shards td:nth-child(2)').allTextContents();
  t.is(busy.length, shards.length);
  for (const share of busy) t.regex(share, /^\d{1,3} %$/);
});
