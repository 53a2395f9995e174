/** Results of the second implementation for the engine's signatures, and for copies with one changed byte. */
import { readFileSync, writeFileSync } from 'node:fs';
import { signAsic, signFile, signFileAtLevel, signPadesSeries, validateFile } from '@sealwright/signatures';
import test from 'ava';
import type { DigestName, SignFileRequest } from '#crypto/core/types.js';
import { samplePdf } from '../../bench/samples.ts';
import { compareReports, type IndependentFormat, verifyIndependently } from '../../independent/index.ts';
import { authority, file, NOW, ORDER, REPORT, twoInputs } from '../crypto/asic/container-harness.ts';
import { type KeyKind, pki } from '../pki/pki.ts';

const CONTENT = {
  Pades: samplePdf(),
  Cades: Buffer.from('One hundred barrels.'),
  Xades: Buffer.from('<order xmlns="urn:x"><item n="1">barrels</item></order>'),
};

function request(
  format: keyof typeof CONTENT,
  kind: KeyKind,
  digest: DigestName = 'sha256',
  more: Partial<SignFileRequest> = {},
): SignFileRequest {
  const input = file(CONTENT[format]);
  return { format, input, output: file(), signer: pki().signer(kind), digest, at: NOW, ...more };
}

async function verdicts(format: IndependentFormat, bytes: Buffer, content?: Buffer): Promise<string> {
  const { signatures } = await verifyIndependently({
    format,
    bytes,
    ...(content && { content }),
    at: NOW,
  });
  return signatures.map(({ kind, verdict }) => `${kind} ${verdict}`).join(', ');
}

/** Returns a copy in which the byte before `mark` is changed. */
function damaged(bytes: Buffer, mark: string): Buffer {
  const copy = Buffer.from(bytes);
  const at = copy.indexOf(mark);
  if (at < 0) throw new Error(`no ${mark}`);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

const MARK = { Pades: '%PDF', Cades: 'barrels', Xades: 'barrels' };

for (const format of ['Pades', 'Cades', 'Xades'] as const) {
  for (const kind of ['rsa-2048', 'p-256', 'p-384', 'p-521'] as const) {
    test(`a second implementation accepts ${format} by ${kind} with every digest, and refuses changed content`, async (t) => {
      for (const digest of ['sha256', 'sha384', 'sha512'] as const) {
        const asked = request(format, kind, digest);
        signFile(asked);
        const bytes = readFileSync(asked.output);
        t.is(await verdicts(format, bytes), 'signature valid', digest);
        t.is(await verdicts(format, damaged(bytes, MARK[format])), 'signature invalid', digest);
      }
    });
  }
}

test('a second implementation judges XML in tables of one byte, except where programs decode them differently', async (t) => {
  for (const [encoding, text, verdict] of [
    ['windows-1250', '\x9f\xf3', 'valid'],
    ['ISO-8859-2', '\xbc', 'valid'],
    ['ISO-8859-1', '\xe9', 'valid'],
    ['windows-1252', '\xe9', 'valid'],
    ['windows-1252', '\x80', 'not-comparable'],
    ['Shift_JIS', '\x93\xfa', 'not-comparable'],
  ] as const) {
    const document = Buffer.from(
      `<?xml version="1.0" encoding="${encoding}"?><order>${text}</order>`,
      'latin1',
    );
    const asked = { ...request('Xades', 'p-256'), input: file(document) };
    signFile(asked);
    t.is(
      await verdicts('Xades', readFileSync(asked.output)),
      `signature ${verdict}`,
      `${encoding} ${verdict}`,
    );
  }
});

test('a detached CMS signature and one in PEM armor are accepted, and refused over other content', async (t) => {
  const asked = request('Cades', 'p-256', 'sha256', { cades: { detached: true, armor: 'pem' } });
  signFile(asked);
  const bytes = readFileSync(asked.output);
  t.is(await verdicts('Cades', bytes, CONTENT.Cades), 'signature valid');
  t.is(await verdicts('Cades', bytes, Buffer.from('something else')), 'signature invalid');
  t.is(await verdicts('Cades', bytes), 'signature not-comparable');
});

test('a changed signature value is refused in every format', async (t) => {
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    const asked = request(format, 'rsa-2048');
    signFile(asked);
    const bytes = readFileSync(asked.output);
    const { signatures } = await verifyIndependently({ format, bytes, at: NOW });
    const value = Buffer.from(signatures[0]?.value ?? '', 'base64');
    const text = { Pades: value.toString('hex'), Cades: value, Xades: value.toString('base64') }[format];
    let at = bytes.indexOf(text);
    if (at < 0) at = bytes.indexOf(String(text).toUpperCase());
    t.true(at > 0, format);
    // A digit, which differs in hexadecimal and in Base64; letters of either case may mean the same.
    const digit = bytes[at + 40] === 0x30 ? 0x31 : 0x30;
    bytes[at + 40] = format === 'Cades' ? (bytes[at + 40] ?? 0) ^ 1 : digit;
    t.is(await verdicts(format, bytes), 'signature invalid', format);
  }
});

