import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { logIn, type SharedService, shareService, toast, visit } from './browser.ts';

const test = withTools(anyTest as TestFn<SharedService>, 'chromium');
shareService(test);

test.serial(
  'an operator logs in with the key, gets an error for a wrong one, and has no access after logout',
  async (t) => {
    const { service } = t.context;
    const visited = await visit(t, service.url);
    const { page } = visited;
    await page.goto(`${service.url}/jobs?status=Failed`);
    t.is(new URL(page.url()).pathname, '/login');
    await page.getByLabel('API key').fill('not-the-key-at-all');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await page.getByLabel('API key').fill(await service.key());
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Jobs' }).waitFor();
    t.is(new URL(page.url()).search, '?status=Failed', 'the page that was asked for is forgotten');
    // The filters are set before the list is read.
    await page.getByText('No job fits.').waitFor();
    await page.getByText('More filters: 1').click();
    t.true(await page.getByLabel('Failed').isChecked());
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    await page.goto(`${service.url}/`);
    t.is(new URL(page.url()).pathname, '/login');
  },
);

test.serial('an operator pauses, finds a job, cancels it with a reason, and resumes', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page, requests } = visited;
  await logIn(page, `${service.url}/system`, await service.key());
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByLabel('Reason').fill('Lunch');
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await toast(page, 'ok').waitFor();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  t.like(await service.json('/api/pipeline/state'), { paused: true, reason: 'Lunch' });

  const { jobId } = await service.upload('contract <b>1.txt', 'hello');
  await page.getByRole('link', { name: 'Jobs' }).click();
  await page.getByRole('link', { name: 'contract <b>1.txt' }).click();
  await page.getByRole('heading', { name: 'contract <b>1.txt' }).waitFor();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByLabel('Reason').fill('Wrong file');
  await page.keyboard.press('Enter');
  await toast(page, 'ok').waitFor();
  await page.getByText('Operator canceled: Wrong file.').waitFor();
  t.is((await service.job(jobId)).status, 'Canceled');
  t.false(await page.getByRole('button', { name: 'Cancel' }).isVisible());
  t.is(await page.evaluate('document.activeElement.id'), 'main', 'a hidden button keeps the focus');
  await page.locator('main[data-live="false"]').waitFor();
  const before = requests.length;
  await page.waitForTimeout(1500);
  t.is(requests.length, before, 'a page goes on asking about a job that has ended');

  await page.getByRole('link', { name: 'System' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  t.like(await service.json('/api/pipeline/state'), { paused: false });
});

test.serial('an administrator makes a key, takes its secret and revokes it', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  await logIn(page, `${service.url}/keys`, await service.key());
  await page.getByText('No key was made.').waitFor();
  await page.getByRole('button', { name: 'Make a key' }).click();
  await page.getByLabel('Name').fill('Not a name');
  await page.getByRole('button', { name: 'Make the key' }).click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Name').fill('billing');
  await assertAccessible(t, page, 'the form of a key');
  await page.getByRole('button', { name: 'Make the key' }).click();
  const secret = (await page.locator('#secret').textContent()) ?? '';
  const status = async () =>
    (await fetch(`${service.url}/api/jobs`, { headers: { 'X-API-Key': secret } })).status;
  t.is(await status(), 200);
  await page.getByRole('button', { name: 'I have it' }).click();
  await page.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
  await page.getByText('No key was made.').waitFor();
  t.is(await status(), 401);
});

test.serial('an open page shows changes, and the code of a refusal', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  await service.fetch('/api/pipeline/pause', { method: 'POST' });
  const { jobId } = await service.upload('late.txt', 'hello');
  await logIn(page, `${service.url}/jobs/${jobId}`, await service.key());
  const cancel = page.getByRole('button', { name: 'Cancel' });
  await cancel.click();
  // Another operator acts first.
  await service.fetch(`/api/jobs/${jobId}/cancel`, { method: 'POST' });
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
  await toast(page, 'job.not-queued').waitFor();
  await page.getByText('Operator canceled.').waitFor();

  await page.goto(`${service.url}/`);
  await page.getByText('Paused').waitFor();
  await service.fetch('/api/pipeline/resume', { method: 'POST' });
  await page.getByText('Running').waitFor();
  const { jobId: other } = await service.upload('signed.txt', 'hello');
  await service.finished(other);
  await page.getByRole('row', { name: /signed\.txt Completed/ }).waitFor();
  await page.getByRole('link', { name: 'signed.txt' }).focus();
  await service.upload('next.txt', 'hello');
  await page.getByRole('link', { name: 'next.txt' }).waitFor();
  t.is(await page.evaluate('document.activeElement.textContent'), 'signed.txt', 'a refresh keeps the focus');
  await page.getByRole('img', { name: /^Jobs by the time of their end: \d+ completed/ }).waitFor();
  // The navigation counts what failed.
  const failures = page.getByRole('navigation').getByRole('link', { name: /^Failures/ });
  t.is(await failures.locator('.count').count(), 0);
  await service.upload('broken.pdf', 'this is no PDF');
  await failures.and(page.getByRole('link', { name: 'Failures 1 failed' })).waitFor();
  await page.goto(`${service.url}/jobs/nobody`);
  await toast(page, 'job.not-found').waitFor();
  t.is(await page.locator('main').getAttribute('data-live'), 'false');
});

