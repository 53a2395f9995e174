import type { KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import ava, { type ExecutionContext } from 'ava';
import { freshPath } from '../crypto/pades/validation/verdicts.ts';
import { pki } from '../pki/pki.ts';
import { pdfsig } from '../verifiers/index.ts';
import { withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, openTools, visit } from './browser.ts';
import { certificateFile } from './certificate-files.ts';
import { CODE, startPagesServer } from './pages-server.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

test.serial(
  'a participant reads the document, requests a code, mistypes it, and signs with name and code',
  async (t) => {
    const site = await startPagesServer(t, {
      action: { codes: [{ channel: 'Email', to: 'a***@example.test' }] },
    });
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await page.getByRole('heading', { name: 'Rental agreement <b>2027</b>' }).waitFor();
    await page.locator('.page[data-drawn]').first().waitFor();
    await page.getByText('Clause 3').waitFor({ state: 'attached' });
    t.deepEqual(site.done, [], 'opening the page has done something');

    await openSigning(page);
    await page.getByText('The code was sent to a***@example.test.').waitFor();
    t.is(await page.evaluate('document.activeElement.id'), 'email-code');
    await page.keyboard.type('000000');
    await page.getByText('The code is wrong or has expired.').waitFor();
    t.is(await page.evaluate('document.activeElement.id'), 'email-code');
    await page.getByLabel('Code from the e-mail').fill(`${CODE.slice(0, 3)} ${CODE.slice(3)}`);
    await page.getByText('You signed the document.').waitFor();
    t.is(await page.evaluate('document.activeElement.id'), 'outcome');
    t.deepEqual(
      site.done.map(({ what }) => what),
      ['code', 'electronic'],
    );
    t.like(site.done[1]?.given, {
      typedName: 'Ana María Souza',
      emailCode: CODE,
      disableNotifications: false,
    });
    t.deepEqual(await page.context().cookies(), []);
  },
);

test.serial('a drawn signature is sent as a sharp picture, and survives a reload', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await openSigning(page);
  await page.getByRole('tab', { name: 'Draw' }).click();
  const area = page.getByRole('img', { name: 'Drawing area' });
  await area.scrollIntoViewIfNeeded();
  const box = await area.boundingBox();
  if (box === null) return t.fail('there is no area to draw on');
  await page.mouse.move(box.x + 20, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 10, { steps: 5 });
  await page.mouse.move(box.x + box.width - 20, box.y + 20, { steps: 5 });
  await page.mouse.up();
  await page.getByText('Your drawing will be shown.').waitFor();
  await page.reload();
  await openSigning(page);
  await page.getByText('Your drawing will be shown.').waitFor();
  await openSigning(page);
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('You signed the document.').waitFor();
  const png = site.done[0]?.given['image'];
  if (!Buffer.isBuffer(png)) return t.fail('no picture was sent');
  t.is(png.toString('latin1', 1, 4), 'PNG');
  t.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [900, 300]);
});

test.serial('location and initials are sent only when the participant ticks them', async (t) => {
  const place = { latitude: -23.55, longitude: -46.63, accuracy: 12 };
  for (const wanted of [true, false]) {
    const site = await startPagesServer(t, { action: { initialsMode: 'Optional' } });
    const options = { locale: 'en-US', geolocation: place, permissions: ['geolocation'] };
    const visited = await visit(t, site.url, options);
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await openSigning(page);
    await page.getByText('What is recorded').click();
    await page.getByLabel('Add my location to the evidence').setChecked(wanted);
    await page.getByRole('checkbox', { name: 'Put my initials on every page' }).setChecked(wanted);
    await page.getByRole('button', { name: 'Sign the document' }).click();
    await page.getByText('You signed the document.').waitFor();
    t.deepEqual(site.done[0]?.given['geolocation'], wanted ? place : undefined);
    const initials = site.done[0]?.given['initialsPositions'] as readonly object[];
    t.is(initials.length, wanted ? 3 : 0);
    if (!wanted) continue;
    const corner = { topLeftX: 595 - 72, topLeftY: 842 - 36, width: 60, height: 24, pageNumber: 3 };
    t.like(initials[2], { type: 'SignatureInitials', ...corner });
  }
});

