/** Remote signing by the API of the Cloud Signature Consortium: authorization, batches, and answers that can be wrong. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock, systemIds } from '@sealwright/runtime';
import { MemoryOutput, signFileAtLevel, validateFile } from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { certificatePem } from '#crypto/x509/certificate.js';
import { Authorities } from '../../../../actors/batch/pipeline/authorities.ts';
import { HashBatches } from '../../../../actors/shared/key-services/hash-batches.ts';
import type { CscPlace, ServiceSigner } from '../../../../actors/shared/key-services/key-service.ts';
import {
  checkServiceSigner,
  openServiceSigner,
} from '../../../../actors/shared/key-services/service-signer.ts';
import { Profiles } from '../../../../actors/shared/signing/profiles.ts';
import type { ProfileName } from '../../../../machines/ids.ts';
import { setUpSigning } from '../../../../service/signing-setup.ts';
import { type KeyKind, pki } from '../../../pki/pki.ts';
import { reached } from '../../../project/waiting.ts';
import { accepted } from '../../../settings/load.ts';
import { batchFixture } from '../../batch/batch-harness.ts';
import { SILENT } from '../../portal/uploads/upload-harness.ts';
import { CLIENT, PIN } from './csc-protocol.ts';
import { type CscState, cscState } from './csc-state.ts';
import { MACHINE, opened } from './described.ts';
import { startKeyServer } from './key-server.ts';
import type { KeyServer } from './served-signatures.ts';

const AT = Date.now();
const VERSIONS = ['v1', 'v2'] as const;
const TRUST = {
  anchors: [pki().root.certificate],
  intermediates: [pki().issuing.certificate],
  revocation: 'none',
} as const;

const ALGORITHMS: { readonly [kind: string]: readonly string[] } = {
  'rsa-2048': ['1.2.840.113549.1.1.1', '1.2.840.113549.1.1.10'],
  'p-256': ['1.2.840.10045.4.3.2'],
};

interface Provider {
  readonly server: KeyServer;
  readonly own: CscState;
  readonly signer: ServiceSigner & { readonly place: CscPlace };
}

async function provider(
  t: ExecutionContext,
  version: (typeof VERSIONS)[number] = 'v2',
  kind: KeyKind = 'p-256',
): Promise<Provider> {
  const server = await startKeyServer(t);
  const { key, ...identity } = pki().signer(kind);
  server.keys.set(`${kind}-credential`, [key.keyObject]);
  const own = cscState([identity.certificate, ...identity.chain], ALGORITHMS[kind] ?? []);
  server.csc = own;
  process.env['CSC_CLIENT_ID'] = CLIENT.id;
  process.env['CSC_CLIENT_SECRET'] = CLIENT.secret;
  process.env['CSC_PIN'] = PIN;
  const signer: Provider['signer'] = {
    ...identity,
    where: 'service',
    place: { service: 'Csc', address: `${server.url}/csc/${version}`, key: `${kind}-credential` },
    limits: { maxInFlight: 32, timeoutMs: 60_000 },
    isTried: true,
  };
  return { server, own, signer };
}

type Signer = ReturnType<typeof opened>['signer'];

async function failureOf(signer: Signer, parameters: object = {}): Promise<string | undefined> {
  const output = new MemoryOutput();
  const input = Buffer.from('any file');
  try {
    await signFileAtLevel({ format: 'Cades', input, output, signer, at: AT, ...parameters });
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message: string };
    return output.bytes.length === 0 ? `${code} ${message}` : 'something was written';
  }
  const { indication } = await validateFile({
    format: 'Cades',
    path: output.bytes,
    trust: TRUST,
    at: AT + 60_000,
  });
  return indication === 'TOTAL-PASSED' ? undefined : indication;
}

for (const version of VERSIONS)
  for (const [kind, parameters] of [
    ['p-256', {}],
    ['rsa-2048', {}],
    ['rsa-2048', { padding: 'pss', digest: 'sha512' }],
  ] as const)
    test.serial(
      `${version} signs with ${kind} ${JSON.stringify(parameters)}, once for each authorization`,
      async (t) => {
        const { own, signer } = await provider(t, version, kind);
        const { signer: remote } = opened(t, signer);
        t.is(await failureOf(remote, parameters), undefined);
        t.is(await failureOf(remote, parameters), undefined);
        t.is(own.authorizations, 2);
        t.is(own.activations.size, 0, 'all are used');
      },
    );

test.serial(
  'signatures at the same time share authorizations, as many as the credential allows',
  async (t) => {
    const { own, signer, server } = await provider(t);
    own.multisign = 5;
    const { signer: remote } = opened(t, signer);
    t.is(await failureOf(remote), undefined);
    const all = await Promise.all(Array.from({ length: 23 }, () => failureOf(remote)));
    t.deepEqual(all, Array(23).fill(undefined));
    t.is(
      own.batches.reduce((sum, count) => sum + count, 0),
      24,
    );
    t.true(own.batches.every((count) => count <= 5));
    t.true(own.batches.some((count) => count > 1));
    t.is(own.authorizations, own.batches.length);
    t.is(server.tokensGiven, 1);
  },
);

for (const version of VERSIONS)
  test.serial(`a PIN of ${version} authorizes; a wrong one is sent once`, async (t) => {
    const { own, signer, server } = await provider(t, version);
    own.mode = 'explicit';
    own.factors = ['Password'];
    t.is(await failureOf(opened(t, signer).signer), undefined);
    process.env['CSC_PIN'] = '000000';
    const { signer: remote } = opened(t, signer);
    for (let attempt = 0; attempt < 3; attempt += 1)
      t.regex(
        String(await failureOf(remote)),
        /^key\.password .*invalid_(pin|authentication_data).*not sent again.*Correct CSC_PIN/,
      );
    t.is(own.pinFailures, 1);
    t.is(server.signed, 1);
    process.env['CSC_PIN'] = '';
    t.regex(String(await failureOf(opened(t, signer).signer)), /^key\.password .*Set CSC_PIN/);
    t.is(own.pinFailures, 1);
  });

/** The provider of a credential that takes a PIN; the process has a wrong one. */
async function wrongPin(t: ExecutionContext): Promise<Provider> {
  const made = await provider(t);
  made.own.mode = 'explicit';
  made.own.factors = ['Password'];
  process.env['CSC_PIN'] = '000000';
  return made;
}

