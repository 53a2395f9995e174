import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalSigner, MemoryOutput, type RemoteSigner, type ToBeSigned } from '@sealwright/signatures';
import { openThreads, type SignatureThreads, type ThreadsOptions } from '@sealwright/signatures/threads';
import test, { type ExecutionContext } from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { startAuthority } from '../pki/authority.ts';

// A process of its own: threads load the compiled package.
const authority = await startAuthority();
const folder = mkdtempSync(join(tmpdir(), 'sealwright-threads-'));
test.after.always(async () => {
  rmSync(folder, { recursive: true, force: true });
  await authority.close();
});

const FILES = {
  Pades: samplePdf(),
  Cades: Buffer.from('any file'),
  Xades: Buffer.from('<order><item>1</item></order>'),
} as const;
const FORMATS = ['Pades', 'Cades', 'Xades'] as const;
const { online: _, ...trust } = authority.trust;
const services: ThreadsOptions = {
  timestamps: { url: authority.timestampUrl, timeoutMs: 60_000 },
  evidence: { anchors: trust.anchors, timeoutMs: 60_000 },
  http: { allowPrivate: true },
};

async function opened(t: ExecutionContext, options: ThreadsOptions = {}): Promise<SignatureThreads> {
  const threads = await openThreads(options);
  t.teardown(() => threads.close());
  return threads;
}

test('threads sign, extend and validate files and bytes of every format', async (t) => {
  const threads = await opened(t, { ...services, threads: 2 });
  const signer = authority.pki.signer('p-256');
  await Promise.all(
    FORMATS.map(async (format) => {
      const input = new Uint8Array(FILES[format]);
      const path = join(folder, `${format}.signed`);
      const signed = new MemoryOutput();
      const extended = new MemoryOutput();
      const request = { format, input, signer, at: Date.now() } as const;
      const { output } = await threads.signFile({ ...request, output: signed, level: 'T' });
      t.is(output.length, signed.bytes.length, format);
      await threads.augmentFile({ format, input: signed.bytes, output: extended, to: 'LT', at: Date.now() });
      const at = Date.now() + 60_000;
      const report = await threads.validateFile({ format, path: extended.bytes, trust, at });
      t.is(report.indication, 'TOTAL-PASSED', format);
      t.is(report.signatures[0]?.level, 'LT', format);
      await threads.signFile({ ...request, output: path });
      const fingerprint = signer.fingerprint;
      t.true(
        (await threads.verifyFile({ format, path, at, signer: fingerprint, anchors: trust.anchors })).ok,
      );
      t.true(readFileSync(path).length > input.length);
    }),
  );
});

test('a key elsewhere signs in the thread of the caller', async (t) => {
  const threads = await opened(t);
  const { key, ...identity } = authority.pki.signer('p-256');
  let calls = 0;
  const signer: RemoteSigner = Object.assign(Object.create(identity), {
    close() {},
    async sign({ toBeSigned, algorithm }: ToBeSigned) {
      calls += 1;
      return key.sign(toBeSigned, algorithm);
    },
  });
  const output = new MemoryOutput();
  await threads.signFile({ format: 'Pades', input: FILES.Pades, output, signer, at: Date.now() });
  t.is(calls, 1);
  const report = await threads.validateFile({
    format: 'Pades',
    path: output.bytes,
    trust: { ...trust, revocation: 'none' },
    at: Date.now(),
  });
  t.is(report.indication, 'TOTAL-PASSED');
});

test('services that no thread can make are refused with each request, and do not end the process', async (t) => {
  const request = { format: 'Pades', input: FILES.Pades, at: Date.now() } as const;
  const signer = authority.pki.signer('p-256');
  const threads = await opened(t, { threads: 1, timestamps: { url: 'ftp://authority.example' } });
  for (let count = 0; count < 2; count += 1)
    await t.throwsAsync(threads.signFile({ ...request, signer, output: new MemoryOutput() }), {
      name: 'CryptoError',
      code: 'request.invalid',
    });
});

test('refusals have the code of the engine or of the threads, and options their bounds', async (t) => {
  const signer: LocalSigner = authority.pki.signer('p-256');
  const request = { format: 'Pades', signer, at: Date.now() } as const;
  const good = { ...request, input: FILES.Pades };
  const threads = await openThreads({ threads: 1, maxWaiting: 1 });
  const output = new MemoryOutput();
  await t.throwsAsync(threads.signFile({ ...request, input: Buffer.from('no PDF'), output }), {
    name: 'CryptoError',
    code: 'pdf.malformed',
  });
  t.is(output.bytes.length, 0);
  await t.throwsAsync(threads.signFile({ ...good, output, level: 'T' }), { code: 'request.invalid' });
  // @ts-expect-error a program without types leaves the signer out
  await t.throwsAsync(threads.signFile({ ...good, output, signer: undefined }), { code: 'request.invalid' });

  const many = await Promise.allSettled(
    Array.from({ length: 4 }, () => threads.signFile({ ...good, output: new MemoryOutput() })),
  );
  t.deepEqual(
    many.map((one) => (one.status === 'fulfilled' ? 'signed' : one.reason.code)),
    ['signed', 'signed', 'threads.full', 'threads.full'],
  );
  await threads.close();
  await t.throwsAsync(threads.signFile({ ...good, output }), { code: 'threads.closed' });

  // The first thread starts with the request: a millisecond passes before it can answer.
  const hasty = await opened(t, { timeoutMs: 1 });
  const path = join(folder, 'large');
  writeFileSync(path, Buffer.alloc(64 * 1024 * 1024));
  const late = { format: 'Cades', input: path, output: `${path}.p7m`, signer, at: Date.now() } as const;
  await t.throwsAsync(hasty.signFile(late), { code: 'threads.timeout' });

  for (const [name, value] of [
    ['threads', 0],
    ['threads', 65],
    ['maxWaiting', 1.5],
    ['timeoutMs', Number.NaN],
  ] as const)
    await t.throwsAsync(openThreads({ [name]: value }), {
      instanceOf: RangeError,
      message: new RegExp(name),
    });
});
