/** Verifies the value of one CMS signature with the key of a certificate. */
import type { KeyObject } from 'node:crypto';
import { type Algorithm, parseAlgorithm } from '../asn1/algorithm.ts';
import { Asn1Error } from '../asn1/asn1-error.ts';
import { ECDSA_BY_OID, OID, RSA_BY_OID } from '../asn1/oids.ts';
import { Cursor, contents, type Element, enter, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { SignatureScheme } from '../core/types.ts';
import { HASH_BY_OID, type HashName } from './hashes.ts';
import { fitsScheme, type ValueFault, valueFault } from './value-check.ts';

const ED25519 = '1.3.101.112';

/** Algorithms with hashes that this engine does not create: read so that the policy by date can judge them. */
const FOREIGN_RSA: ReadonlyMap<string, HashName> = new Map<string, HashName>([
  ...RSA_BY_OID,
  ['1.2.840.113549.1.1.4', 'md5'],
  ['1.2.840.113549.1.1.5', 'sha1'],
  ['1.2.840.113549.1.1.14', 'sha224'],
  ['2.16.840.1.101.3.4.3.14', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.15', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.16', 'sha3-512'],
]);
const FOREIGN_ECDSA: ReadonlyMap<string, HashName> = new Map<string, HashName>([
  ...ECDSA_BY_OID,
  ['1.2.840.10045.4.1', 'sha1'],
  ['1.2.840.10045.4.3.1', 'sha224'],
  ['2.16.840.1.101.3.4.3.10', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.11', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.12', 'sha3-512'],
]);

export interface SignatureValue {
  readonly algorithm: Algorithm<Buffer>;
  /** Digest named by the SignerInfo; the signature algorithm must use the same. */
  readonly digest: HashName;
  readonly value: Buffer;
  readonly key: KeyObject;
}

/** Scheme and hash of an AlgorithmIdentifier; the hash is undefined when the identifier does not include it. */
export interface SignatureMethod {
  readonly scheme: SignatureScheme;
  readonly hash: HashName | undefined;
}

/** Returns scheme and hash of a signature algorithm; undefined for an unknown one. */
export function signatureMethod(id: string): SignatureMethod | undefined {
  if (id === OID.rsaPss) return { scheme: 'rsa-pss', hash: undefined };
  if (id === OID.rsaEncryption) return { scheme: 'rsa-pkcs1', hash: undefined };
  // RFC 5753 has no such form, but smart card programs write it, and other verifiers take the digest of the SignerInfo.
  if (id === OID.ecPublicKey) return { scheme: 'ecdsa', hash: undefined };
  if (id === ED25519) return { scheme: 'ed25519', hash: undefined };
  const rsa = FOREIGN_RSA.get(id);
  if (rsa !== undefined) return { scheme: 'rsa-pkcs1', hash: rsa };
  const ecdsa = FOREIGN_ECDSA.get(id);
  return ecdsa === undefined ? undefined : { scheme: 'ecdsa', hash: ecdsa };
}

/**
 * Returns the reason why the algorithms of a signature contradict each other or the key; undefined when they agree.
 * The
 * strength of the algorithms is not checked here.
 * @throws {Asn1Error} for malformed parameters
 */
export function disagreementOf({
  algorithm,
  digest,
  key,
}: Omit<SignatureValue, 'value'>): string | undefined {
  const method = signatureMethod(algorithm.id);
  if (method === undefined) return `the signature algorithm ${algorithm.id} is not accepted`;
  if (!fitsScheme(key, method.scheme)) return FAULTS.key;
  if (method.hash !== undefined && method.hash !== digest) return DISAGREE;
  if (method.scheme === 'rsa-pss' && pssSaltLength(algorithm.parameters, digest) === undefined)
    return DISAGREE;
  return undefined;
}

/**
 * Verifies the signature over `data`; returns undefined when it is right, otherwise the reason.
 * RSA PKCS#1 v1.5 and PSS, ECDSA and Ed25519 (RFC 5754 §3, RFC 4056, RFC 8419).
 * @throws {Asn1Error} for malformed parameters
 */
export function faultOf(signature: SignatureValue, data: Buffer): string | undefined {
  const disagreement = disagreementOf(signature);
  if (disagreement !== undefined) return disagreement;
  const { algorithm, digest, key, value } = signature;
  const scheme = signatureMethod(algorithm.id)?.scheme ?? 'rsa-pkcs1';
  const salt = scheme === 'rsa-pss' ? { saltLength: pssSaltLength(algorithm.parameters, digest) ?? 0 } : {};
  const fault = valueFault({ scheme, hash: digest, ...salt }, key, data, value);
  return fault && FAULTS[fault];
}

const FAULTS: { readonly [fault in ValueFault]: string } = {
  key: 'the signature algorithm does not fit the key',
  value: 'the value does not fit data and key',
  malformed: 'the value is malformed',
};
const DISAGREE = 'digest algorithm and signature algorithm disagree';

/**
 * Returns the salt length of RSASSA-PSS-params (RFC 4055 §3.1); undefined unless they use MGF1 and `digest`
 * throughout.
 *     RSASSA-PSS-params ::= SEQUENCE {
 *      hashAlgorithm     [0] AlgorithmIdentifier DEFAULT sha1,
 *      maskGenAlgorithm  [1] AlgorithmIdentifier DEFAULT mgf1SHA1,
 *      saltLength        [2] INTEGER DEFAULT 20,
 *      trailerField      [3] INTEGER DEFAULT 1 }
 */
function pssSaltLength(parameters: Element | undefined, digest: HashName): number | undefined {
  if (parameters === undefined) throw new Asn1Error('PSS parameters are missing', 0);
  const fields = enter(parameters, TAG.sequence);
  const hash = fields.nextIf(TAG.context0Constructed);
  const mask = fields.nextIf(TAG.context1Constructed);
  const salt = fields.nextIf(TAG.context2Constructed);
  const trailer = fields.nextIf(TAG.context3Constructed);
  fields.end();
  if (trailer !== undefined && smallInteger(new Cursor(trailer).next()) !== 1) return undefined;
  const hashName = hash === undefined ? 'sha1' : HASH_BY_OID.get(parseAlgorithm(new Cursor(hash).next()).id);
  if (hashName !== digest || maskHash(mask) !== digest) return undefined;
  return salt === undefined ? 20 : smallInteger(new Cursor(salt).next());
}

/** Returns the hash of the mask generation function; SHA-1 when it is absent. */
function maskHash(mask: Element | undefined): HashName | undefined {
  if (mask === undefined) return 'sha1';
  const { id, parameters } = parseAlgorithm(new Cursor(mask).next());
  if (id !== OID.mgf1 || parameters === undefined || contents(parameters).length === 0) return undefined;
  return HASH_BY_OID.get(parseAlgorithm(parameters).id);
}

/** Returns the bits of the RSA modulus or of the curve's field; undefined for other keys. */
export function keyBits(key: KeyObject): number | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ed25519') return 255;
  if (details?.modulusLength !== undefined) return details.modulusLength;
  const digits = /\d{3}/.exec(details?.namedCurve ?? '');
  return digits === null ? undefined : Number(digits[0]);
}
