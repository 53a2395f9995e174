import test from 'ava';
import { closeBrowser, logIn, startService, visit } from './browser.ts';

test.after.always(() => closeBrowser());

test.serial('the reference page is searchable, and calls an operation with the session', async (t) => {
  const service = await startService(t);
  const visited = await visit(t, service.url);
  if (visited === undefined) return;
  const { page } = visited;
  await logIn(page, `${service.url}/scalar/v1`, await service.key());
  await page.keyboard.press('/');
  await page.keyboard.type('job.race-lost');
  await page.getByText(/^1 of /).waitFor();
  t.true(await page.locator('#postJobsByIdCancel').isVisible());
  t.false(await page.locator('#getHealth').isVisible());
  await page.getByLabel('Search').fill('whoami');
  const operation = page.locator('#getWhoami');
  await operation.getByRole('button', { name: 'Send' }).click();
  await operation.getByText('"scheme": "Cookie"').waitFor();
  await page.getByLabel('Search').fill('/api/files');
  const upload = page.locator('#postFiles');
  await upload
    .locator('input[type=file]')
    .setInputFiles({ name: 'tried.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') });
  await upload.getByRole('button', { name: 'Send' }).click();
  await upload.getByText('"fileName": "tried.txt"').waitFor();
  t.is((await service.jobs()).length, 1);
});

test.serial('the check detects a page that requests data from another host', async (t) => {
  const service = await startService(t);
  const ends: (() => unknown)[] = [];
  const watched = {
    ...t,
    teardown: (end: () => unknown) => ends.push(end),
    pass: t.pass,
    log: t.log,
    fail: t.fail,
  };
  const visited = await visit(watched as unknown as typeof t, service.url);
  if (visited === undefined) return;
  await visited.page.goto(`${service.url}/login`);
  await visited.page.evaluate("fetch('http://127.0.0.1:9/').catch(() => {})");
  const error = await t.throwsAsync(async () => {
    for (const end of ends) await end();
  });
  t.regex(error?.message ?? '', /127\.0\.0\.1:9\/|Content Security Policy/);
});
