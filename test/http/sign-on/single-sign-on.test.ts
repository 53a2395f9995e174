/**
 * Sign-in of users and operators at a real OpenID provider, and attacks on it.
 *
 * Source: docs/decisions/0276-single-sign-on.md.
 */
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { type PortalProgram, startProgram, until } from '../../actors/portal/service.ts';
import { start as startCommand } from '../../commands/program.ts';
import { storeSettings } from '../../postgres/test-store.ts';
import { temporaryRoot } from '../../service/service.ts';
import { ADMINISTRATOR, mailedLink, mailedLinks, register, UserBrowser } from '../portal/accounts/users.ts';
import { onwardOf, SiteBrowser, startProvider, type TestProvider, unsigned } from './oidc-server.ts';

interface Parts {
  readonly provider: TestProvider;
  readonly program: PortalProgram;
  /** Addresses of the portal and of the batch service. */
  readonly portal: string;
  readonly batch: string;
}

const SECRET = 'a secret of the client, of 32 characters';
const test = anyTest as TestFn<Parts>;
const tasks: (() => unknown)[] = [];

function providerSettings(index: number, members: Readonly<Record<string, string | boolean>>) {
  return Object.fromEntries(
    Object.entries(members).map(([key, value]) => [`Identity:Providers:${index}:${key}`, value]),
  );
}

test.before(async (t) => {
  const teardown = (task: () => unknown) => void tasks.push(task);
  const provider = await startProvider({ teardown });
  const client = (name: string) => ({
    Name: name,
    Issuer: provider.issuer,
    ClientId: name,
    ClientSecret: SECRET,
  });
  const program = await startProgram(
    { teardown },
    {
      settings: {
        ...providerSettings(0, {
          ...client('company'),
          Organization: 'Acme',
          CreateUsers: true,
          'Domains:0': 'example.test',
          'Roles:0:Group': 'admins',
          'Roles:0:Role': 'Administrator',
          'Roles:1:Group': 'signers',
          'Roles:1:Role': 'Sender',
        }),
        // Administrators of the organization give the roles of its people.
        ...providerSettings(1, { ...client('partner'), Organization: 'Acme' }),
        ...providerSettings(2, {
          ...client('ops'),
          Operators: true,
          'Roles:0:Group': 'watchers',
          'Roles:0:Role': 'Viewer',
          'Roles:1:Group': 'keepers',
          'Roles:1:Role': 'Operator',
        }),
        // Everybody of a domain is in an organization; it has the issuer of the others.
        ...providerSettings(3, {
          ...client('sister'),
          Organization: 'Sister',
          CreateUsers: true,
          'Domains:0': 'sister.test',
          'Roles:0:Group': '*',
          'Roles:0:Role': 'Sender',
        }),
        // It gives roles to users that administrators add.
        ...providerSettings(4, {
          ...client('branch'),
          Organization: 'Acme',
          'Roles:0:Group': '*',
          'Roles:0:Role': 'Sender',
        }),
      },
    },
  );
  const { url: portal, service } = program;
  const { url: batch } = service;
  const registered = (name: string, base: string) => ({
    client_id: name,
    client_secret: SECRET,
    redirect_uris: [`${base}/${name}/callback`],
    post_logout_redirect_uris: [base],
    backchannel_logout_uri: `${base}/${name}/logout`,
    backchannel_logout_session_required: true,
  });
  provider.open(
    registered('company', `${portal}/sign-in`),
    registered('partner', `${portal}/sign-in`),
    registered('ops', `${batch}/login`),
    registered('sister', `${portal}/sign-in`),
    registered('branch', `${portal}/sign-in`),
  );
  t.context = { provider, program, portal, batch };
  // A program that starts slowly has asked the provider for longer than it waits, and asks again later.
  await until(async () => {
    const ready = await (await program.service.fetch('/api/ready')).text();
    return /identity:[^}]*Degraded/.test(ready) ? undefined : true;
  });
});
test.afterEach.always((t) => {
  t.context.provider.change(undefined);
});
test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

const startOf = ({ portal }: Parts, name = 'company') => `${portal}/sign-in/${name}`;
const COOKIE = 'sealwright-user';

/** A new person of the company, with a verified address. */
let people = 0;
function person({ provider }: Parts, claims: Readonly<Record<string, unknown>> = {}): string {
  people += 1;
  const login = `person${people}`;
  provider.users[login] = {
    email: `${login}@example.test`,
    email_verified: true,
    name: `Person ${people}`,
    groups: ['signers'],
    ...claims,
  };
  return login;
}

