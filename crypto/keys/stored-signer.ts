/** Signer and parameters as text, for the state between the two steps of signing. Contains no secret. */
import { createHash } from 'node:crypto';
import {
  type BegunSigning,
  CryptoError,
  type KeyType,
  type RemoteSigner,
  type SignatureAlgorithm,
  type SignatureParameters,
  type SignaturePolicy,
  type Signer,
  type SignerIdentity,
  type ToBeSigned,
} from '../core/types.ts';
import { fingerprintOf, readCertificate } from '../x509/certificate.ts';
import { kindOf } from '../x509/key-types.ts';
import { derValue, valueFault } from '../x509/signature-values.ts';

/** Signer and signature parameters, common to all signing requests. */
export type SignerAndParameters = SignatureParameters & { readonly signer: SignerIdentity };

/** Plain data for JSON; binary values are Base64. */
export interface StoredSigner {
  readonly certificate: string;
  readonly chain: readonly string[];
  readonly keyType: KeyType;
  readonly keyBits: number;
  readonly parameters: Omit<SignatureParameters, 'policy'>;
  readonly policy?: Omit<SignaturePolicy, 'hash'> & { readonly hash: string };
}

export function storedSigner(request: SignerAndParameters): StoredSigner {
  const { signer, at, digest, padding, includeChain, policy, claimedRole } = request;
  return {
    certificate: signer.certificate.toString('base64'),
    chain: signer.chain.map((certificate) => certificate.toString('base64')),
    keyType: signer.keyType,
    keyBits: signer.keyBits,
    parameters: {
      at,
      ...(digest === undefined ? {} : { digest }),
      ...(padding === undefined ? {} : { padding }),
      ...(includeChain === undefined ? {} : { includeChain }),
      ...(claimedRole === undefined ? {} : { claimedRole }),
    },
    ...(policy === undefined ? {} : { policy: { ...policy, hash: policy.hash.toString('base64') } }),
  };
}

/** Restores the input of `storedSigner`. @throws {CryptoError} `request.invalid` when members are missing */
export function signerFromStored(stored: StoredSigner): SignerAndParameters {
  try {
    return read(stored);
  } catch {
    throw new CryptoError('request.invalid', 'The state of the first step does not say who signs.');
  }
}

/** Returns who signs, from the state of any format. @throws {CryptoError} `request.invalid` */
export function signerOfState(text: string): SignerIdentity {
  return signerFromStored(jsonObject(text)['signer'] as StoredSigner).signer;
}

/** Returns the signer's certificate, DER, from the state of any format. @throws {CryptoError} `request.invalid` */
export function certificateOfState(text: string): Buffer {
  return signerOfState(text).certificate;
}

function read({
  certificate: text,
  chain,
  keyType,
  keyBits,
  parameters,
  policy,
}: StoredSigner): SignerAndParameters {
  const certificate = Buffer.from(text, 'base64');
  return {
    signer: {
      certificate,
      chain: chain.map((one) => Buffer.from(one, 'base64')),
      keyType,
      keyBits,
      fingerprint: fingerprintOf(certificate),
    },
    ...parameters,
    ...(policy === undefined ? {} : { policy: { ...policy, hash: Buffer.from(policy.hash, 'base64') } }),
  };
}

/** Result of the first step. @param state of the format, plain data for JSON */
export function begunSigning(
  toBeSigned: Buffer,
  algorithm: SignatureAlgorithm,
  state: { readonly kind: string },
): BegunSigning {
  return { ...hashed(toBeSigned, algorithm), state: JSON.stringify(state) };
}

function hashed(toBeSigned: Buffer, algorithm: SignatureAlgorithm): ToBeSigned {
  return { toBeSigned, hash: createHash(algorithm.digest).update(toBeSigned).digest(), algorithm };
}

/**
 * Signs with the key of the signer, wherever it is; returns the value in the form of `SigningKey.sign`.
 * @throws {CryptoError} those of the key; `signature.mismatch` for a value that a remote key did not make over these bytes
 */
export async function signatureValue(
  signer: Signer | RemoteSigner,
  toBeSigned: Buffer,
  algorithm: SignatureAlgorithm,
): Promise<Buffer> {
  if (!('sign' in signer)) return signer.key.sign(toBeSigned, algorithm);
  const value = await signer.sign(hashed(toBeSigned, algorithm));
  return checkedSignatureValue(signer, algorithm, toBeSigned, Buffer.from(value));
}

/**
 * Parses a state text. The caller checks the members of its own format.
 * @param kind value of the member `kind`, which names the format: `cades/1`
 * @param members names of the required members
 * @throws {CryptoError} `request.invalid` when it isn't JSON of this kind, or a member is missing
 */
export function readState<State extends { readonly kind: string }>(
  text: string,
  kind: State['kind'],
  members: readonly (keyof State & string)[] = [],
): State {
  const state = jsonObject(text);
  if (state['kind'] !== kind || members.some((member) => (state[member] ?? null) === null)) {
    throw new CryptoError('request.invalid', `The state of the first step is not one of ${kind}.`);
  }
  return state as unknown as State;
}

function jsonObject(text: string): { readonly [member: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/**
 * @param certificate DER
 * @param chain DER of the certificates between it and its root, nearest first
 * @throws {CryptoError} `certificate.malformed`; `key.unsupported`
 */
export function externalSigner(certificate: Buffer, chain: readonly Buffer[] = []): SignerIdentity {
  const { publicKey, fingerprint } = readCertificate(certificate);
  const { type, bits } = kindOf(publicKey);
  return { certificate, chain, keyType: type, keyBits: bits, fingerprint };
}

/**
 * Returns the value in the form of `SigningKey.sign`, ECDSA in DER; accepts DER or r and s concatenated.
 * @throws {CryptoError} `signature.mismatch` when the key of the certificate didn't make it over `toBeSigned`
 */
export function checkedSignatureValue(
  signer: SignerIdentity,
  algorithm: SignatureAlgorithm,
  toBeSigned: Buffer,
  value: Buffer,
): Buffer {
  const { publicKey } = readCertificate(signer.certificate);
  // The signed attributes contain the PSS salt length before the value exists: only that of the hash is accepted.
  const method = { scheme: algorithm.scheme, hash: algorithm.digest };
  const forms = [value];
  if (algorithm.scheme === 'ecdsa' && value.length === 2 * Math.ceil(signer.keyBits / 8)) {
    forms.push(derValue(value));
  }
  const good = forms.find((form) => valueFault(method, publicKey, toBeSigned, form) === undefined);
  if (good !== undefined) return good;
  throw new CryptoError(
    'signature.mismatch',
    'The signature value was not made by this key over these bytes.',
  );
}
