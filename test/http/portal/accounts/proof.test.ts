/** The proof of the person before keys, users and identity are changed. Source: docs/identity.md. */
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import { totpCode, totpCounter } from '../../../../actors/portal/shared/totp.ts';
import { type PageService, portalPageRoutes } from '../../../../http/portal/page-routes.ts';
import { owedProof, type UserSession } from '../../../../machines/portal/accounts/sessions.ts';
import { needsProof } from '../../../../machines/portal/accounts/user-rights.ts';
import { until } from '../../../actors/portal/service.ts';
import { portalTable } from '../../descriptions.ts';
import { type ClockedPortal, clockedPortal } from '../requests/clocked-portal.ts';
import { ADMINISTRATOR, UserBrowser } from './users.ts';

const MINUTE = 60_000;
/** Forms and operations that need a proof. */
const PROVEN = [
  'POST /account/second-factor',
  'POST /account/second-factor/passkeys',
  'POST /account/second-factor/passkeys/removal',
  'POST /account/documents/{id}/participants/{action}/factor-reset/{person}',
  'POST /organization/applications',
  'POST /organization/applications/{applicationId}/keys',
  'POST /organization/applications/{applicationId}/keys/{keyId}/revocation',
  'POST /organization/retention/erasures',
  'POST /organization/second-factor',
  'POST /organization/signing-providers',
  'POST /organization/signing-providers/{providerId}',
  'POST /organization/signing-providers/{providerId}/removal',
  'POST /organization/users',
  'POST /organization/users/{userId}/removal',
  'POST /organization/users/{userId}/role',
  'POST /organization/users/{userId}/second-factor',
  'POST /api/documents/authenticator-app-reset',
  'POST /api/erasures',
  'POST /api/organizations/users',
  'POST /api/organizations/{id}/signing-providers',
  'PUT /api/organizations/{id}/signing-providers/{providerId}',
  'DELETE /api/organizations/{id}/signing-providers/{providerId}',
  'DELETE /api/organizations/users/{userId}',
];
/** Forms that need none: decide here about each new one. */
const UNPROVEN = [
  'POST /account/documents/drafts/{id}/remove',
  'POST /account/documents/{id}/cancel',
  'POST /account/documents/{id}/mails/{mail}/resend',
  'POST /account/documents/{id}/participants/{action}/link',
  'POST /account/documents/{id}/participants/{action}/remind',
  'POST /account/documents/{id}/remind',
  'POST /account/documents/sample',
  'POST /account/documents/{id}/template',
  'POST /account/links/{id}/devices',
  'POST /account/links/{id}/devices/{device}/end',
  'POST /account/links/{id}/end',
  'POST /account/second-factor/passkeys/name',
  'POST /account/second-factor/recovery-codes',
  'POST /account/second-factor/removal',
  'POST /account/sessions',
  'POST /account/templates/{id}/bulk/documents',
  'POST /account/templates/{id}/bulk/preview',
  'POST /account/templates/{id}/bulk/{generation}/cancellation',
  'POST /account/templates/{id}/documents',
  'POST /account/templates/{id}/links',
  'POST /account/templates/{id}/removal',
  'POST /organization/branding/logo-removal',
  'POST /organization/branding/looks',
  'POST /organization/branding/mail',
  'POST /organization/deliveries/{deliveryId}/resend',
  'POST /organization/mail-test',
  'POST /organization/signing-providers/{providerId}/test',
  'POST /organization/origins',
  // The notice and the mail to all administrators come first.
  'POST /organization/retention/holds',
  'POST /organization/retention/holds/{type}/{id}/removal',
  'POST /organization/retention/notice',
  'POST /organization/retention/rules',
  'POST /organization/retention/rules/{folder}/{status}/removal',
  'POST /organization/users/{userId}/sessions',
  'POST /organization/webhooks',
  'POST /organization/webhooks/{webhookId}',
  'POST /organization/webhooks/{webhookId}/removal',
  'POST /organization/webhooks/{webhookId}/test',
  'POST /sign-out',
];

