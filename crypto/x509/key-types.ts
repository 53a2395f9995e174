/** Types and sizes of keys, and the schemes that they fit. */
import type { KeyObject } from 'node:crypto';
import { CryptoError, type KeyType, type SignatureAlgorithm, type SignatureScheme } from '../core/types.ts';
import { isAnybodys } from './key-strength.ts';

/** Returns the bits of the RSA modulus or of the curve's field; undefined for other keys. */
export function keyBits(key: KeyObject): number | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ed25519') return 255;
  if (details?.modulusLength !== undefined) return details.modulusLength;
  const digits = /\d{3}/.exec(details?.namedCurve ?? '');
  return digits === null ? undefined : Number(digits[0]);
}

const SCHEME_KEYS: { readonly [scheme in SignatureScheme]: readonly KeyType[] } = {
  'rsa-pkcs1': ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ecdsa: ['ec'],
  ed25519: ['ed25519'],
};

/** True when the key type matches the scheme, and somebody can be the only one who signs with it. */
export function fitsScheme(key: KeyObject, scheme: SignatureScheme): boolean {
  return SCHEME_KEYS[scheme].some((type) => type === key.asymmetricKeyType) && !isAnybodys(key);
}

/** Curves of at least 256 bits that OpenSSL has: NIST, SEC 2, and RFC 5639 in both forms. */
const CURVE_BITS: { readonly [curve: string]: number } = {
  prime256v1: 256,
  secp384r1: 384,
  secp521r1: 521,
  secp256k1: 256,
  brainpoolP256r1: 256,
  brainpoolP256t1: 256,
  brainpoolP320r1: 320,
  brainpoolP320t1: 320,
  brainpoolP384r1: 384,
  brainpoolP384t1: 384,
  brainpoolP512r1: 512,
  brainpoolP512t1: 512,
};

/** Checks that the key type matches the scheme. @throws {CryptoError} `key.unsupported` */
export function assertFits(type: KeyType, { scheme }: SignatureAlgorithm): void {
  if (SCHEME_KEYS[scheme].includes(type)) return;
  throw new CryptoError('key.unsupported', `A key of type ${type} makes no ${scheme} signatures.`);
}

/**
 * Returns type and size of a private or public key. @throws {CryptoError} `key.unsupported` for keys that `localKey`
 * refuses
 */
export function kindOf(key: KeyObject): { readonly type: KeyType; readonly bits: number } {
  const type = key.asymmetricKeyType;
  const details = key.asymmetricKeyDetails ?? {};
  if (type === 'rsa' || type === 'rsa-pss') {
    const bits = details.modulusLength ?? 0;
    if (bits >= 2048 && bits <= 4096) return { type, bits };
    throw new CryptoError('key.unsupported', `RSA keys have 2048 to 4096 bits here, this one has ${bits}.`);
  }
  if (type === 'ec') {
    const bits = CURVE_BITS[details.namedCurve ?? ''];
    if (bits !== undefined) return { type, bits };
    throw new CryptoError('key.unsupported', `The curve ${details.namedCurve} is not supported.`);
  }
  if (type === 'ed25519') return { type, bits: 255 };
  throw new CryptoError('key.unsupported', `Keys of type ${type} are not supported.`);
}
