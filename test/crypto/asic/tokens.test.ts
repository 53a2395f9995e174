/** Containers with time-stamp tokens instead of signatures, and with evidence records. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { manifestText } from '#crypto/asic/manifest.js';
import { DS, type ForgedReference, forge } from '../xades/forging.ts';
import {
  authority,
  file,
  type HandMade,
  handMade,
  made,
  ORDER,
  REPORT,
  remade,
  validated,
} from './container-harness.ts';

const mimeType = (kind: 's' | 'e'): HandMade => ({
  name: 'mimetype',
  bytes: Buffer.from(`application/vnd.etsi.asic-${kind}+zip`),
});
const sha256 = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest();
const REPORT_MEMBER: HandMade = { name: 'report.txt', bytes: REPORT };
const OTHER = Buffer.from(REPORT.toString('latin1').replace('One', 'Ten'), 'latin1');

async function tokenOver(bytes: Buffer): Promise<Buffer> {
  const { services } = await authority();
  const token = await services.timestamps?.stamp(sha256(bytes), 'sha256');
  if (token === undefined) throw new Error('no time-stamp authority');
  return token;
}

/** Returns the indication, and the scope of the only entry of the report. */
async function outcome(members: readonly HandMade[], extension = 'asics'): Promise<string> {
  const report = await validated(file(handMade(members), extension));
  const [entry] = report.signatures;
  return [report.indication, entry?.isTimestamp, entry?.scope.description].join(' ');
}

test.serial(
  'a container of one file under a time-stamp token is validated like one under a signature',
  async (t) => {
    const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
    t.is(await outcome([mimeType('s'), REPORT_MEMBER, token]), 'TOTAL-PASSED true report.txt');
    const changed = { ...REPORT_MEMBER, bytes: OTHER };
    t.regex(await outcome([mimeType('s'), changed, token]), /^TOTAL-FAILED|^INDETERMINATE/);
    const broken = { ...token, bytes: Buffer.from('no token') };
    t.regex(await outcome([mimeType('s'), REPORT_MEMBER, broken]), /^TOTAL-FAILED|^INDETERMINATE/);
  },
);

test.serial(
  'a container of several files under a token over a manifest is validated, and each file has to be what is listed',
  async (t) => {
    const proof = { name: 'META-INF/timestamp001.tst', mimeType: 'application/vnd.etsi.timestamp-token' };
    const order = { name: 'order.xml', bytes: ORDER };
    const members = [
      { name: 'report.txt', digest: sha256(REPORT) },
      { name: 'order.xml', digest: sha256(ORDER) },
    ];
    const bytes = Buffer.from(manifestText({ proof, digest: 'sha256', members }));
    const manifest = { name: 'META-INF/ASiCManifest001.xml', bytes };
    const token = { name: proof.name, bytes: await tokenOver(bytes) };
    const honest = [mimeType('e'), REPORT_MEMBER, order, manifest, token];
    t.is(await outcome(honest, 'asice'), 'TOTAL-PASSED true report.txt, order.xml');
    const changed = honest.map((one) => (one === REPORT_MEMBER ? { ...one, bytes: OTHER } : one));
    t.regex(await outcome(changed, 'asice'), /^TOTAL-FAILED/);
    const added = [...honest, { name: 'more.txt', bytes: REPORT }];
    t.regex(await outcome(added, 'asice'), /^INDETERMINATE|^TOTAL-FAILED/);
  },
);

test.serial('a container of one file may have several time-stamp tokens, each over the file', async (t) => {
  const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
  const second = { name: 'META-INF/timestamp002.tst', bytes: await tokenOver(REPORT) };
  const honest = [mimeType('s'), REPORT_MEMBER, token, second];
  t.is(await outcome(honest), 'TOTAL-PASSED true report.txt');
  const over = async (bytes: Buffer): Promise<HandMade> => ({ ...second, bytes: await tokenOver(bytes) });
  const more = { name: 'more.txt', bytes: REPORT };
  const forged: readonly (readonly HandMade[])[] = [
    [mimeType('s'), { ...REPORT_MEMBER, bytes: OTHER }, token, second],
    [mimeType('s'), REPORT_MEMBER, token, await over(OTHER)],
    [mimeType('s'), { ...REPORT_MEMBER, bytes: OTHER }, token, await over(OTHER)],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, bytes: Buffer.from('no token') }],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, bytes: Buffer.alloc(0) }],
    [mimeType('s'), REPORT_MEMBER, more, token, second],
    [mimeType('s'), { ...REPORT_MEMBER, name: 'in/report.txt' }, token, second],
    [mimeType('s'), token, second],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, name: 'META-INF/other.bin' }],
    [mimeType('s'), REPORT_MEMBER, token, { ...second, name: 'META-INF/signature.p7s' }],
    [mimeType('s'), REPORT_MEMBER, token, second, { ...second, name: 'META-INF/TimeStamp.tst' }],
  ];
  for (const [index, members] of forged.entries())
    t.notRegex(await outcome(members), /^TOTAL-PASSED/, String(index));
});

