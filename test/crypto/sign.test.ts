import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addAsicSignature,
  addCadesSigner,
  addCadesSignerAtLevel,
  augmentAsic,
  augmentFile,
  counterSignAsic,
  counterSignCades,
  counterSignXades,
  MemoryOutput,
  type RemoteSigner,
  type SignatureFormat,
  signAsic,
  signatures,
  signFile,
  signFileAtLevel,
  validateFile,
  verifyFile,
} from '@sealwright/signatures';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { startAuthority } from '../pki/authority.ts';
import { pki } from '../pki/pki.ts';
import { opensslCms, pdfsig, withTools, xmlsec1 } from '../verifiers/index.ts';

const toolTest = withTools(test, 'pdfsig', 'certutil', 'openssl', 'xmlsec1');

const AT = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'sealwright-engine-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const GOOD: { readonly [format in SignatureFormat]: Buffer } = {
  Pades: samplePdf(),
  Cades: Buffer.from('any file'),
  Xades: Buffer.from('<?xml version="1.0"?>\n<order><item>1</item></order>\n'),
};
const FORMATS = ['Pades', 'Cades', 'Xades'] as const;

let files = 0;

function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function paths(content: Uint8Array): { readonly input: string; readonly output: string } {
  const input = join(folder, `input-${++files}`);
  writeFileSync(input, content);
  return { input, output: `${input}.signed` };
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'none';
}

test('what a program without types leaves out is named', async (t) => {
  const input = GOOD.Cades;
  const output = new MemoryOutput();
  const request = { format: 'Cades', input, output, signer: pki().signer('p-256'), at: AT } as const;
  const trust = { anchors: [], revocation: 'none' } as const;
  const refused: readonly (readonly [string, RegExp])[] = [
    ['format', /`format` is undefined, not Pades, Cades, Xades/],
    ['at', /`at` is no time in milliseconds/],
    ['signer', /`signer` is missing/],
    ['input', /a path or bytes/],
  ];
  for (const [member, message] of refused)
    await t.throwsAsync(signFileAtLevel({ ...request, [member]: undefined }), {
      code: 'request.invalid',
      message,
    });
  await signFileAtLevel(request);
  const validation = { format: 'Cades', path: output.bytes, trust, at: AT } as const;
  for (const [member, message] of [
    ['format', /`format` is undefined/],
    ['at', /`at` is no time/],
    ['trust', /`trust\.anchors` is no list/],
  ] as const)
    await t.throwsAsync(validateFile({ ...validation, [member]: undefined }), {
      code: 'request.invalid',
      message,
    });
  t.is((await validateFile(validation)).signatures.length, 1);
  const { format: _, ...others } = request;
  const without = (member: 'at' | 'signer') => ({ ...others, to: 'LT', [member]: undefined }) as const;
  for (const operation of [addAsicSignature, augmentAsic, counterSignAsic, counterSignXades])
    await t.throwsAsync(
      operation(without('at'), {}),
      { code: 'request.invalid', message: /`at` is no time/ },
      operation.name,
    );
  for (const operation of [addCadesSigner, counterSignCades, addCadesSignerAtLevel])
    await t.throwsAsync(
      async () => operation(without('signer')),
      { code: 'request.invalid', message: /`signer` is missing/ },
      operation.name,
    );
  const text = GOOD.Pades.toString('base64').padEnd(5000, '=');
  await t.throwsAsync(signFileAtLevel({ ...request, input: text }), {
    code: 'input.unreadable',
    message: `A path of ${text.length} characters can't be read: ENAMETOOLONG.`,
  });
});

