/** Pages after a signature, of observers, of a new version of the file, and with the branding of an organization. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import anyTest, { type TestFn } from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { openSigning, visit } from '../browser.ts';
import { type SharedPortal, sharePortalProgram } from '../portal-program.ts';

const test = withTools(anyTest as TestFn<SharedPortal>, 'chromium');
sharePortalProgram(test);

/** Addresses of a participant and of an observer that no other test uses. */
function mailboxes(name: string): readonly [string, string] {
  const host = `${name.replace(' ', '-')}.test`;
  return [`ana@${host}`, `ola@${host}`];
}

const DEVICES = [
  ['desktop', { locale: 'en-US', viewport: { width: 1280, height: 800 } }],
  [
    'dark phone',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
  ],
] as const;

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
      const { portal } = t.context;
      const visited = await visit(t, portal.url, { ...options, reducedMotion: 'reduce' });
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
      t.is(await page.locator('.languages a').count(), 6);
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

for (const [what, options] of DEVICES) {
  test.serial(
    `an observer reads the document by the link of the mail, and downloads the signed one (${what})`,
    async (t) => {
      const { portal } = t.context;
      const [ana, ola] = mailboxes(`seen-${what}`);
      const visited = await visit(t, portal.url, { ...options, reducedMotion: 'reduce' });
      const { page } = visited;
      const user = { name: 'Ana Souza', email: ana };
      const id = await portal.create(clausePdf(2), [{ user, allowElectronicSignature: true }], {
        observers: [{ user: { name: 'Ola Berg', email: ola } }],
      });
      const [url] = await portal.mail(ola, /http\S+\/read\?ticket=\S+/);
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
      await page.getByText('Everybody has done their part.').waitFor();
      await assertAccessible(t, page, 'concluded');
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download the signed document' }).press('Enter');
      t.is((await saving).suggestedFilename(), 'agreement-signed.pdf');
    },
  );
}

for (const [what, options] of DEVICES)
  test.serial(
    `participants and observers are told of a new version, and their pages show it (${what})`,
    async (t) => {
      const { portal } = t.context;
      const [ana, ola] = mailboxes(`again-${what}`);
      const visited = await visit(t, portal.url, { ...options, reducedMotion: 'reduce' });
      const { page } = visited;
      const user = { name: 'Ana Souza', email: ana };
      const id = await portal.create(clausePdf(2), [{ user, allowElectronicSignature: true }], {
        observers: [{ user: { name: 'Ola Berg', email: ola } }],
      });
      const [, oldLink = ''] = await portal.mail(ana, /(http\S+\/sign\?ticket=\S+)/);
      const [, observing = ''] = await portal.mail(ola, /(http\S+\/read\?ticket=\S+)/);
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
      const [, observingAgain = ''] = await portal.mail(ola, told);
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
      await portal.mail(ana, /Second\s+agreement[\s\S]*?new\s+version/);
      const asked = /Second\s+agreement[\s\S]*?(http\S+\/sign\?ticket=\S+)/;
      const [, newLink = ''] = await portal.mail(ana, asked);
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
      const [, code = ''] = await portal.mail(ana, /\b(\d{6})\b/);
      await page.getByLabel('Code from the e-mail').fill(code);
      await page.getByText('You signed the document.').waitFor();
      await portal.reached(id, 'Concluded');

      await page.goto(observing);
      await page.locator('[data-status="Completed"]', { hasText: 'Ana Souza' }).waitFor();
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download the signed document' }).press('Enter');
      t.is((await saving).suggestedFilename(), 'second-signed.pdf');
    },
  );

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
      const { portal } = t.context;
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
      const { page } = visited;
      const user = { name: 'Ana Souza', email: 'ana@example.test' };
      const id = await portal.create(clausePdf(2), [{ user, allowElectronicSignature: true }]);
      const { organization } = await portal.call<{ organization: { id: string } }>(
        'GET',
        `/api/documents/${id}`,
      );
      const path = `/api/organizations/${organization.id}/branding`;
      await portal.call('PUT', path, {
        primaryColor: '#7a1f5c',
        headerColor: '#f2c14e',
        redirectUrl: `${origin}/done`,
        redirectOrigins: [origin],
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
