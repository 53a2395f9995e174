/** Serializes signers for pool threads; each thread creates its key object once. */
import { createPrivateKey } from 'node:crypto';
import type { Signer } from '../core/types.ts';
import { readCertificate } from '../x509/certificate.ts';
import { type LocalKey, localKey } from './local-key.ts';
import { SessionPool } from './pkcs11/session-pool.ts';
import { type TokenKey, type TokenPlace, tokenKey } from './pkcs11/token-key.ts';

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
