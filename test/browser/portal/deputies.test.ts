/** A person who names a deputy, and the deputy who acts on a telephone while the service is killed, in a real browser. */
import anyTest from 'ava';
import type { Page } from 'playwright-core';
import { mailedCode } from '../../actors/portal/mails/mailed-code.ts';
import { type PortalProgram, startProgram, until } from '../../actors/portal/service.ts';
import { temporaryRoot } from '../../service/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { PHONE } from '../account/account-pages.ts';
import { assertAccessibleInThemes } from '../axe.ts';
import { closeBrowser, OUT_OF_REACH, visit } from '../browser.ts';

const test = withTools(anyTest, 'chromium');
test.after.always(closeBrowser);

const ANA = { name: 'Ana', email: 'ana@example.org' };
const LOU = { name: 'Lou Lima', email: 'lou@example.org' };

async function enter(page: Page, { url, service }: PortalProgram, { email }: typeof ANA): Promise<void> {
  await page.goto(`${url}/waiting`);
  await page.locator('input[type="email"]').fill(email);
  await page.locator('form button[type="submit"]').first().press('Enter');
  await page.locator('input[autocomplete="one-time-code"]').fill(await mailedCode(service, email));
  await page.locator('form button[type="submit"]').first().press('Enter');
  await page.getByRole('link', { name: 'Deputies' }).click();
}

test('a deputy signs for a person when the service is killed, once and in the own name', async (t) => {
  const root = await temporaryRoot(t);
  const first = await startProgram(t, { root, faults: 'portal.sign.accepted=kill:1' });
  const id = await first.acme.create([{ user: ANA, allowElectronicSignature: true, allowPassingOn: true }]);

  const { page } = await visit(t, first.url, { locale: 'en-US' });
  await enter(page, first, ANA);
  await page.getByLabel('Full name').fill(LOU.name);
  await page.getByLabel('E-mail').fill(ANA.email);
  await page.getByLabel('Reason').fill('I am on leave.');
  const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel('Until').fill(day);
  const naming = page.getByRole('button', { name: 'Name a deputy' });
  await naming.press('Enter');
  t.true(await page.locator('#email[aria-invalid="true"]').isVisible(), 'nobody is the own deputy');
  t.is(await page.getByLabel('Reason').inputValue(), 'I am on leave.');
  await page.getByLabel('E-mail').fill(LOU.email);
  await naming.press('Enter');
  await page.getByText(`${LOU.name}, ${LOU.email}`).waitFor();
  await assertAccessibleInThemes(t, page, 'the page of the person');
  t.deepEqual(await page.evaluate(OUT_OF_REACH), []);

  const { page: phone } = await visit(t, first.url, PHONE, { movesOn: true });
  await enter(phone, first, LOU);
  await phone.getByRole('link', { name: 'Documents: ana@example.org' }).tap();
  await phone.getByRole('link', { name: 'Read Vertrag' }).waitFor();
  await assertAccessibleInThemes(t, phone, 'the page of the deputy');
  t.deepEqual(await phone.evaluate(OUT_OF_REACH), []);
  const shown = phone.url();
  await phone
    .getByRole('button', { name: 'Sign as Lou Lima for Ana' })
    .tap()
    .catch(() => {});
  t.is(await first.service.ended, 'SIGKILL');

  const { acme, url } = await startProgram(t, { root });
  await phone.goto(shown.replace(first.url, url));
  const done = await until(async () => {
    const found = await acme.get<{ status: string; flowActions: readonly object[] }>(`/api/documents/${id}`);
    return found.status === 'Concluded' ? found : undefined;
  });
  t.like(done.flowActions, { length: 1, 0: { user: ANA, deputy: LOU } });
  await phone.reload();
  await phone.getByText('Nothing that you may do waits').waitFor();
});
