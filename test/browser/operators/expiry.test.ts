/** The page `/certificates`: how long certificates and keys of applications are valid. */
import test from 'ava';
import { startProgram } from '../../actors/portal/service.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, logIn, visit } from '../browser.ts';

test.after.always(() => closeBrowser());

const DAY_MS = 24 * 60 * 60_000;

test.serial(
  'an operator sees when certificates and keys expire, those that expire first at the top',
  async (t) => {
    const program = await startProgram(t, { settings: { 'Dashboard:PollIntervalSeconds': 1 } });
    const { service, administrator } = program;
    const visited = await visit(t, service.url, { locale: 'en-US' });
    if (visited === undefined) return;
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
    t.regex((await row.locator('td').last().textContent()) ?? '', /^\d+ d( \d+ h)?$/);

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