test.serial(
  'an operator finds jobs by a key, retries a selection, and sees the result of each row',
  async (t) => {
    const { service } = t.context;
    const visited = await visit(t, service.url);
    const { page, requests } = visited;
    const { jobId } = await service.upload('chosen-broken.pdf', 'this is no PDF');
    await service.finished(jobId);
    const { jobId: good } = await service.upload('chosen-good.txt', 'hello');
    await service.finished(good);
    await logIn(page, `${service.url}/jobs?fileName=chosen`, await service.key());
    await page.getByRole('link', { name: 'chosen-broken.pdf' }).waitFor();
    // Keys go through the rows; a selection ends with the list that it was made in.
    await page.getByRole('region', { name: 'Jobs' }).press('j');
    await page.keyboard.press('j');
    await page.getByRole('link', { name: 'chosen-broken.pdf' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('x');
    await page.getByRole('button', { name: 'Retry 1 job' }).waitFor();
    await page.getByText('More filters').click();
    await page.getByLabel('Completed').check();
    await page.getByRole('button', { name: 'Retry 1 job' }).waitFor({ state: 'hidden' });
    await page.getByLabel('Completed').uncheck();
    await page.keyboard.press('Escape');
    t.false(await page.getByRole('checkbox', { name: 'Select chosen-broken.pdf' }).isChecked());
    await page.getByLabel('Select all of this page').check();
    await page.getByRole('button', { name: 'Retry 2 jobs' }).click();
    await page.getByRole('status').getByText('1 done, 1 refused').waitFor();
    const row = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('checkbox', { name: `Select ${name}` }) });
    await row('chosen-good.txt').getByText('Only a failed job can be retried.').waitFor();
    const retried = row('chosen-broken.pdf').getByRole('link', { name: 'retried' });
    await retried.waitFor();
    const made = (await retried.getAttribute('href'))?.split('/').at(-1) ?? '';
    t.like(await service.json(`/api/jobs/${made}`), { parentJobId: jobId });
    await assertAccessible(t, page, 'results of a selection');
    const focused = () => page.evaluate<string>('document.activeElement.id');
    t.is(await focused(), 'retry-selected', 'the action took the focus away');
    await sortAndPeek(t, page);
    await page.getByRole('button', { name: 'Clear the selection' }).press('Enter');
    t.is(await focused(), 'main', 'the button is hidden with its bar');

    // A refresh leaves what is typed as it is.
    const name = page.getByLabel('File name contains, or id');
    await name.fill('');
    await name.pressSequentially('broken ');
    await page.waitForURL((url) => url.searchParams.get('fileName') === 'broken ');
    await page.getByText('No job fits.').waitFor();
    t.is(await name.inputValue(), 'broken ');
    await page.getByText('More filters').click();
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.goto(`${service.url}/jobs?status=Failed&page=2`);
    await page
      .getByRole('navigation', { name: 'Views' })
      .getByRole('link', { name: /^Failed/ })
      .and(page.locator('[aria-current]'))
      .waitFor();

    await page.goto(`${service.url}/jobs?status=Completed`);
    await page.getByLabel('Actions on the whole list').click();
    await page.getByRole('button', { name: 'Retry all failed jobs of this list' }).click();
    await toast(page, 'ok').filter({ hasText: 'There is no job to retry in this list.' }).waitFor();
    await page.goto(`${service.url}/jobs?createdFrom=never`);
    await page
      .locator('main code')
      .filter({ hasText: /^validation\./ })
      .waitFor();

    await page.locator('main').focus();
    await page.keyboard.press('/');
    await page.keyboard.type('good');
    await page.getByRole('option', { name: /good\.txt/ }).waitFor();
    await assertAccessible(t, page, 'found');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'chosen-good.txt' }).waitFor();
    await page.locator('#find').fill(`job ${good.slice(0, 8)}`);
    await page.getByRole('option', { name: `job ${good}` }).waitFor();

    await page.goto(`${service.url}/`);
    await page.getByRole('img', { name: /^Jobs by the time of their end: [1-9]\d* completed/ }).waitFor();
    await shownOverview(page);
    await page.getByLabel('Time range').selectOption('7d');
    await page.getByText('Completed, 7 d').waitFor();
    t.is(new URL(page.url()).search, '?window=7d');
    const scripts = requests.filter((request) => /\/assets\/\w[\w-]*\.js$/.test(request));
    for (const script of new Set(scripts)) {
      const answer = await page.request.get(script.replace('GET ', ''));
      t.true((await answer.body()).length < 150_000, script);
    }
  },
);

