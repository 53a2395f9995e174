/** Public keys that prove nothing. */
import type { KeyObject } from 'node:crypto';

/** Prime of the field of Ed25519, and a y of its points of order 8. */
const P = 2n ** 255n - 19n;
const Y8 = 0x7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd83d3d706a17c7n;
/** The y of all points of small order (RFC 8032 §5.1). */
const SMALL_ORDER: ReadonlySet<bigint> = new Set([0n, 1n, P - 1n, Y8, P - Y8]);

/**
 * Exponents of RSA end here (FIPS 186-5 §5.4): a longer one may be 1 modulo the order of the group, and then every number
 * is its own signature, as with the exponent 1.
 */
const EXPONENTS = 2n ** 256n;

/** True for a key under which anybody makes signatures: OpenSSL accepts RSA with the exponent 1, and Ed25519 of small order. */
export function isAnybodys(key: KeyObject): boolean {
  const exponent = key.asymmetricKeyDetails?.publicExponent;
  if (exponent !== undefined) return exponent < 3n || exponent % 2n === 0n || exponent >= EXPONENTS;
  if (key.asymmetricKeyType !== 'ed25519') return false;
  const point = Buffer.from(key.export({ format: 'der', type: 'spki' }).subarray(-32)).reverse();
  return SMALL_ORDER.has((BigInt(`0x${point.toString('hex')}`) & (2n ** 255n - 1n)) % P);
}
