/**
 * Visits to links for anybody in a real browser, as one journey: a tablet at a counter whose service is killed while a person
 * is before it, and a visitor with a telephone number.
 */
import anyTest, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { type Client, startProgram, until } from '../../actors/portal/service.ts';
import { startReceiver, status } from '../../actors/portal/webhooks/receiver.ts';
import { temporaryRoot } from '../../service/service.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessibleInThemes } from '../axe.ts';
import { closeBrowser, OUT_OF_REACH, openSigning, visit } from '../browser.ts';
import { PHONE } from './account-pages.ts';

const test = withTools(anyTest, 'chromium');
test.after.always(closeBrowser);

const LINKS = '/api/public-links';
const PIN = '2468';
const BY_SMS = {
  requireSmsAuthenticationToSignElectronically: true,
  disableEmailAuthenticationToSignElectronically: true,
};

async function linkOf(acme: Client, action: object, more: object): Promise<{ id: string; url: string }> {
  const { id: upload, name, contentType } = await acme.upload();
  const { id: templateId } = await acme.post<{ id: string }>('/api/templates', {
    name: 'Waiver',
    document: {
      files: [{ id: upload, displayName: 'Waiver', name, contentType }],
      flowActions: [{ title: 'Guest', allowElectronicSignature: true, ...action }],
    },
  });
  return acme.post(LINKS, { name: 'Climbing hall', templateId, role: 'Guest', ...more });
}

async function statusesOf(acme: Client): Promise<readonly string[]> {
  const { items } = await acme.get<{ items: { status: string }[] }>('/api/documents?order=Desc');
  return items.map((one) => one.status);
}

async function signAs(page: Page, name: string): Promise<void> {
  await page.getByLabel('Full name').fill(name);
  await page.getByLabel('E-mail').fill(`${name.toLowerCase()}@example.org`);
  await page.getByRole('button', { name: 'Continue' }).press('Enter');
  await openSigning(page);
}

/** Everything that a next person could find. */
async function assertNothingLeft(t: ExecutionContext, page: Page, name: string): Promise<void> {
  const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
  t.notRegex(await page.evaluate<string>(kept), /[A-Z][a-z]+@|example/);
  t.notRegex(await page.content(), new RegExp(name));
  await page.goBack();
  await page.locator('main').waitFor();
  t.notRegex(await page.content(), new RegExp(`${name}|Waiver`), 'after the way back');
}

test.serial(
  'persons sign at a tablet, also when its service is killed; another one with a telephone',
  async (t) => {
    const root = await temporaryRoot(t);
    const gateway = await startReceiver(t, status(202));
    const settings = {
      'Portal:MessageGateway:Url': gateway.url,
      'Portal:MessageGateway:Secret': `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
    };
    // Of the link: made, opened, taken, a person comes, three steps of the document, the next person comes.
    const faults = 'step.committed.before-reply/public-link=kill:8';
    const first = await startProgram(t, { root, settings, faults });
    const link = await linkOf(first.acme, {}, {});
    const { url } = await first.acme.post<{ url: string }>(`${LINKS}/${link.id}/devices`, { pin: PIN });
    const tablet = { locale: 'en-US', viewport: { width: 820, height: 1180 }, hasTouch: true } as const;
    const { page } = await visit(t, first.url, tablet, { movesOn: true });
    await page.goto(url.replace(/^https?:\/\/[^/]+/, first.url));
    await page.getByRole('button', { name: 'Start on this device' }).press('Enter');
    await signAs(page, 'Ana');
    t.deepEqual(await statusesOf(first.acme), ['Pending']);
    await page.goto(`${first.url}/here`).catch(() => {});
    t.is(await first.service.ended, 'SIGKILL');

    const { acme, url: again } = await startProgram(t, { root, settings });
    await until(async () => ((await statusesOf(acme))[0] === 'Canceled' ? true : undefined));
    await page.goto(`${again}/here`);
    await page.getByLabel('Full name').waitFor();
    await assertAccessibleInThemes(t, page, 'the next person');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), []);
    await signAs(page, 'Boris');
    await page.locator('#electronic button[type="submit"]').press('Enter');
    await page.locator('[data-state="signed-here"]').waitFor();
    await page.goto(`${again}/here`);
    await assertNothingLeft(t, page, 'Boris');
    await page.goto(`${again}/here`);
    await page.locator('summary').press('Enter');
    await page.getByLabel('PIN of the staff').fill(PIN);
    await page.getByRole('button', { name: 'Leave this mode' }).press('Enter');
    await page.waitForURL(/sign-in/);
    await until(async () => ((await statusesOf(acme))[0] === 'Concluded' ? true : undefined));

    const byPhone = await linkOf(acme, BY_SMS, { contact: 'Phone' });
    const { page: phone } = await visit(t, again, PHONE);
    await phone.goto(byPhone.url.replace(/^https?:\/\/[^/]+/, again));
    await phone.getByLabel('Full name').fill('Cy');
    await phone.getByLabel(/mobile number/).fill('+351 912 345 678');
    t.deepEqual(await phone.evaluate(OUT_OF_REACH), []);
    const codes = () => gateway.calls.map(({ body }) => (JSON.parse(body) as { code: string }).code);
    const codeNumber = (number: number) => until(() => Promise.resolve(codes()[number - 1]));
    await phone.locator('form button[type="submit"]').first().tap();
    await phone.locator('input[autocomplete="one-time-code"]').fill(await codeNumber(1));
    t.deepEqual(await phone.evaluate(OUT_OF_REACH), []);
    await phone.locator('form button[type="submit"]').first().tap();
    await openSigning(phone);
    await phone.locator('#sms-code').fill(await codeNumber(2));
    await until(async () => ((await statusesOf(acme))[0] === 'Concluded' ? true : undefined));
    t.deepEqual(await statusesOf(acme), ['Concluded', 'Concluded', 'Canceled']);
  },
);
