/** Signs X.509 structures: certificates, CRLs, OCSP responses, which carry the algorithm beside the value. */
import { constants, type KeyObject, sign } from 'node:crypto';
import { signatureIdentifier } from '../algorithms/algorithm-identifier.ts';
import { NULL, oid, sequence } from '../asn1/write.ts';
import { CryptoError, type DigestName } from '../core/types.ts';

export interface StructureSigner {
  /** DER of the AlgorithmIdentifier. */
  readonly algorithm: Buffer;
  sign(data: Buffer): Buffer;
}

/** sha256WithRSAEncryption: X.509 algorithms include digest and padding. */
const RSA_SHA256 = sequence(oid('1.2.840.113549.1.1.11'), NULL);

const CURVE_DIGEST: { readonly [curve: string]: DigestName } = {
  prime256v1: 'sha256',
  secp384r1: 'sha384',
  secp521r1: 'sha512',
};

/**
 * Creates a signer for RSA with SHA-256, ECDSA with the digest of the curve, or Ed25519.
 * @param padding of RSA signatures
 * @throws {CryptoError} `key.unsupported`
 */
export function structureSigner(key: KeyObject, padding: 'pkcs1' | 'pss' = 'pkcs1'): StructureSigner {
  if (key.asymmetricKeyType === 'rsa' && padding === 'pss') {
    const options = {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    };
    return {
      algorithm: signatureIdentifier({ scheme: 'rsa-pss', digest: 'sha256' }),
      sign: (data) => sign('sha256', data, options),
    };
  }
  if (key.asymmetricKeyType === 'rsa') {
    return { algorithm: RSA_SHA256, sign: (data) => sign('sha256', data, key) };
  }
  const digest = CURVE_DIGEST[key.asymmetricKeyDetails?.namedCurve ?? ''];
  if (key.asymmetricKeyType === 'ec' && digest !== undefined) {
    return {
      algorithm: signatureIdentifier({ scheme: 'ecdsa', digest }),
      sign: (data) => sign(digest, data, key),
    };
  }
  if (key.asymmetricKeyType === 'ed25519') {
    return {
      algorithm: signatureIdentifier({ scheme: 'ed25519', digest: 'sha512' }),
      sign: (data) => sign(null, data, key),
    };
  }
  throw new CryptoError('key.unsupported', `A ${key.asymmetricKeyType} key can't issue certificates here.`);
}
