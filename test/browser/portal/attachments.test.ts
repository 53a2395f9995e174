/** Participants attach files on the signing page. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { pki } from '../../pki/pki.ts';
import { pdfsig, requireTool, runTool } from '../../verifiers/index.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, openSigning, visit } from '../browser.ts';
import { PortalProgram } from '../portal-program.ts';

test.after.always(() => closeBrowser());

const place = { topLeftX: 40, topLeftY: 20, width: 200, height: 18, pageNumber: 1 };

for (const [device, viewport] of [
  ['desktop', { width: 1280, height: 900 }],
  ['phone', { width: 360, height: 740 }],
] as const) {
  test.serial(`a participant attaches a file by keyboard on a ${device}`, async (t) => {
    if (!requireTool(t, 'pdftotext')) return;
    const portal = await PortalProgram.start(t);
    const visited = await visit(t, portal.url, { locale: 'en-US', viewport });
    if (visited === undefined) return;
    const { page } = visited;
    const user = { name: 'Ana Souza', email: 'ana@example.test' };
    const fields = [{ name: 'id', label: 'Passport', type: 'Attachment', required: true, ...place }];
    const id = await portal.create(clausePdf(1), [
      { type: 'Signer', user, allowElectronicSignature: true, fields },
    ]);
    await page.goto((await portal.actionUrl(id, user.email)).url);
    await page.locator('.page[data-drawn]').first().waitFor();
    await assertAccessible(t, page, `attachments on a ${device}`);
    const sign = page.getByRole('button', { name: 'Sign the document' });
    const next = page.locator('#guide-next');
    for (let press = 0; press < 2; press += 1) await next.press('Enter');
    await page.locator('#outcome', { hasText: 'Passport' }).waitFor();
    t.true(await page.locator('#field-0:focus').isVisible());

    const uploads: string[] = [];
    page.on('request', (request) => {
      if (/\/uploads\?/.test(request.url())) uploads.push(request.headers()['content-type'] ?? '');
    });
    const choose = async (file: { name: string; mimeType: string; buffer: Buffer }) => {
      const chooser = page.waitForEvent('filechooser');
      await page.locator('#field-0').focus();
      await page.keyboard.press('Enter');
      await (await chooser).setFiles(file);
    };
    const text = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') };
    await choose(text);
    await openSigning(page);
    await sign.click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.locator('#outcome', { hasText: 'A field is not filled in as it must be' }).waitFor();
    await choose({ ...text, buffer: Buffer.alloc(4_500_000) });
    await next.press('Enter');
    await page.locator('#outcome', { hasText: 'too large' }).waitFor();
    const content = clausePdf(2);
    await choose({ name: 'passport.pdf', mimeType: 'application/pdf', buffer: content });
    await openSigning(page);
    await sign.focus();
    await page.keyboard.press('Enter');
    await page.getByText('You signed the document.').waitFor();
    // Each file that is not too large, once, as a form.
    t.is(uploads.length, 2);
    for (const type of uploads) t.regex(type, /^multipart\/form-data;/);

    await portal.reached(id, 'Concluded');
    const file = await portal.signedFile(id);
    const { stdout } = await runTool('pdftotext', ['-layout', file, '-']);
    t.true(stdout.includes('passport.pdf'), stdout);
    const [verdict] = await pdfsig(file, pki());
    t.is(verdict?.signature, 'Signature is Valid.');
    t.true(readFileSync(file).length > 0);
    const detail = (await portal.document(id)) as unknown as {
      attachments: readonly { filename: string; fileSize: number; mimeType: string; isPrivate: boolean }[];
      flowActions: readonly { fields: readonly { value: string }[] }[];
    };
    t.is(detail.flowActions[0]?.fields[0]?.value, 'passport.pdf');
    t.is(detail.attachments.length, 1);
    t.like(detail.attachments[0], {
      ...{ filename: 'passport.pdf', fileSize: content.length },
      ...{ mimeType: 'application/pdf', isPrivate: true },
    });
  });
}
