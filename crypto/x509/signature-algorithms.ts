/**
 * Algorithms of keys, and AlgorithmIdentifiers of digests and signatures (RFC 5754, RFC 4056, RFC 8419).
 *
 * Verifies the signatures of X.509 structures, whose algorithm includes digest and padding (RFC 5280 §4.1.1.2).
 *
 * Verifies the value of one CMS signature with the key of a certificate.
 */
import {
  constants,
  createPublicKey,
  createVerify,
  type KeyObject,
  type VerifyKeyObjectInput,
  verify,
  X509Certificate,
} from 'node:crypto';
import { DIGEST_BY_OID, DIGEST_ID, ECDSA_BY_OID, ECDSA_ID, ID, OID, RSA_BY_OID } from '../asn1/oids.ts';
import {
  type Algorithm,
  Asn1Error,
  Cursor,
  childrenOf,
  contents,
  type Element,
  encoded,
  enter,
  parseAlgorithm,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { NULL, oid, sequence, small, tlv, unsigned } from '../asn1/write.ts';
import {
  CryptoError,
  type DigestName,
  type KeyType,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignatureScheme,
  type SignerIdentity,
} from '../core/types.ts';
import type { AlgorithmUse } from '../core/validation-report.ts';
import { algorithmName } from './algorithm-names.ts';
import type { Certificate } from './certificate.ts';
import { isAnybodys } from './key-strength.ts';

const ED25519_OID = '1.3.101.112';

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
  if (id === ED25519_OID) return { scheme: 'ed25519', hash: undefined };
  const rsa = FOREIGN_RSA.get(id);
  if (rsa !== undefined) return { scheme: 'rsa-pkcs1', hash: rsa };
  const ecdsa = FOREIGN_ECDSA.get(id);
  return ecdsa === undefined ? undefined : { scheme: 'ecdsa', hash: ecdsa };
}

/** Reason for which a signature is not good. */
export interface SignatureFault {
  /**
   * `unsupported`: nothing was computed, since an algorithm is not known here. `contradiction`: identifier, parameters
   * and key exclude each other. `digests`: the value is right, but the structure names two digests. `value`: another
   * value was computed.
   */
  readonly kind: 'unsupported' | 'contradiction' | 'digests' | 'value';
  readonly reason: string;
}

function unsupported(reason: string): SignatureFault {
  return { kind: 'unsupported', reason };
}

/** Returns why a signature of this algorithm is not checked, whoever made it; undefined for a known one. */
export function unsupportedAlgorithm({ id }: Algorithm<Buffer>): SignatureFault | undefined {
  if (signatureMethod(id) !== undefined) return undefined;
  return unsupported(`the signature algorithm ${algorithmName(id)} is not supported`);
}

/**
 * Verifies the signature over `data`; returns undefined when it is right, otherwise the reason. The strength of the
 * algorithms is not checked here. RSA PKCS#1 v1.5 and PSS, ECDSA and Ed25519 (RFC 5754 §3, RFC 4056, RFC 8419).
 *
 * One digest is for the content and the signature (RFC 5652 §5.4). Where the identifiers name two, both are tried: the
 * structure is then ambiguous, but nobody changed what was signed.
 * @throws {Asn1Error} for malformed parameters
 */
export function faultOf(signature: SignatureValue, signed: SignedBytes): SignatureFault | undefined {
  const { algorithm, digest, key, value } = signature;
  const named = namedMethod(algorithm);
  if ('kind' in named) return named;
  // Ed25519 reads its input twice (RFC 8032 §5.1.7), so it must be in memory.
  const data = named.scheme === 'ed25519' ? joined(signed) : signed;
  if (data === undefined) return unsupported('Ed25519 over content of this size is not supported');
  if (!fitsScheme(key, named.scheme)) return { kind: 'contradiction', reason: FAULTS.key };
  const regular = { ...named, hash: named.hash ?? digest };
  const fault = valueFault(regular, key, data, value);
  const isOther = regular.hash !== digest;
  if (fault === undefined) return isOther ? TWO_DIGESTS : undefined;
  if (isOther && valueFault({ ...regular, hash: digest }, key, data, value) === undefined) return TWO_DIGESTS;
  return { kind: 'value', reason: FAULTS[fault] };
}

