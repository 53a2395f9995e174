/** Decrypts with a password: the schemes of PKCS#12 (RFC 7292 appendix B) and of PKCS#5 v2 (RFC 8018 §6.2). */
import { createDecipheriv, hash as digest } from 'node:crypto';
import { parseAlgorithm } from '../algorithms/algorithm.ts';
import { Asn1Error } from '../asn1/error.ts';
import { Cursor, type Element, enter, octets, oidText } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { derivedKey, type HashName, roundsOf } from './derived-key.ts';

interface Scheme {
  readonly cipher: string;
  readonly keyLength: number;
  readonly ivLength: number;
}

/** PBE schemes of RFC 7292 appendix C that were in use. */
const PKCS12_SCHEMES: ReadonlyMap<string, Scheme> = new Map([
  ['1.2.840.113549.1.12.1.3', { cipher: 'des-ede3-cbc', keyLength: 24, ivLength: 8 }],
  ['1.2.840.113549.1.12.1.4', { cipher: 'des-ede-cbc', keyLength: 16, ivLength: 8 }],
  ['1.2.840.113549.1.12.1.5', { cipher: 'rc2', keyLength: 16, ivLength: 8 }],
  ['1.2.840.113549.1.12.1.6', { cipher: 'rc2', keyLength: 5, ivLength: 8 }],
]);

const PBES2 = '1.2.840.113549.1.5.13';

const PBES2_CIPHERS: ReadonlyMap<string, Scheme> = new Map([
  ['2.16.840.1.101.3.4.1.2', { cipher: 'aes-128-cbc', keyLength: 16, ivLength: 16 }],
  ['2.16.840.1.101.3.4.1.22', { cipher: 'aes-192-cbc', keyLength: 24, ivLength: 16 }],
  ['2.16.840.1.101.3.4.1.42', { cipher: 'aes-256-cbc', keyLength: 32, ivLength: 16 }],
  ['1.2.840.113549.3.7', { cipher: 'des-ede3-cbc', keyLength: 24, ivLength: 8 }],
  ['1.2.410.200046.1.1.2', { cipher: 'aria-128-cbc', keyLength: 16, ivLength: 16 }],
  ['1.2.410.200046.1.1.7', { cipher: 'aria-192-cbc', keyLength: 24, ivLength: 16 }],
  ['1.2.410.200046.1.1.12', { cipher: 'aria-256-cbc', keyLength: 32, ivLength: 16 }],
  ['1.2.392.200011.61.1.1.1.2', { cipher: 'camellia-128-cbc', keyLength: 16, ivLength: 16 }],
  ['1.2.392.200011.61.1.1.1.3', { cipher: 'camellia-192-cbc', keyLength: 24, ivLength: 16 }],
  ['1.2.392.200011.61.1.1.1.4', { cipher: 'camellia-256-cbc', keyLength: 32, ivLength: 16 }],
]);

/**
 * Decrypts with the scheme that an AlgorithmIdentifier names.
 *     pkcs-12PbeParams ::= SEQUENCE { salt OCTET STRING, iterations INTEGER }      -- RFC 7292 appendix C
 * @throws {Asn1Error} when the scheme is unknown or malformed
 * @throws {Error} of node:crypto when the padding is wrong, as after a wrong password
 */
export async function decryptWithPassword(
  algorithm: Element,
  encrypted: Buffer,
  password: string,
): Promise<Buffer> {
  const { id, parameters } = parseAlgorithm(algorithm);
  if (parameters === undefined) throw new Asn1Error('encryption parameters are missing', algorithm.start);
  if (id === PBES2) return decryptPbes2(parameters, encrypted, password);
  const scheme = PKCS12_SCHEMES.get(id);
  if (scheme === undefined) throw new Asn1Error(`encryption ${id} is not supported`, algorithm.start);
  const fields = enter(parameters, TAG.sequence);
  const salt = octets(fields.next());
  const rounds = roundsOf(fields.next());
  const secret = pkcs12Password(password);
  const key = pkcs12Key('sha1', 'encryption', secret, salt, rounds, scheme.keyLength);
  const iv = pkcs12Key('sha1', 'iv', secret, salt, rounds, scheme.ivLength);
  return scheme.cipher === 'rc2'
    ? decryptRc2(key, iv, encrypted)
    : decrypt(scheme.cipher, key, iv, encrypted);
}

