/** Keys behind the network: the protocols of their services, and what answers can be wrong. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import {
  MemoryOutput,
  readCertificate,
  type SignatureFormat,
  signAsic,
  signFileAtLevel,
  validateFile,
} from '@sealwright/signatures';
import test from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import type { LocalProfile } from '../../../../actors/index.ts';
import { type KeyPlace, ServiceKey } from '../../../../actors/shared/key-services/key-service.ts';
import {
  checkServiceSigner,
  openServiceSigner,
} from '../../../../actors/shared/key-services/service-signer.ts';
import { samplePdf } from '../../../../bench/samples.ts';
import type { JobId, ProfileName } from '../../../../machines/ids.ts';
import { loadSigning } from '../../../../service/signing-setup.ts';
import { type KeyKind, pki } from '../../../pki/pki.ts';
import { reached } from '../../../project/waiting.ts';
import { accepted } from '../../../settings/load.ts';
import { batchFixture } from '../../batch/batch-harness.ts';
import { described, MACHINE, opened, SERVICES, type Service } from './described.ts';
import { startKeyServer } from './key-server.ts';
import type { KeyFault } from './served-signatures.ts';

const AT = Date.now();
/** Those that find the version of the certificate. */
const VERSIONED = ['Vault', 'AzureKeyVault', 'GoogleKms'] as const;

const INPUTS: { readonly [format in SignatureFormat]: Buffer } = {
  Pades: samplePdf(),
  Cades: Buffer.from('any file'),
  Xades: Buffer.from('<order><item>1</item></order>'),
};

async function codeOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'none',
    (error: { readonly code?: string }) => String(error.code),
  );
}

const TRUST = {
  anchors: [pki().root.certificate],
  intermediates: [pki().issuing.certificate],
  revocation: 'none',
} as const;

const KINDS: readonly (readonly [KeyKind, object])[] = [
  ['rsa-2048', {}],
  ['rsa-2048', { padding: 'pss', digest: 'sha512' }],
  ['p-256', {}],
  ['p-384', { digest: 'sha384' }],
  ['ed25519', {}],
];

for (const service of SERVICES)
  test.serial(`keys of ${service} sign every format and container, with each kind of key`, async (t) => {
    const server = await startKeyServer(t);
    for (const [kind, parameters] of KINDS) {
      if (service === 'AzureKeyVault' && kind === 'ed25519') continue;
      if ('padding' in parameters) server.algorithms.set(kind, 'RSA_SIGN_PSS_2048_SHA512');
      const { signer } = opened(t, described(server, service, kind));
      for (const format of ['Pades', 'Cades', 'Xades'] as const) {
        const output = new MemoryOutput();
        await signFileAtLevel({ format, input: INPUTS[format], output, signer, at: AT, ...parameters });
        const { indication } = await validateFile({
          format,
          path: output.bytes,
          trust: TRUST,
          at: AT + 60_000,
        });
        t.is(indication, 'TOTAL-PASSED', `${format} ${kind} ${JSON.stringify(parameters)}`);
      }
      const output = new MemoryOutput();
      const inputs = [{ path: INPUTS.Cades, name: 'data.txt' }];
      await signAsic({ kind: 'E', format: 'Xades', inputs, output, signer, at: AT, ...parameters });
      const { indication } = await validateFile({
        format: 'Cades',
        path: output.bytes,
        trust: TRUST,
        at: AT + 60_000,
      });
      t.is(indication, 'TOTAL-PASSED', `ASiC ${kind}`);
    }
  });

/** Answers with another value, and the code. The honest twin is the test above. */
const WRONG: readonly (readonly [string, (signer: ReturnType<typeof pki>['signer']) => KeyFault])[] = [
  ['made by another key', () => ({ key: pki().untrustedSigner().key.keyObject })],
  ['over another digest', () => ({ hash: (hash) => randomBytes(hash.length) })],
  ['that is cut', () => ({ value: (value) => value.subarray(0, -1) })],
  ['with a changed byte', () => ({ value: (value) => value.fill(7, 20, 24) })],
  ['that is empty', () => ({ value: () => Buffer.alloc(0) })],
];

