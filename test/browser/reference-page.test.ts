import test from 'ava';
import { closeBrowser, logIn, startService, visit } from './browser.ts';

test.after.always(() => closeBrowser());

test.serial('the reference page is searched, and tries an operation with the session', async (t) => {
  const service = await startService(t);
  const visited = await visit(t, service.url);
  if (visited === undefined) return;
  const { page } = visited;
  await logIn(page, `${service.url}/scalar/v1`, await service.key());
  await page.keyboard.press('/');
  await page.keyboard.type('job.race-lost');
  await page.getByText('1 of ').waitFor();
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
