/** Statements of a signer about itself. Source: EN 319 122-1 §5.2.6, EN 319 132-1 §5.2.6. */
import { readFileSync } from 'node:fs';
import {
  addCadesSigner,
  beginSigning,
  finishSigning,
  type SignatureFormat,
  type SignatureLevel,
  type SignatureRecord,
  signAsic,
  signFile,
  signFileAtLevel,
  validateFile,
} from '@sealwright/signatures';
import test from 'ava';
import { readWhole } from '#crypto/asn1/read.js';
import { oid, sequence, setOf, tlv } from '#crypto/asn1/write.js';
import { claimedRolesOf } from '#crypto/cms/attribute-checks.js';
import { samplePdf } from '../../bench/samples.ts';
import { opensslCms, withTools, xmlsec1 } from '../verifiers/index.ts';
import { authority, file, NOW } from './asic/container-harness.ts';

const ROLE = 'Signed for Ana & "Bo" <ana@example.org> — ação, 漢字, 😀; evidence: q/+z=';
const CONTENT = { Pades: samplePdf(), Cades: Buffer.from('text'), Xades: Buffer.from('<a>é</a>') };

async function judged(format: SignatureFormat, path: string, content?: string): Promise<SignatureRecord[]> {
  const { pki } = await authority();
  const trust = { anchors: [pki.root.certificate], intermediates: [], revocation: 'soft' } as const;
  const given = content === undefined ? {} : { content };
  const report = await validateFile({ format, path, at: NOW + 3_600_000, trust, ...given });
  return [...report.signatures];
}

const verdictOf = (records: readonly SignatureRecord[]) =>
  records.map(({ indication, claimedRoles, results }) => ({
    indication,
    claimedRoles,
    warnings: results.warnings.map(({ type }) => type),
  }));

for (const level of ['B', 'LTA'] satisfies SignatureLevel[]) {
  test(`every format carries a claimed role at level ${level}, and nothing else changes in the report`, async (t) => {
    const { pki, services } = await authority();
    for (const format of ['Pades', 'Cades', 'Xades'] as const) {
      const request = { format, input: file(CONTENT[format]), signer: pki.signer('p-256'), at: NOW, level };
      const outputs = { with: file(), without: file() };
      await signFileAtLevel({ ...request, output: outputs.with, claimedRole: ROLE }, services);
      await signFileAtLevel({ ...request, output: outputs.without }, services);
      const [plain] = verdictOf(await judged(format, outputs.without));
      t.deepEqual(plain?.claimedRoles, undefined);
      t.deepEqual(
        verdictOf(await judged(format, outputs.with))[0],
        { ...plain, indication: 'TOTAL-PASSED', claimedRoles: [ROLE] } as never,
        format,
      );
    }
  });
}

test('a role that is changed afterwards breaks the signature', async (t) => {
  const { pki } = await authority();
  for (const format of ['Cades', 'Xades'] as const) {
    const output = file();
    const input = file(CONTENT[format]);
    signFile({ format, input, output, signer: pki.signer('p-256'), at: NOW, claimedRole: 'for Ana' });
    const bytes = readFileSync(output);
    bytes.write('for Bob', bytes.indexOf('for Ana'));
    const [record] = await judged(format, file(bytes));
    t.is(record?.indication, 'TOTAL-FAILED', format);
    t.deepEqual(record?.claimedRoles, ['for Bob']);
  }
});

withTools(
  test,
  'openssl',
  'xmlsec1',
)('other programs accept signatures with a role', async (t) => {
  const { pki } = await authority();
  const signer = pki.signer('rsa-2048');
  const cms = { format: 'Cades', input: file(CONTENT.Cades), output: file(), signer, at: NOW } as const;
  signFile({ ...cms, claimedRole: ROLE });
  t.true((await opensslCms({ signature: cms.output, ca: pki.rootFile })).ok);
  const latin = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>\xe9</a>', 'latin1');
  for (const document of [CONTENT.Xades, latin]) {
    const xml = { format: 'Xades', input: file(document), output: file(), signer, at: NOW } as const;
    signFile({ ...xml, claimedRole: ROLE });
    t.true((await xmlsec1({ file: xml.output, ca: pki.rootFile })).ok);
    t.deepEqual((await judged('Xades', xml.output))[0]?.claimedRoles, [ROLE]);
  }
});

