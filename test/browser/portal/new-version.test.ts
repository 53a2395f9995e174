/** A new version: what participants and observers are told, and what their pages show. */
import test from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, openSigning, visit } from '../browser.ts';
import { PortalProgram } from '../portal-program.ts';

test.after.always(() => closeBrowser());

for (const [what, options] of [
  ['desktop', { locale: 'en-US', viewport: { width: 1280, height: 800 } }],
  [
    'dark phone',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
  ],
] as const)
  test.serial(
    `participants and observers are told of a new version, and their pages show it (${what})`,
    async (t) => {
      const portal = await PortalProgram.start(t);
      const visited = await visit(t, portal.url, { ...options, reducedMotion: 'reduce' });
      if (visited === undefined) return;
      const { page } = visited;
      const user = { name: 'Ana Souza', email: 'ana@example.test' };
      const id = await portal.create(clausePdf(2), [{ user, allowElectronicSignature: true }], {
        observers: [{ user: { name: 'Ola Berg', email: 'ola@example.test' } }],
      });
      const [, oldLink = ''] = await portal.mail('ana@example.test', /(http\S+\/sign\?ticket=\S+)/);
      const [, observing = ''] = await portal.mail('ola@example.test', /(http\S+\/read\?ticket=\S+)/);
      const heading = (name: string) => page.getByRole('heading', { name, exact: true });
      await page.goto(observing);
      await page.getByText('Rental agreement').first().waitFor();

      const upload = await portal.call<{ id: string }>('POST', '/api/uploads/bytes', {
        bytes: clausePdf(3).toString('base64'),
      });
      const file = { displayName: 'Second agreement', name: 'second.pdf', contentType: 'application/pdf' };
      await portal.call('POST', `/api/documents/${id}/versions`, { file: { ...file, id: upload.id } });

      // The page that is open, after it is read again, and the link of the new mail show the new file.
      const told = /Second\s+agreement[\s\S]*?new\s+version[\s\S]*?(http\S+)/;
      const [, observingAgain = ''] = await portal.mail('ola@example.test', told);
      const isShown = async () => {
        await page.getByText('Second agreement').first().waitFor();
        await page.locator('.page[data-drawn]').first().waitFor();
        t.is(await page.locator('.page').count(), 3);
        t.is(await page.getByText('Rental agreement').count(), 0);
      };
      await page.getByRole('link', { name: 'Look again' }).press('Enter');
      await isShown();
      await page.goto(observingAgain);
      await isShown();
      await heading('For your information').waitFor();
      await assertAccessible(t, page, 'observer of a new version');

      const notice = page.getByText('The file was replaced after the flow began.');
      // The notice has no link: her turn begins again, with a mail of its own.
      await portal.mail('ana@example.test', /Second\s+agreement[\s\S]*?new\s+version/);
      const asked = /Second\s+agreement[\s\S]*?(http\S+\/sign\?ticket=\S+)/;
      const [, newLink = ''] = await portal.mail('ana@example.test', asked);
      t.not(newLink, oldLink);
      await page.goto(newLink);
      await isShown();
      await notice.waitFor();
      await page.goto(oldLink);
      await isShown();
      await notice.waitFor();
      await assertAccessible(t, page, 'older link');
      await openSigning(page);
      await page.getByText('The code was sent').waitFor();
      const [, code = ''] = await portal.mail('ana@example.test', /\b(\d{6})\b/);
      await page.getByLabel('Code from the e-mail').fill(code);
      await page.getByRole('button', { name: 'Sign the document' }).click();
      await page.getByText('You signed the document.').waitFor();
      await portal.reached(id, 'Concluded');

      await page.goto(observing);
      await page.locator('[data-status="Completed"]', { hasText: 'Ana Souza' }).waitFor();
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download the signed document' }).press('Enter');
      t.is((await saving).suggestedFilename(), 'second-signed.pdf');
    },
  );
