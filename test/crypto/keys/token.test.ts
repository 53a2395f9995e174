import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Worker } from 'node:worker_threads';
import ava, { type ExecutionContext } from 'ava';
import type { SignatureAlgorithm, SignatureFormat } from '#crypto/core/types.js';
import { signFile } from '#crypto/files/sign-file.js';
import { loadSigner, type TokenSource } from '#crypto/keys/load.js';
import type { LoadedSigner } from '#crypto/keys/loaded-signer.js';
import { deserializeSigner, serializeSigner } from '#crypto/keys/transfer.js';
import { algorithmOf } from '#crypto/x509/signature-algorithms.js';
import { samplePdf } from '../../../bench/samples.ts';
import { pki, type TestSigner } from '../../pki/pki.ts';
import { opensslCms, pdfsig, withTools, xmlsec1 } from '../../verifiers/index.ts';
import { makeTokens, PIN, type SoftHsm, thumbprint } from './softhsm.ts';

const test = withTools(ava, 'softhsm2-util', 'pdfsig', 'certutil', 'openssl', 'xmlsec1');

const NOW = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'sealwright-tokens-'));
let made: SoftHsm | undefined;
let files = 0;
const open: LoadedSigner[] = [];

test.after.always(() => {
  made?.remove();
  rmSync(folder, { recursive: true, force: true });
});

// Logins belong to the process: a test that leaves a session open would let the next one in with any PIN.
test.afterEach.always(() => {
  for (const { key } of open.splice(0)) if (key.where === 'token') key.close();
});

const KINDS = ['rsa-2048', 'p-256', 'p-384', 'p-521', 'ed25519'] as const;

/** Started once; every test of this file uses the same tokens. */
function tokens(): SoftHsm {
  const signer = pki().signer;
  made ??= makeTokens([
    {
      label: 'signers',
      keys: KINDS.map((kind, index) => ({
        signer: signer(kind),
        others: index === 0 ? [pki().issuing.certificate, pki().root.certificate] : [],
      })),
    },
    {
      label: 'odd',
      keys: [
        { signer: signer('rsa-3072'), odd: 'asks-each-time' },
        { signer: pki().signerValid(NOW - 2, NOW - 1), odd: 'missing' },
        { signer: pki().untrustedSigner(), odd: 'other-key', instead: signer('p-256') },
      ],
    },
    { label: 'nameless', keys: [{ signer: expired, odd: 'without-id' }] },
    { label: 'hidden', keys: [{ signer: hiddenSigner, hidden: true }] },
  ]);
  return made;
}

const expired = pki().signerValid(NOW - 1_000_000, NOW - 10_000);
const hiddenSigner = pki().signerValid(NOW - 1_000_000, NOW + 1_000_000_000);

function source(signer: TestSigner, changes: Partial<TokenSource> = {}): TokenSource {
  return {
    source: 'Pkcs11',
    modulePath: tokens().modulePath,
    pin: PIN,
    thumbprint: thumbprint(signer),
    ...changes,
  };
}

async function loaded(signer: TestSigner, changes: Partial<TokenSource> = {}): Promise<LoadedSigner> {
  const one = await loadSigner(source(signer, changes));
  open.push(one);
  return one;
}

async function refusal(
  signer: TestSigner,
  changes: Partial<TokenSource> = {},
): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await loaded(signer, changes);
  } catch (error) {
    return error as { code: string; message: string };
  }
  return { code: 'loaded', message: '' };
}

function codeOf(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return (error as { code: string }).code;
  }
}

function publicKeyOf(signer: TestSigner): KeyObject {
  return createPublicKey(signer.key.keyObject);
}

function isBy(key: KeyObject, text: string, value: Buffer, { scheme, digest }: SignatureAlgorithm): boolean {
  const padding = scheme === 'rsa-pss' ? { padding: 6, saltLength: -1 } : {};
  return verify(scheme === 'ed25519' ? null : digest, Buffer.from(text), { key, ...padding }, value);
}

/** One value, made and checked. */
function signs(t: ExecutionContext, by: LoadedSigner, text: string, key: KeyObject): void {
  const algorithm = algorithmOf(by, {});
  t.true(isBy(key, text, by.key.sign(Buffer.from(text), algorithm), algorithm), text);
}

test.serial('a key on a token is used with certificate, chain and root, and never exported', async (t) => {
  for (const kind of KINDS) {
    const signer = pki().signer(kind);
    const one = await loaded(signer, { tokenLabel: 'signers' });
    t.deepEqual(one.certificate, signer.certificate);
    t.deepEqual(one.chain, [pki().issuing.certificate]);
    t.deepEqual(one.root, pki().root.certificate);
    t.deepEqual(one.warnings, []);
    t.is(one.keyType, signer.keyType);
    t.is(one.keyBits, signer.keyBits);
    t.is(one.key.where, 'token');
    t.false(inspect(one, { depth: 9 }).includes(PIN));
    t.false(JSON.stringify(one).includes(PIN));
    signs(t, one, 'first', publicKeyOf(signer));
    signs(t, one, 'second', publicKeyOf(signer));
  }
});