/** Whom the portal takes the browser for; undefined = for nobody. */
async function signedInAs({ portal }: Parts, browser: SiteBrowser): Promise<string | undefined> {
  const answer = await browser.fetch(`${portal}/account`);
  return answer.status === 200
    ? /<dt>E-mail address<\/dt><dd>([^<]+)/.exec(await answer.text())?.[1]
    : undefined;
}

async function formTokenOf({ portal }: Parts, browser: SiteBrowser): Promise<string> {
  const page = await (await browser.fetch(`${portal}/account`)).text();
  return /name="formToken" value="([^"]+)"/.exec(page)?.[1] ?? '';
}

/** Opens the editor as a user. @returns a request with its session, which tells the status */
async function openEditor(context: Parts, browser: SiteBrowser): Promise<() => Promise<number>> {
  const { acme } = context.program;
  const made = await browser.fetch(`${context.portal}/api/editor-sessions`, {
    method: 'POST',
    headers: {
      'X-Form-Token': await formTokenOf(context, browser),
      Origin: context.portal,
      'Content-Type': 'application/json',
      Accept: 'application/json',
    },
    body: JSON.stringify({ files: [{ ...(await acme.upload()), displayName: 'a.pdf' }] }),
  });
  const { url } = (await made.json()) as { url: string };
  const ticket = new URL(url).searchParams.get('ticket') ?? '';
  const opened = await acme.send('/api/editor-sessions/open', { ticket });
  const { token } = (await opened.json()) as { token: string };
  const headers = { 'X-Editor-Session': token };
  return async () => (await fetch(`${context.portal}/api/editor-sessions/current`, { headers })).status;
}

async function refused(t: ExecutionContext<Parts>, answer: Response, text: RegExp, browser: SiteBrowser) {
  const page = await answer.text();
  t.is(answer.status, 403, page);
  t.regex(page, text);
  t.is(browser.cookie(t.context.portal, COOKIE), undefined, 'no session');
}

test.serial(
  'the address leads to the provider of its domain, and a new user has the role of the group',
  async (t) => {
    const { portal, provider } = t.context;
    const login = person(t.context);
    const browser = new SiteBrowser();
    const form = await browser.fetch(`${portal}/sign-in`);
    const shown = await form.text();
    t.true(shown.includes('href="/sign-in/partner"'), 'a provider without domains has a button');
    t.false(shown.includes('href="/sign-in/company"'));
    const asked = await browser.post(`${portal}/sign-in`, { email: `Someone@Example.TEST` });
    const start = onwardOf(await asked.text(), `${portal}/sign-in`);
    t.is(start, `${portal}/sign-in/company?email=Someone%40Example.TEST`);
    const led = await new SiteBrowser().fetch(start);
    const asks = new URL(led.headers.get('location') ?? '');
    t.is(asks.origin, provider.issuer);
    t.like(Object.fromEntries(asks.searchParams), {
      response_type: 'code',
      code_challenge_method: 'S256',
      client_id: 'company',
      login_hint: 'Someone@Example.TEST',
      redirect_uri: `${portal}/sign-in/company/callback`,
    });

    const callback = await browser.signInAtProvider(start, login);
    const answer = await browser.fetch(callback, {}, true);
    t.is(answer.status, 200);
    const session = answer.headers.getSetCookie().find((line) => line.startsWith(`${COOKIE}=`)) ?? '';
    t.regex(session, /^sealwright-user=[\w.-]+; Path=\/; HttpOnly; SameSite=Strict$/);
    t.is(onwardOf(await answer.text(), callback), `${portal}/account?from=link`);
    t.is(await signedInAs(t.context, browser), `${login}@example.test`);
    t.is((await browser.fetch(`${portal}/organization`)).status, 403, 'a sender administers nothing');

    // The next sign-in reads the groups anew; sessions with the earlier role end.
    provider.users[login] = { ...provider.users[login], groups: ['signers', 'admins'] };
    const second = new SiteBrowser();
    await second.signIn(startOf(t.context), login);
    t.is((await second.fetch(`${portal}/organization`)).status, 200);
    t.is(await signedInAs(t.context, browser), undefined);

    // Without a group of the settings, the role is gone.
    provider.users[login] = { ...provider.users[login], groups: ['others'] };
    const third = new SiteBrowser();
    await refused(t, await third.signIn(startOf(t.context), login), /You have no role here/, third);
    t.is(await signedInAs(t.context, second), undefined, 'the role of the open session has ended');

    // Too many groups for a token are no reason to take a role away.
    provider.users[login] = { ...provider.users[login], groups: ['signers'] };
    await second.signIn(startOf(t.context), login);
    provider.users[login] = { ...provider.users[login], groups: undefined, _claim_names: { groups: 'src1' } };
    await refused(t, await third.signIn(startOf(t.context), login), /Your groups are unknown/, third);
    t.is(await signedInAs(t.context, second), `${login}@example.test`);
  },
);

