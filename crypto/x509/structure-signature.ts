/** Verifies the signatures of X.509 structures, whose algorithm includes digest and padding (RFC 5280 §4.1.1.2). */
import type { KeyObject } from 'node:crypto';
import { HASH_BY_OID, type HashName } from '../algorithms/hashes.ts';
import { faultOf, signatureMethod } from '../algorithms/signature-value.ts';
import { type Algorithm, parseAlgorithm } from '../asn1/algorithm.ts';
import { Asn1Error } from '../asn1/asn1-error.ts';
import { type Cursor, childrenOf, contents, encoded, enter } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';

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
  if (hash === undefined) return `the signature algorithm ${algorithm.id} is not accepted`;
  if (hash === 'md5') return 'MD5 signatures prove nothing';
  try {
    return faultOf({ algorithm, digest: hash, value, key }, data);
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
