/** The page that validates files: signed files, and detached signatures with their content. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signFile } from '@sealwright/signatures';
import test from 'ava';
import { pki } from '../pki/pki.ts';
import { Service, temporaryRoot } from '../service/service.ts';
import { closeBrowser, logIn, visit } from './browser.ts';

test.after.always(() => closeBrowser());

test.serial(
  'an operator validates a detached signature with and without its content, by keyboard',
  async (t) => {
    const root = await temporaryRoot(t);
    const settings = { 'Signing:Trust:Roots:0': pki().rootFile, 'Signing:Trust:Revocation': 'None' };
    const service = await Service.start(t, { root, settings });
    const visited = await visit(t, service.url);
    if (visited === undefined) return;
    const { page } = visited;
    const [input, output] = [join(root, 'order.txt'), join(root, 'order.p7s')];
    writeFileSync(input, 'ten pieces');
    const signer = pki().signer('p-256');
    signFile({ format: 'Cades', input, output, signer, at: Date.now(), cades: { detached: true } });
    const signature = {
      name: 'order.p7s',
      mimeType: 'application/pkcs7-signature',
      buffer: readFileSync(output),
    };
    const contentOf = (text: string) => ({
      name: 'order.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from(text),
    });

    await logIn(page, `${service.url}/validate`, await service.key());
    for (const [content, verdict] of [
      [undefined, 'Undecided (INDETERMINATE), Cades, 1 signature'],
      ['ten pieces', 'Valid (TOTAL-PASSED), Cades, 1 signature'],
      ['ten Pieces', 'Not valid (TOTAL-FAILED), Cades, 1 signature'],
    ] as const) {
      await page.getByLabel('Signed file').setInputFiles(signature);
      if (content !== undefined) await page.getByLabel('Signed content').setInputFiles(contentOf(content));
      await page.getByLabel('Signed file').focus();
      await page.keyboard.press('Tab');
      t.is(await page.evaluate('document.activeElement.name'), 'content');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const result = page.locator('main p[role="status"]');
      await result.waitFor();
      t.is(await result.textContent(), verdict);
      await page.getByRole('link', { name: 'Validate another file' }).click();
      await page.getByLabel('Signed content').waitFor();
    }
  },
);
