/** The editor by mouse, keyboard and finger: fields on the pages, undo, names that signers read; and a table sent row by row. */
import { readFileSync } from 'node:fs';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import exceljs from 'exceljs';
import type { Locator, Page } from 'playwright-core';
import { until } from '../../actors/portal/service.ts';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, goTo, PHONE, savedDraft, shareAccountPages, signIn } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
shareAccountPages(test, 'Ana', ({ acme }) => acme.post('/api/folders', { name: 'Sales' }));

const CONTRACT = { name: 'lease.pdf', mimeType: 'application/pdf', buffer: clausePdf(3) };
const DESK = { locale: 'en-US', viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' } as const;

interface SentDocument {
  readonly name: string;
  readonly folder: { readonly name: string } | null;
  readonly description: string | null;
  readonly flowActions: readonly {
    readonly step: number;
    readonly user: { readonly name: string };
    readonly marks: readonly { readonly pageNumber: number; readonly topLeftX: number }[];
    readonly fields?: readonly Field[];
  }[];
}

interface Field {
  readonly label: string;
  readonly name: string;
  readonly format: string | null;
  readonly place: { readonly pageNumber: number; readonly topLeftX: number; readonly width: number };
}

/** Opens the editor with a file and a person who signs, at the step of the fields. */
async function openFields(t: ExecutionContext<AccountPages>, options: object): Promise<Page> {
  const { program } = t.context;
  const visited = await visit(t, program.url, options);
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#add-files').setInputFiles(CONTRACT);
  await page.locator('#file-list li').waitFor();
  await goTo(page, 'People');
  await page.locator('#person-0-name').fill('Ana');
  await page.locator('#person-0-email').fill('ana@example.org');
  await goTo(page, 'Fields');
  await page.locator('#pages[data-shown]').waitFor();
  return page;
}

async function middleOf(locator: Locator): Promise<{ readonly x: number; readonly y: number }> {
  const box = await locator.boundingBox();
  if (box === null) throw new Error('The element is not shown.');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function dragBy(page: Page, what: Locator, x: number, y: number): Promise<void> {
  const from = await middleOf(what);
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + x / 2, from.y + y / 2);
  await page.mouse.move(from.x + x, from.y + y);
}

/** Presses Tab until an element has the focus. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    if (await page.evaluate(`document.activeElement.matches(${JSON.stringify(selector)})`)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${selector}.`);
}

test.serial(
  'fields are dragged, aligned, copied and undone by mouse, and signers read their names',
  async (t) => {
    const { program } = t.context;
    const page = await openFields(t, DESK);
    // Palette, page and properties are on the screen together.
    for (const part of ['#add-Attachment', '.page[data-page="1"]', '.pane.end'])
      t.true(((await page.locator(part).boundingBox())?.y ?? 800) < 700, part);
    const first = page.locator('.page[data-page="1"]');
    await page.locator('#add-Text').dragTo(first, { targetPosition: { x: 200, y: 120 } });
    const text = page.getByRole('button', { name: 'Text 1 of Ana: Ana' });
    await text.waitFor();
    await page.locator('#add-Date').dragTo(first, { targetPosition: { x: 300, y: 240 } });
    const date = page.getByRole('button', { name: 'Date 1 of Ana: Ana' });
    await date.waitFor();

    // Near the edge of the other the field jumps to it, and a line shows it.
    const wanted = await text.boundingBox();
    const before = await date.boundingBox();
    await dragBy(page, date, (wanted?.x ?? 0) - (before?.x ?? 0) + 3, 40);
    await page.locator('.guide.x').first().waitFor();
    await page.mouse.up();
    await page.locator('.guide').first().waitFor({ state: 'detached' });
    t.true(Math.abs(((await date.boundingBox())?.x ?? 0) - (wanted?.x ?? 0)) < 1);
    await page.getByRole('button', { name: 'Undo' }).click();
    t.deepEqual(await date.boundingBox(), before, 'one drag is undone at once');
    await page.getByRole('button', { name: 'Redo' }).click();
    t.true(Math.abs(((await date.boundingBox())?.x ?? 0) - (wanted?.x ?? 0)) < 1);

    // The corner changes the size; the field stays at its place when the page is enlarged.
    await date.click();
    await dragBy(page, date.locator('.corner'), 60, 20);
    await page.mouse.up();
    const wide = await date.getAttribute('style');
    await page.getByRole('button', { name: 'Larger' }).click();
    t.is(await date.getAttribute('style'), wide);
    await page.getByRole('button', { name: /fit to the width/ }).click();

    // Properties, copies, and a removal that is undone by keyboard.
    await text.click();
    await page.locator('#item-format').selectOption('Digits');
    await page.getByRole('button', { name: 'Copy to all pages' }).click();
    await page.locator('#place-state', { hasText: 'copied to 2 pages' }).waitFor();
    await page.getByRole('button', { name: 'Duplicate' }).click();
    t.is(await page.locator('.placed[data-kind="Text"]').count(), 4);
    await page.locator('.placed[data-kind="Text"]:focus').waitFor();
    await page.keyboard.press('Delete');
    t.is(await page.locator('.placed[data-kind="Text"]').count(), 3);
    await page.keyboard.press('Control+z');
    t.is(await page.locator('.placed[data-kind="Text"]').count(), 4);
    await page.keyboard.press('Control+Shift+z');
    t.is(await page.locator('.placed[data-kind="Text"]').count(), 3);
    await date.click();
    await page.locator('#item-label').fill('Day of birth');
    await page.getByRole('button', { name: 'Day of birth: Ana' }).waitFor();
    await assertAccessible(t, page, 'fields');
    await page.emulateMedia({ colorScheme: 'dark' });
    await assertAccessible(t, page, 'fields in the dark');
    await page.emulateMedia({ colorScheme: 'light', forcedColors: 'active' });
    await assertAccessible(t, page, 'fields in high contrast');
    await page.emulateMedia({ forcedColors: 'none' });

    await page.locator('#next').click();
    await page.locator('#folder').selectOption({ label: 'Sales' });
    await page.locator('#expires').fill('2020-01-01');
    await page.locator('#send').click();
    await page.locator('#faults', { hasText: 'Choose a day that is not over.' }).waitFor();
    await page.locator('#expires:focus[aria-invalid="true"]').waitFor();
    await page.locator('#expires').fill('');
    await page.locator('#send').click();
    await page.getByText('The document is sent').waitFor();
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    const made = await program.acme.get<SentDocument>(`/api/documents/${id}`);
    t.is(made.folder?.name, 'Sales');
    const fields = made.flowActions[0]?.fields ?? [];
    t.deepEqual(
      fields.map(({ label, format }) => [label, format]),
      [
        ['Text 1 of Ana', 'Digits'],
        ['Day of birth', null],
        ['Text 2 of Ana', 'Digits'],
        ['Text 3 of Ana', 'Digits'],
      ],
    );
    // As the signer reads them.
    const { url } = await program.acme.post<{ url: string }>(`/api/documents/${id}/action-url`, {
      emailAddress: 'ana@example.org',
    });
    await page.goto(url);
    await page.locator('.page[data-drawn]').first().waitFor();
    await page.getByLabel('Text 2 of Ana').first().waitFor({ state: 'attached' });
    t.false((await page.content()).includes('>person-1-field'));
  },
);

test.serial('a document is composed and sent with the keyboard alone', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, DESK);
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#editor[data-ready]').waitFor();
  await tabTo(page, '#add-files');
  const chosen = page.waitForEvent('filechooser');
  await page.locator('#add-files:focus').waitFor();
  await page.keyboard.press('Space');
  await (await chosen).setFiles([CONTRACT, { ...CONTRACT, name: 'annex.pdf' }]);
  await page.locator('#file-list li').nth(1).waitFor();
  await tabTo(page, '#envelope');
  await page.keyboard.press('Space');
  await page.locator('#envelope-name').waitFor();
  await page.keyboard.press('Control+Home');
  await tabTo(page, '#next');
  await page.keyboard.press('Enter');
  await page.locator('#step-people:focus').waitFor();
  await tabTo(page, '#person-0-name');
  await page.keyboard.type('Ana');
  await page.keyboard.press('Tab');
  await page.keyboard.type('ana@example.org');
  await tabTo(page, '#add-person');
  await page.keyboard.press('Enter');
  await page.locator('#person-1-name:focus').waitFor();
  await page.keyboard.type('Bo');
  await page.keyboard.press('Tab');
  await page.keyboard.type('bo@example.org');
  // Bo goes first.
  await tabTo(page, '#person-1-up');
  await page.keyboard.press('Enter');
  await page.locator('#person-0-name').and(page.locator('[value="Bo"], :not([value=""])')).waitFor();
  await page.keyboard.press('Shift+Tab');
  await tabTo(page, '#next');
  await page.keyboard.press('Enter');
  await page.locator('#pages[data-shown]').waitFor();
  await tabTo(page, '#add-Text');
  await page.keyboard.press('Enter');
  const box = page.locator('.placed:focus');
  await box.waitFor();
  const part = async (name: 'left' | 'width') =>
    new RegExp(`${name}: ([\\d.]+)%`).exec((await box.getAttribute('style')) ?? '')?.[1];
  const left = await part('left');
  const width = await part('width');
  t.truthy(left);
  await page.keyboard.press('ArrowRight');
  t.not(await part('left'), left);
  t.is(await part('width'), width);
  await page.keyboard.press('Shift+ArrowRight');
  t.not(await part('width'), width);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+y');
  await page.keyboard.press('Delete');
  await page.locator('#add-Text:focus').waitFor();
  t.is(await page.locator('.placed').count(), 0);
  await page.keyboard.press('Control+z');
  await page.locator('.placed').waitFor();
  await tabTo(page, '.placed');
  await tabTo(page, '#item-label');
  await page.keyboard.type('City');
  await page.getByRole('button', { name: 'City: Bo' }).waitFor();
  await tabTo(page, '#next');
  await page.keyboard.press('Enter');
  await page.locator('#step-review:focus').waitFor();
  await tabTo(page, '#message');
  await page.keyboard.type('Please sign.');
  await tabTo(page, '#send');
  await page.keyboard.press('Enter');
  await page.getByText('The document is sent').waitFor();
  const made = await program.acme.get<SentDocument>(
    `/api/documents/${new URL(page.url()).pathname.split('/').at(-1)}`,
  );
  t.like(made, { name: 'lease', description: 'Please sign.' });
  t.deepEqual(
    made.flowActions.map(({ step, user }) => [step, user.name]),
    [
      [1, 'Bo'],
      [2, 'Ana'],
    ],
  );
  t.is(made.flowActions[0]?.fields?.[0]?.label, 'City');
});

test.serial(
  'on a phone steps, palette and properties are within reach, and undo brings a field back',
  async (t) => {
    const page = await openFields(t, PHONE);
    await page.locator('#add-Signature').tap();
    await page.locator('#properties').waitFor();
    const sheet = await page.locator('.pane.end').boundingBox();
    t.true((sheet?.y ?? 0) > 844 / 2, 'the page stays in view above the properties');
    await page.getByRole('button', { name: 'Remove', exact: true }).tap();
    t.is(await page.locator('.placed').count(), 0);
    await page.getByRole('button', { name: 'Undo' }).tap();
    t.is(await page.locator('.placed').count(), 1);
    for (const button of await page.locator('button:visible').all()) {
      const box = await button.boundingBox();
      if ((await button.getAttribute('class'))?.includes('placed')) continue;
      t.true((box?.height ?? 0) >= 44, `${await button.textContent()} is ${box?.height} px high`);
    }
    await assertAccessible(t, page, 'fields on a phone');
    await goTo(page, 'Review');
    await savedDraft(page);
    await page.goBack();
    await page.locator('.step.fields:not([hidden])').waitFor();
    t.is(await page.locator('.placed').count(), 1);
  },
);

test.serial('two presses of Send while the draft is being saved send it once', async (t) => {
  const page = await openFields(t, DESK);
  await goTo(page, 'Review');
  await savedDraft(page);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const drafts = /\/api\/document-drafts\//;
  await page.route(
    drafts,
    async (route) => {
      await released;
      await route.continue();
    },
    { times: 1 },
  );
  const saving = page.waitForRequest(drafts);
  await page.locator('#message').fill('Please sign.');
  await saving;
  const asked: string[] = [];
  page.on('request', (request) => {
    if (drafts.test(request.url())) asked.push(request.method());
  });
  await page.locator('#send').dblclick();
  release();
  await page.getByText('The document is sent').waitFor();
  t.deepEqual(asked, ['PUT', 'POST'], 'one save, one sending');
});

/** 50 rows, of which three cannot be sent. */
function csv(): string {
  const rows = Array.from({ length: 50 }, (_, at) => {
    const mail = at === 6 ? 'nowhere' : `p${at}@example.org`;
    const name = at === 20 ? '' : `"Zoë ""P"" ${at}\nSecond line"`;
    return [name, mail, at === 33 ? 'much' : String(100 + at), 'internal'].join(';');
  });
  return ['Nome;E-mail;Monthly rent;Notes', ...rows].join('\r\n');
}

test.serial(
  'a table of 50 rows becomes documents, and three wrong rows are named before and after',
  async (t) => {
    const { program } = t.context;
    const visited = await visit(t, program.url, DESK);
    const { page } = visited;
    await signIn(page, program);
    const { id, name, contentType } = await program.acme.upload();
    const place = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };
    const fields = [
      { name: 'person-1-field-1', label: 'Monthly rent', type: 'Number', readOnly: true, ...place },
    ];
    const template = await program.acme.post<{ id: string }>('/api/templates', {
      name: 'Flats',
      document: {
        files: [{ id, displayName: 'Flat', name, contentType }],
        flowActions: [{ title: 'Tenant', allowElectronicSignature: true, fields }],
        disableNotifications: true,
      },
    });
    const path = `/account/templates/${template.id}/bulk`;
    const total = async () => (await program.acme.get<{ totalCount: number }>('/api/documents')).totalCount;
    const before = await total();
    const choose = async (buffer: Buffer, file: string) => {
      await page.goto(`${program.url}${path}`);
      await page.locator('[data-island="table"][data-live]').waitFor();
      await page.locator('#table-file').setInputFiles({ name: file, mimeType: 'text/csv', buffer });
    };
    await page.goto(`${program.url}/account/templates/${template.id}`);
    await page.getByRole('link', { name: 'Send to many' }).click();
    await page.getByText('At most 10,000 rows').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Empty table with the columns of this template (CSV)' }).click();
    t.is((await download).suggestedFilename(), 'Flats.csv');
    const columns = '\uFEFF"Tenant.name","Tenant.email","Monthly rent"\r\n';
    t.is(readFileSync(await (await download).path(), 'utf8'), columns);

    // What cannot be read says why, at the input.
    await choose(Buffer.from([0, 1, 2]), 'people.csv');
    await page.locator('#refusal', { hasText: 'people.csv cannot be used.' }).waitFor();
    t.is(await page.locator('#table-file').getAttribute('aria-invalid'), 'true');
    await assertAccessible(t, page, 'refused table');

    // With a byte order mark, semicolons, quoted lines; then in Windows-1252.
    for (const bytes of [Buffer.from(`\uFEFF${csv()}`), Buffer.from(csv(), 'latin1')]) {
      await choose(bytes, 'people.csv');
      await page.getByText('3 rows become no documents').waitFor();
      t.deepEqual(await page.locator('#table-faults .badge').allTextContents(), [
        'Row 7',
        'Row 21',
        'Row 34',
      ]);
      const chosen = (label: string) =>
        page.getByLabel(label, { exact: true }).locator('option:checked').textContent();
      t.deepEqual(await Promise.all(['nome', 'e-mail', 'monthly rent', 'notes'].map(chosen)), [
        'Tenant: Name',
        'Tenant: E-mail',
        'Monthly rent',
        'Not used',
      ]);
      await page.getByText('Zoë "P" 0').first().waitFor();
    }
    await assertAccessible(t, page, 'preview');
    t.is(await total(), before, 'a preview creates nothing');
    // Another column for the name, and back.
    await page.getByLabel('notes', { exact: true }).selectOption({ label: 'Title of the document' });
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.waitForURL(/preview/);
    t.is(
      await page.getByLabel('notes', { exact: true }).locator('option:checked').textContent(),
      'Title of the document',
    );

    // Columns by which no row was checked send nothing.
    await page.getByLabel('notes', { exact: true }).selectOption({ label: 'Not used' });
    await page.getByRole('button', { name: 'Send 47 documents' }).click();
    await page.getByText('The columns have changed since the rows were checked.').waitFor();
    const notes = page.getByLabel('notes', { exact: true });
    t.is(await notes.locator('option:checked').textContent(), 'Not used');
    t.is(await total(), before);
    await notes.selectOption({ label: 'Title of the document' });
    await page.getByRole('button', { name: 'Check again' }).click();
    await page.waitForURL(/preview/);

    await page.getByRole('button', { name: 'Send 47 documents' }).dblclick();
    // Two presses are two navigations, one of which ends the other.
    await until(async () => /bulk\/[-0-9a-f]{36}/.test(page.url()) || undefined);
    // The page may be closed: the service goes on.
    const address = page.url();
    await page.goto('about:blank');
    await until(async () => ((await total()) - before >= 47 ? true : undefined));
    await page.goto(address);
    await page
      .locator('#bulk-state', { hasText: '47 documents are sent, 3 rows become no documents' })
      .waitFor();
    t.is((await total()) - before, 47, 'the form is sent twice, the documents are made once');
    t.is(await page.locator('#bulk-rows tr').count(), 50);
    t.is(await page.locator('#bulk-rows .badge.bad').count(), 3);
    t.regex((await page.locator('#bulk-rows tr').nth(6).textContent()) ?? '', /Not sent/);
    await assertAccessible(t, page, 'results');
    const made = await program.acme.get<SentDocument>(
      `/api/documents/${(await page.locator('#bulk-rows a').first().getAttribute('href'))?.split('/').at(-1)}`,
    );
    t.is(made.name, 'internal');
    t.regex(made.flowActions[0]?.user.name ?? '', /^Zoë "P" 0/);

    // A spreadsheet, whose columns have the names of the template.
    const book = new exceljs.Workbook();
    const sheet = book.addWorksheet('People');
    sheet.addRow(['Tenant.name', 'Tenant.email', 'Monthly rent']);
    sheet.addRow(['Ana', 'ana@example.org', { formula: '2*475', result: 950 }]);
    await choose(Buffer.from(await book.xlsx.writeBuffer()), 'people.xlsx');
    await page.getByRole('button', { name: 'Send 1 document' }).click();
    await page.locator('#bulk-state', { hasText: '1 document is sent' }).waitFor();
    t.is((await total()) - before, 48);
  },
);
