import { writeFile } from 'node:fs/promises';
import { brotliCompressSync } from 'node:zlib';
import ava from 'ava';
import { initialsOf } from '../../actors/shared/rendition/mark-lines.ts';
import { freshPath } from '../crypto/pades/validation/verdicts.ts';
import { clausePdf } from '../crypto/pdf/build.ts';
import { reached } from '../project/waiting.ts';
import { runTool, withTools } from '../verifiers/tool.ts';
import { assertAccessible } from './axe.ts';
import { closeBrowser, openSigning, openTools, visit } from './browser.ts';
import { startPagesServer } from './pages-server.ts';

const test = withTools(ava, 'chromium', 'qpdf');

test.after.always(() => closeBrowser());

const mark = { topLeftX: 60, topLeftY: 600, width: 200, height: 60, fontSize: null };
const MARKS = [
  { ...mark, type: 'SignatureVisualRepresentation', pageNumber: 12 },
  { ...mark, type: 'SignatureInitials', pageNumber: 2 },
] as const;

/** Maximum size of the portal's own scripts that a signing page loads, bytes with Brotli. */
const SCRIPT_BYTES = 19_600;

for (const [shape, viewport] of [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', { width: 390, height: 844 }],
  ['200 per cent', { width: 640, height: 400 }],
] as const) {
  test.serial(`the guide leads to each place and to the actions, by keyboard (${shape})`, async (t) => {
    const site = await startPagesServer(t, { file: clausePdf(12), action: { marks: MARKS } });
    const visited = await visit(t, site.url, { locale: 'en-US', viewport, reducedMotion: 'reduce' });
    const { page, requests } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    const focused = () =>
      page.evaluate('document.activeElement.getAttribute("aria-label") || document.activeElement.id');
    await page.getByRole('button', { name: 'Start', exact: true }).press('Enter');
    t.is(await focused(), 'Your initials go here');
    await page.locator('.page[data-page="2"][data-drawn]').waitFor();
    await page.getByText('1 of 2 done').waitFor();
    await page.getByRole('button', { name: 'Next: Signature', exact: true }).press('Enter');
    t.is(await focused(), 'Sign here');
    await page.locator('.page[data-page="12"][data-drawn]').waitFor();
    await page.getByText('2 of 2 done').waitFor();

    // Pages that were never on the screen are named, one after the other.
    const rail = page.getByRole('button', { name: 'Page 6 of 12, not seen yet' });
    if (!(await rail.isVisible())) {
      await openTools(page);
      await page.getByRole('button', { name: 'Pages', exact: true }).click();
    }
    await rail.click();
    await page.locator('.page[data-page="6"][data-drawn]').waitFor();
    await page.getByRole('button', { name: 'Page 6 of 12', exact: true }).waitFor({ state: 'attached' });
    await page.locator('.thumbnails canvas').first().waitFor({ state: 'attached' });
    await assertAccessible(t, page, shape);
    const unseen = page.locator('#guide-unseen');
    for (let press = 0; press < 12 && (await unseen.isVisible()); press += 1) {
      const before = await unseen.textContent();
      await unseen.press('Enter');
      await unseen
        .and(page.locator(':visible'))
        .filter({ hasText: before ?? '' })
        .waitFor({ state: 'detached' });
    }
    t.false(await unseen.isVisible());
    await page.getByRole('button', { name: 'Finish' }).press('Enter');
    await page.getByRole('dialog').waitFor();
    t.is(await focused(), 'signing-title');
    const button = await page.getByRole('button', { name: 'Sign the document' }).boundingBox();
    const bottom = button && button.y + button.height;
    if (viewport.height >= 480) t.true(bottom !== null && bottom <= viewport.height, 'the button is seen');
    await page.keyboard.press('Escape');
    t.is(await focused(), 'guide-next');

    // The scripts are the same on each screen.
    if (shape !== 'desktop') return;
    const own = requests
      .map((request) => request.replace('GET ', ''))
      .filter((url) => url.endsWith('.js') && url.includes('/assets/'));
    let bytes = 0;
    for (const url of new Set(own))
      bytes += brotliCompressSync(await (await fetch(url)).arrayBuffer()).length;
    t.log(`own scripts: ${bytes} bytes with Brotli`);
    const names = own.map((url) => url.split('/').at(-1) ?? '').sort();
    t.deepEqual(names, ['early-pdf.js', 'font-probe.js', 'signing-client.js']);
    t.true(bytes < SCRIPT_BYTES, `${bytes} bytes`);
  });
}

