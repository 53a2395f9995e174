/** Azure Key Vault and Google Cloud KMS: tokens, versions, checksums, and keys that are refused at the start. */
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import { MemoryOutput, signFileAtLevel } from '@sealwright/signatures';
import test from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import type { LocalProfile } from '../../../../actors/index.ts';
import { crc32c } from '../../../../actors/shared/key-services/crc32c.ts';
import { openServiceSigner } from '../../../../actors/shared/key-services/service-signer.ts';
import type { ProfileName } from '../../../../machines/ids.ts';
import { setUpSigning } from '../../../../service/signing-setup.ts';
import { pki } from '../../../pki/pki.ts';
import { accepted } from '../../../settings/load.ts';
import { batchFixture } from '../../batch/batch-harness.ts';
import { PLATFORM_TOKEN } from './cloud-protocols.ts';
import { described, MACHINE, opened, RING } from './described.ts';
import { startKeyServer } from './key-server.ts';
import type { KeyServer } from './served-signatures.ts';

const AT = Date.now();
const CLOUDS = ['AzureKeyVault', 'GoogleKms'] as const;

type Signer = ReturnType<typeof openServiceSigner>['signer'];

/** Resolves with the message of the failure; undefined when it signs. */
async function failureOf(signer: Signer, parameters: object = {}): Promise<string | undefined> {
  const output = new MemoryOutput();
  const input = Buffer.from('any file');
  try {
    await signFileAtLevel({ format: 'Cades', input, output, signer, at: AT, ...parameters });
    return undefined;
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return output.bytes.length === 0 ? `${code} ${message}` : 'something was written';
  }
}

test('the checksum is the one of RFC 3720', (t) => {
  t.is(crc32c(Buffer.from('123456789')), 0xe3069283);
  t.is(crc32c(Buffer.alloc(32)), 0x8a9136aa);
});

for (const service of CLOUDS)
  test.serial(
    `a token of ${service} is kept for most of its time, and renewed once it is refused`,
    async (t) => {
      const server = await startKeyServer(t);
      let elapsed = 0;
      const clock = { ...systemClock, elapsed: () => elapsed };
      const { signer, key } = openServiceSigner(described(server, service), { clock, ids: systemIds });
      t.teardown(() => key.close());
      t.is(await failureOf(signer), undefined);
      t.is(await failureOf(signer), undefined);
      t.is(server.tokensGiven, 1);
      elapsed += 0.81 * 3_600_000;
      t.is(await failureOf(signer), undefined);
      t.is(server.tokensGiven, 2, 'before its end');
      server.tokens.clear();
      t.is(await failureOf(signer), undefined);
      t.is(server.tokensGiven, 3, 'after the service has forgotten it');
    },
  );

test.serial('signatures at the same time ask for one token', async (t) => {
  const server = await startKeyServer(t);
  const { signer } = opened(t, described(server, 'AzureKeyVault'));
  t.deepEqual(
    await Promise.all(Array.from({ length: 8 }, () => failureOf(signer))),
    Array(8).fill(undefined),
  );
  t.is(server.tokensGiven, 1);
});

/** Fault of the environment, and the remedy that the message names. */
const WITHOUT_TOKEN: readonly (readonly [
  string,
  'AzureKeyVault' | 'GoogleKms',
  Readonly<Record<string, string>>,
  RegExp,
])[] = [
  [
    'secret that has ended',
    'AzureKeyVault',
    { AZURE_CLIENT_SECRET: 'old' },
    /AADSTS7000222: .* expired\. Check .*renew AZURE_CLIENT_SECRET/,
  ],
  ['tenant that is another', 'AzureKeyVault', { AZURE_TENANT_ID: 'other' }, /Check AZURE_TENANT_ID/],
  [
    'file that is gone',
    'GoogleKms',
    { GOOGLE_APPLICATION_CREDENTIALS: '/nowhere.json' },
    /nowhere\.json refuses to sign: ENOENT\. Correct GOOGLE/,
  ],
  [
    'federated token that is gone',
    'AzureKeyVault',
    { AZURE_CLIENT_SECRET: '', AZURE_FEDERATED_TOKEN_FILE: '/nowhere' },
    /Correct AZURE_FEDERATED_TOKEN_FILE/,
  ],
];

