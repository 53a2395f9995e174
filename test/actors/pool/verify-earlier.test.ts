/** Everything that becomes of signatures that a file has before ours: a broken one is no reason to fail, a harmed one is. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SignatureLevel, type SignFileRequest, signFileAtLevel } from '@sealwright/signatures';
import test from 'ava';
import { type OutputCheck, verifyOutput } from '../../../actors/pool/verify-output.ts';
import { PLAIN_FORM } from '../../../actors/shared/files/output-names.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { CONTENT, contract } from '../../crypto/pades/validation/attack-files.ts';
import { appendRevision, stream } from '../../crypto/pdf/build.ts';
import { startAuthority, type TestAuthority } from '../../pki/authority.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-earlier-'));
let authority: TestAuthority;
test.before(async () => {
  authority = await startAuthority();
});
test.after.always(async () => {
  await authority.close();
  rmSync(folder, { recursive: true, force: true });
});

let files = 0;
function fileWith(bytes: Uint8Array): string {
  const path = join(folder, `file-${++files}`);
  writeFileSync(path, bytes);
  return path;
}

type Format = 'Pades' | 'Xades';

async function signedBy(
  kind: 'p-256' | 'p-384',
  format: Format,
  bytes: Buffer,
  more: Partial<SignFileRequest> = {},
): Promise<Buffer> {
  const output = `${fileWith(Buffer.alloc(0))}.signed`;
  const signer = authority.pki.signer(kind);
  const request = { format, input: fileWith(bytes), output, signer, at: Date.now(), ...more };
  await signFileAtLevel(request, authority.services);
  return readFileSync(output);
}

/** A file somebody else has signed, and the same with one of the signed bytes changed. */
async function earlier(format: Format): Promise<{ readonly good: Buffer; readonly broken: Buffer }> {
  const plain = format === 'Pades' ? contract() : Buffer.from('<order><item Id="i">1</item></order>');
  const xades = { packaging: 'element', elementId: 'i' } as const;
  const good = await signedBy('p-384', format, plain, format === 'Pades' ? {} : { xades });
  const broken = Buffer.from(good);
  const at = format === 'Pades' ? broken.indexOf('Pay 100') : broken.indexOf('>1<') + 1;
  broken.writeUInt8(broken.readUInt8(at) ^ 1, at);
  return { good, broken };
}

/** Everything the check says; empty when all is well. */
async function verdict(
  format: Format,
  level: SignatureLevel,
  {
    staged,
    output,
    remote = false,
  }: { readonly staged: Buffer; readonly output: Buffer; readonly remote?: boolean | undefined },
): Promise<string> {
  const check: OutputCheck = {
    format,
    path: fileWith(output),
    fileName: 'a',
    stagedPath: fileWith(staged),
    content: { sha256: createHash('sha256').update(staged).digest('hex'), length: staged.length },
    profile: {
      name: 'one',
      signer: remote ? undefined : authority.pki.signer('p-256'),
      choices: { level },
      form: PLAIN_FORM,
      verify: true,
      verifyIndependently: false,
      compareContent: true,
      anchors: [authority.pki.root.certificate],
      services: {},
    },
    trust: { ...NO_TRUST, roots: [authority.pki.root.certificate] },
    remote,
    at: Date.now(),
  };
  try {
    await verifyOutput(check);
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

for (const format of ['Pades', 'Xades'] as const) {
  for (const level of ['B', 'T'] as const) {
    test(`a ${format} job of level ${level} is valid over an earlier valid or broken signature`, async (t) => {
      const { good, broken } = await earlier(format);
      for (const staged of [good, broken]) {
        const output = await signedBy('p-256', format, staged, { level });
        t.is(await verdict(format, level, { staged, output }), '');
      }
    });
  }
}

for (const level of ['B', 'LT'] as const) {
  test(`a PDF of level ${level} is not published when the new signature breaks an earlier valid one`, async (t) => {
    const { good, broken } = await earlier('Pades');
    const page = new Map([[CONTENT, stream('', 'BT /F1 24 Tf 40 150 Td (Pay 900) Tj ET')]]);
    const output = await signedBy('p-256', 'Pades', appendRevision(good, page), { level });
    t.regex(
      await verdict('Pades', level, { staged: good, output }),
      /earlier: The signature .* is not good any more/,
    );
    const spoiled = await signedBy('p-256', 'Pades', appendRevision(broken, page), { level });
    t.is(await verdict('Pades', level, { staged: broken, output: spoiled }), '', 'nothing was left to harm');
  });
}

test('a signature broken before the upload to the portal does not prevent publication of the result', async (t) => {
  const { good, broken } = await earlier('Pades');
  const back = await signedBy('p-256', 'Pades', broken);
  t.is(await verdict('Pades', 'B', { staged: broken, output: back, remote: true }), '');
  const twice = await signedBy('p-256', 'Pades', broken);
  t.regex(
    await verdict('Pades', 'B', { staged: twice, output: twice, remote: true }),
    /The portal added none/,
  );
  t.is(
    await verdict('Pades', 'B', {
      staged: good,
      output: await signedBy('p-256', 'Pades', good),
      remote: true,
    }),
    '',
  );
});