for (const kind of ['rsa-2048', 'p-256', 'ed25519'] as const) {
  test.serial(
    `a certificate file with a key of kind ${kind} signs, and the key never leaves the browser`,
    async (t) => {
      const site = await startPagesServer(t, { action: { allowElectronicSignature: false } });
      const visited = await visit(t, site.url, { locale: 'en-US' });
      const { page } = visited;
      const sent: Buffer[] = [];
      page.on('request', (request) => {
        const body = request.postDataBuffer() ?? Buffer.alloc(0);
        sent.push(
          Buffer.concat([Buffer.from(`${request.url()} ${JSON.stringify(request.headers())}`), body]),
        );
      });
      const { path: file, privateKey } = certificateFile({
        kind,
        password: 'a long passphrase',
        name: 'Zoë Müller',
      });
      await page.goto(`${site.url}${site.signPath}`);
      await openSigning(page);
      await page.getByLabel('Certificate file').setInputFiles(file);
      await page.getByLabel('Password of the file').fill('wrong');
      await page.getByRole('button', { name: 'Sign the document' }).click();
      await page.getByText('The password does not open this file.').waitFor();
      t.is(await page.evaluate('document.activeElement.id'), 'certificate-password');
      await page.getByLabel('Password of the file').fill('a long passphrase');
      await page.keyboard.press('Enter');
      await page.getByText('The document was signed with the certificate of Zoë Müller.').waitFor();
      noSecretIn(t, sent, privateKey);

      const path = site.signed();
      if (path === undefined) return t.fail('nothing was signed');
      // NSS does not support Ed25519; the value was checked before it was embedded.
      if (kind === 'ed25519') return;
      const [verdict] = await pdfsig(path, pki());
      t.like(verdict, { signature: 'Signature is Valid.', certificate: 'Certificate is Trusted.' });
    },
  );
}

test.serial(
  'an untrusted certificate is refused with the reason, and other files are identified by kind',
  async (t) => {
    const site = await startPagesServer(t, { action: { allowElectronicSignature: false } });
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    const sign = page.getByRole('button', { name: 'Sign the document' });
    await openSigning(page);
    await sign.click();
    await page.getByText('Choose a certificate file.').waitFor();
    const untrusted = certificateFile({
      kind: 'p-256',
      password: 'secret',
      name: 'Nobody',
      from: 'otherRoot',
    });
    const other = freshPath('other.p12');
    writeFileSync(other, 'no certificate at all');
    await page.getByLabel('Certificate file').setInputFiles(other);
    await sign.click();
    await page.getByText('This is not a certificate file').waitFor();
    await page.getByLabel('Certificate file').setInputFiles(untrusted.path);
    await page.getByLabel('Password of the file').fill('secret');
    await sign.click();
    await page.getByText('The certificate was not accepted. Nobody here trusts its issuer.').waitFor();
    await page.goto(`${site.url}${site.signPath}&culture=pt`);
    await openSigning(page);
    await page.locator('#certificate-file').setInputFiles(untrusted.path);
    await page.locator('#certificate-password').fill('secret');
    await page.keyboard.press('Enter');
    await page
      .getByText('O certificado não foi aceito. O emissor dele não é confiável aqui.', { exact: true })
      .waitFor();
    t.is(site.signed(), undefined);
  },
);

test.serial('an approver approves, and a participant refuses with a reason', async (t) => {
  const approver = await startPagesServer(t, { action: { type: 'Approver' } });
  const visited = await visit(t, approver.url, { locale: 'en-US' });
  await visited.page.goto(`${approver.url}${approver.signPath}`);
  await openSigning(visited.page);
  await visited.page.getByRole('button', { name: 'Approve the document' }).click();
  await visited.page.getByText('You approved the document.').waitFor();
  t.deepEqual(
    approver.done.map(({ what }) => what),
    ['approval'],
  );

  const signer = await startPagesServer(t);
  const other = await visit(t, signer.url, { locale: 'pt-BR' });
  const { page } = other;
  await page.goto(`${signer.url}${signer.signPath}`);
  await page.getByText('Recusar', { exact: true }).click();
  await page.getByRole('button', { name: 'Recusar o documento' }).click();
  await page.getByText('Dê um motivo.').waitFor();
  await page.getByLabel('Por que você recusa?').fill('O nome está errado.');
  await page.getByRole('button', { name: 'Recusar o documento' }).click();
  await page.getByText('Você recusou o documento.').waitFor();
  t.like(signer.done[0], { what: 'refusal', given: { reason: 'O nome está errado.' } });
});