test.serial('a token makes every value that its key supports, and refuses the others', async (t) => {
  for (const kind of KINDS) {
    const signer = pki().signer(kind);
    const { key } = await loaded(signer);
    for (const scheme of ['rsa-pkcs1', 'rsa-pss', 'ecdsa', 'ed25519'] as const) {
      for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
        const algorithm = { scheme, digest };
        const fits = codeOf(() => signer.key.sign(Buffer.from('x'), algorithm)) === 'none';
        if (!fits) {
          t.is(
            codeOf(() => key.sign(Buffer.from('x'), algorithm)),
            'key.unsupported',
          );
          continue;
        }
        const value = key.sign(Buffer.from('x'), algorithm);
        t.true(isBy(publicKeyOf(signer), 'x', value, algorithm), `${kind} ${scheme} ${digest}`);
        t.false(isBy(publicKeyOf(signer), 'y', value, algorithm));
      }
    }
  }
});

test.serial('pdfsig, openssl and xmlsec1 accept the signatures of RSA and EC keys on a token', async (t) => {
  const contents: { readonly [format in SignatureFormat]: Buffer } = {
    Pades: samplePdf(),
    Cades: Buffer.from('any file'),
    Xades: Buffer.from('<order><item>1</item></order>'),
  };
  for (const kind of ['rsa-2048', 'p-256'] as const) {
    const signer = await loaded(pki().signer(kind));
    const sign = (format: SignatureFormat): string => {
      const input = join(folder, `file-${++files}`);
      const output = `${input}.signed`;
      writeFileSync(input, contents[format]);
      signFile({ format, input, output, signer, at: NOW });
      return output;
    };
    const [verdict] = await pdfsig(sign('Pades'), pki());
    t.true(verdict?.ok, `${kind} ${verdict?.signature} ${verdict?.certificate}`);
    const cms = await opensslCms({ signature: sign('Cades'), ca: pki().rootFile });
    t.true(cms.ok, cms.text);
    const xml = await xmlsec1({
      file: sign('Xades'),
      ca: pki().rootFile,
      untrusted: pki().issuingFile,
    });
    t.true(xml.ok, xml.text);
  }
});

test.serial('two hundred consecutive signatures use one session', async (t) => {
  const signer = pki().signer('p-256');
  const one = await loaded(signer);
  const calls = tokens().countCalls();
  for (let count = 0; count < 200; count++) signs(t, one, `${count}`, publicKeyOf(signer));
  t.deepEqual(calls, { logins: 0, sessions: 0 }, 'the session that was opened to load the key is enough');
});

/** Values that threads made with the signer, thread by thread. */
function inThreads(signer: LoadedSigner, threads: number, texts: readonly string[]): Promise<string[][]> {
  const workerData = { signer: serializeSigner(signer), texts };
  return Promise.all(
    Array.from(
      { length: threads },
      () =>
        new Promise<string[]>((resolve, reject) => {
          const worker = new Worker(new URL('./token-worker.js', import.meta.url), { workerData });
          worker.once('message', resolve);
          worker.once('error', reject);
        }),
    ),
  );
}

test.serial('eight threads sign concurrently, with one session and with four', async (t) => {
  const texts = Array.from({ length: 25 }, (_, index) => `text ${index}`);
  for (const [kind, maxSessions] of [
    ['p-256', 1],
    ['rsa-2048', 4],
  ] as const) {
    const signer = pki().signer(kind);
    const one = await loaded(signer, { maxSessions });
    const algorithm = algorithmOf(one, {});
    for (const values of await inThreads(one, 8, texts)) {
      t.is(values.length, texts.length);
      for (const [index, value] of values.entries()) {
        const good = isBy(publicKeyOf(signer), texts[index] ?? '', Buffer.from(value, 'base64'), algorithm);
        t.true(good, value);
      }
    }
    // The thread that loaded the key goes on when the others have ended.
    signs(t, one, 'afterwards', publicKeyOf(signer));
  }
});

test.serial('a signer with a token is sent to another thread without its PIN in clear', async (t) => {
  const one = await loaded(pki().signer('p-256'));
  const data = serializeSigner(one);
  t.is(data.where, 'token');
  t.false(JSON.stringify(data).includes(PIN));
  t.false(inspect(data, { depth: 9, maxArrayLength: null }).includes(PIN));
  const there = deserializeSigner(structuredClone(data));
  t.is(deserializeSigner(structuredClone(data)), there);
  const anew = await loaded(pki().signer('p-256'));
  t.not(deserializeSigner(serializeSigner(anew)), there, 'another PIN, another signer');
});

test.serial(
  'a wrong PIN has its own code and is tried once, and the right one still opens the token',
  async (t) => {
    const signer = pki().signer('p-256');
    const wrong = await refusal(signer, { pin: '0000' });
    t.is(wrong.code, 'key.password');
    t.false(wrong.message.includes('0000'));
    t.is((await refusal(signer, { pin: '' })).code, 'key.password');
    t.is((await refusal(signer)).code, 'loaded');
  },
);

