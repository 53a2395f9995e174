/** Certificate files of participants, written by OpenSSL. */
import { execFileSync } from 'node:child_process';
import { type KeyObject, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { certificatePem } from '#crypto/x509/certificate.js';
import { freshPath } from '../crypto/pades/validation/verdicts.ts';
import { DOCUMENT_SIGNING, issueCertificate } from '../pki/issuing.ts';
import { type KeyKind, keyOf, keyPemOf, pki } from '../pki/pki.ts';

const DAY = 86_400_000;

export interface CertificateFile {
  /** Password of the PKCS#12 file. */
  readonly path: string;
  readonly privateKey: KeyObject;
}

export interface FileShape {
  readonly kind: KeyKind;
  readonly password: string;
  /** Common name of the subject. */
  readonly name: string;
  /** @default the tests' trusted authority */
  readonly from?: 'issuing' | 'otherRoot';
  /** Further options of `openssl pkcs12 -export`. */
  readonly options?: readonly string[];
}

/** Needs `openssl`. */
export function certificateFile({
  kind,
  password,
  name,
  from = 'issuing',
  options = [],
}: FileShape): CertificateFile {
  const issuer = pki()[from];
  const { publicKey, privateKey } = keyOf(kind);
  const subject = { country: 'XX', organization: 'Sealwright tests', commonName: name };
  const certificate = issueCertificate({
    subject,
    issuer: { ...subject, commonName: issuer.name },
    publicKey,
    issuerKey: issuer.key,
    serial: randomBytes(16),
    notBefore: Date.now() - DAY,
    notAfter: Date.now() + 365 * DAY,
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
    crlUrl: 'http://127.0.0.1:8899/int.crl',
  });
  const parts = freshPath('parts');
  writeFileSync(`${parts}.key`, keyPemOf(privateKey));
  writeFileSync(`${parts}.crt`, certificatePem(certificate));
  writeFileSync(`${parts}.chain`, certificatePem(issuer.certificate));
  const path = `${parts}.p12`;
  execFileSync('openssl', [
    'pkcs12',
    '-export',
    '-inkey',
    `${parts}.key`,
    '-in',
    `${parts}.crt`,
    '-certfile',
    `${parts}.chain`,
    '-out',
    path,
    '-passout',
    `pass:${password}`,
    ...options,
  ]);
  return { path, privateKey };
}
