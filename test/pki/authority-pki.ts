/** Certificates of a local authority, with its addresses for revocation information. */
import { type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificatePem } from '#crypto/x509/certificate.js';
import {
  type CertificateRequest,
  type CertificateUse,
  DOCUMENT_SIGNING,
  issueCertificate,
} from './issuing.ts';
import { type Identity, type KeyKind, keyOf, type TestSigner, testSigner } from './pki.ts';

/** A CA and its source of revocation information. */
export interface TestCa extends Identity {
  /** Last segment of its URLs: `/crl/<id>`, `/ocsp/<id>`, `/ca/<id>`. */
  readonly id: string;
  readonly responder: { readonly key: KeyObject; readonly certificate: Buffer };
}

/** Revocation sources that a CA's certificates name. */
export type Sources = 'ocsp+crl' | 'ocsp' | 'crl' | 'none';

export interface AuthorityPki {
  /** Issuer of the two CAs; provides only a CRL. */
  readonly root: TestCa;
  /** Issuer of the signers; a delegated responder with the no-check extension answers. */
  readonly issuing: TestCa;
  /** Issuer of the time-stamp signer; answers OCSP with its own key. */
  readonly stamping: TestCa;
  readonly timestampSigner: Identity;
  /** Signer below `issuing`; created on first use. */
  signer(kind: KeyKind): TestSigner;
  /** A new signer below `issuing`, P-256, with its own period (milliseconds since the epoch) or other differences. */
  freshSigner(options?: Partial<CertificateRequest>): TestSigner;
  /** Folder with root.crt, issuing.crt, stamping.crt (PEM); removed when the process ends. */
  readonly folder: string;
  readonly rootFile: string;
  readonly issuingFile: string;
  readonly stampingFile: string;
}

export interface AuthorityPkiOptions {
  /** `http://127.0.0.1:1234`. */
  readonly baseUrl: string;
  /** Milliseconds since the epoch; certificates are valid from the day before, for ten years. */
  readonly now: number;
  /** Revocation sources of the signers' certificates. @default 'ocsp+crl' */
  readonly sources?: Sources;
  /** True when the responder of `issuing` has the no-check extension. @default true */
  readonly noCheck?: boolean;
  /** @default 'p-256' */
  readonly timestampKey?: KeyKind;
  readonly caKey?: KeyKind;
}

const DAY = 86_400_000;

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

export function makeAuthorityPki(options: AuthorityPkiOptions): AuthorityPki {
  const { baseUrl, now } = options;
  const period = { notBefore: now - DAY, notAfter: now + 3650 * DAY };
  const named = (name: string) => ({ country: 'XX', organization: 'Sealwright tests', commonName: name });
  const caKey = options.caKey ?? 'p-256';

  /** Issues a certificate that names the revocation sources of its issuer. */
  const issue = (
    name: string,
    pair: ReturnType<typeof keyOf>,
    {
      issuer,
      use,
      sources,
      differences = {},
    }: {
      readonly issuer: Pick<TestCa, 'id' | 'name' | 'key'>;
      readonly use: CertificateUse;
      readonly sources: Sources;
      readonly differences?: Partial<CertificateRequest> | undefined;
    },
  ): Identity => {
    const certificate = issueCertificate({
      subject: named(name),
      issuer: named(issuer.name),
      publicKey: pair.publicKey,
      issuerKey: issuer.key,
      serial: randomBytes(16),
      ...period,
      use,
      ...(sources.includes('ocsp') ? { ocspUrl: `${baseUrl}/ocsp/${issuer.id}` } : {}),
      ...(sources.includes('crl') ? { crlUrl: `${baseUrl}/crl/${issuer.id}` } : {}),
      issuerUrl: `${baseUrl}/ca/${issuer.id}`,
      ...differences,
    });
    return { name, key: pair.privateKey, certificate };
  };

  const rootKeys = keyOf(caKey);
  const rootId = { id: 'root', name: 'Authority Root', key: rootKeys.privateKey };
  const rootCertificate = issueCertificate({
    subject: named(rootId.name),
    issuer: named(rootId.name),
    publicKey: rootKeys.publicKey,
    issuerKey: rootId.key,
    serial: randomBytes(16),
    ...period,
    use: { kind: 'ca' },
  });
  const root: TestCa = {
    ...rootId,
    certificate: rootCertificate,
    responder: { key: rootId.key, certificate: rootCertificate },
  };
  const ca = (name: string) =>
    issue(name, keyOf(caKey), { issuer: root, use: { kind: 'ca', pathLength: 0 }, sources: 'crl' });
  const issuingCa = ca('Authority Issuing CA');
  const noCheck = options.noCheck ?? true;
  const responder = issue('Authority OCSP responder', keyOf('p-256'), {
    issuer: { ...issuingCa, id: 'issuing' },
    use: { kind: 'ocsp', noCheck },
    sources: noCheck ? 'none' : 'crl',
  });
  const issuing: TestCa = { ...issuingCa, id: 'issuing', responder };
  const stampingCa = ca('Authority Time-stamping CA');
  const stamping: TestCa = { ...stampingCa, id: 'stamping', responder: stampingCa };
  const timestampSigner = issue('Authority time-stamps', keyOf(options.timestampKey ?? 'p-256'), {
    issuer: stamping,
    use: { kind: 'timestamping' },
    sources: 'ocsp+crl',
  });

  const makeSigner = (kind: KeyKind, differences: Partial<CertificateRequest> = {}): TestSigner => {
    const pair = keyOf(kind);
    const use: CertificateUse = { kind: 'signer', purposes: DOCUMENT_SIGNING };
    const sources = options.sources ?? 'ocsp+crl';
    const { certificate } = issue(`Signer ${kind}`, pair, { issuer: issuing, use, sources, differences });
    return testSigner(pair.privateKey, certificate, [issuing.certificate]);
  };

  const folder = mkdtempSync(join(tmpdir(), 'sealwright-authority-'));
  folders.push(folder);
  const file = (name: string, der: Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, certificatePem(der));
    return path;
  };
  const signers = new Map<KeyKind, TestSigner>();
  return {
    root,
    issuing,
    stamping,
    timestampSigner,
    signer(kind) {
      const known = signers.get(kind) ?? makeSigner(kind);
      signers.set(kind, known);
      return known;
    },
    freshSigner: (differences) => makeSigner('p-256', differences),
    folder,
    rootFile: file('root.crt', root.certificate),
    issuingFile: file('issuing.crt', issuing.certificate),
    stampingFile: file('stamping.crt', stamping.certificate),
  };
}