for (const [what, service, environment, expected] of WITHOUT_TOKEN)
  test.serial(`a ${what} signs nothing and is named`, async (t) => {
    const server = await startKeyServer(t);
    const signer = described(server, service);
    Object.assign(process.env, environment);
    const { signer: remote } = opened(t, signer);
    t.regex(String(await failureOf(remote)), expected);
    t.is(server.signed, 0);
  });

for (const [service, environment, expected] of [
  ['GoogleKms', { GOOGLE_APPLICATION_CREDENTIALS: '', GCE_METADATA_HOST: '127.0.0.1:9' }, /set GOOGLE_APP/],
  ['AzureKeyVault', { AZURE_AUTHORITY_HOST: 'http://127.0.0.1:9' }, /Check AZURE_TENANT_ID/],
] as const)
  test.serial(
    `a place of tokens of ${service} that does not answer is not taken for the service`,
    async (t) => {
      const server = await startKeyServer(t);
      // Long enough for the first request also on a busy machine: one that the limit cuts off says less.
      const signer = { ...described(server, service), limits: { maxInFlight: 1, timeoutMs: 2_000 } };
      Object.assign(process.env, environment);
      const failure = String(await failureOf(opened(t, signer).signer));
      t.regex(failure, /gets no token, it can't be reached \(ECONNREFUSED\)/);
      t.regex(failure, expected);
    },
  );

test.serial('a clock that is wrong is named where a statement with its time is refused', async (t) => {
  const server = await startKeyServer(t);
  const clock = { ...systemClock, now: () => Date.now() - 86_400_000 };
  const { signer, key } = openServiceSigner(described(server, 'GoogleKms'), { clock, ids: systemIds });
  t.teardown(() => key.close());
  t.regex(String(await failureOf(signer)), /invalid_grant: Invalid JWT: .*the clock of the machine is right/);
});

/** A file of workload identity federation. */
async function federation({ url }: KeyServer, more: object): Promise<Record<string, string>> {
  const file = join(pki().folder, 'federation.json');
  const members = {
    type: 'external_account',
    audience: '//iam.googleapis.com/pools/test',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `${url}/sts`,
  };
  await writeFile(file, JSON.stringify({ ...members, ...more }));
  return { GOOGLE_APPLICATION_CREDENTIALS: file };
}

const AN_ACCOUNT = ({ url }: KeyServer) => ({
  service_account_impersonation_url: `${url}/account:generateAccessToken`,
  credential_source: {
    url: `${url}/subject`,
    headers: { 'X-Platform': 'yes' },
    format: { type: 'json', subject_token_field_name: 'id_token' },
  },
});

/** Files that give no token: what is changed, and what is said. */
const NO_FEDERATION: readonly (readonly [string, (server: KeyServer) => object, RegExp])[] = [
  [
    'a token signed for another cloud',
    () => ({ credential_source: { environment_id: 'aws1' } }),
    /in no file and at no address. Use a configuration/,
  ],
  [
    'a program that is to be run',
    () => ({ credential_source: { executable: { command: '/bin/true' } } }),
    /in no file and at no address/,
  ],
  ['no source', () => ({}), /in no file and at no address/],
  [
    'a file that is not there',
    () => ({ credential_source: { file: '/nowhere/token' } }),
    /\/nowhere\/token can't be read: ENOENT/,
  ],
  [
    'a platform that refuses',
    (server) => ({ credential_source: { url: `${server.url}/subject` } }),
    /the platform answers with HTTP status 403/,
  ],
  [
    'an answer without the member',
    (server) => ({
      credential_source: {
        ...AN_ACCOUNT(server).credential_source,
        format: { type: 'json', subject_token_field_name: 'toString' },
      },
    }),
    /the platform gave no token/,
  ],
  [
    'another audience',
    (server) => ({ ...AN_ACCOUNT(server), audience: '//iam.googleapis.com/pools/other' }),
    /HTTP status 400, invalid_grant: The condition is not met. Check the pool/,
  ],
  [
    'an address without encryption',
    (server) => ({ ...AN_ACCOUNT(server), token_url: 'http://sts.example.org/v1/token' }),
    /its token_url is no https address/,
  ],
  [
    'an account at an address without encryption',
    (server) => ({ ...AN_ACCOUNT(server), service_account_impersonation_url: 'http://iam.example.org/a' }),
    /its service_account_impersonation_url is no https address/,
  ],
];

for (const [what, change, expected] of NO_FEDERATION)
  test.serial(`workload identity of Google with ${what} signs nothing, and says what to do`, async (t) => {
    const server = await startKeyServer(t);
    const signer = { ...described(server, 'GoogleKms'), limits: { maxInFlight: 1, timeoutMs: 2_000 } };
    Object.assign(process.env, await federation(server, change(server)));
    t.regex(String(await failureOf(opened(t, signer).signer)), expected);
    t.is(server.tokensGiven, 0);
  });

/** Environments in which a token is found, and the file that one needs. */
const WITH_TOKEN: readonly (readonly [
  string,
  'AzureKeyVault' | 'GoogleKms',
  (server: KeyServer, folder: string) => Promise<Record<string, string>>,
])[] = [
  [
    'workload identity of Azure',
    'AzureKeyVault',
    async (_, folder) => {
      await writeFile(join(folder, 'pod-token'), 'pod-token\n');
      return { AZURE_CLIENT_SECRET: '', AZURE_FEDERATED_TOKEN_FILE: join(folder, 'pod-token') };
    },
  ],
  [
    'machine identity of Azure',
    'AzureKeyVault',
    async ({ url }) => ({
      AZURE_CLIENT_SECRET: '',
      AZURE_FEDERATED_TOKEN_FILE: '',
      IDENTITY_ENDPOINT: `${url}/msi`,
      IDENTITY_HEADER: 'machine',
    }),
  ],
  [
    'machine account of Google',
    'GoogleKms',
    async ({ url }) => ({ GOOGLE_APPLICATION_CREDENTIALS: '', GCE_METADATA_HOST: new URL(url).host }),
  ],
  [
    'workload identity of Google by a file',
    'GoogleKms',
    async (server, folder) => {
      const file = join(folder, 'platform-token');
      await writeFile(file, `${PLATFORM_TOKEN}\n`);
      return federation(server, { credential_source: { file } });
    },
  ],
  [
    'workload identity of Google by an address, for an account',
    'GoogleKms',
    async (server) => federation(server, AN_ACCOUNT(server)),
  ],
  [
    'person at Google',
    'GoogleKms',
    async ({ url }, folder) => {
      const file = join(folder, 'person.json');
      const members = {
        type: 'authorized_user',
        client_id: 'a',
        client_secret: 'b',
        refresh_token: 'of-a-person',
      };
      await writeFile(file, JSON.stringify({ ...members, token_uri: `${url}/token` }));
      return { GOOGLE_APPLICATION_CREDENTIALS: file };
    },
  ],
];

for (const [what, service, environment] of WITH_TOKEN)
  test.serial(`the credentials of a ${what} are found`, async (t) => {
    const server = await startKeyServer(t);
    const signer = described(server, service);
    Object.assign(process.env, await environment(server, pki().folder));
    t.is(await failureOf(opened(t, signer).signer), undefined);
    t.is(server.tokensGiven, 1);
  });

for (const service of CLOUDS)
  test.serial(`a disabled version of ${service} is named, and signs once it is enabled`, async (t) => {
    const server = await startKeyServer(t);
    const { signer } = opened(t, described(server, service));
    t.is(await failureOf(signer), undefined);
    server.disabled.add('p-256/1');
    t.regex(
      String(await failureOf(signer)),
      /^key\.unavailable .*(disabled|KeyDisabled|DISABLED|no enabled version).*Enable the version/,
    );
    t.regex(
      String(await failureOf(signer)),
      /^key\.unavailable .*Enable the version/,
      'after it was looked for again',
    );
    server.disabled.clear();
    t.is(await failureOf(signer), undefined);
  });

test.serial('the version of the certificate is found on every page of the list that is read', async (t) => {
  const server = await startKeyServer(t);
  const remote = described(server, 'AzureKeyVault');
  const own = server.keys.get('p-256') ?? [];
  const other = pki().untrustedSigner().key.keyObject;
  const others = (count: number) => Array(count).fill(other);
  server.keys.set('p-256', [...others(60), ...own, ...others(60)]);
  t.is(await failureOf(opened(t, remote).signer), undefined);
  server.keys.set('p-256', [...others(110), ...own, other]);
  t.regex(
    String(await failureOf(opened(t, remote).signer)),
    /^key\.mismatch .*more than 100 versions.*Name the version of the certificate.*p-256\/version/,
  );
});

test.serial('a version that signs otherwise is named with the settings for it', async (t) => {
  const server = await startKeyServer(t);
  const { signer } = opened(t, described(server, 'GoogleKms', 'rsa-2048'));
  server.algorithms.set('rsa-2048', 'RSA_SIGN_PSS_2048_SHA512');
  t.regex(
    String(await failureOf(signer)),
    /^key\.unsupported .* signs with RSA_SIGN_PSS_2048_SHA512, .*Set DigestAlgorithm SHA512 and RsaPadding Pss/,
  );
  t.is(await failureOf(signer, { digest: 'sha512', padding: 'pss' }), undefined);
  const azure = opened(t, described(server, 'AzureKeyVault')).signer;
  t.regex(String(await failureOf(azure, { digest: 'sha512' })), /^key\.unsupported .*Check DigestAlgorithm/);
});

for (const damaged of ['digest', 'signature'] as const)
  test.serial(`a ${damaged} that was damaged on its way is sent again`, async (t) => {
    const server = await startKeyServer(t);
    const { signer } = opened(t, described(server, 'GoogleKms'));
    server.faults.push({ damaged });
    t.is(await failureOf(signer), undefined);
    t.is(server.signed, 2);
  });

test.serial('a clock that is wrong by minutes is corrected by the answer of the service', async (t) => {
  const server = await startKeyServer(t);
  const { signer } = opened(t, described(server, 'AwsKms'));
  const body = { __type: 'InvalidSignatureException' };
  const date = new Date(Date.now() + 10 * 60_000).toUTCString();
  server.faults.push({ status: 400, body, headers: { date } });
  t.is(await failureOf(signer), undefined);
  server.faults.push({ status: 400, body });
  t.regex(String(await failureOf(signer)), /^key\.unavailable/);
});

test.serial('all signatures of a key keep the pause that its service asks for', async (t) => {
  const server = await startKeyServer(t);
  let elapsed = 0;
  const pauses: number[] = [];
  const clock = {
    ...systemClock,
    elapsed: () => elapsed,
    sleep: async (ms: number) => {
      pauses.push(ms);
      elapsed += ms;
    },
  };
  const { signer, key } = openServiceSigner(described(server, 'AzureKeyVault'), { clock, ids: systemIds });
  t.teardown(() => key.close());
  const throttled = { status: 429, body: {}, headers: { 'retry-after': '7' } };
  server.faults.push(throttled);
  t.is(await failureOf(signer), undefined);
  t.is(Math.round(pauses.reduce((sum, ms) => sum + ms, 0)), 7_000);
  server.always = { ...throttled, headers: { 'retry-after': '3600' } };
  t.regex(String(await failureOf(signer)), /did not sign within 60 s: it answers with HTTP status 429/);
});

test.serial('a key that is refused at the start fails no job, and signs once it is enabled', async (t) => {
  const server = await startKeyServer(t);
  const signer = described(server, 'GoogleKms');
  server.disabled.add('p-256/1');
  const certificatePath = join(pki().folder, 'google-signer.pem');
  await writeFile(certificatePath, [signer.certificate, ...signer.chain].map(certificatePem).join(''));
  const settings = accepted({
    argv: [
      '--Signing:Certificate:Source=GoogleKms',
      `--Signing:Certificate:Pem:CertificatePath=${certificatePath}`,
      `--Signing:Certificate:KeyService:Address=${server.url}`,
      `--Signing:Certificate:KeyService:Key=${RING}/p-256`,
    ],
  });
  const { profiles, warnings } = await setUpSigning(settings, undefined as never, MACHINE);
  t.regex(warnings.join(' '), /Enable the version of the certificate\. Until it signs, jobs wait\./);
  const [loaded] = profiles as readonly LocalProfile[];
  if (loaded === undefined) return t.fail('there is no profile');
  const profile = { ...loaded, name: 'google' as ProfileName, verifyIndependently: true };
  const { batch, upload, reach, layout } = await batchFixture(t, { watch: false, profiles: [profile] });
  for (let n = 0; n < 3; n += 1) await upload(`${n}.txt`, `content ${n}`, 'google');
  const check = async () => (await batch.health.checks()).find(({ name }) => name === 'authority:google');
  t.like(await check(), { status: 'Degraded' });
  t.regex(String((await check())?.detail), /^jobs wait since .* for the key service: .*no enabled version/);
  t.is(batch.count(['Failed', 'Completed']), 0);
  t.deepEqual(await readdir(layout.output), []);
  server.disabled.clear();
  await reach('Completed', 3);
  t.is(batch.count(['Failed']), 0);
  t.like(await check(), { status: 'Healthy' });
});
