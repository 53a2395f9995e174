/**
 * Sign-in of users and operators by SAML, and attacks on it: a provider whose key the test holds makes every response.
 *
 * Source: docs/decisions/0286-saml.md.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import anyTest, { type ExecutionContext, type TestFn } from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import type { SignInFailure } from '../../../http/core/sign-on/provider.ts';
import { SamlProvider } from '../../../http/core/sign-on/saml-provider.ts';
import { type PortalProgram, startProgram, until } from '../../actors/portal/service.ts';
import { movedElements } from '../../crypto/xades/moved-elements.ts';
import { temporaryRoot } from '../../service/service.ts';
import { mailedLinks, register } from '../portal/accounts/users.ts';
import { SiteBrowser } from './oidc-server.ts';
import {
  assertionOf,
  beginSaml,
  EMAIL_FORMAT,
  partsFor,
  type ResponseContent,
  readRequest,
  responseOf,
  type SamlKey,
  type SamlRequest,
  samlKey,
  samlMetadata,
  sendResponse,
  signedResponse,
  signedXml,
} from './saml-server.ts';

interface Parts {
  readonly program: PortalProgram;
  readonly portal: string;
  readonly batch: string;
  readonly file: string;
  readonly key: SamlKey;
}

const test = anyTest as TestFn<Parts>;
const tasks: (() => unknown)[] = [];
const COOKIE = 'sealwright-user';
const ENTRY = 'https://idp.example/sso';

test.before(async (t) => {
  const teardown = (task: () => unknown) => void tasks.push(task);
  const root = await temporaryRoot({ teardown } as ExecutionContext);
  const file = join(root, 'provider.xml');
  const key = samlKey();
  await writeFile(file, samlMetadata('urn:idp', ENTRY, [key]));
  const members = [
    {
      Name: 'company',
      Organization: 'Acme',
      CreateUsers: true,
      'Domains:0': 'example.test',
      'Roles:0:Group': 'admins',
      'Roles:0:Role': 'Administrator',
      'Roles:1:Group': 'signers',
      'Roles:1:Role': 'Sender',
    },
    {
      Name: 'ops',
      Operators: true,
      'Roles:0:Group': 'watchers',
      'Roles:0:Role': 'Viewer',
    },
    {
      Name: 'open',
      Organization: 'Acme',
      CreateUsers: true,
      'Domains:0': 'open.test',
      'Roles:0:Group': '*',
      'Roles:0:Role': 'Sender',
      AllowUnsolicited: true,
    },
  ];
  const settings = members.flatMap((one, index) =>
    Object.entries({
      ...one,
      Kind: 'Saml',
      MetadataFile: file,
      EntityId: `urn:sealwright:${one.Name}`,
    }).map(([name, value]) => [`Identity:Providers:${index}:${name}`, value] as const),
  );
  const program = await startProgram({ teardown }, { root, settings: Object.fromEntries(settings) });
  t.context = { program, file, key, portal: program.url, batch: program.service.url };
});
test.after.always(async () => {
  for (const task of tasks.reverse()) await task();
});

const startOf = ({ portal }: Parts, name = 'company') => `${portal}/sign-in/${name}`;

/** Whom the portal takes the browser for; undefined = for nobody. */
async function signedInAs({ portal }: Parts, browser: SiteBrowser): Promise<string | undefined> {
  const answer = await browser.fetch(`${portal}/account`);
  return answer.status === 200
    ? /<dt>E-mail address<\/dt><dd>([^<]+)/.exec(await answer.text())?.[1]
    : undefined;
}

/** Signs in with a response that differs from a good one. */
async function signIn(
  context: Parts,
  change: Partial<ResponseContent> = {},
  make: (parts: ResponseContent, key: SamlKey) => string = (parts, key) => signedResponse(parts, key),
  query = '',
) {
  const browser = new SiteBrowser();
  const request = await beginSaml(browser, `${startOf(context)}${query}`);
  const parts = partsFor(request, change);
  const answer = await sendResponse(browser, request.receiver, make(parts, context.key));
  return { answer, browser, parts, request };
}

