/** Signing providers that an organization adds itself: by API and page, and a signature there. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { type Client, type PortalProgram, startProgram, until } from '../../../actors/portal/service.ts';
import {
  PERSON_CLIENT,
  type PersonProvider,
  startPersonProvider,
} from '../../../actors/shared/key-services/person-provider.ts';
import { pki } from '../../../pki/pki.ts';
import { ADMINISTRATOR, register, signedIn } from '../accounts/users.ts';
import { Browser, documentOf, held } from './provider-client.ts';

interface Shown {
  readonly id: string;
  readonly title: string;
  readonly returnAddress: string;
}

interface Shared {
  readonly program: PortalProgram;
  readonly provider: PersonProvider;
  readonly ours: Client & { readonly organizationId: string };
}

let shared: Promise<Shared> | undefined;

async function parts(t: ExecutionContext) {
  shared ??= (async () => {
    const provider = await startPersonProvider({ teardown: () => {} });
    const settings = { 'Signing:Trust:Roots:0': pki().rootFile, 'Signing:Trust:Revocation': 'None' };
    const program = await startProgram({ teardown: () => {} }, { settings });
    program.service.unref();
    return { program, provider, ours: await program.organization('Ours') };
  })();
  const { program, provider, ours } = await shared;
  provider.credentials.set('cred-1', held(pki().signer('p-256')));
  provider.info = {};
  const path = `/api/organizations/${ours.organizationId}/signing-providers`;
  for (const { id } of await ours.get<readonly Shown[]>(path))
    await ours.fetch(`${path}/${id}`, { method: 'DELETE' });
  const own = {
    title: 'Our Trust',
    address: provider.address,
    clientId: PERSON_CLIENT.id,
    clientSecret: PERSON_CLIENT.secret,
  };
  return { ...program, provider, ours, path, own, t };
}

const nameOf = ({ returnAddress }: Shown) =>
  /signing-provider\/([^/]+)\/return$/.exec(returnAddress)?.[1] ?? '';

test.serial(
  'participants sign at a provider that their organization added, and the evidence names it',
  async (t) => {
    const { ours, acme, url, path, own, provider } = await parts(t);
    const added = await ours.post<Shown>(path, own);
    t.deepEqual(await ours.post(`${path}/${added.id}/test`, {}), { success: true, error: null });
    const document = await documentOf(ours);
    const browser = new Browser();
    const { status, body } = await browser.start(url, document, { provider: nameOf(added) });
    t.is(status, 200, JSON.stringify(body));
    const page = await browser.go(body.address);
    t.true(page.text.includes('Our Trust'), page.text);
    const end = await browser.choose(page, 'cred-1');
    t.true(end.url.includes('/sign?ticket='), `${end.url} ${end.text}`);
    await until(async () => {
      const found = await ours.get<{ status: string }>(`/api/documents/${document.id}`);
      return found.status === 'Concluded' ? found : undefined;
    });
    const { signers } = await ours.get<{ signers: readonly object[] }>(
      `/api/documents/${document.id}/signatures-details`,
    );
    const { address } = provider;
    const { host } = new URL(address);
    t.like(signers[0], { evidences: null, signingProvider: { name: 'Our Trust', address } });
    const history = await ours.fetch(`/api/documents/${document.id}/history`);
    t.true((await history.text()).includes(`signed with a certificate kept by Our Trust (${address})`));
    const check = await (await fetch(`${url}/check/${document.key}?culture=en`)).text();
    t.true(check.includes(`Our Trust (${host})`), check);
    // People see the host, whatever the name says.
    t.true(page.text.includes(`Our Trust (${host})`));
    // Another organization has it not.
    const other = await documentOf(acme);
    t.is((await browser.start(url, other, { provider: nameOf(added) })).status, 404);
    const shown = await fetch(`${url}/document/key/${other.key}/sign?ticket=${other.ticket}&culture=en`);
    t.false((await shown.text()).includes(nameOf(added)));
    t.is((await acme.fetch(path)).status, 422);
  },
);

test.serial('secrets are stored encrypted, returned never, and kept for the same host alone', async (t) => {
  const { ours, path, own, service, provider } = await parts(t);
  const secret = 'a-Secret-that-is-looked-for';
  const added = await ours.post<Shown>(path, { ...own, clientSecret: secret });
  const { clientSecret: _, ...rest } = own;
  const changed = await ours.post<Shown>(`${path}/${added.id}`, { ...rest, title: 'Other' }, 'PUT');
  t.is(changed.title, 'Other');
  const list = await ours.get<readonly Shown[]>(path);
  t.false(JSON.stringify([added, changed, list]).includes(secret));
  const folder = join(service.root, 'db');
  const stored = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)));
  t.true(stored.length > 0);
  t.false(stored.some((bytes) => bytes.includes(secret)));
  const moved = { ...rest, address: provider.address.replace('127.0.0.1', 'localhost') };
  const answer = await ours.send(`${path}/${added.id}`, moved, 'PUT');
  t.is(answer.status, 400);
  t.regex(await answer.text(), /ClientSecret/);
});

test.serial('nobody types a PIN or a code for a provider of an organization', async (t) => {
  const { ours, path, own, url, provider } = await parts(t);
  const objects = [{ id: 'PIN', type: 'Password', label: 'Password of your bank' }];
  provider.credentials.set('cred-1', held(pki().signer('p-256'), { mode: 'explicit', objects }));
  const added = await ours.post<Shown>(path, own);
  const document = await documentOf(ours);
  const browser = new Browser();
  const { body } = await browser.start(url, document, { provider: nameOf(added) });
  const page = await browser.go(body.address);
  t.true(page.text.includes('confirmed in a way that cannot be used here'), page.text);
  const end = await browser.choose(page, 'cred-1');
  t.is(end.status, 403);
  t.false(end.text.includes('Password of your bank'));
});

/** Addresses that a provider's `info` names, by its own origin. */
const ELSEWHERE: readonly ((origin: string) => string)[] = [
  () => 'https://elsewhere.example.org/csc',
  (origin) => `${origin.replace('http:', 'https:')}/csc`,
  (origin) => `${origin.replace('127.0.0.1', 'localhost')}/csc`,
  (origin) => origin.replace('//', '//trust.example.org:a@'),
  (origin) => `${origin}/csc#part`,
  () => 'javascript:alert(1)',
  () => 'no address',
];
for (const [index, oauth2] of ELSEWHERE.entries())
  test.serial(`persons and the secret go to no place that nobody named: ${index}`, async (t) => {
    const { ours, path, own, url, provider } = await parts(t);
    const added = await ours.post<Shown>(path, own);
    provider.info = { oauth2: oauth2(provider.url) };
    const found = await ours.post<{ error: string }>(`${path}/${added.id}/test`, {});
    t.regex(found.error, /not https|has not named/);
    const document = await documentOf(ours);
    t.is((await new Browser().start(url, document, { provider: nameOf(added) })).status, 503);
  });