test.serial(
  'a signature as a typed name, a drawing and a picture is previewed in place and sent',
  async (t) => {
    const site = await startPagesServer(t, { action: { marks: [{ ...MARKS[0], pageNumber: 1 }] } });
    const visited = await visit(t, site.url, { locale: 'en-US', reducedMotion: 'reduce' });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    await page.getByRole('button', { name: 'Start', exact: true }).waitFor();
    t.is(await page.locator('[data-filled]').count(), 0, 'signed before the dialog was open');
    await openSigning(page);
    const preview = page.getByRole('img', { name: 'Preview of your signature' });
    const inPlace = page.locator('[data-mark="SignatureVisualRepresentation"][data-filled]');
    const seen = new Set<string>();
    const changed = async () => {
      await preview.waitFor();
      await inPlace.waitFor();
      let source = '';
      await reached(async () => {
        source = (await preview.getAttribute('src')) ?? '';
        return !seen.has(source);
      });
      t.true((await inPlace.getAttribute('style'))?.includes(source), 'the place shows something else');
      seen.add(source);
    };
    const inPlaceOf = () =>
      page.evaluate<string>(
        `document.querySelector('[data-mark="SignatureVisualRepresentation"]').style.backgroundImage`,
      );
    await changed();
    await page.getByLabel('Handwriting 2').check();
    await changed();
    await page.getByLabel('Handwriting 1').focus();
    await page.keyboard.press('Space');
    await page.getByLabel('Your full name').fill('Žofie Łuczak');
    await changed();
    await assertAccessible(t, page, 'handwriting');

    await page.getByRole('tab', { name: 'Type' }).press('ArrowRight');
    const area = page.getByRole('img', { name: 'Drawing area' });
    await area.scrollIntoViewIfNeeded();
    const box = await area.boundingBox();
    if (box === null) return t.fail('there is no area to draw on');
    for (const x of [20, 120]) {
      const before = await inPlaceOf();
      await page.mouse.move(box.x + x, box.y + 20);
      await page.mouse.down();
      await page.mouse.move(box.x + x + 60, box.y + 60, { steps: 3 });
      await page.mouse.up();
      await reached(async () => (await inPlaceOf()) !== before);
    }
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Your drawing will be shown.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Nothing is drawn.').waitFor();
    await inPlace.waitFor({ state: 'detached' });

    await page.getByRole('tab', { name: 'Upload' }).click();
    const file = page.getByLabel('Picture (PNG, JPEG or WebP)');
    await file.setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
    await page.getByText('This file is no picture').waitFor();
    const source = [...seen][0] ?? '';
    const buffer = Buffer.from(source.slice(source.indexOf(',') + 1), 'base64');
    await file.setInputFiles({ name: 'signature.png', mimeType: 'image/png', buffer });
    await preview.waitFor();
    await page.getByRole('button', { name: 'Sign the document' }).click();
    await page.getByText('You signed the document.').waitFor();
    const sent = site.done.at(-1)?.given['image'];
    if (!Buffer.isBuffer(sent)) return t.fail('no picture was sent');
    t.is(sent.toString('latin1', 1, 4), 'PNG');
  },
);

const place = (topLeftY: number) => ({ topLeftX: 60, topLeftY, width: 200, height: 20, pageNumber: 1 });
const field = {
  isRequired: true,
  formField: null,
  maxLength: 100,
  format: null,
  minimum: null,
  maximum: null,
  options: [],
} as const;
const FIELDS = [
  { ...field, id: 'f1', name: 'city', type: 'Text', label: 'City of birth', place: place(100) },
  {
    ...field,
    id: 'f2',
    name: 'plan',
    type: 'Choice',
    label: 'Plan',
    options: ['Basic', 'Full'],
    place: place(200),
  },
  { ...field, id: 'f3', name: 'agreed', type: 'Checkbox', label: 'I agree', place: place(300) },
] as const;

/** Notes when the first page is drawn, milliseconds from the request for the page. */
const DRAWN_AT = `new MutationObserver((_, observer) => {
  if (document.querySelector('.page[data-drawn]') === null) return;
  globalThis.drawnAt = Math.round(performance.now());
  observer.disconnect();
}).observe(document, { subtree: true, childList: true, attributeFilter: ['data-drawn'] })`;

