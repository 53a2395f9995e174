/** Passkeys of users, in a browser with a virtual authenticator. Source: docs/identity.md. */
import anyTest, { type TestFn } from 'ava';
import type { CDPSession, Page } from 'playwright-core';
import { type PortalProgram, startProgram } from '../../actors/portal/service.ts';
import { freePort } from '../../commands/free-port.ts';
import { ADMINISTRATOR, mailedLink, register, UserBrowser } from '../../http/portal/accounts/users.ts';
import { withTools } from '../../verifiers/tool.ts';
import { assertAccessible } from '../axe.ts';
import { visit } from '../browser.ts';
import { type AccountPages, ownOrganization, PHONE, sharePortal } from './account-pages.ts';

const test = withTools(anyTest as TestFn<AccountPages>, 'chromium');
/** The public address has a name, which passkeys need. */
let origin = '';
sharePortal(test, async (t) => {
  const port = await freePort();
  origin = `http://localhost:${port}`;
  return startProgram(t, {
    settings: { 'Portal:PublicUrl': origin, 'Portal:Url': `http://127.0.0.1:${port}` },
  });
});

interface Authenticator {
  readonly cdp: CDPSession;
  readonly id: string;
}

/** An authenticator that verifies its person by itself. */
async function authenticator(page: Page): Promise<Authenticator> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { cdp, id };
}

/** The first credential of one authenticator, in another, as a thief of both would have it. @param change of it */
async function copy(from: Authenticator, to: Authenticator, change: object = {}): Promise<void> {
  const { credentials } = await from.cdp.send('WebAuthn.getCredentials', { authenticatorId: from.id });
  const [first] = credentials;
  if (first === undefined) throw new Error('There is no credential.');
  await to.cdp.send('WebAuthn.addCredential', {
    authenticatorId: to.id,
    credential: { ...first, ...change },
  });
}

/** Follows a mailed link, up to the second step or the account. */
async function followLink(page: Page, program: PortalProgram, email: string): Promise<void> {
  await page.goto(await mailedLink(program, email));
  await page.locator('form button[type="submit"]').first().press('Enter');
  await page.waitForURL(/\/(account|organization)/);
}

/** Adds a passkey by the keyboard. */
async function addPasskey(page: Page, origin: string, name: string): Promise<void> {
  await page.goto(`${origin}/account/second-factor/passkeys`);
  await page.getByLabel('Name').fill(name);
  await page.keyboard.press('Enter');
}

/** The form that the browser was about to send. */
async function held(page: Page, press: () => Promise<void>): Promise<URLSearchParams> {
  const sent = new Promise<string>((resolve) => {
    void page.route('**/*', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      resolve(route.request().postData() ?? '');
      return route.abort();
    });
  });
  await press();
  const post = await sent;
  await page.unroute('**/*');
  return new URLSearchParams(post);
}

/** A browser without scripts that has the cookies of a page. */
async function twin(page: Page, origin: string): Promise<UserBrowser> {
  const browser = new UserBrowser(origin);
  const cookies = await page.context().cookies(origin);
  browser.cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  return browser;
}

