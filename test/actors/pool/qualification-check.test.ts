/** Demands on what a job has just signed: not on what was there before, and only with known revocation. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addCadesSigner, type EvidenceSource, signFile } from '@sealwright/signatures';
import test from 'ava';
import { NO_EVIDENCE } from '#crypto/evidence/authorities.js';
import { readTrustedList } from '#crypto/qualification/trusted-list.js';
import { poolOptions } from '../../../actors/pool/pool-options.ts';
import { assertQualified } from '../../../actors/pool/qualification-check.ts';
import type { PoolTask } from '../../../actors/pool/tasks.ts';
import { type OutputCheck, verifyOutput } from '../../../actors/pool/verify-output.ts';
import { PLAIN_FORM } from '../../../actors/shared/files/output-names.ts';
import type { Profile } from '../../../actors/shared/signing/profiles.ts';
import { NO_TRUST } from '../../../actors/shared/signing/trust-options.ts';
import { AT, authorityOf, listText, providerText } from '../../crypto/trust-lists/own-lists.ts';
import type { TestSigner } from '../../pki/pki.ts';
import { makeCrl } from '../../pki/revocation-answers.ts';

const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'sealwright-demand-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

const authority = authorityOf('BE');
const signer = authority.issue(['compliance', 'signature', 'device']);
const list = readTrustedList(Buffer.from(listText({ providers: providerText(authority.certificate) })));
const crl = makeCrl({ issuer: authority, thisUpdate: AT - DAY, nextUpdate: AT + DAY, revoked: new Map() });
const evidence = { ...NO_EVIDENCE, crls: [crl] };
const online: EvidenceSource = {
  collect: () => Promise.resolve(evidence),
  gather: () => Promise.resolve({ evidence, problems: [] }),
};

const path = (name: string) => join(folder, name);
const staged = path('staged.p7m');
signFile({ format: 'Cades', input: Buffer.from('an order'), output: staged, signer, at: AT - 60_000 });
/** The signing times in CMS. */
const OLD = '260531235900Z';
const NEW = '260601000000Z';

/** Adds another signature, which stands before the old one or after it: DER sorts them. */
function coSigned(isFirst: boolean): string {
  for (;;) {
    const output = path(`${randomUUID()}.p7m`);
    addCadesSigner({ input: staged, output, signer, at: AT });
    const bytes = readFileSync(output);
    if (bytes.indexOf(NEW) < bytes.indexOf(OLD) === isFirst) return output;
  }
}

/** Changes a signing time in a copy, which breaks that signature. */
function broken(file: string, time: string): string {
  const output = `${file}.${time}`;
  const bytes = readFileSync(file);
  bytes.write('1Z', bytes.indexOf(time) + time.length - 2);
  writeFileSync(output, bytes);
  return output;
}

function checkOf(file: string, more: Partial<OutputCheck> = {}): OutputCheck {
  const profile = {
    name: 'p',
    signer,
    choices: { coSign: true },
    form: PLAIN_FORM,
    verify: true,
    verifyIndependently: false,
    demand: 'QESig',
    compareContent: true,
    anchors: [],
    services: {},
  } as const;
  return {
    format: 'Cades',
    path: file,
    fileName: 'a.p7m',
    stagedPath: staged,
    content: null,
    profile,
    trust: NO_TRUST,
    remote: false,
    at: AT,
    ...more,
  };
}

const profiles = { byName: new Map(), trust: NO_TRUST, lists: () => ({ listOf: () => list }) };

function judge(file: string, more: Partial<OutputCheck> = {}, source: EvidenceSource | undefined = online) {
  return assertQualified(checkOf(file, more), profiles, source);
}

for (const isFirst of [true, false])
  test(`a demand is judged by the new signature, where it is the ${isFirst ? 'first' : 'last'}`, async (t) => {
    const file = coSigned(isFirst);
    await t.notThrowsAsync(judge(file));
    const unmet = { code: 'verification.qualification', message: /NotAdES/ };
    await t.throwsAsync(judge(broken(file, NEW)), unmet);
    await t.notThrowsAsync(judge(broken(file, OLD), { stagedPath: broken(staged, OLD) }));
    await t.throwsAsync(judge(file, { stagedPath: file }), { message: /there is no new signature/ });
  });