test.serial(
  'an existing user is linked by a mailed link, in the browser that signed in at the provider',
  async (t) => {
    const { portal, program, provider } = t.context;
    const login = person(t.context, { groups: [] });
    const email = `${login}@example.test`;
    await register(program, email, ADMINISTRATOR);
    const browser = new SiteBrowser();
    const answer = await browser.signIn(startOf(t.context, 'partner'), login);
    t.regex(await answer.text(), /Confirm your address/);
    t.is(browser.cookie(portal, COOKIE), undefined, 'the address alone links nobody');
    const link = await until(async () => mailedLinks(program, email)[0]);

    // Somebody else who receives the link, as the owner of the address, signs nobody in with it.
    const other = new SiteBrowser();
    t.regex(await (await other.fetch(link)).text(), /does not work any more/);
    const ticket = new URL(link).searchParams.get('ticket') ?? '';
    await register(program, 'owner@local.test');
    const ordinary = await (await fetch(await mailedLink(program, 'owner@local.test'))).text();
    const organization = /name="organization" value="([^"]+)"/.exec(ordinary)?.[1] ?? '';
    t.not(organization, '');
    for (const named of [organization, ''])
      await other.post(`${portal}/sign-in/link`, { ticket, organization: named });
    t.is(other.cookie(portal, COOKIE), undefined);

    // Nor does a person who confirms an address of their own.
    const own = person(t.context, { groups: [] });
    await register(program, `${own}@example.test`);
    const third = new SiteBrowser();
    await third.signIn(startOf(t.context, 'partner'), own);
    await third.post(`${portal}/sign-in/link`, { ticket });
    t.is(third.cookie(portal, COOKIE), undefined);

    const shown = await (await browser.fetch(link, {}, true)).text();
    t.regex(shown, /connects you with your account at partner/);
    const confirmed = await browser.post(`${portal}/sign-in/link`, { ticket });
    t.is(confirmed.headers.get('location'), '/account?from=link');
    t.is(await signedInAs(t.context, browser), email);

    // The person is issuer and subject: a new address there changes nothing, and the old one is no way in.
    provider.users[login] = { ...provider.users[login], email: 'renamed@example.test' };
    const again = new SiteBrowser();
    await again.signIn(startOf(t.context, 'partner'), login);
    t.is(await signedInAs(t.context, again), email);
    const heir = person(t.context, { email, groups: [] });
    const stranger = new SiteBrowser();
    const heard = await stranger.signIn(startOf(t.context, 'partner'), heir);
    t.regex(await heard.text(), /Confirm your address/);
    t.is(stranger.cookie(portal, COOKIE), undefined);
  },
);

test.serial('an unverified address, one of another domain, and an unknown person make no user', async (t) => {
  for (const [claims, name, text] of [
    [{ email_verified: false }, 'company', /Your address cannot be used/],
    [{ email: 'who@elsewhere.test' }, 'company', /Your address cannot be used/],
    [{ email: 'who@example.test.elsewhere.test' }, 'company', /Your address cannot be used/],
    [{ email: undefined }, 'company', /Your address cannot be used/],
    // Without domains, the provider must say that the address is verified.
    [{ email_verified: undefined }, 'partner', /Your address cannot be used/],
    [{}, 'partner', /You have no account here/],
  ] as const) {
    const browser = new SiteBrowser();
    const start = startOf(t.context, name);
    await refused(t, await browser.signIn(start, person(t.context, claims)), text, browser);
  }
  // A provider that says nothing speaks for its domains.
  const browser = new SiteBrowser();
  await browser.signIn(startOf(t.context), person(t.context, { email_verified: undefined }));
  t.truthy(await signedInAs(t.context, browser));
});