async function refused(
  t: ExecutionContext<Parts>,
  { answer, browser }: { readonly answer: Response; readonly browser: SiteBrowser },
  name: string,
  status = 403,
) {
  t.is(answer.status, status, `${name}: ${await answer.text()}`);
  t.is(browser.cookie(t.context.portal, COOKIE), undefined, name);
}

test.serial('a person signs in with the role of the group, and again as the same person', async (t) => {
  const { portal } = t.context;
  const browser = new SiteBrowser();
  const first = await browser.fetch(startOf(t.context));
  const location = new URL(first.headers.get('location') ?? '');
  t.is(location.origin + location.pathname, ENTRY);
  t.is(location.searchParams.get('RelayState'), null);
  const request = await beginSaml(browser, startOf(t.context));
  t.like(request, { issuer: 'urn:sealwright:company', receiver: `${portal}/sign-in/company/acs` });
  t.notRegex(request.xml, /RequestedAuthnContext|Format=/);
  const parts = partsFor(request, {
    attributes: { mail: ['ana@example.test'], cn: ['Ana'], groups: ['others', 'signers'] },
  });
  const answer = await sendResponse(browser, request.receiver, signedResponse(parts, t.context.key));
  t.is(answer.status, 200);
  t.false((await answer.text()).includes('evil.example'));
  t.is(await signedInAs(t.context, browser), 'ana@example.test');
  t.is((await browser.fetch(`${portal}/organization`)).status, 403);
  for (const cookie of ['flow', 'answer']) t.is(browser.cookie(portal, `${COOKIE}-${cookie}`), undefined);

  const renamed = { nameId: parts.nameId, attributes: { email: ['b@example.test'], groups: ['admins'] } };
  const second = await signIn(t.context, renamed);
  t.is(await signedInAs(t.context, second.browser), 'ana@example.test', 'the NameID is the person');
  t.is((await second.browser.fetch(`${portal}/organization`)).status, 200);
  await refused(
    t,
    await signIn(t.context, { ...renamed, attributes: { email: ['b@example.test'] } }),
    'no group',
  );
  await refused(
    t,
    await signIn(t.context, { attributes: { email: ['b@other.test'], groups: ['signers'] } }),
    'another domain',
  );
  // A name of the format of addresses is one.
  const named = await signIn(t.context, {
    nameId: 'named@example.test',
    format: EMAIL_FORMAT,
    attributes: { groups: ['signers'] },
  });
  t.is(await signedInAs(t.context, named.browser), 'named@example.test');
  const unsolicited = { inResponseTo: undefined, confirmedRequest: undefined };
  await refused(t, await signIn(t.context, unsolicited), 'unsolicited');
});

test.serial('a known address does not link by itself', async (t) => {
  const { program } = t.context;
  const email = 'known@example.test';
  await register(program, email);
  const { answer, browser } = await signIn(t.context, {
    attributes: { email: [email], groups: ['signers'] },
  });
  t.regex(await answer.text(), /Confirm your address/);
  const link = await until(async () => mailedLinks(program, email)[0]);
  const ticket = new URL(link).searchParams.get('ticket') ?? '';
  await browser.post(`${program.url}/sign-in/link`, { ticket });
  t.is(await signedInAs(t.context, browser), email);
});

/** The provider as the service has it, and a request of ours. */
async function provider({ file }: Pick<Parts, 'file'>) {
  const entityId = 'urn:sealwright:company';
  const given = new SamlProvider(
    { name: 'company', metadataFile: file, entityId, groupsClaim: 'groups', allowUnsolicited: false },
    { clock: systemClock, log: { debug() {}, info() {}, warn() {}, error() {} } },
  );
  const receiver = 'https://sign.example/sign-in/company/acs';
  const request = readRequest(await given.begin({ state: 's1', nonce: '', verifier: '' }, receiver));
  const finish = (xml: string) => given.finish(Buffer.from(xml).toString('base64'), receiver);
  const refusal = (xml: string) =>
    finish(xml).then(
      () => 'accepted',
      (error) => (error as SignInFailure).reason,
    );
  return { request, finish, refusal };
}

