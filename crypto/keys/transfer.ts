/** Signers as plain data, to start pool threads with; each thread makes its key object once. */
import { createPrivateKey } from 'node:crypto';
import { readCertificate } from '../certificates/certificate.ts';
import type { Signer } from '../types.ts';
import { type LocalKey, localKey } from './local-key.ts';
import { SessionPool } from './pkcs11/session-pool.ts';
import { type TokenKey, type TokenPlace, tokenKey } from './pkcs11/token-key.ts';

interface SerializedIdentity {
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly fingerprint: string;
}

/** Can be cloned between threads. Holds the private key or the PIN: never to be written or logged. */
export type SerializedSigner =
  | (SerializedIdentity & {
      readonly where: 'memory';
      /** PKCS#8 in DER. */
      readonly privateKey: Uint8Array;
    })
  | (SerializedIdentity & {
      readonly where: 'token';
      /** Names the token; sessions and PIN are in memory that the threads share. */
      readonly place: TokenPlace;
    });

/** A signer whose key this machine has: in memory, or on a token. */
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

const known = new Map<string, LocalSigner>();

/** The same data gives the same object, so that what is prepared per signer is prepared once per thread. */
export function deserializeSigner(data: SerializedSigner): LocalSigner {
  const chain = data.chain.map((der) => Buffer.from(der));
  const pool = data.where === 'token' ? new SessionPool(data.place.sessions).number : 0;
  const name = [data.fingerprint, pool, ...chain.map((der) => der.toString('base64'))].join();
  let signer = known.get(name);
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
    known.set(name, signer);
  }
  return signer;
}

/** A token is asked only when there is something to sign. */
function keyOf(data: SerializedSigner, certificate: Buffer): LocalSigner['key'] {
  if (data.where === 'token') return tokenKey(data.place, readCertificate(certificate).publicKey);
  return localKey(createPrivateKey({ key: Buffer.from(data.privateKey), format: 'der', type: 'pkcs8' }));
}
