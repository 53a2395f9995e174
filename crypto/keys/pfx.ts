/**
 * Opens PKCS#12 containers (RFC 7292), those of old programs (RC2, 3DES) and of new ones (PBES2 with AES).
 * Certificates come out byte for byte as they went in.
 */
import { createHmac, createPrivateKey, type KeyObject, timingSafeEqual } from 'node:crypto';
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
import { parseAlgorithm } from '../cms/parse.ts';
import { CryptoError } from '../types.ts';
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

/** Bags inside bags; nobody makes more than one level. */
const MAX_DEPTH = 4;

/**
 * Everything inside one container. With an integrity value, that decides whether the password is right; without, the
 * decryption does.
 * @throws {CryptoError} `key.password`, `key.unreadable`
 */
export async function openPfx(bytes: Buffer, password: string): Promise<Pfx> {
  const found: Found = { password, keys: [], certificates: [] };
  try {
    const outer = enter(readElement(bytes), TAG.sequence);
    smallInteger(outer.take());
    const safe = dataOf(outer.take());
    const mac = outer.takeIf(TAG.sequence);
    if (mac !== undefined && !integrityHolds(mac, safe, password)) throw wrongPassword();
    for (const contentInfo of childrenOf(sequenceIn(safe))) await takeSafe(contentInfo, found);
  } catch (error) {
    if (error instanceof CryptoError) throw error;
    const reason = error instanceof Asn1Error ? error.message : 'a part of it is damaged';
    throw new CryptoError('key.unreadable', `The PKCS#12 container can't be read: ${reason}.`);
  }
  return found;
}

interface Found {
  readonly password: string;
  readonly keys: KeyObject[];
  readonly certificates: Buffer[];
}

async function takeSafe(contentInfo: Element, found: Found): Promise<void> {
  const fields = enter(contentInfo, TAG.sequence);
  if (oidText(fields.take()) !== ENCRYPTED_DATA) {
    await takeBags(sequenceIn(dataOf(contentInfo)), found, 0);
    return;
  }
  const encryptedData = enter(enter(fields.take(), TAG.context0Constructed).take(), TAG.sequence);
  smallInteger(encryptedData.take());
  const info = enter(encryptedData.take(), TAG.sequence);
  info.take(TAG.oid);
  const algorithm = info.take(TAG.sequence);
  const plain = await decrypted(algorithm, implicitOctets(info.take()), found.password);
  await takeBags(plain, found, 0);
}

async function takeBags(safeContents: Element, found: Found, depth: number): Promise<void> {
  if (depth === MAX_DEPTH) throw new Asn1Error('bags nested too deeply', safeContents.start);
  for (const bag of childrenOf(safeContents)) {
    const fields = enter(bag, TAG.sequence);
    const type = oidText(fields.take());
    const value = enter(fields.take(), TAG.context0Constructed).take();
    if (type === BAG.key) {
      found.keys.push(privateKey(value));
    } else if (type === BAG.shroudedKey) {
      const shrouded = enter(value, TAG.sequence);
      const algorithm = shrouded.take(TAG.sequence);
      found.keys.push(privateKey(await decrypted(algorithm, octets(shrouded.take()), found.password)));
    } else if (type === BAG.certificate) {
      const certificate = enter(value, TAG.sequence);
      if (oidText(certificate.take()) !== X509_CERTIFICATE) continue;
      found.certificates.push(octets(enter(certificate.take(), TAG.context0Constructed).take()));
    } else if (type === BAG.safeContents) {
      await takeBags(value, found, depth + 1);
    }
  }
}

/** Decrypts to the SEQUENCE that everything encrypted here is. @throws {CryptoError} `key.password` */
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
    // One wrong password in some hundreds leaves padding that looks right.
    throw wrongPassword();
  }
}

function privateKey(element: Element): KeyObject {
  return createPrivateKey({ key: encoded(element), format: 'der', type: 'pkcs8' });
}

/** HMAC over the safe, with a key made from the password (RFC 7292 §4, appendix B; RFC 9579 for PBMAC1). */
function integrityHolds(mac: Element, safe: Buffer, password: string): boolean {
  const fields = enter(mac, TAG.sequence);
  const digestInfo = enter(fields.take(), TAG.sequence);
  const algorithm = digestInfo.take(TAG.sequence);
  const expected = octets(digestInfo.take());
  const { id, parameters } = parseAlgorithm(algorithm);
  if (id === PBMAC1) {
    if (parameters === undefined) throw new Asn1Error('integrity parameters are missing', algorithm.start);
    const scheme = enter(parameters, TAG.sequence);
    const key = derivedKey(scheme.take(), password);
    return isMac(expected, hmacHash(scheme.take()), key, safe, mac);
  }
  const hash = hashNamed(algorithm);
  const salt = octets(fields.take());
  const rounds = fields.done ? 1 : roundsOf(fields.take());
  // Programs disagree on whether no password is an empty one: with its two zero bytes, or nothing at all.
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

/** Bytes of a ContentInfo of type data. */
function dataOf(contentInfo: Element): Buffer {
  const fields = enter(contentInfo, TAG.sequence);
  if (oidText(fields.take()) !== OID.data) {
    throw new Asn1Error('protection by certificate is not supported', contentInfo.start);
  }
  return octets(enter(fields.take(), TAG.context0Constructed).take());
}

function sequenceIn(bytes: Buffer): Element {
  const element = readElement(bytes);
  if (element.tag !== TAG.sequence) throw new Asn1Error('expected a sequence', 0);
  return element;
}

/** Bytes of `[0] IMPLICIT OCTET STRING`. */
function implicitOctets(element: Element): Buffer {
  if (element.tag === TAG.context0) return contents(element);
  if (element.tag !== TAG.context0Constructed) throw new Asn1Error('expected an octet string', element.start);
  const pieces = new Cursor(element);
  const bytes: Buffer[] = [];
  while (!pieces.done) bytes.push(contents(pieces.take(TAG.octetString)));
  return Buffer.concat(bytes);
}

function wrongPassword(): CryptoError {
  return new CryptoError('key.password', 'The password does not open the container.');
}