test('a response counts as the provider has signed it, for this service and now only', async (t) => {
  const { key } = t.context;
  const { request, finish, refusal } = await provider(t.context);
  const elsewhere = 'https://other.example/acs';
  const wrong: Readonly<Record<string, Partial<ResponseContent>>> = {
    'another audience': { audience: 'urn:other' },
    'another recipient': { recipient: elsewhere },
    'another destination': { destination: elsewhere },
    'another issuer of the response': { responseIssuer: 'urn:evil' },
    'another issuer of the assertion': { issuer: 'urn:evil' },
    expired: { ends: -300 },
    'not yet valid': { notBefore: 300 },
    'an expired confirmation': { confirmationEnds: -300 },
    'an old assertion': { issued: -3600 },
    'without an authentication': { statement: false },
    'a session that is over': { sessionEnds: -1 },
    'another request in the assertion': { confirmedRequest: '_other' },
    'no request in the assertion': { confirmedRequest: undefined },
    'a request in the assertion alone': { inResponseTo: undefined },
  };
  for (const [name, change] of Object.entries(wrong))
    t.is(await refusal(signedResponse(partsFor(request, change), key)), 'refused', name);

  const parts = partsFor(request);
  const responseId = `_r${parts.assertionId}`;
  const unsigned = responseOf(parts, assertionOf(parts));
  const good = signedResponse(parts, key);
  const forged: Readonly<Record<string, string>> = {
    'another key': signedResponse(parts, samlKey()),
    'no signature': unsigned,
    'a signed response around an unsigned assertion': signedXml(unsigned, responseId, key),
    'a signed response for nobody': signedXml(
      signedResponse({ ...parts, destination: undefined }, key),
      responseId,
      key,
    ),
    'RSA with SHA-1': signedResponse(parts, key, 'sha1'),
    'a digest of SHA-1': signedResponse(parts, key, 'sha1Digest'),
    'the certificate as a secret': signedResponse(parts, key, 'hmac'),
    'a document type': `<!DOCTYPE r>${good}`,
    'an entity': `<!DOCTYPE r [<!ENTITY e "x">]>${good}`,
    'a comment in a value': good.replace('>signers<', '>sign<!---->ers<'),
    'a changed value': good.replace('>signers<', '>admins<'),
    'two assertions': good.replace(
      '</samlp:Response>',
      `${assertionOf({ ...parts, assertionId: '_second' })}</samlp:Response>`,
    ),
    'no XML': 'hello',
  };
  for (const [name, xml] of Object.entries(forged)) t.is(await refusal(xml), 'refused', name);
  for (const [name, xml] of Object.entries({
    'a transient name': signedResponse(
      { ...parts, format: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
      key,
    ),
    encryption: responseOf(
      parts,
      '<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"/>',
    ),
    'a fault': signedResponse({ ...parts, status: 'urn:oasis:names:tc:SAML:2.0:status:Requester' }, key),
  }))
    t.is(await refusal(xml), 'unavailable', name);
  // The same way with what is good, also without the parts that are optional.
  t.like(await finish(good), { state: 's1', person: { issuer: 'urn:idp', subject: parts.nameId } });
  await finish(signedResponse({ ...parts, responseIssuer: undefined, destination: undefined }, key));
  t.is((await finish(signedXml(good, responseId, key))).assertion, parts.assertionId);
  const short = await finish(signedResponse({ ...parts, sessionEnds: 120 }, key));
  t.true(Math.abs((short.person.until ?? 0) - Date.now() - 120_000) < 60_000, 'the end of the session there');
  t.is((await finish(good)).person.until, undefined);
  const links = { 'http://claims.example/claims/groups.link': ['https://idp.example/groups'] };
  const many = await finish(signedResponse({ ...parts, attributes: links }, key));
  t.is(many.person.groups, undefined, 'there are too many for an assertion');
});

test('what takes long to read is refused before it is read', async (t) => {
  const { request, finish } = await provider(t.context);
  const good = signedResponse(partsFor(request), t.context.key);
  const end = '</samlp:Response>';
  const many = (count: number, one: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => one(index)).join('');
  for (const [name, xml] of Object.entries({
    'a long tag': good.replace('<samlp:Response', `$&${many(400, (n) => ` xmlns:p${n}="u"`)}`),
    prefixes: good.replace(end, `${many(100, (n) => `<p${n}:x xmlns:p${n}="u"/>`)}$&`),
    depth: good.replace(end, `${'<a b="/>">'.repeat(40)}${'</a>'.repeat(40)}$&`),
  }))
    await t.throwsAsync(finish(xml), { message: /too (?:long|deep|many)/ }, name);
  // Tags that another reader would read otherwise.
  const open = good.replace('<samlp:Status>', '<samlp:Status a=">');
  await t.throwsAsync(finish(open), { message: 'It is not XML.' });
  const groups = Array.from({ length: 1000 }, (_, index) => `group ${index} of a company with long names`);
  const full = signedResponse(partsFor(request, { attributes: { groups } }), t.context.key);
  t.is((await finish(full)).person.groups?.length, 1000);
});

test('no wrapped assertion counts', async (t) => {
  const { key } = t.context;
  const { request, finish, refusal } = await provider(t.context);
  const parts = partsFor(request);
  const honest = signedResponse(parts, key);
  t.is((await finish(honest)).person.subject, parts.nameId);
  const end = '</saml:Assertion>';
  const text = honest.slice(honest.indexOf('<saml:Assertion'), honest.indexOf(end) + end.length);
  const evil = assertionOf({ ...parts, nameId: 'evil' });
  const signature = /<Signature [\s\S]*<\/Signature>/.exec(text)?.[0] ?? '';
  t.not(signature, '');
  let tried = 0;
  for (const substitute of [evil, evil.replace('</saml:Issuer>', `</saml:Issuer>${signature}`)])
    for (const forged of movedElements(honest, { text, substitute: substitute.replace(' ID=', ' Id=') })) {
      tried += 1;
      const said = await refusal(forged.text.replaceAll(' Id="_', ' ID="_'));
      // Between the same brothers and sisters nothing is wrapped.
      const isSame = forged.sameParent && forged.vacated && !forged.description.includes('new root');
      if (said !== (isSame ? 'accepted' : 'refused')) t.fail(`${said}: ${forged.description}`);
    }
  t.true(tried > 200, String(tried));
});

test.serial('an answer counts once, and in the browser that began the sign-in', async (t) => {
  const { portal, key } = t.context;
  const attacker = new SiteBrowser();
  const request = await beginSaml(attacker, startOf(t.context));
  const xml = signedResponse(partsFor(request), key);
  // Login CSRF: in a browser without a sign-in, and in one with a sign-in of its own.
  const victim = new SiteBrowser();
  await refused(
    t,
    { answer: await sendResponse(victim, request.receiver, xml), browser: victim },
    'no sign-in',
  );
  await beginSaml(victim, startOf(t.context));
  await refused(t, { answer: await sendResponse(victim, request.receiver, xml), browser: victim }, 'another');
  const theirs = await beginSaml(victim, startOf(t.context));
  // The response is not signed, so that it can name the request of another browser.
  const renamed = xml.replace(`InResponseTo="${request.id}"`, `InResponseTo="${theirs.id}"`);
  t.not(renamed, xml);
  await refused(
    t,
    { answer: await sendResponse(victim, request.receiver, renamed), browser: victim },
    'renamed',
  );
  // The answer for one provider at another, which has the same keys.
  const other = request.receiver.replace('/company/', '/open/');
  await refused(t, { answer: await sendResponse(attacker, other, xml), browser: attacker }, 'mix-up');
  const flow = attacker.cookie(portal, `${COOKIE}-flow`) ?? '';
  const good = await sendResponse(attacker, request.receiver, xml);
  t.is(good.status, 200);
  t.truthy(await signedInAs(t.context, attacker));
  // A page that is loaded again shows a failure, and leads on to where the person is signed in.
  const again = await attacker.fetch(request.receiver.replace(/acs$/, 'callback'));
  t.is(again.status, 403);
  t.regex(await again.text(), /<a[^>]* href="\/account"/);
  t.truthy(await signedInAs(t.context, attacker));
  t.regex((await victim.fetch(`${portal}/account`)).headers.get('location') ?? '', /\/sign-in/);
  // Replay: the same answer, with a copy of the cookie.
  const copy = new SiteBrowser();
  copy.plant(portal, `${COOKIE}-flow`, flow);
  await refused(t, { answer: await sendResponse(copy, request.receiver, xml), browser: copy }, 'replay');
});

test.serial(
  'before users are changed the provider asks anew, and its open session does not prove the person',
  async (t) => {
    const { portal } = t.context;
    const attributes = { email: ['boss@example.test'], groups: ['admins'] };
    const signedIn = (authenticated: number, query?: string) =>
      signIn(t.context, { nameId: 'boss', attributes, authenticated }, undefined, query);
    let added = 0;
    const add = async ({ browser }: { readonly browser: SiteBrowser }) => {
      added += 1;
      const page = await (await browser.fetch(`${portal}/account`)).text();
      const formToken = /name="formToken" value="([^"]+)"/.exec(page)?.[1] ?? '';
      const fields = { name: 'Bo', email: `saml-added${added}@local.test`, role: 'sender', formToken };
      return (await browser.post(`${portal}/organization/users`, fields)).status;
    };
    const open = await signedIn(-7200);
    t.notRegex(open.request.xml, /ForceAuthn/);
    t.is(await add(open), 403, 'the provider says that the person signed in there long ago');
    t.is(await add(await signedIn(-120)), 302);
    // The request is not signed: the answer tells whether the person was asked.
    const again = '?again=yes';
    await refused(t, await signedIn(-120, again), 'an earlier authentication');
    const asked = await signedIn(-1, again);
    t.regex(asked.request.xml, / ForceAuthn="true"/);
    t.is(asked.answer.status, 200);
    t.is(await add(asked), 302);
  },
);

