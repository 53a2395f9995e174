/** Sign-in at a real OpenID provider of another site, and sign-out there, in a browser. */
import test from 'ava';
import { startProgram } from '../../actors/portal/service.ts';
import { startProvider } from '../../http/sign-on/oidc-server.ts';
import { assertAccessible } from '../axe.ts';
import { closeBrowser, visit } from '../browser.ts';

test.after.always(() => closeBrowser());

test('a person signs in at the provider of the address, and out there, too', async (t) => {
  const provider = await startProvider(t, 'localhost');
  const members = {
    ...{ Name: 'company', Organization: 'Acme', CreateUsers: true, 'Domains:0': 'example.test' },
    ...{ Issuer: provider.issuer, ClientId: 'company', ClientSecret: 'a secret of the client' },
    ...{ 'Roles:0:Group': 'signers', 'Roles:0:Role': 'Sender' },
  };
  const settings = Object.fromEntries(
    Object.entries(members).map(([key, value]) => [`Identity:Providers:0:${key}`, value]),
  );
  const { url } = await startProgram(t, { settings });
  provider.open({
    ...{ client_id: 'company', client_secret: 'a secret of the client' },
    redirect_uris: [`${url}/sign-in/company/callback`],
    post_logout_redirect_uris: [`${url}/sign-in`],
  });
  provider.users['ana'] = {
    ...{ email: 'ana@example.test', email_verified: true, name: 'Ana', groups: ['signers'] },
  };
  const visited = await visit(t, url, { locale: 'en-US' }, { alsoAsks: [provider.issuer] });
  if (visited === undefined) return;
  const { page } = visited;
  await page.goto(`${url}/sign-in`);
  await assertAccessible(t, page, 'sign-in');
  await page.getByLabel('E-mail address').fill('ana@example.test');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('input[name=login]').fill('ana');
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  // Consent; then the answer leads to the pages, although no cookie of the session comes with a redirect from there.
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('.account-main').waitFor();
  t.is(page.url(), `${url}/account/documents`);

  // The session there signs in by itself, but proves the person to nobody who asks anew.
  await page.goto(`${url}/sign-in/company`);
  await page.locator('.account-main').waitFor();
  await page.goto(`${url}/sign-in/company?again=yes`);
  await page.locator('input[name=login]').fill('ana');
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  await page.locator('.account-main').waitFor();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.locator('button[name=logout]').click();
  await page.getByLabel('E-mail address').waitFor();
  t.is(new URL(page.url()).origin + new URL(page.url()).pathname, `${url}/sign-in`);
  await page.goto(`${url}/account`);
  await page.getByLabel('E-mail address').waitFor();
});
