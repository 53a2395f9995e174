import { randomBytes } from 'node:crypto';
import test from 'ava';
import { bitString, octetString, oid, sequence, setOf, small, tlv } from '#crypto/asn1/write.js';
import { certificatesInBundle } from '#crypto/cms/parse.js';
import type { CryptoError } from '#crypto/core/types.js';
import { readCertificate } from '#crypto/x509/certificate.js';
import { nameFields, nameKey } from '#crypto/x509/names.js';
import { type CertificateRequest, issueCertificate } from '../../pki/issuing.ts';
import { keyOf } from '../../pki/pki.ts';

const pair = keyOf('p-256');

function issue(differences: Partial<CertificateRequest> = {}): Buffer {
  return issueCertificate({
    subject: { commonName: 'Subject' },
    issuer: { commonName: 'Issuer' },
    publicKey: pair.publicKey,
    issuerKey: pair.privateKey,
    serial: randomBytes(8),
    notBefore: Date.UTC(2026, 0, 1),
    notAfter: Date.UTC(2027, 0, 1),
    use: { kind: 'signer', purposes: [] },
    ...differences,
  });
}

test('padding after a certificate in DER is left off, and a second structure is not', (t) => {
  const one = issue();
  const other = issue();
  for (const padding of ['', '\r\n', '\0\0\0', '\xff\xff', ' \n', '\r\n(by hand)']) {
    const found = (...more: readonly Buffer[]) =>
      certificatesInBundle(Buffer.concat([one, Buffer.from(padding, 'latin1'), ...more]));
    t.deepEqual(found(), [one], padding);
    if (padding.endsWith(')')) continue;
    t.deepEqual(found(other), [], padding);
    t.deepEqual(found(other.subarray(0, 99)), [], padding);
  }
});

test('a certificate returns the fields that paths, revocation checks and pages need', (t) => {
  const certificate = readCertificate(
    issue({
      subject: {
        country: 'XX',
        organization: 'House, of Seals',
        organizationIdentifier: 'VATXX-1',
        serialNumber: 'PNOXX-2',
        commonName: 'Sam Seal',
        emailAddress: 'sam@example.com',
      },
      ocspUrl: 'http://ocsp.example.com/',
      issuerUrl: 'https://ca.example.com/ca.crt',
      crlUrl: 'http://crl.example.com/x.crl',
      alternativeNames: [{ kind: 'email', text: 'other@example.com' }],
      policies: ['1.2.3'],
      nameConstraints: { permitted: [{ kind: 'dns', text: 'example.com' }], excluded: [] },
      furtherExtensions: [
        { id: '1.3.6.1.5.5.7.1.3', critical: false, value: sequence(sequence(oid('0.4.0.1862.1.1'))) },
        { id: '2.5.29.54', critical: true, value: small(3) },
      ],
    }),
  );
  t.like(nameFields(certificate.subject), {
    commonName: 'Sam Seal',
    organization: 'House, of Seals',
    organizationIdentifier: 'VATXX-1',
    serialNumber: 'PNOXX-2',
    country: 'XX',
    emailAddress: 'sam@example.com',
    givenName: undefined,
    text: 'emailAddress=sam@example.com, CN=Sam Seal, serialNumber=PNOXX-2, organizationIdentifier=VATXX-1, O=House\\, of Seals, C=XX',
  });
  t.like(certificate, {
    ca: false,
    ocspUrls: ['http://ocsp.example.com/'],
    issuerUrls: ['https://ca.example.com/ca.crt'],
    crlUrls: ['http://crl.example.com/x.crl'],
    policies: ['1.2.3'],
    inhibitAnyPolicy: 3,
    statements: ['0.4.0.1862.1.1'],
    ocspNoCheck: false,
    extendedKeyUsage: undefined,
    unknownCritical: [],
  });
  t.deepEqual(certificate.alternativeNames, [{ kind: 'email', text: 'other@example.com' }]);
  t.deepEqual(certificate.nameConstraints?.permitted, [{ kind: 'dns', text: 'example.com' }]);
  t.deepEqual(certificate.authorityKeyId, certificate.subjectKeyId);
  t.true(certificate.keyUsage?.digitalSignature);
  t.false(certificate.keyUsage?.cRLSign);
  const ca = readCertificate(issue({ use: { kind: 'ca', pathLength: 2 } }));
  t.like(ca, { ca: true, pathLength: 2 });
  t.like(ca.keyUsage, { keyCertSign: true, cRLSign: true, digitalSignature: false });
  const ocsp = readCertificate(issue({ use: { kind: 'ocsp', noCheck: true } }));
  t.like(ocsp, {
    ocspNoCheck: true,
    extendedKeyUsageCritical: true,
    extendedKeyUsage: ['1.3.6.1.5.5.7.3.9'],
  });
});