test.serial('a wrong PIN is sent once, by whichever of its users', async (t) => {
  const { own, signer } = await wrongPin(t);
  const users = [opened(t, signer), opened(t, signer)];
  const all = await Promise.all([0, 1, 0, 1, 0, 1].map((index) => failureOf(users[index]?.signer as Signer)));
  t.true(all.every((failure) => /^key\.password /.test(String(failure))));
  t.is(own.pinFailures, 1);
});

test.serial(
  'a wrong PIN that is refused with 401 is sent once; a token that is refused is renewed',
  async (t) => {
    const { own, signer, server } = await wrongPin(t);
    own.pinStatus = 401;
    t.regex(
      String(await failureOf(opened(t, signer).signer)),
      /^key\.password .*invalid_(pin|authentication_data)/,
    );
    t.is(own.pinFailures, 1);
    process.env['CSC_PIN'] = PIN;
    const { signer: remote } = opened(t, signer);
    t.is(await failureOf(remote), undefined);
    server.tokens.clear();
    t.is(await failureOf(remote), undefined);
  },
);

for (const [status, error, error_description] of [
  [403, 'quota_exceeded', 'No signatures are left'],
  [400, 'invalid_request', 'Numbers of signatures is too high'],
  [401, 'access_denied', 'Try again later'],
] as const)
  test.serial(`the PIN is sent again after ${status} ${error}, which is not about it`, async (t) => {
    const { own, signer } = await wrongPin(t);
    process.env['CSC_PIN'] = PIN;
    const { signer: remote } = opened(t, signer);
    own.refusals.push({ status, body: { error, error_description } });
    t.regex(String(await failureOf(remote)), new RegExp(`^key\\.unavailable .*${error_description}`));
    t.is(await failureOf(remote), undefined);
  });

const LOCAL = {
  method: 'Local',
  name: 'csc' as ProfileName,
  verify: true,
  verifyIndependently: true,
  encrypt: false,
  format: undefined,
  certificate: 'test',
  anchors: [pki().root.certificate],
  validTo: AT + 30 * 86_400_000,
} as const;

