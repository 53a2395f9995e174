/** Derives keys from passwords: PBKDF2 (RFC 8018 §5.2) and scrypt (RFC 7914 §7), selected by AlgorithmIdentifier. */
import { pbkdf2Sync, scryptSync } from 'node:crypto';
import { parseAlgorithm } from '../algorithms/algorithm.ts';
import { Asn1Error } from '../asn1/error.ts';
import { type Cursor, type Element, enter, octets, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';

const PBKDF2 = '1.2.840.113549.1.5.12';
const SCRYPT = '1.3.6.1.4.1.11591.4.11';

/** Most iterations: more would delay the start for minutes; 2,000 to 600,000 are usual. */
const MAX_ROUNDS = 10_000_000;
/** Most bytes for scrypt; its defaults take 16 MiB. */
const MAX_SCRYPT_MEMORY = 512 << 20;
/** Most parallelization of scrypt. */
const MAX_SCRYPT_LANES = 16;

export type HashName = 'sha1' | 'sha224' | 'sha256' | 'sha384' | 'sha512';

const HMAC_HASHES: ReadonlyMap<string, HashName> = new Map([
  ['1.2.840.113549.2.7', 'sha1'],
  ['1.2.840.113549.2.8', 'sha224'],
  ['1.2.840.113549.2.9', 'sha256'],
  ['1.2.840.113549.2.10', 'sha384'],
  ['1.2.840.113549.2.11', 'sha512'],
]);

/** Returns the hash of an HMAC algorithm; undefined when it is not supported. */
export function hmacHash(algorithm: Element): HashName | undefined {
  return HMAC_HASHES.get(parseAlgorithm(algorithm).id);
}

/**
 * @param derivation AlgorithmIdentifier of the function
 * @param length bytes wanted; undefined: as many as the parameters say
 * @throws {Asn1Error} when the function is unknown or malformed, or asks for more than is sensible
 */
export function derivedKey(derivation: Element, password: string, length?: number): Buffer {
  const { id, parameters } = parseAlgorithm(derivation);
  if (parameters === undefined)
    throw new Asn1Error('key derivation parameters are missing', derivation.start);
  const secret = Buffer.from(password, 'utf8');
  if (id === PBKDF2) return withPbkdf2(enter(parameters, TAG.sequence), secret, length);
  if (id === SCRYPT) return withScrypt(enter(parameters, TAG.sequence), secret, length);
  throw new Asn1Error(`key derivation ${id} is not supported`, derivation.start);
}

/**
 * Derives a key with PBKDF2 (RFC 8018 appendix A.2).
 *     PBKDF2-params ::= SEQUENCE {
 *      salt OCTET STRING, iterationCount INTEGER, keyLength INTEGER OPTIONAL,
 *      prf AlgorithmIdentifier DEFAULT hmacWithSHA1 }
 */
function withPbkdf2(fields: Cursor, secret: Buffer, length: number | undefined): Buffer {
  const salt = octets(fields.next());
  const roundsField = fields.next();
  const rounds = roundsOf(roundsField);
  const stated = fields.nextIf(TAG.integer);
  const hash = fields.done ? 'sha1' : hmacHash(fields.next());
  if (hash === undefined) throw new Asn1Error('key derivation hash is not supported', roundsField.start);
  return pbkdf2Sync(secret, salt, rounds, lengthOf(length, stated, roundsField), hash);
}

/**
 * Derives a key with scrypt (RFC 7914 §7.1).
 *     scrypt-params ::= SEQUENCE {
 *      salt OCTET STRING, costParameter INTEGER, blockSize INTEGER, parallelizationParameter INTEGER,
 *      keyLength INTEGER OPTIONAL }
 */
function withScrypt(fields: Cursor, secret: Buffer, length: number | undefined): Buffer {
  const salt = octets(fields.next());
  const costField = fields.next();
  const [cost, blockSize, lanes] = [costField, fields.next(), fields.next()].map(smallInteger);
  const stated = fields.nextIf(TAG.integer);
  const memory = 128 * (cost ?? 0) * (blockSize ?? 0);
  if (memory > MAX_SCRYPT_MEMORY || (lanes ?? 0) > MAX_SCRYPT_LANES) {
    throw new Asn1Error(`scrypt with ${memory} bytes of memory is too much`, costField.start);
  }
  const options = {
    ...(cost !== undefined && { cost }),
    ...(blockSize !== undefined && { blockSize }),
    ...(lanes !== undefined && { parallelization: lanes }),
    // Node counts more than the blocks themselves.
    maxmem: 2 * MAX_SCRYPT_MEMORY,
  };
  try {
    return scryptSync(secret, salt, lengthOf(length, stated, costField), options);
  } catch {
    throw new Asn1Error('scrypt parameters contradict each other', costField.start);
  }
}

function lengthOf(wanted: number | undefined, stated: Element | undefined, near: Element): number {
  const length = wanted ?? (stated === undefined ? 0 : smallInteger(stated));
  if (length < 1 || length > 1024)
    throw new Asn1Error('the length of the derived key is missing or odd', near.start);
  return length;
}

/** Reads an iteration count. @throws {Asn1Error} above the limit */
export function roundsOf(element: Element): number {
  const rounds = smallInteger(element);
  if (rounds < 1 || rounds > MAX_ROUNDS) throw new Asn1Error(`${rounds} rounds are too many`, element.start);
  return rounds;
}
