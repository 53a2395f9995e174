import test from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, visit } from '../browser.ts';
import { PortalProgram } from '../portal-program.ts';

test.after.always(() => closeBrowser());

for (const [what, options] of [
  ['desktop', { locale: 'en-US', viewport: { width: 1280, height: 800 } }],
  [
    'dark phone',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
  ],
] as const) {
  test.serial(
    `an observer reads the document by the link of the mail, and downloads the signed one (${what})`,
    async (t) => {
      const portal = await PortalProgram.start(t);
      const visited = await visit(t, portal.url, { ...options, reducedMotion: 'reduce' });
      if (visited === undefined) return;
      const { page } = visited;
      const user = { name: 'Ana Souza', email: 'ana@example.test' };
      const id = await portal.create(clausePdf(2), [{ user, allowElectronicSignature: true }], {
        observers: [{ user: { name: 'Ola Berg', email: 'ola@example.test' } }],
      });
      const [url] = await portal.mail('ola@example.test', /http\S+\/read\?ticket=\S+/);
      await page.goto(url);
      await page.locator('.page[data-drawn]').first().waitFor();
      await page.getByRole('heading', { name: 'For your information' }).waitFor();
      t.is(await page.getByRole('button', { name: /sign|refuse|approve/i }).count(), 0);
      t.is(await page.getByRole('link', { name: /download/i }).count(), 0);
      await assertAccessible(t, page, 'while others act');
      const { key } = await portal.document(id);
      const { flowActions } = await portal.document(id);
      await portal.call('POST', `/api/documents/keys/${key}/electronic-signature`, {
        flowActionId: flowActions[0]?.id,
      });
      await portal.reached(id, 'Concluded');
      await page.getByRole('link', { name: 'Look again' }).press('Enter');
      await page.locator('[data-status="Completed"]', { hasText: 'Ana Souza' }).waitFor();
      await page.getByText('Everybody has acted.').waitFor();
      await assertAccessible(t, page, 'concluded');
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download the signed document' }).press('Enter');
      t.is((await saving).suggestedFilename(), 'agreement-signed.pdf');
    },
  );
}