test('all of 40 signatures of a PDF are judged', async (t) => {
  const asked = request('Pades', 'p-256');
  const steps = Array.from({ length: 40 }, (_, index) => ({ at: NOW, pades: { fieldName: `S${index}` } }));
  await signPadesSeries(asked, steps);
  t.is(await verdicts('Pades', readFileSync(asked.output)), Array(40).fill('signature valid').join(', '));
});

test('all of 12 signatures of an XML document are judged', async (t) => {
  const orders = Array.from({ length: 12 }, (_, index) => `<order Id="o${index}">${index}</order>`);
  let input = file(`<orders>${orders.join('')}</orders>`);
  for (const index of orders.keys()) {
    const xades = { packaging: 'element', elementId: `o${index}` } as const;
    const asked = request('Xades', 'p-256', 'sha256', { input, xades });
    signFile(asked);
    input = asked.output;
  }
  t.is(await verdicts('Xades', readFileSync(input)), Array(12).fill('signature valid').join(', '));
});

test('signature and document time-stamps are verified too', async (t) => {
  const { services, pki: made } = await authority();
  for (const format of ['Pades', 'Cades'] as const) {
    const asked = { ...request(format, 'p-256'), signer: made.signer('p-256'), level: 'LTA' as const };
    await signFileAtLevel(asked, services);
    const found = await verdicts(format, readFileSync(asked.output));
    t.true(found.startsWith('signature valid, signature-timestamp valid'), found);
    if (format === 'Pades') t.true(found.endsWith('document-timestamp valid'), found);
  }
});

test('containers are verified through their manifest, and XML signatures of containers are not comparable', async (t) => {
  const signer = pki().signer('p-256');
  for (const kind of ['S', 'E'] as const) {
    const output = file();
    const inputs = kind === 'S' ? [{ path: file(REPORT), name: 'a.txt' }] : twoInputs();
    await signAsic({ kind, format: 'Cades', inputs, output, signer, at: NOW });
    const bytes = readFileSync(output);
    t.is(await verdicts('Asic', bytes), 'signature valid', kind);
    t.is(await verdicts('Asic', damaged(bytes, 'One hundred')), 'signature invalid', kind);
  }
  const output = file();
  await signAsic({ kind: 'E', format: 'Xades', inputs: twoInputs(), output, signer, at: NOW });
  t.is(await verdicts('Asic', readFileSync(output)), 'signature not-comparable');
});

test('algorithms, transforms and documents that a library does not support are not comparable, and never a disagreement', async (t) => {
  const path = { elementPath: '/x:order/x:item', elementNamespaces: [{ prefix: 'x', uri: 'urn:x' }] };
  const cases: readonly [IndependentFormat, SignFileRequest][] = [
    ['Cades', request('Cades', 'ed25519', 'sha512')],
    ['Xades', request('Xades', 'p-256', 'sha256', { xades: { coSignable: true } })],
    ['Xades', request('Xades', 'p-256', 'sha256', { xades: { packaging: 'detached' } })],
    [
      'Xades',
      request('Xades', 'p-256', 'sha256', { xades: { packaging: 'element', coSignable: true, ...path } }),
    ],
    ['Xades', { ...request('Xades', 'p-256'), input: file('<r><?note x?>y</r>') }],
    ['Xades', { ...request('Xades', 'p-256'), input: file(`<r>${'x'.repeat(3 << 20)}</r>`) }],
  ];
  for (const [format, asked] of cases) {
    signFile(asked);
    t.is(
      await verdicts(format, readFileSync(asked.output)),
      'signature not-comparable',
      JSON.stringify(asked.xades),
    );
  }
  t.is(await verdicts('Pades', Buffer.from('%PDF-1.4 nothing')), '');
  t.is(await verdicts('Cades', Buffer.from('no CMS')), 'signature not-comparable');
  t.is(await verdicts('Asic', Buffer.from('no ZIP')), 'signature not-comparable');
});

test('the two implementations agree on every format, and a difference between them is a disagreement', async (t) => {
  const trust = { anchors: [pki().root.certificate], intermediates: [], revocation: 'none' } as const;
  for (const format of ['Pades', 'Cades', 'Xades'] as const) {
    const asked = request(format, 'p-256');
    signFile(asked);
    const good = readFileSync(asked.output);
    const bad = damaged(good, MARK[format] === '%PDF' ? '/Type' : MARK[format]);
    const badPath = file();
    writeFileSync(badPath, bad);
    const ours = await validateFile({ format, path: asked.output, at: NOW, trust });
    const oursOfBad = await validateFile({ format, path: badPath, at: NOW, trust });
    const theirs = await verifyIndependently({ format, bytes: good, at: NOW });
    const theirsOfBad = await verifyIndependently({ format, bytes: bad, at: NOW });
    t.is(compareReports(ours.signatures, theirs).verdict, 'agrees', format);
    t.is(compareReports(oursOfBad.signatures, theirsOfBad).verdict, 'agrees', format);
    t.is(compareReports(ours.signatures, theirsOfBad).verdict, 'disagrees', format);
    t.is(compareReports(oursOfBad.signatures, theirs).verdict, 'disagrees', format);
  }
  t.true(ORDER.length > 0);
});
