/**
 * Serializes signers for pool threads; each thread creates its key object once.
 *
 * Private keys in this process's memory.
 */
import { constants, createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Signer, SigningKey } from '../core/types.ts';
import { readCertificate } from '../x509/certificate.ts';
import { assertFits, kindOf } from '../x509/key-types.ts';
import { SessionPool } from './pkcs11/session-pool.ts';
import { type TokenKey, type TokenPlace, tokenKey } from './pkcs11/token-key.ts';

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

interface SerializedIdentity {
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly fingerprint: string;
}

/** Can be cloned between threads. Contains the private key or the PIN: never written to disk or logged. */
export type SerializedSigner =
  | (SerializedIdentity & {
      readonly where: 'memory';
      /** PKCS#8 in DER. */
      readonly privateKey: Uint8Array;
    })
  | (SerializedIdentity & {
      readonly where: 'token';
      /** Location of the key on its token; sessions and PIN are in shared memory. */
      readonly place: TokenPlace;
    });

/** A signer with a local key: in memory, or on a token. */
export interface LocalSigner extends Signer {
  readonly key: LocalKey | TokenKey;
}

export function serializeSigner({ key, certificate, chain, fingerprint }: LocalSigner): SerializedSigner {
  const identity = { certificate, chain, fingerprint };
  return key.where === 'token'
    ? { ...identity, where: 'token', place: key.place }
    : {
        ...identity,
        where: 'memory',
        privateKey: key.keyObject.export({ type: 'pkcs8', format: 'der' }),
      };
}

const cache = new Map<string, LocalSigner>();

/** Returns the same object for the same data, so that each thread prepares a signer once. */
export function deserializeSigner(data: SerializedSigner): LocalSigner {
  const chain = data.chain.map((der) => Buffer.from(der));
  const pool = data.where === 'token' ? new SessionPool(data.place.sessions).number : 0;
  const name = [data.fingerprint, pool, ...chain.map((der) => der.toString('base64'))].join();
  let signer = cache.get(name);
  if (signer === undefined) {
    const certificate = Buffer.from(data.certificate);
    const key = keyOf(data, certificate);
    signer = {
      key,
      certificate,
      chain,
      keyType: key.type,
      keyBits: key.bits,
      fingerprint: data.fingerprint,
    };
    cache.set(name, signer);
  }
  return signer;
}

/** Creates the key; a token is accessed only for signing. */
function keyOf(data: SerializedSigner, certificate: Buffer): LocalSigner['key'] {
  if (data.where === 'token') return tokenKey(data.place, readCertificate(certificate).publicKey);
  return localKey(createPrivateKey({ key: Buffer.from(data.privateKey), format: 'der', type: 'pkcs8' }));
}
