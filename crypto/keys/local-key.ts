/** Private keys in this process's memory. */
import { constants, type KeyObject, sign } from 'node:crypto';
import type { SigningKey } from '../core/types.ts';
import { assertFits, kindOf } from '../x509/algorithm-identifier.ts';

/** A signing key that can be transferred to another thread. */
export interface LocalKey extends SigningKey {
  readonly where: 'memory';
  readonly keyObject: KeyObject;
}

/**
 * Wraps an RSA or RSA-PSS key of 2048 to 4096 bits, an EC key on a supported curve, or an Ed25519 key.
 * @throws {CryptoError} `key.unsupported`
 */
export function localKey(keyObject: KeyObject): LocalKey {
  const { type, bits } = kindOf(keyObject);
  const pss = {
    key: keyObject,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  };
  return {
    type,
    bits,
    where: 'memory',
    keyObject,
    sign(data, algorithm) {
      assertFits(type, algorithm);
      if (algorithm.scheme === 'ed25519') return sign(null, data, keyObject);
      return sign(algorithm.digest, data, algorithm.scheme === 'rsa-pss' ? pss : keyObject);
    },
  };
}
