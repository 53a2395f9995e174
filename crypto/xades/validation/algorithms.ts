/**
 * Algorithms by URI (XML Signature 1.1, RFC 9231), including those accepted for reading only. Their strength is
 * judged by date elsewhere.
 */
import type { KeyObject } from 'node:crypto';
import type { SignatureScheme } from '../../core/types.ts';
import { keyBits } from '../../x509/key-types.ts';
import type { HashName } from '../../x509/signature-algorithms.ts';
import { valueFault as madeFault, type ValueFault } from '../../x509/signature-values.ts';
import type { CanonicalMethod } from '../../xml/index.ts';
import { digestOf, EXCLUSIVE_C14N, signatureMethodOf } from '../elements/identifiers.ts';

const DS = 'http://www.w3.org/2000/09/xmldsig#';
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const MORE_2007 = 'http://www.w3.org/2007/05/xmldsig-more#';

const OTHER_DIGESTS: ReadonlyMap<string, HashName> = new Map([
  [`${DS}sha1`, 'sha1'],
  [`${MORE}md5`, 'md5'],
  [`${MORE}sha224`, 'sha224'],
  [`${MORE_2007}sha3-256`, 'sha3-256'],
  [`${MORE_2007}sha3-384`, 'sha3-384'],
  [`${MORE_2007}sha3-512`, 'sha3-512'],
]);

/** Returns the hash function of a DigestMethod. */
export function hashOf(uri: string): HashName | undefined {
  return digestOf(uri) ?? OTHER_DIGESTS.get(uri);
}

/** Signature method. */
export interface ValueMethod {
  readonly scheme: SignatureScheme;
  readonly hash: HashName;
}

const OTHER_METHODS: ReadonlyMap<string, ValueMethod> = new Map<string, ValueMethod>([
  [`${DS}rsa-sha1`, { scheme: 'rsa-pkcs1', hash: 'sha1' }],
  [`${MORE}rsa-md5`, { scheme: 'rsa-pkcs1', hash: 'md5' }],
  [`${MORE}rsa-sha224`, { scheme: 'rsa-pkcs1', hash: 'sha224' }],
  [`${MORE_2007}sha1-rsa-MGF1`, { scheme: 'rsa-pss', hash: 'sha1' }],
  [`${MORE_2007}sha224-rsa-MGF1`, { scheme: 'rsa-pss', hash: 'sha224' }],
  [`${MORE_2007}sha3-256-rsa-MGF1`, { scheme: 'rsa-pss', hash: 'sha3-256' }],
  [`${MORE_2007}sha3-384-rsa-MGF1`, { scheme: 'rsa-pss', hash: 'sha3-384' }],
  [`${MORE_2007}sha3-512-rsa-MGF1`, { scheme: 'rsa-pss', hash: 'sha3-512' }],
  [`${MORE}ecdsa-sha1`, { scheme: 'ecdsa', hash: 'sha1' }],
  [`${MORE}ecdsa-sha224`, { scheme: 'ecdsa', hash: 'sha224' }],
  ['http://www.w3.org/2021/04/xmldsig-more#ecdsa-sha3-256', { scheme: 'ecdsa', hash: 'sha3-256' }],
  ['http://www.w3.org/2021/04/xmldsig-more#ecdsa-sha3-384', { scheme: 'ecdsa', hash: 'sha3-384' }],
  ['http://www.w3.org/2021/04/xmldsig-more#ecdsa-sha3-512', { scheme: 'ecdsa', hash: 'sha3-512' }],
]);

export function valueMethodOf(uri: string): ValueMethod | undefined {
  const ours = signatureMethodOf(uri);
  return ours === undefined ? OTHER_METHODS.get(uri) : { scheme: ours.scheme, hash: ours.digest };
}

/** True for MAC methods: verifier and signer share the key, so every verifier can forge. */
export function isMac(uri: string): boolean {
  return /#hmac-/i.test(uri);
}

/** Returns undefined when the key made the value, otherwise the reason as the end of a sentence. */
export function valueFault(
  { scheme, hash }: ValueMethod,
  key: KeyObject,
  signedInfo: Buffer,
  value: Buffer,
): string | undefined {
  // XML Signature 1.1 §6.4.3: r and s concatenated. RFC 9231 §2.3.9: a salt of the hash's length.
  const fault = madeFault({ scheme, hash, form: 'row' }, key, signedInfo, value);
  return fault && !isStructured({ scheme, hash }, key, signedInfo, value) ? FAULTS[fault] : undefined;
}

/** True for a right ECDSA value in a form that older signers write, of which the integers are the same. */
export function isStructured(
  { scheme, hash }: ValueMethod,
  key: KeyObject,
  signedInfo: Buffer,
  value: Buffer,
): boolean {
  if (scheme !== 'ecdsa') return false;
  const made = (form: 'der' | 'row', written: Buffer): boolean =>
    madeFault({ scheme, hash, form }, key, signedInfo, written) === undefined;
  if (value[0] === 0x30 && made('der', value)) return true;
  const row = rowOf(value, Math.ceil((keyBits(key) ?? 0) / 8));
  return row !== undefined && !row.equals(value) && made('row', row);
}

/**
 * Writes r and s with the length that XML signatures have (§6.4.3), from two halves with more or fewer zeros before them.
 * Undefined for a value of odd length, and where an integer is longer.
 */
function rowOf(value: Buffer, length: number): Buffer | undefined {
  const half = value.length / 2;
  if (!Number.isInteger(half) || half === 0 || half > MAX_HALF) return undefined;
  const row = Buffer.alloc(2 * length);
  for (const [index, part] of [value.subarray(0, half), value.subarray(half)].entries()) {
    const first = part.findIndex((byte) => byte !== 0);
    const integer = first < 0 ? part.subarray(half) : part.subarray(first);
    if (integer.length > length) return undefined;
    row.set(integer, (index + 1) * length - integer.length);
  }
  return row;
}

/** Longest half of a value, in bytes. */
const MAX_HALF = 256;

const FAULTS: { readonly [fault in ValueFault]: string } = {
  key: 'the algorithm does not fit the key',
  value: 'it does not fit data and key',
  malformed: 'it is malformed',
};

const COMMENTS = 'WithComments';
const CANONICAL: ReadonlyMap<string, Omit<CanonicalMethod, 'prefixes'>> = new Map<
  string,
  Omit<CanonicalMethod, 'prefixes'>
>([
  [EXCLUSIVE_C14N, { kind: 'exclusive', comments: false }],
  [`${EXCLUSIVE_C14N}${COMMENTS}`, { kind: 'exclusive', comments: true }],
  ['http://www.w3.org/TR/2001/REC-xml-c14n-20010315', { kind: 'inclusive-1.0', comments: false }],
  [`http://www.w3.org/TR/2001/REC-xml-c14n-20010315#${COMMENTS}`, { kind: 'inclusive-1.0', comments: true }],
  ['http://www.w3.org/2006/12/xml-c14n11', { kind: 'inclusive-1.1', comments: false }],
  [`http://www.w3.org/2006/12/xml-c14n11#${COMMENTS}`, { kind: 'inclusive-1.1', comments: true }],
]);

/** Default method where none is given: Canonical XML 1.0 without comments (XML Signature 1.1 §4.4.3.2). */
export const DEFAULT_CANONICAL: CanonicalMethod = { kind: 'inclusive-1.0', comments: false, prefixes: [] };

export function canonicalOf(uri: string): Omit<CanonicalMethod, 'prefixes'> | undefined {
  return CANONICAL.get(uri);
}