test.serial('a known person gets in at a provider for the domains of that provider only', async (t) => {
  const { provider } = t.context;
  const login = person(t.context);
  const email = `${login}@example.test`;
  await new SiteBrowser().signIn(startOf(t.context), login);
  const browser = new SiteBrowser();
  const no = /Your address cannot be used/;
  await refused(t, await browser.signIn(startOf(t.context, 'sister'), login), no, browser);
  provider.users[login] = { ...provider.users[login], email: `${login}@sister.test` };
  await browser.signIn(startOf(t.context, 'sister'), login);
  t.is(await signedInAs(t.context, browser), email);
  const other = new SiteBrowser();
  await refused(t, await other.signIn(startOf(t.context), login), no, other);
});

test.serial(
  'a person of many groups confirms an address, and one who was removed meanwhile does not',
  async (t) => {
    const { portal, program } = t.context;
    const confirm = async (browser: SiteBrowser, email: string) => {
      const link = await until(async () => mailedLinks(program, email)[0]);
      const ticket = new URL(link).searchParams.get('ticket') ?? '';
      return browser.post(`${portal}/sign-in/link`, { ticket });
    };
    const groups = Array.from({ length: 150 }, (_, index) => `${'g'.repeat(30)}${index}`);
    const busy = person(t.context, { groups: [...groups, 'signers'] });
    await register(program, `${busy}@example.test`);
    const browser = new SiteBrowser();
    await browser.signIn(startOf(t.context), busy);
    await confirm(browser, `${busy}@example.test`);
    t.is(await signedInAs(t.context, browser), `${busy}@example.test`);

    const leaver = person(t.context);
    const email = `${leaver}@example.test`;
    const id = await register(program, email);
    // The record of the person outlives the membership.
    const accessProfile = ADMINISTRATOR;
    const elsewhere = await program.organization('Elsewhere');
    await elsewhere.post('/api/organizations/users', { name: leaver, email, accessProfile });
    const late = new SiteBrowser();
    await late.signIn(startOf(t.context, 'branch'), leaver);
    t.is((await program.acme.fetch(`/api/organizations/users/${id}`, { method: 'DELETE' })).status, 200);
    await refused(t, await confirm(late, email), /You have no account here/, late);
    // Added again, the same link works.
    await register(program, email);
    await confirm(late, email);
    t.is(await signedInAs(t.context, late), email);
  },
);

test.serial(
  'an answer counts once, at its provider, and in the browser that began the sign-in',
  async (t) => {
    const { portal, provider } = t.context;
    const login = person(t.context);
    const victim = new SiteBrowser();
    const over = /This sign-in is over/;

    // Login CSRF: the attacker's answer in a browser without a sign-in, and in one with a sign-in of its own.
    const attacker = new SiteBrowser();
    const answer = await attacker.signInAtProvider(startOf(t.context), login);
    const before = provider.tokens;
    await refused(t, await victim.fetch(answer, {}, true), over, victim);
    await victim.fetch(startOf(t.context));
    await refused(t, await victim.fetch(answer, {}, true), over, victim);
    // Mix-up: the answer of one provider at the callback of another, and with the name of another issuer.
    await refused(
      t,
      await attacker.fetch(answer.replace('/company/', '/partner/'), {}, true),
      over,
      attacker,
    );
    t.is(provider.tokens, before, 'no code went to the provider');
    const otherIssuer = new URL(answer);
    t.is(otherIssuer.searchParams.get('iss'), provider.issuer);
    otherIssuer.searchParams.set('iss', 'https://evil.example');
    await refused(t, await attacker.fetch(otherIssuer.href, {}, true), over, attacker);
    const withoutIssuer = new URL(await attacker.signInAtProvider(startOf(t.context), login));
    withoutIssuer.searchParams.delete('iss');
    await refused(t, await attacker.fetch(withoutIssuer.href, {}, true), over, attacker);
    t.is(provider.tokens, before, 'no code went to the provider');

    // Code injection: the code of another sign-in with the state of one's own.
    const stolen = new URL(await new SiteBrowser().signInAtProvider(startOf(t.context), person(t.context)));
    const own = new URL(await attacker.signInAtProvider(startOf(t.context), login));
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    await refused(t, await attacker.fetch(own.href, {}, true), over, attacker);

    // Replay: the same answer, with a copy of the cookie.
    const good = await victim.signInAtProvider(startOf(t.context), login);
    const kept = victim.cookie(portal, `${COOKIE}-flow`) ?? '';
    t.not(kept, '');
    t.is((await victim.fetch(good, {}, true)).status, 200);
    t.is(await signedInAs(t.context, victim), `${login}@example.test`);
    t.is(victim.cookie(portal, `${COOKIE}-flow`), undefined);
    const copy = new SiteBrowser();
    copy.plant(portal, `${COOKIE}-flow`, kept);
    const used = provider.tokens;
    await refused(t, await copy.fetch(good, {}, true), over, copy);
    t.is(provider.tokens, used, 'no code went to the provider');
  },
);

