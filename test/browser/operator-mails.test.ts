import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { Service, temporaryRoot } from '../service/service.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, logIn, visit } from './browser.ts';

test.after.always(() => closeBrowser());

test.serial(
  'an operator finds the mail to a participant, searches, reads it and opens its link',
  async (t) => {
    const secret = '0123456789abcdef'.repeat(4);
    const service = await Service.start(t, {
      root: await temporaryRoot(t),
      settings: {
        'Portal:Enabled': true,
        'Portal:Bootstrap:Application': 'tests',
        'Portal:Bootstrap:Secret': secret,
        'Dashboard:PollIntervalSeconds': 1,
      },
    });
    const portalUrl = await service.until('the banner to name the portal', async () =>
      /Portal\s+http/.test(service.printed) ? service.portalUrl : undefined,
    );
    const call = async <Answer>(path: string, body: object): Promise<Answer> => {
      const answer = await fetch(`${portalUrl}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': `tests|${secret}`, 'content-type': 'application/json' },
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
    if (visited === undefined) return;
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
