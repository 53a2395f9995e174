import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { assertAccessible, assertAccessibleInThemes } from './axe.ts';
import { closeBrowser, logIn, startService, toast, visit } from './browser.ts';

test.after.always(() => closeBrowser());

/** Evaluates to the tables that scroll sideways. */
const SIDEWAYS = `[...document.querySelectorAll('.scroll:has(table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((table) => table.getAttribute('aria-label'))`;

test.serial('a failed job is retried and a finished one downloaded from its page', async (t) => {
  const service = await startService(t);
  const visited = await visit(t, service.url);
  if (visited === undefined) return;
  const { page } = visited;
  const { jobId } = await service.upload('broken.pdf', 'this is no PDF');
  await service.finished(jobId);
  const { jobId: alike } = await service.upload('also-broken.pdf', 'this is no PDF');
  await service.finished(alike);
  await logIn(page, `${service.url}/jobs/${jobId}`, await service.key());
  await page.getByRole('link', { name: '1 more with this cause' }).waitFor();
  t.regex((await page.locator('#timeline .clock').first().textContent()) ?? '', /^\d\d:\d\d:\d\d\.\d{3}$/);
  t.regex(
    (await page.locator('#timeline .clock').first().getAttribute('title')) ?? '',
    /(?:UTC|GMT|[A-Z]{3,4})/,
  );
  await page.getByRole('button', { name: 'Retry' }).click();
  await page.waitForURL((url) => url.pathname !== `/jobs/${jobId}`);
  await page.getByRole('link', { name: jobId }).waitFor();
  const { jobId: good } = await service.upload('good.txt', 'hello');
  const { outputFileName } = await service.finished(good);
  await page.goto(`${service.url}/jobs/${good}`);
  const coming = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Download' }).click();
  t.is((await coming).suggestedFilename(), outputFileName ?? '');
});

test.serial('folders are rescanned one by one and all together', async (t) => {
  const service = await startService(t);
  const visited = await visit(t, service.url);
  if (visited === undefined) return;
  const { page } = visited;
  await logIn(page, `${service.url}/input`, await service.key());
  await page.getByRole('heading', { name: 'default Running' }).waitFor();
  await page.getByRole('button', { name: 'Rescan this' }).click();
  await toast(page, 'ok').filter({ hasText: '0 scanned' }).waitFor();
  await page.getByRole('button', { name: 'Rescan all' }).click();
  await toast(page, 'ok').nth(1).waitFor();
  writeFileSync(join(service.root, 'input', 'broken.pdf'), 'this is no PDF');
  const facts = page.locator('.facts').filter({ hasText: 'Failed jobs1' }).first();
  await facts.getByRole('link', { name: '1', exact: true }).waitFor();
  t.regex((await facts.textContent()) ?? '', /Waiting jobs0/, 'failed jobs do not wait');
});

test.serial('every page works by keyboard and fits a phone', async (t) => {
  const service = await startService(t);
  const visited = await visit(t, service.url, {
    viewport: { width: 360, height: 640 },
    reducedMotion: 'reduce',
  });
  if (visited === undefined) return;
  const { page } = visited;
  const { jobId } = await service.upload(`a-name-that-is-long-${'x'.repeat(120)}.txt`, 'hello');
  await logIn(page, service.url, await service.key());
  const inspection = [
    '/failures',
    '/actors',
    `/actors/job/${jobId}`,
    '/runtime',
    '/webhooks',
    '/certificates',
    '/keys',
  ];
  for (const path of ['/', '/jobs', `/jobs/${jobId}`, '/input', '/system', '/scalar/v1', ...inspection]) {
    await page.goto(`${service.url}${path}`);
    if (path !== '/scalar/v1') await page.locator('main[data-refreshed]').waitFor();
    const { scroll, client } = await page.evaluate<{ scroll: number; client: number }>(
      '({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth })',
    );
    t.true(scroll <= client, `${path} is ${scroll} wide on a screen of ${client}`);
    t.deepEqual(await page.evaluate(SIDEWAYS), [], `tables of ${path}`);
    if (path === '/jobs') t.true(await page.getByLabel('Select all of this page').isVisible());
    await page.keyboard.press('Tab');
    t.is(await page.evaluate('document.activeElement.textContent'), 'Skip to the content', path);
    await page.keyboard.press('Enter');
    t.is(await page.evaluate('document.activeElement.id'), 'main', path);
    if (path !== '/scalar/v1') await assertAccessibleInThemes(t, page, path);
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test.serial(`the page of the components is accessible and comes to life (${colorScheme})`, async (t) => {
    const service = await startService(t);
    const visited = await visit(t, service.url, { colorScheme, reducedMotion: 'reduce' });
    if (visited === undefined) return;
    const { page } = visited;
    await logIn(page, `${service.url}/components`, await service.key());
    await page.locator('[data-island="toast"][data-live]').waitFor();
    await assertAccessible(t, page, 'components');
    await page.emulateMedia({ contrast: 'more' });
    await assertAccessible(t, page, 'components with more contrast');
    await page.emulateMedia({ contrast: null });
    await page.getByRole('tab', { name: 'Type' }).press('ArrowRight');
    await page.getByRole('tab', { name: 'Draw', selected: true }).and(page.locator(':focus')).waitFor();
    await page.getByRole('tabpanel').getByText('A drawing.').waitFor();
    await page.getByRole('button', { name: 'Any time', pressed: false }).click();
    await page.getByRole('button', { name: 'Any time', pressed: true }).waitFor();
    await page.getByRole('button', { name: 'Open a dialog' }).press('Enter');
    await page.getByRole('dialog', { name: 'Sign the document' }).waitFor();
    await assertAccessible(t, page, 'dialog');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Open a dialog' }).and(page.locator(':focus')).waitFor();
    await page.getByRole('button', { name: 'Show a toast' }).click();
    await page.getByRole('status').getByText('It is saved.').waitFor();
    await page.emulateMedia({ forcedColors: 'active' });
    const keys = await page
      .locator('.key')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one, '::before').borderTopColor));
    t.is(new Set(keys).size, 3, `the lines of a chart cannot be told apart: ${keys}`);
    // Letters come with the page, from its own service.
    t.true(await page.evaluate(`document.fonts.check('16px "Inter Variable"')`));
  });
}