test('every format signs and verifies with every kind of key, and reports the size and digest of the file on disk', (t) => {
  for (const format of FORMATS) {
    for (const kind of ['rsa-2048', 'rsa-3072', 'p-256', 'p-384', 'p-521'] as const) {
      const { input, output } = paths(GOOD[format]);
      const signer = pki().signer(kind);
      const signed = signFile({ format, input, output, signer, at: AT });
      const stat = statSync(input, { bigint: true });
      t.deepEqual(signed, {
        input: {
          sha256: sha256(input),
          length: GOOD[format].length,
          mtimeMs: statSync(input).mtimeMs,
          inode: `${stat.dev}:${stat.ino}`,
        },
        output: { sha256: sha256(output), length: statSync(output).size },
      });
      const report = verifyFile({
        format,
        path: output,
        at: AT,
        signer: signer.fingerprint,
        content: signed.input,
        anchors: [pki().root.certificate],
      });
      t.true(report.ok, `${format} ${kind}: ${JSON.stringify(report.checks.filter(({ ok }) => !ok))}`);
      t.is(report.signatures, 1);
    }
  }
});

test('a report names the failed check: signer, content, root', (t) => {
  for (const format of FORMATS) {
    const { input, output } = paths(GOOD[format]);
    const signer = pki().signer('p-256');
    const signed = signFile({ format, input, output, signer, at: AT });
    const good = {
      format,
      path: output,
      at: AT,
      signer: signer.fingerprint,
      content: signed.input,
      anchors: [pki().root.certificate],
    };
    const { sha256: digest, length } = signed.input;
    const other = (content: object) => ({ content: { ...signed.input, ...content } });
    const failed = (more: object) => {
      const { checks } = verifyFile({ ...good, ...more });
      return checks.filter(({ ok }) => !ok).map(({ name }) => name);
    };
    t.deepEqual(failed({}), [], format);
    t.deepEqual(failed({ signer: pki().signer('p-384').fingerprint }), ['signer']);
    const changed = `${digest.startsWith('0') ? '1' : '0'}${digest.slice(1)}`;
    t.deepEqual(failed(other({ sha256: changed })), ['content']);
    for (const wrong of [length - 1, 1e9]) t.deepEqual(failed(other({ length: wrong })), ['content']);
    t.deepEqual(failed({ content: signed.output }), ['content']);
    for (const anchors of [[], [pki().otherRoot.certificate]]) t.deepEqual(failed({ anchors }), ['chain']);
    for (const at of [0, AT + 20 * 365 * 86_400_000])
      t.true(failed({ at }).includes('certificate-validity'), `${format} ${at}`);
  }
});

test('an unsigned file gets a failed report in every format', (t) => {
  for (const format of FORMATS) {
    for (const content of [...Object.values(GOOD), Buffer.alloc(0), Buffer.alloc(300, 0x30)]) {
      const { input } = paths(content);
      let ok: boolean;
      try {
        ok = verifyFile({ format, path: input, at: AT }).ok;
      } catch (error) {
        t.is((error as Error).name, 'CryptoError');
        ok = false;
      }
      t.false(ok, format);
    }
  }
});

test('a failure has a code and leaves no output in every format', (t) => {
  const signer = pki().signer('p-256');
  const bad: readonly (readonly [SignatureFormat, Buffer, RegExp])[] = [
    ['Pades', Buffer.alloc(0), /^input\.empty$/],
    ['Pades', Buffer.from('not a PDF'), /^pdf\./],
    ['Pades', GOOD.Pades.subarray(0, 40), /^pdf\./],
    ['Cades', Buffer.alloc(0), /^input\.empty$/],
    ['Xades', Buffer.alloc(0), /^input\.empty$/],
    ['Xades', Buffer.from('<order><item></order>'), /^xml\.malformed$/],
    ['Xades', Buffer.from('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'), /^xml\.dtd$/],
  ];
  for (const [format, content, code] of bad) {
    const { input, output } = paths(content);
    t.regex(
      codeOf(() => signFile({ format, input, output, signer, at: AT })),
      code,
    );
    t.false(existsSync(output));
  }
  for (const format of FORMATS) {
    const output = join(folder, `output-${++files}`);
    const input = join(folder, 'missing');
    const link = `${output}.link`;
    symlinkSync(paths(GOOD[format]).input, link);
    for (const path of [input, link])
      t.is(
        codeOf(() => signFile({ format, input: path, output, signer, at: AT })),
        'input.unreadable',
      );
    t.false(existsSync(output));
    t.is(
      codeOf(() => verifyFile({ format, path: input, at: AT })),
      'input.unreadable',
    );
  }
});

