/** Participants fill in fields, attach files, see what covers tags in a text, and do all of it in Spanish. */
import anyTest, { type TestFn } from 'ava';
import { classicPdf, clausePdf, documentObjects, stream } from '../../crypto/pdf/build.ts';
import { pki } from '../../pki/pki.ts';
import { pdfsig, runTool, withTools } from '../../verifiers/index.ts';
import { assertAccessible } from '../axe.ts';
import { openSigning, visit } from '../browser.ts';
import { type SharedPortal, sharePortalProgram } from '../portal-program.ts';

const test = withTools(anyTest as TestFn<SharedPortal>, 'pdftotext', 'chromium');
sharePortalProgram(test);

const place = (topLeftY: number) => ({ topLeftX: 40, topLeftY, width: 140, height: 18, pageNumber: 1 });
const FIELDS = [
  { name: 'city', label: 'City of birth', required: true, ...place(20) },
  { name: 'born', label: 'Day of birth', type: 'Date', ...place(50) },
  { name: 'amount', label: 'Amount', type: 'Number', minimum: 1, maximum: 9, ...place(80) },
  { name: 'plan', label: 'Plan', type: 'Choice', options: ['Basic', 'Full'], required: true, ...place(110) },
  {
    name: 'agreed',
    label: 'I have read the rules',
    type: 'Checkbox',
    required: true,
    ...place(140),
    width: 18,
  },
];

for (const [device, viewport] of [
  ['desktop', { width: 1280, height: 900 }],
  ['phone', { width: 360, height: 740 }],
] as const) {
  test.serial(`fields are shown, checked and filled in by keyboard on a ${device}`, async (t) => {
    const { portal } = t.context;
    const visited = await visit(t, portal.url, { locale: 'en-US', viewport });
    const { page } = visited;
    const user = { name: 'Ana Souza', email: 'ana@example.test' };
    const id = await portal.create(clausePdf(1), [
      { type: 'Signer', user, allowElectronicSignature: true, fields: FIELDS },
    ]);
    await page.goto((await portal.actionUrl(id, user.email)).url);
    await page.locator('.page[data-drawn]').first().waitFor();
    t.is(await page.locator('.mark').getByLabel('City of birth').count(), 1);
    t.is(await page.locator('#document-state').textContent(), 'The document has one page.');

    await assertAccessible(t, page, `fields on a ${device}`);
    const sign = page.getByRole('button', { name: 'Sign the document' });
    const next = page.locator('#guide-next');
    // Past the last place.
    for (let press = 0; press <= FIELDS.length; press += 1) await next.press('Enter');
    await page.locator('#outcome', { hasText: 'City of birth' }).waitFor();
    t.true(await page.locator('#field-0:focus').isVisible());

    // What is missing is marked all at once.
    t.is(await page.locator('.page [aria-invalid="true"]').count(), 3);
    const forms = page.locator('.page');
    const city = forms.getByLabel('City of birth');
    await city.focus();
    await page.keyboard.type('Łódź');
    await page.keyboard.press('Tab');
    await forms.getByLabel('Day of birth').fill('1990-02-03');
    const amount = forms.getByLabel('Amount');
    await amount.fill('12');
    // The number is wrong, and the two places after it are empty.
    for (let press = 0; press < 3; press += 1) await next.press('Enter');
    await page.locator('#outcome', { hasText: 'Amount' }).waitFor();
    await amount.focus();
    await amount.fill('7');
    await page.keyboard.press('Tab');
    await page.keyboard.type('Full');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    t.true(await forms.getByLabel('I have read the rules').isChecked());
    await openSigning(page);
    await sign.focus();
    await page.keyboard.press('Enter');
    await page.getByText('You signed the document.').waitFor();

    await portal.reached(id, 'Concluded');
    const file = await portal.signedFile(id);
    const { stdout } = await runTool('pdftotext', ['-enc', 'UTF-8', '-layout', file, '-']);
    for (const value of ['Łódź', '1990-02-03', '7', 'Full', '\u2611']) t.true(stdout.includes(value), stdout);
    const [verdict] = await pdfsig(file, pki());
    t.is(verdict?.signature, 'Signature is Valid.');
    const { flowActions } = (await portal.document(id)) as unknown as {
      flowActions: readonly { fields: readonly { name: string; value: string }[] }[];
    };
    t.deepEqual(
      flowActions[0]?.fields.map(({ name, value }) => [name, value]),
      [
        ['city', 'Łódź'],
        ['born', '1990-02-03'],
        ['amount', '7'],
        ['plan', 'Full'],
        ['agreed', 'true'],
      ],
    );
  });
}

