/** Signers as plain data, to start pool threads with; each thread makes its key object once. */
import { createPrivateKey } from 'node:crypto';
import type { Signer } from '../types.ts';
import { type LocalKey, localKey } from './local-key.ts';

/** Can be cloned between threads. Holds the private key in the clear: never to be written or logged. */
export interface SerializedSigner {
  /** PKCS#8 in DER. */
  readonly privateKey: Uint8Array;
  readonly certificate: Uint8Array;
  readonly chain: readonly Uint8Array[];
  readonly fingerprint: string;
}

/** A signer whose key is in memory. */
export interface LocalSigner extends Signer {
  readonly key: LocalKey;
}

export function serializeSigner(signer: LocalSigner): SerializedSigner {
  return {
    privateKey: signer.key.keyObject.export({ type: 'pkcs8', format: 'der' }),
    certificate: signer.certificate,
    chain: signer.chain,
    fingerprint: signer.fingerprint,
  };
}

const known = new Map<string, LocalSigner>();

/** The same data gives the same object, so that what is prepared per signer is prepared once per thread. */
export function deserializeSigner(data: SerializedSigner): LocalSigner {
  const chain = data.chain.map((der) => Buffer.from(der));
  const name = [data.fingerprint, ...chain.map((der) => der.toString('base64'))].join();
  let signer = known.get(name);
  if (signer === undefined) {
    const key = localKey(
      createPrivateKey({ key: Buffer.from(data.privateKey), format: 'der', type: 'pkcs8' }),
    );
    signer = {
      key,
      certificate: Buffer.from(data.certificate),
      chain,
      keyType: key.type,
      keyBits: key.bits,
      fingerprint: data.fingerprint,
    };
    known.set(name, signer);
  }
  return signer;
}