test.serial('a user adds a passkey, and signs in with it after the link and without one', async (t) => {
  const { program } = t.context;
  await register(program, 'ana@example.org');
  const visited = await visit(t, origin, PHONE);
  const { page } = visited;
  const own = await authenticator(page);
  await followLink(page, program, 'ana@example.org');
  await addPasskey(page, origin, 'Telephone');
  await page.locator('.recovery-codes li').nth(9).waitFor();
  await page.goto(`${origin}/account`);
  await page.getByText('Telephone').waitFor();
  await page.getByRole('link', { name: 'Add a passkey' }).waitFor();
  await assertAccessible(t, page, 'the account with a passkey');
  // The same authenticator gets no second one.
  await addPasskey(page, origin, 'Again');
  await page.getByText('has a passkey for this account already').waitFor();

  await page.context().clearCookies();
  await followLink(page, program, 'ana@example.org');
  t.is(new URL(page.url()).pathname, '/account/second-step');
  const use = page.getByRole('button', { name: 'Use a passkey' });
  await assertAccessible(t, page, 'the second step');
  // A person whom the authenticator does not know is not let in.
  await own.cdp.send('WebAuthn.setUserVerified', { authenticatorId: own.id, isUserVerified: false });
  await use.press('Enter');
  await page.getByText('The passkey was not used').waitFor();
  await own.cdp.send('WebAuthn.setUserVerified', { authenticatorId: own.id, isUserVerified: true });
  // An answer counts once: what was sent is refused when it comes again.
  const sent = await held(page, () => use.press('Enter'));
  const thief = await twin(page, origin);
  const fields = Object.fromEntries(sent);
  const forged = {
    ...fields,
    credential: (sent.get('credential') ?? '').replace(/"signature":"../, '"signature":"AA'),
  };
  t.is((await thief.post('/account/second-step', forged)).status, 422, 'another signature');
  const first = await thief.post('/account/second-step', fields);
  t.is(first.headers.get('location'), '/account?from=link');
  const late = await twin(page, origin);
  t.is(
    (await late.post('/account/second-step', fields)).headers.get('location'),
    '/sign-in',
    'no session waits',
  );

  // Without a link: any passkey of this address.
  await page.context().clearCookies();
  await page.goto(`${origin}/sign-in`);
  await assertAccessible(t, page, 'the sign-in page');
  const whole = page.getByRole('button', { name: 'Sign in with a passkey' });
  const kept = await held(page, () => whole.press('Enter'));
  const once = await twin(page, origin);
  t.is((await once.post('/sign-in/passkey', Object.fromEntries(kept))).status, 302);
  const again = await twin(page, origin);
  t.is((await again.post('/sign-in/passkey', Object.fromEntries(kept))).status, 422, 'a replay');
  const elsewhere = await twin(page, origin);
  elsewhere.cookie = '';
  t.is((await elsewhere.post('/sign-in/passkey', Object.fromEntries(kept))).status, 422, 'another browser');
  await page.goto(`${origin}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter');
  await page.locator('.account-main').waitFor();

  await page.goto(`${origin}/account`);
  await page.getByText('Rename', { exact: true }).first().press('Enter');
  await page.getByLabel('Name').fill('Key <1>');
  await page.keyboard.press('Enter');
  await page.getByText('The name is changed').waitFor();
  await page.getByText('Key <1>').first().waitFor();
  await page.locator('details.sure summary', { hasText: 'Remove' }).first().press('Enter');
  await page.getByRole('button', { name: 'Yes, remove it' }).press('Enter');
  await page.getByText('The passkey is removed').waitFor();
  await page.context().clearCookies();
  await page.goto(`${origin}/sign-in`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter');
  await page.getByText('The passkey was not accepted').waitFor();
});

test.serial(
  'an organization that requires a second factor asks open sessions, and takes a passkey of this user alone',
  async (t) => {
    const program = await ownOrganization(t.context, 'boss@example.org', ADMINISTRATOR);
    await register(program, 'ben@example.org');
    const visited = await visit(t, origin, { locale: 'en-US' });
    const other = await visit(t, origin, { locale: 'en-US' });
    const { page } = visited;
    const own = await authenticator(page);
    await followLink(page, program, 'boss@example.org');
    await page.goto(`${origin}/organization/users`);
    const boss = await twin(page, origin);
    await boss.page('/organization/users');
    t.is((await boss.post('/organization/second-factor', { required: 'yes' })).status, 302);
    await page.goto(`${origin}/organization`);
    t.is(new URL(page.url()).pathname, '/account/second-step', 'the open session is asked');
    await page.getByLabel('Name').fill('Laptop');
    await page.keyboard.press('Enter');
    await page.locator('.recovery-codes').waitFor();
    await page.goto(`${origin}/organization`);
    t.is(new URL(page.url()).pathname, '/organization');

    // The passkey of another user: the page asks for those of this one, and the service looks nowhere else.
    const stranger = await authenticator(other.page);
    await followLink(other.page, program, 'ben@example.org');
    await other.page.getByLabel('Name').fill('Own');
    await other.page.keyboard.press('Enter');
    await other.page.locator('.recovery-codes').waitFor();
    await other.page.context().clearCookies();
    await followLink(other.page, program, 'ben@example.org');
    await stranger.cdp.send('WebAuthn.clearCredentials', { authenticatorId: stranger.id });
    await copy(own, stranger);
    const foreign = `document.querySelector('form[data-passkey]').dataset.passkey = JSON.stringify({
    ...JSON.parse(document.querySelector('form[data-passkey]').dataset.passkey), allowCredentials: [] })`;
    await other.page.evaluate(foreign);
    await other.page.getByRole('button', { name: 'Use a passkey' }).press('Enter');
    await other.page.getByText('This code is wrong').waitFor();
    t.is(new URL(other.page.url()).pathname, '/account/second-step');

    // A copy whose counter is behind is refused.
    await page.context().clearCookies();
    await page.goto(`${origin}/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter');
    await page.locator('.account-main').waitFor();
    await other.page.context().clearCookies();
    await stranger.cdp.send('WebAuthn.clearCredentials', { authenticatorId: stranger.id });
    await copy(own, stranger, { signCount: 0 });
    await other.page.goto(`${origin}/sign-in`);
    await other.page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter');
    await other.page.getByText('The passkey was not accepted').waitFor();

    // Wrong answers are limited; right ones of the same office are not, and do not count.
    const guesser = new UserBrowser(origin);
    const guess = async () => (await guesser.post('/sign-in/passkey', { credential: '{}' })).status;
    const guesses = await Promise.all(Array.from({ length: 12 }, guess));
    t.true(guesses.includes(429), guesses.join(' '));
    await page.context().clearCookies();
    await page.goto(`${origin}/sign-in`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).press('Enter');
    await page.locator('.account-main').waitFor();
  },
);