test.serial(
  'a participant who has signed gets the current state and the file without a reload',
  async (t) => {
    const site = await startPagesServer(t);
    const visited = await visit(t, site.url, { locale: 'en-US' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    const you = page.getByRole('listitem').filter({ hasText: 'Ana María Souza (you)' });
    await you.getByText('asked to sign').waitFor();
    await openSigning(page);
    await page.getByRole('button', { name: 'Sign the document' }).click();
    await you.getByText('signed', { exact: true }).waitFor();
    await page.getByRole('heading', { name: 'You signed it. Thank you.', exact: true }).waitFor();
    await page.getByText('Your part is done').waitFor();
    await page.locator('#signed-page canvas').waitFor();
    t.is(await page.getByText('You take part as').count(), 0);
    await assertAccessible(t, page, 'after signing');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download the signed document' }).click(),
    ]);
    t.is(file.suggestedFilename(), 'agreement.pdf');
  },
);

/**
 * Asserts that no request contains a secret: neither password, nor file, nor a private number of the key in any
 * encoding.
 */
function noSecretIn(t: ExecutionContext, sent: readonly Buffer[], privateKey: KeyObject): void {
  const jwk = privateKey.export({ format: 'jwk' });
  const all = Buffer.concat(sent);
  t.true(sent.length > 3);
  t.true(all.includes('"certificate"'), 'the test does not see what is sent');
  t.false(all.includes('a long passphrase'));
  for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi'] as const) {
    const number = jwk[name];
    if (typeof number !== 'string') continue;
    const bytes = Buffer.from(number, 'base64url').subarray(4, 28);
    // Base64 has three encodings of the same bytes, by their offset.
    const spellings = [0, 1, 2].map((cut) =>
      bytes
        .subarray(cut, cut + 21)
        .toString('base64')
        .slice(0, 24),
    );
    for (const spelling of [bytes, bytes.toString('hex'), number.slice(8, 32), ...spellings]) {
      t.false(all.includes(spelling), `a part of ${name} was sent`);
    }
  }
}

test.serial('typed text survives a reload and a change of the language', async (t) => {
  const site = await startPagesServer(t);
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await openSigning(page);
  await page.getByLabel('Your full name').fill('Ana M. Souza');
  await page.keyboard.press('Escape');
  await page.getByText('Refuse', { exact: true }).click();
  await page.getByLabel('Why do you refuse?').fill('The price is wrong.');
  await page.reload();
  t.is(await page.locator('#typed-name').inputValue(), 'Ana M. Souza');
  await openTools(page);
  await page.getByRole('link', { name: 'Español' }).click();
  await page.getByRole('button', { name: 'Firmar' }).and(page.locator(':enabled')).waitFor();
  t.is(await page.locator('html').getAttribute('lang'), 'es');
  t.is(await page.locator('#typed-name').inputValue(), 'Ana M. Souza');
  t.is(await page.locator('#reason').inputValue(), 'The price is wrong.');
  await openTools(page);
  await page.getByRole('link', { name: 'Português' }).click();
  await openTools(page);
  t.is(await page.getByRole('link', { name: 'Português' }).getAttribute('aria-current'), 'true');
  await openSigning(page);
  await page.getByRole('button', { name: 'Assinar o documento' }).click();
  await page.getByText('Você assinou o documento.').waitFor();
  t.like(site.done.at(-1)?.given, { typedName: 'Ana M. Souza' });
  t.is(await page.evaluate('sessionStorage.length'), 0);
});