test.serial('a session planted before the sign-in is not taken over', async (t) => {
  const { portal } = t.context;
  const attacker = new SiteBrowser();
  const known = person(t.context);
  await attacker.signIn(startOf(t.context), known);
  for (const [planted = '', owner] of [
    [attacker.cookie(portal, COOKIE), `${known}@example.test`],
    ['11111111-1111-4111-8111-111111111111.attacker', undefined],
  ]) {
    t.not(planted, '');
    const browser = new SiteBrowser();
    // Another host of the domain can plant a cookie, which browsers then send with the answer of the provider, too.
    browser.plant(portal, COOKIE, planted);
    const login = person(t.context);
    await browser.signIn(startOf(t.context), login);
    t.not(browser.cookie(portal, COOKIE), planted);
    t.is(await signedInAs(t.context, browser), `${login}@example.test`);
    const other = new SiteBrowser();
    other.plant(portal, COOKIE, planted);
    t.is(await signedInAs(t.context, other), owner, 'the planted one is nobody else');
  }
});

test.serial(
  'before users are changed the provider asks anew, and a session that is open there does not prove the person',
  async (t) => {
    const { portal, provider } = t.context;
    const login = person(t.context, { groups: ['admins'] });
    const browser = new SiteBrowser();
    let added = 0;
    const add = async (by = browser) => {
      added += 1;
      const fields = { name: 'Bo', email: `added${added}@local.test`, role: 'sender' };
      const formToken = await formTokenOf(t.context, by);
      return by.post(`${portal}/organization/users`, { ...fields, formToken });
    };
    await browser.signIn(startOf(t.context), login);
    // The provider has not said when the person signed in there.
    const refusedForm = await add();
    t.is(refusedForm.status, 403);
    t.regex(await refusedForm.text(), /href="\/sign-in\?again=yes"/);
    const form = await (await browser.fetch(`${portal}/sign-in?again=yes`)).text();
    t.regex(form, /action="\/sign-in\?again=yes"/);
    t.true(form.includes('href="/sign-in/partner?again=yes"'));
    t.true(form.includes('href="/sign-in?again=yes&amp;culture=es"'));
    const led = await browser.post(`${portal}/sign-in?again=yes`, { email: `${login}@example.test` });
    const start = onwardOf(await led.text(), `${portal}/sign-in`);
    t.is(start, `${portal}/sign-in/company?email=${login}%40example.test&again=yes`);

    // Whoever finds the browser open takes the demand out of the address, so that the open session answers.
    const open = browser.prompts.length;
    const taken = await browser.signIn(start, login, ({ searchParams }) => {
      t.like(Object.fromEntries(searchParams), { prompt: 'login', max_age: '60' });
      for (const name of ['prompt', 'max_age']) searchParams.delete(name);
    });
    t.is(browser.prompts.length, open, 'nobody was asked');
    t.is(taken.status, 403);
    t.regex(
      await taken.text(),
      /company did not confirm that it has just asked you.*href="\/sign-in\?again=yes"/s,
    );
    const now = Math.floor(Date.now() / 1000);
    for (const [name, claims] of Object.entries({
      'an earlier authentication': { auth_time: now - 120 },
      'no time of it': { auth_time: undefined },
    })) {
      provider.change((given) => provider.sign({ ...given, ...claims }));
      t.is((await browser.signIn(start, login)).status, 403, name);
    }
    t.is((await add()).status, 403);

    // The same way as the provider answers: it has asked although its session is open.
    provider.change(undefined);
    const before = browser.prompts.length;
    t.is((await browser.signIn(start, login)).status, 200);
    t.true(browser.prompts.slice(before).includes('login'));
    t.is((await add()).headers.get('location'), '/organization/users?done=userAdded');
    // An ordinary sign-in asks for nothing, and has the time that the provider states.
    for (const [seconds, status] of [
      [120, 302],
      [7200, 403],
    ] as const) {
      provider.change((given) => provider.sign({ ...given, auth_time: now - seconds }));
      const later = browser.prompts.length;
      await browser.signIn(startOf(t.context), login, ({ searchParams }) =>
        t.false(searchParams.has('prompt') || searchParams.has('max_age')),
      );
      t.is(browser.prompts.length, later);
      t.is((await add()).status, status);
    }
  },
);

