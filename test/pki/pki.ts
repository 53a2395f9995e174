/**
 * Test PKI, created once per process: a root, an issuing CA, document signers of every supported key type, and an
 * untrusted root. Certificates meet pdfsig's requirements (e-mail protection, CRL address).
 */
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Signer } from '#crypto/core/types.js';
import { type LocalKey, localKey } from '#crypto/keys/transfer.js';
import { certificatePem, fingerprintOf } from '#crypto/x509/certificate.js';
import { DOCUMENT_SIGNING, issueCertificate } from './issuing.ts';

export type KeyKind = 'rsa-2048' | 'rsa-3072' | 'p-256' | 'p-384' | 'p-521' | 'ed25519';

/** A signer whose private key is available to tests. */
export interface TestSigner extends Signer {
  readonly key: LocalKey;
}

export interface Identity {
  readonly name: string;
  readonly key: KeyObject;
  readonly certificate: Buffer;
}

export interface Pki {
  readonly root: Identity;
  readonly issuing: Identity;
  /** An untrusted root with a similar name, which issued only `stranger`. */
  readonly otherRoot: Identity;
  /** Signer below `issuing`; keys are created on first use. */
  signer(kind: KeyKind): TestSigner;
  /** Signer below `otherRoot`, P-256. */
  untrustedSigner(): TestSigner;
  /** A signer below `issuing` with the given validity (milliseconds since the epoch), P-256. */
  signerValid(notBefore: number, notAfter: number): TestSigner;
  /** Folder with root.crt, issuing.crt, other-root.crt (PEM); removed when the process ends. */
  readonly folder: string;
  readonly rootFile: string;
  readonly issuingFile: string;
  readonly otherRootFile: string;
}

const DAY = 86_400_000;

let made: Pki | undefined;

/** Returns the PKI of this process. */
export function pki(): Pki {
  made ??= makePki();
  return made;
}

function makePki(): Pki {
  const now = Date.now();
  const notBefore = now - DAY;
  const notAfter = now + 3650 * DAY;
  const folder = mkdtempSync(join(tmpdir(), 'sealwright-pki-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

  const selfSigned = (name: string): Identity => {
    const key = keyOf('p-256');
    const subject = { country: 'XX', organization: 'Sealwright tests', commonName: name };
    const certificate = issueCertificate({
      subject,
      issuer: subject,
      ...key,
      issuerKey: key.privateKey,
      serial: randomBytes(16),
      notBefore,
      notAfter,
      use: { kind: 'ca' },
    });
    return { name, key: key.privateKey, certificate };
  };
  const named = (name: string) => ({ country: 'XX', organization: 'Sealwright tests', commonName: name });

  const root = selfSigned('Test Root');
  const otherRoot = selfSigned('Unrelated Root');
  const issuingKey = keyOf('p-256');
  const issuing: Identity = {
    name: 'Test Issuing CA',
    key: issuingKey.privateKey,
    certificate: issueCertificate({
      subject: named('Test Issuing CA'),
      issuer: named(root.name),
      publicKey: issuingKey.publicKey,
      issuerKey: root.key,
      serial: randomBytes(16),
      notBefore,
      notAfter,
      use: { kind: 'ca', pathLength: 0 },
      crlUrl: 'http://127.0.0.1:8899/root.crl',
    }),
  };

  const makeSigner = (kind: KeyKind, issuer: Identity, from = notBefore, to = notAfter): TestSigner => {
    const pair = keyOf(kind);
    const certificate = issueCertificate({
      subject: named(`Signer ${kind}`),
      issuer: named(issuer.name),
      publicKey: pair.publicKey,
      issuerKey: issuer.key,
      serial: randomBytes(16),
      notBefore: from,
      notAfter: to,
      use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
      crlUrl: 'http://127.0.0.1:8899/int.crl',
    });
    return testSigner(pair.privateKey, certificate, issuer === issuing ? [issuing.certificate] : []);
  };

  const file = (name: string, der: Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, certificatePem(der));
    return path;
  };
  const signers = new Map<KeyKind, TestSigner>();
  let untrusted: TestSigner | undefined;
  return {
    root,
    issuing,
    otherRoot,
    signer(kind) {
      const known = signers.get(kind) ?? makeSigner(kind, issuing);
      signers.set(kind, known);
      return known;
    },
    untrustedSigner() {
      untrusted ??= makeSigner('p-256', otherRoot);
      return untrusted;
    },
    signerValid: (from, to) => makeSigner('p-256', issuing, from, to),
    folder,
    rootFile: file('root.crt', root.certificate),
    issuingFile: file('issuing.crt', issuing.certificate),
    otherRootFile: file('other-root.crt', otherRoot.certificate),
  };
}

/** Creates a key pair. */
export function keyOf(kind: KeyKind): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  switch (kind) {
    case 'rsa-2048':
      return generateKeyPairSync('rsa', { modulusLength: 2048 });
    case 'rsa-3072':
      return generateKeyPairSync('rsa', { modulusLength: 3072 });
    case 'p-256':
      return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    case 'p-384':
      return generateKeyPairSync('ec', { namedCurve: 'secp384r1' });
    case 'p-521':
      return generateKeyPairSync('ec', { namedCurve: 'secp521r1' });
    case 'ed25519':
      return generateKeyPairSync('ed25519');
  }
}

/** Creates a signer from a key and its certificate; `chain` as in `SignerIdentity`. */
export function testSigner(privateKey: KeyObject, certificate: Buffer, chain: readonly Buffer[]): TestSigner {
  const key = localKey(privateKey);
  const fingerprint = fingerprintOf(certificate);
  return { key, certificate, chain, keyType: key.type, keyBits: key.bits, fingerprint };
}

/** Exports a private key as PKCS#8 PEM. */
export function keyPemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** A signer below `issuing` whose name has a national number, P-256. */
export function signerHolding(number: string): TestSigner {
  const { publicKey, privateKey } = keyOf('p-256');
  const { issuing } = pki();
  const certificate = issueCertificate({
    subject: { country: 'XX', commonName: `SOMEBODY:${number}` },
    issuer: { country: 'XX', organization: 'Sealwright tests', commonName: issuing.name },
    publicKey,
    issuerKey: issuing.key,
    serial: Buffer.from(number, 'latin1'),
    notBefore: Date.now() - DAY,
    notAfter: Date.now() + DAY,
    use: { kind: 'signer', purposes: DOCUMENT_SIGNING },
  });
  return testSigner(privateKey, certificate, [issuing.certificate]);
}
