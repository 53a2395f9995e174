/** "Sign with my provider" in a browser: by keyboard, on a phone, in a frame, and what went wrong. */
import ava from 'ava';
import { type PortalProgram, startProgram, until } from '../../actors/portal/service.ts';
import {
  type PersonProvider,
  startPersonProvider,
} from '../../actors/shared/key-services/person-provider.ts';
import { documentOf, held, providerSettings } from '../../http/portal/signing/provider-client.ts';
import { pki } from '../../pki/pki.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessibleInThemes } from '../axe.ts';
import { closeBrowser, OUT_OF_REACH, openSigning, visit } from '../browser.ts';

const test = withTools(ava, 'chromium');
const ends: (() => unknown)[] = [];
let program: PortalProgram;
let provider: PersonProvider;

test.before(async () => {
  const hook = { teardown: (end: () => unknown) => void ends.push(end) };
  provider = await startPersonProvider(hook);
  provider.credentials.set('cred-1', held(pki().signer('p-256')));
  provider.credentials.set('pin', held(pki().signer('rsa-2048'), { mode: 'explicit' }));
  provider.hasPage = true;
  program = await startProgram(hook, { settings: providerSettings(provider) });
});

test.after.always(async () => {
  await closeBrowser();
  for (const end of ends.reverse()) await end();
});

const PHONE = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } as const;

for (const [what, options] of [
  ['by keyboard', {}],
  ['on a phone', PHONE],
] as const)
  test.serial(`a participant signs with a provider ${what}`, async (t) => {
    const { id, key, ticket } = await documentOf(program.acme);
    const { page } = await visit(
      t,
      program.url,
      { locale: 'en-US', ...options },
      { alsoAsks: [provider.url] },
    );
    await page.goto(`${program.url}/document/key/${key}/sign?ticket=${ticket}`);
    await openSigning(page);
    const button = page.getByRole('button', { name: 'Sign with Acme Trust' });
    await assertAccessibleInThemes(t, page, 'dialog');
    await button.press('Enter');
    await page.locator('#agree').press('Enter');
    await page.getByRole('heading', { name: 'Your certificate at Acme Trust' }).waitFor();
    await assertAccessibleInThemes(t, page, 'certificates');
    t.deepEqual(await page.evaluate(OUT_OF_REACH), []);
    t.true(await page.getByRole('radio', { name: /Signer p-256/ }).isChecked());
    t.true(await page.getByRole('radio', { name: /Signer rsa-2048/ }).isDisabled());
    await page.getByRole('button', { name: 'Go on to Acme Trust' }).press('Enter');
    await page.locator('#agree').press('Enter');
    await page.locator('main[data-state]').waitFor();
    t.true(page.url().includes(`/document/key/${key}/sign?`));
    await until(async () =>
      (await program.acme.get<{ status: string }>(`/api/documents/${id}`)).status === 'Concluded'
        ? true
        : undefined,
    );
  });

test.serial(
  'what went wrong at the provider is said in the language of the page, with a way back',
  async (t) => {
    const { key, ticket } = await documentOf(program.acme);
    const { page } = await visit(t, program.url, { locale: 'de-DE' }, { alsoAsks: [provider.url] });
    await page.goto(`${program.url}/document/key/${key}/sign?ticket=${ticket}`);
    await openSigning(page);
    await page.getByRole('button', { name: 'Mit Acme Trust unterschreiben' }).click();
    provider.error = 'access_denied';
    await page.locator('#agree').click();
    await page.getByRole('heading', { name: 'Das Dokument wurde nicht unterschrieben' }).waitFor();
    await assertAccessibleInThemes(t, page, 'trouble');
    await page.getByRole('link', { name: 'Zurück zum Dokument' }).click();
    await openSigning(page);
  },
);

test.serial('a page in a frame leads to one in a window of its own', async (t) => {
  const { key, ticket } = await documentOf(program.acme);
  const { page } = await visit(t, program.url, { locale: 'en-US' });
  await page.goto(`${program.url}/document/key/${key}/sign-embedded?ticket=${ticket}`);
  await openSigning(page);
  const link = page.getByRole('link', { name: 'Sign with Acme Trust: opens in a window of its own' });
  t.is(await link.getAttribute('target'), '_blank');
  const [opened] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
  await opened.waitForURL(/\/sign\?/);
});
