/** The portal on the pages of operators: deliveries of webhooks, and how long certificates and keys of applications are valid. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anyTest, { type TestFn } from 'ava';
import { startProgram, until } from '../../actors/portal/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { type AccountPages, sharePortal } from '../account/account-pages.ts';
import { assertAccessible } from '../axe.ts';
import { logIn, toast, visit } from '../browser.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
sharePortal(test, (t) => startProgram(t, { settings: { 'Dashboard:PollIntervalSeconds': 1 } }));

test.serial(
  'an operator lists the deliveries of an organization without bodies, and resends one',
  async (t) => {
    const { program } = t.context;
    const { service, acme } = program;
    const visited = await visit(t, service.url, { viewport: { width: 390, height: 844 } });
    const { page } = visited;
    let received = 0;
    const server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        received += 1;
        response.end('thanks');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { items } = await program.administrator.get<{ items: readonly { id: string }[] }>(
      '/api/admin/organizations?q=Acme',
    );
    await acme.post(`/api/organizations/${items[0]?.id}/webhooks`, { url });
    const document = await acme.create([{ user: { name: 'Bo Participant', email: 'bo@example.org' } }]);
    await acme.send(`/api/documents/${document}/refusal`, { reason: 'Never mind' });
    await until(async () => (received > 0 ? true : undefined));

    await logIn(page, `${service.url}/webhooks`, await service.key());
    await page.locator('[name="organization"]').selectOption({ index: 1 });
    const row = page.getByRole('row').filter({ hasText: 'DocumentRefused' });
    await row.getByText('200 thanks').waitFor();
    const refreshed = async () => {
      const before = await page.locator('main').getAttribute('data-refreshed');
      await page.locator(`main:not([data-refreshed="${before}"])`).waitFor();
    };
    await row.locator('summary').press('Enter');
    await assertAccessible(t, page, 'deliveries');
    await refreshed();
    t.is(await row.locator('details[open]').count(), 1, 'the attempts are closed by a refresh');
    t.is(await page.evaluate('document.activeElement.localName'), 'summary');
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    );
    const text = String(await page.evaluate('document.body.innerText'));
    t.false(text.includes('Participant') || text.includes('Never mind'), 'no content');
    await row
      .getByRole('button', { name: `Send again DocumentRefused of ${document.slice(0, 8)}` })
      .press('Enter');
    await until(async () => (received > 1 ? true : undefined));
    await toast(page, 'ok').first().waitFor();
    await refreshed();
    t.regex(String(await page.evaluate('document.activeElement.id')), /^portal-resend-/);
    t.is(await toast(page, 'error').count(), 0);

    // The id of a document leads to it, also before the results are shown.
    const other = await page.context().newPage();
    await other.goto(`${service.url}/`);
    await other.locator('#find').fill(document);
    await other.keyboard.press('Enter');
    await other.getByRole('heading', { name: `document ${document}` }).waitFor();
    await other.close();

    // A list that may be open keeps its options until it loses the focus.
    const option = page.locator('[name="organization"] option').nth(1);
    const before = (await option.textContent()) ?? '';
    await page.locator('[name="organization"]').focus();
    await page.evaluate(`window.kept = document.querySelector('[name="organization"]').options[1]`);
    const second = await acme.create([{ user: { name: 'Bo Participant', email: 'bo@example.org' } }]);
    await acme.send(`/api/documents/${second}/refusal`, { reason: 'Never mind' });
    await until(async () => {
      const answer = await service.json<{ items: readonly { delivered: number }[] }>('/api/webhooks/portal');
      return (answer.items[0]?.delivered ?? 0) > 1 ? true : undefined;
    });
    await refreshed();
    t.true(await page.evaluate('kept.isConnected'), 'an open list is replaced');
    await page.keyboard.press('Tab');
    await option.filter({ hasNotText: before }).waitFor({ state: 'attached' });
    t.not(await page.locator('[name="organization"]').inputValue(), '');
    const answer = await service.fetch(`/api/webhooks/portal/${items[0]?.id}/deliveries/none/resend`, {
      method: 'POST',
    });
    t.is(answer.status, 404);
    const journal = await (await service.fetch(`/api/actors/organization/${items[0]?.id}`)).text();
    t.regex(journal, /sent again\. By operator operator\./);
  },
);

const DAY_MS = 24 * 60 * 60_000;

test.serial(
  'an operator sees when certificates and keys expire, those that expire first at the top',
  async (t) => {
    const { program } = t.context;
    const { service, administrator } = program;
    const visited = await visit(t, service.url, { locale: 'en-US' });
    const { page } = visited;
    const shop = await program.organization('Shop');
    const path = `/api/admin/organizations/${shop.organizationId}/applications`;
    for (const [name, days] of [
      ['Late', 300],
      ['Soon', 10],
    ] as const) {
      const { id } = await administrator.post<{ id: string }>(path, { name });
      const expirationDate = new Date(Date.now() + days * DAY_MS).toISOString();
      await administrator.post(`${path}/${id}/keys`, { expirationDate });
    }
    await logIn(page, `${service.url}/certificates`, await service.key());
    const { profiles } = await service.json<{
      profiles: readonly { name: string; certificate: { notAfter: string } | null }[];
    }>('/api/profiles');
    const own = profiles.find(({ certificate }) => certificate !== null);
    if (own?.certificate === undefined || own.certificate === null) return t.fail('no certificate');
    const row = page.locator('#rows tr', { hasText: own.name }).first();
    await row.locator(`time[datetime="${own.certificate.notAfter}"]`).waitFor();
    t.regex((await row.locator('td').last().textContent()) ?? '', /^in [\d,]+ days$/);

    await page.locator('#keys tr', { hasText: 'Soon' }).waitFor();
    const names = await page.locator('#keys td:first-child').allTextContents();
    t.deepEqual(names.slice(0, 2), ['Soon', 'Late']);
    const cells = (name: string) =>
      page.locator('#keys tr', { hasText: name }).locator('td').allTextContents();
    t.is((await cells('Soon'))[3], 'Expires soon');
    t.is((await cells('Late'))[3], 'Valid');
    t.is((await cells('Acme App'))[4], 'never');
    await page.getByText(/^\d+ keys, 1 expired or about to expire$/).waitFor();
    await assertAccessible(t, page, 'expiry');
  },
);