/** Most bytes of content that are joined in memory. */
const MAX_JOINED = 16 << 20;

/** Undefined when the bytes are more than are held in memory. */
function joined(signed: SignedBytes): Buffer | undefined {
  if (typeof signed !== 'function') return signed;
  const chunks: Buffer[] = [];
  let length = 0;
  signed((chunk) => {
    length += chunk.length;
    if (length <= MAX_JOINED) chunks.push(Buffer.from(chunk));
  });
  return length <= MAX_JOINED ? Buffer.concat(chunks) : undefined;
}

const TWO_DIGESTS: SignatureFault = {
  kind: 'digests',
  reason: 'digest algorithm and signature algorithm disagree',
};

const FAULTS: { readonly [fault in ValueFault]: string } = {
  key: 'the signature algorithm does not fit the key',
  value: 'the value does not fit data and key',
  malformed: 'the value is malformed',
};

type NamedMethod = Omit<ValueMethod, 'hash' | 'form'> & { readonly hash: HashName | undefined };

/** @throws {Asn1Error} for malformed parameters */
function namedMethod(algorithm: Algorithm<Buffer>): NamedMethod | SignatureFault {
  const method = signatureMethod(algorithm.id);
  if (method === undefined) return unsupportedAlgorithm(algorithm) ?? unsupported(algorithm.id);
  if (method.scheme !== 'rsa-pss') return method;
  const parameters = readPssParameters(algorithm.parameters);
  return 'kind' in parameters ? parameters : { scheme: 'rsa-pss', ...parameters };
}

/** Hash, hash of the mask, and length of the salt in bytes. */
type PssParameters = Required<Pick<ValueMethod, 'hash' | 'mask' | 'saltLength'>>;

/**
 * Reads RSASSA-PSS-params (RFC 4055 §3.1). @throws {Asn1Error}
 *     RSASSA-PSS-params ::= SEQUENCE {
 *      hashAlgorithm     [0] AlgorithmIdentifier DEFAULT sha1,
 *      maskGenAlgorithm  [1] AlgorithmIdentifier DEFAULT mgf1SHA1,
 *      saltLength        [2] INTEGER DEFAULT 20,
 *      trailerField      [3] INTEGER DEFAULT 1 }
 */
function readPssParameters(parameters: Element | undefined): PssParameters | SignatureFault {
  if (parameters === undefined) throw new Asn1Error('PSS parameters are missing', 0);
  const fields = enter(parameters, TAG.sequence);
  const hash = fields.nextIf(TAG.context0Constructed);
  const mask = fields.nextIf(TAG.context1Constructed);
  const salt = fields.nextIf(TAG.context2Constructed);
  const trailer = fields.nextIf(TAG.context3Constructed);
  fields.end();
  if (trailer !== undefined && smallInteger(new Cursor(trailer).next()) !== 1) {
    return { kind: 'contradiction', reason: 'the parameters of RSA-PSS name a trailer that does not exist' };
  }
  const hashId = hash === undefined ? SHA1 : parseAlgorithm(new Cursor(hash).next()).id;
  const hashName = HASH_BY_OID.get(hashId);
  if (hashName === undefined)
    return unsupported(`the hash function ${algorithmName(hashId)} of RSA-PSS is not supported`);
  const maskName = maskHash(mask);
  if (typeof maskName !== 'string') return maskName;
  const saltLength = salt === undefined ? 20 : smallInteger(new Cursor(salt).next());
  return { hash: hashName, mask: maskName, saltLength };
}