for (const service of SERVICES)
  test.serial(
    `a value of ${service} that the key of the certificate did not make leaves no output`,
    async (t) => {
      const server = await startKeyServer(t);
      const { signer } = opened(t, described(server, service));
      for (const [name, fault] of WRONG)
        for (const format of ['Pades', 'Cades', 'Xades'] as const) {
          server.faults.push(fault(pki().signer));
          const output = new MemoryOutput();
          const signing = signFileAtLevel({ format, input: INPUTS[format], output, signer, at: AT });
          const code = await codeOf(signing);
          t.true(['key.mismatch', 'key.unavailable'].includes(code), `${format}: a value ${name}: ${code}`);
          t.is(output.bytes.length, 0);
        }
    },
  );

test.serial('an ECDSA value is taken in DER and as r and s', async (t) => {
  const server = await startKeyServer(t);
  const { signer } = opened(t, described(server, 'Vault'));
  for (const fault of [undefined, { concatenated: true } as const]) {
    server.faults.push(fault);
    const output = new MemoryOutput();
    await t.notThrowsAsync(signFileAtLevel({ format: 'Cades', input: INPUTS.Cades, output, signer, at: AT }));
  }
});

test.serial('a Vault key that is gone is not called one that makes no such signature', async (t) => {
  const server = await startKeyServer(t);
  const signer = described(server, 'Vault');
  const sign = () =>
    signFileAtLevel({
      format: 'Cades',
      input: INPUTS.Cades,
      output: new MemoryOutput(),
      signer: open.signer,
      at: AT,
    });
  const open = opened(t, signer);
  await t.notThrowsAsync(sign());
  server.keys.clear();
  t.is(await codeOf(sign()), 'key.not-found');
});

for (const [token, expected] of [
  ['good\n', undefined],
  ['good\nbad', /^The token in the environment refuses to sign: it is no token\. /],
  ['', /^The token in the environment refuses to sign: it is no token\. /],
] as const)
  test.serial(`a token ${JSON.stringify(token)} is ${expected ? 'named' : 'read'}`, async (t) => {
    const server = await startKeyServer(t);
    const { place, ...signer } = described(server, 'Vault');
    const { key } = opened(t, { ...signer, place: { ...place, token, tokenPath: undefined } as KeyPlace });
    const confirmed = key.confirm(readCertificate(signer.certificate).publicKey);
    if (expected) t.regex((await t.throwsAsync(confirmed)).message, expected);
    else await t.notThrowsAsync(confirmed);
  });

test('a driver that ignores the end of its time holds no turn', async (t) => {
  const never = () => new Promise<never>(() => {});
  const driver = { name: 'The key', confirm: never, sign: never, close: () => {} };
  const key = new ServiceKey(driver, { maxInFlight: 1, timeoutMs: 20 }, MACHINE);
  const publicKey = readCertificate(pki().root.certificate).publicKey;
  await t.throwsAsync(key.confirm(publicKey), {
    code: 'key.unavailable',
    message: /did not sign within 0\.02 s: no answer within/,
  });
});

