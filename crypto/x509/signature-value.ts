/** Verifies the value of one CMS signature with the key of a certificate. */
import { constants, type KeyObject, verify } from 'node:crypto';
import { ECDSA_BY_OID, OID, RSA_BY_OID } from '../asn1/oids.ts';
import {
  type Algorithm,
  Asn1Error,
  Cursor,
  contents,
  type Element,
  enter,
  parseAlgorithm,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { sequence, unsigned } from '../asn1/write.ts';
import type { SignatureScheme } from '../core/types.ts';
import { HASH_BY_OID, type HashName } from './algorithm-identifier.ts';

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

interface SignatureValue {
  readonly algorithm: Algorithm<Buffer>;
  /** Digest named by the SignerInfo; the signature algorithm must use the same. */
  readonly digest: HashName;
  readonly value: Buffer;
  readonly key: KeyObject;
}

/** Scheme and hash of an AlgorithmIdentifier; the hash is undefined when the identifier does not include it. */
interface SignatureMethod {
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

/**
 * Converts a DER value to r and s concatenated. @param bits of the curve's field. @throws {Asn1Error} for other DER
 *     ECDSA-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }      -- RFC 3279 §2.2.3
 */
export function concatenatedValue(der: Buffer, bits: number): Buffer {
  const half = Math.ceil(bits / 8);
  const value = Buffer.alloc(2 * half);
  const fields = enter(readWhole(der), TAG.sequence);
  for (const end of [half, 2 * half]) {
    const integer = contents(fields.next(TAG.integer));
    const digits = integer.subarray(Math.max(0, integer.length - half));
    value.set(digits, end - digits.length);
  }
  fields.end();
  return value;
}

/**
 * Converts r and s, of one length, to DER.
 *     ECDSA-Sig-Value ::= SEQUENCE { r INTEGER, s INTEGER }
 */
export function derValue(value: Buffer): Buffer {
  const half = value.length / 2;
  return sequence(unsigned(value.subarray(0, half)), unsigned(value.subarray(half)));
}

/** Scheme and parameters of a signature value. */
interface ValueMethod {
  readonly scheme: SignatureScheme;
  /** Ignored for Ed25519. */
  readonly hash: HashName;
  /** Bytes, for RSA-PSS; the mask uses the same hash. @default that of the hash */
  readonly saltLength?: number;
  /** Encoding of an ECDSA value: `SEQUENCE { r, s }`, or r and s concatenated. @default 'der' */
  readonly form?: 'der' | 'row';
}

/** `key`: the key type does not match the scheme. `malformed`: the bytes are not a value of the scheme. */
export type ValueFault = 'key' | 'value' | 'malformed';

const KEY_TYPES: { readonly [scheme in SignatureScheme]: readonly string[] } = {
  'rsa-pkcs1': ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ecdsa: ['ec'],
  ed25519: ['ed25519'],
};

/** True when the key type matches the scheme. */
export function fitsScheme(key: KeyObject, scheme: SignatureScheme): boolean {
  return KEY_TYPES[scheme].includes(key.asymmetricKeyType ?? '');
}

/**
 * Verifies a value over `data`; undefined when it is right. RSA values are as long as the modulus (RFC 8017 §8.1.2,
 * §8.2.2).
 */
export function valueFault(
  method: ValueMethod,
  key: KeyObject,
  data: Buffer,
  value: Buffer,
): ValueFault | undefined {
  if (!fitsScheme(key, method.scheme)) return 'key';
  const bits = key.asymmetricKeyDetails?.modulusLength;
  // OpenSSL accepts a PSS value without its leading zeros; other programs don't.
  if (bits !== undefined && value.length !== Math.ceil(bits / 8)) return 'malformed';
  try {
    return isMade(method, key, data, value) ? undefined : 'value';
  } catch {
    return 'malformed';
  }
}

function isMade(
  { scheme, hash, saltLength = constants.RSA_PSS_SALTLEN_DIGEST, form }: ValueMethod,
  key: KeyObject,
  data: Buffer,
  value: Buffer,
): boolean {
  switch (scheme) {
    case 'ed25519':
      return verify(null, data, key, value);
    case 'ecdsa':
      return verify(hash, data, { key, dsaEncoding: form === 'row' ? 'ieee-p1363' : 'der' }, value);
    case 'rsa-pkcs1':
      return verify(hash, data, key, value);
    case 'rsa-pss':
      return verify(hash, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, value);
  }
}
