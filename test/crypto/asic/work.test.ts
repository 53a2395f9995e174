import test from 'ava';
import { OID } from '#crypto/asn1/oids.js';
import { encoded } from '#crypto/asn1/read.js';
import { oid } from '#crypto/asn1/write.js';
import { amendSignedData } from '#crypto/cms/amend.js';
import { parseSignedData } from '#crypto/cms/parse.js';
import { attributeOf } from '../validation/forge.ts';
import { file, handMade, made, unpacked, validated } from './container-harness.ts';

const SIGNATURE = 'META-INF/signature.p7s';

test('a small container with thousands of time-stamps is left open when the work budget of one file is used up', async (t) => {
  const path = await made('S', 'Cades', { level: 'T' });
  t.is((await validated(path)).indication, 'TOTAL-PASSED');
  const members = unpacked(path);
  const signature = members.find(({ name }) => name === SIGNATURE)?.bytes;
  if (signature === undefined) return t.fail();
  const [signer] = parseSignedData(signature).signers;
  const [token] = signer?.unsignedAttributes?.values.get(OID.signatureTimestamp) ?? [];
  if (token === undefined) return t.fail();
  const tokens = Array.from({ length: 32 }, () => encoded(token));
  const stamped = amendSignedData(signature, {
    unsigned: new Map([[0, [attributeOf(oid(OID.signatureTimestamp), ...tokens)]]]),
  });
  const [crowd] = parseSignedData(stamped).signers;
  if (crowd === undefined) return t.fail();
  const many = amendSignedData(stamped, { signers: Array.from({ length: 9 }, () => crowd.encoding) });
  const copies = Array.from({ length: 199 }, (_, index) => ({
    name: `META-INF/signature${index + 1}.p7s`,
    bytes: many,
    deflate: true,
  }));
  const crowded = file(
    handMade([
      ...members.filter(({ name }) => name !== SIGNATURE),
      { name: SIGNATURE, bytes: many },
      ...copies,
    ]),
    'asics',
  );
  const { indication, results } = await validated(crowded);
  t.is(indication, 'INDETERMINATE');
  t.deepEqual(
    results.errors.map(({ type }) => type),
    ['file.work'],
  );
});
