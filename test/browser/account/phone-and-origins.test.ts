/** The sender's pages by finger on a phone, and the embedding origins of an organization, in a browser. */
import anyTest, { type TestFn } from 'ava';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { assertAccessible } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, goTo, PHONE, savedDraft, shareAccountPages, signIn } from './account-pages.ts';

const test = anyTest as TestFn<AccountPages>;
shareAccountPages(test, 'Ana');

test.serial('a tap removes a field, and the saved draft no longer has it', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, PHONE);
  if (visited === undefined) return;
  const { page } = visited;
  await signIn(page, program);
  await page.goto(`${program.url}/account/documents/new`);
  await page.locator('#editor[data-ready]').waitFor();
  await page
    .locator('#add-files')
    .setInputFiles({ name: 'lease.pdf', mimeType: 'application/pdf', buffer: clausePdf(2) });
  await page.locator('#file-list input').waitFor();
  await goTo(page, 'People');
  await page.locator('#people-list [name="name"]').first().fill('Bo');
  await page.locator('#people-list [name="email"]').first().fill('bo@example.org');
  await goTo(page, 'Fields');
  await page.locator('#pages[data-shown]').waitFor();
  for (const kind of ['Signature', 'Date', 'Text']) {
    await page.locator(`#add-${kind}`).tap();
    await page.locator(`.placed[data-kind="${kind}"][aria-pressed="true"]`).waitFor();
  }
  t.is(await page.locator('.placed').count(), 3);
  const remove = page.getByRole('button', { name: 'Remove', exact: true });
  const box = await remove.boundingBox();
  t.true((box?.height ?? 0) >= 44, `the button is ${box?.height} px high`);
  await assertAccessible(t, page, 'chosen field');
  await remove.tap();
  await page.locator('#place-state', { hasText: 'Text 1 of Bo was removed.' }).waitFor();
  t.is(await page.locator('.placed').count(), 2);
  t.is(await page.locator('.placed', { hasText: 'Text' }).count(), 0);
  t.is(await page.evaluate('document.activeElement.id'), 'add-Text');
  await assertAccessible(t, page, 'after a removal');
  await savedDraft(page);
  await page.reload();
  await page.locator('#pages[data-shown]').waitFor();
  await page.locator('.placed').nth(1).waitFor();
  t.is(await page.locator('.placed').count(), 2);
});

test.serial('the filters of the documents are folded, also without a script', async (t) => {
  const { program } = t.context;
  await program.acme.create([{ user: { name: 'Bo', email: 'bo@example.org' } }]);
  for (const javaScriptEnabled of [true, false]) {
    const visited = await visit(t, program.url, { ...PHONE, javaScriptEnabled });
    if (visited === undefined) return;
    const { page } = visited;
    await signIn(page, program);
    await page.goto(`${program.url}/account/documents`);
    const filters = page.locator('.filters');
    t.false(await filters.isVisible());
    const row = await page.locator('tbody tr').first().boundingBox();
    t.true((row?.y ?? 844) < 320, `the first document begins at ${row?.y}`);
    await page.getByText('Filters', { exact: true }).press('Enter');
    await filters.waitFor();
    if (javaScriptEnabled) await assertAccessible(t, page, 'open filters');
    await page.getByLabel('Status').selectOption('Concluded');
    await page.getByRole('button', { name: 'Show' }).press('Enter');
    await page.getByText('No document matches.').waitFor();
    await page.getByRole('link', { name: 'Remove the filter Concluded' }).click();
    await page.locator('tbody tr').first().waitFor();
  }
});

test.serial('an administrator edits the embedding origins, which then apply to frames', async (t) => {
  const { program } = t.context;
  const visited = await visit(t, program.url, { locale: 'en-US' });
  if (visited === undefined) return;
  const { page } = visited;
  const document = await program.acme.create([
    { user: { name: 'Bo', email: 'bo@example.org' }, allowElectronicSignature: true },
  ]);
  const { embedUrl } = await program.acme.post<{ embedUrl: string }>(
    `/api/documents/${document}/action-url`,
    { emailAddress: 'bo@example.org' },
  );
  const ancestors = async () => {
    const answer = await fetch(embedUrl);
    return /frame-ancestors ([^;]+)/.exec(answer.headers.get('content-security-policy') ?? '')?.[1];
  };
  await signIn(page, program);
  await page.goto(`${program.url}/organization`);
  const origins = page.getByLabel('Origins that may show the signing pages');
  const save = page.getByRole('region', { name: 'Embedding' }).getByRole('button', { name: 'Save' });
  await origins.fill('https://app.example.org\nnot an origin');
  await save.press('Enter');
  await page.locator('#origins-error', { hasText: 'Each line must be an origin' }).waitFor();
  t.is(await page.evaluate('document.activeElement.id'), 'origins');
  t.is(await origins.inputValue(), 'https://app.example.org\nnot an origin');
  await assertAccessible(t, page, 'refused origins');
  t.not(await ancestors(), 'https://app.example.org');

  await origins.fill('https://app.example.org\nhttps://shop.example.org');
  await save.press('Enter');
  await page.getByText('The origins are saved.').waitFor();
  t.is(await origins.inputValue(), 'https://app.example.org\nhttps://shop.example.org');
  t.is(await ancestors(), 'https://app.example.org https://shop.example.org');
  await origins.fill('');
  await save.press('Enter');
  await page.getByText('The origins are saved.').waitFor();
  await page.reload();
  t.is(await origins.inputValue(), '');
  t.is(await ancestors(), '*');
});