test.serial('a changed PIN is tried once by all threads together', async (t) => {
  const signer = pki().signer('p-256');
  const one = await loaded(signer, { maxSessions: 4 });
  if (one.key.where !== 'token') throw new Error('not on a token');
  one.key.close();
  const { sessions } = one.key.place;
  // As if the token had another PIN now; the last bytes of the memory are ours.
  new Uint8Array(sessions).set(Buffer.from('0000'), sessions.byteLength - PIN.length);
  const calls = tokens().countCalls();
  for (let count = 0; count < 3; count++) {
    t.is(
      codeOf(() => one.key.sign(Buffer.from('x'), algorithmOf(one, {}))),
      'key.password',
    );
  }
  t.is(calls.logins, 1);
  const answers = (await inThreads(one, 8, ['a', 'b'])).flat();
  t.is(answers.filter((answer) => answer.startsWith('key.password')).length, 16, answers.join('\n'));
  t.is(calls.logins, 1);
  new Uint8Array(sessions).set(Buffer.from(PIN), sessions.byteLength - PIN.length);
  t.is(
    codeOf(() => one.key.sign(Buffer.from('x'), algorithmOf(one, {}))),
    'key.password',
    'not even the right one',
  );
  t.is((await refusal(signer)).code, 'loaded');
});

test.serial('a removed token fails with a code, and signs again once it is inserted', async (t) => {
  const hsm = tokens();
  for (const maxSessions of [1, 3]) {
    const signer = pki().signer('rsa-2048');
    const one = await loaded(signer, { maxSessions });
    signs(t, one, 'before', publicKeyOf(signer));
    hsm.pull();
    const algorithm = algorithmOf(one, {});
    t.is(
      codeOf(() => one.key.sign(Buffer.from('x'), algorithm)),
      'key.unavailable',
    );
    t.is(
      codeOf(() => one.key.sign(Buffer.from('x'), algorithm)),
      'key.unavailable',
    );
    t.is((await refusal(signer)).code, 'key.unavailable', 'nor can it be loaded');
    hsm.putBack();
    signs(t, one, 'after', publicKeyOf(signer));
    signs(t, one, 'and again', publicKeyOf(signer));
    one.key.where === 'token' && one.key.close();
  }
});

test.serial('threads continue when a removed token is inserted again', async (t) => {
  const hsm = tokens();
  const signer = pki().signer('p-256');
  const one = await loaded(signer, { maxSessions: 2 });
  hsm.pull();
  const lost = (await inThreads(one, 4, ['x'])).flat();
  t.true(
    lost.every((answer) => answer.startsWith('key.unavailable')),
    lost.join('\n'),
  );
  hsm.putBack();
  const values = (await inThreads(one, 4, ['x', 'y'])).flat();
  t.true(
    values.every((value) => !value.startsWith('key.')),
    values.join('\n'),
  );
});

test.serial('a key that asks for the PIN at every signature signs more than once', async (t) => {
  const signer = pki().signer('rsa-3072');
  const one = await loaded(signer);
  const calls = tokens().countCalls();
  for (const text of ['once', 'twice', 'a third time']) signs(t, one, text, publicKeyOf(signer));
  t.deepEqual(calls, { logins: 3, sessions: 0 });
});

test.serial('each fault of a token has its own code', async (t) => {
  const good = pki().signer('p-256');
  t.is((await refusal(good, { modulePath: join(folder, 'none.so') })).code, 'key.unavailable');
  t.is((await refusal(good, { tokenLabel: 'nobody' })).code, 'key.unavailable');
  t.is((await refusal(good, { tokenLabel: 'nameless' })).code, 'key.not-found');
  t.is((await refusal(good, { thumbprint: '00'.repeat(20) })).code, 'key.not-found');
  t.is((await refusal(good, { maxSessions: 0 })).code, 'request.invalid');
  t.is((await refusal(good, { maxSessions: 1.5 })).code, 'request.invalid');
  t.is((await refusal(pki().untrustedSigner())).code, 'key.mismatch');
  const colons = thumbprint(good)
    .toLowerCase()
    .replace(/..(?=.)/g, '$&:');
  t.is((await refusal(good, { thumbprint: colons })).code, 'loaded');
});

test.serial(
  'a certificate without an identifier finds its key by trial, and a missing key has its own code',
  async (t) => {
    const one = await loaded(expired);
    signs(t, one, 'nameless', publicKeyOf(expired));
    t.is(one.warnings[0]?.code, 'chain.incomplete');
  },
);

test.serial(
  'certificates that need a login to be visible are found on a token named by its label',
  async (t) => {
    t.is(
      (await refusal(hiddenSigner)).code,
      'key.not-found',
      'among several tokens the PIN is tried on none',
    );
    const one = await loaded(hiddenSigner, { tokenLabel: 'hidden' });
    signs(t, one, 'hidden', publicKeyOf(hiddenSigner));
    t.is(
      (await refusal(hiddenSigner, { tokenLabel: 'hidden', pin: '1111' })).code,
      'loaded',
      'still logged in',
    );
    for (const { key } of open.splice(0)) if (key.where === 'token') key.close();
    t.is((await refusal(hiddenSigner, { tokenLabel: 'hidden', pin: '1111' })).code, 'key.password');
  },
);