/** Refusals of the services, and whether they pass. */
const REFUSALS: readonly (readonly [Service, number, object, string])[] = [
  ['AwsKms', 400, { __type: 'ThrottlingException' }, 'passes'],
  ['AwsKms', 500, { __type: 'KMSInternalException' }, 'passes'],
  ['AwsKms', 500, { __type: 'KeyUnavailableException' }, 'passes'],
  ['AwsKms', 503, {}, 'passes'],
  ['AwsKms', 400, { __type: 'DisabledException' }, 'key.unavailable'],
  ['AwsKms', 400, { __type: 'KMSInvalidStateException' }, 'key.unavailable'],
  ['AwsKms', 400, { __type: 'AccessDeniedException' }, 'key.unavailable'],
  ['AwsKms', 400, { __type: 'InvalidSignatureException' }, 'key.unavailable'],
  ['AwsKms', 400, { __type: 'NotFoundException' }, 'key.not-found'],
  ['AwsKms', 400, { __type: 'InvalidKeyUsageException' }, 'key.unsupported'],
  ['AwsKms', 400, { __type: 'SomethingNewException' }, 'key.unavailable'],
  ['Vault', 429, { errors: ['rate limit quota exceeded'] }, 'passes'],
  ['Vault', 503, { errors: ['Vault is sealed'] }, 'passes'],
  ['Vault', 403, { errors: ['permission denied'] }, 'key.unavailable'],
  ['Vault', 404, { errors: [] }, 'key.not-found'],
  ['Vault', 400, { errors: ['unsupported signature algorithm'] }, 'key.unsupported'],
  ['Vault', 418, {}, 'key.unavailable'],
  ['Vault', 200, { data: { signature: 'no such form' } }, 'key.unavailable'],
  ['AzureKeyVault', 429, { error: { code: 'Throttled' } }, 'passes'],
  ['AzureKeyVault', 503, {}, 'passes'],
  ['AzureKeyVault', 401, { error: { code: 'Unauthorized' } }, 'passes'],
  [
    'AzureKeyVault',
    403,
    { error: { code: 'Forbidden', innererror: { code: 'KeyDisabled' } } },
    'key.unavailable',
  ],
  ['AzureKeyVault', 403, { error: { code: 'Forbidden' } }, 'key.unavailable'],
  ['AzureKeyVault', 404, { error: { code: 'KeyNotFound' } }, 'key.not-found'],
  ['AzureKeyVault', 400, { error: { code: 'BadParameter' } }, 'key.unsupported'],
  ['AzureKeyVault', 418, {}, 'key.unavailable'],
  ['AzureKeyVault', 200, { value: 'no base64url!' }, 'key.unavailable'],
  ['GoogleKms', 429, { error: { status: 'RESOURCE_EXHAUSTED' } }, 'passes'],
  ['GoogleKms', 503, { error: { status: 'UNAVAILABLE' } }, 'passes'],
  ['GoogleKms', 401, { error: { status: 'UNAUTHENTICATED' } }, 'passes'],
  [
    'GoogleKms',
    400,
    { error: { status: 'INVALID_ARGUMENT', message: 'digest_crc32c does not match' } },
    'passes',
  ],
  ['GoogleKms', 400, { error: { status: 'FAILED_PRECONDITION' } }, 'key.unavailable'],
  ['GoogleKms', 403, { error: { status: 'PERMISSION_DENIED' } }, 'key.unavailable'],
  ['GoogleKms', 404, { error: { status: 'NOT_FOUND' } }, 'key.not-found'],
  ['GoogleKms', 400, { error: { status: 'INVALID_ARGUMENT' } }, 'key.unsupported'],
  ['GoogleKms', 200, {}, 'key.unavailable'],
];

test.serial('what passes is repeated, and a refusal is final and says what to do', async (t) => {
  const server = await startKeyServer(t);
  const signers = {
    Vault: opened(t, described(server, 'Vault')).signer,
    AwsKms: opened(t, described(server, 'AwsKms')).signer,
    AzureKeyVault: opened(t, described(server, 'AzureKeyVault')).signer,
    GoogleKms: opened(t, described(server, 'GoogleKms')).signer,
  };
  for (const [service, status, body, expected] of REFUSALS) {
    const name = `${service} ${status} ${JSON.stringify(body)}`;
    server.faults.push({ status, body });
    const before = server.signed;
    const signing = signFileAtLevel({
      format: 'Cades',
      input: INPUTS.Cades,
      output: new MemoryOutput(),
      signer: signers[service],
      at: AT,
    });
    if (expected === 'passes') {
      await t.notThrowsAsync(signing, name);
      t.is(server.signed, before + 1, name);
      continue;
    }
    const error: { readonly code?: string; readonly message: string } = (await t.throwsAsync(
      signing,
    )) as Error;
    t.is(error.code, expected, name);
    t.is(server.signed, before, name);
    t.regex(error.message, /\. [A-Z][^.]+/, 'a sentence says what to do');
  }
});

test.serial(
  'a service that only throttles is asked with growing pauses, until the time of the signature ends',
  async (t) => {
    const server = await startKeyServer(t);
    server.always = { status: 429, body: {} };
    const pauses: number[] = [];
    let elapsed = 0;
    const clock = {
      ...systemClock,
      elapsed: () => elapsed,
      sleep: async (ms: number) => {
        pauses.push(ms);
        elapsed += ms;
      },
    };
    const { signer, key } = openServiceSigner(described(server, 'Vault'), { clock, ids: systemIds });
    t.teardown(() => key.close());
    const output = new MemoryOutput();
    const error: { readonly code?: string; readonly message: string } = (await t.throwsAsync(
      signFileAtLevel({ format: 'Cades', input: INPUTS.Cades, output, signer, at: AT }),
    )) as Error;
    t.is(error.code, 'key.unavailable');
    t.regex(error.message, /did not sign within 60 s: it answers with HTTP status 429/);
    t.true(elapsed <= 60_000);
    t.true(pauses.every((ms, index) => ms >= Math.min(5_000, 100 * 2 ** index) / 2));
  },
);