test.serial('a circuit is not probed after its PIN was refused', async (t) => {
  const { own, signer } = await wrongPin(t);
  const due = new Set<() => void>();
  const after = (ms: number, task: () => void) => {
    // Longer ones are the limits of requests.
    if (ms > 2_000) return systemClock.after(ms, task);
    due.add(task);
    return () => void due.delete(task);
  };
  const runtime = { clock: { ...systemClock, after }, ids: systemIds, log: SILENT };
  const authorities = new Authorities(runtime, new Profiles([{ ...LOCAL, signer }]));
  authorities.failed(LOCAL.name, { code: 'key.unavailable', message: 'No answer.' });
  t.is(due.size, 1);
  for (const probe of due) probe();
  due.clear();
  await reached(() => /not sent again/.test(authorities.outageOf(LOCAL.name)?.reason ?? ''));
  await new Promise((resolve) => setImmediate(resolve));
  t.is(own.pinFailures, 1);
  t.is(due.size, 0);
  const others = new Authorities(runtime, new Profiles([{ ...LOCAL, signer }]));
  others.failed(LOCAL.name, { code: 'key.password', message: 'The PIN is refused.' });
  for (const each of [authorities, others]) t.true(each.holds(LOCAL.name));
  t.is(due.size, 0);
});

test.serial('a start with a wrong PIN sends it once for all profiles, whose jobs wait', async (t) => {
  const { own, signer } = await wrongPin(t);
  const certificatePath = join(pki().folder, 'csc-signer.pem');
  await writeFile(certificatePath, [signer.certificate, ...signer.chain].map(certificatePem).join(''));
  const settings = accepted({
    argv: ['a', 'b'].flatMap((name, index) =>
      [
        `Name=${name}`,
        'Format=Cades',
        'Certificate:Source=Csc',
        `Certificate:Pem:CertificatePath=${certificatePath}`,
        `Certificate:KeyService:Address=${signer.place.address}`,
        `Certificate:KeyService:Key=${signer.place.key}`,
      ].map((member) => `--Signing:Profiles:${index}:${member}`),
    ),
  });
  const { profiles } = await setUpSigning(settings, undefined as never, MACHINE);
  for (const profile of profiles)
    t.like(profile, { loadFailure: undefined, keyTrouble: { code: 'key.password' } });
  t.is(profiles.length, 2);
  t.is(own.pinFailures, 1);
});

test.serial('threads know a PIN that was refused at the start: one job fails, the others wait', async (t) => {
  const { own, signer } = await wrongPin(t);
  const check = checkServiceSigner(opened(t, signer), {}, { at: AT, isTried: true });
  t.like(await t.throwsAsync(check), { code: 'key.password' });
  const { upload, reach } = await batchFixture(t, { watch: false, profiles: [{ ...LOCAL, signer }] });
  await upload('0.txt', 'content', 'csc');
  await reach('Failed', 1);
  for (let n = 1; n < 4; n += 1) await upload(`${n}.txt`, 'content', 'csc');
  await reach('Queued', 3);
  t.is(own.pinFailures, 1);
});

