/**
 * Reads PKCS#12 containers (RFC 7292), of old programs (RC2, 3DES) and of new ones (PBES2 with AES).
 * Certificates are returned byte for byte.
 */
import { createHmac, createPrivateKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { parseAlgorithm } from '../algorithms/algorithm.ts';
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import {
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  octets,
  oidText,
  readElement,
  smallInteger,
} from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { CryptoError } from '../core/types.ts';
import { derivedKey, type HashName, hmacHash, roundsOf } from './derived-key.ts';
import { decryptWithPassword, hashNamed, pkcs12Key, pkcs12Password } from './password-encryption.ts';

export interface Pfx {
  readonly keys: readonly KeyObject[];
  /** DER, in the order of the container. */
  readonly certificates: readonly Buffer[];
}

/** RFC 8018 §7.1. */
const PBMAC1 = '1.2.840.113549.1.5.14';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
const BAG = {
  key: '1.2.840.113549.1.12.10.1.1',
  shroudedKey: '1.2.840.113549.1.12.10.1.2',
  certificate: '1.2.840.113549.1.12.10.1.3',
  safeContents: '1.2.840.113549.1.12.10.1.6',
} as const;

/** Most nested SafeContents bags; writers make at most one level. */
const MAX_DEPTH = 4;

/**
 * Reads a container. The integrity value, if present, decides whether the password is right; otherwise the
 * decryption does.
 *     PFX ::= SEQUENCE { version INTEGER, authSafe ContentInfo, macData MacData OPTIONAL }
 *     AuthenticatedSafe ::= SEQUENCE OF ContentInfo      -- inside authSafe: Data or EncryptedData
 * @throws {CryptoError} `key.password`, `key.unreadable`
 */
export async function openPfx(bytes: Buffer, password: string): Promise<Pfx> {
  const found: PfxContents = { password, keys: [], certificates: [] };
  try {
    const outer = enter(readElement(bytes), TAG.sequence);
    smallInteger(outer.next());
    const safe = dataOf(outer.next());
    const mac = outer.nextIf(TAG.sequence);
    if (mac !== undefined && !integrityHolds(mac, safe, password)) throw wrongPassword();
    for (const contentInfo of childrenOf(sequenceIn(safe))) await readSafeContents(contentInfo, found);
  } catch (error) {
    if (error instanceof CryptoError) throw error;
    const reason = error instanceof Asn1Error ? error.message : 'a part of it is damaged';
    throw new CryptoError('key.unreadable', `The PKCS#12 container can't be read: ${reason}.`);
  }
  return found;
}

interface PfxContents {
  readonly password: string;
  readonly keys: KeyObject[];
  readonly certificates: Buffer[];
}

/**
 * Reads one ContentInfo of the AuthenticatedSafe (RFC 7292 §4.1; EncryptedData: RFC 5652 §8).
 *     EncryptedData ::= SEQUENCE {
 *      version INTEGER,
 *      encryptedContentInfo SEQUENCE {
 *        contentType OBJECT IDENTIFIER, contentEncryptionAlgorithm AlgorithmIdentifier,
 *        encryptedContent [0] IMPLICIT OCTET STRING OPTIONAL } }
 */
async function readSafeContents(contentInfo: Element, found: PfxContents): Promise<void> {
  const fields = enter(contentInfo, TAG.sequence);
  if (oidText(fields.next()) !== ENCRYPTED_DATA) {
    await readBags(sequenceIn(dataOf(contentInfo)), found, 0);
    return;
  }
  const encryptedData = enter(enter(fields.next(), TAG.context0Constructed).next(), TAG.sequence);
  smallInteger(encryptedData.next());
  const info = enter(encryptedData.next(), TAG.sequence);
  info.next(TAG.oid);
  const algorithm = info.next(TAG.sequence);
  const plain = await decrypted(algorithm, implicitOctets(info.next()), found.password);
  await readBags(plain, found, 0);
}

/**
 * Reads the bags of a SafeContents (RFC 7292 §4.2).
 *     SafeContents ::= SEQUENCE OF SafeBag
 *     SafeBag ::= SEQUENCE { bagId OBJECT IDENTIFIER, bagValue [0] EXPLICIT ANY, bagAttributes SET OF … OPTIONAL }
 *     CertBag ::= SEQUENCE { certId OBJECT IDENTIFIER, certValue [0] EXPLICIT OCTET STRING }
 *     PKCS8ShroudedKeyBag ::= EncryptedPrivateKeyInfo      -- SEQUENCE { AlgorithmIdentifier, OCTET STRING }
 */
async function readBags(safeContents: Element, found: PfxContents, depth: number): Promise<void> {
  if (depth === MAX_DEPTH) throw new Asn1Error('bags nested too deeply', safeContents.start);
  for (const bag of childrenOf(safeContents)) {
    const fields = enter(bag, TAG.sequence);
    const type = oidText(fields.next());
    const value = enter(fields.next(), TAG.context0Constructed).next();
    if (type === BAG.key) {
      found.keys.push(privateKey(value));
    } else if (type === BAG.shroudedKey) {
      const shrouded = enter(value, TAG.sequence);
      const algorithm = shrouded.next(TAG.sequence);
      found.keys.push(privateKey(await decrypted(algorithm, octets(shrouded.next()), found.password)));
    } else if (type === BAG.certificate) {
      const certificate = enter(value, TAG.sequence);
      if (oidText(certificate.next()) !== X509_CERTIFICATE) continue;
      found.certificates.push(octets(enter(certificate.next(), TAG.context0Constructed).next()));
    } else if (type === BAG.safeContents) {
      await readBags(value, found, depth + 1);
    }
  }
}

/** Decrypts a SafeContents or a PrivateKeyInfo, both a SEQUENCE. @throws {CryptoError} `key.password` */
async function decrypted(algorithm: Element, encrypted: Buffer, password: string): Promise<Element> {
  let plain: Buffer;
  try {
    plain = await decryptWithPassword(algorithm, encrypted, password);
  } catch (error) {
    if (error instanceof Asn1Error) throw error;
    throw wrongPassword();
  }
  try {
    return sequenceIn(plain);
  } catch {
    // One wrong password in a few hundred leaves padding that looks right.
    throw wrongPassword();
  }
}

function privateKey(element: Element): KeyObject {
  return createPrivateKey({ key: encoded(element), format: 'der', type: 'pkcs8' });
}

/**
 * Verifies the HMAC over the AuthenticatedSafe with a key from the password (RFC 7292 §4, appendix B; RFC 9579 for
 * PBMAC1).
 *     MacData ::= SEQUENCE {
 *      mac SEQUENCE { digestAlgorithm AlgorithmIdentifier, digest OCTET STRING },
 *      macSalt OCTET STRING, iterations INTEGER DEFAULT 1 }
 */
function integrityHolds(mac: Element, safe: Buffer, password: string): boolean {
  const fields = enter(mac, TAG.sequence);
  const digestInfo = enter(fields.next(), TAG.sequence);
  const algorithm = digestInfo.next(TAG.sequence);
  const expected = octets(digestInfo.next());
  const { id, parameters } = parseAlgorithm(algorithm);
  if (id === PBMAC1) {
    if (parameters === undefined) throw new Asn1Error('integrity parameters are missing', algorithm.start);
    const scheme = enter(parameters, TAG.sequence);
    const key = derivedKey(scheme.next(), password);
    return isMac(expected, hmacHash(scheme.next()), key, safe, mac);
  }
  const hash = hashNamed(algorithm);
  const salt = octets(fields.next());
  const rounds = fields.done ? 1 : roundsOf(fields.next());
  // Writers encode an absent password as two zero bytes or as no bytes.
  const secrets = password === '' ? [pkcs12Password(''), Buffer.alloc(0)] : [pkcs12Password(password)];
  return secrets.some((secret) => {
    const key = hash && pkcs12Key(hash, 'mac', secret, salt, rounds, expected.length);
    return isMac(expected, hash, key, safe, mac);
  });
}

function isMac(
  expected: Buffer,
  hash: HashName | undefined,
  key: Buffer | undefined,
  safe: Buffer,
  mac: Element,
): boolean {
  if (hash === undefined || key === undefined) {
    throw new Asn1Error('the kind of integrity value is not supported', mac.start);
  }
  const actual = createHmac(hash, key).update(safe).digest();
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** Returns the content of a ContentInfo of type data. */
function dataOf(contentInfo: Element): Buffer {
  const fields = enter(contentInfo, TAG.sequence);
  if (oidText(fields.next()) !== OID.data) {
    throw new Asn1Error('protection by certificate is not supported', contentInfo.start);
  }
  return octets(enter(fields.next(), TAG.context0Constructed).next());
}

function sequenceIn(bytes: Buffer): Element {
  const element = readElement(bytes);
  if (element.tag !== TAG.sequence) throw new Asn1Error('expected a sequence', 0);
  return element;
}

/** Returns the bytes of `[0] IMPLICIT OCTET STRING`. */
function implicitOctets(element: Element): Buffer {
  if (element.tag === TAG.context0) return contents(element);
  if (element.tag !== TAG.context0Constructed) throw new Asn1Error('expected an octet string', element.start);
  const pieces = new Cursor(element);
  const bytes: Buffer[] = [];
  while (!pieces.done) bytes.push(contents(pieces.next(TAG.octetString)));
  return Buffer.concat(bytes);
}

function wrongPassword(): CryptoError {
  return new CryptoError('key.password', 'The password does not open the container.');
}