/** Returns the hash of the mask generation function; SHA-1 when it is absent. */
function maskHash(mask: Element | undefined): HashName | SignatureFault {
  if (mask === undefined) return 'sha1';
  const { id, parameters } = parseAlgorithm(new Cursor(mask).next());
  if (id !== OID.mgf1)
    return unsupported(`the mask generation function ${algorithmName(id)} of RSA-PSS is not supported`);
  if (parameters === undefined) throw new Asn1Error('the mask generation function names no hash', 0);
  const hashId = parseAlgorithm(parameters).id;
  return (
    HASH_BY_OID.get(hashId) ??
    unsupported(`the hash function ${algorithmName(hashId)} of the mask of RSA-PSS is not supported`)
  );
}

/** Returns the hash of the mask of RSA-PSS where it is not that of the signature (RFC 8017 §8.1 recommends one). */
export function foreignMask(algorithm: Algorithm<Buffer>): HashName | undefined {
  const method = namedMethod(algorithm);
  if ('kind' in method || method.mask === method.hash) return undefined;
  return method.mask;
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
  /** Bytes, for RSA-PSS. @default that of the hash */
  readonly saltLength?: number;
  /** Hash of the mask, for RSA-PSS. @default the same hash */
  readonly mask?: HashName;
  /** Encoding of an ECDSA value: `SEQUENCE { r, s }`, or r and s concatenated. @default 'der' */
  readonly form?: 'der' | 'row';
}

/** Signed bytes, or a function that passes them on in order, for those that do not fit in memory. */
export type SignedBytes = Buffer | ((take: (chunk: Buffer) => void) => void);

/** `key`: the key type does not match the scheme. `malformed`: the bytes are not a value of the scheme. */
export type ValueFault = 'key' | 'value' | 'malformed';

const KEY_TYPES: { readonly [scheme in SignatureScheme]: readonly string[] } = {
  'rsa-pkcs1': ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ecdsa: ['ec'],
  ed25519: ['ed25519'],
};

/** True when the key type matches the scheme, and somebody can be the only one who signs with it. */
export function fitsScheme(key: KeyObject, scheme: SignatureScheme): boolean {
  return KEY_TYPES[scheme].includes(key.asymmetricKeyType ?? '') && !isAnybodys(key);
}

/**
 * Verifies a value over `data`; undefined when it is right. RSA values are as long as the modulus (RFC 8017 §8.1.2,
 * §8.2.2).
 */
export function valueFault(
  method: ValueMethod,
  key: KeyObject,
  data: SignedBytes,
  value: Buffer,
): ValueFault | undefined {
  if (!fitsScheme(key, method.scheme)) return 'key';
  const bits = key.asymmetricKeyDetails?.modulusLength;
  // OpenSSL accepts a PSS value without its leading zeros; other programs don't.
  if (bits !== undefined && value.length !== Math.ceil(bits / 8)) return 'malformed';
  const options = verifyOptions(method, key);
  const { hash, scheme } = method;
  if (typeof data !== 'function') {
    return faultOfCheck(() => verify(scheme === 'ed25519' ? null : hash, data, options, value));
  }
  const running = createVerify(hash);
  data((chunk) => running.update(chunk));
  return faultOfCheck(() => running.verify(options, value));
}

function faultOfCheck(check: () => boolean): ValueFault | undefined {
  try {
    return check() ? undefined : 'value';
  } catch {
    return 'malformed';
  }
}

function verifyOptions(
  { scheme, hash, mask, saltLength = constants.RSA_PSS_SALTLEN_DIGEST, form }: ValueMethod,
  key: KeyObject,
): VerifyKeyObjectInput {
  switch (scheme) {
    case 'ecdsa':
      return { key, dsaEncoding: form === 'row' ? 'ieee-p1363' : 'der' };
    case 'rsa-pss': {
      const bound = mask === undefined || mask === hash ? key : keyWithMask(key, hash, mask);
      return { key: bound, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength };
    }
    default:
      return { key };
  }
}

