/** Checks values over X.509 structures, whose algorithm names digest and padding together (RFC 5280 §4.1.1.2). */
import type { KeyObject } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { type Cursor, childrenOf, contents, encoded, enter } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { HASH_BY_OID, type HashName } from '../cms/hashes.ts';
import { type Algorithm, parseAlgorithm } from '../cms/parse.ts';
import { faultOf, signatureMethod } from '../cms/signature-value.ts';

/** What every signed structure consists of. */
export interface SignedStructure {
  /** DER of what is signed. */
  readonly data: Buffer;
  readonly algorithm: Algorithm;
  /** Undefined for an algorithm that isn't known here. */
  readonly hash: HashName | undefined;
  readonly value: Buffer;
}

/** Takes the three fields of a SIGNED structure: what is signed, the algorithm, the value. @throws {Asn1Error} */
export function takeSigned(fields: Cursor): SignedStructure {
  const data = encoded(fields.take(TAG.sequence));
  const algorithm = parseAlgorithm(fields.take());
  const bits = contents(fields.take(TAG.bitString));
  if (bits[0] !== 0) throw new Asn1Error('the signature value is not whole octets', 0);
  return { data, algorithm, hash: hashOf(algorithm), value: bits.subarray(1) };
}

/** Undefined when the key made the value; otherwise why it is wrong or proves nothing. */
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

function hashOf(algorithm: Algorithm): HashName | undefined {
  const method = signatureMethod(algorithm.id);
  if (method?.scheme === 'ed25519') return 'sha512';
  if (method?.scheme !== 'rsa-pss') return method?.hash;
  if (algorithm.parameters === undefined) return undefined;
  // RSASSA-PSS-params: the hash under [0]; SHA-1 when it is left out (RFC 4055 §3.1).
  const hash = enter(algorithm.parameters, TAG.sequence).takeIf(TAG.context0Constructed);
  const [inside] = hash === undefined ? [] : childrenOf(hash);
  return inside === undefined ? 'sha1' : HASH_BY_OID.get(parseAlgorithm(inside).id);
}
