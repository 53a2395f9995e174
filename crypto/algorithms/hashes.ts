/**
 * Hash functions that signatures of other programs may use; the policy by date decides which of them are still
 * strong.
 */
import { DIGEST_BY_OID } from '../asn1/oids.ts';
import type { DigestName } from '../core/types.ts';

/** Names of `crypto.createHash`. Names outside of `DigestName` are verified, never created. */
export type HashName = DigestName | 'md5' | 'sha1' | 'sha224' | 'sha3-256' | 'sha3-384' | 'sha3-512';

/** By dotted identifier. */
export const HASH_BY_OID: ReadonlyMap<string, HashName> = new Map<string, HashName>([
  ...DIGEST_BY_OID,
  ['1.2.840.113549.2.5', 'md5'],
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.4', 'sha224'],
  ['2.16.840.1.101.3.4.2.8', 'sha3-256'],
  ['2.16.840.1.101.3.4.2.9', 'sha3-384'],
  ['2.16.840.1.101.3.4.2.10', 'sha3-512'],
]);

const NAMES: ReadonlySet<string> = new Set(HASH_BY_OID.values());

/** Returns the hash function of this name, as time-stamps give it; undefined for an unknown one. */
export function hashNamed(name: string): HashName | undefined {
  return NAMES.has(name) ? (name as HashName) : undefined;
}
