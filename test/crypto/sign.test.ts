import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SignatureFormat, signFile, verifyFile } from '@sealwright/signatures';
import test from 'ava';
import { samplePdf } from '../../bench/samples.ts';
import { pki } from '../pki/pki.ts';

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
    t.true(verifyFile(good).ok);
    t.false(verifyFile({ ...good, signer: pki().signer('p-384').fingerprint }).ok);
    t.false(verifyFile({ ...good, content: { ...good.content, sha256: '00'.repeat(32) } }).ok);
    t.false(verifyFile({ ...good, content: { ...good.content, length: signed.input.length - 1 } }).ok);
    t.false(verifyFile({ ...good, anchors: [pki().otherRoot.certificate] }).ok);
    t.false(verifyFile({ ...good, anchors: [] }).ok);
    t.false(verifyFile({ ...good, at: AT + 20 * 365 * 86_400_000 }).ok);
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
    t.is(
      codeOf(() => signFile({ format, input, output, signer, at: AT })),
      'input.unreadable',
    );
    t.false(existsSync(output));
    t.is(
      codeOf(() => verifyFile({ format, path: input, at: AT })),
      'input.unreadable',
    );
  }
});

test('an existing output is never overwritten', (t) => {
  for (const format of FORMATS) {
    const { input, output } = paths(GOOD[format]);
    writeFileSync(output, 'mine');
    const signer = pki().signer('p-256');
    t.is(
      codeOf(() => signFile({ format, input, output, signer, at: AT })),
      'output.exists',
    );
    t.is(readFileSync(output, 'utf8'), 'mine');
  }
});
