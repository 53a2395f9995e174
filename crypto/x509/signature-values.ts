/**
 * Verifies the value of one signature with a public key, and converts values of ECDSA between their two encodings.
 */
import {
  constants,
  createPublicKey,
  createVerify,
  type KeyObject,
  type VerifyKeyObjectInput,
  verify,
} from 'node:crypto';
import { OID } from '../asn1/oids.ts';
import {
  type Algorithm,
  Asn1Error,
  Cursor,
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
import type { SignatureScheme } from '../core/types.ts';
import { algorithmName } from './algorithm-names.ts';
import { fitsScheme } from './key-types.ts';
import {
  HASH_BY_OID,
  type HashName,
  MGF1,
  OID_BY_HASH,
  RSA_PSS,
  SHA1,
  signatureMethod,
} from './signature-algorithms.ts';

interface SignatureValue {
  readonly algorithm: Algorithm<Buffer>;
  /** Digest named by the SignerInfo; the signature algorithm must use the same. */
  readonly digest: HashName;
  readonly value: Buffer;
  readonly key: KeyObject;
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
