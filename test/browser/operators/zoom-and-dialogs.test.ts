/** The operator pages at 200 % zoom, with open dialogs, and the pages beside them: login and validation. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible, assertColours } from '../axe.ts';
import { logIn, OUT_OF_REACH, type SharedService, shareService, toast, visit } from '../browser.ts';

const test = withTools(anyTest as TestFn<SharedService>, 'chromium');
let jobId = '';
shareService(test, { 'Portal:Enabled': true }, async (service) => {
  ({ jobId } = await service.upload(`a-name-that-is-long-${'x'.repeat(80)}.pdf`, 'this is no PDF'));
  await service.finished(jobId);
});

/** A desktop screen of 1280 × 800 at 200 % zoom, as in the tests of the sender's pages. */
const ZOOMED = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2, locale: 'en-US' } as const;

async function assertWhole(t: ExecutionContext, page: Page, what: string): Promise<void> {
  t.deepEqual(await page.evaluate(OUT_OF_REACH), [], what);
  t.true(
    await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    `${what} scrolls sideways`,
  );
}

/** Checks an open dialog in both colour schemes, and that it fits. */
async function assertDialog(t: ExecutionContext, page: Page, what: string): Promise<void> {
  await page.getByRole('dialog').waitFor();
  await page.emulateMedia({ colorScheme: 'light' });
  await assertAccessible(t, page, what);
  await page.emulateMedia({ colorScheme: 'dark' });
  await assertColours(t, page, `${what}, dark`);
  const box = await page.getByRole('dialog').boundingBox();
  t.true(box !== null && box.x >= 0 && box.x + box.width <= 640, `${what}: ${JSON.stringify(box)}`);
  await assertWhole(t, page, what);
}

/** Returns the id of the element with the focus after the dialog has returned it: a closed dialog loses its role before. */
async function focused(page: Page): Promise<string> {
  await page.locator('dialog').waitFor({ state: 'detached' });
  return page.evaluate<string>('document.activeElement.id');
}

test.serial('each operator page fits at 200 % zoom, and nothing is cut off', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url, ZOOMED);
  const { page } = visited;
  await page.goto(`${service.url}/login`);
  await assertWhole(t, page, '/login');
  await logIn(page, service.url, await service.key());
  for (const path of [
    '/',
    '/jobs',
    `/jobs/${jobId}`,
    '/failures',
    '/input',
    '/mails',
    '/documents',
    '/webhooks',
    '/actors',
    '/actors?kind=job',
    `/actors/job/${jobId}`,
    '/certificates',
    '/runtime',
    '/system',
  ]) {
    await page.goto(`${service.url}${path}`);
    await page.locator('main[data-refreshed]').waitFor();
    await assertWhole(t, page, path);
  }
  for (const path of ['/validate', '/scalar/v1', '/nothing/here']) {
    await page.goto(`${service.url}${path}`);
    await assertWhole(t, page, path);
  }
});

