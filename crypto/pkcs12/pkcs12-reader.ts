/**
 * Reads PKCS#12 containers (RFC 7292) of old programs (RC2, triple DES) and of new ones (PBES2). Keys and certificates
 * keep their encoding. Server and browsers use this reader; both give it their cryptographic functions.
 * The browser has no ARIA, Camellia, SHA-224 and scrypt; it checks an integrity value of more than 50,000 rounds only
 * if nothing could be decrypted.
 */
import {
  Asn1Error,
  childrenOf,
  type Element,
  encoded,
  enter,
  implicitOctetSegments,
  oidText,
  parseAlgorithm,
  readElement,
  smallInteger,
  TAG,
} from '../asn1/ber-reader.ts';
import {
  derivedKey,
  HASH_LENGTHS,
  type HashName,
  hashNamed,
  hmacHash,
  joined,
  octets,
  PasswordSource,
  type Pkcs12Primitives,
  pkcs12Key,
  pkcs12Passwords,
  roundsOf,
  UnsupportedScheme,
} from './password-derivation.ts';
import { decryptWithPassword } from './password-encryption.ts';

/**
 * Cause of a failure. `password`: the password is wrong. `integrity`: the password decrypts a part, but another part or
 * the integrity value does not fit. `unsupported`: a scheme or an amount of work that is not supported. `damaged`: a
 * container that breaks off or is malformed. `unreadable`: no container, or one of more than 10 MiB.
 */
export type Pkcs12Fault = 'password' | 'integrity' | 'unsupported' | 'damaged' | 'unreadable';

/** The message is a clause about the container. */
export class Pkcs12Error extends Error {
  readonly fault: Pkcs12Fault;
  constructor(fault: Pkcs12Fault, message: string) {
    super(message);
    this.name = 'Pkcs12Error';
    this.fault = fault;
  }
}

/** A key (PrivateKeyInfo, RFC 5958) or a certificate, encoded as in the container. */
interface Pkcs12Entry {
  readonly der: Uint8Array;
  /** Value of localKeyId, which a key and its certificate have in common, in hex. */
  readonly localKeyId: string | undefined;
}

/** In the order of the container. */
export interface Pkcs12Contents {
  readonly keys: readonly Pkcs12Entry[];
  readonly certificates: readonly Pkcs12Entry[];
}

const DATA = '1.2.840.113549.1.7.1';
const ENCRYPTED_DATA = '1.2.840.113549.1.7.6';
/** RFC 8018 §7.1. */
const PBMAC1 = '1.2.840.113549.1.5.14';
const X509_CERTIFICATE = '1.2.840.113549.1.9.22.1';
const LOCAL_KEY_ID = '1.2.840.113549.1.9.21';
const BAG = {
  key: '1.2.840.113549.1.12.10.1.1',
  shroudedKey: '1.2.840.113549.1.12.10.1.2',
  certificate: '1.2.840.113549.1.12.10.1.3',
  safeContents: '1.2.840.113549.1.12.10.1.6',
} as const;

/** Largest container; those with hundreds of certificates have less than 1 MiB. */
const MAX_BYTES = 10 << 20;
/** Most nested SafeContents bags; writers make at most one level. */
const MAX_DEPTH = 4;

/**
 * Reads a container.
 *     PFX ::= SEQUENCE { version INTEGER {v3(3)}, authSafe ContentInfo, macData MacData OPTIONAL }
 *     AuthenticatedSafe ::= SEQUENCE OF ContentInfo      -- inside authSafe: Data or EncryptedData
 * @throws {Pkcs12Error}
 */
export async function readPkcs12(
  bytes: Uint8Array,
  password: string,
  primitives: Pkcs12Primitives,
): Promise<Pkcs12Contents> {
  if (bytes.length > MAX_BYTES) throw new Pkcs12Error('unreadable', 'it has more than 10 MiB');
  try {
    return await new ContainerReader(password, primitives).read(bytes);
  } catch (error) {
    if (error instanceof Pkcs12Error) throw error;
    if (error instanceof UnsupportedScheme) throw new Pkcs12Error('unsupported', error.message);
    const reason = error instanceof Asn1Error ? error.message : 'a part of it is damaged';
    throw new Pkcs12Error(isBegun(bytes) ? 'damaged' : 'unreadable', reason);
  }
}

/** Finds a SEQUENCE, followed by version 3: the start of every container. */
function isBegun(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 12);
  return head[0] === TAG.sequence && head.some((_, at) => head.subarray(at, at + 3).join() === '2,1,3');
}

class ContainerReader {
  readonly #source: PasswordSource;
  readonly #keys: Pkcs12Entry[] = [];
  readonly #certificates: Pkcs12Entry[] = [];
  /** The integrity value or a decryption has proved the password. */
  #isPasswordRight = false;

