import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, openSigning, visit } from '../browser.ts';
import { PortalProgram } from '../portal-program.ts';

test.after.always(() => closeBrowser());

/** Draws a picture of 240 x 80 pixels. */
const DRAWING = (type: string) => `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 240, height: 80 });
  const pen = canvas.getContext('2d');
  pen.fillStyle = '#7a1f5c';
  pen.fillRect(20, 20, 200, 40);
  return canvas.toDataURL('${type}').split(',')[1];
})()`;

for (const [what, type, options, background] of [
  ['desktop', 'image/png', { locale: 'en-US', viewport: { width: 1280, height: 800 } }, 'rgb(122, 31, 92)'],
  [
    'dark phone',
    'image/jpeg',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
    undefined,
  ],
] as const) {
  test.serial(
    `the pages of an organization have its logo and colors, and link to its page (${what})`,
    async (t) => {
      const portal = await PortalProgram.start(t);
      const application = createServer((_, response) => {
        response.setHeader('content-type', 'text/html');
        response.end('<title>Thanks</title><h1>Thank you</h1>');
      });
      await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve));
      t.teardown(() => application.close());
      const origin = `http://127.0.0.1:${(application.address() as AddressInfo).port}`;
      const visited = await visit(
        t,
        portal.url,
        { ...options, reducedMotion: 'reduce' },
        { alsoAsks: [origin] },
      );
      if (visited === undefined) return;
      const { page } = visited;
      const user = { name: 'Ana Souza', email: 'ana@example.test' };
      const id = await portal.create(clausePdf(2), [{ user, allowElectronicSignature: true }]);
      const { organization } = await portal.call<{ organization: { id: string } }>(
        'GET',
        `/api/documents/${id}`,
      );
      const path = `/api/organizations/${organization.id}/branding`;
      await portal.call('PUT', path, {
        ...{ primaryColor: '#7a1f5c', headerColor: '#f2c14e' },
        ...{ redirectUrl: `${origin}/done`, redirectOrigins: [origin] },
      });
      const { logo } = await portal.call<{ logo: object }>('PUT', `${path}/logo`, {
        bytes: await page.evaluate(DRAWING(type)),
      });
      t.like(logo, { contentType: type, width: 240, height: 80 });
      const { url } = await portal.actionUrl(id, user.email);
      await page.goto(url);
      await page.locator('.page[data-drawn]').first().waitFor();
      const image = page.getByRole('banner').getByRole('img', { name: 'Ärzte & Söhne' });
      await image.waitFor();
      t.is(await page.evaluate(`document.querySelector('.branding img').naturalWidth`), 240);
      await openSigning(page);
      const button = page.getByRole('button', { name: 'Sign the document' });
      const shown = await page.evaluate(
        `getComputedStyle(document.querySelector('#electronic button.main')).backgroundColor`,
      );
      if (background !== undefined) t.is(shown, background);
      else t.not(shown, 'rgb(122, 31, 92)', 'dark pages have a lighter shade');
      await assertAccessible(t, page, what);
      await button.press('Enter');
      await page.waitForURL(`${origin}/done`);
      await page.getByRole('heading', { name: 'Thank you' }).waitFor();
      await page.goto(url);
      await page.locator('.who li', { hasText: 'Ana Souza' }).waitFor();
      await assertAccessible(t, page, `${what}, signed`);
    },
  );
}
