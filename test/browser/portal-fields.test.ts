import test from 'ava';
import { clausePdf } from '../crypto/pdf/build.ts';
import { pki } from '../pki/pki.ts';
import { pdfsig, requireTool, runTool } from '../verifiers/index.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, visit } from './browser.ts';
import { PortalProgram } from './portal-program.ts';

test.after.always(() => closeBrowser());

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
    if (!requireTool(t, 'pdftotext')) return;
    const portal = await PortalProgram.start(t);
    const visited = await visit(t, portal.url, { locale: 'en-US', viewport });
    if (visited === undefined) return;
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
