/** Verifies signature values for CMS, certificates, XML and external keys. */
import { constants, type KeyObject, verify } from 'node:crypto';
import type { SignatureScheme } from '../core/types.ts';
import type { HashName } from './hashes.ts';

/** Scheme and parameters of a signature value. */
export interface ValueMethod {
  readonly scheme: SignatureScheme;
  /** Ignored for Ed25519. */
  readonly hash: HashName;
  /** Bytes, for RSA-PSS; the mask uses the same hash. @default that of the hash */
  readonly saltLength?: number;
  /** Encoding of an ECDSA value: `SEQUENCE { r, s }`, or r and s concatenated. @default 'der' */
  readonly form?: 'der' | 'row';
}

/** `key`: the key type does not match the scheme. `malformed`: the bytes are not a value of the scheme. */
export type ValueFault = 'key' | 'value' | 'malformed';

const KEY_TYPES: { readonly [scheme in SignatureScheme]: readonly string[] } = {
  'rsa-pkcs1': ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ecdsa: ['ec'],
  ed25519: ['ed25519'],
};

/** True when the key type matches the scheme. */
export function fitsScheme(key: KeyObject, scheme: SignatureScheme): boolean {
  return KEY_TYPES[scheme].includes(key.asymmetricKeyType ?? '');
}

/**
 * Verifies a value over `data`; undefined when it is right. RSA values are as long as the modulus (RFC 8017 §8.1.2,
 * §8.2.2).
 */
export function valueFault(
  method: ValueMethod,
  key: KeyObject,
  data: Buffer,
  value: Buffer,
): ValueFault | undefined {
  if (!fitsScheme(key, method.scheme)) return 'key';
  const bits = key.asymmetricKeyDetails?.modulusLength;
  // OpenSSL accepts a PSS value without its leading zeros; other programs don't.
  if (bits !== undefined && value.length !== Math.ceil(bits / 8)) return 'malformed';
  try {
    return isMade(method, key, data, value) ? undefined : 'value';
  } catch {
    return 'malformed';
  }
}

function isMade(
  { scheme, hash, saltLength = constants.RSA_PSS_SALTLEN_DIGEST, form }: ValueMethod,
  key: KeyObject,
  data: Buffer,
  value: Buffer,
): boolean {
  switch (scheme) {
    case 'ed25519':
      return verify(null, data, key, value);
    case 'ecdsa':
      return verify(hash, data, { key, dsaEncoding: form === 'row' ? 'ieee-p1363' : 'der' }, value);
    case 'rsa-pkcs1':
      return verify(hash, data, key, value);
    case 'rsa-pss':
      return verify(hash, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, value);
  }
}