test.serial('an unsolicited answer counts once, where the settings allow it', async (t) => {
  const { portal, key } = t.context;
  const receiver = `${portal}/sign-in/open/acs`;
  const request: SamlRequest = { id: '', receiver, issuer: 'urn:sealwright:open', xml: '' };
  const given = { inResponseTo: undefined, confirmedRequest: undefined };
  const attributes = { email: ['some@open.test'] };
  const xml = signedResponse(partsFor(request, { ...given, attributes }), key);
  const browser = new SiteBrowser();
  t.is((await sendResponse(browser, receiver, xml)).status, 200);
  t.is(await signedInAs(t.context, browser), 'some@open.test');
  // Two providers can call themselves, and a person, the same: they are two people.
  const first = await signIn(t.context, { attributes: { email: ['one@example.test'], groups: ['signers'] } });
  t.is(await signedInAs(t.context, first.browser), 'one@example.test');
  const twin = { ...given, nameId: first.parts.nameId, attributes: { email: ['twin@open.test'] } };
  const second = new SiteBrowser();
  await sendResponse(second, receiver, signedResponse(partsFor(request, twin), key));
  t.is(await signedInAs(t.context, second), 'twin@open.test');
  const again = new SiteBrowser();
  await refused(t, { answer: await sendResponse(again, receiver, xml), browser: again }, 'replay');
  // One that names a request needs it here, too.
  const named = signedResponse(partsFor({ ...request, id: '_x' }, { attributes }), key);
  await refused(t, { answer: await sendResponse(again, receiver, named), browser: again }, 'a request');
});

