/** "Sign with my provider": a participant signs at a remote signing service, over the real program and a service of ours with real keys. */
import test, { type ExecutionContext } from 'ava';
import { type PortalProgram, startProgram, until } from '../../../actors/portal/service.ts';
import {
  type HeldCredential,
  type PersonProvider,
  startPersonProvider,
  TYPED,
} from '../../../actors/shared/key-services/person-provider.ts';
import { pki, signerHolding } from '../../../pki/pki.ts';
import type { SignerBody } from './certificate-client.ts';
import { Browser, documentOf, firstVersion, held, providerSettings } from './provider-client.ts';

let shared: Promise<{ readonly program: PortalProgram; readonly provider: PersonProvider }> | undefined;

/** One program and one provider for the file; each test has its own documents. */
async function parts(t: ExecutionContext) {
  shared ??= (async () => {
    const provider = await startPersonProvider({ teardown: () => {} });
    const program = await startProgram(
      { teardown: () => {} },
      {
        settings: { ...providerSettings(provider), ...firstVersion(provider) },
      },
    );
    program.service.unref();
    return { program, provider };
  })();
  const { program, provider } = await shared;
  provider.credentials.clear();
  provider.credentials.set('cred-1', held(pki().signer('rsa-2048')));
  provider.authorized.length = 0;
  provider.sent.length = 0;
  provider.typed.length = 0;
  provider.question = undefined;
  provider.pageSize = 100;
  return { ...program, provider, browser: new Browser(), signed: provider.signed, t };
}

type Parts = Awaited<ReturnType<typeof parts>>;

/** Up to the page of certificates. */
async function toChoice({ acme, url, browser }: Parts, emails?: readonly string[]) {
  const document = await documentOf(acme, emails);
  const started = await browser.start(url, document);
  if (started.status !== 200) throw new Error(JSON.stringify(started.body));
  return { ...document, page: await browser.go(started.body.address) };
}

/** Up to the answer of the provider about the hash, which is not brought yet. */
async function toReturn(own: Parts) {
  const chosen = await toChoice(own);
  const { url: back } = await own.browser.choose(chosen.page, 'cred-1', '/return?');
  return { ...chosen, back };
}

/** Up to the page of certificates, for a document that is not signed. */
async function restarted(
  { browser, url }: Parts,
  document: { readonly key: string; readonly ticket: string },
) {
  return browser.go((await browser.start(url, document)).body.address);
}

async function signers({ acme }: Parts, id: string): Promise<readonly SignerBody[]> {
  return (await acme.get<{ signers: SignerBody[] }>(`/api/documents/${id}/signatures-details`)).signers;
}

/** Nothing was signed, and the document can still be. */
async function assertOpen(own: Parts, id: string): Promise<void> {
  const { status, flowActions } = await own.acme.get<{
    status: string;
    flowActions: { status: string }[];
  }>(`/api/documents/${id}`);
  own.t.deepEqual([status, flowActions[0]?.status], ['Pending', 'Pending']);
}

async function concluded({ acme }: Parts, id: string) {
  return until(async () => {
    const found = await acme.get<{ status: string }>(`/api/documents/${id}`);
    return found.status === 'Concluded' ? found : undefined;
  });
}

const KINDS: readonly (readonly [string, () => HeldCredential])[] = [
  ['an RSA key', () => held(pki().signer('rsa-2048'))],
  ['an RSA key with PSS alone', () => held(pki().signer('rsa-3072'), {}, '1.2.840.113549.1.1.10')],
  ['a P-256 key', () => held(pki().signer('p-256'))],
  ['a P-384 key with SHA-384 alone', () => held(pki().signer('p-384'), {}, '1.2.840.10045.4.3.3')],
];

for (const [what, credential] of KINDS)
  test.serial(`a participant signs at the provider with ${what}, and one hash is authorized`, async (t) => {
    const own = await parts(t);
    own.provider.credentials.set('cred-1', credential());
    const { id, page } = await toChoice(own);
    t.true(page.text.includes('Signer '), page.text);
    const end = await own.browser.choose(page, 'cred-1');
    t.true(end.url.includes('/sign?ticket='), `${end.url} ${end.text}`);
    await concluded(own, id);
    const [signer, ...others] = await signers(own, id);
    t.is(others.length, 0);
    t.like(signer, { isElectronic: false, validationResults: { isValid: true, errors: [] } });
    const [service, authorized] = own.provider.authorized;
    t.like(service, { scope: 'service' });
    t.like(authorized, { scope: 'credential', credentialID: 'cred-1', numSignatures: '1' });
    t.regex(authorized?.['hashes'] ?? '', /^[\w-]{43,64}$/);
    t.not(service?.['state'], authorized?.['state']);
    t.is(own.provider.signed, own.signed + 1);
  });

