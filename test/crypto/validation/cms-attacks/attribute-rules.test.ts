/** Every attribute of the table in every place, and what the table does not name: nothing passes in silence. */
import test from 'ava';
import { OID } from '#crypto/asn1/oids.js';
import { TAG } from '#crypto/asn1/read.js';
import { octetString, oid, sequence, tlv } from '#crypto/asn1/write.js';
import { ATTRIBUTE_RULES } from '#crypto/cms/attribute-rules.js';
import { type Forgery, forge } from '../forge.ts';
import { CONTENT, issue, judged, parties, SIGNED, verdictOf } from '../judging.ts';

const attribute = (type: string, ...values: readonly Buffer[]): Buffer =>
  sequence(oid(type), tlv(TAG.set, ...values));

/** Returns the verdict, and the warnings about attributes. */
function outcome(changes: Partial<Forgery>): string[] {
  const record = judged(forge({ signer: parties().signer, content: CONTENT, at: SIGNED, ...changes }));
  const types = record.results.warnings.map(({ type }) => type);
  return [verdictOf(record), ...types.filter((type) => /^attributes\.(place|empty|unknown)$/.test(type))];
}

const VALUE = octetString(Buffer.from('x'));

for (const [type, { name, place, single }] of ATTRIBUTE_RULES) {
  test(`${name} in the set that it does not belong into, or without a value, is named`, (t) => {
    const unsigned = outcome({ unsigned: [attribute(type, VALUE)] });
    t.is(unsigned.includes('attributes.place'), place === 'signed');
    t.true(outcome({ unsigned: [attribute(type)] }).includes('attributes.empty'));
    const signed = (...values: readonly Buffer[]): string[] =>
      outcome({
        attributes: (honest) => [
          ...honest.filter((one) => !one.subarray(2).subarray(0, oid(type).length).equals(oid(type))),
          attribute(type, ...values),
        ],
      });
    t.is(signed(VALUE).includes('attributes.place'), place === 'unsigned');
    const empty = signed();
    if (single === true) t.not(empty[0], 'TOTAL-PASSED');
    else t.true(empty.includes('attributes.empty'));
    t.false([...unsigned, ...empty].includes('attributes.unknown'));
  });
}

test('an attribute that the table does not name is named, signed or not', (t) => {
  for (const type of [
    '1.2.3.4.5',
    '1.3.6.1.4.1.311.2.4.1',
    '1.3.6.1.4.1.311.3.3.1',
    '1.2.840.113549.1.9.16.2.99',
  ]) {
    t.deepEqual(outcome({ unsigned: [attribute(type, VALUE)] }), ['TOTAL-PASSED', 'attributes.unknown']);
    t.deepEqual(outcome({ attributes: (honest) => [...honest, attribute(type, VALUE)] }), [
      'TOTAL-PASSED',
      'attributes.unknown',
    ]);
  }
  t.deepEqual(outcome({}), ['TOTAL-PASSED']);
});

test('an Ed25519 signature with another digest than SHA-512 passes with a warning', (t) => {
  const signer = issue('Ed Signer', parties().ca, { kind: 'ed25519' });
  const warnings = (digest: 'sha256' | 'sha512') => {
    const record = judged(forge({ signer, content: CONTENT, at: SIGNED, digest }));
    return [verdictOf(record), ...record.results.warnings.map(({ type }) => type)];
  };
  t.deepEqual(warnings('sha512'), ['TOTAL-PASSED']);
  t.deepEqual(warnings('sha256'), ['TOTAL-PASSED', 'digest.algorithm']);
});

test('a counter-signature without a signature leaves the file open', (t) => {
  const record = judged(
    forge({
      signer: parties().signer,
      content: CONTENT,
      at: SIGNED,
      unsigned: [attribute(OID.counterSignature)],
    }),
  );
  t.is(verdictOf(record), 'TOTAL-PASSED');
  t.deepEqual(record.counterSignatures.map(verdictOf), ['INDETERMINATE: GENERIC']);
});
