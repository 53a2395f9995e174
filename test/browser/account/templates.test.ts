/** Templates in a real browser: made in the editor and of a document, used, changed and deleted, in three languages. */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import type { Page } from 'playwright-core';
import { clausePdf } from '../../crypto/pdf/build.ts';
import { mailedLink } from '../../http/portal/accounts/users.ts';
import { reached } from '../../project/waiting.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { openMenu, visit } from '../browser.ts';
import { type AccountPages, goTo, ownOrganization, sharePortal } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
sharePortal(test);

const CONTRACT = { name: 'lease.pdf', mimeType: 'application/pdf', buffer: clausePdf(2) };

async function looksGood(t: ExecutionContext, page: Page, what: string): Promise<void> {
  await assertAccessible(t, page, what);
  t.true(
    await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    what,
  );
}

interface Detail {
  readonly name: string;
  readonly template: { readonly version: number } | null;
  readonly flowActions: readonly {
    readonly title: string;
    readonly user: { readonly name: string; readonly email: string };
    readonly fields?: readonly { readonly presetValue: string | null }[];
  }[];
}

for (const [what, options] of [
  ['desktop', { locale: 'en-US', viewport: { width: 1280, height: 800 } }],
  [
    'dark phone',
    { locale: 'en-US', viewport: { width: 390, height: 844 }, colorScheme: 'dark', isMobile: true },
  ],
] as const) {
  test.serial(
    `a sender creates a template, uses it, changes it and deletes it by keyboard (${what})`,
    async (t) => {
      const email = `${what.replace(' ', '-')}@example.org`;
      const program = await ownOrganization(t.context, email);
      const visited = await visit(t, program.url, { ...options, reducedMotion: 'reduce' });
      const { page } = visited;
      await page.goto(await mailedLink(program, email));
      await page.getByRole('button', { name: /Sign in/ }).click();
      await openMenu(page);
      await page.getByRole('link', { name: 'Templates', exact: true }).press('Enter');
      await page.getByText('There are no templates.').waitFor();
      await looksGood(t, page, 'no templates');
      await page.getByRole('link', { name: 'New template' }).press('Enter');
      await page.locator('#editor[data-ready]').waitFor();
      await page.locator('#add-files').setInputFiles(CONTRACT);
      await page.locator('#file-list input').waitFor();
      await page.locator('#next').press('Enter');
      await page.locator('#step-people:focus').waitFor();
      await page.locator('#next').press('Enter');
      await page.locator('#faults', { hasText: 'Give a role' }).waitFor();
      await page.getByLabel('Role in a template').fill('Tenant');
      await page.locator('#next').press('Enter');
      await page.locator('#pages[data-shown]').waitFor();
      await page.locator('.person', { hasText: 'Tenant' }).press('Enter');
      await page.locator('#add-Text').press('Enter');
      await page.locator('#item-label').fill('City');
      await page.getByRole('button', { name: 'City: Tenant' }).waitFor();
      await looksGood(t, page, 'fields of a template');
      await page.locator('#next').press('Enter');
      await page.getByRole('button', { name: 'Save as template' }).press('Enter');
      await page.locator('#faults', { hasText: 'Give the template a name.' }).waitFor();
      await page.locator('#template-name:focus').waitFor();
      await page.locator('#template-name').fill('Lease');
      await looksGood(t, page, 'review of a template');
      await page.getByRole('button', { name: 'Save as template' }).press('Enter');
      await page.getByText('The template is saved.').waitFor();
      await looksGood(t, page, 'template');
      const main = page.locator('.main:is(button, a):visible');
      t.deepEqual(await main.allTextContents(), ['Send'], 'one primary action');

      // A refused form keeps what was typed.
      await page.getByLabel('Name', { exact: true }).fill('Ana');
      await page.getByLabel('E-mail').fill('ana@localhost,');
      await page.evaluate(`document.querySelector('form[action*="/documents"]').noValidate = true`);
      await page.getByLabel('City').fill('Braga');
      await page.getByRole('button', { name: 'Send', exact: true }).press('Enter');
      await page.getByText('That did not work.').waitFor();
      t.is(await page.getByLabel('City').inputValue(), 'Braga');
      await looksGood(t, page, 'refused');
      await page.getByLabel('E-mail').fill('ana@example.org');
      await page.getByLabel('Title of the document').fill('Lease of Ana');
      await page.keyboard.press('Enter');
      await page.getByText('The document is sent.').waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const made = await program.acme.get<Detail>(`/api/documents/${id}`);
      t.like(made, { name: 'Lease of Ana', template: { version: 1 } });
      t.like(made.flowActions[0], { title: 'Tenant', user: { name: 'Ana', email: 'ana@example.org' } });
      t.is(made.flowActions[0]?.fields?.[0]?.presetValue, 'Braga');

      // A template of the document.
      await page.getByLabel('More', { exact: true }).press('Enter');
      await page.getByText('Save as template', { exact: true }).first().press('Enter');
      await page.getByLabel('Name of the template').fill('Copy');
      await page.getByRole('button', { name: 'Save as template' }).press('Enter');
      await page.getByText('The template is saved.').waitFor();
      await page.getByRole('heading', { name: 'Copy' }).waitFor();
      t.is(await page.getByLabel('City').inputValue(), '', 'the value of the document is not kept');

      // A new version; the older one can still be used.
      await page.getByRole('link', { name: 'All templates' }).press('Enter');
      await looksGood(t, page, 'templates');
      t.deepEqual(await main.allTextContents(), ['New template']);
      await page.getByRole('link', { name: 'Lease' }).press('Enter');
      await page.getByRole('link', { name: 'Edit the template' }).press('Enter');
      await goTo(page, 'People');
      await page.getByRole('button', { name: 'Add a person' }).press('Enter');
      await page.getByLabel('Role in a template').nth(1).fill('Landlord');
      await goTo(page, 'Review');
      await page.getByRole('button', { name: 'Save as version 2' }).press('Enter');
      await page.getByText('The template is saved.').waitFor();
      await page.getByRole('group', { name: 'Landlord' }).waitFor();
      t.is(await page.getByLabel('City').count(), 1);
      await page.getByRole('link', { name: /^Version 1,/ }).press('Enter');
      await page.getByText('The newest is version 2.').waitFor();
      t.is(await page.getByRole('group', { name: 'Landlord' }).count(), 0);
      await looksGood(t, page, 'older version');
      await page.getByText('Delete the template', { exact: true }).press('Enter');
      await page.getByRole('button', { name: 'Yes, delete all versions' }).press('Enter');
      await page.getByText('The template is deleted.').waitFor();
      t.is((await program.acme.get<{ items: unknown[] }>('/api/templates')).items.length, 1);
    },
  );
}