const PIN = { id: 'PIN', type: 'Password', format: 'N', label: 'Signature PIN' } as const;
/** Provider, what its credential asks for, and the codes that are sent before. */
const EXPLICIT: readonly (readonly [string, string, HeldCredential['objects'], readonly string[]])[] = [
  ['a PIN', 'acme-trust', [PIN], []],
  [
    'a PIN and a code of a device',
    'acme-trust',
    [PIN, { id: 'OTP', type: 'Password', generator: 'totp' }],
    [],
  ],
  ['a PIN and a code that is sent', 'acme-trust', [PIN, { id: 'OTP', type: 'ChallengeResponse' }], ['OTP']],
  ['a PIN by version 1', 'first-trust', [PIN], []],
  [
    'a PIN and a code that is sent by version 1',
    'first-trust',
    [PIN, { id: 'OTP', type: 'online' }],
    ['OTP'],
  ],
  ['a code of a device by version 1', 'first-trust', [{ id: 'OTP', type: 'offline' }], []],
];

/** Up to the page where the person types. */
async function toSecrets(own: Parts, provider: string, objects: HeldCredential['objects']) {
  own.provider.credentials.set(
    'cred-1',
    held(pki().signer('p-256'), { mode: 'explicit', ...(objects && { objects }) }),
  );
  const document = await documentOf(own.acme);
  const started = await own.browser.start(own.url, document, { provider });
  const choice = await own.browser.go(started.body.address);
  return { ...document, page: await own.browser.choose(choice, 'cred-1') };
}

const right = (objects: HeldCredential['objects'] = []) =>
  objects.map(({ id }) => TYPED[id as keyof typeof TYPED]);

for (const [what, provider, objects, sent] of EXPLICIT)
  test.serial(`a participant signs with ${what}, which goes to the provider alone`, async (t) => {
    const own = await parts(t);
    const { id, page } = await toSecrets(own, provider, objects);
    t.is(page.status, 200, page.text);
    t.is(page.text.match(/type="password"/g)?.length, objects?.length);
    t.deepEqual(own.provider.sent, sent);
    t.is(own.provider.typed.length, 0);
    const twin = own.browser.copy();
    const end = await own.browser.type(page, ...right(objects));
    t.true(end.url.includes('/sign?ticket='), `${end.url} ${end.text}`);
    await concluded(own, id);
    const [signer] = await signers(own, id);
    t.like(signer, { isElectronic: false, validationResults: { isValid: true, errors: [] } });
    t.is(own.provider.typed.length, 1);
    t.like(own.provider.typed[0], { credentialID: 'cred-1', numSignatures: 1 });
    t.is(own.provider.authorized.length, 1, 'only the service was authorized on a page');
    t.is(own.provider.signed, own.signed + 1);
    // The page counts once.
    t.true((await twin.type(page, ...right(objects))).url.includes('/sign?ticket='));
    t.is(own.provider.typed.length, 1);
  });