test.serial('keys that the provider has just replaced count at once, and the old ones no more', async (t) => {
  const { portal, provider } = t.context;
  const login = person(t.context);
  const browser = new SiteBrowser();
  await browser.signIn(startOf(t.context), login);
  const now = Math.floor(Date.now() / 1000);
  const logout = {
    iss: provider.issuer,
    aud: 'company',
    sub: login,
    iat: now,
    exp: now + 120,
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  };
  const old = [await provider.sign({ ...logout, jti: 'k1' }), await provider.sign({ ...logout, jti: 'k2' })];
  const send = async (logout_token = '') =>
    (await new SiteBrowser().post(`${portal}/sign-in/company/logout`, { logout_token })).status;
  t.is(await send(old[0]), 200);
  const withdrawn = provider.signer();
  await provider.rotate();
  await browser.signIn(startOf(t.context), login);
  t.is(await signedInAs(t.context, browser), `${login}@example.test`);
  const next = await provider.sign({ ...logout, jti: 'k3' });
  await until(async () => ((await send(next)) === 200 ? true : undefined));
  t.is(await signedInAs(t.context, browser), undefined);
  t.is(await send(old[1]), 400);
  provider.change(withdrawn);
  const late = new SiteBrowser();
  await refused(t, await late.signIn(startOf(t.context), login), /This sign-in is over/, late);
});

test.serial(
  'signing out ends the session at the provider, and the provider ends sessions here',
  async (t) => {
    const { portal, provider } = t.context;
    const login = person(t.context);
    const browser = new SiteBrowser();
    await browser.signIn(startOf(t.context), login);
    const formToken = await formTokenOf(t.context, browser);
    const out = await browser.post(`${portal}/sign-out`, { formToken });
    const elsewhere = new URL(onwardOf(await out.text(), `${portal}/sign-out`));
    t.is(elsewhere.origin, provider.issuer);
    t.is(elsewhere.searchParams.get('post_logout_redirect_uri'), `${portal}/sign-in`);
    t.truthy(elsewhere.searchParams.get('id_token_hint'));
    t.is(await signedInAs(t.context, browser), undefined);

    // Back-channel logout, as the provider sends it when the session there ends.
    const first = new SiteBrowser();
    const second = new SiteBrowser();
    await first.signIn(startOf(t.context), login);
    await second.signIn(startOf(t.context), login);
    const ends = async (page: string, address: string) => {
      const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1] ?? '';
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
      return first.post(new URL(action, address).href, { xsrf, logout: 'yes' });
    };
    const address = `${provider.issuer}/session/end?client_id=company`;
    await ends(await (await first.fetch(address)).text(), address);
    await until(async () => ((await signedInAs(t.context, first)) === undefined ? true : undefined));
    t.is(await signedInAs(t.context, second), `${login}@example.test`, 'another session at the provider');

    const now = Math.floor(Date.now() / 1000);
    const good = {
      iss: provider.issuer,
      aud: 'company',
      sub: login,
      iat: now,
      exp: now + 120,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    };
    const { sub: _, ...unnamed } = good;
    const send = async (token: string, name = 'company') =>
      (await new SiteBrowser().post(`${portal}/sign-in/${name}/logout`, { logout_token: token })).status;
    const bad: Readonly<Record<string, string>> = {
      'no token': '',
      'no signature': unsigned({ ...good, jti: '1' }),
      'the public key as a secret': await provider.signWithPublicKey({ ...good, jti: '2' }),
      'an ID token': await provider.sign({ ...good, jti: '3', events: undefined }),
      'with a nonce': await provider.sign({ ...good, jti: '4', nonce: 'n' }),
      'another audience': await provider.sign({ ...good, jti: '5', aud: 'partner' }),
      'another issuer': await provider.sign({ ...good, jti: '6', iss: 'https://evil.example' }),
      'an old token': await provider.sign({ ...good, jti: '7', iat: now - 3600 }),
      'no id': await provider.sign(good),
      nobody: await provider.sign({ ...unnamed, jti: '8' }),
    };
    for (const [name, token] of Object.entries(bad)) t.is(await send(token), 400, name);
    t.is(await signedInAs(t.context, second), `${login}@example.test`);
    const editor = await openEditor(t.context, second);
    t.is(await editor(), 200);
    const token = await provider.sign({ ...good, jti: '9' }, { typ: 'logout+jwt' });
    t.is(await send(token), 200);
    t.is(await signedInAs(t.context, second), undefined);
    t.is(await editor(), 401, 'the session of the editor has ended');
    t.is(await send(token), 400, 'a token counts once');

    // Sessions of the editor end, too, when there is no other session any more.
    await second.signIn(startOf(t.context), login);
    const later = await openEditor(t.context, second);
    await second.post(`${portal}/sign-out`, { formToken: await formTokenOf(t.context, second) });
    t.is(await later(), 200);
    t.is(await send(await provider.sign({ ...good, jti: '10' })), 200);
    t.is(await later(), 401);
  },
);

