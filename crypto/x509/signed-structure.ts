/** Signatures of X.509 structures, whose algorithm includes digest and padding (RFC 5280 §4.1.1.2). */
import type { KeyObject } from 'node:crypto';
import {
  type Algorithm,
  Asn1Error,
  type Cursor,
  childrenOf,
  contents,
  encoded,
  enter,
  parseAlgorithm,
  readWhole,
  TAG,
} from '../asn1/read.ts';
import type { AlgorithmUse } from '../core/validation-report.ts';
import { algorithmName } from './algorithm-names.ts';
import type { Certificate } from './certificate.ts';
import { keyBits } from './key-types.ts';
import { HASH_BY_OID, type HashName, signatureMethod } from './signature-algorithms.ts';
import { faultOf } from './signature-values.ts';

/** Fields of a signed structure. */
export interface SignedStructure {
  /** DER of the signed bytes. */
  readonly data: Buffer;
  readonly algorithm: Algorithm<Buffer>;
  /** Undefined for an unknown algorithm. */
  readonly hash: HashName | undefined;
  readonly value: Buffer;
}

/**
 * Reads the three fields of a signed structure (RFC 5280 §4.1, §5.1). @throws {Asn1Error}
 *     SIGNED ::= SEQUENCE { toBeSigned ANY, algorithm AlgorithmIdentifier, signature BIT STRING }
 */
export function readSignedStructure(fields: Cursor): SignedStructure {
  const data = encoded(fields.next(TAG.sequence));
  const algorithm = parseAlgorithm(fields.next());
  const bits = contents(fields.next(TAG.bitString));
  if (bits[0] !== 0) throw new Asn1Error('the signature value is not whole octets', 0);
  return { data, algorithm, hash: hashOf(algorithm), value: bits.subarray(1) };
}

/** Verifies a structure; returns undefined when the key made the value, otherwise the reason. */
export function structureFault(
  { data, algorithm, hash, value }: SignedStructure,
  key: KeyObject,
): string | undefined {
  if (hash === undefined) return `the signature algorithm ${algorithmName(algorithm.id)} is not supported`;
  if (hash === 'md5') return 'MD5 signatures prove nothing';
  try {
    return faultOf({ algorithm, digest: hash, value, key }, data)?.reason;
  } catch (error) {
    if (error instanceof Asn1Error) return error.message;
    throw error;
  }
}

function hashOf(algorithm: Algorithm<Buffer>): HashName | undefined {
  const method = signatureMethod(algorithm.id);
  if (method?.scheme === 'ed25519') return 'sha512';
  if (method?.scheme !== 'rsa-pss') return method?.hash;
  if (algorithm.parameters === undefined) return undefined;
  // RSASSA-PSS-params have the hash under [0]; SHA-1 when it is absent (RFC 4055 §3.1).
  const hash = enter(algorithm.parameters, TAG.sequence).nextIf(TAG.context0Constructed);
  const [inside] = hash === undefined ? [] : childrenOf(hash);
  return inside === undefined ? 'sha1' : HASH_BY_OID.get(parseAlgorithm(inside).id);
}

/** Lists the algorithms of a certificate's signature; RSASSA-PSS has its hash in the parameters (RFC 4055 §3.1). */
export function algorithmsOn(certificate: Certificate, issuer: Certificate): AlgorithmUse[] {
  const method = signatureMethod(certificate.signatureAlgorithm);
  const bits = keyBits(issuer.publicKey);
  const where = 'signature of a certificate';
  const name = method?.scheme ?? certificate.signatureAlgorithm;
  const uses: AlgorithmUse[] = [{ name, where, ...(bits === undefined ? {} : { bits }) }];
  if (method === undefined || method.scheme === 'ed25519') return uses;
  const { hash } =
    method.hash === undefined ? readSignedStructure(enter(readWhole(certificate.der), TAG.sequence)) : method;
  return [...uses, { name: hash ?? 'an unknown hash function', where }];
}