test.serial('a wrong PIN is asked for once more, and then the certificate', async (t) => {
  const own = await parts(t);
  const objects = [PIN, { id: 'OTP', type: 'ChallengeResponse' }];
  own.provider.question = 'Name of your first <dog>?';
  const { id, page } = await toSecrets(own, 'acme-trust', objects);
  t.true(page.text.includes('Name of your first &lt;dog>?'), page.text);
  const twin = own.browser.copy();
  const again = await own.browser.type(page, '000000', TYPED.OTP);
  t.regex(again.url, /again=1/);
  t.true(again.text.includes('does not accept what was typed'), again.text);
  t.deepEqual(own.provider.sent, ['OTP', 'OTP']);
  const over = await twin.type(page, TYPED.PIN, TYPED.OTP);
  t.is(over.status, 403, 'the first page is used');
  const ended = await own.browser.type(again, '000001', TYPED.OTP);
  t.is(ended.status, 403);
  t.true(ended.text.includes('does not accept what was typed'), ended.text);
  t.is(own.provider.typed.length, 2);
  await assertOpen(own, id);
  const choice = /href="(\/signing-provider\/[^"]+)"/.exec(ended.text)?.[1] ?? '';
  const back = await own.browser.go(new URL(choice.replaceAll('&amp;', '&'), own.url).href);
  const third = await own.browser.choose(back, 'cred-1');
  t.true((await own.browser.type(third, TYPED.PIN, TYPED.OTP)).url.includes('/sign?ticket='));
  await concluded(own, id);
  const log = own.service.printed;
  for (const value of ['000000', '000001', TYPED.PIN, TYPED.OTP]) t.false(log.includes(`"${value}"`), value);
});

test.serial('what is not typed here is shown and cannot be chosen', async (t) => {
  const own = await parts(t);
  for (const objects of [
    [PIN, { id: 'SMS', type: 'ChallengeResponseOOB' }],
    [{ id: 'x', type: 'Fingerprint' }],
    [{ id: 'x', type: 'constructor' }],
    [],
  ]) {
    own.provider.credentials.set('cred-1', held(pki().signer('p-256'), { mode: 'explicit', objects }));
    const { page } = await toChoice(own);
    t.true(page.text.includes('confirmed in a way that cannot be used here'), JSON.stringify(objects));
    t.is((await own.browser.choose(page, 'cred-1')).status, 403);
  }
});

test.serial('version 1 lists certificates page by page', async (t) => {
  const own = await parts(t);
  own.provider.pageSize = 2;
  for (let index = 2; index <= 5; index++)
    own.provider.credentials.set(`cred-${index}`, held(pki().signer('p-256')));
  const document = await documentOf(own.acme);
  const started = await own.browser.start(own.url, document, { provider: 'first-trust' });
  const page = await own.browser.go(started.body.address);
  t.is(page.text.match(/type="radio"/g)?.length, 5);
  t.true((await own.browser.choose(page, 'cred-5')).url.includes('/sign?ticket='));
  await concluded(own, document.id);
  t.like(own.provider.authorized[1], { scope: 'credential', credentialID: 'cred-5' });
  t.regex(own.provider.authorized[1]?.['hash'] ?? '', /^[\w-]{43}$/);
  t.is(own.provider.authorized[1]?.['hashes'], undefined);
});

test.serial('a person who does not agree at the provider signs nothing, and can begin again', async (t) => {
  const own = await parts(t);
  const document = await documentOf(own.acme);
  own.provider.error = 'access_denied';
  const first = await own.browser.start(own.url, document);
  const refused = await own.browser.go(first.body.address);
  t.is(refused.status, 403);
  t.true(refused.text.includes('It was not confirmed at'), refused.text);
  t.regex(refused.text, new RegExp(`href="/document/key/${document.key}/sign.ticket=`));
  const again = await own.browser.start(own.url, document);
  const page = await own.browser.go(again.body.address);
  own.provider.error = 'access_denied';
  t.is((await own.browser.choose(page, 'cred-1')).status, 403);
  await assertOpen(own, document.id);
  t.true((await own.browser.choose(page, 'cred-1')).url.includes('/sign?ticket='));
  await concluded(own, document.id);
});

test.serial('an answer counts once, in the browser that went to the provider, with its state', async (t) => {
  const own = await parts(t);
  const { id, back } = await toReturn(own);
  const stranger = await new Browser().go(back);
  t.is(stranger.status, 403);
  t.true(stranger.text.includes('This step is over'), stranger.text);
  t.false(stranger.text.includes('was not signed'), 'whether it is signed is not known');
  const { searchParams } = new URL(back);
  const state = searchParams.get('state') ?? '';
  for (const other of [
    '',
    `${state.slice(0, 8)}${'A'.repeat(35)}`,
    state.slice(0, 8),
    `${state}A`,
    'a'.repeat(9_000),
  ]) {
    const changed = new URL(back);
    changed.searchParams.set('state', other);
    t.is((await own.browser.go(changed.href)).status, 403, other.slice(0, 50));
  }
  await assertOpen(own, id);
  const cookieKept = own.browser.copy();
  t.true((await own.browser.go(back)).url.includes('/sign?ticket='));
  await concluded(own, id);
  // With the cookie, too: the state is used up, and the document says what is true.
  t.true((await cookieKept.go(back)).url.includes('/sign?ticket='));
  t.is((await signers(own, id)).length, 1);
  t.is(own.provider.signed, own.signed + 1);
});