test.serial('the login page and the validation page are accessible in each state', async (t) => {
  const { service } = t.context;
  for (const options of [
    { viewport: { width: 1280, height: 800 } },
    { viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  ] as const) {
    const visited = await visit(t, service.url, { ...options, locale: 'en-US' });
    const { page } = visited;
    const size = `${options.viewport.width} px`;
    await page.goto(`${service.url}/validate`);
    await assertAccessible(t, page, `login, ${size}`);
    await page.getByLabel('API key').fill('not-the-key-at-all');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await assertAccessible(t, page, `refused login, ${size}`);
    await logIn(page, `${service.url}/validate`, await service.key());
    await assertAccessible(t, page, `validation, ${size}`);
    const { jobId } = await service.upload('signed.txt', 'hello');
    await service.finished(jobId);
    const output = await service.fetch(`/api/jobs/${jobId}/output`);
    const buffer = Buffer.from(await output.arrayBuffer());
    const file = page.getByLabel('Signed file');
    await file.setInputFiles({ name: 'signed.p7m', mimeType: 'application/pkcs7-mime', buffer });
    await page.getByRole('button', { name: 'Validate' }).press('Enter');
    await page.getByRole('link', { name: 'Validate another file' }).waitFor();
    await assertAccessible(t, page, `report, ${size}`);
    for (const details of await page.locator('main details summary').all()) await details.press('Enter');
    await assertAccessible(t, page, `whole report, ${size}`);
  }
});

test.serial('each dialog is accessible while it is open, and fits at 200 % zoom', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url, ZOOMED);
  const { page } = visited;
  t.teardown(() => service.fetch('/api/pipeline/resume', { method: 'POST' }).then(() => undefined));
  const back = () => page.getByRole('dialog').getByRole('button', { name: 'Back' }).press('Enter');
  await logIn(page, `${service.url}/system`, await service.key());
  await page.getByRole('button', { name: 'Pause' }).press('Enter');
  await assertDialog(t, page, 'pause');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).press('Enter');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  t.is(await focused(page), 'toggle');

  const { jobId } = await service.upload('waits.txt', 'hello');
  await page.goto(`${service.url}/jobs/${jobId}`);
  await page.locator('main[data-refreshed]').waitFor();
  await page.getByRole('button', { name: 'Cancel' }).press('Enter');
  await assertDialog(t, page, 'cancel');
  await page.keyboard.press('Escape');
  t.is(await focused(page), 'cancel');

  await page.goto(`${service.url}/jobs`);
  await page.getByText(/^\d+ jobs, page 1 of 1$/).waitFor();
  await page.getByLabel('Actions on the whole list').press('Enter');
  await page.getByRole('button', { name: 'Cancel all waiting jobs' }).press('Enter');
  await assertDialog(t, page, 'cancel many');
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel 1 job' }).press('Enter');
  await page.getByText('1 of 1 done, 0 skipped. Completed.').waitFor();
  await assertDialog(t, page, 'progress of a cancellation');
  await page.getByRole('button', { name: 'Close' }).press('Enter');
  await focused(page);
  // The menu has closed; its button has the focus.
  t.is(await page.evaluate<string>('document.activeElement.ariaLabel'), 'Actions on the whole list');

  await page.goto(`${service.url}/webhooks`);
  await page.locator('main[data-refreshed]').waitFor();
  await page.getByRole('button', { name: 'Send all failed ones again' }).press('Enter');
  await assertDialog(t, page, 'send again');
  await back();
  t.is(await focused(page), 'replay');

  await page.goto(`${service.url}/failures`);
  await page.locator('main[data-refreshed]').waitFor();
  await page.getByRole('button', { name: 'Retry all of them' }).press('Enter');
  await assertDialog(t, page, 'retry many');
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Retry \d+ jobs?$/ })
    .press('Enter');
  await page.getByText(/^(\d+) of \1 done, 0 skipped\. Completed\.$/).waitFor();
  await assertDialog(t, page, 'progress of a retry');
  await page.getByRole('button', { name: 'Close' }).press('Enter');
  t.is(await focused(page), 'retry-pdf.malformed');
});

test.serial(
  'a refresh behind a dialog keeps the pressed button, which the closed dialog returns the focus to',
  async (t) => {
    const { service } = t.context;
    const visited = await visit(t, service.url, { locale: 'en-US' });
    const { page } = visited;
    await logIn(page, `${service.url}/failures`, await service.key());
    const retry = page.getByRole('button', { name: 'Retry all of them' });
    await retry.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.evaluate(`window.pressed = document.getElementById('retry-pdf.malformed')`);
    const { examined } = await service.json<{ examined: number }>('/api/failures');
    const { jobId } = await service.upload('one-more.pdf', 'this is no PDF');
    await service.finished(jobId);
    await page.locator('#total', { hasText: `${examined + 1} failed jobs` }).waitFor();
    t.true(await page.evaluate('pressed.isConnected'), 'a refresh replaces the button');
    await page.getByRole('dialog').getByRole('button', { name: 'Back' }).press('Enter');
    t.is(await focused(page), 'retry-pdf.malformed');
    t.is(await toast(page, 'page.fault').count(), 0);

    // Without such a button the focus goes to the content of the page. No refresh brings the button back.
    await new Promise<void>((resolve) => void page.route('**/api/changes*', () => resolve()));
    await retry.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.evaluate(`document.getElementById('retry-pdf.malformed').remove()`);
    await page.keyboard.press('Escape');
    await page.locator('dialog').waitFor({ state: 'detached' });
    t.is(await focused(page), 'main');
  },
);

test.serial(
  'the filters of a phone are folded, opened by keyboard, and open in a filtered view',
  async (t) => {
    const { service } = t.context;
    const visited = await visit(t, service.url, { viewport: { width: 390, height: 844 }, locale: 'en-US' });
    const { page } = visited;
    await logIn(page, service.url, await service.key());
    for (const [path, filtered] of [
      ['/jobs', '/jobs?status=Failed'],
      ['/actors?kind=job', '/actors?kind=job&state=Failed'],
      ['/documents', '/documents?state=Pending'],
    ] as const) {
      await page.goto(`${service.url}${path}`);
      await page.locator('main[data-refreshed]').waitFor();
      const filters = page.locator('#filters');
      t.false(await filters.isVisible(), path);
      const table = await page.locator('.scroll:has(#rows)').boundingBox();
      t.true((table?.y ?? 844) < 700, `${path}: the list begins at ${table?.y}`);
      await page.getByText('Filters', { exact: true }).press('Enter');
      await filters.waitFor();
      await assertAccessible(t, page, `${path}, open filters`);
      await page.goto(`${service.url}${filtered}`);
      await filters.waitFor();
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${service.url}${path}`);
      await filters.waitFor();
      t.false(await page.getByText('Filters', { exact: true }).isVisible());
      await page.setViewportSize({ width: 390, height: 844 });
    }
  },
);