for (const [width, height, limit] of [
  [390, 844, 100],
  [320, 640, 130],
  [640, 400, 100],
  [1280, 800, 100],
] as const) {
  test.serial(
    `the document begins below one bar, with one button for what comes next (${width} x ${height})`,
    async (t) => {
      const site = await startPagesServer(t, {
        action: { fields: FIELDS, codes: [{ channel: 'Email', to: 'a***@example.test' }] },
      });
      const visited = await visit(t, site.url, { locale: 'en-US', viewport: { width, height } });
      const { page } = visited;
      await page.addInitScript(DRAWN_AT);
      await page.goto(`${site.url}${site.signPath}`);
      await page.locator('.page[data-drawn]').first().waitFor();
      t.log(`the first page is drawn after ${await page.evaluate('drawnAt')} ms`);
      const top = (await page.locator('.page').first().boundingBox())?.y ?? Number.NaN;
      t.log(`the document begins at ${top} px, ${Math.round((100 * top) / height)} % of the screen`);
      t.true(top <= limit, `${top} px`);
      t.deepEqual(await page.locator('.main:is(button, a):visible').allTextContents(), ['Start']);
      const button = await page.getByRole('button', { name: 'Start' }).boundingBox();
      t.true(button !== null && button.height >= 44 && button.y + button.height <= height, 'off the screen');
      t.true((await page.evaluate<number>('document.documentElement.scrollWidth')) <= width);
    },
  );
}

for (const [shape, viewport, colorScheme] of [
  ['desktop', { width: 1280, height: 800 }, 'light'],
  ['dark phone', { width: 390, height: 844 }, 'dark'],
] as const) {
  test.serial(`the guide leads to each field, and typed text survives a reload (${shape})`, async (t) => {
    const initials = { ...MARKS[1], pageNumber: 1 };
    const site = await startPagesServer(t, { action: { marks: [initials], fields: FIELDS } });
    const visited = await visit(t, site.url, {
      locale: 'en-US',
      viewport,
      colorScheme,
      reducedMotion: 'reduce',
    });
    const { page } = visited;
    await page.goto(`${site.url}${site.signPath}`);
    const inPlace = (name: string) => page.locator('.page').getByRole('group', { name, exact: true });
    await page.getByRole('button', { name: 'Start', exact: true }).press('Enter');
    const onPage = page.locator('.page');
    await onPage.getByLabel('City of birth').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('Łódź');
    await page.keyboard.press('Enter');
    await onPage.getByLabel('Plan').and(page.locator(':focus')).selectOption('Full');
    await assertAccessible(t, page, shape);
    await page.keyboard.press('Enter');
    await onPage.getByLabel('I agree').and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Space');
    await page.getByText('3 of 4 done').waitFor();

    await inPlace('Your initials go here').getByText('AMS').waitFor();
    await openSigning(page);
    await page.getByLabel('Your full name').fill('žofie łuczak');
    await inPlace('Your initials go here').getByText('ŽŁ').waitFor();

    await page.reload();
    await page.getByText('3 of 4 done').waitFor();
    await inPlace('Your initials go here').getByText('ŽŁ').waitFor();
    t.is(await onPage.getByLabel('City of birth').inputValue(), 'Łódź');
    t.is(await onPage.getByLabel('Plan').inputValue(), 'Full');
    t.true(await onPage.getByLabel('I agree').isChecked());
    await openSigning(page);
    await page.getByRole('button', { name: 'Sign the document' }).press('Enter');
    await page.getByText('You signed the document.').waitFor();
    t.deepEqual(site.done.at(-1)?.given['fieldValues'], { city: 'Łódź', plan: 'Full', agreed: true });
    // A draft ends with the signature.
    t.is(await page.evaluate('sessionStorage.length'), 0);
  });
}

