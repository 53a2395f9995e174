/** The look at what was signed, before it is published. Source: docs/batch-values.md §6.4. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addCadesSignerAtLevel,
  type SignFileRequest,
  signFile,
  signFileAtLevel,
} from '@sealwright/signatures';
import test, { type ExecutionContext } from 'ava';
import { type OutputCheck, verifyOutput } from '../../../actors/pool/verify-output.ts';
import type { WorkerProfileRuntime } from '../../../actors/pool/worker-profiles.ts';
import { PLAIN_FORM } from '../../../actors/shared/files/output-names.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { samplePdf } from '../../../bench/samples.ts';
import type { JobFormat } from '../../../machines/batch/job-context.ts';
import { startAuthority } from '../../pki/authority.ts';
import { pki } from '../../pki/pki.ts';

const folder = mkdtempSync(join(tmpdir(), 'sealwright-verify-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const CONTENT: { readonly [format in JobFormat]: Buffer } = {
  Pades: samplePdf(),
  Cades: Buffer.from('any file'),
  Xades: Buffer.from('<order><item>1</item></order>'),
};
const FORMATS = ['Pades', 'Cades', 'Xades'] as const;

let files = 0;
function fileWith(content: Uint8Array): string {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, content);
  return path;
}

function digest(bytes: Buffer): { readonly sha256: string; readonly length: number } {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), length: bytes.length };
}

const REMOTE: WorkerProfileRuntime = {
  name: 'portal',
  signer: undefined,
  choices: {},
  form: PLAIN_FORM,
  verify: true,
  verifyIndependently: false,
  compareContent: true,
  anchors: [],
  services: {},
};

/** A file as signed by somebody, and the check of it; both can be changed before it is asked. */
function signed(format: JobFormat, more: Partial<SignFileRequest> = {}): OutputCheck {
  const stagedPath = fileWith(CONTENT[format]);
  const path = `${stagedPath}.signed`;
  const signer = pki().signer('p-256');
  signFile({ format, input: stagedPath, output: path, signer, at: Date.now(), ...more });
  const content = digest(CONTENT[format]);
  return {
    format,
    path,
    fileName: 'a',
    stagedPath,
    content,
    profile: REMOTE,
    trust: NO_TRUST,
    remote: true,
    at: Date.now(),
  };
}

/** Everything the check says; empty when all is well. */
async function verdict(check: OutputCheck): Promise<string> {
  try {
    await verifyOutput(check);
    return '';
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return code === 'verification.failed' ? message : `${code} ${message}`;
  }
}

for (const format of FORMATS) {
  test(`${format} from the portal is accepted when every signature is intact, by any signer`, async (t) => {
    const check = signed(format, { signer: pki().untrustedSigner() });
    t.is(await verdict(check), '');
    const trust = { ...NO_TRUST, roots: [pki().root.certificate] };
    t.regex(await verdict({ ...check, trust }), /chain: The signer is not trusted/);
    t.is(await verdict({ ...signed(format), trust }), '', 'a signer below the root');
  });

  test(`${format} from the portal is refused unsigned, changed, or in another format`, async (t) => {
    const check = signed(format);
    t.regex(await verdict({ ...check, path: check.stagedPath }), /^Verification failed\. /);
    const bytes = Buffer.from(readFileSync(check.path));
    const at = format === 'Pades' ? 20 : bytes.indexOf(format === 'Cades' ? 'any file' : 'item');
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    t.regex(await verdict({ ...check, path: fileWith(bytes) }), /^Verification failed\. /);
    const other = format === 'Pades' ? 'Xades' : 'Pades';
    t.regex(await verdict({ ...check, format: other }), /^Verification failed\. /);
  });
}

for (const format of FORMATS) {
  test(`${format} from the portal with a valid signature over another file is refused`, async (t) => {
    const check = signed(format);
    const sent = digest(Buffer.concat([CONTENT[format], Buffer.from(' ')]));
    t.regex(await verdict({ ...check, content: sent }), /content: What the portal returned is not/);
    const open = { ...REMOTE, compareContent: false };
    t.is(await verdict({ ...check, content: sent, profile: open }), '', 'nobody asks for it');
  });
}

test('CMS from the portal is compared with the sent file, embedded or detached', async (t) => {
  for (const detached of [false, true]) {
    const check = signed('Cades', { cades: { detached } });
    t.is(await verdict(check), '', `detached: ${detached}`);
    t.regex(
      await verdict({ ...check, stagedPath: fileWith(Buffer.from('another file')) }),
      /^Verification failed\. /,
      `detached: ${detached}`,
    );
  }
});

