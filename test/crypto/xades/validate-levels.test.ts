/** Time-stamps and evidence of XML signatures: proofs of existence and detection of changes. */
import test from 'ava';
import type { SignatureRecord } from '#crypto/core/validation-report.js';
import type { SignatureInfo } from '#crypto/validation/signature-info.js';
import { validateSignatures } from '#crypto/validation/validate-signature.js';
import { inspectXadesDocument } from '#crypto/xades/validate.js';
import { augmented, authority, closeAuthority, signAt } from './levels-harness.ts';

test.after.always(closeAuthority);

const DOCUMENT = '<a xmlns="urn:u" Id="x"><b>text</b></a>';
const factsOf = (bytes: Buffer | string): SignatureInfo =>
  inspectXadesDocument(Buffer.from(bytes)).signatures[0] as SignatureInfo;

/** Validates offline, with embedded evidence only, at the given time. */
async function judged(bytes: Buffer | string, at = Date.now() + 60_000): Promise<SignatureRecord> {
  const { trust } = await authority();
  const { anchors, intermediates = [] } = trust;
  const report = validateSignatures('Xades', inspectXadesDocument(Buffer.from(bytes)), {
    trust: { anchors, intermediates, revocation: 'hard' },
    at,
  });
  return report.signatures[0] as SignatureRecord;
}

const failedTypes = ({ timestamps }: SignatureInfo): string[] =>
  timestamps.flatMap(({ kind, findings }) =>
    findings.filter(({ status }) => status === 'failed').map(({ type }) => `${kind} ${type}`),
  );

test.serial(
  'an LTA signature is read with its time-stamps in the order of proof and its evidence',
  async (t) => {
    const { bytes } = await signAt(DOCUMENT, 'LTA');
    const facts = factsOf(bytes);
    t.is(facts.level, 'LTA');
    t.deepEqual(
      facts.timestamps.map(({ kind }) => kind),
      ['signature', 'archive'],
    );
    t.deepEqual(failedTypes(facts), []);
    t.true(facts.evidence.ocsps.length + facts.evidence.crls.length > 0);
    const record = await judged(bytes);
    t.is(record.indication, 'TOTAL-PASSED', JSON.stringify(record, undefined, 1));
    t.true(record.bestTime <= Date.now());
  },
);

test.serial('archive time-stamps over content that is not at hand keep their time', async (t) => {
  const packaging = { packaging: 'detached' } as const;
  const { bytes } = await signAt('some text', 'LTA', packaging, { extension: 'txt' });
  const record = await judged(bytes);
  t.is(record.subIndication, 'SIGNED_DATA_NOT_FOUND');
  const archive = record.timestamps.find(({ kind }) => kind === 'archive');
  t.is(archive?.indication, 'INDETERMINATE');
  t.is(archive?.genTime, factsOf(bytes).timestamps.at(-1)?.token?.genTime);
  t.true((archive?.genTime ?? 0) > Date.now() - 3_600_000);
});

test.serial('a value exchanged below its time-stamp fails by the time-stamp', async (t) => {
  const first = await signAt(DOCUMENT, 'T');
  const second = await signAt('<other/>', 'T');
  const stamp = /<xades:SignatureTimeStamp.*<\/xades:SignatureTimeStamp>/s;
  const other = stamp.exec(second.bytes.toString())?.[0] ?? '';
  const mixed = first.bytes.toString().replace(stamp, other);
  t.not(mixed, first.bytes.toString());
  t.deepEqual(failedTypes(factsOf(first.bytes)), []);
  t.deepEqual(failedTypes(factsOf(mixed)), ['signature timestamp.imprint']);
  t.is((await judged(mixed)).timestamps[0]?.indication, 'TOTAL-FAILED');
});

test.serial(
  'a time-stamp may name the value that it is over, and leave the name of its method empty',
  async (t) => {
    const text = (await signAt('<a Id="x"><b>text</b></a>', 'T')).bytes.toString();
    const value = /<ds:SignatureValue Id="([^"]+)"/.exec(text)?.[1] ?? '';
    const include = (id: string): string =>
      text.replace(/<xades:SignatureTimeStamp[^>]*>/, (tag) => `${tag}<xades:Include URI="#${id}"/>`);
    t.deepEqual(failedTypes(factsOf(include(value))), []);
    t.deepEqual(failedTypes(factsOf(include('x'))), ['signature timestamp.structure']);
    const stamp = text.indexOf('<xades:SignatureTimeStamp');
    const method = /<ds:CanonicalizationMethod[^>]* Algorithm="[^"]+"/;
    const empty = text.slice(stamp).replace(method, '<ds:CanonicalizationMethod Algorithm=""');
    t.not(empty, text.slice(stamp));
    t.deepEqual(failedTypes(factsOf(text.slice(0, stamp) + empty)), []);
  },
);