test('addresses other than HTTP are ignored, and a malformed extension has no addresses', (t) => {
  const ldap = readCertificate(issue({ crlUrl: 'ldap://x/', ocspUrl: 'file:///etc/passwd' }));
  t.deepEqual([ldap.crlUrls, ldap.ocspUrls], [[], []]);
  const broken = { id: '1.3.6.1.5.5.7.1.1', value: Buffer.from([5, 0]) };
  const certificate = readCertificate(issue({ furtherExtensions: [{ ...broken, critical: false }] }));
  t.deepEqual(certificate.ocspUrls, []);
  t.throws(() => readCertificate(issue({ furtherExtensions: [{ ...broken, critical: true }] })), {
    code: 'certificate.malformed',
  } as never);
});

test('a malformed extension that paths depend on makes the certificate malformed', (t) => {
  for (const id of ['2.5.29.30', '2.5.29.32', '2.5.29.33', '2.5.29.36', '2.5.29.54', '2.5.29.37']) {
    const broken = { id, critical: false, value: bitString(Buffer.from([1])) };
    t.throws(
      () => readCertificate(issue({ furtherExtensions: [broken] })),
      {
        code: 'certificate.malformed',
      } as never,
      id,
    );
  }
  const twice = { id: '1.2.3.4', critical: false, value: small(1) };
  t.throws(() => readCertificate(issue({ furtherExtensions: [twice, twice] })), {
    code: 'certificate.malformed',
  } as never);
});

const name = (type: string, tag: number, value: Buffer) =>
  sequence(setOf([sequence(oid(type), tlv(tag, value))]));

test('names are equal across string types, case and spaces', (t) => {
  const utf8 = name('2.5.4.3', 0x0c, Buffer.from('Sam  Seal '));
  const printable = name('2.5.4.3', 0x13, Buffer.from('sam seal'));
  const bmp = name('2.5.4.3', 0x1e, Buffer.from('Sam Seal', 'utf16le').swap16());
  t.is(nameKey(utf8), nameKey(printable));
  t.is(nameKey(utf8), nameKey(bmp));
  t.not(nameKey(utf8), nameKey(name('2.5.4.3', 0x0c, Buffer.from('SamSeal'))));
  t.not(nameKey(utf8), nameKey(name('2.5.4.10', 0x0c, Buffer.from('sam seal'))));
  t.is(nameFields(bmp).commonName, 'Sam Seal');
  const raw = name('2.5.4.3', 0x04, Buffer.from([1, 2]));
  t.is(nameFields(raw).commonName, '#0102');
  t.is(nameFields(octetString(Buffer.from('x'))).text, '040178');
});

test('a name is parsed as one name, whatever it contains', (t) => {
  const tricky = name('2.5.4.3', 0x0c, Buffer.from('Sam, O=House\u0000\u202e+'));
  const { text } = nameFields(tricky);
  t.is(text, 'CN=Sam\\, O\\=House\\00\\e2\\80\\ae\\+');
  const twoParts = sequence(
    setOf([sequence(oid('2.5.4.3'), tlv(0x0c, Buffer.from('a')))]),
    setOf([sequence(oid('2.5.4.3'), tlv(0x0c, Buffer.from('b')))]),
  );
  t.not(nameKey(twoParts), nameKey(name('2.5.4.3', 0x0c, Buffer.from('a"]\n["2.5.4.3=b'))));
});

test('a certificate with a changed byte, or cut at any byte, is read or malformed, and its signature is invalid', (t) => {
  const der = issue({
    use: { kind: 'ca', pathLength: 1 },
    policies: ['1.2.3'],
    crlUrl: 'http://a.example/',
    nameConstraints: {
      permitted: [{ kind: 'ip', octets: Buffer.alloc(8) }],
      excluded: [{ kind: 'email', text: 'x' }],
    },
    alternativeNames: [{ kind: 'uri', text: 'http://a.example/' }],
  });
  const issuer = readCertificate(issue({ use: { kind: 'ca' } }));
  t.true(readCertificate(der).signedBy(issuer));
  for (let at = 0; at < der.length; at++) {
    const changed = Buffer.from(der);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    for (const bytes of [changed, der.subarray(0, at)]) {
      try {
        t.false(readCertificate(bytes).signedBy(issuer), `byte ${at}`);
      } catch (error) {
        t.is((error as CryptoError).code, 'certificate.malformed', (error as Error).stack);
      }
    }
  }
});

test('a cached certificate does not share the buffer of its caller', (t) => {
  const der = issue();
  const copy = Buffer.from(der);
  const certificate = readCertificate(der);
  const { fingerprint } = certificate;
  der.fill(0);
  t.true(certificate.der.equals(copy));
  t.throws(
    () => readCertificate(der),
    { code: 'certificate.malformed' },
    'the buffer holds no certificate now',
  );
  t.is(readCertificate(copy).fingerprint, fingerprint);
  t.true(readCertificate(copy).der.equals(copy));
  t.true(
    readCertificate(copy).issuer.equals(
      copy.subarray(copy.indexOf(certificate.issuer)).subarray(0, certificate.issuer.length),
    ),
  );
});