test.serial('an operator logs in, and the metadata of both addresses is there', async (t) => {
  const { batch, portal, key } = t.context;
  const browser = new SiteBrowser();
  const request = await beginSaml(browser, `${batch}/login/ops?ReturnUrl=${encodeURIComponent('/jobs')}`);
  t.is(request.receiver, `${batch}/login/ops/acs`);
  const attributes = { email: ['op@example.test'], groups: ['watchers'] };
  const xml = signedResponse(partsFor(request, { attributes }), key);
  const answer = await sendResponse(browser, request.receiver, xml);
  t.regex(await answer.text(), /content="0;url=\/jobs"/);
  const json = { headers: { Accept: 'application/json' } };
  t.regex(await (await browser.fetch(`${batch}/api/whoami`, json)).text(), /"operator":"user:/);
  for (const address of [`${portal}/sign-in/company`, `${batch}/login/ops`]) {
    const metadata = await fetch(`${address}/metadata`);
    t.is(metadata.status, 200);
    const text = await metadata.text();
    t.true(text.includes(`Location="${address}/acs"`), text);
    t.regex(text, /entityID="urn:sealwright:\w+".*WantAssertionsSigned="true"/s);
  }
});

test.serial(
  'keys are replaced with the file, and a file that cannot be used ends new sign-ins only',
  async (t) => {
    const { file, key, program } = t.context;
    const next = samlKey();
    const { browser } = await signIn(t.context);
    const checkOf = async () => {
      const answer = await program.service.fetch('/api/ready');
      const { checks } = (await answer.json()) as { checks: { name: string; status: string }[] };
      return { ready: answer.status, ...checks.find(({ name }) => name === 'identity:company') };
    };
    const seen = (status: string) =>
      until(async () => ((await checkOf()).status === status ? true : undefined));
    const metadata = (keys: readonly SamlKey[], more?: string) => samlMetadata('urn:idp', ENTRY, keys, more);
    await writeFile(file, metadata([key, next]));
    for (const one of [key, next])
      t.is((await signIn(t.context, {}, (parts) => signedResponse(parts, one))).answer.status, 200);
    await writeFile(file, metadata([next]));
    await refused(t, await signIn(t.context), 'the old key');
    for (const [name, text] of Object.entries({
      'no XML': 'hello',
      'a document type': metadata([key]).replace('<md:', '<!DOCTYPE r><md:'),
      'an end in the past': metadata([key], 'validUntil="2020-01-01T00:00:00Z"'),
      'an expired certificate': metadata([samlKey(-1)]),
      'no certificate': metadata([]),
    })) {
      await writeFile(file, text);
      const away = await new SiteBrowser().fetch(startOf(t.context));
      t.is(away.status, 503, name);
      t.regex(await away.text(), /company cannot be reached/);
      await seen('Degraded');
      t.is((await checkOf()).ready, 200);
      t.truthy(await signedInAs(t.context, browser), 'sessions go on');
      await writeFile(file, metadata([key], 'validUntil="2999-01-01T00:00:00Z"'));
      t.is((await signIn(t.context)).answer.status, 200, name);
      await seen('Healthy');
    }
  },
);

test.serial(
  'answers by a form have a limit of their own, and a session ends as the provider says',
  async (t) => {
    const { portal, key } = t.context;
    const browser = new SiteBrowser();
    const request = await beginSaml(browser, startOf(t.context));
    const xml = signedResponse(partsFor(request, { sessionEnds: 3600 }), key);
    t.is((await sendResponse(browser, request.receiver, xml)).status, 200);
    t.truthy(await signedInAs(t.context, browser));
    const { items } = (await (await browser.fetch(`${portal}/api/sessions`)).json()) as {
      items: { expiresAt: string }[];
    };
    t.is(items.length, 1);
    t.true(Date.parse(items[0]?.expiresAt ?? '') <= Date.now() + 3_600_000);
    const callback = request.receiver.replace(/acs$/, 'callback');
    let status = 0;
    for (let sent = 0; sent < 61 && status !== 429; sent++)
      status = (
        await fetch(request.receiver, { method: 'POST', body: new URLSearchParams({ SAMLResponse: 'x' }) })
      ).status;
    t.is(status, 429);
    t.is((await fetch(callback)).status, 403, `${portal}: the callback has not been limited`);
  },
);