test('each form of the pages is decided: it needs a proof of the person, or it does not', (t) => {
  const pages = portalPageRoutes({} as PageService, { clock: systemClock, ids: systemIds });
  const forms = pages.filter(({ method, auth }) => method === 'POST' && auth.startsWith('user'));
  const calls = portalTable().filter(
    ({ method, auth, path }) => method !== 'GET' && auth === 'application' && path.startsWith('/api/'),
  );
  const named = [...forms, ...calls].map((route) => ({ ...route, name: `${route.method} ${route.path}` }));
  const needing = named.filter(({ method, path }) => needsProof(method, path)).map(({ name }) => name);
  t.deepEqual(needing.toSorted(), PROVEN.toSorted());
  const others = forms.filter(({ method, path }) => !needsProof(method, path));
  t.deepEqual(others.map(({ path }) => `POST ${path}`).toSorted(), UNPROVEN.toSorted());
});

/** A browser of an administrator who has just signed in. */
async function administrator({ client, fixture }: ClockedPortal, email: string): Promise<UserBrowser> {
  const browser = new UserBrowser(client.url);
  const before = fixture.mails.length;
  await browser.askForLink(email);
  const mail = await until(async () => fixture.mails.slice(before).find(({ to }) => to.address === email));
  const link = /http[^\s"\\]+\/sign-in\/link\?ticket=[\w-]+/.exec(JSON.stringify(mail))?.[0] ?? '';
  await browser.follow(link);
  await browser.page('/account');
  return browser;
}

async function withApp(browser: UserBrowser, now: () => number) {
  const page = await browser.page('/account/second-factor');
  const key = (/class="secret">([A-Z2-7-]+)</.exec(page)?.[1] ?? '').replaceAll('-', '');
  const bits = [...key].map((one) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(one).toString(2).padStart(5, '0'),
  );
  const bytes = (bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  const code = () => totpCode(Buffer.from(bytes), totpCounter(now() / 1000));
  const sealed = /name="sealed" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const answer = await browser.post('/account/second-factor', { sealed, code: code() });
  const recovery = [...(await answer.text()).matchAll(/<code>([A-Z2-7-]{19})<\/code>/g)].map(
    ([, one]) => one,
  );
  return { code, recovery };
}

const inputs = (page: string) =>
  Object.fromEntries(
    [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('&lt;', '<').replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    ]),
  );

test.serial(
  'a form that changes users asks for the factor after ten minutes, and is carried out with it',
  async (t) => {
    const portal = await clockedPortal(t);
    const { client } = portal;
    let steps = 0;
    const forward = () => {
      steps += 1;
      portal.forward(11 * MINUTE);
    };
    const add = (email: string) =>
      client.post<{ id: string }>('/api/organizations/users', {
        name: 'Ana',
        email,
        accessProfile: ADMINISTRATOR,
      });
    await add('ana@example.org');
    const browser = await administrator(portal, 'ana@example.org');
    const person = { name: 'Bo "<b>', email: 'bo@example.org', role: 'sender' };
    const users = async () => {
      const { items } = await client.get<{ items: { email: string }[] }>('/api/organizations/users?limit=50');
      return items.map(({ email }) => email);
    };

    // Without a factor a new sign-in is asked: at once for the first one, after an hour for the rest.
    forward();
    t.is((await browser.post('/organization/users', { ...person, email: 'first@example.org' })).status, 302);
    const owned = await browser.fetch('/account/second-factor');
    t.is(owned.status, 403);
    t.regex(await owned.text(), /href="\/sign-in\?again=yes"/);
    const forced = await browser.post('/account/second-factor', { sealed: 'x', code: '000000' });
    t.is(forced.status, 403);
    portal.forward(50 * MINUTE);
    steps += 50 / 11;
    const old = await browser.post('/organization/users', { ...person, email: 'late@example.org' });
    t.is(old.status, 403);
    t.regex(await old.text(), /href="\/sign-in\?again=yes"/);
    t.false((await users()).includes('late@example.org'));

    const fresh = await administrator(portal, 'ana@example.org');
    const { code, recovery } = await withApp(fresh, () => Date.now() + 11 * MINUTE * steps);
    await fresh.page('/account');
    t.is((await fresh.post('/organization/users', { ...person, email: 'second@example.org' })).status, 302);

    forward();
    const asked = await fresh.post('/organization/users?culture=es', person);
    const page = await asked.text();
    t.is(asked.status, 403);
    t.regex(page, /Confirme que es usted/);
    const kept = inputs(page);
    t.is(kept['sent-name'], person.name, 'it is carried, and escaped');
    t.is(kept['sent-email'], person.email);
    t.false((await users()).includes(person.email), 'nothing is changed');
    const api = await fresh.fetch('/api/organizations/users', {
      method: 'POST',
      headers: {
        'X-Form-Token': fresh.token,
        'Content-Type': 'application/json',
        Accept: 'application/json',
      },
      body: JSON.stringify({ name: 'Cy', email: 'cy@example.org', accessProfile: ADMINISTRATOR }),
    });
    t.is(api.status, 403, 'nor by a call with the session');
    t.is(
      (await fresh.post('/account/sessions', { session: '0'.repeat(16) })).status,
      302,
      'others are not asked',
    );

    const wrong = await fresh.post('/organization/users', { ...kept, code: '000000' });
    t.is(wrong.status, 422);
    t.is(inputs(await wrong.text())['sent-name'], person.name, 'it is still carried');
    t.is((await fresh.post('/organization/users', { ...kept, formToken: 'x', code: code() })).status, 403);
    for (let tried = 0; tried < 5; tried += 1)
      await fresh.post('/organization/users', { ...kept, code: '000000' });
    const locked = await fresh.post('/organization/users', { ...kept, code: code() });
    t.regex(await locked.text(), /too many wrong codes/, 'they are limited as at sign-in');
    t.false((await users()).includes(person.email));
    const done = await fresh.post('/organization/users', { ...kept, code: recovery[0] ?? '' });
    t.is(done.headers.get('location'), '/organization/users?done=userAdded');
    t.true((await users()).includes(person.email));
    t.is(
      (await fresh.post('/organization/users', { ...person, email: 'cy@example.org' })).status,
      302,
      'proven',
    );

    // A page that makes a factor asks first, and carries nothing.
    forward();
    const making = await (await fresh.fetch('/account/second-factor/passkeys')).text();
    t.false(making.includes('name="sent-'));
    const onward = await fresh.post('/account/second-factor/passkeys', { ...inputs(making), code: code() });
    t.is(onward.headers.get('location'), '/account/second-factor/passkeys');
  },
);

test('in a session of the provider of one of several organizations, no code is asked that could lock the person out', (t) => {
  const at = { issuer: 'i', subject: 's', provenAt: 0 };
  const begun = { at: 9 * MINUTE, ipAddress: null, userAgent: null };
  const session = { sha256: 'a', organizationId: 'o', expiresAt: 1e9, at, begun } as unknown as UserSession;
  const secondFactor = { counter: 0, recovery: [], since: 0, failures: 0, lockedUntil: 0 };
  const owes = (memberships: number, now: number, factor = true) =>
    owedProof(session, { memberships: Array(memberships).fill({}), ...(factor && { secondFactor }) }, now);
  t.is(owes(1, 0), 'factor', 'the provider does not prove the factor of the person');
  t.is(owes(2, 9 * MINUTE), undefined);
  t.is(owes(2, 10 * MINUTE), 'sign-in-first');
  t.is(owes(2, 60 * MINUTE), 'sign-in');
  t.is(owes(2, 60 * MINUTE, false), 'sign-in');
  const open = { ...session, at: { issuer: 'i', subject: 's' } };
  t.is(
    owedProof(open, { memberships: [{}, {}] }, 9 * MINUTE),
    'sign-in',
    'a sign-in there alone is no proof',
  );
  const proven = { ...session, provenAt: 0 };
  t.is(owedProof(proven, { memberships: [{}] }, 59 * MINUTE), 'sign-in-first', 'also of a provider');
  t.is(owedProof(proven, { memberships: [{}] }, 60 * MINUTE), 'sign-in');
});

test.serial(
  'the file on the page of a document is there for minutes, that of the API for an hour',
  async (t) => {
    const portal = await clockedPortal(t);
    const { client } = portal;
    const email = 'ana@example.org';
    await client.post('/api/organizations/users', { name: 'Ana', email, accessProfile: ADMINISTRATOR });
    const browser = await administrator(portal, email);
    const user = { name: 'Bo', email: 'bo@example.org' };
    const id = await client.create([{ user, allowElectronicSignature: true }]);
    const page = await browser.page(`/account/documents/${id}`);
    const [shown = ''] = /\/api\/documents\/[\w-]+\/download\?ticket=[\w-]+/.exec(page) ?? [];
    const { location } = await client.get<{ location: string }>(`/api/documents/${id}/ticket?preview=true`);
    const statuses = () =>
      Promise.all([shown, location].map(async (path) => (await fetch(`${client.url}${path}`)).status));
    t.deepEqual(await statuses(), [200, 200]);
    portal.forward(6 * MINUTE);
    t.deepEqual(await statuses(), [404, 200]);
  },
);
