import { createHash } from 'node:crypto';
import test from 'ava';
import { childrenOf, encoded, readWhole } from '#crypto/asn1/read.js';
import { octetString, sequence, setOf, small, tlv } from '#crypto/asn1/write.js';
import { amendSignedData, aroundContent } from '#crypto/cms/amend.js';
import { unsignedAttribute } from '#crypto/cms/attributes-template.js';
import { buildSignedData, completeSignerInfo, prepareSignedData } from '#crypto/cms/build.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import type { Signer } from '#crypto/core/types.js';
import { digestIdentifier } from '#crypto/x509/signature-algorithms.js';
import { pki } from '../../pki/pki.ts';

const DIGEST = createHash('sha256').update('content').digest();

function build(signer: Signer = pki().signer('p-256')): Buffer {
  return buildSignedData({ signer, messageDigest: DIGEST, signingTime: Date.UTC(2031, 1, 1) });
}

/** The fields of the SignedData, encoded. */
function fields(der: Buffer): Buffer[] {
  const [, wrapped] = childrenOf(readWhole(der));
  const [signedData] = wrapped === undefined ? [] : childrenOf(wrapped);
  return signedData === undefined ? [] : childrenOf(signedData).map(encoded);
}

function sorted(elements: readonly Buffer[]): boolean {
  return elements.every((one, index) => index === 0 || Buffer.compare(elements[index - 1]!, one) <= 0);
}

test('an amendment that adds nothing new leaves the bytes unchanged', (t) => {
  const der = build();
  const { certificates, signers } = parseSignedData(der);
  t.true(amendSignedData(der, {}).equals(der));
  const same = {
    certificates,
    digestAlgorithms: [digestIdentifier('sha256')],
    unsigned: new Map([[0, signers[0]?.unsignedAttributes?.encodings ?? []]]),
  };
  t.true(amendSignedData(der, same).equals(der));
});

test('certificates and CRLs are added once and sorted, and no other field changes', (t) => {
  const der = build();
  const crl = sequence(octetString(Buffer.from('a list')));
  const more = { certificates: [pki().root.certificate, pki().root.certificate], crls: [crl, crl] };
  const amended = amendSignedData(der, more);
  const [version, digests, content, , signers] = fields(der);
  t.deepEqual(
    [0, 1, 2, 5].map((at) => fields(amended)[at]),
    [version, digests, content, signers],
  );
  const data = parseSignedData(amended);
  t.is(data.certificates.length, 3);
  t.true(sorted(data.certificates));
  t.deepEqual(data.crls, [crl]);
  t.true(amendSignedData(amended, more).equals(amended));
});

test('OCSP answers raise the version to 5 and are stored whole under their own format', (t) => {
  const basic = sequence(octetString(Buffer.from('an answer')));
  const amended = amendSignedData(build(), { ocsps: [basic] });
  t.true(fields(amended)[0]?.equals(small(5)));
  const [answer] = parseSignedData(amended).ocsps;
  t.is(
    answer?.toString('hex'),
    sequence(
      Buffer.from('0a0100', 'hex'),
      tlv(0xa0, sequence(Buffer.from('06092b0601050507300101', 'hex'), octetString(basic))),
    ).toString('hex'),
  );
  t.true(fields(build())[0]?.equals(small(1)));
});

test('an unsorted set keeps its order, and new elements come last', (t) => {
  const der = build();
  const [version, digests, content, certificates, signers] = fields(der);
  const backwards = tlv(0xa0, ...childrenOf(readWhole(certificates!)).map(encoded).reverse());
  const unsorted = sequence(
    Buffer.from('06092a864886f70d010702', 'hex'),
    tlv(0xa0, sequence(version!, digests!, content!, backwards, signers!)),
  );
  const before = parseSignedData(unsorted).certificates;
  t.false(sorted(before));
  const after = parseSignedData(amendSignedData(unsorted, { certificates: [pki().root.certificate] }));
  t.deepEqual(after.certificates, [...before, pki().root.certificate]);
});

test('unsigned attributes of one signer are replaced, and every other byte stays unchanged', (t) => {
  const signer = pki().signer('p-384');
  const request = { signer, digest: 'sha384', messageDigest: createHash('sha384').digest() } as const;
  const { toBeSigned, algorithm } = prepareSignedData(request);
  const second = completeSignerInfo(request, toBeSigned, signer.key.sign(toBeSigned, algorithm));
  const two = amendSignedData(build(), {
    signers: [second],
    digestAlgorithms: [digestIdentifier('sha384')],
  });
  const before = parseSignedData(two).signers;
  t.is(before.length, 2);
  t.is(childrenOf(readWhole(fields(two)[1]!)).length, 2);

  const first = unsignedAttribute('1.2.3.4', octetString(Buffer.from('first')));
  const other = unsignedAttribute('1.2.3.3', octetString(Buffer.from('second')));
  const value = before[1]?.signature;
  const once = amendSignedData(two, { unsigned: new Map([[1, [other, first]]]) });
  const after = parseSignedData(once).signers;
  const changed = after.find(({ signature }) => signature.equals(value!));
  const same = after.find(({ signature }) => !signature.equals(value!));
  t.true(same?.encoding.equals(before[0]!.encoding));
  t.deepEqual(changed?.unsignedAttributes?.encodings, [first, other]);
  t.true(sorted(after.map(({ encoding }) => encoding)));
  const kept = childrenOf(readWhole(changed!.encoding)).filter(({ tag }) => tag !== 0xa1);
  t.true(sequence(...kept.map(encoded)).equals(before[1]!.encoding));

  const place = after.findIndex(({ signature }) => signature.equals(value!));
  t.true(amendSignedData(once, { unsigned: new Map([[place, []]]) }).equals(two));
});

test('the header and trailer around the content rebuild the same SignedData', (t) => {
  const der = build();
  const { start, contentType, tail } = aroundContent(der);
  const body = sequence(start, sequence(contentType), tail);
  t.true(der.subarray(-body.length).equals(body));
});

test('bytes that are not SignedData are refused at any length', (t) => {
  const der = build();
  for (let length = 0; length < der.length; length += 7) {
    t.throws(() => amendSignedData(der.subarray(0, length), {}), { code: 'asn1.malformed' });
  }
  t.throws(() => amendSignedData(setOf([]), {}), { code: 'asn1.malformed' });
});
