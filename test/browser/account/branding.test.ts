/** Branding in a real browser: an administrator sets logo, colors, texts of mails and the page after signing. */
import ava, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { startProgram, until } from '../../actors/portal/service.ts';
import { mailedLink, register } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, visit } from '../browser.ts';

const test = withTools(ava, 'chromium');

test.after.always(() => closeBrowser());

const DRAWING = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 240, height: 80 });
  canvas.getContext('2d').fillRect(20, 20, 200, 40);
  return canvas.toDataURL('image/png').split(',')[1];
})()`;

async function looksGood(t: ExecutionContext, page: Page, what: string): Promise<void> {
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 });
    t.true(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
      `${what}, ${width} px`,
    );
  }
  await assertAccessible(t, page, what);
}

interface Branding {
  readonly primaryColor: string | null;
  readonly logo: object | null;
  readonly redirectUrl: string | null;
  readonly mailTexts: readonly object[];
}

test.serial('an administrator sets the branding by keyboard, with a live preview of the mail', async (t) => {
  const program = await startProgram(t);
  await register(program, 'ana@example.org', { administrator: true }, 'Ana');
  const visited = await visit(t, program.url, { locale: 'en-US' });
  const { page } = visited;
  await page.goto(await mailedLink(program, 'ana@example.org'));
  await page.getByRole('button').last().click();
  await page.getByRole('link', { name: 'Branding' }).press('Enter');
  await page.getByText('There is no logo.').waitFor();
  await looksGood(t, page, 'ours');
  await page.getByRole('button', { name: 'Upload the logo' }).press('Enter');
  await page.getByText('Choose a picture first.').waitFor();
  const buffer = Buffer.from((await page.evaluate(DRAWING)) as string, 'base64');
  const logo = page.locator('#logo-file');
  await logo.setInputFiles({ name: 'x.png', mimeType: 'image/png', buffer: Buffer.from('no picture') });
  await page.getByRole('button', { name: 'Upload the logo' }).press('Enter');
  await page.getByText(/cannot be used as given/).waitFor();
  await logo.setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer });
  await page.getByRole('button', { name: 'Upload the logo' }).press('Enter');
  await page.getByText('The branding is saved.').waitFor();
  await page.getByRole('img', { name: 'Acme' }).waitFor();

  // A color without contrast is refused with a shade that has it; what was typed stays.
  const color = page.locator('#primaryColor');
  await color.fill('#ffd700');
  await page.getByLabel('Origins to which').fill('https://app.example.org');
  await page.locator('#redirectUrl').fill('https://app.example.org/done');
  await page.keyboard.press('Enter');
  await page.getByText(/The shade #[0-9a-f]{6} can be used/).waitFor();
  await page.locator('#primaryColor:focus').waitFor();
  t.is(await page.locator('#redirectUrl').inputValue(), 'https://app.example.org/done');
  await looksGood(t, page, 'refused');
  // The signing page beside the form has the color while it is typed, and the wheel follows.
  const sign = page.frameLocator('#page-frame').getByRole('button', { name: 'Sign', exact: true });
  await color.fill('#7a1f5c');
  t.is(await page.locator('.color > input').first().inputValue(), '#7a1f5c');
  const ground = () => sign.evaluate((button) => getComputedStyle(button).backgroundColor);
  await until(async () => ((await ground()) === 'rgb(122, 31, 92)' ? true : undefined));
  await page.locator('#replyTo').fill('questions at example');
  await color.press('Enter');
  await page.getByText('Enter an e-mail address').waitFor();
  await page.locator('#replyTo').fill('questions@example.org');
  await page.keyboard.press('Enter');
  await page.getByText('The branding is saved.').waitFor();
  t.is(await page.locator('#replyTo').inputValue(), 'questions@example.org');

  // The preview follows the typing, names what is wrong, and comes from the service.
  await page.locator('#kind').selectOption('reminder');
  await page.getByRole('button', { name: 'Show', exact: true }).press('Enter');
  await page.waitForURL(/kind=reminder/);
  await page.locator('#subject').fill('Still waiting: {document}');
  await page.locator('#preview-subject', { hasText: 'Still waiting: Rental agreement' }).waitFor();
  await page.getByLabel('First paragraph').fill('Dear {nobody}');
  await page.locator('#preview-state', { hasText: 'unknown placeholder' }).waitFor();
  // More than an address takes: three bytes each.
  await page.getByLabel('First paragraph').fill('€'.repeat(2000));
  await page.locator('#preview-state', { hasText: 'too long to be shown here' }).waitFor();
  await page.frameLocator('#mail-frame').getByText('Ana Souza').first().waitFor();
  // Whoever comes back to the tab still sees the signing page of the sample.
  const frame = page.frames().find((one) => one.url().endsWith('/signing-page'));
  for (let look = 1; look <= 2; look += 1) {
    const read = page.waitForResponse((response) => response.request().frame() === frame);
    await frame?.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await (await read).finished();
  }
  await sign.waitFor();
  await page.getByLabel('First paragraph').fill('Dear {recipient}, <b>please</b>.');
  await page.frameLocator('#mail-frame').getByText('Dear Ana Souza, <b>please</b>.').waitFor();
  await page.getByRole('button', { name: 'Save the texts' }).press('Enter');
  await page.getByText('The branding is saved.').waitFor();
  t.is(await page.locator('#kind').inputValue(), 'reminder');
  await page.locator('#preview-subject', { hasText: 'Still waiting' }).waitFor();
  await looksGood(t, page, 'own texts');
  await page.setViewportSize({ width: 1280, height: 800 });
  await assertAccessible(t, page, 'own texts on a desktop screen');
  const { organization } = await until(async () => {
    const href = await page.getByRole('img', { name: 'Acme' }).getAttribute('src');
    return href === null ? undefined : { organization: href.split('/').at(-2) ?? '' };
  });
  const kept = await program.acme.get<Branding>(`/api/organizations/${organization}/branding`);
  t.like(kept, { primaryColor: '#7a1f5c', redirectUrl: 'https://app.example.org/done' });
  t.deepEqual(kept.mailTexts, [
    {
      kind: 'reminder',
      subject: 'Still waiting: {document}',
      introduction: 'Dear {recipient}, <b>please</b>.',
    },
  ]);
  const mail = await page.request.get(`${program.url}/organization/branding/preview?kind=reminder`);
  t.true((await mail.text()).includes('#7a1f5c'));
  t.regex(mail.headers()['content-security-policy'] ?? '', /default-src 'none'.*sandbox/);

  await page.getByText('Remove the logo', { exact: true }).press('Enter');
  await page.getByRole('button', { name: 'Yes, remove it' }).press('Enter');
  await page.getByText('There is no logo.').waitFor();
  for (const [language, title] of [
    ['pt', 'Identidade visual'],
    ['es', 'Imagen de marca'],
    ['de', 'Erscheinungsbild'],
  ] as const) {
    await page.goto(`${program.url}/organization/branding?culture=${language}`);
    await page.getByRole('heading', { name: title }).waitFor();
    await looksGood(t, page, title);
    await page.locator('#primaryColor').fill('#ffd700');
    await page.keyboard.press('Enter');
    const fault = page.locator('#primaryColor-error');
    await fault.filter({ hasText: /#[0-9a-f]{6}/ }).waitFor();
    t.notRegex((await fault.textContent()) ?? '', /contrast|PrimaryColor|shade/, language);
  }
});