test.serial('a key takes no more signatures at once than its limit', async (t) => {
  const server = await startKeyServer(t);
  const signer = described(server, 'Vault');
  const { signer: remote } = opened(t, { ...signer, limits: { maxInFlight: 3, timeoutMs: 60_000 } });
  const waiting: (() => void)[] = [];
  server.before = () => new Promise<void>((resolve) => waiting.push(resolve));
  const all = Array.from({ length: 9 }, () =>
    signFileAtLevel({
      format: 'Cades',
      input: INPUTS.Cades,
      output: new MemoryOutput(),
      signer: remote,
      at: AT,
    }),
  );
  for (let done = 0; done < 9; ) {
    await reached(() => waiting.length === Math.min(3, 9 - done));
    waiting.shift()?.();
    done += 1;
  }
  await Promise.all(all);
  t.is(server.mostInFlight, 3);
});

test.serial(
  'the start compares the key with the certificate, and signs once where that is allowed',
  async (t) => {
    const server = await startKeyServer(t);
    for (const service of SERVICES) {
      const signer = described(server, service);
      const check = (isTried: boolean) => checkServiceSigner(opened(t, signer), {}, { at: AT, isTried });
      const before = server.signed;
      await check(false);
      t.is(server.signed, before);
      await check(true);
      t.is(server.signed, before + 1);
      server.keys.set('p-256', [pki().untrustedSigner().key.keyObject]);
      t.is(await codeOf(check(false)), 'key.mismatch');
    }
  },
);

for (const service of VERSIONED)
  test.serial(`after a rotation ${service} signs with the version of the certificate`, async (t) => {
    const server = await startKeyServer(t);
    const signer = described(server, service);
    const own = server.keys.get('p-256') ?? [];
    server.keys.set('p-256', [
      pki().untrustedSigner().key.keyObject,
      ...own,
      pki().untrustedSigner().key.keyObject,
    ]);
    await t.notThrowsAsync(checkServiceSigner(opened(t, signer), {}, { at: AT, isTried: true }));
  });