/** Change of the provider, and the failure with its remedy. */
const REFUSED: readonly (readonly [string, (provider: Provider) => void, RegExp])[] = [
  [
    'a key that is disabled',
    ({ own }) => {
      own.keyStatus = 'disabled';
    },
    /^key\.unavailable .*its key is disabled\. Have the provider/,
  ],
  [
    'a certificate that is revoked',
    ({ own }) => {
      own.certStatus = 'revoked';
    },
    /^key\.unavailable .*certificate is revoked\. Renew/,
  ],
  ['a credential that is gone', ({ server }) => void server.keys.clear(), /^key\.not-found .*one of: /],
  [
    'a credential of another name',
    ({ server }) => {
      server.keys.set('seal-7', server.keys.get('p-256-credential') ?? []);
      server.keys.delete('p-256-credential');
    },
    /^key\.not-found .*one of: seal-7\./,
  ],
  [
    'a certificate of another key',
    ({ own }) => {
      own.certificates = [pki().untrustedSigner().certificate];
    },
    /^key\.mismatch /,
  ],
  [
    'an authorization by a person',
    ({ own }) => {
      own.mode = 'oauth2code';
    },
    /^key\.unsupported .*by a person \(oauth2code\)/,
  ],
  [
    'a code by telephone',
    ({ own }) => {
      own.mode = 'explicit';
      own.factors = ['Password', 'ChallengeResponse'];
    },
    /^key\.unsupported .*by a person/,
  ],
  [
    'a code of a device',
    ({ own }) => {
      own.mode = 'explicit';
      own.factors = ['Password', 'Totp'];
    },
    /^key\.unsupported .*by a person \(explicit, PIN: password, OTP: code\)/,
  ],
  [
    'another algorithm',
    ({ own }) => {
      own.algorithms = ['1.2.840.10045.4.3.3'];
    },
    /^key\.unsupported .*Check DigestAlgorithm/,
  ],
  [
    'a service without hashes',
    ({ own }) => {
      own.methods = ['signatures/signDoc'];
    },
    /^key\.unsupported .*signs no hashes/,
  ],
  [
    'a service for persons',
    ({ own }) => {
      own.authTypes = ['oauth2code'];
    },
    /^key\.unsupported .*only persons/,
  ],
  [
    'a client that is unknown',
    () => {
      process.env['CSC_CLIENT_SECRET'] = 'old';
    },
    /^key\.unavailable .*invalid_client.*Check CSC_CLIENT_ID/,
  ],
  [
    'no client',
    () => {
      process.env['CSC_CLIENT_ID'] = '';
    },
    /^key\.unavailable .*Set CSC_CLIENT_ID/,
  ],
  [
    'a signature too few',
    ({ own }) => void own.answers.push(() => []),
    /^key\.unavailable .*0 signatures for 1 hashes/,
  ],
  [
    'a signature too many',
    ({ own }) => void own.answers.push((all) => [...all, ...all]),
    /^key\.unavailable .*2 signatures for 1 hashes/,
  ],
  ['a value that is none', ({ own }) => void own.answers.push(() => ['']), /^key\.mismatch /],
];

for (const [what, change, expected] of REFUSED)
  test.serial(`${what} signs nothing and is named`, async (t) => {
    const made = await provider(t);
    change(made);
    t.regex(String(await failureOf(opened(t, made.signer).signer)), expected);
  });

test.serial('values in another order sign nothing', async (t) => {
  const { own, signer } = await provider(t);
  const { signer: remote } = opened(t, signer);
  t.is(await failureOf(remote), undefined);
  own.answers.push(...Array(6).fill((all: string[]) => all.reverse()));
  const all = await Promise.all(
    Array.from({ length: 6 }, (_, second) => failureOf(remote, { at: AT + 1000 * second })),
  );
  t.true(own.batches.some((count) => count > 1));
  t.true(all.some((failure) => /^key\.mismatch /.test(String(failure))));
});

test.serial('a credential that is disabled meanwhile says so, and signs once it is enabled', async (t) => {
  const { own, signer } = await provider(t);
  own.mode = 'explicit';
  own.factors = ['Password'];
  const { signer: remote } = opened(t, signer);
  t.is(await failureOf(remote), undefined);
  own.keyStatus = 'disabled';
  t.regex(String(await failureOf(remote)), /^key\.unavailable .*its key is disabled/);
  own.keyStatus = 'enabled';
  t.is(await failureOf(remote), undefined);
});

test.serial('a failure of the service is repeated with an authorization of its own', async (t) => {
  const { own, signer, server } = await provider(t);
  server.faults.push({ status: 503, body: {} });
  t.is(await failureOf(opened(t, signer).signer), undefined);
  t.is(own.authorizations, 2);
});

/** Time that only the test moves. */
function slowClock() {
  const timers = new Set<{ readonly at: number; readonly task: () => void }>();
  const asked: number[] = [];
  let elapsed = 0;
  const pass = async (ms: number) => {
    elapsed += ms;
    for (const timer of timers)
      if (timer.at <= elapsed) {
        timers.delete(timer);
        timer.task();
      }
  };
  const after = (ms: number, task: () => void) => {
    asked.push(ms);
    const timer = { at: elapsed + ms, task };
    timers.add(timer);
    return () => void timers.delete(timer);
  };
  return { pass, asked, clock: { ...systemClock, elapsed: () => elapsed, after, sleep: pass } };
}

