/**
 * Derives keys from passwords: PBKDF2 (RFC 8018 §5.2), scrypt (RFC 7914 §7) and the function of PKCS#12 (RFC 7292 §B.2).
 * All of them are limited, one by one and together.
 */
import {
  Asn1Error,
  type Cursor,
  type Element,
  enter,
  octetSegments,
  parseAlgorithm,
  smallInteger,
  TAG,
} from '../asn1/ber-reader.ts';

const PBKDF2 = '1.2.840.113549.1.5.12';
const SCRYPT = '1.3.6.1.4.1.11591.4.11';

/** Most rounds of one derivation: more would take minutes; 2,000 to 600,000 are usual. */
const MAX_ROUNDS = 10_000_000;
/** Most rounds of all derivations for one container; those of each block of a key count. */
const MAX_TOTAL_ROUNDS = 100_000_000;
/** Most bytes for scrypt; its defaults take 16 MiB. */
const MAX_SCRYPT_MEMORY = 512 << 20;
/** Most parallelization of scrypt. */
const MAX_SCRYPT_LANES = 16;
/** Longest derived key, bytes. */
const MAX_KEY_LENGTH = 1_024;

const HMAC_HASHES: ReadonlyMap<string, HashName> = new Map([
  ['1.2.840.113549.2.7', 'sha1'],
  ['1.2.840.113549.2.8', 'sha224'],
  ['1.2.840.113549.2.9', 'sha256'],
  ['1.2.840.113549.2.10', 'sha384'],
  ['1.2.840.113549.2.11', 'sha512'],
]);
const HASHES: ReadonlyMap<string, HashName> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.4', 'sha224'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
/** Bytes. */
export const HASH_LENGTHS: { readonly [name in HashName]: number } = {
  sha1: 20,
  sha224: 28,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

/** A scheme that is well-formed and not supported. */
export class UnsupportedScheme extends Asn1Error {}

/** Password of one container, with the remaining rounds of its derivations. */
export class PasswordSource {
  readonly password: string;
  readonly primitives: Pkcs12Primitives;
  /** The password for the function of PKCS#12; that which the integrity value has proved, once it has. */
  secret: Uint8Array;
  #roundsLeft = MAX_TOTAL_ROUNDS;

  constructor(password: string, primitives: Pkcs12Primitives) {
    this.password = password;
    this.primitives = primitives;
    this.secret = pkcs12Password(password);
  }

  /** Counts the rounds of a derivation. @throws {Asn1Error} above the limit of all of them */
  spend(rounds: number, near: Element): void {
    this.#roundsLeft -= rounds;
    if (this.#roundsLeft < 0) throw new UnsupportedScheme('the key derivations take too long', near.start);
  }
}

/** Returns the hash of an HMAC algorithm. @throws {UnsupportedScheme} */
export function hmacHash(algorithm: Element, { primitives }: PasswordSource): HashName {
  return supportedHash(HMAC_HASHES.get(parseAlgorithm(algorithm).id), algorithm, primitives);
}

/** Returns the hash with this identifier. @throws {UnsupportedScheme} */
export function hashNamed(id: string, near: Element, { primitives }: PasswordSource): HashName {
  return supportedHash(HASHES.get(id), near, primitives);
}

function supportedHash(hash: HashName | undefined, near: Element, { hashes }: Pkcs12Primitives): HashName {
  if (hash === undefined || !hashes.has(hash)) {
    throw new UnsupportedScheme('the hash of its password protection is not supported', near.start);
  }
  return hash;
}

/**
 * Derives a key with PBKDF2 or scrypt.
 * @param derivation AlgorithmIdentifier of the function
 * @param length bytes wanted; undefined: as many as the parameters say
 * @throws {Asn1Error} when the function is unknown or malformed, or exceeds the limits
 */
export async function derivedKey(
  derivation: Element,
  source: PasswordSource,
  length?: number,
): Promise<Uint8Array> {
  const { id, parameters } = parseAlgorithm(derivation);
  if (parameters === undefined)
    throw new Asn1Error('key derivation parameters are missing', derivation.start);
  if (id === PBKDF2) return withPbkdf2(enter(parameters, TAG.sequence), source, length);
  if (id === SCRYPT) return withScrypt(enter(parameters, TAG.sequence), source, length);
  throw new UnsupportedScheme(`key derivation ${id} is not supported`, derivation.start);
}

/**
 * Derives a key with PBKDF2 (RFC 8018 appendix A.2).
 *     PBKDF2-params ::= SEQUENCE {
 *      salt OCTET STRING, iterationCount INTEGER, keyLength INTEGER OPTIONAL,
 *      prf AlgorithmIdentifier DEFAULT hmacWithSHA1 }
 */
async function withPbkdf2(
  fields: Cursor,
  source: PasswordSource,
  wanted: number | undefined,
): Promise<Uint8Array> {
  const salt = octets(fields.next());
  const roundsField = fields.next();
  const rounds = roundsOf(roundsField);
  const stated = fields.nextIf(TAG.integer);
  const hash = fields.done ? 'sha1' : hmacHash(fields.next(), source);
  const length = lengthOf(wanted, stated, roundsField);
  source.spend(rounds * Math.ceil(length / HASH_LENGTHS[hash]), roundsField);
  return source.primitives.pbkdf2({ hash, password: utf8(source.password), salt, rounds, length });
}

/**
 * Derives a key with scrypt (RFC 7914 §7.1).
 *     scrypt-params ::= SEQUENCE {
 *      salt OCTET STRING, costParameter INTEGER, blockSize INTEGER, parallelizationParameter INTEGER,
 *      keyLength INTEGER OPTIONAL }
 */
function withScrypt(fields: Cursor, source: PasswordSource, wanted: number | undefined): Uint8Array {
  const salt = octets(fields.next());
  const costField = fields.next();
  const cost = smallInteger(costField);
  const blockSize = smallInteger(fields.next());
  const parallelization = smallInteger(fields.next());
  const stated = fields.nextIf(TAG.integer);
  const memory = 128 * cost * blockSize;
  if (memory > MAX_SCRYPT_MEMORY || parallelization > MAX_SCRYPT_LANES) {
    throw new UnsupportedScheme(`scrypt with ${memory} bytes of memory is too much`, costField.start);
  }
  const length = lengthOf(wanted, stated, costField);
  source.spend(cost * blockSize * parallelization, costField);
  const { scrypt } = source.primitives;
  if (scrypt === undefined) throw new UnsupportedScheme('scrypt is not supported', costField.start);
  try {
    return scrypt({ password: utf8(source.password), salt, cost, blockSize, parallelization, length });
  } catch {
    throw new Asn1Error('scrypt parameters contradict each other', costField.start);
  }
}

function lengthOf(wanted: number | undefined, stated: Element | undefined, near: Element): number {
  const length = wanted ?? (stated === undefined ? 0 : smallInteger(stated));
  if (length < 1 || length > MAX_KEY_LENGTH)
    throw new Asn1Error('the length of the derived key is missing or odd', near.start);
  return length;
}

/** Reads an iteration count. @throws {UnsupportedScheme} above the limit */
export function roundsOf(element: Element): number {
  const rounds = smallInteger(element);
  if (rounds < 1 || rounds > MAX_ROUNDS)
    throw new UnsupportedScheme(`${rounds} rounds are too many`, element.start);
  return rounds;
}

/** Returns the bytes of an OCTET STRING; joins the segments of a constructed one. @throws {Asn1Error} */
export function octets(element: Element): Uint8Array {
  return joined(octetSegments(element));
}

/** Joins pieces; one piece is returned as it is. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  if (pieces.length === 1 && pieces[0] !== undefined) return pieces[0];
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** Encodes a password for PBKDF2 and scrypt (RFC 8018 §3). */
function utf8(password: string): Uint8Array {
  return new TextEncoder().encode(password);
}

/**
 * Returns what programs make of a password: UTF-16; what OpenSSL before 1.1 and Mbed TLS take for that, each byte of UTF-8
 * as a character; of an empty one two zero bytes or none.
 */
export function pkcs12Passwords(password: string): readonly Uint8Array[] {
  if (password === '') return [pkcs12Password(''), new Uint8Array(0)];
  const bytes = String.fromCharCode(...utf8(password));
  return bytes === password ? [pkcs12Password(password)] : [password, bytes].map(pkcs12Password);
}

/** Encodes a password as UTF-16BE with two zero bytes at the end (RFC 7292 §B.1). */
function pkcs12Password(password: string): Uint8Array {
  const text = `${password}\0`;
  const bytes = new Uint8Array(2 * text.length);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    bytes[2 * at] = unit >> 8;
    bytes[2 * at + 1] = unit & 0xff;
  }
  return bytes;
}

/** Values of the ID byte (RFC 7292 §B.3). */
const ID_BYTES = { encryption: 1, iv: 2, mac: 3 } as const;

/** Input of the function of PKCS#12 (RFC 7292 §B.2). */
export interface Pkcs12Derivation {
  readonly hash: HashName;
  /** As `pkcs12Passwords` returns it. */
  readonly secret: Uint8Array;
  readonly salt: Uint8Array;
  /** Element of the iteration count; absent: 1. */
  readonly rounds: Element | undefined;
}

/** Derives a key (RFC 7292 §B.2). @param near place of the derivation, for errors */
export function pkcs12Key(
  { hash, secret, salt, rounds: roundsField }: Pkcs12Derivation,
  purpose: keyof typeof ID_BYTES,
  {
    length,
    source,
    near,
  }: { readonly length: number; readonly source: PasswordSource; readonly near: Element },
): Uint8Array {
  const rounds = roundsField === undefined ? 1 : roundsOf(roundsField);
  source.spend(rounds * Math.ceil(length / HASH_LENGTHS[hash]), near);
  const block = hash === 'sha384' || hash === 'sha512' ? 128 : 64;
  const diversifier = new Uint8Array(block).fill(ID_BYTES[purpose]);
  const input = joined([repeated(salt, block), repeated(secret, block)]);
  const pieces: Uint8Array[] = [];
  for (let have = 0; have < length; ) {
    const piece = source.primitives.repeatedHash(hash, joined([diversifier, input]), rounds);
    pieces.push(piece);
    have += piece.length;
    const step = repeated(piece, block).subarray(0, block);
    for (let at = 0; at < input.length; at += block) addOneMore(input.subarray(at, at + block), step);
  }
  return joined(pieces).subarray(0, length);
}

/** Repeats `bytes` up to the next whole number of blocks. */
function repeated(bytes: Uint8Array, block: number): Uint8Array {
  const whole = new Uint8Array(Math.ceil(bytes.length / block) * block);
  for (let at = 0; at < whole.length; at += bytes.length) whole.set(bytes.subarray(0, whole.length - at), at);
  return whole;
}

/** Computes target = target + step + 1, as big-endian numbers, without the carry of the top byte. */
function addOneMore(target: Uint8Array, step: Uint8Array): void {
  let carry = 1;
  for (let at = target.length - 1; at >= 0; at--) {
    carry += (target[at] ?? 0) + (step[at] ?? 0);
    target[at] = carry & 0xff;
    carry >>= 8;
  }
}

/** Cryptographic functions that callers pass to the PKCS#12 reader: node:crypto on the server, node-forge and Web Crypto in a browser. */
export type HashName = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

/** Name of a cipher in OpenSSL; `rc2` is CBC, its effective key length is that of the key. */
export type CipherName =
  | 'des-ede3-cbc'
  | 'rc2'
  | `${'aes' | 'aria' | 'camellia'}-${'128' | '192' | '256'}-cbc`;

interface Pbkdf2Request {
  readonly hash: HashName;
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly rounds: number;
  /** Bytes. */
  readonly length: number;
}

/** Costs of RFC 7914 §2; all of them are within the limits of the reader. */
interface ScryptRequest {
  readonly password: Uint8Array;
  readonly salt: Uint8Array;
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
  /** Bytes. */
  readonly length: number;
}

export interface Pkcs12Primitives {
  readonly hashes: ReadonlySet<HashName>;
  /** Supports a cipher of this name. */
  isCipher(name: CipherName): boolean;
  /**
   * Rounds of the derivation of RFC 7292 that take about a second. An integrity value that needs more is verified only
   * if nothing could be decrypted, and so nothing else proves the password.
   */
  readonly quickRounds: number;
  /** Applies the hash `rounds` times: to `bytes`, then to each result. */
  repeatedHash(hash: HashName, bytes: Uint8Array, rounds: number): Uint8Array;
  hmac(hash: HashName, key: Uint8Array, bytes: Uint8Array): Uint8Array;
  pbkdf2(request: Pbkdf2Request): Uint8Array | Promise<Uint8Array>;
  /** Absent where scrypt is not supported. @throws when the costs contradict each other */
  readonly scrypt?: (request: ScryptRequest) => Uint8Array;
  /** Decrypts and removes the padding; undefined when the padding is wrong, as after a wrong password. */
  decrypt(
    cipher: CipherName,
    key: Uint8Array,
    iv: Uint8Array,
    encrypted: Uint8Array,
  ): Uint8Array | undefined | Promise<Uint8Array | undefined>;
}