test.serial('an answer of another issuer is refused', async (t) => {
  const own = await parts(t);
  own.provider.extra = { iss: 'https://other.example.org' };
  const refused = await toChoice(own);
  t.is(refused.page.status, 403);
  own.provider.extra = { iss: own.provider.url };
  t.is((await toChoice(own)).page.status, 200);
  own.provider.extra = {};
});

/** Faults of the provider between the choice and the value, and what the page says. */
const FAULTS: readonly (readonly [string, (provider: PersonProvider) => void, number, string])[] = [
  [
    'authorizes another hash',
    (provider) => {
      provider.otherHash = Buffer.alloc(32).toString('base64');
    },
    403,
    'does not accept the confirmation',
  ],
  [
    'says that the authorization has expired',
    (provider) => {
      provider.hasExpired = true;
    },
    403,
    'does not accept the confirmation',
  ],
  [
    'answers with a value of something else',
    (provider) => {
      provider.value = (value) => Buffer.concat([value.subarray(0, -1), Buffer.of((value.at(-1) ?? 0) ^ 1)]);
    },
    403,
    'does not belong to the document',
  ],
  [
    'answers with no value',
    (provider) => {
      provider.faults.set('/csc/v2/signatures/signHash', { status: 200, body: { signatures: [] } });
    },
    503,
    'does not answer as it should',
  ],
  [
    'takes the code of nobody',
    (provider) => {
      provider.faults.set('/csc/oauth2/token', { status: 400, body: { error: 'invalid_grant' } });
    },
    403,
    'does not accept the confirmation',
  ],
  [
    'is down when the code is taken',
    (provider) => {
      provider.faults.set('/csc/oauth2/token', { status: 503, body: {} });
    },
    503,
    'does not answer as it should',
  ],
  [
    'is down when it is to sign',
    (provider) => {
      provider.faults.set('/csc/v2/signatures/signHash', { status: 502, body: {} });
    },
    503,
    'does not answer as it should',
  ],
  [
    'gives a token that is too long',
    (provider) => {
      provider.tokenLength = 16_385;
    },
    503,
    'does not answer as it should',
  ],
];

for (const [what, fault, status, says] of FAULTS)
  test.serial(`nothing is signed where the provider ${what}, and the next attempt signs once`, async (t) => {
    const own = await parts(t);
    const { id, page, back, ...document } = await toReturn(own);
    fault(own.provider);
    const refused = await own.browser.go(back);
    Object.assign(own.provider, { hasExpired: false, tokenLength: 36, otherHash: undefined });
    t.is(refused.status, status, refused.text);
    t.true(refused.text.includes(says), refused.text);
    await assertOpen(own, id);
    // A value that does not fit uses the started signature up.
    const choice = status === 403 && says.includes('belong') ? await restarted(own, document) : page;
    t.true((await own.browser.choose(choice, 'cred-1')).url.includes('/sign?ticket='));
    await concluded(own, id);
    t.is((await signers(own, id)).length, 1);
  });

test.serial('a provider that is down when the person goes there is said on the signing page', async (t) => {
  const own = await parts(t);
  // The address is kept; the list of certificates is asked each time.
  const { page, id } = await toChoice(own);
  own.provider.faults.set('/csc/v2/credentials/list', { status: 503, body: {} });
  t.is((await own.browser.go(page.url)).status, 503);
  t.is((await own.browser.go(page.url)).status, 200);
  await assertOpen(own, id);
});