test('an existing output is never overwritten, nor is the input', (t) => {
  for (const format of FORMATS) {
    const { input, output } = paths(GOOD[format]);
    writeFileSync(output, 'mine');
    const signer = pki().signer('p-256');
    t.is(
      codeOf(() => signFile({ format, input, output, signer, at: AT })),
      'output.exists',
    );
    t.is(readFileSync(output, 'utf8'), 'mine');
    t.is(
      codeOf(() => signFile({ format, input, output: input, signer, at: AT })),
      'output.exists',
    );
  }
});

test('a file in memory is signed, validated and extended without a file on disk', async (t) => {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const signer = authority.pki.signer('p-256');
  for (const format of FORMATS) {
    const signed = new MemoryOutput();
    const extended = new MemoryOutput();
    const input = new Uint8Array(GOOD[format]);
    const { output } = await signFileAtLevel(
      { format, input, output: signed, signer, at: Date.now(), level: 'T' },
      authority.services,
    );
    t.is(output.sha256, createHash('sha256').update(signed.bytes).digest('hex'), format);
    await augmentFile(
      { format, input: signed.bytes, output: extended, to: 'LT', at: Date.now() },
      authority.services,
    );
    const { trust } = authority;
    const report = await validateFile({ format, path: extended.bytes, trust, at: Date.now() + 60_000 });
    t.is(report.indication, 'TOTAL-PASSED', format);
    t.is(report.signatures[0]?.level, 'LT', format);
  }
});

toolTest(
  'the short form signs, verifies and extends each format as its content says, as others verify',
  async (t) => {
    const authority = await startAuthority();
    t.teardown(() => authority.close());
    const { services, trust } = authority;
    const { rootFile } = authority.pki;
    const signer = authority.pki.signer('p-256');
    const { anchors } = trust;
    const short = signatures({ ...services, signer, anchors, now: () => Date.now() + 60_000 });
    const made = signatures({ ...services, signer, anchors });
    const judged: { readonly [format in SignatureFormat]: (path: string) => Promise<boolean> } = {
      Pades: async (path) => (await pdfsig(path, authority.pki)).every(({ ok }) => ok),
      Cades: async (signature) => (await opensslCms({ signature, ca: rootFile })).ok,
      Xades: async (file) => (await xmlsec1({ file, ca: rootFile })).ok,
    };
    for (const format of FORMATS) {
      const { input, output } = paths(GOOD[format]);
      await made.sign(input, { to: output });
      t.true(await judged[format](output), format);
      const bytes: Buffer = await made.sign(new Uint8Array(GOOD[format]), { level: 'T' });
      const extended = await made.extend(bytes, { level: 'LT' });
      const verdict = await short.verify(extended);
      t.true(verdict.ok, format);
      t.is(verdict.report.format, format);
      t.is(verdict.signers.length, 1);
      t.is(verdict.report.signatures[0]?.level, 'LT');
      const changed = Buffer.from(extended);
      const at = changed.indexOf(format === 'Pades' ? '1.' : format === 'Xades' ? '1</item>' : 'any file');
      changed[at] = (changed[at] ?? 0) ^ 1;
      t.false((await short.verify(changed)).ok, `${format}, changed`);
    }
    for (const format of ['Cades', 'Xades'] as const) {
      const container = new MemoryOutput();
      const inputs = [{ path: GOOD.Cades, name: 'a.txt' }];
      const given = {
        kind: 'E',
        format,
        inputs,
        output: container,
        signer,
        level: 'T',
        at: Date.now(),
      } as const;
      await signAsic(given, services);
      const extended = await made.extend(container.bytes, { level: 'LT' });
      const { ok, report } = await short.verify(extended);
      t.true(ok, `${format} in a container`);
      t.deepEqual([report.format, report.signatures[0]?.level], ['Asic', 'LT']);
      const changed = Buffer.from(extended);
      const at = changed.indexOf('any file');
      changed[at] = (changed[at] ?? 0) ^ 1;
      t.false((await short.verify(changed)).ok, `${format} in a container, changed`);
    }
    const cms = await made.sign(GOOD.Cades);
    await t.throwsAsync(made.sign(cms), { code: 'request.invalid', message: /addCadesSigner/ });
    t.true((await short.verify(await made.sign(cms, { format: 'Cades' }))).signers.length > 0);
    const signless = signatures({ anchors });
    await t.throwsAsync(signless.sign(GOOD.Cades), { code: 'request.invalid', message: /`signer`/ });
    // @ts-expect-error: level T needs time-stamps
    await t.throwsAsync(signatures({ signer }).sign(GOOD.Cades, { level: 'T' }), { code: 'request.invalid' });
    t.false((await signless.verify(GOOD.Pades)).ok, 'no signature');
  },
);

