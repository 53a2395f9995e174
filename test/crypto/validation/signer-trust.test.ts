import {
  constants,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';
import test from 'ava';
import { childrenOf, encoded, enter, readWhole, TAG } from '#crypto/asn1/read.js';
import { bitString, oid, sequence, tlv } from '#crypto/asn1/write.js';
import type { CertificateRecord } from '#crypto/core/validation-report.js';
import { strengthOf } from '#crypto/validation/algorithms.js';
import { certificateRecord } from '#crypto/validation/chain.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { isAnybodys } from '#crypto/x509/key-strength.js';
import type { GeneralName } from '#crypto/x509/names.js';
import { valueFault } from '#crypto/x509/signature-values.js';
import { type DistinguishedName, encodeName } from '../../pki/issuing.ts';
import { keyOf } from '../../pki/pki.ts';
import { forge } from './forge.ts';
import {
  CONTENT,
  crlOf,
  crlsOf,
  DAY,
  evidenceOf,
  failedTypes,
  issue,
  type JudgingOptions,
  judged,
  type Party,
  parties,
  SIGNED,
  verdictOf,
  YEAR,
} from './judging.ts';

function signedBy(signer: Party, certificates: readonly Party[] = []): Buffer {
  const inside = [signer, ...certificates].map(({ certificate }) => certificate);
  return forge({ signer, content: CONTENT, at: SIGNED, certificates: inside });
}

function verdict(signer: Party, options: JudgingOptions = {}, certificates: readonly Party[] = []): string {
  return verdictOf(judged(signedBy(signer, certificates), options));
}

test('a signer below a trusted root passes, and below any other root has no chain', (t) => {
  const { signer, root, otherRoot } = parties();
  t.is(verdict(signer), 'TOTAL-PASSED');
  t.is(
    verdict(signer, { trust: { anchors: [otherRoot.certificate] } }),
    'INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND',
  );
  t.is(verdict(signer, { trust: { anchors: [] } }), 'INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND');
  const both = { anchors: [otherRoot.certificate, root.certificate] };
  t.is(verdict(signer, { trust: both }), 'TOTAL-PASSED');
});

test('a root inside the signature is not trusted for that', (t) => {
  const { otherRoot } = parties();
  const unknownSigner = issue('Stranger', otherRoot);
  t.is(verdict(unknownSigner, {}, [otherRoot]), 'INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND');
  t.is(verdict(unknownSigner, { trust: { anchors: [otherRoot.certificate] } }, []), 'TOTAL-PASSED');
});

test('intermediates come from the signature or the settings, and a missing one is reported', (t) => {
  const { signer, ca } = parties();
  t.is(verdict(signer, { trust: { intermediates: [] } }), 'INDETERMINATE: NO_CERTIFICATE_CHAIN_FOUND');
  t.is(verdict(signer, { trust: { intermediates: [] } }, [ca]), 'TOTAL-PASSED');
});

test('an expired certificate without a proof of time leaves the signature open', (t) => {
  const signer = issue('Expired', parties().ca, { notAfter: SIGNED + DAY });
  t.is(verdict(signer, { at: SIGNED }), 'TOTAL-PASSED');
  const record = judged(signedBy(signer), { at: SIGNED + 3 * DAY });
  t.is(verdictOf(record), 'INDETERMINATE: OUT_OF_BOUNDS_NO_POE');
  t.deepEqual(failedTypes(record.results), ['chain', 'chain/certificate.validity']);
});

test('a signature proven before the validity of its certificate is invalid', (t) => {
  const signer = issue('Early', parties().ca, { notBefore: SIGNED + 2 * DAY });
  t.is(verdict(signer, { at: SIGNED + DAY }), 'TOTAL-FAILED: NOT_YET_VALID');
  t.is(verdict(signer, { at: SIGNED + 3 * DAY }), 'TOTAL-PASSED');
});

test('a certificate for purposes other than signing documents is refused, and one without purposes is accepted', (t) => {
  const { ca } = parties();
  const purposes: readonly (readonly [string, string])[] = [
    ['1.3.6.1.5.5.7.3.1', 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE'], // servers
    ['1.3.6.1.5.5.7.3.3', 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE'], // code
    ['1.3.6.1.5.5.7.3.8', 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE'], // time-stamps
    ['1.3.6.1.5.5.7.3.9', 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE'], // OCSP
    ['1.3.6.1.5.5.7.3.4', 'TOTAL-PASSED'], // e-mail
    ['1.3.6.1.5.5.7.3.36', 'TOTAL-PASSED'], // documents
    ['2.5.29.37.0', 'TOTAL-PASSED'], // any
  ];
  for (const [purpose, expected] of purposes) {
    const signer = issue('Purposeful', ca, { use: { kind: 'signer', purposes: [purpose] } });
    t.is(verdict(signer), expected, purpose);
  }
  t.is(verdict(issue('Plain', ca, { use: { kind: 'signer', purposes: [] } })), 'TOTAL-PASSED');
  // An authority for servers must not vouch for people.
  for (const [purpose, expected] of [...purposes, ['1.3.6.1.5.5.7.3.2', 'TOTAL-PASSED'] as const]) {
    const value = sequence(oid(purpose));
    const limited = issue('Limited', parties().root, {
      use: { kind: 'ca' },
      furtherExtensions: [{ id: '2.5.29.37', critical: false, value }],
    });
    t.is(verdict(issue('Below', limited), {}, [limited]), expected, `an authority for ${purpose}`);
  }
});

test('a key under which anybody makes signatures proves nothing, for a signer and for an authority', (t) => {
  const { root, ca } = parties();
  const ordinary = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
  const rsa = createPublicKey({ key: { ...ordinary, e: 'AQ' }, format: 'jwk' });
  const points = [
    '01',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '80'.padStart(64, '0'),
  ];
  const small = points.map((point) =>
    createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(point.padEnd(64, '0'), 'hex').toString('base64url') },
      format: 'jwk',
    }),
  );
  for (const publicKey of [rsa, ...small]) {
    t.true(isAnybodys(publicKey));
    t.is(
      valueFault(
        { scheme: publicKey === rsa ? 'rsa-pkcs1' : 'ed25519', hash: 'sha256' },
        publicKey,
        CONTENT,
        CONTENT,
      ),
      'key',
    );
  }
  // One more than a multiple of the order of the group: each number is its own signature again.
  const number = (text = '') => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`);
  const {
    p,
    q,
    n = '',
  } = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    format: 'jwk',
  });
  // Both factors are even: their product by 2 is a multiple of the least common multiple.
  const digits = (((number(p) - 1n) * (number(q) - 1n)) / 2n + 1n).toString(16);
  const e = Buffer.from(digits.padStart(512, '0'), 'hex').toString('base64url');
  const long = createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
  t.true(isAnybodys(long));
  for (const kind of ['rsa-2048', 'ed25519', 'p-256'] as const) t.false(isAnybodys(keyOf(kind).publicKey));
  // With the exponent 1, the value is the padded digest.
  const info = Buffer.from('3031300d060960864801650304020105000420', 'hex');
  const padded = (data: Buffer) => {
    const end = Buffer.concat([info, createHash('sha256').update(data).digest()]);
    return Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(253 - end.length, 0xff), Buffer.from([0]), end]);
  };
  t.true(verify('sha256', CONTENT, rsa, padded(CONTENT)), 'OpenSSL accepts it');
  t.true(verify('sha256', CONTENT, long, padded(CONTENT)), 'and below a long exponent');
  for (const key of [rsa, long])
    t.is(valueFault({ scheme: 'rsa-pkcs1', hash: 'sha256' }, key, CONTENT, padded(CONTENT)), 'key');
  const authority = readCertificate(
    issue('Anybody', root, { use: { kind: 'ca' }, publicKey: rsa }).certificate,
  );
  t.true(authority.signedBy(readCertificate(root.certificate)));
  const [data = Buffer.alloc(0), algorithm = Buffer.alloc(0)] = childrenOf(
    readWhole(
      issue('Below', ca, {
        issuer: { country: 'XX', organization: 'Judging tests', commonName: 'Anybody' },
        issuerKey: keyOf('rsa-2048').privateKey,
      }).certificate,
    ),
  ).map(encoded);
  const forged = readCertificate(sequence(data, algorithm, bitString(padded(data))));
  t.true(new X509Certificate(forged.der).verify(rsa), 'OpenSSL accepts it');
  t.false(forged.signedBy(authority));
});

test('a certificate whose key is the point at infinity is refused, and does not end the program', (t) => {
  const signer = issue('Nowhere', parties().ca, { publicKey: keyOf('p-256').publicKey });
  const [data, ...signature] = childrenOf(readWhole(signer.certificate));
  const fields = data === undefined ? [] : childrenOf(data);
  // version, serial number, signature, issuer, validity, subject, subjectPublicKeyInfo
  const [algorithm] = fields[6] === undefined ? [] : childrenOf(fields[6]);
  const key = sequence(
    algorithm === undefined ? Buffer.alloc(0) : encoded(algorithm),
    bitString(Buffer.of(0)),
  );
  const changed = sequence(...fields.map((field, at) => (at === 6 ? key : encoded(field))));
  const certificate = sequence(changed, ...signature.map(encoded));
  t.is(new X509Certificate(certificate).publicKey.asymmetricKeyType, 'ec', 'OpenSSL reads it');
  t.throws(() => readCertificate(certificate), { code: 'certificate.malformed' });
});

test('the certificate of a CA is refused as a signer', (t) => {
  const { ca, root } = parties();
  t.is(verdict(ca), 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE');
  t.is(verdict(root), 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE');
});

test('a certificate of a signer is refused as an issuer', (t) => {
  const { signer } = parties();
  const child = issue('Child of a signer', signer);
  const record = judged(signedBy(child, [signer]));
  t.is(verdictOf(record), 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE');
});

test('a CA beyond the path length constraint is refused', (t) => {
  const { ca } = parties();
  const below = issue('Authority too many', ca, { use: { kind: 'ca' } });
  t.is(verdict(issue('Grandchild', below), {}, [below]), 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE');
});

test('a name outside the name constraints of its CA is refused', (t) => {
  const { root } = parties();
  const permitted = [
    { kind: 'directory', name: encodeName({ country: 'XX', organization: 'Elsewhere', commonName: 'x' }) },
  ] as const;
  const ownDomain = [{ kind: 'email', text: 'here.example' }] as const;
  const mail = (text: string) => ({ alternativeNames: [{ kind: 'email', text }] as const });
  const elsewhere = issue('Constrained A', root, {
    use: { kind: 'ca' },
    nameConstraints: { permitted, excluded: [] },
  });
  t.is(verdict(issue('Ada', elsewhere), {}, [elsewhere]), 'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE');
  const local = issue('Constrained B', root, {
    use: { kind: 'ca' },
    nameConstraints: { permitted: ownDomain, excluded: [] },
  });
  t.is(verdict(issue('Ada', local, mail('ada@here.example')), {}, [local]), 'TOTAL-PASSED');
  t.is(
    verdict(issue('Ada', local, mail('ada@there.example')), {}, [local]),
    'INDETERMINATE: CHAIN_CONSTRAINTS_FAILURE',
  );
});

test('a key below the minimum length at the time of signing leaves the signature open', (t) => {
  const { ca } = parties();
  const pair = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const weak = { ...issue('Weak', ca, { publicKey: pair.publicKey }), key: pair.privateKey };
  t.is(verdict(weak), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE');
  const strong = issue('Strong', ca, { kind: 'rsa-2048' });
  t.is(verdict(strong), 'TOTAL-PASSED');
  t.is(
    verdict(issue('Strong for long', ca, { kind: 'rsa-2048', notAfter: SIGNED + 20 * YEAR }), {
      at: SIGNED + 10 * YEAR,
    }),
    'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE',
    'its algorithm ends, and nothing proves that the signature is older',
  );
});

test('keys end at the dates of ETSI TS 119 312, each by its own size and padding', (t) => {
  const rows: readonly [string, number, number | undefined][] = [
    ['rsa-pkcs1', 1023, Date.UTC(2010, 7, 1)],
    ['rsa-pkcs1', 1899, Date.UTC(2019, 9, 1)],
    ['rsa-pkcs1', 1900, Date.UTC(2029, 0, 1)],
    ['rsa-pkcs1', 2999, Date.UTC(2029, 0, 1)],
    ['rsa-pkcs1', 3000, Date.UTC(2034, 0, 1)],
    ['rsa-pkcs1', 8192, Date.UTC(2034, 0, 1)],
    ['rsa-pss', 2999, Date.UTC(2029, 0, 1)],
    ['rsa-pss', 3000, undefined],
    ['ecdsa', 255, Date.UTC(2029, 0, 1)],
    ['ecdsa', 256, undefined],
  ];
  for (const [name, bits, end] of rows) {
    const at = (time: number) => strengthOf({ where: 'key', name, bits }, time).status;
    t.is(at(end === undefined ? Date.UTC(2100, 0, 1) : end - 1), 'good', `${name} ${bits}`);
    if (end !== undefined) t.is(at(end), 'ended', `${name} ${bits}`);
  }
});

test('own signatures may have an algorithm that was valid when the list was made, and never a broken one', (t) => {
  const { ca } = parties();
  const long = { notAfter: SIGNED + 20 * YEAR };
  const at = SIGNED + 10 * YEAR;
  const own = issue('Own for long', ca, { kind: 'rsa-2048', ...long });
  t.is(verdict(own, { at, trust: { algorithms: 'as-listed' } }), 'TOTAL-PASSED');
  t.is(verdict(own, { at }), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE');
  const pair = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const weak = { ...issue('Weak', ca, { publicKey: pair.publicKey, ...long }), key: pair.privateKey };
  t.is(
    verdict(weak, { at, trust: { algorithms: 'as-listed' } }),
    'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE',
  );
});

test('the revocation check is soft or hard as the settings require', (t) => {
  const { signer } = parties();
  const at = SIGNED + DAY;
  t.is(verdict(signer, { at, trust: { revocation: 'none' } }), 'TOTAL-PASSED');
  const soft = judged(signedBy(signer), { at, trust: { revocation: 'soft' } });
  t.is(verdictOf(soft), 'TOTAL-PASSED');
  t.is(verdict(signer, { at, trust: { revocation: 'hard' } }), 'INDETERMINATE: TRY_LATER');
  const evidence = evidenceOf(crlsOf(SIGNED));
  t.is(verdict(signer, { at, trust: { revocation: 'hard', evidence } }), 'TOTAL-PASSED');
});

test('a signature without its certificate is open for that alone, whatever its algorithm', (t) => {
  for (const kind of ['rsa-2048', 'p-256'] as const) {
    const signer = issue('Not at hand', parties().ca, { kind });
    const der = forge({ signer, content: CONTENT, at: SIGNED, certificates: [] });
    const record = judged(der);
    t.is(verdictOf(record), 'INDETERMINATE: NO_SIGNING_CERTIFICATE_FOUND', kind);
    t.deepEqual(failedTypes(record.results), ['certificate.signer'], kind);
  }
});

test('a certificate with an empty subject is named by its alternative names, or by its serial number', (t) => {
  const nameOf = (alternativeNames: readonly GeneralName[]): string | undefined => {
    const serial = Buffer.from('0102', 'hex');
    const subject = {};
    const signer = issue('', parties().ca, { subject, serial, alternativeNames });
    return judged(signedBy(signer)).certificate?.subjectName;
  };
  const mail = { kind: 'email', text: 'ana@example.com' } as const;
  t.is(nameOf([mail]), 'ana@example.com');
  const name = encodeName({ commonName: 'Ana Exemplo' });
  t.is(nameOf([{ kind: 'directory', name }, mail]), 'Ana Exemplo');
  t.is(nameOf([]), 'no name, serial number 4102');
});

test('a certificate without a common name shows who it is of, and never an identity number', (t) => {
  const nameOf = (subject: DistinguishedName): string | undefined =>
    judged(signedBy(issue('', parties().ca, { subject }))).certificate?.subjectName;
  const serialNumber = 'PNOBR-52998224725';
  const company = { organization: 'Engines', organizationalUnit: 'Mills', serialNumber };
  t.is(nameOf({ ...company, givenName: 'Ada', surname: 'Byron' }), 'Ada Byron');
  t.is(nameOf({ ...company, surname: 'Byron' }), 'Byron');
  t.is(nameOf(company), 'Engines');
  t.is(nameOf({ organizationalUnit: 'Mills', serialNumber }), 'Mills');
  t.is(nameOf({ emailAddress: 'ada@example.com', serialNumber }), 'ada@example.com');
  t.regex(nameOf({ country: 'BR', serialNumber }) ?? '', /^no name, serial number (?!.*52998224725)/);
  t.is(nameOf({ country: 'BR' }), 'C=BR');
});

function recordOf(subject: DistinguishedName, issuer: DistinguishedName = {}): CertificateRecord {
  return certificateRecord(readCertificate(issue('', parties().ca, { subject, issuer }).certificate));
}

/** Common name and serialNumber as issued; the shown name; the number that the details have. */
const NUMBERED: readonly (readonly [
  commonName: string,
  serialNumber: string,
  name: string,
  details: string,
])[] = [
  ['ANA MULLER:39053344705', '', 'ANA MULLER', '39053344705'],
  ['GARCIA LOPEZ JUAN - 12345678Z', 'IDCES-12345678Z', 'GARCIA LOPEZ JUAN', 'IDCES-12345678Z'],
  ['GARCIA LOPEZ JUAN - 12345678Z', '', 'GARCIA LOPEZ JUAN', '12345678Z'],
  ['JUAN GARCIA - NIF:X1234567L', '', 'JUAN GARCIA', 'X1234567L'],
  ['GARCIA LOPEZ JUAN - DNI 12345678Z (FIRMA)', '', 'GARCIA LOPEZ JUAN (FIRMA)', '12345678Z'],
  ['12345678Z JUAN GARCIA (R: B12345678)', '', 'JUAN GARCIA', '12345678Z'],
  ['MÄNNIK,MARI,PNOEE-47101010033', 'PNOEE-47101010033', 'MÄNNIK,MARI', 'PNOEE-47101010033'],
  ['MÄNNIK,MARI,47101010033', '47101010033', 'MÄNNIK,MARI', '47101010033'],
  ['JANIS BERZINS 123456-12345', '', 'JANIS BERZINS', '123456-12345'],
  ['MEIKÄLÄINEN MATTI 10012345K', '10012345K', 'MEIKÄLÄINEN MATTI', '10012345K'],
  ['ROSSI/MARIO/RSSMRA80A01H501U/7420071234', '', 'ROSSI/MARIO', 'RSSMRA80A01H501U'],
  ['Mario Rossi RSSMRA80A01H501U', 'TINIT-RSSMRA80A01H501U', 'Mario Rossi', 'TINIT-RSSMRA80A01H501U'],
  ['GARCIA LOPEZ Juan FIR 12345678 hard', '', 'GARCIA LOPEZ Juan', '12345678'],
  ['홍길동()0011047201005012345', '', '홍길동', '0011047201005012345'],
  ['Ana Müller 4711-X', 'PNODE-4711-X', 'Ana Müller', 'PNODE-4711-X'],
  ['JUAN GARCIA (R:B12345678) - 12345678Z', '', 'JUAN GARCIA', '12345678Z'],
  ['ACME SA (C:B12345678)', '', 'ACME SA', 'B12345678'],
  ['Иванов Иван ИНН 7701234567', '', 'Иванов Иван', '7701234567'],
  ['Иван Петров ЕГН:8001010001', '', 'Иван Петров', '8001010001'],
  ['ИНН 770123456789 Иванов', '', 'Иванов', '770123456789'],
  ['Иванов Иван СНИЛС 112-233-445 95', '', 'Иванов Иван', '112-233-445 95'],
  ['Иванов Иван 112-233-445 95', '', 'Иванов Иван', '112-233-445 95'],
  ['Jan Novák, IČO 12345678', '', 'Jan Novák', '12345678'],
  ['Jan Novák IČO: 123 45 678', '', 'Jan Novák', '123 45 678'],
  ['Ion Popescu CUI RO12345678', '', 'Ion Popescu', 'RO12345678'],
  ['ACME SL - B12345678', '', 'ACME SL', 'B12345678'],
  // These digits are no identity numbers.
  ['Plan C 123456 Ltd', '', 'Plan C 123456 Ltd', ''],
  ['1234567 Ontario Inc.', '1234567', '1234567 Ontario Inc.', '1234567'],
  ['Time Stamping Unit 20240101', '', 'Time Stamping Unit 20240101', ''],
  ['Boeing B1234567 GmbH', '', 'Boeing B1234567 GmbH', ''],
  ['Studio 112-233-445', '', 'Studio 112-233-445', ''],
  ['Plan 123 45 678', '', 'Plan 123 45 678', ''],
  ['Juan García (FIRMA)', '', 'Juan García (FIRMA)', ''],
];

test('a name is shown without the identity number beside it, which the details of the certificate have', (t) => {
  for (const [commonName, serialNumber, name, details] of NUMBERED) {
    const subject = { commonName, ...(serialNumber !== '' && { serialNumber }) };
    const record = recordOf(subject);
    t.is(record.subjectName, name, commonName);
    t.is(record.identifier ?? '', details, commonName);
  }
  const company = recordOf({ commonName: 'WORKS LTD:11222333000181' });
  t.like(company, { subjectName: 'WORKS LTD', identifier: undefined, companyIdentifier: '11222333000181' });
  t.is(recordOf({ commonName: 'WORKS:12ABC34501DE35' }).companyIdentifier, '12ABC34501DE35');
  const stroked = { identifier: undefined, companyIdentifier: '12345678000195' };
  t.like(recordOf({ commonName: 'WORKS LTDA 12.345.678/0001-95' }), {
    subjectName: 'WORKS LTDA',
    ...stroked,
  });
  t.like(recordOf({ commonName: '12.345.678/0001-95', organization: 'Works' }), stroked);
  const card = { commonName: 'RSSMRA80A01H501U/7420071234567890.abc=', organization: 'Regione' };
  t.is(recordOf({ ...card, givenName: 'Mario', surname: 'Rossi' }).subjectName, 'Mario Rossi');
  t.regex(recordOf(card).subjectName, /^no name, serial number (?!.*RSSMRA)/, 'the region is not the person');
});

test('an issuer and a message are named without identity numbers too', (t) => {
  const subject = { commonName: 'ANA MULLER:39053344705', serialNumber: '39053344705' };
  t.is(recordOf(subject, subject).issuerName, 'ANA MULLER');
  t.is(recordOf(subject, { organization: 'Mint', serialNumber: 'Q2826004J' }).issuerName, 'Mint');
  const stranger = issue('', parties().ca, { subject, notAfter: SIGNED - DAY });
  const { results } = judged(signedBy(stranger));
  t.regex(JSON.stringify(results), /ANA MULLER/);
  t.notRegex(JSON.stringify(results), /39053344705/);
});

test('a revoked signer leaves the signature open, softly or hard, and one revoked later does not', (t) => {
  const { signer } = parties();
  const revoked = [[signer, { at: SIGNED - DAY, reason: 1 }]] as const;
  const evidence = evidenceOf(crlsOf(SIGNED, revoked));
  for (const revocation of ['soft', 'hard'] as const) {
    const record = judged(signedBy(signer), { trust: { revocation, evidence } });
    t.is(verdictOf(record), 'INDETERMINATE: REVOKED_NO_POE', revocation);
    t.deepEqual(failedTypes(record.results), ['chain', 'chain/revocation.revoked']);
    // The name keeps its first letter.
    t.regex(record.results.errors[0]?.message ?? '', /: the certificate of Ada Signer was revoked\.$/);
  }
  t.is(verdict(signer, { trust: { revocation: 'none', evidence } }), 'TOTAL-PASSED');
  const later = evidenceOf(crlsOf(SIGNED + 5 * DAY, [[signer, { at: SIGNED + 4 * DAY }]]));
  t.is(
    verdict(signer, { at: SIGNED + 5 * DAY, trust: { revocation: 'hard', evidence: later } }),
    'INDETERMINATE: REVOKED_NO_POE',
  );
});

test('a revoked CA leaves the signatures of its signers open', (t) => {
  const { signer, ca } = parties();
  const evidence = evidenceOf(crlsOf(SIGNED, [[ca, { at: SIGNED - DAY }]]));
  t.is(verdict(signer, { trust: { revocation: 'hard', evidence } }), 'INDETERMINATE: REVOKED_CA_NO_POE');
});

test('old, foreign and changed revocation answers are ignored', (t) => {
  const { signer, otherRoot, root } = parties();
  const hard = (evidence: readonly Buffer[]) =>
    verdict(signer, { trust: { revocation: 'hard', evidence: evidenceOf(evidence) } });
  t.is(hard(crlsOf(SIGNED)), 'TOTAL-PASSED');
  t.is(hard(crlsOf(SIGNED - 30 * DAY)), 'INDETERMINATE: TRY_LATER');
  t.is(hard([crlOf(root, SIGNED), crlOf(otherRoot, SIGNED)]), 'INDETERMINATE: TRY_LATER');
  const changed = crlsOf(SIGNED).map((crl) => {
    const copy = Buffer.from(crl);
    copy[copy.length - 20] = (copy[copy.length - 20] ?? 0) ^ 1;
    return copy;
  });
  t.is(hard(changed), 'INDETERMINATE: TRY_LATER');
  t.is(hard([Buffer.from('3003020101', 'hex'), Buffer.alloc(0), ...crlsOf(SIGNED)]), 'TOTAL-PASSED');
});

test('revocation values inside the signature count like those supplied beside it', (t) => {
  const { signer } = parties();
  const with_ = (crls: readonly Buffer[]) => forge({ signer, content: CONTENT, at: SIGNED, crls });
  const options = { trust: { revocation: 'hard' } } as const;
  t.is(verdictOf(judged(with_(crlsOf(SIGNED)), options)), 'TOTAL-PASSED');
  const revoked = crlsOf(SIGNED, [[signer, { at: SIGNED - DAY }]]);
  t.is(verdictOf(judged(with_(revoked), options)), 'INDETERMINATE: REVOKED_NO_POE');
});

test('numerous older answers inside a file do not displace the trusted evidence', (t) => {
  const { signer, ca } = parties();
  // Authentic older responses, all good, which anyone can collect.
  const padding = Array.from({ length: 201 }, (_, index) => crlOf(ca, SIGNED - index * 60_000));
  const file = forge({ signer, content: CONTENT, at: SIGNED, crls: padding });
  const look = (evidence: readonly Buffer[]) =>
    verdictOf(judged(file, { trust: { revocation: 'soft', evidence: evidenceOf(evidence) } }));
  t.is(look(crlsOf(SIGNED, [[signer, { at: SIGNED - DAY, reason: 1 }]])), 'INDETERMINATE: REVOKED_NO_POE');
  t.is(look(crlsOf(SIGNED)), 'TOTAL-PASSED');
});

test('a certificate issued with RSA-PSS is judged by the hash of its parameters', (t) => {
  const { root } = parties();
  const ca = issue('PSS CA', root, { use: { kind: 'ca' }, kind: 'rsa-2048' });
  const good = issue('Good PSS', ca, { issuerPadding: 'pss' });
  t.is(verdict(good, {}, [ca]), 'TOTAL-PASSED');
  const weak = { ...good, certificate: reissuedWithSha1Pss(good.certificate, ca.key) };
  const record = judged(signedBy(weak, [ca]));
  t.is(verdictOf(record), 'INDETERMINATE: CRYPTO_CONSTRAINTS_FAILURE_NO_POE');
  t.deepEqual(failedTypes(record.results), ['chain', 'chain/chain.algorithm']);
});

/**
 * Reissues the certificate with a signature by the defaults of RSASSA-PSS-params: SHA-1 throughout, 20 bytes of salt.
 */
function reissuedWithSha1Pss(der: Buffer, key: Party['key']): Buffer {
  const algorithm = sequence(oid('1.2.840.113549.1.1.10'), sequence());
  const fields = childrenOf(enter(readWhole(der), TAG.sequence).next(TAG.sequence)).map(encoded);
  const at = fields[0]?.[0] === 0xa0 ? 2 : 1;
  fields[at] = algorithm;
  const data = sequence(...fields);
  const padding = constants.RSA_PKCS1_PSS_PADDING;
  const value = sign('sha1', data, { key, padding, saltLength: 20 });
  return sequence(data, algorithm, tlv(TAG.bitString, Buffer.concat([Buffer.from([0]), value])));
}

test('a suspended certificate is reported as one to check again later', (t) => {
  const { signer } = parties();
  const evidence = evidenceOf(crlsOf(SIGNED, [[signer, { at: SIGNED - DAY, reason: 6 }]]));
  t.is(verdict(signer, { trust: { revocation: 'soft', evidence } }), 'INDETERMINATE: TRY_LATER');
});

test('the record has the certificate fields that pages show', (t) => {
  const { ca } = parties();
  const signer = issue('Ada Byron', ca, {
    subject: {
      country: 'XX',
      organization: 'Analytical Engines',
      organizationIdentifier: 'VATXX-123',
      serialNumber: 'PNOXX-456',
      commonName: 'Ada Byron',
    },
    alternativeNames: [{ kind: 'email', text: 'ada@example.com' }],
  });
  const { certificate } = judged(signedBy(signer));
  t.is(certificate?.subjectName, 'Ada Byron');
  t.is(certificate?.issuerName, ca.name);
  t.is(certificate?.companyName, 'Analytical Engines');
  t.is(certificate?.companyIdentifier, 'VATXX-123');
  t.is(certificate?.identifier, 'PNOXX-456');
  t.is(certificate?.emailAddress, 'ada@example.com');
  t.is(Buffer.from(certificate?.thumbprint ?? '', 'base64').length, 32);
  t.is(certificate?.validityStart, SIGNED - YEAR);
});

test('an answer from just after the time of validation counts, and one from much later does not', (t) => {
  const at = SIGNED + DAY;
  for (const [later, expected] of [
    [30_000, 'TOTAL-PASSED'],
    [3_600_000, 'INDETERMINATE: TRY_LATER'],
  ] as const) {
    const trust = { revocation: 'hard', evidence: evidenceOf(crlsOf(at + later)) } as const;
    const der = forge({ signer: parties().signer, content: CONTENT, at: SIGNED });
    t.is(verdictOf(judged(der, { at, trust })), expected);
  }
});