test.serial('what is missing is marked at once, and fields without labels have readable names', async (t) => {
  const unnamed = (number: number, type: 'Text' | 'Date') => {
    const name = `person-1-field-${number}`;
    return { ...field, id: name, name, label: name, type, place: place(80 * number) };
  };
  const fields = [
    unnamed(1, 'Text'),
    unnamed(2, 'Date'),
    unnamed(3, 'Text'),
    { ...field, id: 'tax', name: 'tax_number', label: 'tax_number', type: 'Text', place: place(400) },
  ] as const;
  const site = await startPagesServer(t, {
    action: { fields, codes: [{ channel: 'Email', to: 'a***@example.test' }] },
  });
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page input').nth(3).waitFor();
  const labels = await page
    .locator('.page [aria-label]')
    .and(page.locator('input'))
    .evaluateAll((inputs) => inputs.map((input: { ariaLabel: unknown }) => input.ariaLabel));
  t.deepEqual(labels, ['Text 1', 'Date', 'Text 2', 'Tax number']);
  // Past the last place.
  for (const label of labels)
    await page
      .getByRole('button', { name: `Next: ${label}` })
      .or(page.getByRole('button', { name: 'Start' }))
      .press('Space');
  await page.locator('#guide-next').press('Space');
  await page.locator('#outcome', { hasText: 'Text 1: This field is required.' }).waitFor();
  t.is(await page.locator('[aria-invalid="true"]').count(), 4);
  t.true(await page.locator('#field-0:focus').isVisible());
  t.notRegex(await page.content(), /person-1-field-\d[^"]/);
  const inputs = page.locator('.page input');
  for (const [index, value] of ['a', '2027-01-02', 'b', 'c'].entries()) await inputs.nth(index).fill(value);
  await openSigning(page);
  await page.getByLabel('Your full name').fill('');
  await page.getByRole('button', { name: 'Sign the document' }).click();
  await page.locator('#outcome', { hasText: 'Type your full name.' }).waitFor();
  t.is(await page.locator('[aria-invalid="true"]').count(), 2);
  t.true(await page.locator('#typed-name:focus').isVisible());
});

test.serial('initials on every page are previewed before they are placed', async (t) => {
  const site = await startPagesServer(t, { action: { initialsMode: 'Optional' } });
  const visited = await visit(t, site.url, { locale: 'en-US' });
  const { page } = visited;
  await page.goto(`${site.url}${site.signPath}`);
  await page.locator('.page[data-drawn]').first().waitFor();
  const shown = page.locator('.page .initials', { hasText: 'AMS' });
  t.is(await shown.count(), 0);
  await openSigning(page);
  await page.getByRole('checkbox', { name: 'Put my initials on every page' }).check();
  await shown.nth(2).waitFor();
  t.is(await shown.count(), 3);
  for (const name of [' žofie  łuczak ', 'A B C D E F', '李 小龙']) {
    await page.getByLabel('Your full name').fill(name);
    await page
      .locator('.page .initials')
      .first()
      .getByText(initialsOf(name.trim()), { exact: true })
      .waitFor();
  }
  await page.getByLabel('Your full name').fill('Ana María Souza');
  await page.getByRole('checkbox', { name: 'Put my initials on every page' }).uncheck();
  await shown.first().waitFor({ state: 'detached' });
});

for (const [shape, viewport] of [
  ['desktop', { width: 1280, height: 800 }],
  ['phone', { width: 390, height: 844 }],
] as const) {
  test.serial(`each page of the document is printed on one sheet (${shape})`, async (t) => {
    const site = await startPagesServer(t, { action: { marks: [{ ...MARKS[1], pageNumber: 1 }] } });
    const visited = await visit(t, site.url, { locale: 'en-US', viewport, reducedMotion: 'reduce' });
    const { page } = visited;
    await page.addInitScript('window.print = () => { document.documentElement.dataset.printed = "yes"; }');
    await page.goto(`${site.url}${site.signPath}`);
    await openTools(page);
    await page.getByRole('button', { name: 'Print', exact: true }).click();
    await page.locator('html[data-printed]').waitFor();
    t.is(await page.locator('.page[data-drawn]').count(), 3);
    const sheets = async (options: object) => {
      const path = freshPath('printed.pdf');
      await writeFile(path, await page.pdf({ ...options, printBackground: true }));
      return (await runTool('qpdf', ['--show-npages', path])).stdout.trim();
    };
    for (const options of [
      { format: 'A4' },
      { format: 'A4', preferCSSPageSize: true },
      { format: 'Letter' },
      { format: 'A5', landscape: true },
      { format: 'A4', margin: { top: '20mm', bottom: '20mm', left: '10mm', right: '10mm' } },
    ]) {
      t.is(await sheets(options), '3', JSON.stringify(options));
    }
    // The page that shows the signed document.
    await page.goto(`${site.url}${site.signPath.replace(/ticket=[^&]*/, 'ticket=state-concluded')}`);
    await page.getByRole('button', { name: 'Print', exact: true }).click();
    await page.locator('html[data-printed]').waitFor();
    t.is(await page.locator('.page[data-drawn]').count(), 3, 'signed');
    t.is(await sheets({ format: 'A4' }), '3', 'signed');
  });
}