for (const [device, viewport] of [
  ['desktop', { width: 1280, height: 900 }],
  ['phone', { width: 360, height: 740 }],
] as const) {
  test.serial(`fields are shown and required by the values of others on a ${device}`, async (t) => {
    const { portal } = t.context;
    const { page } = await visit(t, portal.url, { locale: 'en-US', viewport });
    const is = (field: string, value: unknown) => ({ all: [{ field, operator: 'Equals', value }] });
    const ana = [
      { name: 'amount', label: 'Amount', type: 'Number', ...place(20) },
      {
        name: 'bank',
        label: 'Bank',
        required: true,
        ...place(50),
        shownWhen: { all: [{ field: 'amount', operator: 'Above', value: 1000 }] },
      },
      {
        name: 'note',
        label: 'Note',
        ...place(80),
        requiredWhen: { any: [{ field: 'bank', operator: 'IsEmpty' }] },
      },
    ];
    const bob = [
      {
        name: 'why',
        label: 'Why so much',
        required: true,
        ...place(110),
        shownWhen: { all: [{ field: 'bank', operator: 'IsFilled' }] },
      },
      { name: 'extra', label: 'Extra', type: 'Checkbox', ...place(140), width: 18 },
      { name: 'which', label: 'Which', required: true, ...place(170), shownWhen: is('extra', true) },
    ];
    const people = [ana, bob].map((fields, index) => ({
      type: 'Signer',
      step: index + 1,
      user: { name: index === 0 ? 'Ana' : 'Bob', email: `${index}@example.test` },
      allowElectronicSignature: true,
      fields,
    }));
    const id = await portal.create(clausePdf(1), people);
    const open = async (person: number) => {
      await page.goto((await portal.actionUrl(id, `${person}@example.test`)).url);
      await page.locator('.page[data-drawn]').first().waitFor();
    };
    const sign = async () => {
      await openSigning(page);
      await page.getByRole('button', { name: 'Sign the document' }).press('Enter');
      await page.getByText('You signed the document.').waitFor();
    };
    await open(0);
    const forms = page.locator('.page');
    const amount = forms.getByLabel('Amount');
    const bank = page.locator('#field-1');
    t.false(await bank.isVisible());
    await page.getByText('0 of 2 done').waitFor();
    t.true(await page.evaluate(`document.querySelector('#field-2').required`));
    await amount.fill('1000.01');
    await bank.waitFor({ state: 'visible' });
    await page.getByText('1 of 3 done').waitFor();
    await assertAccessible(t, page, `conditions on a ${device}`);
    await bank.fill('PT50');
    t.false(await page.evaluate(`document.querySelector('#field-2').required`));
    // What was typed into a field that is hidden again is not sent.
    await amount.fill('1000');
    await bank.waitFor({ state: 'hidden' });
    for (let press = 0; press < 3; press += 1) await page.locator('#guide-next').press('Enter');
    await page.locator('#outcome', { hasText: 'Note' }).waitFor();
    await page.reload();
    await page.locator('.page[data-drawn]').first().waitFor();
    t.false(await bank.isVisible());
    await amount.fill('2000');
    t.is(await bank.inputValue(), 'PT50');
    await sign();
    await portal.reached(id, 'Pending');

    await open(1);
    await page.locator('#field-0').waitFor({ state: 'visible' });
    t.false(await page.locator('#field-2').isVisible());
    await page.locator('#field-0').fill('It is so');
    await page.locator('#field-1').check();
    await page.locator('#field-2').fill('Gone');
    await page.locator('#field-1').uncheck();
    await page.locator('#field-2').waitFor({ state: 'hidden' });
    await sign();
    await portal.reached(id, 'Concluded');
    const { stdout } = await runTool('pdftotext', [
      '-enc',
      'UTF-8',
      '-layout',
      await portal.signedFile(id),
      '-',
    ]);
    for (const value of ['2000', 'PT50', 'It is so']) t.true(stdout.includes(value), stdout);
    t.false(stdout.includes('Gone'), stdout);
  });
}