test('each signer has its own role, whatever was made with its key before', async (t) => {
  const { pki } = await authority();
  const signer = pki.signer('p-256');
  const input = file(CONTENT.Cades);
  const first = { format: 'Cades', input, output: file(), signer, at: NOW } as const;
  signFile({ ...first, cades: { detached: true } });
  let path = first.output;
  // The word for a missing text is a text like any other.
  for (const claimedRole of ['undefined', 'for Ana', undefined]) {
    const output = file();
    addCadesSigner({
      input: path,
      content: input,
      output,
      signer,
      at: NOW,
      ...(claimedRole && { claimedRole }),
    });
    path = output;
  }
  const roles = (await judged('Cades', path, input)).map(({ claimedRoles = [] }) => claimedRoles.join());
  t.deepEqual(roles.sort(), ['', '', 'for Ana', 'undefined']);
});

test('two-step signatures and containers carry it too', async (t) => {
  const { pki, services } = await authority();
  const signer = pki.signer('p-256');
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    const input = file(CONTENT[format]);
    const output = file();
    const begun = await beginSigning({ format, input, signer, at: NOW, claimedRole: ROLE });
    const value = signer.key.sign(begun.toBeSigned, begun.algorithm);
    await finishSigning({ format, input, output, state: begun.state, value });
    t.deepEqual((await judged(format, output))[0]?.claimedRoles, [ROLE], format);
  }
  for (const format of ['Cades', 'Xades'] as const) {
    const output = file();
    const inputs = [{ path: file('text'), name: 'a.txt' }];
    await signAsic({ kind: 'E', format, inputs, output, signer, at: NOW, claimedRole: ROLE }, services);
    const {
      pki: { root },
    } = await authority();
    const trust = { anchors: [root.certificate], intermediates: [], revocation: 'soft' } as const;
    const report = await validateFile({ format: 'Asic', path: output, at: NOW + 3_600_000, trust });
    t.deepEqual(report.signatures[0]?.claimedRoles, [ROLE], format);
  }
});

test('a role is one line of text of limited length, and a plain XML signature has none', async (t) => {
  const { pki } = await authority();
  const signer = pki.signer('p-256');
  const sign = (format: 'Pades' | 'Cades' | 'Xades', claimedRole: string, more = {}) =>
    signFile({ format, input: file(CONTENT[format]), output: file(), signer, at: NOW, claimedRole, ...more });
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    for (const bad of [
      '',
      'a\nb',
      'a\rb',
      'a\u0000',
      'a\u007f',
      '\ud800',
      '\u2028',
      '\ufffe',
      'a'.repeat(2001),
    ])
      t.throws(() => sign(format, bad), { code: 'request.invalid' }, `${format} ${JSON.stringify(bad)}`);
    t.notThrows(() => sign(format, 'é'.repeat(2000)));
  }
  t.throws(() => sign('Xades', 'for Ana', { xades: { form: 'xmldsig' } }), { code: 'request.invalid' });
});

test('claimed attributes of both forms are read, and odd ones are passed over', (t) => {
  const utf8 = (text: string) => tlv(0x0c, Buffer.from(text));
  const claimed = (...texts: string[]) =>
    tlv(0xa0, sequence(...texts.map((text) => sequence(oid('2.5.4.41'), setOf([utf8(text)])))));
  const rolesIn = (type: string, value: Buffer) =>
    claimedRolesOf({ values: new Map([[type, [readWhole(value)]]]) } as never);
  const [older, newer] = ['1.2.840.113549.1.9.16.2.18', '0.4.0.19122.1.1'] as const;
  t.deepEqual(rolesIn(newer, sequence(claimed('a', 'b'))), ['a', 'b']);
  t.deepEqual(rolesIn(older, sequence(claimed('a'), tlv(0xa1, sequence()), claimed('c'))), ['a', 'c']);
  for (const odd of [
    sequence(utf8('a')),
    sequence(tlv(0xa0, utf8('a'))),
    utf8('a'),
    sequence(tlv(0xa0, sequence(sequence()))),
  ])
    t.deepEqual(rolesIn(newer, odd), []);
});