/**
 * Decrypts with PBES2 (RFC 8018 appendix A.4).
 *     PBES2-params ::= SEQUENCE { keyDerivationFunc AlgorithmIdentifier, encryptionScheme AlgorithmIdentifier }
 */
function decryptPbes2(parameters: Element, encrypted: Buffer, password: string): Buffer {
  const fields = enter(parameters, TAG.sequence);
  const derivation = fields.next();
  const encryption = parseAlgorithm(fields.next());
  const scheme = PBES2_CIPHERS.get(encryption.id);
  if (scheme === undefined || encryption.parameters === undefined) {
    throw new Asn1Error(`encryption ${encryption.id} is not supported`, parameters.start);
  }
  const key = derivedKey(derivation, password, scheme.keyLength);
  return decrypt(scheme.cipher, key, octets(encryption.parameters), encrypted);
}

function decrypt(cipher: string, key: Buffer, iv: Buffer, encrypted: Buffer): Buffer {
  const decipher = createDecipheriv(cipher, key, iv);
  return Buffer.concat([decipher.update(encrypted), decipher.final()]);
}

/** Decrypts RC2, which OpenSSL's default provider lacks. Loads node-forge only for containers that need it. */
async function decryptRc2(key: Buffer, iv: Buffer, encrypted: Buffer): Promise<Buffer> {
  const { default: forge } = await import('node-forge');
  const rc2 = forge.rc2.createDecryptionCipher(key.toString('latin1'), key.length * 8);
  rc2.start(iv.toString('latin1'));
  rc2.update(forge.util.createBuffer(encrypted.toString('latin1')));
  if (!rc2.finish()) throw new Error('wrong padding');
  return Buffer.from(rc2.output.getBytes(), 'latin1');
}

/** Encodes a password as UTF-16BE with two zero bytes at the end (RFC 7292 §B.1). */
export function pkcs12Password(password: string): Buffer {
  return Buffer.from(`${password}\0`, 'utf16le').swap16();
}

/** Values of the ID byte (RFC 7292 §B.3). */
const ID_BYTES = { encryption: 1, iv: 2, mac: 3 } as const;

/** Derives a key (RFC 7292 §B.2). @param secret as `pkcs12Password` returns it */
export function pkcs12Key(
  hash: HashName,
  purpose: keyof typeof ID_BYTES,
  secret: Buffer,
  salt: Buffer,
  rounds: number,
  length: number,
): Buffer {
  const block = hash === 'sha384' || hash === 'sha512' ? 128 : 64;
  const diversifier = Buffer.alloc(block, ID_BYTES[purpose]);
  const input = Buffer.concat([repeated(salt, block), repeated(secret, block)]);
  const pieces: Buffer[] = [];
  for (let have = 0; have < length; ) {
    let piece = digest(hash, Buffer.concat([diversifier, input]), 'buffer');
    for (let round = 1; round < rounds; round++) piece = digest(hash, piece, 'buffer');
    pieces.push(piece);
    have += piece.length;
    const step = Buffer.alloc(block, piece);
    for (let at = 0; at < input.length; at += block) addOneMore(input.subarray(at, at + block), step);
  }
  return Buffer.concat(pieces).subarray(0, length);
}

/** Repeats `bytes` up to the next whole number of blocks. */
function repeated(bytes: Buffer, block: number): Buffer {
  return bytes.length === 0 ? bytes : Buffer.alloc(Math.ceil(bytes.length / block) * block, bytes);
}

/** Computes target = target + step + 1, as big-endian numbers, without the carry of the top byte. */
function addOneMore(target: Buffer, step: Buffer): void {
  let carry = 1;
  for (let at = target.length - 1; at >= 0; at--) {
    carry += (target[at] ?? 0) + (step[at] ?? 0);
    target[at] = carry & 0xff;
    carry >>= 8;
  }
}

/** Returns the hash of an integrity value by the hash's identifier; undefined when it is not supported. */
export function hashNamed(element: Element): HashName | undefined {
  return HASHES.get(oidText(new Cursor(element).next()));
}

const HASHES: ReadonlyMap<string, HashName> = new Map([
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.4', 'sha224'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);