test.serial('revocation values that cannot be read are named', async (t) => {
  const text = (await signAt(DOCUMENT, 'LT')).bytes.toString();
  const named = async (bytes: string): Promise<string[]> =>
    (await judged(bytes)).results.warnings.flatMap(({ type, detail }) =>
      type === 'revocation.unreadable' ? [detail ?? ''] : [],
    );
  t.deepEqual(await named(text), []);
  const beside = (value: string): string =>
    text.replace(/<xades:Encapsulated(?:OCSP|CRL)Value/, (tag) => `${tag}>${value}</${tag.slice(1)}>${tag}`);
  t.deepEqual(await named(beside('MIICkgoBAKCCAgoKCgo=')), ['1 values']);
  t.deepEqual(await named(beside('not Base64')), ['1 values']);
});

test.serial('content of an archive time-stamp can be neither changed, removed nor reordered', async (t) => {
  const { bytes } = await signAt(DOCUMENT, 'LTA');
  const text = bytes.toString();
  t.deepEqual(failedTypes(factsOf(text)), []);
  const last = (pattern: RegExp): string => [...text.matchAll(pattern)].at(-1)?.[0] ?? '';
  const values = last(/<xades:CertificateValues.*?<\/xades:CertificateValues>/gs);
  const revocation = last(/<xades:RevocationValues.*?<\/xades:RevocationValues>/gs);
  t.true(values.length > 0 && revocation.length > 0);
  const changes = [
    text.replace(revocation, ''),
    text.replace(values + revocation, revocation + values),
    text.replace('</ds:Signature>', '<ds:Object>more</ds:Object></ds:Signature>'),
    text.replace('<b>text</b>', '<b>tent</b>'),
  ];
  for (const changed of changes) {
    t.not(changed, text);
    t.true(failedTypes(factsOf(changed)).includes('archive timestamp.imprint'), changed.slice(0, 80));
  }
  // Unsigned data may be added after the newest archive time-stamp.
  const later = text.replace(
    '</xades:UnsignedSignatureProperties>',
    `${values}</xades:UnsignedSignatureProperties>`,
  );
  t.deepEqual(failedTypes(factsOf(later)), []);
});

test.serial('a renewed archive time-stamp covers the previous one, and both are validated', async (t) => {
  const first = await signAt(DOCUMENT, 'LTA');
  const renewed = await augmented(first.path, 'LTA');
  const facts = factsOf(renewed.bytes);
  t.deepEqual(
    facts.timestamps.map(({ kind }) => kind),
    ['signature', 'archive', 'archive'],
  );
  t.deepEqual(failedTypes(facts), []);
  t.is((await judged(renewed.bytes)).indication, 'TOTAL-PASSED');
  const text = renewed.bytes.toString();
  const stamps = [...text.matchAll(/<xades141:ArchiveTimeStamp.*?<\/xades141:ArchiveTimeStamp>/gs)].map(
    ([one]) => one,
  );
  t.is(stamps.length, 2);
  const swapped = text
    .replace(stamps[0] ?? '', '@1')
    .replace(stamps[1] ?? '', stamps[0] ?? '')
    .replace('@1', stamps[1] ?? '');
  t.deepEqual(failedTypes(factsOf(swapped)), ['archive timestamp.imprint', 'archive timestamp.imprint']);
});

test.serial('older kinds of time-stamps are reported by name and prove nothing', async (t) => {
  const { bytes } = await signAt(DOCUMENT, 'T');
  const text = bytes.toString();
  const token =
    /<xades:EncapsulatedTimeStamp[^>]*>[^<]*<\/xades:EncapsulatedTimeStamp>/.exec(text)?.[0] ?? '';
  for (const local of ['SigAndRefsTimeStamp', 'RefsOnlyTimeStamp', 'ArchiveTimeStamp']) {
    const more = text.replace(
      '</xades:UnsignedSignatureProperties>',
      `<xades:${local} xmlns:xades="http://uri.etsi.org/01903/v1.3.2#">${token}</xades:${local}></xades:UnsignedSignatureProperties>`,
    );
    const facts = factsOf(more);
    t.is(facts.timestamps.length, 1);
    t.true(
      facts.findings.some(({ type, status }) => type === 'timestamp.outdated' && status === 'warning'),
      local,
    );
    t.is(facts.level, 'T');
  }
  t.false(factsOf(text).findings.some(({ type }) => type === 'timestamp.outdated'));
});

test.serial('a time-stamp with a missing or unreadable token counts as failed', async (t) => {
  const { bytes } = await signAt(DOCUMENT, 'T');
  const text = bytes.toString();
  const token = /<xades:EncapsulatedTimeStamp[^>]*>[^<]*<\/xades:EncapsulatedTimeStamp>/;
  for (const inside of [
    '',
    '<xades:EncapsulatedTimeStamp>AAAA</xades:EncapsulatedTimeStamp>',
    '<xades:EncapsulatedTimeStamp>*</xades:EncapsulatedTimeStamp>',
    '<xades:XMLTimeStamp></xades:XMLTimeStamp>',
  ]) {
    const facts = factsOf(text.replace(token, inside));
    t.deepEqual(failedTypes(facts), ['signature timestamp.structure'], inside);
    t.is(facts.level, 'B');
  }
  t.is(factsOf(text).level, 'T');
});
