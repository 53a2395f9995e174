/** Fields of an X.509 certificate for signing and path validation (RFC 5280 §4.1). */
import { createHash, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import {
  Asn1Error,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  firstElement,
  oidText,
  parseAlgorithm,
  readWhole,
  TAG,
} from '../asn1/read.ts';
import { readTime } from '../asn1/time.ts';
import { CryptoError } from '../core/types.ts';
import { algorithmName } from './algorithm-names.ts';
import { type CertificateExtensions, readExtensions } from './extensions.ts';
import { isAnybodys } from './key-strength.ts';
import { nameKey } from './names.ts';

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
  /** Equal for names that match (`nameKey`). */
  readonly issuerKey: string;
  readonly subjectKey: string;
  /** First and last millisecond of validity, since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Dotted identifier of the algorithm the issuer signed with. */
  readonly signatureAlgorithm: string;
  /** DER of SubjectPublicKeyInfo, and its key bits, the input of key identifiers. */
  readonly publicKeyInfo: Buffer;
  readonly publicKeyBits: Buffer;
  readonly publicKey: KeyObject;
  /** True when the key of `issuer` made the signature of this certificate. */
  signedBy(issuer: Certificate): boolean;
}

/** Parsed certificates in memory; most operations use the same few. */
const CACHE_SIZE = 1024;
const parsed = new LRUCache<string, Certificate>({ max: CACHE_SIZE });

/** Avoids a second digest of the same buffer. */
const same = new WeakMap<Buffer, Certificate>();

/**
 * Parses one DER certificate; equal bytes give the same object while it is cached.
 * Source: RFC 5280 §4.1.
 * @throws {CryptoError} `certificate.malformed`
 */
export function readCertificate(der: Buffer): Certificate {
  const seen = same.get(der);
  // A caller may have written something else into it since.
  if (seen?.der.equals(der) === true) return seen;
  const certificate = byContent(der);
  same.set(der, certificate);
  return certificate;
}

function byContent(der: Buffer): Certificate {
  const fingerprint = fingerprintOf(der);
  const cached = parsed.get(fingerprint);
  if (cached !== undefined) return cached;
  const certificate = parse(Buffer.from(der), fingerprint);
  parsed.set(fingerprint, certificate);
  return certificate;
}

/** Parses a certificate that may be ignored: returns an empty list when it is unreadable, else one element. */
export function readableCertificates(der: Buffer): Certificate[] {
  try {
    return [readCertificate(der)];
  } catch {
    return [];
  }
}

/** Returns the lower-case hex SHA-256 of a DER certificate. */
export function fingerprintOf(der: Uint8Array): string {
  return hash('sha256', der);
}

/**
 * Parses a Certificate (RFC 5280 §4.1).
 *     Certificate ::= SEQUENCE { tbsCertificate, signatureAlgorithm AlgorithmIdentifier, signatureValue BIT STRING }
 *     TBSCertificate ::= SEQUENCE {
 *      version [0] EXPLICIT INTEGER DEFAULT v1, serialNumber INTEGER, signature AlgorithmIdentifier,
 *      issuer Name, validity SEQUENCE { notBefore Time, notAfter Time }, subject Name,
 *      subjectPublicKeyInfo SEQUENCE { algorithm AlgorithmIdentifier, subjectPublicKey BIT STRING },
 *      issuerUniqueID [1] IMPLICIT BIT STRING OPTIONAL, subjectUniqueID [2] IMPLICIT BIT STRING OPTIONAL,
 *      extensions [3] EXPLICIT SEQUENCE OF Extension OPTIONAL }
 */
function parse(der: Buffer, fingerprint: string): Certificate {
  try {
    const outer = enter(readWhole(der), TAG.sequence);
    const fields = enter(outer.next(), TAG.sequence);
    const algorithm = enter(outer.next(), TAG.sequence).next();
    fields.nextIf(TAG.context0Constructed);
    const serial = fields.next(TAG.integer);
    fields.next(TAG.sequence);
    const issuer = fields.next(TAG.sequence);
    const validity = enter(fields.next(), TAG.sequence);
    const notBefore = readTime(validity.next());
    const notAfter = readTime(validity.next());
    const subject = fields.next(TAG.sequence);
    const keyInfo = fields.next(TAG.sequence);
    const keyFields = new Cursor(keyInfo);
    const { id: keyAlgorithm } = parseAlgorithm(keyFields.next());
    const keyBits = contents(keyFields.next(TAG.bitString)).subarray(1);
    const extensions = readExtensions(extensionElements(fields));
    const native = new X509Certificate(der);
    assertPoint(supportedKey(native, keyAlgorithm), keyBits);
    const issuers = new WeakMap<Certificate, boolean>();
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
        // The result depends on two byte strings only, so it is cached.
        let good = issuers.get(other);
        if (good === undefined) {
          good = verifies(native, other.publicKey);
          issuers.set(other, good);
        }
        return good;
      },
    };
  } catch (error) {
    const reason = error instanceof Asn1Error ? error.message : 'the public key is not understood';
    throw new CryptoError('certificate.malformed', `The certificate can't be read: ${reason}.`);
  }
}