test.serial('certificates that cannot sign are shown with the reason, and cannot be chosen', async (t) => {
  const own = await parts(t);
  const good = held(pki().signer('rsa-2048'));
  const { credentials } = own.provider;
  credentials.set('off', { ...good, keyStatus: 'disabled' });
  credentials.set('old', { ...good, certStatus: 'expired' });
  credentials.set('pin', { ...good, mode: 'explicit' });
  credentials.set('kind', { ...good, algorithms: ['1.3.101.112'] });
  credentials.set('bad', { ...good, certificates: [Buffer.from('no')] });
  const { id, page } = await toChoice(own);
  t.is(page.text.match(/<input type="radio"[^>]*disabled/g)?.length, 5, page.text);
  t.is(page.text.match(/It is blocked, expired or cannot be read/g)?.length, 3);
  for (const other of ['off', 'old', 'pin', 'kind', 'bad', 'none', ''])
    t.is((await own.browser.choose(page, other)).status, 403, other);
  await assertOpen(own, id);
  credentials.clear();
  const none = await own.browser.go(page.url);
  t.true(none.text.includes('You have no certificate at'));
});

test.serial('a certificate that nobody here trusts is rejected with the reason', async (t) => {
  const own = await parts(t);
  own.provider.credentials.set('cred-1', held(pki().untrustedSigner()));
  const { id, page } = await toChoice(own);
  own.provider.credentials.set('cred-2', held(pki().signer('p-256')));
  const refused = await own.browser.choose(page, 'cred-1');
  t.is(refused.status, 403);
  t.true(refused.text.includes('Nobody here trusts its issuer'), refused.text);
  await assertOpen(own, id);
  t.is(own.provider.signed, own.signed);
  // With what was filled in, another one signs.
  t.true((await own.browser.choose(page, 'cred-2')).url.includes('/sign?ticket='));
  await concluded(own, id);
});

test.serial(
  'the back button after the signature, and a second choice before it, double nothing',
  async (t) => {
    const own = await parts(t);
    const { id, page, back } = await toReturn(own);
    // Back from the provider: the person chooses again, which ends the first attempt.
    const second = await own.browser.choose(page, 'cred-1', '/return?');
    const first = await own.browser.go(back);
    t.is(first.status, 403);
    t.true(first.text.includes('began again elsewhere'), first.text);
    t.false(first.text.includes('was not signed'));
    const kept = own.browser.copy();
    t.true((await own.browser.go(second.url)).url.includes('/sign?ticket='));
    await concluded(own, id);
    t.is((await own.browser.choose(page, 'cred-1')).status, 403);
    t.is((await own.browser.go(second.url)).status, 403);
    t.true((await kept.choose(page, 'cred-1')).url.includes('/sign?ticket='));
    t.is((await signers(own, id)).length, 1);
  },
);

test.serial('a signature in a second tab ends the step at the provider', async (t) => {
  const own = await parts(t);
  const { id, key, ticket, back } = await toReturn(own);
  await own.acme.post(`/api/documents/keys/${key}/electronic-signature`, { ticket, typedName: 'Ana' });
  t.true((await own.browser.go(back)).url.includes('/sign?ticket='));
  t.is(own.browser.cookies, '');
  await concluded(own, id);
  const [signer, ...others] = await signers(own, id);
  t.true(signer?.isElectronic);
  t.is(others.length, 0);
});

test.serial('by version 2 an authorization that is a bearer token is in the header, alone', async (t) => {
  const own = await parts(t);
  own.provider.tokenType = 'Bearer';
  const { id, page } = await toChoice(own);
  const end = await own.browser.choose(page, 'cred-1');
  own.provider.tokenType = 'SAD';
  t.true(end.url.includes('/sign?ticket='), end.text);
  await concluded(own, id);
});

test.serial('an authorization is longer than a cookie, as those with signed claims are', async (t) => {
  const own = await parts(t);
  const { id, back } = await toReturn(own);
  own.provider.tokenLength = 6_000;
  const end = await own.browser.go(back);
  own.provider.tokenLength = 36;
  t.true(end.url.includes('/sign?ticket='), end.text);
  await concluded(own, id);
});

test.serial('two documents are signed side by side in one browser', async (t) => {
  const own = await parts(t);
  const one = await toReturn(own);
  const two = await toReturn(own);
  for (const { back } of [one, two]) t.true((await own.browser.go(back)).url.includes('/sign?ticket='));
  for (const { id } of [one, two]) await concluded(own, id);
});

