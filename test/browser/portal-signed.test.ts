import test from 'ava';
import { clausePdf } from '../crypto/pdf/build.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, visit } from './browser.ts';
import { PortalProgram } from './portal-program.ts';

test.after.always(() => closeBrowser());

for (const [what, options, words] of [
  [
    'desktop',
    { locale: 'en-US', viewport: { width: 1280, height: 800 } },
    {
      sign: 'Sign the document',
      signed: 'Download the signed document',
      record: 'Download the signature record',
      print: 'Print',
    },
  ],
  [
    'dark phone, in Portuguese',
    { locale: 'pt-BR', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
    {
      sign: 'Assinar o documento',
      signed: 'Baixar o documento assinado',
      record: 'Baixar o registro das assinaturas',
      print: 'Imprimir',
    },
  ],
] as const) {
  test.serial(
    `the signed document is shown after signing and offered under its name (${what})`,
    async (t) => {
      const portal = await PortalProgram.start(t);
      const visited = await visit(t, portal.url, { ...options, reducedMotion: 'reduce' });
      if (visited === undefined) return;
      const { page } = visited;
      const user = { name: 'Ana Souza', email: 'ana@example.test' };
      const id = await portal.create(clausePdf(2), [
        { type: 'Signer', user, allowElectronicSignature: true },
      ]);
      const { url } = await portal.actionUrl(id, user.email);
      await page.goto(url);
      await page.locator('.page[data-drawn]').first().waitFor();
      await openSigning(page);
      await page.getByRole('button', { name: words.sign }).press('Enter');
      await page.locator('#signed-page canvas').waitFor();
      await page.locator('.who li', { hasText: 'Ana Souza' }).waitFor();
      await page.locator('.page[data-drawn]').first().waitFor();
      await assertAccessible(t, page, 'after signing');
      t.is(await page.locator('#download').count(), 0, 'the file without the signature');
      await page.evaluate('window.print = () => { document.documentElement.dataset.printed = "yes"; }');
      await page.getByRole('button', { name: words.print, exact: true }).press('Enter');
      await page.locator('html[data-printed]').waitFor();
      t.is(await page.locator('.page[data-drawn]').count(), 2);
      const savedAs = async (name: string) => {
        const saving = page.waitForEvent('download');
        await page.getByRole('link', { name }).press('Enter');
        return (await saving).suggestedFilename();
      };
      t.is(await savedAs(words.signed), 'agreement-signed.pdf');
      t.is(await savedAs(words.record), 'agreement-manifest.pdf');

      // The same link shows the same later.
      await portal.reached(id, 'Concluded');
      await page.goto(url);
      await page.locator('.page[data-drawn]').first().waitFor();
      await page.locator('.who li', { hasText: 'Ana Souza' }).waitFor();
      t.is(await page.locator('#guide, #download').count(), 0);
      t.is(await page.locator('.languages a').count(), 3);
      await assertAccessible(t, page, 'signed before');
      t.is(await savedAs(words.signed), 'agreement-signed.pdf');
      const { items } = await portal.call<{ items: readonly { type: string }[] }>(
        'GET',
        `/api/documents/${id}/history`,
      );
      t.true(
        items.some(({ type }) => type === 'Downloaded'),
        JSON.stringify(items),
      );
    },
  );
}