test('an output in memory stays empty when signing fails', (t) => {
  const signer = pki().signer('p-256');
  const output = new MemoryOutput();
  const input = Buffer.from('no PDF');
  t.is(
    codeOf(() => signFile({ format: 'Pades', input, output, signer, at: AT })),
    'pdf.malformed',
  );
  t.is(output.bytes.length, 0);
});

/** The same signer, whose key answers later; `damage` spoils its values. */
function remote(kind: 'rsa-2048' | 'p-256' | 'ed25519', damage = false): RemoteSigner {
  const { key, ...identity } = pki().signer(kind);
  const named = { key: 'the name of the key in its service' };
  return {
    ...identity,
    ...named,
    async sign({ toBeSigned, hash, algorithm }) {
      if (!createHash(algorithm.digest).update(toBeSigned).digest().equals(hash))
        throw new Error('other bytes');
      const value = key.sign(toBeSigned, algorithm);
      return new Uint8Array(damage ? value.fill(7, 20, 24) : value);
    },
  };
}

test('a key elsewhere signs every format and container, and a value that it did not make is refused', async (t) => {
  const trust = {
    anchors: [pki().root.certificate],
    intermediates: [pki().issuing.certificate],
    revocation: 'none',
  } as const;
  const passes = async (format: SignatureFormat, path: Buffer, name: string) => {
    const { indication, signatures } = await validateFile({ format, path, trust, at: AT + 60_000 });
    t.is(indication, 'TOTAL-PASSED', name);
    return signatures.length;
  };
  for (const kind of ['rsa-2048', 'p-256', 'ed25519'] as const) {
    for (const format of FORMATS) {
      const request = { format, input: GOOD[format], at: AT };
      const output = new MemoryOutput();
      await signFileAtLevel({ ...request, output, signer: remote(kind) });
      await passes(format, output.bytes, `${format} ${kind}`);
      const failed = new MemoryOutput();
      const refused = signFileAtLevel({ ...request, output: failed, signer: remote(kind, true) });
      t.is(((await t.throwsAsync(refused)) as { code?: string }).code, 'signature.mismatch');
      t.is(failed.bytes.length, 0);
    }
    for (const format of ['Cades', 'Xades'] as const) {
      for (const container of ['S', 'E'] as const) {
        const first = new MemoryOutput();
        const second = new MemoryOutput();
        const inputs = [{ path: Buffer.from('data'), name: 'data.txt' }];
        await signAsic({ kind: container, format, inputs, output: first, signer: remote(kind), at: AT });
        const signer = remote(kind === 'p-256' ? 'rsa-2048' : 'p-256');
        await addAsicSignature({ input: first.bytes, output: second, signer, at: AT + 1000 });
        t.is(await passes('Cades', second.bytes, `ASiC-${container} ${format} ${kind}`), 2);
      }
    }
  }
  const one = new MemoryOutput();
  const both = new MemoryOutput();
  signFile({ format: 'Cades', input: GOOD.Cades, output: one, signer: pki().signer('p-256'), at: AT });
  await addCadesSignerAtLevel({ input: one.bytes, output: both, signer: remote('rsa-2048'), at: AT });
  t.is(await passes('Cades', both.bytes, 'a second signer'), 2);
});