test.serial(
  'an operator logs in with the role of the group, and goes to a page of this service only',
  async (t) => {
    const { batch, provider } = t.context;
    const login = person(t.context, { groups: ['watchers', 'keepers'] });
    const whoami = async (browser: SiteBrowser) => {
      const answer = await browser.fetch(`${batch}/api/whoami`, { headers: { Accept: 'application/json' } });
      return answer.status === 200
        ? ((await answer.json()) as { operator: string; scheme: string })
        : undefined;
    };
    const browser = new SiteBrowser();
    t.true(
      (await (await browser.fetch(`${batch}/login?ReturnUrl=%2Fjobs`)).text()).includes(
        '/login/ops?ReturnUrl=%2Fjobs',
      ),
    );
    for (const [given, to] of [
      ['/jobs?status=Failed', '/jobs?status=Failed'],
      ['https://evil.example/', '/'],
      ['//evil.example', '/'],
      ['/\\evil.example', '/'],
      ['javascript:alert(1)', '/'],
    ] as const) {
      const start = `${batch}/login/ops?ReturnUrl=${encodeURIComponent(given)}`;
      const callback = await browser.signInAtProvider(start, login);
      const answer = await browser.fetch(callback, {}, true);
      t.is(onwardOf(await answer.text(), callback), `${batch}${to}`, given);
    }
    t.like(await whoami(browser), { operator: `${login}@example.test`, scheme: 'Cookie' });
    const events = await browser.fetch(`${batch}/api/events?kind=LoggedIn`, {
      headers: { Accept: 'application/json' },
    });
    t.true((await events.text()).includes(`"actor":"${login}@example.test"`));

    // The role decides what the person may do.
    const pause = (by: SiteBrowser) =>
      by.fetch(`${batch}/api/pipeline/resume`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: batch },
        body: '{}',
      });
    t.is((await pause(browser)).status, 200);
    const viewer = new SiteBrowser();
    await viewer.signIn(`${batch}/login/ops`, person(t.context, { groups: ['watchers'] }));
    t.truthy(await whoami(viewer));
    t.is((await pause(viewer)).status, 403);
    // Names that people choose do not look like the operator of the key.
    const named = new SiteBrowser();
    await named.signIn(
      `${batch}/login/ops`,
      person(t.context, { groups: ['watchers'], email: undefined, name: 'operator' }),
    );
    t.like(await whoami(named), { operator: 'user:operator' });
    // Nor like those of others: nobody has verified the address.
    const unverified = new SiteBrowser();
    await unverified.signIn(
      `${batch}/login/ops`,
      person(t.context, { groups: ['watchers'], email_verified: undefined }),
    );
    t.like(await whoami(unverified), { operator: `user:Person ${people}` });

    const nobody = new SiteBrowser();
    const without = await nobody.signIn(`${batch}/login/ops`, person(t.context));
    t.is(without.status, 403);
    t.is(await whoami(nobody), undefined);

    // Logout here leads to the provider; a logout token ends every other session of the person.
    const other = new SiteBrowser();
    await other.signIn(`${batch}/login/ops`, login);
    const out = await browser.post(`${batch}/api/auth/logout`, {});
    t.is(new URL(onwardOf(await out.text(), batch)).origin, provider.issuer);
    t.is(await whoami(browser), undefined);
    t.truthy(await whoami(other));
    const now = Math.floor(Date.now() / 1000);
    const token = await provider.sign({
      iss: provider.issuer,
      aud: 'ops',
      sub: login,
      iat: now,
      exp: now + 120,
      jti: 'ops',
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    t.is((await new SiteBrowser().post(`${batch}/login/ops/logout`, { logout_token: token })).status, 200);
    t.is(await whoami(other), undefined);
  },
);