  constructor(password: string, primitives: Pkcs12Primitives) {
    this.#source = new PasswordSource(password, primitives);
  }

  async read(bytes: Uint8Array): Promise<Pkcs12Contents> {
    const fields = enter(readElement(bytes), TAG.sequence);
    const version = fields.next();
    if (smallInteger(version) !== 3) throw new Asn1Error('expected version 3', version.start);
    const safe = dataOf(fields.next());
    const macData = fields.nextIf(TAG.sequence);
    const mac = macData && readMac(macData);
    const isQuick = mac !== undefined && isQuickMac(mac, this.#source.primitives);
    let holds = isQuick ? await integrityHolds(mac, safe, this.#source) : undefined;
    this.#isPasswordRight = holds === true;
    for (const contentInfo of childrenOf(sequenceIn(safe))) await this.#readSafeContents(contentInfo);
    // After a decryption, an integrity value that takes half a minute adds little: an attacker who changes the
    // container could replace the value too, and a signature of another key is refused.
    if (mac !== undefined && !isQuick && !this.#isPasswordRight)
      holds = await integrityHolds(mac, safe, this.#source);
    if (holds === false) throw this.#mismatch();
    return { keys: this.#keys, certificates: this.#certificates };
  }

  /**
   * Reads one ContentInfo of the AuthenticatedSafe (RFC 7292 §4.1; EncryptedData: RFC 5652 §8).
   *     EncryptedData ::= SEQUENCE {
   *      version INTEGER,
   *      encryptedContentInfo SEQUENCE {
   *        contentType OBJECT IDENTIFIER, contentEncryptionAlgorithm AlgorithmIdentifier,
   *        encryptedContent [0] IMPLICIT OCTET STRING OPTIONAL } }
   */
  async #readSafeContents(contentInfo: Element): Promise<void> {
    const fields = enter(contentInfo, TAG.sequence);
    if (oidText(fields.next()) !== ENCRYPTED_DATA) {
      await this.#readBags(sequenceIn(dataOf(contentInfo)), 0);
      return;
    }
    const encryptedData = enter(enter(fields.next(), TAG.context0Constructed).next(), TAG.sequence);
    smallInteger(encryptedData.next());
    const info = enter(encryptedData.next(), TAG.sequence);
    info.next(TAG.oid);
    const algorithm = info.next(TAG.sequence);
    await this.#readBags(await this.#decrypted(algorithm, joined(implicitOctetSegments(info.next()))), 0);
  }

  /**
   * Reads the bags of a SafeContents (RFC 7292 §4.2).
   *     SafeContents ::= SEQUENCE OF SafeBag
   *     SafeBag ::= SEQUENCE { bagId OBJECT IDENTIFIER, bagValue [0] EXPLICIT ANY, bagAttributes SET OF … OPTIONAL }
   *     CertBag ::= SEQUENCE { certId OBJECT IDENTIFIER, certValue [0] EXPLICIT OCTET STRING }
   *     PKCS8ShroudedKeyBag ::= EncryptedPrivateKeyInfo      -- SEQUENCE { AlgorithmIdentifier, OCTET STRING }
   */
  async #readBags(safeContents: Element, depth: number): Promise<void> {
    if (depth === MAX_DEPTH) throw new UnsupportedScheme('bags nested too deeply', safeContents.start);
    for (const bag of childrenOf(safeContents)) {
      const fields = enter(bag, TAG.sequence);
      const type = oidText(fields.next());
      const value = enter(fields.next(), TAG.context0Constructed).next();
      const localKeyId = fields.done ? undefined : localKeyIdIn(fields.next());
      if (type === BAG.key) {
        this.#keys.push({ der: encoded(value), localKeyId });
      } else if (type === BAG.shroudedKey) {
        const shrouded = enter(value, TAG.sequence);
        const algorithm = shrouded.next(TAG.sequence);
        const key = await this.#decrypted(algorithm, octets(shrouded.next()));
        this.#keys.push({ der: encoded(key), localKeyId });
      } else if (type === BAG.certificate) {
        const certificate = enter(value, TAG.sequence);
        if (oidText(certificate.next()) !== X509_CERTIFICATE) continue;
        const der = octets(enter(certificate.next(), TAG.context0Constructed).next());
        this.#certificates.push({ der, localKeyId });
      } else if (type === BAG.safeContents) {
        await this.#readBags(value, depth + 1);
      }
    }
  }

  /** Decrypts a SafeContents or a PrivateKeyInfo, both a SEQUENCE. @throws {Pkcs12Error} `password`, `integrity` */
  async #decrypted(algorithm: Element, encrypted: Uint8Array): Promise<Element> {
    const plain = await decryptWithPassword(algorithm, encrypted, this.#source);
    if (plain === undefined) throw this.#mismatch();
    try {
      const element = sequenceIn(plain);
      this.#isPasswordRight = true;
      return element;
    } catch {
      // One wrong password in a few hundred leaves padding that looks right.
      throw this.#mismatch();
    }
  }

  #mismatch(): Pkcs12Error {
    return this.#isPasswordRight
      ? new Pkcs12Error('integrity', 'its parts do not fit together')
      : new Pkcs12Error('password', 'the password does not open it');
  }
}

interface Mac {
  readonly element: Element;
  /** Identifier of the hash, or PBMAC1. */
  readonly id: string;
  readonly parameters: Element | undefined;
  readonly expected: Uint8Array;
  readonly salt: Element | undefined;
  readonly rounds: Element | undefined;
}

/**
 * Reads the integrity value (RFC 7292 §4; RFC 9579 for PBMAC1, which uses neither salt nor iterations).
 *     MacData ::= SEQUENCE {
 *      mac SEQUENCE { digestAlgorithm AlgorithmIdentifier, digest OCTET STRING },
 *      macSalt OCTET STRING, iterations INTEGER DEFAULT 1 }
 */
function readMac(element: Element): Mac {
  const fields = enter(element, TAG.sequence);
  const digestInfo = enter(fields.next(), TAG.sequence);
  const { id, parameters } = parseAlgorithm(digestInfo.next(TAG.sequence));
  const expected = octets(digestInfo.next());
  const salt = fields.done ? undefined : fields.next();
  return { element, id, parameters, expected, salt, rounds: fields.done ? undefined : fields.next() };
}

function isQuickMac({ id, rounds }: Mac, { quickRounds }: Pkcs12Primitives): boolean {
  return id === PBMAC1 || rounds === undefined || roundsOf(rounds) <= quickRounds;
}

/** Verifies the HMAC over the AuthenticatedSafe with a key from the password (RFC 7292 appendix B). */
async function integrityHolds(mac: Mac, safe: Uint8Array, source: PasswordSource): Promise<boolean> {
  const isMac = (hash: HashName, key: Uint8Array) =>
    isEqual(source.primitives.hmac(hash, key, safe), mac.expected);
  if (mac.id === PBMAC1) {
    if (mac.parameters === undefined)
      throw new Asn1Error('integrity parameters are missing', mac.element.start);
    const scheme = enter(mac.parameters, TAG.sequence);
    const key = await derivedKey(scheme.next(), source);
    return isMac(hmacHash(scheme.next(), source), key);
  }
  const hash = hashNamed(mac.id, mac.element, source);
  if (mac.salt === undefined) throw new Asn1Error('the salt is missing', mac.element.start);
  const salt = octets(mac.salt);
  const proved = pkcs12Passwords(source.password).find((secret) => {
    const derivation = { hash, secret, salt, rounds: mac.rounds };
    return isMac(
      hash,
      pkcs12Key(derivation, 'mac', { length: HASH_LENGTHS[hash], source, near: mac.element }),
    );
  });
  if (proved !== undefined && source.password !== '') source.secret = proved;
  return proved !== undefined;
}

/** Compares in constant time. */
function isEqual(actual: Uint8Array, expected: Uint8Array): boolean {
  if (actual.length !== expected.length) return false;
  return actual.reduce((difference, byte, at) => difference | (byte ^ (expected[at] ?? 0)), 0) === 0;
}

/** Returns the content of a ContentInfo of type data. */
function dataOf(contentInfo: Element): Uint8Array {
  const fields = enter(contentInfo, TAG.sequence);
  if (oidText(fields.next()) !== DATA) {
    throw new UnsupportedScheme('protection by certificate is not supported', contentInfo.start);
  }
  return octets(enter(fields.next(), TAG.context0Constructed).next());
}

function sequenceIn(bytes: Uint8Array): Element {
  const element = readElement(bytes);
  if (element.tag !== TAG.sequence) throw new Asn1Error('expected a sequence', 0);
  return element;
}

/**
 * Returns the localKeyId among the attributes of a bag (RFC 2985 §5.5.2), in hex; malformed attributes count as none.
 *     PKCS12Attribute ::= SEQUENCE { attrId OBJECT IDENTIFIER, attrValues SET OF ANY }
 */
function localKeyIdIn(attributes: Element): string | undefined {
  try {
    for (const attribute of childrenOf(attributes)) {
      const fields = enter(attribute, TAG.sequence);
      if (oidText(fields.next()) !== LOCAL_KEY_ID) continue;
      const id = octets(enter(fields.next(), TAG.set).next());
      return Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('');
    }
  } catch {
    // Keys and certificates are found without it.
  }
  return undefined;
}
