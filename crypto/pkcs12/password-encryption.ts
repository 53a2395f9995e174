/** Decrypts with a password: the schemes of PKCS#12 (RFC 7292 appendix B) and of PKCS#5 v2 (RFC 8018 §6.2). */
import { Asn1Error, type Element, enter, parseAlgorithm, TAG } from '../asn1/ber-reader.ts';
import {
  type CipherName,
  derivedKey,
  joined,
  octets,
  type PasswordSource,
  pkcs12Key,
  UnsupportedScheme,
} from './password-derivation.ts';

/** Lengths in bytes. */
interface Scheme {
  readonly cipher: CipherName;
  readonly keyLength: number;
  readonly ivLength: number;
}

/** PBE schemes of RFC 7292 appendix C that were in use. Triple DES with two keys uses the first one again. */
const PKCS12_SCHEMES: ReadonlyMap<string, Scheme> = new Map([
  ['1.2.840.113549.1.12.1.3', { cipher: 'des-ede3-cbc', keyLength: 24, ivLength: 8 }],
  ['1.2.840.113549.1.12.1.4', { cipher: 'des-ede3-cbc', keyLength: 16, ivLength: 8 }],
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
 * Decrypts with the scheme that an AlgorithmIdentifier names. Undefined when the padding is wrong, as after a wrong
 * password.
 *     pkcs-12PbeParams ::= SEQUENCE { salt OCTET STRING, iterations INTEGER }      -- RFC 7292 appendix C
 * @throws {Asn1Error} when the scheme is unknown (`UnsupportedScheme`) or malformed
 */
export async function decryptWithPassword(
  algorithm: Element,
  encrypted: Uint8Array,
  source: PasswordSource,
): Promise<Uint8Array | undefined> {
  const { id, parameters } = parseAlgorithm(algorithm);
  if (parameters === undefined) throw new Asn1Error('encryption parameters are missing', algorithm.start);
  if (id === PBES2) return decryptPbes2(parameters, encrypted, source);
  const { cipher, keyLength, ivLength } = supportedScheme(PKCS12_SCHEMES.get(id), id, algorithm, source);
  const fields = enter(parameters, TAG.sequence);
  const salt = octets(fields.next());
  const derivation = { hash: 'sha1', secret: source.secret, salt, rounds: fields.next() } as const;
  const key = pkcs12Key(derivation, 'encryption', { length: keyLength, source, near: algorithm });
  const iv = pkcs12Key(derivation, 'iv', { length: ivLength, source, near: algorithm });
  const isTwoKey = cipher === 'des-ede3-cbc' && keyLength === 16;
  const whole = isTwoKey ? joined([key, key.subarray(0, 8)]) : key;
  return source.primitives.decrypt(cipher, whole, iv, encrypted);
}

/**
 * Decrypts with PBES2 (RFC 8018 appendix A.4).
 *     PBES2-params ::= SEQUENCE { keyDerivationFunc AlgorithmIdentifier, encryptionScheme AlgorithmIdentifier }
 */
async function decryptPbes2(
  parameters: Element,
  encrypted: Uint8Array,
  source: PasswordSource,
): Promise<Uint8Array | undefined> {
  const fields = enter(parameters, TAG.sequence);
  const derivation = fields.next();
  const { id, parameters: ivField } = parseAlgorithm(fields.next());
  const { cipher, keyLength, ivLength } = supportedScheme(PBES2_CIPHERS.get(id), id, parameters, source);
  const iv = ivField && octets(ivField);
  if (iv?.length !== ivLength) {
    throw new Asn1Error('the initialization vector is missing or has another length', parameters.start);
  }
  const key = await derivedKey(derivation, source, keyLength);
  return source.primitives.decrypt(cipher, key, iv, encrypted);
}

function supportedScheme(
  scheme: Scheme | undefined,
  id: string,
  near: Element,
  { primitives }: PasswordSource,
): Scheme {
  if (scheme === undefined || !primitives.isCipher(scheme.cipher)) {
    throw new UnsupportedScheme(`encryption ${id} is not supported`, near.start);
  }
  return scheme;
}
