/** The operator pages: each of them, what is shown and done on some, validation, mails, and the reference of the API. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { contract, hiddenLook } from '../crypto/pades/validation/attack-files.ts';
import { pki } from '../pki/pki.ts';
import { temporaryRoot } from '../service/service.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible, assertAccessibleInThemes } from './axe.ts';
import { logIn, type SharedService, shareService, toast, visit } from './browser.ts';

const test = withTools(anyTest as TestFn<SharedService>, 'chromium');
const SECRET = '0123456789abcdef'.repeat(4);
shareService(test, {
  'Portal:Enabled': true,
  'Portal:Bootstrap:Application': 'tests',
  'Portal:Bootstrap:Secret': SECRET,
  'Signing:Trust:Roots:0': pki().rootFile,
  'Signing:Trust:Revocation': 'None',
});

/** Evaluates to the tables that scroll sideways. */
const SIDEWAYS = `[...document.querySelectorAll('.scroll:has(table)')]
  .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
  .map((table) => table.getAttribute('aria-label'))`;

// Counts all failed jobs: it comes first.
test.serial('folders are rescanned one by one and all together', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
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

test.serial('a failed job is retried and a finished one downloaded from its page', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  const { jobId } = await service.upload('broken.pdf', 'this is no PDF');
  await service.finished(jobId);
  const { jobId: alike } = await service.upload('also-broken.pdf', 'this is no PDF');
  await service.finished(alike);
  await logIn(page, `${service.url}/jobs/${jobId}`, await service.key());
  // The other one, and that of the input folder.
  await page.getByRole('link', { name: '2 more with this cause' }).waitFor();
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
  t.is(await page.locator('#warnings').count(), 0);
  const { jobId: odd } = await service.upload('odd.pdf', contract(hiddenLook));
  await service.finished(odd);
  await page.goto(`${service.url}/jobs/${odd}`);
  await page.locator('#warnings li', { hasText: 'The field Approval is hidden and has a look' }).waitFor();
});

/** With the colours that the system forces on a page. */
async function assertLinesAreApart(t: ExecutionContext, page: Page): Promise<void> {
  await page.locator('.key').nth(1).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, forcedColors: 'active' });
    const keys = await page
      .locator('.legend')
      .first()
      .locator('.key')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one, '::before').borderTopColor));
    t.true(keys.length > 1);
    t.is(new Set(keys).size, keys.length, `the lines of a chart cannot be told apart: ${keys}`);
  }
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
  // Letters come with the page, from its own service.
  t.true(
    await page.evaluate(`document.fonts.ready.then(() => document.fonts.check('16px "Inter Variable"'))`),
  );
}

test.serial('every page works by keyboard, fits a phone, and is accessible in each theme', async (t) => {
  const { service } = t.context;
  const phone = { width: 320, height: 640 };
  const visited = await visit(t, service.url, { viewport: phone, reducedMotion: 'reduce' });
  const { page } = visited;
  const { jobId } = await service.upload(`a-name-that-is-long-${'x'.repeat(120)}.pdf`, 'this is no PDF');
  await service.finished(jobId);
  await logIn(page, service.url, await service.key());
  for (const path of [
    '/',
    '/jobs',
    `/jobs/${jobId}`,
    '/input',
    '/system',
    '/mails',
    '/scalar/v1',
    '/failures',
    '/keys',
    '/actors',
    '/actors?kind=job',
    `/actors/job/${jobId}`,
    '/actors/pipeline/main',
    '/runtime',
    '/documents',
    '/webhooks',
    '/certificates',
  ]) {
    await page.goto(`${service.url}${path}`);
    if (path !== '/scalar/v1') await page.locator('main[data-refreshed]').waitFor();
    if (path === '/') await assertLinesAreApart(t, page);
    for (const width of [phone.width, 390, 1280]) {
      await page.setViewportSize({ ...phone, width });
      const { scroll, client } = await page.evaluate<{ scroll: number; client: number }>(
        '({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth })',
      );
      t.true(scroll <= client, `${path} is ${scroll} wide on a screen of ${client}`);
      if (width < 400) t.deepEqual(await page.evaluate(SIDEWAYS), [], `tables of ${path}`);
    }
    if (path !== '/scalar/v1') await assertAccessible(t, page, `${path} on a desktop screen`);
    await page.setViewportSize(phone);
    // The store is this one's alone.
    if (path === '/runtime')
      t.true(await page.getByRole('heading', { name: 'Nodes on the store' }).isHidden());
    if (path === '/jobs') t.true(await page.getByLabel('Select all of this page').isVisible());
    await page.keyboard.press('Tab');
    t.is(await page.evaluate('document.activeElement.textContent'), 'Skip to the content', path);
    await page.keyboard.press('Enter');
    t.is(await page.evaluate('document.activeElement.id'), 'main', path);
    if (path !== '/scalar/v1') await assertAccessibleInThemes(t, page, path);
    t.deepEqual(await page.locator('.toast').allTextContents(), [], path);
  }
});