/**
 * Returns the same RSA key bound to a hash and the hash of its mask (RFC 4055 §3.1), which Node takes from the key alone. A
 * key that is bound already stays as it is.
 */
function keyWithMask(key: KeyObject, hash: HashName, mask: HashName): KeyObject {
  if (key.asymmetricKeyDetails?.hashAlgorithm !== undefined) return key;
  const fields = enter(readWhole(key.export({ type: 'spki', format: 'der' })), TAG.sequence);
  fields.next(TAG.sequence);
  const bits = encoded(fields.next(TAG.bitString));
  const identifier = (name: HashName) => sequence(oid(OID_BY_HASH.get(name) ?? ''), NULL);
  const parameters = sequence(
    tlv(TAG.context0Constructed, identifier(hash)),
    tlv(TAG.context1Constructed, sequence(MGF1, identifier(mask))),
    tlv(TAG.context2Constructed, small(0)),
  );
  const der = sequence(sequence(RSA_PSS, parameters), bits);
  return createPublicKey({ key: der, type: 'spki', format: 'der' });
}

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

/** Bytes of a digest. */
export const DIGEST_LENGTH: { readonly [name in DigestName]: number } = {
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

const RSA_PSS = oid(OID.rsaPss);
const MGF1 = oid(OID.mgf1);
const ED25519 = oid(ED25519_OID);

/** Encodes the AlgorithmIdentifier of a digest, without parameters (RFC 5754 §2). */
export function digestIdentifier(digest: DigestName): Buffer {
  return sequence(DIGEST_ID[digest]);
}

/**
 * Encodes the AlgorithmIdentifier of a signature algorithm.
 *     AlgorithmIdentifier ::= SEQUENCE { algorithm OBJECT IDENTIFIER, parameters ANY OPTIONAL }
 */
export function signatureIdentifier({ scheme, digest }: SignatureAlgorithm): Buffer {
  switch (scheme) {
    // RFC 5754 §3.2 permits the identifier of the key, with NULL parameters.
    case 'rsa-pkcs1':
      return sequence(ID.rsaEncryption, NULL);
    case 'rsa-pss':
      return sequence(RSA_PSS, pssParameters(digest));
    case 'ecdsa':
      return sequence(ECDSA_ID[digest]);
    case 'ed25519':
      return sequence(ED25519);
  }
}

/**
 * Encodes RSASSA-PSS-params with one hash and a salt of its length (RFC 4056 §3); hashes have NULL parameters (RFC
 * 4055 §6).
 *     RSASSA-PSS-params ::= SEQUENCE {
 *      hashAlgorithm     [0] AlgorithmIdentifier,
 *      maskGenAlgorithm  [1] AlgorithmIdentifier,
 *      saltLength        [2] INTEGER }
 */
function pssParameters(digest: DigestName): Buffer {
  const hash = sequence(DIGEST_ID[digest], NULL);
  return sequence(
    tlv(TAG.context0Constructed, hash),
    tlv(TAG.context1Constructed, sequence(MGF1, hash)),
    tlv(TAG.context2Constructed, small(DIGEST_LENGTH[digest])),
  );
}

/**
 * Selects the algorithm of a signer's key for a digest and a padding (RFC 8419 §3.1 for Ed25519).
 * @throws {CryptoError} `key.unsupported` when an RSA-PSS key is bound to other parameters
 */
export function algorithmOf(
  { keyType, certificate }: Pick<SignerIdentity, 'keyType' | 'certificate'>,
  { digest, padding }: Pick<SignatureParameters, 'digest' | 'padding'>,
): SignatureAlgorithm {
  if (keyType === 'ed25519') return { scheme: 'ed25519', digest: 'sha512' };
  if (keyType === 'ec') return { scheme: 'ecdsa', digest: digest ?? 'sha256' };
  if (keyType === 'rsa-pss') return { scheme: 'rsa-pss', digest: boundDigest(certificate, digest) };
  return { scheme: padding === 'pss' ? 'rsa-pss' : 'rsa-pkcs1', digest: digest ?? 'sha256' };
}

/** Parameters in a public key restrict the digest and the salt of its signatures (RFC 4055 §3.3). */
function boundDigest(certificate: Buffer, wanted: DigestName | undefined): DigestName {
  const { publicKey } = new X509Certificate(certificate);
  const { hashAlgorithm, mgf1HashAlgorithm, saltLength = 0 } = publicKey.asymmetricKeyDetails ?? {};
  const bound = (['sha256', 'sha384', 'sha512'] as const).find((name) => name === hashAlgorithm);
  const digest = wanted ?? bound ?? 'sha256';
  const isFree = hashAlgorithm === undefined;
  const fits =
    digest === hashAlgorithm && mgf1HashAlgorithm === digest && saltLength <= DIGEST_LENGTH[digest];
  if (isFree || fits) return digest;
  throw new CryptoError(
    'key.unsupported',
    `The key signs with ${hashAlgorithm}, a mask of ${mgf1HashAlgorithm} and a salt of at least ${saltLength} bytes alone, not with ${digest} throughout.`,
  );
}

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
const OID_BY_HASH: ReadonlyMap<HashName, string> = new Map(
  [...HASH_BY_OID].map(([id, name]): [HashName, string] => [name, id]),
);
const SHA1 = '1.3.14.3.2.26';

/** Returns the hash function of this name, as time-stamps give it; undefined for an unknown one. */
export function hashNamed(name: string): HashName | undefined {
  return NAMES.has(name) ? (name as HashName) : undefined;
}

/** Curves of at least 256 bits that OpenSSL has: NIST, SEC 2, and RFC 5639 in both forms. */
const CURVE_BITS: { readonly [curve: string]: number } = {
  prime256v1: 256,
  secp384r1: 384,
  secp521r1: 521,
  secp256k1: 256,
  brainpoolP256r1: 256,
  brainpoolP256t1: 256,
  brainpoolP320r1: 320,
  brainpoolP320t1: 320,
  brainpoolP384r1: 384,
  brainpoolP384t1: 384,
  brainpoolP512r1: 512,
  brainpoolP512t1: 512,
};

const SCHEME_KEYS: { readonly [scheme in SignatureAlgorithm['scheme']]: readonly KeyType[] } = {
  'rsa-pkcs1': ['rsa'],
  'rsa-pss': ['rsa', 'rsa-pss'],
  ecdsa: ['ec'],
  ed25519: ['ed25519'],
};

/** Checks that the key type matches the scheme. @throws {CryptoError} `key.unsupported` */
export function assertFits(type: KeyType, { scheme }: SignatureAlgorithm): void {
  if (SCHEME_KEYS[scheme].includes(type)) return;
  throw new CryptoError('key.unsupported', `A key of type ${type} makes no ${scheme} signatures.`);
}

/**
 * Returns type and size of a private or public key. @throws {CryptoError} `key.unsupported` for keys that `localKey`
 * refuses
 */
export function kindOf(key: KeyObject): { readonly type: KeyType; readonly bits: number } {
  const type = key.asymmetricKeyType;
  const details = key.asymmetricKeyDetails ?? {};
  if (type === 'rsa' || type === 'rsa-pss') {
    const bits = details.modulusLength ?? 0;
    if (bits >= 2048 && bits <= 4096) return { type, bits };
    throw new CryptoError('key.unsupported', `RSA keys have 2048 to 4096 bits here, this one has ${bits}.`);
  }
  if (type === 'ec') {
    const bits = CURVE_BITS[details.namedCurve ?? ''];
    if (bits !== undefined) return { type, bits };
    throw new CryptoError('key.unsupported', `The curve ${details.namedCurve} is not supported.`);
  }
  if (type === 'ed25519') return { type, bits: 255 };
  throw new CryptoError('key.unsupported', `Keys of type ${type} are not supported.`);
}
