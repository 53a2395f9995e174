/** Pages in the language of their participant, whose words are longer than English ones, on a phone. */
import { join } from 'node:path';
import anyTest, { type TestFn } from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { OUT_OF_REACH, openSigning, visit } from '../browser.ts';
import { type SharedPortal, sharePortalProgram } from '../portal-program.ts';

const test = withTools(anyTest as TestFn<SharedPortal>, 'chromium');
sharePortalProgram(test);

/** Folder that gets a picture of each page, for people. */
const PICTURES = process.env['SEALWRIGHT_PICTURES'];

for (const [language, ended] of [
  ['de', 'Sie haben signiert. Vielen Dank.'],
  ['fr', 'Vous avez signé. Merci.'],
  ['it', 'Ha firmato. Grazie.'],
] as const)
  test.serial(`a participant reads mail, page and end in the language ${language}, on a phone`, async (t) => {
    const { portal } = t.context;
    const email = `ana@${language}.test`;
    const id = await portal.create(clausePdf(2), [
      { type: 'Signer', user: { name: 'Ana Souza', email, language }, allowElectronicSignature: true },
    ]);
    const [link = ''] = await portal.mail(email, /https?:\/\/\S+\/sign\?ticket=[\w-]+/);
    const phone = { width: 390, height: 844 };
    const { page } = await visit(t, portal.url, {
      locale: 'en-US',
      viewport: phone,
      reducedMotion: 'reduce',
    });
    const fits = async (what: string) => {
      t.is(await page.locator('html').getAttribute('lang'), language, what);
      const found = await page.evaluate<readonly string[]>(OUT_OF_REACH);
      // The code is wider than its boxes in every language, and the legend is for screen readers.
      const cut = found.filter((one) => !/^<(input id="email-code"|legend class="unseen")/.test(one));
      t.deepEqual(cut, [], `${language}, ${what}`);
      if (PICTURES !== undefined)
        await page.screenshot({ path: join(PICTURES, `${language}-${what}.png`), fullPage: what === 'end' });
    };
    await page.goto(link);
    await page.locator('.page[data-drawn]').first().waitFor();
    await fits('page');
    await openSigning(page);
    await fits('dialog');
    await assertAccessible(t, page, `${language}, dialog`);
    const [, code = ''] = await portal.mail(email, /^ *(\d{6})$/m);
    await page.locator('#email-code').pressSequentially(code);
    await page.locator('main[data-state="done"], main[data-state="concluded"]').waitFor();
    await portal.reached(id, 'Concluded');
    await page.goto(link);
    await page.getByRole('heading', { level: 1 }).filter({ hasText: ended }).waitFor();
    await fits('end');
    await page.locator('a[href^="/check/"]').click();
    await page.locator(`html[lang="${language}"]`).waitFor();
    await fits('check');
  });
