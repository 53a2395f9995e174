/** The second factor of users, over HTTP. Source: docs/identity.md. */
import test, { type ExecutionContext } from 'ava';
import { totpCode, totpCounter } from '../../../../actors/portal/shared/totp.ts';
import { startProgram } from '../../../actors/portal/service.ts';
import { clockedPortal } from '../requests/clocked-portal.ts';
import { ADMINISTRATOR, mailedLink, register, signedIn, UserBrowser } from './users.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Reads the key of the page as an app does. */
function secretOn(page: string): Buffer {
  const text = (/class="secret">([A-Z2-7-]+)</.exec(page)?.[1] ?? '').replaceAll('-', '');
  const bits = [...text].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

function hidden(page: string, name: string): string {
  return new RegExp(`name="${name}" value="([^"]+)"`).exec(page)?.[1] ?? '';
}

function recoveryOn(page: string): readonly string[] {
  return [...page.matchAll(/<code>([A-Z2-7]{4}(?:-[A-Z2-7]{4}){3})<\/code>/g)].map(([, code]) => code ?? '');
}

const codeAt = (secret: Buffer, step = 0) => totpCode(secret, totpCounter(Date.now() / 1000) + step);

/** @param later steps of the app since now */
async function enrol(browser: UserBrowser, path = '/account/second-factor', later = 0) {
  const page = await browser.page(path);
  const secret = secretOn(page);
  const used = codeAt(secret, later);
  const answer = await browser.post(path, { sealed: hidden(page, 'sealed'), code: used });
  const text = await answer.text();
  browser.token = '';
  return { status: answer.status, secret, used, recovery: recoveryOn(text) };
}

/** A browser after the mailed link, at the second step. */
async function atSecondStep(t: ExecutionContext, program: Parameters<typeof mailedLink>[0], email: string) {
  const browser = new UserBrowser(program.url);
  const answer = await browser.follow(await mailedLink(program, email));
  t.is(answer.headers.get('location'), '/account/second-step');
  await browser.page('/account/second-step');
  return browser;
}

test('a mailed link needs the code of the app, and each code works once', async (t) => {
  const program = await startProgram(t);
  const id = await register(program, 'ana@example.org');
  const first = await signedIn(program, 'ana@example.org');
  const { status, secret, used, recovery } = await enrol(first);
  t.is(status, 200);
  t.is(new Set(recovery).size, 10);
  t.is((await first.fetch('/account/second-factor')).status, 302, 'it is set up once');
  // Operators see that there is one, and nothing of it.
  const seen = await (await program.service.fetch(`/api/actors/portal-user/${id}`)).text();
  t.regex(seen, /"since":/);
  t.notRegex(seen, /"recovery":\[|"totp":"(?!\(hidden\))/);

  const browser = await atSecondStep(t, program, 'ana@example.org');
  // Nothing else is permitted before the second factor.
  for (const path of ['/account', '/organization', '/organization/users', '/account/documents'])
    t.is((await browser.fetch(path)).headers.get('location'), '/account/second-step');
  const api = await browser.fetch('/api/organizations/users', { headers: { 'X-Form-Token': browser.token } });
  t.is(api.status, 401);
  const waiting = browser.cookie;
  const { token } = browser;
  const forged = await browser.post('/account/second-step', { formToken: 'x', code: codeAt(secret) });
  t.is(forged.status, 403);
  // The code that set the factor up was used.
  t.is((await browser.post('/account/second-step', { code: used })).status, 422);
  const code = codeAt(secret, 1);
  const passed = await browser.post('/account/second-step', { code });
  t.is(passed.headers.get('location'), '/account?from=link');
  t.not(browser.cookie, waiting, 'the session has another secret than the one that waited');
  t.is((await browser.fetch('/account')).status, 200);
  const old = new UserBrowser(program.url);
  old.cookie = waiting;
  old.token = token;
  t.is((await old.fetch('/account')).headers.get('location'), '/sign-in');

  // A replay in another sign-in.
  const thief = await atSecondStep(t, program, 'ana@example.org');
  t.is((await thief.post('/account/second-step', { code })).status, 422);
  // A recovery code works once, in spite of wrong codes.
  for (let wrong = 0; wrong < 6; wrong++) await thief.post('/account/second-step', { code: '000000' });
  const locked = await thief.post('/account/second-step', { code: codeAt(secret, 1) });
  t.true((await locked.text()).includes('too many wrong codes'));
  const spelled = recovery[0]?.toLowerCase().replaceAll('-', ' ') ?? '';
  t.is((await thief.post('/account/second-step', { code: spelled })).status, 302);
  const again = await atSecondStep(t, program, 'ana@example.org');
  t.is((await again.post('/account/second-step', { code: spelled })).status, 422);

  // New recovery codes take the place of the old ones; both this and the removal need a code.
  await first.page('/account');
  t.is((await first.post('/account/second-factor/removal', { code: '123456' })).status, 422);
  const renewed = await first.post('/account/second-factor/recovery-codes', { code: recovery[1] ?? '' });
  const fresh = recoveryOn(await renewed.text());
  t.is(fresh.length, 10);
  t.is((await first.post('/account/second-factor/removal', { code: recovery[2] ?? '' })).status, 422);
  t.is((await first.post('/account/second-factor/removal', { code: fresh[0] ?? '' })).status, 302);
  t.is((await signedIn(program, 'ana@example.org')).cookie === '', false);

  const log = await program.acme.get<{ items: { action: string }[] }>(
    '/api/organizations/sign-ins?limit=100',
  );
  const actions = new Set(log.items.map(({ action }) => action));
  for (const action of [
    'FactorAdded',
    'FactorFailed',
    'RecoveryCodeUsed',
    'RecoveryCodesRenewed',
    'FactorRemoved',
  ])
    t.true(actions.has(action), action);
});

test('an organization can require it: users set it up first, keys work on, an administrator resets it', async (t) => {
  const program = await startProgram(t);
  await register(program, 'boss@example.org');
  const id = await register(program, 'ben@example.org');
  const boss = await signedIn(program, 'boss@example.org');
  await boss.page('/organization/users');
  t.is((await boss.post('/organization/second-factor', { required: 'yes' })).status, 302);
  const asked = await boss.fetch('/organization/users');
  t.is(asked.headers.get('location'), '/account/second-step', 'open sessions are asked');
  t.regex(await boss.page('/account/second-step'), /name="leave" value="yes"/);
  t.is((await enrol(boss, '/account/second-step')).status, 200);
  t.is((await program.acme.fetch('/api/organizations/users')).status, 200, 'keys are not affected');

  const browser = await atSecondStep(t, program, 'ben@example.org');
  const { status, recovery } = await enrol(browser, '/account/second-step');
  t.deepEqual([status, recovery.length], [200, 10]);
  t.is((await browser.fetch('/account')).status, 200);
  const next = await atSecondStep(t, program, 'ben@example.org');
  t.false((await next.page('/account/second-step')).includes('class="secret"'), 'it cannot be set up again');

  await boss.page(`/organization/users/${id}`);
  t.is((await boss.post(`/organization/users/${id}/second-factor`, {})).status, 302);
  // A session that began while there was one has proved nobody.
  t.is((await next.fetch('/account/second-step')).status, 403);
  const last = await atSecondStep(t, program, 'ben@example.org');
  t.true((await last.page('/account/second-step')).includes('class="secret"'));
});

test('who finds a session open sets up nothing that keeps the account', async (t) => {
  const { client, fixture, forward } = await clockedPortal(t);
  const person = { name: 'Ana', email: 'ana@example.org', accessProfile: ADMINISTRATOR };
  const { id } = await client.post<{ id: string }>('/api/organizations/users', person);
  const { signIn } = fixture.portal;
  const browser = new UserBrowser(client.url);
  await browser.follow((await signIn.linkFor(id)) ?? '');
  const form = await browser.page('/account/second-factor');
  await browser.page('/account/second-factor/passkeys');
  const { token } = browser;
  const MINUTES = 11;
  forward(MINUTES * 60_000);
  // Setting up an app would be the proof that lets a passkey be added, which signs in alone.
  const sealed = hidden(form, 'sealed');
  const code = codeAt(secretOn(form), MINUTES * 2);
  for (const answer of [
    await browser.fetch('/account/second-factor'),
    await browser.post('/account/second-factor', { sealed, code }),
    await browser.fetch('/account/second-factor/passkeys'),
  ])
    t.regex(await answer.text(), /href="\/sign-in\?again=yes"/);

  // Nor by an open session that is asked for the factor.
  const fresh = new UserBrowser(client.url);
  await fresh.follow((await signIn.linkFor(id)) ?? '');
  await fresh.page('/account');
  t.is((await fresh.post('/organization/second-factor', { required: 'yes' })).status, 302);
  browser.token = token;
  for (const answer of [
    await browser.fetch('/account/second-step'),
    await browser.post('/account/second-step', { sealed, code }),
    await browser.post('/account/second-step', { credential: '{}' }),
  ]) {
    t.is(answer.status, 403);
    t.regex(await answer.text(), /href="\/sign-in\?again=yes"/);
  }
  t.is((await browser.fetch('/account')).headers.get('location'), '/account/second-step');

  // It ends by a button of each of these pages, and with its own token alone.
  const { cookie } = browser;
  t.is((await browser.post('/account/second-step', { leave: 'yes', formToken: 'x' })).status, 403);
  t.regex(await (await browser.fetch('/account/second-step')).text(), /name="leave" value="yes"/);
  const left = await browser.post('/account/second-step', { leave: 'yes' });
  t.is(left.headers.get('location'), '/sign-in');
  browser.cookie = cookie;
  t.is(
    (await browser.fetch('/account/second-step')).headers.get('location'),
    '/sign-in',
    'the session is over',
  );

  // After a sign-in it is offered at once.
  const other = { ...person, email: 'ben@example.org' };
  const ben = await client.post<{ id: string }>('/api/organizations/users', other);
  const his = new UserBrowser(client.url);
  await his.follow((await signIn.linkFor(ben.id)) ?? '');
  t.regex(await his.page('/account/second-step'), /data-passkey/);
  t.is((await enrol(his, '/account/second-step', MINUTES * 2)).status, 200);
  t.is((await his.fetch('/account/second-factor/passkeys')).status, 200);
});
