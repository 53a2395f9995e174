/** Links for anybody in a real browser: a sender makes one of a template, copies it, shows its code, and ends it. */
import anyTest, { type TestFn } from 'ava';
import { LANGUAGES } from '../../../contracts/portal/words.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessibleInThemes } from '../axe.ts';
import { OUT_OF_REACH, visit } from '../browser.ts';
import { type AccountPages, PHONE, shareAccountPages, signIn } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
shareAccountPages(test, 'Ana');

const PLACE = { topLeftX: 10, topLeftY: 10, width: 80, height: 20 };

test.serial(
  'a sender makes a link by keyboard, copies it, prints its code, and ends it on a phone',
  async (t) => {
    const { program } = t.context;
    const { id: upload, name, contentType } = await program.acme.upload();
    const { id: template } = await program.acme.post<{ id: string }>('/api/templates', {
      name: 'Waiver',
      document: {
        files: [{ id: upload, displayName: 'Waiver', name, contentType }],
        flowActions: [
          {
            title: 'Guest',
            step: 1,
            allowElectronicSignature: true,
            fields: [{ name: 'city', label: 'Your city', readOnly: true, required: true, ...PLACE }],
          },
          { title: 'Host', step: 2, allowElectronicSignature: true },
        ],
      },
    });
    const { page } = await visit(t, program.url, {
      ...PHONE,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.setViewportSize({ width: 1280, height: 800 });
    await signIn(page, program);
    await page.goto(`${program.url}/account/templates/${template}`);
    await page.getByRole('link', { name: 'Links for anybody' }).press('Enter');
    await page.getByText('There are no links.').waitFor();
    t.true(await page.getByLabel('Your city (required)').isChecked());
    await assertAccessibleInThemes(t, page, 'new link');
    for (const culture of LANGUAGES) {
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(`${program.url}/account/templates/${template}/links?culture=${culture}`);
      t.deepEqual(await page.evaluate(OUT_OF_REACH), [], culture);
    }
    await page.goto(`${program.url}/account/templates/${template}/links`);
    await page.setViewportSize({ width: 390, height: 844 });
    // The visitor's role has no person; the others have.
    const guest = page.getByRole('group', { name: 'Guest' });
    const host = page.getByRole('group', { name: 'Host' });
    t.false(await guest.getByLabel('E-mail').isVisible());
    await host.getByLabel('Name').fill('Lou');
    await host.getByLabel('E-mail').fill('lou@example.org');
    await page.getByLabel('Title, which visitors read').fill('Climbing hall');
    await page.getByLabel('Most documents in all').fill('150');
    await page.getByLabel('Last day').fill('2000-01-01');
    await page.getByRole('button', { name: 'New link' }).press('Enter');
    await page.locator('#endDate-error').waitFor();
    t.is(await host.getByLabel('E-mail').inputValue(), 'lou@example.org', 'what was entered stays');
    await page.getByLabel('Last day').fill('');
    await page.getByRole('button', { name: 'New link' }).press('Enter');
    await page.getByText('The link is ready.').waitFor();
    await assertAccessibleInThemes(t, page, 'link');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), [], 'on a phone');
    await page.getByText('0 of 150').waitFor();
    const address = await page.getByRole('textbox', { name: 'Address of the link' }).inputValue();
    await page.getByRole('button', { name: 'Copy the address' }).press('Enter');
    await page.getByText('The address is copied.').waitFor();
    t.is(await page.evaluate('navigator.clipboard.readText()'), address);
    const { items } = await program.acme.get<{ items: { url: string; role: string }[] }>('/api/public-links');
    t.like(items[0], { url: address, role: 'Guest' });
    await page.emulateMedia({ media: 'print' });
    t.true(await page.getByRole('img', { name: 'QR code of the address' }).isVisible());
    await page.emulateMedia({ media: 'screen' });
    await page.getByText('End the link').press('Enter');
    await page.getByRole('button', { name: 'Yes, nobody can use it any more' }).press('Enter');
    await page.getByText('The link has ended.').waitFor();
    t.is(await page.getByRole('button', { name: 'Copy the address' }).count(), 0);
    await page.getByRole('link', { name: 'All links' }).press('Enter');
    await page.getByRole('cell', { name: 'Ended' }).waitFor();
    await assertAccessibleInThemes(t, page, 'links');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), [], 'list on a phone');
  },
);
