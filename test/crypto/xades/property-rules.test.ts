/** Every property of the table in every list, and what the table does not name: nothing passes in silence. */
import { createHash } from 'node:crypto';
import test from 'ava';
import { PROPERTY_RULES } from '#crypto/xades/validation/property-rules.js';
import { pki } from '../../pki/pki.ts';
import { DS, enveloped, goodProperties, reportOn, SHA256, XADES } from './forging.ts';

const V141 = 'http://uri.etsi.org/01903/v1.4.1#';
const NAMESPACES = [
  ['1', XADES],
  ['2', V141],
] as const;

/** Returns whether a signature with this property in this list has a warning about unknown ones. */
function isUnknown(list: string, property: string): boolean {
  const ids = ['sig-r0'];
  const signed = (before: string) =>
    goodProperties('sig', ids).replace(new RegExp(`(?=</xades:${before}>)`), property);
  const forgery = {
    SignedSignatureProperties: () => enveloped('x', { properties: signed('SignedSignatureProperties') }),
    SignedDataObjectProperties: () => enveloped('x', { properties: signed('SignedDataObjectProperties') }),
    UnsignedSignatureProperties: () => enveloped('x', { unsigned: property }),
    UnsignedDataObjectProperties: () =>
      enveloped('x', { unsigned: 'UNSIGNED' }).replace(
        /<xades:UnsignedSignatureProperties>UNSIGNED<\/xades:UnsignedSignatureProperties>/,
        `<xades:UnsignedDataObjectProperties>${property}</xades:UnsignedDataObjectProperties>`,
      ),
  }[list];
  if (forgery === undefined) throw new Error(list);
  const { signatures, indication } = reportOn(forgery());
  const [signature] = signatures;
  if (signature === undefined || /FAILED/.test(indication)) return true;
  return signature.results.warnings.some(({ type }) => type === 'attributes.unknown');
}

const RULES: { readonly [list: string]: { readonly [local: string]: string } } = PROPERTY_RULES;
const ALL = Object.values(RULES).flatMap((rules) => Object.entries(rules));

for (const [list, rules] of Object.entries(RULES)) {
  test(`${list}: a property of the table is known in its namespace, all others are named`, (t) => {
    for (const [local] of ALL) {
      for (const [version, namespace] of NAMESPACES) {
        const versions = Object.hasOwn(rules, local) ? rules[local] : undefined;
        const isKnown = versions?.includes(version) === true;
        const property = `<q:${local} xmlns:q="${namespace}"></q:${local}>`;
        // Required content is missing, so that those which are read fail or warn otherwise.
        if (isKnown && list.startsWith('Signed')) continue;
        t.is(isUnknown(list, property), !isKnown, `${local} ${version}`);
      }
    }
    t.true(isUnknown(list, '<q:Other xmlns:q="urn:other"></q:Other>'));
    t.true(isUnknown(list, `<q:CounterSignatures xmlns:q="${XADES}"></q:CounterSignatures>`));
  });
}

test('the certificate of the signer need not be the first that the properties name, but has to be named', (t) => {
  const named = (der: Buffer): string =>
    `<xades:Cert><xades:CertDigest><ds:DigestMethod xmlns:ds="${DS}" Algorithm="${SHA256}"></ds:DigestMethod>` +
    `<ds:DigestValue xmlns:ds="${DS}">${createHash('sha256').update(der).digest('base64')}</ds:DigestValue></xades:CertDigest></xades:Cert>`;
  const { chain, certificate } = pki().signer('p-256');
  const [authority = certificate] = chain;
  const report = (...all: readonly string[]) => {
    const properties = goodProperties('sig', ['sig-r0']).replace(
      /(<xades:SigningCertificateV2>).*(?=<\/xades:SigningCertificateV2>)/,
      (_, start) => start + all.join(''),
    );
    const [signature] = reportOn(enveloped('x', { properties })).signatures;
    const warned = signature?.results.warnings.map(({ type }) => type) ?? [];
    return [signature?.indication, ...warned].join(' ');
  };
  t.is(report(named(certificate), named(authority)), 'TOTAL-PASSED');
  t.is(report(named(authority), named(certificate)), 'TOTAL-PASSED certificate.binding');
  t.is(
    report(named(authority), '<xades:Cert></xades:Cert>', named(certificate)),
    'TOTAL-PASSED certificate.binding',
  );
  t.regex(report(named(authority)), /^TOTAL-FAILED/);
});

test('a counter-signature holds exactly one signature, and is left open otherwise', (t) => {
  const counters = (inside: string) =>
    reportOn(enveloped('x', { unsigned: `<xades:CounterSignature>${inside}</xades:CounterSignature>` }));
  for (const inside of ['', ' ', 'text', '<xades:Cert></xades:Cert>', '<other xmlns="urn:o"></other>']) {
    const report = counters(inside);
    t.is(report.signatures[0]?.indication, 'TOTAL-PASSED', inside);
    t.is(report.indication, 'INDETERMINATE', inside);
    t.deepEqual(
      report.signatures[0]?.counterSignatures.map(({ indication }) => indication),
      ['INDETERMINATE'],
      inside,
    );
  }
});