const advanced = authority.issue(['compliance', 'signature']);
const order = path('order.xml');
writeFileSync(order, '<order/>');

function signedXml(by: TestSigner, input = order): string {
  const output = path(`${randomUUID()}.xml`);
  signFile({ format: 'Xades', input, output, signer: by, at: AT, xades: { coSignable: true } });
  return output;
}

test('the demand of an extended file is on every signature in it', async (t) => {
  const extended = { operation: 'Extend' } as const;
  const file = coSigned(true);
  await t.notThrowsAsync(judge(file, extended));
  await t.throwsAsync(judge(broken(file, OLD), extended), { message: /NotAdES/ });
  const both = signedXml(advanced, signedXml(signer));
  const xml = { ...extended, format: 'Xades', stagedPath: both } as const;
  await t.throwsAsync(judge(both, xml), { message: 'QESig is required, and this is AdESig-QC.' });
  await t.notThrowsAsync(judge(signedXml(signer), xml));
});

test('the demand of a remote profile is on what the portal added, by whatever certificate', async (t) => {
  const remote = (stagedPath: string) => ({ remote: true, format: 'Xades', stagedPath }) as const;
  await t.notThrowsAsync(judge(signedXml(signer), remote(order)));
  const unmet = { message: 'QESig is required, and this is AdESig-QC.' };
  await t.throwsAsync(judge(signedXml(advanced), remote(order)), unmet);
  const earlier = signedXml(advanced);
  await t.notThrowsAsync(judge(signedXml(signer, earlier), remote(earlier)), 'the one before does not count');
  await t.throwsAsync(judge(signedXml(advanced, signedXml(signer)), remote(order)), unmet);
  const none = { message: /there is no new signature/ };
  await t.throwsAsync(judge(earlier, remote(earlier)), none);
  // CMS comes back beside the file.
  const cms = path('beside.p7s');
  signFile({ format: 'Cades', input: order, output: cms, signer, at: AT, cades: { detached: true } });
  await t.notThrowsAsync(judge(cms, { remote: true, stagedPath: order }));
  await t.throwsAsync(judge(cms, { remote: true, stagedPath: staged }), { message: /NotAdES|INDETERMINATE/ });
});

test('the output is read once for its verification and for the demand', async (t) => {
  const file = signedXml(signer);
  const check = checkOf(file, { remote: true, format: 'Xades', stagedPath: order });
  await verifyOutput(check);
  // What is gone can't be read again.
  rmSync(file);
  await t.notThrowsAsync(assertQualified(check, profiles, online));
});

test('without an answer about revocation no demand is met, and the message says so', async (t) => {
  const silent: EvidenceSource = {
    collect: () => Promise.resolve(NO_EVIDENCE),
    gather: () => Promise.resolve({ evidence: NO_EVIDENCE, problems: [] }),
  };
  await t.throwsAsync(judge(coSigned(true), {}, silent), {
    code: 'verification.qualification',
    message: /INDETERMINATE-QESig.*nothing says whether .* was revoked/,
  });
});

test('releases of profiles with a demand go to the threads that wait for authorities', (t) => {
  const profile = { name: 'p', method: 'RemoteSigner', verify: true, demand: 'QESig', anchors: [] };
  const other = { ...profile, name: 'other', demand: undefined };
  const { waitsForNetwork } = poolOptions(
    { profiles: [profile, other] as unknown as readonly Profile[] },
    { processing: folder, output: folder, error: folder, faults: '' },
  );
  const isWaiting = (of: string) =>
    waitsForNetwork?.({ task: 'release', profile: of } as unknown as PoolTask);
  t.true(isWaiting('p'));
  t.false(isWaiting('other'));
});