for (const [device, viewport] of [
  ['desktop', { width: 1280, height: 900 }],
  ['phone', { width: 360, height: 740 }],
] as const) {
  test.serial(`a participant attaches a file by keyboard on a ${device}`, async (t) => {
    const { portal } = t.context;
    const visited = await visit(t, portal.url, { locale: 'en-US', viewport });
    const { page } = visited;
    const user = { name: 'Ana Souza', email: 'ana@example.test' };
    const fields = [
      { name: 'id', label: 'Passport', type: 'Attachment', required: true, ...place(20), width: 200 },
    ];
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
    const detail = (await portal.document(id)) as unknown as {
      attachments: readonly { filename: string; fileSize: number; mimeType: string; isPrivate: boolean }[];
      flowActions: readonly { fields: readonly { value: string }[] }[];
    };
    t.is(detail.flowActions[0]?.fields[0]?.value, 'passport.pdf');
    t.is(detail.attachments.length, 1);
    t.like(detail.attachments[0], {
      filename: 'passport.pdf',
      fileSize: content.length,
      mimeType: 'application/pdf',
      isPrivate: true,
    });
  });
}

test.serial('the page covers a tag in white until the file has a signature', async (t) => {
  const { portal } = t.context;
  const visited = await visit(t, portal.url, { locale: 'en-US' });
  const { page } = visited;
  const objects = documentObjects();
  objects.set(11, stream('', 'BT /F1 12 Tf 1 0 0 1 20 150 Tm ({{text:Ana:city}}) Tj ET'));
  const people = ['Ana', 'Bob'].map((name, index) => ({
    type: 'Signer',
    step: index + 1,
    allowElectronicSignature: true,
    user: { name, email: `${name.toLowerCase()}@example.test` },
  }));
  const id = await portal.create(classicPdf(objects), people, { textTags: true });
  const visitAs = async (name: string) => {
    await page.goto((await portal.actionUrl(id, `${name}@example.test`)).url);
    await page.locator('.page[data-drawn]').first().waitFor();
  };
  await visitAs('ana');
  const cover = page.locator('.page .cover');
  await cover.waitFor();
  const paper = await page.locator('.page').boundingBox();
  const covered = await cover.boundingBox();
  const isInside = covered !== null && paper !== null && covered.x > paper.x && covered.y > paper.y;
  t.true(isInside && covered.height > 5, JSON.stringify({ paper, covered }));
  const color = await page.evaluate(`getComputedStyle(document.querySelector('.cover')).backgroundColor`);
  t.is(color, 'rgb(255, 255, 255)');

  await page.getByRole('textbox', { name: 'city' }).fill('Braga');
  await openSigning(page);
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.getByText('You signed the document.').waitFor();
  await cover.waitFor({ state: 'detached' });
  await visitAs('bob');
  t.is(await cover.count(), 0);
});

const ANA = { name: 'Ana Souza', email: 'ana@es.test' };
/** English words of the page and of browsers. */
const ENGLISH = /\b(?:the|your|please|must|sign|signed|download|document|field|page|value|done)\b/i;

test.serial('a participant signs in Spanish: code, fields, signature, signed document', async (t) => {
  const { portal } = t.context;
  const visited = await visit(t, portal.url, {
    locale: 'es-MX',
    reducedMotion: 'reduce',
    viewport: { width: 390, height: 844 },
    isMobile: true,
  });
  const { page } = visited;
  const id = await portal.create(
    clausePdf(2),
    [
      {
        type: 'Signer',
        user: ANA,
        allowElectronicSignature: true,
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
  await outcome.filter({ hasText: 'El código es incorrecto o caducó.' }).waitFor();
  await inSpanish('wrong code');
  await assertAccessible(t, page, 'wrong code');
  await page.getByLabel('Código del correo').fill(code);
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
  await page.getByRole('heading', { name: 'Usted lo firmó. Gracias.', exact: true }).waitFor();
  await inSpanish('concluded');
});