test.serial('a signature leaves no visit in the browser, and nobody lists its certificates', async (t) => {
  const own = await parts(t);
  const { id, page, back } = await toReturn(own);
  const kept = own.browser.copy();
  t.true((await own.browser.go(back)).url.includes('/sign?ticket='));
  t.is(own.browser.cookies, '');
  await concluded(own, id);
  const asked = own.provider.requests.length;
  t.true((await kept.go(page.url)).url.includes('/sign?ticket='));
  t.is(own.provider.requests.length, asked);
});

test.serial('a browser that begins at many documents keeps the newest visits', async (t) => {
  const own = await parts(t);
  const document = await documentOf(own.acme);
  for (let count = 0; count < 24; count += 1)
    t.is((await own.browser.start(own.url, document)).status, 200, `${count}`);
  t.true(own.browser.cookies.length < 9_000, `${own.browser.cookies.length}`);
  const page = await restarted(own, document);
  t.true((await own.browser.choose(page, 'cred-1')).url.includes('/sign?ticket='));
  await concluded(own, document.id);
});

test.serial('where reading is required, a person who has not read goes to no provider', async (t) => {
  const own = await parts(t);
  const document = await documentOf(own.acme, ['ana@example.org'], { requireReading: true });
  const pages = Array.from({ length: 100 }, (_, index) => 2 * index + 1).join(',');
  const some = { pages, pageCount: 300 };
  for (const reading of [undefined, some, { ...some, declared: true }]) {
    const { body } = await own.browser.start(own.url, document, { reading });
    t.is(body.code, 'DocumentNotRead');
  }
  const reading = { ...some, downloaded: true, declared: true };
  const { body } = await own.browser.start(own.url, document, { reading });
  const page = await own.browser.go(body.address);
  const end = await own.browser.choose(page, 'cred-1');
  t.true(end.url.includes('/sign?ticket='), end.text);
  await concluded(own, document.id);
});

test.serial('after a certificate of somebody else another one signs', async (t) => {
  const own = await parts(t);
  own.provider.credentials.set('cred-1', held(signerHolding('12345678909')));
  own.provider.credentials.set('cred-2', held(pki().signer('p-256')));
  const document = await documentOf(own.acme, ['ana@example.org'], { identifier: '52998224725' });
  const page = await restarted(own, document);
  for (const _ of ['first', 'again']) {
    const refused = await own.browser.choose(page, 'cred-1');
    t.is(refused.status, 403);
    t.true(refused.text.includes('was not signed'), refused.text);
    t.true(refused.text.includes(`${new URL(page.url).search.slice(0, 20)}`), refused.text);
  }
  t.true((await own.browser.choose(page, 'cred-2')).url.includes('/sign?ticket='));
  await concluded(own, document.id);
});

test.serial('a file that somebody else has signed meanwhile is confirmed once more', async (t) => {
  const own = await parts(t);
  const document = await documentOf(own.acme, ['ana@example.org', 'ben@example.org']);
  const { body } = await own.browser.start(own.url, document);
  const page = await own.browser.go(body.address);
  const { url: back } = await own.browser.choose(page, 'cred-1', '/return?');
  const { flowActions } = await own.acme.get<{ flowActions: { id: string; user: { email: string } }[] }>(
    `/api/documents/${document.id}`,
  );
  const ben = flowActions.find(({ user }) => user.email === 'ben@example.org');
  await own.acme.post(`/api/documents/${document.id}/electronic-signature`, {
    flowActionId: ben?.id,
    typedName: 'Ben',
  });
  const again = await own.browser.go(back);
  t.is(again.status, 200);
  t.true(again.text.includes('Somebody else signed the document meanwhile'), again.text);
  t.true((await own.browser.choose(again, 'cred-1')).url.includes('/sign?ticket='));
  await concluded(own, document.id);
  t.is((await signers(own, document.id)).length, 2);
});

test.serial(
  'a provider is offered for documents of its organization alone, and only to who signs',
  async (t) => {
    const own = await parts(t);
    const document = await documentOf(own.acme);
    const shown = await fetch(
      `${own.url}/document/key/${document.key}/sign?ticket=${document.ticket}&culture=en`,
    );
    t.regex(await shown.text(), /name="provider" value="acme-trust"/);
    const unknown = await own.browser.start(own.url, document, { provider: 'other' });
    t.is(unknown.status, 404);
    const stranger = await own.browser.start(own.url, { ...document, ticket: 'x' });
    t.is(stranger.body.code, 'InvalidTicket');
  },
);
