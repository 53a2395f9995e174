/** Encrypted PDFs that need a password: every revision of the standard security handler, by user and by owner. */
import { readFileSync } from 'node:fs';
import { augmentFile, signFile, signFileAtLevel, validateFile, verifyFile } from '@sealwright/signatures';
import ava from 'ava';
import { samplePdf } from '../../../bench/samples.ts';
import { pki } from '../../pki/pki.ts';
import { runTool, withTools } from '../../verifiers/tool.ts';
import { authority, file, NOW } from '../asic/container-harness.ts';

const test = withTools(ava, 'qpdf');

const METHODS: { readonly [name: string]: readonly string[] } = {
  'RC4, 40 bits': ['40', '--'],
  'RC4, 128 bits': ['128', '--use-aes=n', '--'],
  'AES, 128 bits': ['128', '--use-aes=y', '--'],
  'AES, 256 bits, revision 5': ['256', '--force-R5', '--'],
  'AES, 256 bits, revision 6': ['256', '--'],
};
const USER = 'Geheim-42';
const OWNER = 'Besitzer ß';

async function encrypted(method: readonly string[]): Promise<string> {
  const clear = file(samplePdf(), 'pdf');
  const path = file(undefined, 'pdf');
  const words = ['--allow-weak-crypto', '--password-mode=unicode', '--encrypt', USER, OWNER, ...method];
  const { exit: code, stderr } = await runTool('qpdf', [...words, clear, path]);
  if (code !== 0) throw new Error(stderr);
  return path;
}

for (const [name, method] of Object.entries(METHODS)) {
  test(`${name}: a file is signed with its password, and refused without it and with a wrong one`, async (t) => {
    const input = await encrypted(method);
    const request = { format: 'Pades', input, signer: pki().signer('p-256'), at: NOW } as const;
    for (const password of [USER, OWNER]) {
      const output = file(undefined, 'pdf');
      signFile({ ...request, output, password });
      const { ok, checks } = verifyFile({ format: 'Pades', path: output, at: NOW, password });
      t.true(ok, JSON.stringify(checks.filter((check) => !check.ok)));
      const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
      const report = await validateFile({ format: 'Pades', path: output, at: NOW, trust, password });
      t.is(report.indication, 'TOTAL-PASSED', JSON.stringify(report.results.errors));
      t.true(readFileSync(output).subarray(0, readFileSync(input).length).equals(readFileSync(input)));
      const { exit: code } = await runTool('qpdf', [`--password=${USER}`, '--check', output]);
      t.true(code === 0 || code === 3);
    }
    for (const [password, text] of [
      [undefined, 'needs a password'],
      ['wrong', 'the given password does not open it'],
    ] as const) {
      const error = t.throws(() =>
        signFile({ ...request, output: file(undefined, 'pdf'), ...(password && { password }) }),
      );
      t.is((error as { code?: string }).code, 'pdf.encrypted');
      t.true(error?.message.includes(text), error?.message);
      t.false(error?.message.includes('wrong') && password !== 'wrong');
    }
  });
}

test('a file with a password is signed at level LTA, renewed and validated with it, and a needless password is ignored', async (t) => {
  const { services, pki: made } = await authority();
  const input = await encrypted(METHODS['AES, 256 bits, revision 6'] ?? []);
  const output = file(undefined, 'pdf');
  const renewed = file(undefined, 'pdf');
  const clear = file(undefined, 'pdf');
  const request = { format: 'Pades', signer: made.signer('p-256'), at: NOW, password: USER } as const;
  await signFileAtLevel({ ...request, input, output, level: 'LTA' }, services);
  await augmentFile(
    { format: 'Pades', input: output, output: renewed, to: 'LTA', at: NOW, password: USER },
    services,
  );
  const trust = { anchors: [made.root.certificate], intermediates: [], revocation: 'soft' } as const;
  const report = await validateFile({
    format: 'Pades',
    path: renewed,
    at: Date.now() + 60_000,
    trust,
    password: USER,
  });
  t.is(report.indication, 'TOTAL-PASSED', JSON.stringify(report));
  t.is(report.signatures.find(({ isTimestamp }) => !isTimestamp)?.level, 'LTA');
  signFile({ ...request, input: file(samplePdf(), 'pdf'), output: clear });
  t.true(verifyFile({ format: 'Pades', path: clear, at: NOW }).ok);
});