/** Changes while a person is at the provider, and whether the visit goes on. */
const CHANGES: readonly (readonly [what: string, change: (address: string) => object, goesOn: boolean])[] = [
  ['title', () => ({ title: 'Other' }), true],
  ['secret', () => ({ clientSecret: PERSON_CLIENT.secret }), true],
  ['client', () => ({ clientId: 'other' }), false],
  ['address', (address) => ({ address: address.replace('/v2', '/v1') }), false],
  ['authorization', (address) => ({ authorization: address.replace('/v2', '') }), false],
];
for (const [what, change, goesOn] of CHANGES)
  test.serial(`a change of the ${what} ends a visit: ${!goesOn}`, async (t) => {
    const { ours, path, own, url, provider } = await parts(t);
    const added = await ours.post<Shown>(path, own);
    const document = await documentOf(ours);
    const browser = new Browser();
    const { body } = await browser.start(url, document, { provider: nameOf(added) });
    const page = await browser.go(body.address);
    const { url: back } = await browser.choose(page, 'cred-1', '/return?');
    const requests = provider.requests.length;
    await ours.post(`${path}/${added.id}`, { ...own, ...change(provider.address) }, 'PUT');
    const end = await browser.go(back);
    t.is(end.url.includes('/sign?ticket='), goesOn, end.text);
    if (!goesOn) t.is(provider.requests.length, requests, 'no code and no token is sent');
  });