/** Returns the public key. @throws {Asn1Error} that names the kind of a key which OpenSSL does not know */
function supportedKey(native: X509Certificate, algorithm: string): KeyObject {
  try {
    return native.publicKey;
  } catch {
    throw new Asn1Error(`its public key, ${algorithmName(algorithm)}, is not supported`, 0);
  }
}

/**
 * Refuses the point at infinity (SEC 1 §2.3.4), which OpenSSL reads as a public key: Node ends the whole program when it
 * is asked for the details of such a key.
 */
function assertPoint({ asymmetricKeyType }: KeyObject, keyBits: Buffer): void {
  if (asymmetricKeyType === 'ec' && keyBits[0] === 0) throw new Asn1Error('the public key is no point', 0);
}

/** True when the key verifies the certificate; a key of another type may throw. */
function verifies(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    return !isAnybodys(key) && certificate.verify(key);
  } catch {
    return false;
  }
}

function extensionElements(fields: Cursor): Element[] {
  while (!fields.done) {
    const field = fields.next();
    if (field.tag !== TAG.context3Constructed) continue;
    return childrenOf(new Cursor(field).next(TAG.sequence));
  }
  return [];
}

const BLOCK = /-----BEGIN (?:X509 )?CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END (?:X509 )?CERTIFICATE-----/g;

/**
 * Returns the text of a file that may be PEM, one character for each byte. Shells of Windows write UTF-16, and variables
 * hold line ends as `\n`, which Base64 does not contain. A file in DER stays as it is.
 */
export function pemText(file: Buffer): string {
  if (file[0] === 0x30) return file.toString('latin1');
  const mark = file.toString('hex', 0, 2);
  const isWide = file.length % 2 === 0 && (mark === 'fffe' || mark === 'feff');
  const text = isWide
    ? (mark === 'fffe' ? file : Buffer.from(file).swap16()).toString('utf16le')
    : file.toString('latin1');
  return text.replace(/^(?:\u00ef\u00bb\u00bf|\ufeff)/, '').replace(/(?:\\r)?\\n/g, '\n');
}

/**
 * Returns the DER of each certificate in a file that is PEM (with any text around the blocks) or one DER certificate.
 * Source: RFC 7468 §5.
 */
export function certificatesIn(file: Buffer): Buffer[] {
  const blocks = [...pemText(file).matchAll(BLOCK)];
  if (blocks.length === 0) return file[0] === TAG.sequence ? [withoutPadding(file)] : [];
  return blocks.map(([, base64 = '']) => Buffer.from(base64, 'base64'));
}

/** Line ends, spaces, zeros and ones: what devices and editors write after a certificate. */
const PADDING = new Set([0, 0x09, 0x0a, 0x0d, 0x20, 0xff]);

/** Returns the certificate of a file in DER. A file with a second structure stays whole, which is no certificate. */
function withoutPadding(file: Buffer): Buffer {
  const first = firstElement(file);
  const next = file.subarray(first.length).find((byte) => !PADDING.has(byte));
  return next === TAG.sequence ? file : first;
}

/** Formats one DER certificate as PEM, lines of 64 characters (RFC 7468 §5). */
export function certificatePem(der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** Returns the SHA-1 of a DER certificate, upper-case hex, as other programs identify certificates. */
export function thumbprintOf(der: Buffer): string {
  return createHash('sha1').update(der).digest('hex').toUpperCase();
}

/** Normalises a thumbprint (colons, white space, invisible marks, lower case) to the form of `thumbprintOf`. */
export function normalThumbprint(text: string): string {
  return text.replace(/[\s:\p{Cf}]/gu, '').toUpperCase();
}

/**
 * Returns the octets of a serial number without leading zeros. Some authorities write one with a zero too many or too
 * few in the certificate, and another way in their answers; programs write it anew, too.
 * @param serial DER of the INTEGER
 */
export function serialOctets(serial: Buffer): Buffer {
  const octets = contents(readWhole(serial));
  return octets.subarray(leadingZeros(octets, 0, octets.length));
}

/** Counts the zeros before the last octet of a number. */
export function leadingZeros(bytes: Buffer, from: number, to: number): number {
  let at = from;
  while (at < to - 1 && bytes[at] === 0) at++;
  return at - from;
}