test.serial('the comment of a container may name the type of its one file', async (t) => {
  const commented = async (kind: 's' | 'e', text: string): Promise<string> => {
    const token = { name: 'META-INF/timestamp.tst', bytes: await tokenOver(REPORT) };
    const bytes = handMade([mimeType(kind), REPORT_MEMBER, token], { comment: Buffer.from(text) });
    return (await validated(file(bytes, 'asics'))).indication;
  };
  t.is(await commented('s', 'mimetype=text/plain'), 'TOTAL-PASSED');
  t.is(await commented('s', 'mimetype=application/vnd.etsi.asic-e+zip'), 'TOTAL-FAILED');
  t.not(await commented('e', 'mimetype=text/plain'), 'TOTAL-PASSED');
});

test.serial('a counter-signer may sign another file of the container', async (t) => {
  const plain = (uri: string, data: Buffer) => ({ uri, data, transforms: '' });
  const signer = (await authority()).pki.signer('p-256');
  const outer = forge({ signer, references: [plain('report.txt', REPORT)] });
  const [, value = ''] = /<ds:SignatureValue Id="sig-value">([^<]*)/.exec(outer) ?? [];
  const over = `<ds:SignatureValue xmlns:ds="${DS}" Id="sig-value">${value}</ds:SignatureValue>`;
  const type = 'http://uri.etsi.org/01903#CountersignedSignature';
  const countered = (references: readonly ForgedReference[]): Buffer => {
    const inner = forge({
      signer,
      id: 'counter',
      references: [{ uri: '#sig-value', type, data: over }, ...references],
    });
    const unsigned = `<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CounterSignature>${inner}</xades:CounterSignature></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`;
    const whole = outer.replace('</xades:QualifyingProperties>', `${unsigned}$&`);
    return Buffer.from(
      `<asic:XAdESSignatures xmlns:asic="http://uri.etsi.org/02918/v1.2.1#">${whole}</asic:XAdESSignatures>`,
    );
  };
  const verdictOf = async (
    signatures: Buffer,
    order = ORDER,
    more: readonly HandMade[] = [],
  ): Promise<string> => {
    const members = [
      mimeType('e'),
      REPORT_MEMBER,
      { name: 'order.xml', bytes: order },
      ...more,
      { name: 'META-INF/signatures.xml', bytes: signatures },
    ];
    return (await validated(file(handMade(members), 'asice'))).indication;
  };
  const honest = countered([plain('order.xml', ORDER)]);
  t.is(await verdictOf(honest), 'TOTAL-PASSED');
  const properties = (mark: '' | '/', names: readonly string[]): string =>
    names.map((name) => `<${mark}xades:${name}>`).join('');
  const outside = [
    'CompleteCertificateRefs',
    'QualifyingProperties',
    'UnsignedProperties',
    'UnsignedSignatureProperties',
  ];
  /** The counter-signature in a property that has none. */
  const elsewhere = Buffer.from(
    honest
      .toString()
      .replace('<xades:CounterSignature>', `${properties('', outside)}$&`)
      .replace('</xades:CounterSignature>', `$&${properties('/', outside.toReversed())}`),
  );
  for (const [name, found] of [
    ['another file', await verdictOf(honest, Buffer.from('<order/>'))],
    ['another file, the signature elsewhere', await verdictOf(elsewhere, Buffer.from('<order/>'))],
    ['a file of nobody', await verdictOf(honest, ORDER, [{ name: 'more.txt', bytes: REPORT }])],
    ['no reference', await verdictOf(countered([]))],
    ['another digest', await verdictOf(countered([plain('order.xml', REPORT)]))],
    ['another name', await verdictOf(countered([plain('orders.xml', ORDER)]))],
    [
      'another value',
      await verdictOf(Buffer.from(honest.toString().replace('Id="counter-value">', '$&AAAA'))),
    ],
  ] as const)
    t.not(found, 'TOTAL-PASSED', name);
});

test.serial('an evidence record is reported by name and not evaluated', async (t) => {
  const path = await made('E', 'Cades');
  const record = { name: 'META-INF/evidencerecord001.ers', bytes: Buffer.from('record') };
  const report = await validated(remade(path, (members) => [...members, record]));
  t.is(report.indication, 'TOTAL-PASSED');
  const [warning] = report.results.warnings.filter(({ type }) => type === 'evidence-record');
  t.is(warning?.detail, record.name);
  t.regex(warning?.message ?? '', /not evaluated/);
});