test.serial('an outage of the provider and a refused client end new sign-ins only', async (t) => {
  const { provider, portal, program } = t.context;
  const login = person(t.context);
  const browser = new SiteBrowser();
  await browser.signIn(startOf(t.context), login);
  const checkOf = async () => {
    const answer = await program.service.fetch('/api/ready');
    const { checks } = (await answer.json()) as {
      checks: { name: string; status: string; detail: string }[];
    };
    return { ready: answer.status, ...checks.find(({ name }) => name === 'identity:company') };
  };
  t.like(await checkOf(), { ready: 200, status: 'Healthy' });
  const other = new SiteBrowser();
  const callback = await other.signInAtProvider(startOf(t.context), login);
  provider.fail(503);
  const answer = await other.fetch(callback, {}, true);
  t.is(answer.status, 503);
  t.regex(await answer.text(), /company cannot be reached/);
  t.is(await signedInAs(t.context, browser), `${login}@example.test`, 'sessions go on');
  const found = await checkOf();
  t.like(found, { ready: 200, status: 'Degraded' });
  provider.fail(undefined);
  await other.signIn(startOf(t.context), login);
  t.is(await signedInAs(t.context, other), `${login}@example.test`);
  t.like(await checkOf(), { ready: 200, status: 'Healthy' });
  // Anybody can write the answer of a browser: it says nothing about the provider.
  const answered = async (browser: SiteBrowser, error: string) => {
    const start = await browser.fetch(startOf(t.context));
    const state = new URL(start.headers.get('location') ?? '').searchParams.get('state') ?? '';
    const query = new URLSearchParams({ error, state, iss: provider.issuer });
    return browser.fetch(`${portal}/sign-in/company/callback?${query}`, {}, true);
  };
  t.is((await answered(new SiteBrowser(), 'server_error')).status, 503);
  t.like(await checkOf(), { ready: 200, status: 'Healthy' });
  // The person did not want it.
  const denied = new SiteBrowser();
  const said = await answered(denied, 'access_denied');
  await refused(t, said, /You are not signed in/, denied);
});

test.serial(
  'without mailed links and without the provider, a link from the command line signs in',
  async (t) => {
    const root = await temporaryRoot(t);
    // Nothing listens there.
    const settings = {
      ...providerSettings(0, {
        Name: 'gone',
        Organization: 'Acme',
        'Domains:0': 'gone.test',
        Issuer: 'http://127.0.0.1:1',
        ClientId: 'gone',
        ClientSecret: SECRET,
      }),
      'Identity:LocalSignIn': false,
    };
    const first = await startProgram(t, { root, settings });
    const email = 'ana@elsewhere.test';
    await register(first, email);
    // A mailed link that is open when the links are closed does not work on; here none is mailed.
    await new SiteBrowser().post(`${first.url}/sign-in`, { email });
    const led = await new SiteBrowser().post(`${first.url}/sign-in`, { email: 'ben@gone.test' });
    const start = onwardOf(await led.text(), `${first.url}/sign-in`);
    const away = await new SiteBrowser().fetch(start);
    t.is(away.status, 503);
    const shown = await away.text();
    t.regex(shown, /gone cannot be reached/);
    t.notRegex(shown, /Send me a link instead/);
    const ready = await first.service.fetch('/api/ready');
    t.is(ready.status, 200);
    t.regex(await ready.text(), /"name":"identity:gone","status":"Degraded"/);
    await first.service.stop();

    const words = ['keys', 'sign-in', 'Acme', email, '--json'];
    const made = startCommand(root, [
      ...words,
      ...Object.entries({ 'Storage:Root': root, ...settings, ...storeSettings(root) }).map(
        ([key, value]) => `--${key}=${value}`,
      ),
    ]);
    t.is(await made.ended, 0, made.err());
    const { link } = JSON.parse(made.out()) as { link: string };
    const second = await startProgram(t, { root, settings });
    t.deepEqual(mailedLinks(second, email), []);
    const browser = new UserBrowser(second.url);
    const answer = await browser.follow(link);
    t.is(answer.headers.get('location'), '/account?from=link');
    t.true((await browser.page('/account')).includes(email));
  },
);
