/** Checks the value of one CMS signature with the key of a certificate. */
import { constants, type KeyObject, verify } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { DIGEST_BY_OID, ECDSA_BY_OID, OID, RSA_BY_OID } from '../asn1/oids.ts';
import { Cursor, type Element, enter, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import type { DigestName } from '../types.ts';
import { type Algorithm, parseAlgorithm } from './parse.ts';

const ED25519 = '1.3.101.112';

/** RSA keys below this many bits can be factored with effort; their signatures prove nothing for long. */
const MIN_MODULUS = 2048;

export interface SignatureValue {
  readonly algorithm: Algorithm;
  /** Digest named by the SignerInfo; the signature algorithm has to agree with it. */
  readonly digest: DigestName;
  readonly value: Buffer;
  readonly key: KeyObject;
}

/**
 * Undefined when the signature over `data` is right; otherwise why it isn't, or can't be checked.
 * RSA PKCS#1 v1.5 and PSS, ECDSA and Ed25519 (RFC 5754 §3, RFC 4056, RFC 8419).
 * @throws {Asn1Error} for malformed parameters
 */
export function faultOf(signature: SignatureValue, data: Buffer): string | undefined {
  const { algorithm, digest, key, value } = signature;
  const type = key.asymmetricKeyType;
  if (type === 'rsa' || type === 'rsa-pss') {
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    if (bits < MIN_MODULUS) return `an RSA key of ${bits} bits is too short`;
  }
  if (algorithm.id === OID.rsaPss) {
    if (type !== 'rsa' && type !== 'rsa-pss') return WRONG_KEY;
    const saltLength = pssSaltLength(algorithm.parameters, digest);
    if (saltLength === undefined) return DISAGREE;
    return outcome(() =>
      verify(digest, data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }, value),
    );
  }
  if (algorithm.id === OID.rsaEncryption || RSA_BY_OID.has(algorithm.id)) {
    if (type !== 'rsa') return WRONG_KEY;
    if ((RSA_BY_OID.get(algorithm.id) ?? digest) !== digest) return DISAGREE;
    return outcome(() => verify(digest, data, key, value));
  }
  const ecdsa = ECDSA_BY_OID.get(algorithm.id);
  if (ecdsa !== undefined) {
    if (type !== 'ec') return WRONG_KEY;
    if (ecdsa !== digest) return DISAGREE;
    return outcome(() => verify(digest, data, key, value));
  }
  if (algorithm.id === ED25519) {
    if (type !== 'ed25519') return WRONG_KEY;
    return outcome(() => verify(null, data, key, value));
  }
  return `the signature algorithm ${algorithm.id} is not accepted`;
}

const WRONG_KEY = 'the signature algorithm does not fit the key';
const DISAGREE = 'digest algorithm and signature algorithm disagree';

function outcome(check: () => boolean): string | undefined {
  try {
    return check() ? undefined : 'the value does not fit data and key';
  } catch {
    return 'the value is malformed';
  }
}

/** Salt length of RSASSA-PSS-params (RFC 4055 §3.1); undefined when a hash in them is not `digest`. */
function pssSaltLength(parameters: Element | undefined, digest: DigestName): number | undefined {
  if (parameters === undefined) throw new Asn1Error('PSS parameters are missing', 0);
  const fields = enter(parameters, TAG.sequence);
  const hash = fields.takeIf(TAG.context0Constructed);
  const mask = fields.takeIf(TAG.context1Constructed);
  const salt = fields.takeIf(TAG.context2Constructed);
  fields.takeIf(TAG.context3Constructed);
  fields.end();
  // Left out, both hashes are SHA-1, which `digest` never is.
  if (hash === undefined || mask === undefined) return undefined;
  const maskAlgorithm = parseAlgorithm(new Cursor(mask).take());
  if (maskAlgorithm.id !== OID.mgf1 || maskAlgorithm.parameters === undefined) return undefined;
  const hashes = [parseAlgorithm(new Cursor(hash).take()), parseAlgorithm(maskAlgorithm.parameters)];
  if (hashes.some(({ id }) => DIGEST_BY_OID.get(id) !== digest)) return undefined;
  return salt === undefined ? 20 : smallInteger(new Cursor(salt).take());
}