test.serial('a service that takes its time makes each signature once', async (t) => {
  const { own, signer, server } = await provider(t);
  own.multisign = 1;
  const { clock, pass } = slowClock();
  own.beforeAuthorization = () => pass(700);
  server.before = () => pass(700);
  const { signer: remote, key } = openServiceSigner(signer, { clock, ids: systemIds });
  t.teardown(() => key.close());
  const all = await Promise.all(Array.from({ length: 16 }, () => failureOf(remote)));
  t.deepEqual(all, Array(16).fill(undefined));
  t.is(own.authorizations, 16);
  t.is(server.signed, 16);
});

test.serial('a signature whose time ends takes no other of its batch with it', async (t) => {
  const { own, signer } = await provider(t);
  const { clock, pass, asked } = slowClock();
  const limits = { maxInFlight: 32, timeoutMs: 5_000 };
  const { signer: remote, key } = openServiceSigner({ ...signer, limits }, { clock, ids: systemIds });
  t.teardown(() => key.close());
  t.is(await failureOf(remote), undefined);
  const held: (() => void)[] = [];
  own.beforeAuthorization = () => new Promise<void>((resolve) => held.push(resolve));
  const batches = [failureOf(remote)];
  await reached(() => held.length === 1);
  batches.push(failureOf(remote));
  await reached(() => held.length === 2);
  const waits = async (count: number) => {
    await reached(() => asked.filter((ms) => ms === limits.timeoutMs).length === count);
    await new Promise((resolve) => setImmediate(resolve));
  };
  const older = failureOf(remote);
  await waits(4);
  await pass(4_000);
  const younger = failureOf(remote);
  await waits(5);
  for (const go of held) go();
  t.deepEqual(await Promise.all(batches), [undefined, undefined]);
  await reached(() => held.length === 3);
  await pass(1_500);
  t.regex(String(await older), /^key\.unavailable .*did not sign within 5 s/);
  held[2]?.();
  t.is(await younger, undefined);
  t.deepEqual(own.batches, [1, 1, 1, 2]);
  t.is(own.authorizations, 4);
});

test('an order whose time is over is not signed', async (t) => {
  const signed: string[] = [];
  const held: (() => void)[] = [];
  const batches = new HashBatches<string>(
    async (orders) => {
      signed.push(...orders);
      await new Promise<void>((resolve) => held.push(resolve));
      return orders.map((order) => Buffer.from(order));
    },
    { most: () => 1, kindOf: () => 'all' },
  );
  const { signal } = new AbortController();
  const late = new AbortController();
  const first = ['a', 'b'].map((order) => batches.sign(order, { signal }));
  const dropped = batches.sign('c', { signal: late.signal });
  const last = batches.sign('d', { signal });
  await reached(() => held.length === 2);
  late.abort();
  await t.throwsAsync(dropped, { any: true });
  await t.throwsAsync(batches.sign('e', { signal: late.signal }), { any: true });
  for (const go of held) go();
  await Promise.all(first);
  await reached(() => held.length === 3);
  held[2]?.();
  t.is(String(await last), 'd');
  t.deepEqual(signed, ['a', 'b', 'd']);
});

for (const version of VERSIONS)
  test.serial(`a client logs in at ${version} by name and password`, async (t) => {
    const { own, signer } = await provider(t, version);
    own.authTypes = ['basic'];
    await t.notThrowsAsync(checkServiceSigner(opened(t, signer), {}, { at: AT, isTried: true }));
  });

test.serial('files of the batch service are signed at a remote service', async (t) => {
  const { own, signer } = await provider(t);
  const { batch, upload, reach } = await batchFixture(t, {
    watch: false,
    maxConcurrency: 8,
    profiles: [{ ...LOCAL, signer }],
  });
  for (let n = 0; n < 6; n += 1) await upload(`${n}.txt`, `content ${n}`, 'csc');
  await reach('Completed', 6);
  t.is(batch.count(['Failed']), 0);
  t.is(
    own.batches.reduce((sum, count) => sum + count, 0),
    6,
  );
});