test.serial(
  'an operator validates a detached signature with and without its content, by keyboard',
  async (t) => {
    const { service } = t.context;
    const root = await temporaryRoot(t);
    const visited = await visit(t, service.url);
    const { page } = visited;
    const input = join(root, 'order.txt');
    const output = join(root, 'order.p7s');
    writeFileSync(input, 'ten pieces');
    const signer = pki().signer('p-256');
    signFile({ format: 'Cades', input, output, signer, at: Date.now(), cades: { detached: true } });
    const signature = {
      name: 'order.p7s',
      mimeType: 'application/pkcs7-signature',
      buffer: readFileSync(output),
    };
    const contentOf = (text: string) => ({
      name: 'order.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    });

    await logIn(page, `${service.url}/validate`, await service.key());
    for (const [content, verdict] of [
      [undefined, 'Undecided (INDETERMINATE), Cades, 1 signature'],
      ['ten pieces', 'Valid (TOTAL-PASSED), Cades, 1 signature'],
      ['ten Pieces', 'Not valid (TOTAL-FAILED), Cades, 1 signature'],
    ] as const) {
      await page.getByLabel('Signed file').setInputFiles(signature);
      if (content !== undefined) await page.getByLabel('Signed content').setInputFiles(contentOf(content));
      await page.getByLabel('Signed file').focus();
      for (const next of ['content', 'certificates', 'password', 'Validate']) {
        await page.keyboard.press('Tab');
        t.is(await page.evaluate('document.activeElement.name || document.activeElement.textContent'), next);
      }
      await page.keyboard.press('Enter');
      const result = page.locator('main p[role="status"]');
      await result.waitFor();
      t.is(await result.textContent(), verdict);
      await page.getByRole('link', { name: 'Validate another file' }).click();
      await page.getByLabel('Signed content').waitFor();
    }
  },
);

test.serial(
  'an operator finds the mail to a participant, searches, reads it and opens its link',
  async (t) => {
    const { service } = t.context;
    const { portalUrl } = service;
    const call = async <Answer>(path: string, body: object): Promise<Answer> => {
      const answer = await fetch(`${portalUrl}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': `tests|${SECRET}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Answer;
    };
    const { id } = await call<{ id: string }>('/api/uploads/bytes', {
      bytes: Buffer.from('Hello').toString('base64'),
    });
    await call('/api/documents', {
      files: [{ displayName: 'Locação', id, name: 'hello.txt', contentType: 'text/plain' }],
      flowActions: [
        { type: 'Signer', user: { name: 'Ana', email: 'ana@example.com' }, allowElectronicSignature: true },
      ],
    });
    const visited = await visit(
      t,
      service.url,
      {
        viewport: { width: 360, height: 640 },
        colorScheme: 'dark',
      },
      { alsoAsks: [portalUrl] },
    );
    const { page } = visited;
    await logIn(page, `${service.url}/mails`, await service.key());
    const row = page.getByRole('row').filter({ hasText: 'ana@example.com' }).filter({ hasText: 'Sent' });
    await row.waitFor();
    await assertAccessible(t, page, 'mails');
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    );
    await page.goto(`${service.url}/documents`);
    await page.getByRole('img', { name: 'Documents, 1 created: 0 concluded, 0 refused' }).waitFor();
    await page.getByRole('img', { name: 'E-mails: 1 sent, 0 failed' }).waitFor();
    await page.goto(`${service.url}/certificates`);
    await page.getByRole('row', { name: /tests .*Default .*Valid .*never/ }).waitFor();
    await page.goto(`${service.url}/mails`);
    await page.getByLabel('Status').selectOption('Failed');
    await page.getByText('No e-mail fits.').waitFor();
    t.is(new URL(page.url()).search, '?status=Failed');
    await page.getByLabel('Status').selectOption('Sent');
    await page.getByLabel('Search').fill('nobody');
    await page.getByText('No e-mail fits.').waitFor();
    await page.getByLabel('Search').fill('locaç');
    await row.getByRole('link', { name: 'As text: Please sign: Locação' }).click();
    await page.waitForURL(/\/api\/mails\/[^/]+\/text$/);
    t.regex(String(await page.evaluate('document.body.innerText')), new RegExp(`^${portalUrl}\\S+$`, 'm'));
    await page.goBack();
    await row.getByRole('link', { name: 'Please sign: Locação', exact: true }).click();
    await page.waitForURL(/\/api\/mails\/[^/]+\/html$/);
    await assertAccessible(t, page, 'mail');
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    );
    await page.getByRole('link', { name: 'Open and sign' }).click();
    await page.getByRole('heading', { name: 'Locação' }).first().waitFor();
    const folder = join(service.root, 'mail');
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    await page.goto(`${service.url}/mails`);
    await row.getByText('text no longer kept').waitFor();
    t.is(await row.getByRole('link').count(), 0);
  },
);

test.serial('the reference page is searchable, and calls an operation with the session', async (t) => {
  const { service } = t.context;
  const visited = await visit(t, service.url);
  const { page } = visited;
  await logIn(page, `${service.url}/scalar/v1`, await service.key());
  await page.keyboard.press('/');
  await page.keyboard.type('job.race-lost');
  await page.getByText(/^1 of /).waitFor();
  t.true(await page.locator('#postJobsByIdCancel').isVisible());
  t.false(await page.locator('#getHealth').isVisible());
  await page.getByRole('searchbox', { name: 'Search' }).fill('whoami');
  const operation = page.locator('#getWhoami');
  await operation.getByRole('button', { name: 'Send' }).click();
  await operation.getByText('"scheme": "Cookie"').waitFor();
  await page.getByRole('searchbox', { name: 'Search' }).fill('/api/files');
  const upload = page.locator('#postFiles');
  await upload
    .locator('input[type=file]')
    .setInputFiles({ name: 'tried.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
  await upload.getByRole('button', { name: 'Send' }).click();
  await upload.getByText('"fileName": "tried.txt"').waitFor();
  t.is((await service.jobs()).filter(({ fileName }) => fileName === 'tried.txt').length, 1);
});

test.serial('the check detects a page that requests data from another host', async (t) => {
  const { service } = t.context;
  const ends: (() => unknown)[] = [];
  const watched = {
    ...t,
    teardown: (end: () => unknown) => ends.push(end),
    pass: t.pass,
    log: t.log,
    fail: t.fail,
  };
  const visited = await visit(watched as unknown as typeof t, service.url);
  await visited.page.goto(`${service.url}/login`);
  await visited.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})");
  const error = await t.throwsAsync(async () => {
    for (const end of ends) await end();
  });
  t.regex(error?.message ?? '', /127\.0\.0\.1:9\/|Content Security Policy/);
});
