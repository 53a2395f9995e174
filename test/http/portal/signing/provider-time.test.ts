/** The time of a step at a signing provider. */
import test from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { CscPersons } from '../../../../actors/shared/key-services/csc-person.ts';
import { PERSON_CLIENT, startPersonProvider } from '../../../actors/shared/key-services/person-provider.ts';
import { clockedPortal } from '../requests/clocked-portal.ts';
import { Browser, documentOf } from './provider-client.ts';

const MINUTE = 60_000;
const RETURN = 'https://sign.example.org/return';

const settingsOf = ({ address }: { readonly address: string }) =>
  ({
    origin: 'operator',
    name: 'acme-trust',
    title: 'Acme',
    address,
    clientId: 'a',
    clientSecret: 'b',
  }) as const;

test('an answer of a provider counts for ten minutes', async (t) => {
  const provider = await startPersonProvider(t);
  const { address } = provider;
  const { client, forward } = await clockedPortal(t, {
    signingProviders: [
      {
        origin: 'operator',
        name: 'acme-trust',
        title: 'Acme Trust',
        address,
        clientId: PERSON_CLIENT.id,
        clientSecret: PERSON_CLIENT.secret,
      },
    ],
  });
  for (const [later, says] of [
    [9 * MINUTE, 'does not accept the confirmation'],
    [10 * MINUTE, 'This step is over'],
  ] as const) {
    const browser = new Browser();
    const { body } = await browser.start(client.url, await documentOf(client));
    const state = new URL(body.address).searchParams.get('state') ?? '';
    forward(later);
    const answer = await browser.go(
      `${client.url}/signing-provider/acme-trust/return?code=unknown&state=${state}`,
    );
    t.is(answer.status, 403);
    t.true(answer.text.includes(says), answer.text);
  }
});

test('a provider that is down, signs no hashes or names an address without encryption begins nothing', async (t) => {
  const provider = await startPersonProvider(t);
  for (const [what, prepare] of [
    ['down', () => provider.faults.set('/csc/v2/info', { status: 503, body: {} })],
    ['without hashes', () => Object.assign(provider, { info: { methods: ['signatures/signDoc'] } })],
    ['without persons', () => Object.assign(provider, { info: { authType: ['basic'] } })],
    ['elsewhere', () => Object.assign(provider, { info: { oauth2: 'ftp://example.org' } })],
    [
      'another issuer',
      () => Object.assign(provider, { info: { oauth2: undefined, oauth2Issuer: provider.url } }),
    ],
  ] as const) {
    const { client } = await clockedPortal(t, {
      signingProviders: [settingsOf(provider)],
    });
    prepare();
    const { status, body } = await new Browser().start(client.url, await documentOf(client));
    t.deepEqual([status, body.code], [503, 'ServiceBusy'], what);
    provider.info = {};
  }
});

test('a provider has no secret sent to an address that is not its own', async (t) => {
  const provider = await startPersonProvider(t);
  const elsewhere = await startPersonProvider(t);
  const { client } = await clockedPortal(t, {
    signingProviders: [settingsOf(provider)],
  });
  provider.info = { oauth2: undefined, oauth2Issuer: provider.url };
  provider.faults.set('/.well-known/oauth-authorization-server', {
    status: 200,
    body: {
      issuer: provider.url,
      authorization_endpoint: `${provider.url}/csc/oauth2/authorize`,
      token_endpoint: `${elsewhere.url}/csc/oauth2/token`,
    },
  });
  const browser = new Browser();
  const { body } = await browser.start(client.url, await documentOf(client));
  const state = new URL(body.address).searchParams.get('state') ?? '';
  const answer = await browser.go(
    `${client.url}/signing-provider/acme-trust/return?code=unknown&state=${state}`,
  );
  t.is(answer.status, 503);
  t.deepEqual(elsewhere.requests, []);
});

/** Of metadata: what it says of the client's name and secret, and whether they are in the header. */
const CLIENTS: readonly (readonly [methods: readonly string[] | undefined, inHeader: boolean])[] = [
  [undefined, true],
  [['client_secret_basic'], true],
  [['client_secret_basic', 'client_secret_post'], true],
  [['private_key_jwt'], true],
  [['client_secret_post'], false],
];
for (const [methods, inHeader] of CLIENTS)
  test(`the client is named in the header: ${inHeader}, with ${methods?.join(' ')}`, async (t) => {
    const provider = await startPersonProvider(t);
    provider.takesBasic = inHeader;
    provider.info = { oauth2: undefined, oauth2Issuer: provider.url };
    provider.faults.set('/.well-known/oauth-authorization-server', {
      status: 200,
      body: {
        issuer: provider.url,
        authorization_endpoint: `${provider.url}/csc/oauth2/authorize`,
        token_endpoint: `${provider.url}/csc/oauth2/token`,
        token_endpoint_auth_methods_supported: methods,
      },
    });
    const client = { clientId: PERSON_CLIENT.id, clientSecret: PERSON_CLIENT.secret };
    const known = new CscPersons({ ...settingsOf(provider), ...client }, systemClock);
    t.teardown(() => known.close());
    await t.notThrowsAsync(known.test(RETURN));
  });

test('where the metadata says that answers name the issuer, one that does not is refused', async (t) => {
  const provider = await startPersonProvider(t);
  const { client } = await clockedPortal(t, {
    signingProviders: [
      { ...settingsOf(provider), clientId: PERSON_CLIENT.id, clientSecret: PERSON_CLIENT.secret },
    ],
  });
  provider.info = { oauth2: undefined, oauth2Issuer: provider.url };
  provider.faults.set('/.well-known/oauth-authorization-server', {
    status: 200,
    body: {
      issuer: provider.url,
      authorization_endpoint: `${provider.url}/csc/oauth2/authorize`,
      token_endpoint: `${provider.url}/csc/oauth2/token`,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    },
  });
  const answered = async () => {
    const browser = new Browser();
    const { body } = await browser.start(client.url, await documentOf(client));
    const back = await browser.go(body.address, {}, '/return?');
    return (await browser.go(back.url.replace('https://sign.example.org', client.url))).status;
  };
  t.is(await answered(), 403);
  provider.extra = { iss: provider.url };
  t.is(await answered(), 200);
});

test('a signature has more time than other requests: an authorization is lost with its answer', async (t) => {
  const asked: number[] = [];
  const clock = {
    elapsed: () => 0,
    after(ms: number) {
      asked.push(ms);
      return () => {};
    },
  };
  const address = 'http://127.0.0.1:9/csc/v2';
  const provider = new CscPersons(settingsOf({ address }), clock);
  t.teardown(() => provider.close());
  const credential = {
    id: 'a',
    certificates: [],
    algorithms: ['1.2.840.10045.2.1'],
    scheme: { scheme: 'ecdsa', digest: 'sha256' },
    secrets: undefined,
  } as const;
  const activation = { value: 'a', isBearer: false };
  const toSign = { hash: '', digest: 'sha256' } as const;
  await t.throwsAsync(provider.credential('token', 'a'), { message: /can't be reached/ });
  await t.throwsAsync(provider.sign({ token: 'token', activation }, credential, toSign), {
    message: /can't be reached/,
  });
  t.deepEqual(asked, [10_000, 30_000]);
});

test('what an organization names is not called inside the network, and a name there is told from none', async (t) => {
  const settings = settingsOf({ address: 'https://localhost/csc/v2' });
  const provider = new CscPersons({ ...settings, origin: 'organization', policy: 'public' }, systemClock);
  t.teardown(() => provider.close());
  await t.throwsAsync(provider.test(RETURN), {
    message: 'it has no public address',
  });
});