test.serial(
  'a form submitted twice makes one document, and pages are available in Portuguese and Spanish',
  async (t) => {
    const program = await ownOrganization(t.context, 'twice@example.org');
    const { id, name, contentType } = await program.acme.upload();
    const { id: template } = await program.acme.post<{ id: string }>('/api/templates', {
      name: 'عقد Lease',
      document: {
        files: [{ id, displayName: 'Lease', name, contentType }],
        flowActions: [{ title: 'Tenant', allowElectronicSignature: true }],
      },
    });
    const visited = await visit(t, program.url, { locale: 'pt-BR', viewport: { width: 390, height: 844 } });
    const { page } = visited;
    await page.goto(await mailedLink(program, 'twice@example.org'));
    await page.locator('form button[type="submit"]').first().click();
    await page.goto(`${program.url}/account/templates`);
    await page.getByRole('heading', { name: 'Modelos' }).waitFor();
    await looksGood(t, page, 'list in Portuguese');
    const address = `${program.url}/account/templates/${template}?culture=es`;
    await page.goto(address);
    await looksGood(t, page, 'use in Spanish');
    await page.getByText('Menú', { exact: true }).click();
    t.is(
      await page.getByRole('link', { name: 'Português' }).getAttribute('href'),
      `/account/templates/${template}?culture=pt`,
    );
    await page.getByText('Menú', { exact: true }).click();
    await page.getByLabel('Nombre', { exact: true }).fill('Ana');
    await page.locator('#email-0').fill('ana@example.org');
    await page.getByRole('button', { name: 'Enviar' }).dblclick();
    // The second click ends the navigation of the first, which waitForURL takes for a failure.
    await reached(() => page.url().includes('done=sent'));
    t.like(await program.acme.get('/api/documents'), { totalCount: 1 });
    await page.goto(`${program.url}/account/templates/${id}`);
    t.is(await page.getByRole('heading', { level: 1 }).count(), 1);
    t.is((await page.request.get(`${program.url}/account/templates/${id}`)).status(), 404);
  },
);
