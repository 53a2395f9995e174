/** A whole signing in Spanish with the real program, in a browser whose own messages are English. */
import anyTest, { type TestFn } from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { pki } from '../../pki/pki.ts';
import { pdfsig } from '../../verifiers/index.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, openSigning, visit } from '../browser.ts';
import { PortalProgram } from '../portal-program.ts';

const test = anyTest as TestFn<{ readonly portal: PortalProgram }>;
const ends: (() => unknown)[] = [];
test.before(async (t) => {
  t.context = { portal: await PortalProgram.start({ teardown: (end) => void ends.push(end) }) };
});
test.after.always(async () => {
  await closeBrowser();
  for (const end of ends.reverse()) await end();
});

const ANA = { name: 'Ana Souza', email: 'ana@example.test' };
const place = (topLeftY: number) => ({ topLeftX: 40, topLeftY, width: 140, height: 18, pageNumber: 1 });
/** English words of the page and of browsers. */
const ENGLISH = /\b(?:the|your|please|must|sign|signed|download|document|field|page|value|done)\b/i;

test.serial('a participant signs in Spanish: code, fields, signature, signed document', async (t) => {
  const { portal } = t.context;
  const visited = await visit(t, portal.url, {
    ...{ locale: 'es-MX', reducedMotion: 'reduce', viewport: { width: 390, height: 844 }, isMobile: true },
  });
  if (visited === undefined) return;
  const { page } = visited;
  const id = await portal.create(
    clausePdf(2),
    [
      {
        ...{ type: 'Signer', user: ANA, allowElectronicSignature: true },
        fields: [
          { name: 'city', label: 'Ciudad', required: true, ...place(20) },
          { name: 'amount', label: 'Importe', type: 'Number', minimum: 1, maximum: 9, ...place(50) },
        ],
      },
    ],
    { description: 'Contrato de alquiler para su firma.' },
  );
  const inSpanish = async (what: string) => {
    const text = String(await page.evaluate(`document.querySelector('main').innerText`));
    // The title of the document, its content and the language names are the sender's, or in their own language.
    const own = text.replaceAll(/Rental agreement|Clause \d+|English/g, '');
    t.notRegex(own, ENGLISH, what);
    t.is(await page.locator('html').getAttribute('lang'), 'es');
  };
  const [link = ''] = await portal.mail(ANA.email, /http:\/\/\S+\/document\/key\/\S+/);
  await page.goto(link);
  await page.locator('.page[data-drawn]').first().waitFor();

  // The sender and the reason are in the first screen.
  for (const text of ['De Ärzte & Söhne', 'Contrato de alquiler para su firma.']) {
    const box = await page.getByText(text).boundingBox();
    t.true(box !== null && box.y + box.height < 844, text);
  }
  await inSpanish('before signing');
  const sign = page.getByRole('button', { name: 'Firmar el documento' });
  const outcome = page.locator('#outcome');
  const next = page.locator('#guide-next');
  for (let press = 0; press < 3; press += 1) await next.press('Enter');
  await outcome.filter({ hasText: 'Ciudad: Este campo es obligatorio.' }).waitFor();
  const forms = page.locator('.page');
  await forms.getByLabel('Ciudad').fill('Lima');
  for (const [value, text] of [
    ['12', 'Importe: El valor máximo es 9.'],
    ['0', 'Importe: El valor mínimo es 1.'],
  ] as const) {
    await forms.getByLabel('Importe').fill(value);
    await next.press('Enter');
    await outcome.filter({ hasText: text }).waitFor();
  }
  await forms.getByLabel('Importe').fill('7');
  await openSigning(page);
  await page.getByText('El código fue enviado a').waitFor();
  const [, code = ''] = await portal.mail(ANA.email, /\b(\d{6})\b/);
  await page.getByLabel('Código del correo').fill(code === '000000' ? '000001' : '000000');
  await sign.click();
  await outcome.filter({ hasText: 'El código es incorrecto o caducó.' }).waitFor();
  await inSpanish('wrong code');
  await assertAccessible(t, page, 'wrong code');
  await page.getByLabel('Código del correo').fill(code);
  await sign.click();
  await page.getByText('Usted firmó el documento. Gracias.').waitFor();
  await page.locator('#signed-page canvas').waitFor();
  await inSpanish('after signing');
  const saving = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Descargar el documento firmado' }).press('Enter');
  const file = await saving;
  t.is(file.suggestedFilename(), 'agreement-signed.pdf');
  const [verdict] = await pdfsig(await file.path(), pki());
  t.is(verdict?.signature, 'Signature is Valid.');

  await portal.reached(id, 'Concluded');
  await page.reload();
  await page.getByRole('heading', { name: 'Concluido', exact: true }).waitFor();
  await inSpanish('concluded');
});
