/** What signing and path checks need to know of an X.509 certificate (RFC 5280 §4.1). */
import { createHash, type KeyObject, X509Certificate } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import {
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  oidText,
  readWhole,
} from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { readTime } from '../asn1/time.ts';
import { CryptoError } from '../types.ts';
import { type CertificateExtensions, readExtensions } from './extensions.ts';
import { nameKey } from './names.ts';

export type { KeyUsage } from './extensions.ts';

export interface Certificate extends CertificateExtensions {
  readonly der: Buffer;
  /** Lower-case hex SHA-256 of `der`. */
  readonly fingerprint: string;
  /** DER of the serial number, header included. */
  readonly serial: Buffer;
  /** DER of the issuer's name. */
  readonly issuer: Buffer;
  /** DER of the subject's name. */
  readonly subject: Buffer;
  /** Equal for names that mean the same (`nameKey`). */
  readonly issuerKey: string;
  readonly subjectKey: string;
  /** First and last millisecond of validity, since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Dotted identifier of the algorithm the issuer signed with. */
  readonly signatureAlgorithm: string;
  /** DER of SubjectPublicKeyInfo, and the bits of the key in it, which identifiers of keys are hashes of. */
  readonly publicKeyInfo: Buffer;
  readonly publicKeyBits: Buffer;
  readonly publicKey: KeyObject;
  /** True when the key of `issuer` made this certificate's signature. */
  signedBy(issuer: Certificate): boolean;
}

/** Certificates kept parsed; the same few sign and issue everything a process sees. */
const KEPT = 1024;
const parsed = new Map<string, Certificate>();

/** A certificate that is handed around needs no second digest; nobody writes into a buffer he handed over. */
const same = new WeakMap<Buffer, Certificate>();

/**
 * Reads one DER certificate; the same bytes give the same object while they are remembered.
 * @throws {CryptoError} `certificate.malformed`
 */
export function readCertificate(der: Buffer): Certificate {
  const seen = same.get(der);
  if (seen !== undefined) return seen;
  const certificate = byContent(der);
  same.set(der, certificate);
  return certificate;
}

function byContent(der: Buffer): Certificate {
  const fingerprint = fingerprintOf(der);
  const known = parsed.get(fingerprint);
  if (known !== undefined) return known;
  const certificate = parse(Buffer.from(der), fingerprint);
  if (parsed.size >= KEPT) parsed.delete(parsed.keys().next().value ?? '');
  parsed.set(fingerprint, certificate);
  return certificate;
}

/** As `readCertificate`, for certificates that may be passed over: none when it can't be read, else one. */
export function readableCertificates(der: Buffer): Certificate[] {
  try {
    return [readCertificate(der)];
  } catch {
    return [];
  }
}

/** Lower-case hex SHA-256 of a DER certificate. */
export function fingerprintOf(der: Uint8Array): string {
  return createHash('sha256').update(der).digest('hex');
}

function parse(der: Buffer, fingerprint: string): Certificate {
  try {
    const outer = enter(readWhole(der), TAG.sequence);
    const fields = enter(outer.take(), TAG.sequence);
    const algorithm = enter(outer.take(), TAG.sequence).take();
    fields.takeIf(TAG.context0Constructed);
    const serial = fields.take(TAG.integer);
    fields.take(TAG.sequence);
    const issuer = fields.take(TAG.sequence);
    const validity = enter(fields.take(), TAG.sequence);
    const notBefore = readTime(validity.take());
    const notAfter = readTime(validity.take());
    const subject = fields.take(TAG.sequence);
    const keyInfo = fields.take(TAG.sequence);
    const keyFields = new Cursor(keyInfo);
    keyFields.take(TAG.sequence);
    const keyBits = contents(keyFields.take(TAG.bitString)).subarray(1);
    const extensions = readExtensions(extensionElements(fields));
    const native = new X509Certificate(der);
    const issuers = new Map<string, boolean>();
    return {
      der,
      fingerprint,
      serial: encoded(serial),
      issuer: encoded(issuer),
      subject: encoded(subject),
      issuerKey: nameKey(encoded(issuer)),
      subjectKey: nameKey(encoded(subject)),
      notBefore,
      notAfter: notAfter + 999,
      signatureAlgorithm: oidText(algorithm),
      publicKeyInfo: encoded(keyInfo),
      publicKeyBits: keyBits,
      publicKey: native.publicKey,
      ...extensions,
      signedBy(other) {
        // A fact of mathematics about two byte strings, so it may be remembered; bounded by the issuers kept.
        let good = issuers.get(other.fingerprint);
        if (good === undefined) {
          good = verifies(native, other.publicKey);
          if (issuers.size >= 8) issuers.clear();
          issuers.set(other.fingerprint, good);
        }
        return good;
      },
    };
  } catch (error) {
    const reason = error instanceof Asn1Error ? error.message : 'the public key is not understood';
    throw new CryptoError('certificate.malformed', `The certificate can't be read: ${reason}.`);
  }
}

/** A key of a kind the signature can't be from is an error in some cases, and wrong in all. */
function verifies(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return certificate.verify(key);
  } catch {
    return false;
  }
}

function extensionElements(fields: Cursor): Element[] {
  while (!fields.done) {
    const field = fields.take();
    if (field.tag !== TAG.context3Constructed) continue;
    return childrenOf(new Cursor(field).take(TAG.sequence));
  }
  return [];
}
