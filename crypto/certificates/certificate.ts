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
  octets,
  oidText,
  readWhole,
  smallInteger,
} from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { readTime } from '../asn1/time.ts';
import { CryptoError } from '../types.ts';

export interface Certificate {
  readonly der: Buffer;
  /** Lower-case hex SHA-256 of `der`. */
  readonly fingerprint: string;
  /** DER of the serial number, header included. */
  readonly serial: Buffer;
  /** DER of the issuer's name. */
  readonly issuer: Buffer;
  /** DER of the subject's name. */
  readonly subject: Buffer;
  /** First and last millisecond of validity, since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Dotted identifier of the algorithm the issuer signed with. */
  readonly signatureAlgorithm: string;
  readonly publicKey: KeyObject;
  /** From basicConstraints; `pathLength` counts the CA certificates allowed below. */
  readonly ca: boolean;
  readonly pathLength: number | undefined;
  /** From keyUsage; undefined when the extension is absent. */
  readonly keyUsage: KeyUsage | undefined;
  /** Dotted purposes of extendedKeyUsage; undefined when absent. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  /** Value of subjectKeyIdentifier; undefined when absent. */
  readonly subjectKeyId: Buffer | undefined;
  /** Dotted identifiers of critical extensions this file doesn't understand. */
  readonly unknownCritical: readonly string[];
  /** True when the key of `issuer` made this certificate's signature. */
  signedBy(issuer: Certificate): boolean;
}

export interface KeyUsage {
  readonly digitalSignature: boolean;
  readonly nonRepudiation: boolean;
  readonly keyCertSign: boolean;
}

/** Certificates kept parsed; the same few sign and issue everything a process sees. */
const KEPT = 512;
const parsed = new Map<string, Certificate>();

/**
 * Reads one DER certificate; the same bytes give the same object while they are remembered.
 * @throws {CryptoError} `certificate.malformed`
 */
export function readCertificate(der: Buffer): Certificate {
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
    fields.take(TAG.sequence);
    const extensions = readExtensions(fields);
    const native = new X509Certificate(der);
    const issuers = new Map<string, boolean>();
    return {
      der,
      fingerprint,
      serial: encoded(serial),
      issuer: encoded(issuer),
      subject: encoded(subject),
      notBefore,
      notAfter: notAfter + 999,
      signatureAlgorithm: oidText(algorithm),
      publicKey: native.publicKey,
      ...extensions,
      signedBy(other) {
        // A fact of mathematics about two byte strings, so it may be remembered; bounded by the issuers kept.
        let good = issuers.get(other.fingerprint);
        if (good === undefined) {
          good = native.verify(other.publicKey);
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

type Extensions = Pick<
  Certificate,
  'ca' | 'pathLength' | 'keyUsage' | 'extendedKeyUsage' | 'subjectKeyId' | 'unknownCritical'
>;

/** Critical extensions that are understood, or that can't make an accepted path wrong. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  '2.5.29.14', // subjectKeyIdentifier
  '2.5.29.15', // keyUsage
  '2.5.29.17', // subjectAltName
  '2.5.29.19', // basicConstraints
  '2.5.29.31', // cRLDistributionPoints
  '2.5.29.32', // certificatePolicies: no policy is asked for, so any set will do
  '2.5.29.35', // authorityKeyIdentifier
  '2.5.29.37', // extKeyUsage
]);

function readExtensions(fields: Cursor): Extensions {
  let ca = false;
  let pathLength: number | undefined;
  let keyUsage: KeyUsage | undefined;
  let extendedKeyUsage: string[] | undefined;
  let subjectKeyId: Buffer | undefined;
  const unknownCritical: string[] = [];
  const seen = new Set<string>();
  for (const extension of extensionElements(fields)) {
    const parts = enter(extension, TAG.sequence);
    const id = oidText(parts.take());
    if (seen.has(id)) throw new Asn1Error('an extension appears twice', extension.start);
    seen.add(id);
    const flag = parts.takeIf(TAG.boolean);
    const critical = flag !== undefined && contents(flag)[0] !== 0;
    const value = octets(parts.take());
    if (id === '2.5.29.19') {
      const constraints = enter(readWhole(value), TAG.sequence);
      const authority = constraints.takeIf(TAG.boolean);
      ca = authority !== undefined && contents(authority)[0] !== 0;
      const length = constraints.takeIf(TAG.integer);
      if (length !== undefined) pathLength = smallInteger(length);
    } else if (id === '2.5.29.15') {
      keyUsage = readKeyUsage(readWhole(value));
    } else if (id === '2.5.29.37') {
      extendedKeyUsage = childrenOf(readWhole(value)).map(oidText);
    } else if (id === '2.5.29.14') {
      subjectKeyId = octets(readWhole(value));
    } else if (critical && !UNDERSTOOD.has(id)) {
      unknownCritical.push(id);
    }
  }
  return { ca, pathLength, keyUsage, extendedKeyUsage, subjectKeyId, unknownCritical };
}

function extensionElements(fields: Cursor): Element[] {
  while (!fields.done) {
    const field = fields.take();
    if (field.tag !== TAG.context3Constructed) continue;
    return childrenOf(new Cursor(field).take(TAG.sequence));
  }
  return [];
}

function readKeyUsage(element: Element): KeyUsage {
  if (element.tag !== TAG.bitString) throw new Asn1Error('key usage malformed', element.start);
  const bits = contents(element)[1] ?? 0;
  return {
    digitalSignature: (bits & 0x80) !== 0,
    nonRepudiation: (bits & 0x40) !== 0,
    keyCertSign: (bits & 0x04) !== 0,
  };
}