/** Failures are told in words for people, and the chart says its values under the pointer. */
async function shownOverview(page: Page): Promise<void> {
  const attention = page.getByRole('region', { name: 'Needs attention' });
  await attention.getByText(/^\d+ jobs? failed: The PDF is damaged\.$/).waitFor();
  const engine = attention.getByText(/This is no PDF/);
  await engine.waitFor({ state: 'hidden' });
  await attention.getByText('Details').press('Enter');
  await engine.waitFor();
  const slot = page.locator('.chart').first().locator('.slot').last();
  await slot.locator('rect').hover();
  await slot.getByText(/^\d\d:\d\d: \d+ completed, \d+ failed$/).waitFor();
  // Times of one interval are points, which are seen.
  await page.locator('#latency .points[d^="M"]').first().waitFor({ state: 'attached' });
}

/** The list begins high, sorts, shows chosen columns, and a job beside it. */
async function sortAndPeek(t: ExecutionContext<SharedService>, page: Page): Promise<void> {
  const bar = page.getByRole('region', { name: 'Selected jobs' });
  await bar.waitFor();
  const names = async () => [
    ...new Set(await page.locator('#rows [data-head="File"] > a:first-child').allTextContents()),
  ];
  const size = page.getByRole('button', { name: 'Size', exact: true });
  await size.click();
  t.deepEqual(await names(), ['chosen-good.txt', 'chosen-broken.pdf']);
  await size.press('Enter');
  t.deepEqual(await names(), ['chosen-broken.pdf', 'chosen-good.txt']);
  t.is(await page.locator('th[aria-sort="descending"]').textContent(), 'Size');
  t.is(new URL(page.url()).searchParams.get('sort'), '-size');
  const failed = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: /^Failed/ });
  t.is(await failed.getAttribute('href'), '/jobs?status=Failed&sort=-size', 'views keep it');
  await page.getByText('Columns', { exact: true }).click();
  await page.getByLabel('Format').last().check();
  await page.keyboard.press('Escape');
  const broken = page.getByRole('row').filter({ hasText: 'chosen-broken.pdf' }).first();
  await broken.getByText('PAdES', { exact: true }).waitFor();
  await broken.getByText('14 B').waitFor();
  await broken.getByText('This is no PDF').waitFor();
  const link = page.getByRole('link', { name: 'chosen-broken.pdf' }).first();
  await link.press('Enter');
  const peek = page.getByRole('dialog', { name: 'chosen-broken.pdf' });
  await peek.getByText('Claimed by worker.').waitFor();
  await assertAccessible(t, page, 'a job beside its list');
  await page.keyboard.press('Escape');
  await link.and(page.locator(':focus')).waitFor();
  await page.evaluate('scrollTo(0, 0)');
  const { y = 999 } = (await page.locator('#rows tr').first().boundingBox()) ?? {};
  t.true(y <= 220, `the first row begins at ${y}`);
}

test.serial('a chart is drawn when its data come, and not with each second of the clock', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  // No change arrives: only the page's own clock goes on.
  await page.route('**/api/changes*', () => {});
  await page.clock.install();
  const { jobId } = await service.upload('first.txt', 'hello');
  await service.finished(jobId);
  await logIn(page, service.url, await service.key());
  const time = page.getByRole('row', { name: /first\.txt/ }).locator('time');
  await time.waitFor();
  await page.evaluate(`window.made = 0;
    const { DateTimeFormat } = Intl;
    Intl.DateTimeFormat = function (...given) { window.made += 1; return new DateTimeFormat(...given); };`);
  await page.clock.fastForward('05:00');
  await time.filter({ hasText: /^5 minutes ago$/ }).waitFor();
  t.is(await page.evaluate('made'), 0);
});

test.serial('a page says that the connection is lost, keeps its data, and goes on by itself', async (t) => {
  const { service } = t.context;
  // The clock of this browser is half an hour late; distances follow the service's.
  const visited = await visit(t, service.url);
  const { page } = visited;
  await page.clock.install({ time: Date.now() - 30 * 60_000 });
  const { jobId } = await service.upload('kept.txt', 'hello');
  await service.finished(jobId);
  await logIn(page, `${service.url}/jobs`, await service.key());
  const time = page.getByRole('row', { name: /kept\.txt/ }).locator('time');
  await time.filter({ hasText: /^(now|\d+ seconds? ago)$/ }).waitFor();
  t.regex((await time.getAttribute('title')) ?? '', /^\d{1,2} \w+ \d{4}(,| at) \d\d:\d\d:\d\d \S+/);
  await page.route('**/api/**', (route) => route.abort());
  const lost = page.getByRole('status').getByText('What is shown may be old');
  await lost.waitFor();
  await page.getByRole('link', { name: 'kept.txt' }).waitFor();
  await page.unroute('**/api/**');
  await service.upload('second.txt', 'hello');
  await page.getByRole('link', { name: 'second.txt' }).waitFor();
  await lost.waitFor({ state: 'hidden' });
});