test.serial('the token of Vault is read again after its agent has renewed it', async (t) => {
  const server = await startKeyServer(t);
  const folder = await mkdtemp(join(tmpdir(), 'sealwright-token-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const tokenPath = join(folder, 'token');
  const signer = described(server, 'Vault');
  const place = { ...(signer.place as Extract<KeyPlace, { service: 'Vault' }>), tokenPath };
  const check = opened(t, { ...signer, place });
  const tried = () => codeOf(checkServiceSigner(check, {}, { at: AT, isTried: true }));
  t.is(await tried(), 'key.unavailable', 'no file');
  await writeFile(tokenPath, 'old\n');
  t.is(await tried(), 'key.unavailable', 'an old token');
  await writeFile(tokenPath, 'good\n');
  t.is(await tried(), 'none');
});

/** Pauses of the pool's repetitions are real: few jobs, one disabled key. */
test.serial(
  'a key that is disabled within a batch fails one job, the others wait, and all are signed once it is enabled',
  async (t) => {
    const server = await startKeyServer(t);
    const signer = described(server, 'AwsKms');
    const { batch, services, upload, reach, layout } = await batchFixture(t, {
      start: false,
      watch: false,
      maxConcurrency: 2,
      profiles: [
        {
          method: 'Local',
          name: 'kms' as ProfileName,
          verify: true,
          encrypt: false,
          format: undefined,
          certificate: 'test',
          signer,
          anchors: [pki().root.certificate],
          validTo: AT + 30 * 86_400_000,
        },
      ],
    });
    const ids: JobId[] = [];
    for (let n = 0; n < 6; n += 1) ids.push(await upload(`${n}.txt`, `content ${n}`, 'kms'));
    const disabled = { status: 400, body: { __type: 'DisabledException' } };
    server.faults.push(undefined, undefined);
    server.always = disabled;
    await services.start();
    await reach('Completed', 2);
    await reach('Failed', 1);
    await reach('Queued', 3);
    const check = async () => (await batch.health.checks()).find(({ name }) => name === 'authority:kms');
    t.like(await check(), { status: 'Degraded' });
    t.regex((await check())?.detail ?? '', /^jobs wait since .* for the key service: .*Enable the key\.$/);
    server.always = undefined;
    await reach('Completed', 5);
    t.like(await check(), { status: 'Healthy', detail: null });
    const failed = (await Promise.all(ids.map((id) => batch.jobs.get(id)))).filter(
      ({ status }) => status === 'Failed',
    );
    t.is(failed.length, 1);
    t.regex(JSON.stringify(failed[0]?.history), /The KMS key p-256 refuses to sign: DisabledException/);
    t.deepEqual((await readdir(layout.output)).length, 5);
  },
);

test.serial('a key that is replaced after the start publishes nothing, and its jobs wait', async (t) => {
  const server = await startKeyServer(t);
  const signer = described(server, 'AwsKms');
  const { batch, upload, reach, layout } = await batchFixture(t, {
    watch: false,
    maxConcurrency: 2,
    profiles: [
      {
        method: 'Local',
        name: 'kms' as ProfileName,
        verify: false,
        encrypt: false,
        format: undefined,
        certificate: 'test',
        signer,
        anchors: [],
        validTo: AT + 30 * 86_400_000,
      },
    ],
  });
  const own = server.keys.get('p-256') ?? [];
  server.keys.set('p-256', [pki().untrustedSigner().key.keyObject]);
  for (let n = 0; n < 4; n += 1) await upload(`${n}.txt`, `content ${n}`, 'kms');
  await reach('Failed', 1);
  await reach('Queued', 3);
  t.deepEqual(await readdir(layout.output), []);
  t.is(batch.count(['Completed']), 0);
  server.keys.set('p-256', own);
  await reach('Completed', 3);
});

test.serial(
  'a profile of the configuration is loaded without its service, and refused with another key',
  async (t) => {
    const server = await startKeyServer(t);
    const signer = described(server, 'Vault');
    const certificatePath = join(pki().folder, 'service-signer.pem');
    await writeFile(certificatePath, [signer.certificate, ...signer.chain].map(certificatePem).join(''));
    const profileAt = async (address: string, seconds = 60) => {
      const settings = accepted({
        argv: [
          '--Signing:Certificate:Source=Vault',
          `--Signing:Certificate:Pem:CertificatePath=${certificatePath}`,
          `--Signing:Certificate:KeyService:Address=${address}/v1/transit`,
          '--Signing:Certificate:KeyService:Key=p-256',
          `--Signing:Certificate:KeyService:TimeoutSeconds=${seconds}`,
        ],
        env: { VAULT_TOKEN: 'good' },
      });
      const found = await loadSigning(settings, undefined as never, MACHINE);
      return found.profiles[0] as LocalProfile;
    };
    const good = await profileAt(server.url);
    t.like(good, { loadFailure: undefined, keyTrouble: undefined, facts: { source: 'Vault' } });
    const silent = await profileAt('http://127.0.0.1:9', 1);
    t.is(silent.loadFailure, undefined);
    t.regex(String(silent.keyTrouble?.message), /did not sign within 1 s: it can't be reached/);
    server.keys.set('p-256', [pki().untrustedSigner().key.keyObject]);
    const other = await profileAt(server.url);
    t.like(other, { loadFailure: undefined, keyTrouble: { code: 'key.mismatch' } });
  },
);

test('a start asks the key services of all profiles beside each other', async (t) => {
  const server = await startKeyServer(t);
  const signer = described(server, 'Vault');
  const certificatePath = join(pki().folder, 'service-signers.pem');
  await writeFile(certificatePath, [signer.certificate, ...signer.chain].map(certificatePem).join(''));
  const members = (name: string) => [
    `Name=${name}`,
    'Format=Cades',
    'Certificate:Source=Vault',
    `Certificate:Pem:CertificatePath=${certificatePath}`,
    `Certificate:KeyService:Address=${server.url}/v1/transit`,
    'Certificate:KeyService:Key=p-256',
  ];
  const settings = accepted({
    argv: ['a', 'b'].flatMap((name, index) =>
      members(name).map((member) => `--Signing:Profiles:${index}:${member}`),
    ),
    env: { VAULT_TOKEN: 'good' },
  });
  const waiting: (() => void)[] = [];
  server.before = () => new Promise<void>((resolve) => waiting.push(resolve));
  const loading = loadSigning(settings, undefined as never, MACHINE);
  await reached(() => waiting.length === 2);
  for (const go of waiting) go();
  t.deepEqual(
    (await loading).profiles.map(({ name }) => name as string),
    ['a', 'b'],
  );
});
