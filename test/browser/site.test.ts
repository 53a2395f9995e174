/** The site of the documents in a browser: accessible in both themes, with its search and copy buttons by keyboard. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ava from 'ava';
import { temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible, assertColours } from './axe.ts';
import { closeBrowser, visit } from './browser.ts';

const test = withTools(ava, 'chromium');
const ends: (() => unknown)[] = [];
let site = '';

test.before(async (t) => {
  site = await temporaryRoot({ teardown: (end) => void ends.push(end) });
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build-site.mjs', site], {
    encoding: 'utf8',
  });
  t.is(status, 0, stderr);
});
test.after.always(async () => {
  await closeBrowser();
  for (const end of ends.reverse()) await end();
});

const addressOf = (page: string) => pathToFileURL(join(site, page)).href;

/** Origin of files, to a browser. */
const FILES = 'null';

/** Pages with each kind of content: tables, code, pictures, lists, operations. */
const PAGES = [
  'index.html',
  'docs/comparison.html',
  'docs/architecture.html',
  'docs/templates.html',
  'docs/decisions/README.html',
  'bench/lessons.html',
  'api/portal.html',
  'api/portal-documents.html',
];

test.serial('pages of the site are accessible in light and dark, and fit a phone', async (t) => {
  const { page } = await visit(t, FILES, { viewport: { width: 1280, height: 800 } });
  for (const path of PAGES) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(addressOf(path));
    await assertAccessible(t, page, `${path}, light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await assertColours(t, page, `${path}, dark`);
    await page.setViewportSize({ width: 390, height: 844 });
    const tooWide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    t.is(await page.evaluate(tooWide), 0, `${path} on a phone`);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
});

test.serial('/ goes to the search, whose results are followed by keyboard, and code is copied', async (t) => {
  const { page } = await visit(t, FILES, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.goto(addressOf('index.html'));
  await page.keyboard.press('/');
  await page.keyboard.type('Portal:PublicUrl');
  const first = page.locator('#found a').first();
  await first.waitFor();
  await page.locator('#found-count', { hasText: /^\d+ found$/ }).waitFor();
  await page.keyboard.press('ArrowDown');
  await first.and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/configuration\.html/);
  await page.keyboard.press('/');
  await page.keyboard.type('no page says qwertzuiop');
  await page.getByText('Nothing found.').waitFor();
  await page.keyboard.press('Escape');
  t.is(await page.locator('#search').inputValue(), '');

  await page.goto(addressOf('docs/templates.html'));
  const block = page.locator('.code').first();
  const copy = block.getByRole('button', { name: 'Copy' });
  await copy.focus();
  await page.keyboard.press('Enter');
  await block.getByRole('button', { name: 'Copied' }).waitFor();
  t.is(await page.evaluate('navigator.clipboard.readText()'), await block.locator('pre').textContent());
});
