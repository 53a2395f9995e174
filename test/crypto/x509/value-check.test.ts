import { constants, sign } from 'node:crypto';
import test from 'ava';
import { parseAlgorithm, readWhole } from '#crypto/asn1/read.js';
import { oid, sequence, tlv } from '#crypto/asn1/write.js';
import { fitsScheme } from '#crypto/x509/key-types.js';
import { faultOf, valueFault } from '#crypto/x509/signature-values.js';
import { type KeyKind, keyOf } from '../../pki/pki.ts';

const DATA = Buffer.from('what is signed');

test('an RSA value is accepted only with the length of its modulus, leading zeros included', (t) => {
  const { publicKey, privateKey } = keyOf('rsa-2048');
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const make = () => sign('sha256', DATA, { key: privateKey, padding, saltLength: 32 });
  let value = make();
  // The salt is random, so that one value in 256 begins with a zero.
  while (value[0] !== 0) value = make();
  const method = { scheme: 'rsa-pss', hash: 'sha256' } as const;
  t.is(valueFault(method, publicKey, DATA, value), undefined);
  t.is(valueFault(method, publicKey, DATA, value.subarray(1)), 'malformed');
  t.is(valueFault(method, publicKey, DATA, Buffer.concat([Buffer.alloc(1), value])), 'malformed');
});

test('a value over other data, by another key or in another encoding is refused', (t) => {
  const { publicKey, privateKey } = keyOf('p-256');
  const der = sign('sha256', DATA, privateKey);
  const row = sign('sha256', DATA, { key: privateKey, dsaEncoding: 'ieee-p1363' });
  const method = { scheme: 'ecdsa', hash: 'sha256' } as const;
  t.is(valueFault(method, publicKey, DATA, der), undefined);
  t.is(valueFault({ ...method, form: 'row' }, publicKey, DATA, row), undefined);
  t.is(valueFault({ ...method, form: 'row' }, publicKey, DATA, der), 'value');
  t.is(valueFault(method, publicKey, Buffer.from('else'), der), 'value');
  for (const [at, fault] of [
    [0, undefined],
    [1, 'value'],
  ] as const) {
    const parts = [DATA.subarray(at, 4), DATA.subarray(4)];
    t.is(
      valueFault(method, publicKey, (take) => parts.forEach(take), der),
      fault,
    );
  }
  t.is(valueFault(method, keyOf('p-256').publicKey, DATA, der), 'value');
  t.is(valueFault({ scheme: 'rsa-pkcs1', hash: 'sha256' }, publicKey, DATA, der), 'key');
});

test('parameters of RSA-PSS with a member that the standard does not know are refused', (t) => {
  const { publicKey: key, privateKey } = keyOf('rsa-2048');
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const value = sign('sha1', DATA, { key: privateKey, padding, saltLength: 20 });
  const fault = (...members: Buffer[]) => {
    const der = sequence(oid('1.2.840.113549.1.1.10'), sequence(...members));
    return faultOf({ algorithm: parseAlgorithm(readWhole(der)), digest: 'sha1', key, value }, DATA);
  };
  t.is(fault(), undefined);
  t.throws(() => fault(tlv(0xa4, oid('1.2.3'))), { name: 'Asn1Error' });
});

test('each kind of key is accepted for the schemes that it supports, and refused for the others', (t) => {
  const schemes = ['rsa-pkcs1', 'rsa-pss', 'ecdsa', 'ed25519'] as const;
  const fits = (kind: KeyKind) => schemes.filter((scheme) => fitsScheme(keyOf(kind).publicKey, scheme));
  t.deepEqual(fits('rsa-2048'), ['rsa-pkcs1', 'rsa-pss']);
  t.deepEqual(fits('p-384'), ['ecdsa']);
  t.deepEqual(fits('ed25519'), ['ed25519']);
});