function local(check: OutputCheck, more: Partial<WorkerProfileRuntime> = {}): OutputCheck {
  const signer = pki().signer('p-256');
  const profile = { ...REMOTE, name: 'local', signer, anchors: [pki().root.certificate], ...more };
  return { ...check, remote: false, profile };
}

for (const format of FORMATS) {
  test(`${format} signed locally must be by the certificate of the profile, over the staged file, with a path to its anchor`, async (t) => {
    const check = local(signed(format));
    t.is(await verdict(check), '');
    t.regex(await verdict({ ...check, content: digest(Buffer.from('other')) }), /content: /);
    t.regex(await verdict(local(check, { signer: pki().signer('p-384') })), /signer: /);
    t.regex(await verdict(local(check, { anchors: [pki().otherRoot.certificate] })), /chain: /);
    t.is(await verdict(local(check, { anchors: [] })), '', 'nobody asks for the chain');
  });
}

/** A local profile of that level, with an authority to trust. */
async function levels(t: ExecutionContext) {
  const authority = await startAuthority();
  t.teardown(() => authority.close());
  const signer = authority.pki.signer('p-256');
  const trust = { ...NO_TRUST, roots: [authority.pki.root.certificate], revocation: 'hard' as const };
  const check = async (format: JobFormat, made: 'T' | 'LT' | 'LTA', wanted: 'T' | 'LT' | 'LTA') => {
    const stagedPath = fileWith(CONTENT[format]);
    const path = `${stagedPath}.signed`;
    const request = { format, input: stagedPath, output: path, signer, at: Date.now(), level: made };
    await signFileAtLevel(request, authority.services);
    const profile = { ...REMOTE, signer, anchors: trust.roots, choices: { level: wanted } };
    const content = digest(CONTENT[format]);
    return {
      format,
      path,
      fileName: 'a',
      stagedPath,
      content,
      profile,
      trust,
      remote: false,
      at: Date.now(),
    };
  };
  return { authority, check };
}

test('a signature above level B must have all elements of its level', async (t) => {
  const { check } = await levels(t);
  for (const format of FORMATS) {
    for (const level of ['T', 'LT', 'LTA'] as const)
      t.is(await verdict(await check(format, level, level)), '', `${format} ${level}`);
    t.regex(
      await verdict(await check(format, 'T', 'LT')),
      /level: The signature is of level T, not LT/,
      format,
    );
    t.regex(await verdict(await check(format, 'LT', 'LTA')), /level: .*not LTA/, format);
    const plain = local(signed(format), { choices: { level: 'T' } });
    t.regex(await verdict(plain), /timestamp: There is no signature time-stamp/, format);
  }
});

test('with configured roots, the authority of a time-stamp must have a path to one of them', async (t) => {
  const { check } = await levels(t);
  for (const format of FORMATS) {
    const good = await check(format, 'T', 'T');
    t.is(await verdict(good), '', format);
    const foreign = { ...good, profile: { ...good.profile, anchors: [] } };
    const trust = { ...good.trust, roots: [pki().otherRoot.certificate] };
    t.regex(await verdict({ ...foreign, trust }), /timestamp\.chain: /, format);
    t.is(
      await verdict({ ...foreign, trust: { ...trust, roots: [] } }),
      '',
      `${format}: nobody is configured`,
    );
  }
});

test('without roots, a file that gets a signature above level B needs no path to the authority', async (t) => {
  const { authority, check } = await levels(t);
  const first = await check('Cades', 'T', 'T');
  const output = `${first.path}.twice`;
  const signer = authority.pki.signer('p-384');
  const request = { input: first.path, output, signer, at: Date.now(), level: 'T' as const };
  await addCadesSignerAtLevel(request, authority.services);
  const profile = { ...first.profile, signer, choices: { level: 'T' as const, coSign: true } };
  const both = { ...first, path: output, stagedPath: first.path, profile };
  t.is(await verdict(both), '');
  const anchors = [authority.pki.issuing.certificate];
  const local = { ...both, profile: { ...profile, anchors }, trust: NO_TRUST };
  t.is(await verdict(local), '');
  const higher = { ...local.profile, choices: { level: 'LT' as const, coSign: true } };
  t.regex(await verdict({ ...local, profile: higher }), /level: The signature is of level T, not LT/);
  t.regex(await verdict({ ...local, path: first.path }), /earlier: /);
});

test('a signature above level B over other content, or by another signer, is refused', async (t) => {
  const { check } = await levels(t);
  for (const format of FORMATS) {
    const good = await check(format, 'T', 'T');
    t.regex(await verdict({ ...good, content: digest(Buffer.from('x')) }), /content: /, format);
    const profile = { ...good.profile, signer: pki().signer('p-256') };
    t.regex(await verdict({ ...good, profile }), /signer: /, format);
  }
});
