/**
 * What programs of others, and our own verifier, say of a signed PDF.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { SignedFile, Signer, VerificationReport } from '#crypto/core/types.js';
import { signPades } from '#crypto/pades/sign.js';
import { verifyPades } from '#crypto/pades/verify.js';
import { pki } from '../../../pki/pki.ts';
import { mutool, opensslCms, opensslCmsPrint, pdfsig, qpdf } from '../../../verifiers/index.ts';

/** A folder of this process, removed at its end. */
export const folder = mkdtempSync(join(tmpdir(), 'sealwright-pades-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

let count = 0;

/** A path nothing has yet. */
export function freshPath(name = 'file.pdf'): string {
  return join(folder, `${++count}-${name}`);
}

export function put(bytes: Buffer, name?: string): string {
  const path = freshPath(name);
  writeFileSync(path, bytes);
  return path;
}

export interface Signed {
  readonly input: string;
  readonly output: string;
  readonly result: SignedFile;
}

/** Signs a file, with RSA-2048 unless said otherwise. */
export function sign(input: string, signer: Signer = pki().signer('rsa-2048')): Signed {
  const output = freshPath('signed.pdf');
  const result = signPades({ format: 'Pades', input, output, signer, at: Date.now() });
  return { input, output, result };
}

/** Our own verdict, with everything asked for that can be. */
export function judge(signed: Signed, signer: Signer = pki().signer('rsa-2048')): VerificationReport {
  return verifyPades({
    format: 'Pades',
    path: signed.output,
    signer: signer.fingerprint,
    content: signed.result.input,
    anchors: [pki().root.certificate],
    at: Date.now(),
  });
}

/** Names of the failed checks of a file on its own. */
export function failedChecks(bytes: Buffer): readonly string[] {
  const report = verifyPades({
    format: 'Pades',
    path: put(bytes, 'judged.pdf'),
    anchors: [pki().root.certificate],
    at: Date.now(),
  });
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name);
}

/** Signed bytes and CMS of the last /ByteRange of a file, taken apart without the code under test. */
export function takeApart(pdf: Buffer): { readonly content: Buffer; readonly cms: Buffer } {
  const ranges = [...pdf.toString('latin1').matchAll(/\/ByteRange\s*\[0 (\d+) (\d+) (\d+)\]/g)];
  const [, first, second, rest] = (ranges.at(-1) ?? []).map(Number);
  if (first === undefined || second === undefined || rest === undefined) throw new Error('no /ByteRange');
  const hex = pdf.toString('latin1', first + 1, second - 1);
  const der = Buffer.from(hex, 'hex');
  // Two length octets after 30 82: every CMS here is between 256 and 65535 bytes long.
  const cms = der.subarray(0, 4 + der.readUInt16BE(2));
  return { content: Buffer.concat([pdf.subarray(0, first), pdf.subarray(second, second + rest)]), cms };
}

/**
 * Every program accepts the newest of `signatures` signatures, and the file is no worse than it was.
 * @param options.mutool false for a file with bytes before its header: mutool counts byte ranges from the header,
 * all others from the first byte
 */
export async function accepted(
  t: ExecutionContext,
  signed: Signed,
  signatures = 1,
  options: { readonly mutool: boolean } = { mutool: true },
): Promise<void> {
  const original = readFileSync(signed.input);
  const pdf = readFileSync(signed.output);
  t.true(pdf.subarray(0, original.length).equals(original), 'the original is a prefix');

  const verdicts = await pdfsig(signed.output, pki());
  t.is(verdicts.length, signatures);
  const newest = verdicts.filter(({ coversWholeFile }) => coversWholeFile);
  t.deepEqual(
    newest.map(({ ok }) => ok),
    [true],
    JSON.stringify(verdicts),
  );
  t.true(
    verdicts.every(({ okEarlier }) => okEarlier),
    JSON.stringify(verdicts),
  );

  if (options.mutool) {
    const judged = await mutool(signed.output);
    t.is(judged.filter(({ unchanged }) => unchanged).length, 1, JSON.stringify(judged));
    t.is(judged.filter(({ editedSince }) => editedSince).length, signatures - 1, JSON.stringify(judged));
  }

  const before = await qpdf(signed.input);
  const after = await qpdf(signed.output);
  t.true(after.exit <= before.exit, after.text);

  const { content, cms } = takeApart(pdf);
  const signature = put(cms, 'sig.der');
  const verdict = await opensslCms({ signature, content: put(content, 'tbs.bin'), ca: pki().rootFile });
  t.true(verdict.ok, verdict.text);
  const printed = await opensslCmsPrint(signature);
  t.true(printed.includes('1.2.840.113549.1.9.16.2.47'));
  t.false(printed.includes('signingTime'));
}
