import { createHash, sign } from 'node:crypto';
import test from 'ava';
import { ID, OID } from '#crypto/asn1/oids.js';
import { octetString, oid, setOf } from '#crypto/asn1/write.js';
import { ATTRIBUTE_RULES } from '#crypto/cms/attribute-rules.js';
import { attributeOf, bindingTo, forge } from '../forge.ts';
import { CONTENT, failedTypes, judged, parties, SIGNED, verdictOf } from '../judging.ts';

const OTHER = Buffer.from('Ten thousand barrels, to be paid in advance.\n');
const TST_INFO = '1.2.840.113549.1.9.16.1.4';

function forged(changes: Partial<Parameters<typeof forge>[0]> = {}): Buffer {
  return forge({ signer: parties().signer, content: CONTENT, at: SIGNED, ...changes });
}

/** Replaces the attributes of one type. */
function replaced(type: Buffer, ...instead: readonly Buffer[]) {
  return (honest: readonly Buffer[]) => [...honest.filter((one) => !one.includes(type)), ...instead];
}

test('a signature without signed attributes is verified and left open, and one over other content fails', (t) => {
  const record = judged(forged({ attributes: null }));
  t.is(verdictOf(record), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
  t.deepEqual(failedTypes(record.results), ['attributes.signed']);
  t.true(record.results.passedChecks.some(({ type }) => type === 'signature.value'));
  const other = judged(forged({ attributes: null }), { content: OTHER });
  t.is(verdictOf(other), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
  const unseen = judged(forged({ attributes: null }), { content: undefined });
  t.deepEqual(failedTypes(unseen.results), ['attributes.signed', 'digest.content']);
  const typed = judged(forged({ attributes: null, contentType: '1.2.840.113549.1.9.16.1.1' }));
  t.is(verdictOf(typed), 'TOTAL-FAILED: FORMAT_FAILURE', 'RFC 5652 §5.3');
  t.is(verdictOf(judged(forged())), 'TOTAL-PASSED');
});

test('signed attributes offered as content, with their own signature, are refused', (t) => {
  const { signer } = parties();
  let attributes = Buffer.alloc(0);
  let value = Buffer.alloc(0);
  const honest = forged({
    value: (signed) => {
      attributes = Buffer.from(signed);
      value = sign('sha256', signed, signer.key);
      return value;
    },
  });
  t.is(verdictOf(judged(honest)), 'TOTAL-PASSED');
  const trick = forged({ content: attributes, attributes: null, value: () => value, inside: attributes });
  t.is(verdictOf(judged(trick, { content: attributes })), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
});

test('signed content with the bytes of attributes gives no signature over other content', (t) => {
  const { signer } = parties();
  const digest = createHash('sha256').update(OTHER).digest();
  const planted = setOf([
    attributeOf(ID.contentType, ID.data),
    attributeOf(ID.messageDigest, octetString(digest)),
  ]);
  const value = sign('sha256', planted, signer.key);
  const trick = forged({
    content: OTHER,
    attributes: () => [
      attributeOf(ID.contentType, ID.data),
      attributeOf(ID.messageDigest, octetString(digest)),
    ],
    value: () => value,
  });
  const record = judged(trick, { content: OTHER, facts: { signingCertificate: 'required' } });
  t.is(verdictOf(record), 'INDETERMINATE: SIG_CONSTRAINTS_FAILURE');
  t.is(judged(trick, { content: OTHER }).level, undefined, 'without the demand it is no baseline signature');
});

test('attributes exchanged after signing make the value invalid', (t) => {
  const { signer } = parties();
  const digest = createHash('sha256').update(OTHER).digest();
  const record = judged(
    forged({
      attributes: replaced(ID.messageDigest, attributeOf(ID.messageDigest, octetString(digest))),
      value: () => {
        let honest = Buffer.alloc(0);
        forged({ value: (signed) => (honest = sign('sha256', signed, signer.key)) });
        return honest;
      },
    }),
    { content: OTHER },
  );
  t.is(verdictOf(record), 'TOTAL-FAILED: SIG_CRYPTO_FAILURE');
});

test('other content than the signed one is a hash failure, and missing content has a code of its own', (t) => {
  const der = forged();
  const other = judged(der, { content: OTHER });
  t.is(verdictOf(other), 'TOTAL-FAILED: HASH_FAILURE');
  t.deepEqual(failedTypes(other.results), ['digest.content']);
  t.is(verdictOf(judged(der, { content: undefined })), 'INDETERMINATE: SIGNED_DATA_NOT_FOUND');
});

test('a signature without a signed digest of the content is refused', (t) => {
  const record = judged(forged({ attributes: replaced(ID.messageDigest) }));
  t.is(verdictOf(record), 'TOTAL-FAILED: FORMAT_FAILURE');
});

test('an unsigned or different content type is refused', (t) => {
  const unsigned = judged(forged({ attributes: replaced(ID.contentType) }));
  t.is(verdictOf(unsigned), 'TOTAL-FAILED: FORMAT_FAILURE');
  t.deepEqual(failedTypes(unsigned.results), ['attributes.content-type']);

  const signedAsOther = replaced(ID.contentType, attributeOf(ID.contentType, oid(TST_INFO)));
  t.is(verdictOf(judged(forged({ attributes: signedAsOther }))), 'TOTAL-FAILED: FORMAT_FAILURE');

  const shownAsOther = forged({
    contentType: TST_INFO,
    attributes: replaced(ID.contentType, attributeOf(ID.contentType, ID.data)),
  });
  t.is(verdictOf(judged(shownAsOther)), 'TOTAL-FAILED: FORMAT_FAILURE');
});

test('a signed content type other than data passes without a baseline level, unless plain data is required', (t) => {
  const der = forged({ contentType: '1.3.6.1.4.1.99999.1' });
  const record = judged(der);
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.is(record.level, undefined);
  const strict = judged(der, { facts: { contentType: '1.2.840.113549.1.7.1' } });
  t.is(verdictOf(strict), 'TOTAL-FAILED: FORMAT_FAILURE');
});

test('a duplicate attribute is refused, even with equal values', (t) => {
  const digest = createHash('sha256').update(OTHER).digest();
  const twice: readonly Buffer[] = [
    attributeOf(ID.messageDigest, octetString(digest)),
    attributeOf(ID.contentType, ID.data),
    bindingTo(parties().ca.certificate),
  ];
  for (const attribute of twice) {
    const attributes = (honest: readonly Buffer[]) => [...honest, attribute];
    const own = judged(forged({ attributes: (honest) => [...attributes(honest), attribute] }));
    t.is(verdictOf(own), 'TOTAL-FAILED: FORMAT_FAILURE');
    t.deepEqual(failedTypes(own.results), ['attributes.signed']);
  }
  const extra = attributeOf(oid('1.2.3.4.5'), octetString(digest));
  for (const more of [[extra], [extra, extra]]) {
    const own = judged(forged({ attributes: (honest) => [...honest, ...more] }));
    t.is(verdictOf(own), 'TOTAL-PASSED');
    t.deepEqual(
      own.results.warnings.map(({ type }) => type),
      ['attributes.unknown'],
    );
  }
});

for (const [type, { name, place, repeats }] of ATTRIBUTE_RULES)
  if (place === 'signed')
    test(`${name} twice is ${repeats === true ? 'read' : 'refused'}`, (t) => {
      const own = attributeOf(oid(type), octetString(Buffer.from('x')));
      const attributes = (honest: readonly Buffer[]) => [...honest, own, own];
      const record = judged(forged({ attributes }));
      const isRefused = failedTypes(record.results).some((one) =>
        /^(attributes\.signed|structure\.cms)$/.test(one),
      );
      t.is(isRefused, repeats !== true);
    });

test('an attribute in the wrong set counts for nothing and causes a warning', (t) => {
  const digest = createHash('sha256').update(OTHER).digest();
  const warnings = (changes: Partial<Parameters<typeof forge>[0]>) => {
    const record = judged(forged(changes));
    t.is(verdictOf(record), 'TOTAL-PASSED');
    return record.results.warnings.map(({ type }) => type);
  };
  for (const moved of [
    attributeOf(ID.messageDigest, octetString(digest)),
    bindingTo(parties().ca.certificate),
  ])
    t.deepEqual(warnings({ unsigned: [moved] }), ['attributes.place']);
  const counter = attributeOf(oid(OID.counterSignature), octetString(digest));
  t.deepEqual(warnings({ attributes: (honest) => [...honest, counter] }), ['attributes.place']);
  const unknown = attributeOf(oid('1.2.3.4.5'), octetString(digest));
  t.deepEqual(warnings({ unsigned: [unknown] }), ['attributes.unknown']);
});

test('an attribute with several values, or none, is refused', (t) => {
  const good = octetString(createHash('sha256').update(CONTENT).digest());
  const bad = octetString(createHash('sha256').update(OTHER).digest());
  for (const values of [[good, bad], []]) {
    const attributes = replaced(ID.messageDigest, attributeOf(ID.messageDigest, ...values));
    const record = judged(forged({ attributes }));
    t.is(verdictOf(record), 'TOTAL-FAILED: FORMAT_FAILURE', `${values.length} values`);
  }
});

test('a missing signing time removes the baseline level and nothing else', (t) => {
  const record = judged(forged({ attributes: replaced(ID.signingTime) }));
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.is(record.level, undefined);
  t.is(record.signingTime, undefined);
  t.is(judged(forged()).level, 'B');
  t.is(judged(forged()).signingTime, SIGNED);
});

test('signed attributes in an order other than DER pass only when they were signed in that order', (t) => {
  const { signer } = parties();
  const reversed = (honest: readonly Buffer[]) => [...honest].sort(Buffer.compare).reverse();
  t.is(verdictOf(judged(forged({ attributes: reversed, sorted: false }))), 'TOTAL-PASSED');
  const sortedValue = forged({
    attributes: reversed,
    sorted: false,
    value: () => {
      let honest = Buffer.alloc(0);
      forged({ value: (signed) => (honest = sign('sha256', signed, signer.key)) });
      return honest;
    },
  });
  t.is(verdictOf(judged(sortedValue)), 'TOTAL-PASSED', 'the DER order is what RFC 5652 signs');
});