const ADDRESSES: readonly (readonly [member: string, value: string])[] = [
  ['address', 'https://remote.example.org/csc'],
  ['address', 'ftp://remote.example.org/csc/v2'],
  ['address', 'http://remote.example.org/csc/v2'],
  ['address', 'https://a:b@remote.example.org/csc/v2'],
  ['address', 'https://remote.example.org/csc/v2?a=/v2'],
  ['address', 'no address/v2'],
  ['authorization', 'javascript:alert(1)//'],
  ['authorization', 'http://remote.example.org'],
];
for (const [member, value] of ADDRESSES)
  test.serial(`a provider whose ${member} is ${value} is refused, and the member named`, async (t) => {
    const { ours, path, own } = await parts(t);
    const answer = await ours.send(path, { ...own, [member]: value });
    t.is(answer.status, 400);
    t.regex(await answer.text(), new RegExp(`"${member[0]?.toUpperCase()}${member.slice(1)}"`));
    t.deepEqual(await ours.get(path), []);
  });

test.serial('a test says what prevents signatures; an organization has ten providers at most', async (t) => {
  const { ours, path, own, provider } = await parts(t);
  const wrong = await ours.post<Shown>(path, { ...own, clientSecret: 'wrong' });
  t.like(await ours.post(`${path}/${wrong.id}/test`, {}), { success: false });
  provider.info = { methods: ['credentials/list'] };
  const found = await ours.post<{ error: string }>(`${path}/${wrong.id}/test`, {});
  provider.info = {};
  t.regex(found.error, /signs hashes/);
  t.is((await ours.send(`${path}/${'0'.repeat(8)}-0000-4000-8000-000000000000/test`, {})).status, 404);
  for (let n = 1; n < 10; n += 1) await ours.post(path, own);
  const answer = await ours.send(path, own);
  t.is(answer.status, 422);
  t.regex(await answer.text(), /LimitExceeded/);
});

test.serial(
  'a provider that is removed while a person is there ends the visit, and signs nothing',
  async (t) => {
    const { ours, path, own, url } = await parts(t);
    const added = await ours.post<Shown>(path, own);
    const document = await documentOf(ours);
    const browser = new Browser();
    const { body } = await browser.start(url, document, { provider: nameOf(added) });
    const page = await browser.go(body.address);
    const { url: back } = await browser.choose(page, 'cred-1', '/return?');
    t.is((await ours.fetch(`${path}/${added.id}`, { method: 'DELETE' })).status, 200);
    const end = await browser.go(back);
    t.is(end.status, 403, end.text);
    t.like(await ours.get(`/api/documents/${document.id}`), { status: 'Pending' });
  },
);

test.serial('an administrator adds, changes, tests and removes a provider on the page', async (t) => {
  const program = await parts(t);
  const { own } = program;
  await register(program, 'trust@example.org', ADMINISTRATOR);
  const browser = await signedIn(program, 'trust@example.org');
  const path = '/organization/signing-providers';
  const bad = await browser.submit(path, { ...own, address: 'http://remote.example.org/v2' });
  t.is(bad.status, 422);
  const again = await bad.text();
  t.regex(again, /public https address that ends with/);
  t.false(again.includes(own.clientSecret));
  t.is((await browser.submit(path, own)).status, 302);
  const page = await browser.page(path);
  const id = /signing-providers\/([0-9a-f-]{36})\/test/.exec(page)?.[1] ?? '';
  t.regex(page, /signing-provider\/[0-9a-f-]{36}\.[0-9a-f-]{36}\/return/);
  t.false(page.includes(own.clientSecret));
  t.true((await (await browser.submit(`${path}/${id}/test`)).text()).includes('knows the client'));
  t.is((await browser.submit(`${path}/${id}`, { ...own, title: 'Renamed', clientSecret: '' })).status, 302);
  t.true((await browser.page(path)).includes('Renamed'));
  t.is((await browser.submit(`${path}/${id}/removal`)).status, 302);
  t.false((await browser.page(path)).includes('Renamed'));
});
