/** Checks the value of one CMS signature with the key of a certificate. */
import type { KeyObject } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { ECDSA_BY_OID, OID, RSA_BY_OID } from '../asn1/oids.ts';
import { Cursor, contents, type Element, enter, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { fitsScheme, type ValueFault, valueFault } from '../keys/value-check.ts';
import type { SignatureScheme } from '../types.ts';
import { HASH_BY_OID, type HashName } from './hashes.ts';
import { type Algorithm, parseAlgorithm } from './parse.ts';

const ED25519 = '1.3.101.112';

/** RSA and ECDSA with the hashes only others use: read so that the policy by date can say what they are worth. */
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
  readonly algorithm: Algorithm;
  /** Digest named by the SignerInfo; the signature algorithm has to agree with it. */
  readonly digest: HashName;
  readonly value: Buffer;
  readonly key: KeyObject;
}

/** What an AlgorithmIdentifier says about how a value is made; the hash is undefined when it is named elsewhere. */
export interface SignatureMethod {
  readonly scheme: SignatureScheme;
  readonly hash: HashName | undefined;
}

/** Undefined for an algorithm that is not known here. */
export function signatureMethod(id: string): SignatureMethod | undefined {
  if (id === OID.rsaPss) return { scheme: 'rsa-pss', hash: undefined };
  if (id === OID.rsaEncryption) return { scheme: 'rsa-pkcs1', hash: undefined };
  if (id === ED25519) return { scheme: 'ed25519', hash: undefined };
  const rsa = FOREIGN_RSA.get(id);
  if (rsa !== undefined) return { scheme: 'rsa-pkcs1', hash: rsa };
  const ecdsa = FOREIGN_ECDSA.get(id);
  return ecdsa === undefined ? undefined : { scheme: 'ecdsa', hash: ecdsa };
}

/**
 * Why the algorithms of a signature contradict each other or the key, undefined when they agree. Whether they are
 * still strong enough is not the question here.
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
 * Undefined when the signature over `data` is right; otherwise why it isn't, or can't be checked.
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

/** Salt length of RSASSA-PSS-params (RFC 4055 §3.1); undefined when they don't say MGF1 and `digest` throughout. */
function pssSaltLength(parameters: Element | undefined, digest: HashName): number | undefined {
  if (parameters === undefined) throw new Asn1Error('PSS parameters are missing', 0);
  const fields = enter(parameters, TAG.sequence);
  const hash = fields.takeIf(TAG.context0Constructed);
  const mask = fields.takeIf(TAG.context1Constructed);
  const salt = fields.takeIf(TAG.context2Constructed);
  const trailer = fields.takeIf(TAG.context3Constructed);
  fields.end();
  if (trailer !== undefined && smallInteger(new Cursor(trailer).take()) !== 1) return undefined;
  const hashName = hash === undefined ? 'sha1' : HASH_BY_OID.get(parseAlgorithm(new Cursor(hash).take()).id);
  if (hashName !== digest || maskHash(mask) !== digest) return undefined;
  return salt === undefined ? 20 : smallInteger(new Cursor(salt).take());
}

/** Hash of the mask generation function; SHA-1 when nothing is said. */
function maskHash(mask: Element | undefined): HashName | undefined {
  if (mask === undefined) return 'sha1';
  const { id, parameters } = parseAlgorithm(new Cursor(mask).take());
  if (id !== OID.mgf1 || parameters === undefined || contents(parameters).length === 0) return undefined;
  return HASH_BY_OID.get(parseAlgorithm(parameters).id);
}

/** Bits that say how strong a key is: the RSA modulus, or the field of the curve; undefined when it can't be told. */
export function keyBits(key: KeyObject): number | undefined {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'ed25519') return 255;
  if (details?.modulusLength !== undefined) return details.modulusLength;
  const digits = /\d{3}/.exec(details?.namedCurve ?? '');
  return digits === null ? undefined : Number(digits[0]);
}
