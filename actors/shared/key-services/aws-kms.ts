/** Keys of AWS KMS. Its client, an optional package, is loaded at first use and finds credentials as it always does. */
import { createPublicKey, type KeyObject } from 'node:crypto';
import type { SigningAlgorithmSpec } from '@aws-sdk/client-kms';
import { CryptoError, type SignatureAlgorithm, type ToBeSigned } from '@sealwright/signatures';
import { tunnelAgent } from '@sealwright/signatures/http';
import type { JsonConnections } from './json-requests.ts';
import {
  type AwsKmsPlace,
  type KeyDriver,
  mismatch,
  type RequestLimit,
  ServiceBusy,
  unavailable,
} from './key-service.ts';

/** Version that is tested; package.json names it as well. */
const KMS_PACKAGE = '@aws-sdk/client-kms@3.1164.0';

/** Bytes that KMS takes without a digest. */
const MAX_RAW_BYTES = 4096;

/** Of an error: what to do, or that it passes. A name that is not here is refused, unless its status says that it passes. */
const ERRORS: { readonly [name: string]: 'passes' | string } = {
  ThrottlingException: 'passes',
  LimitExceededException: 'passes',
  KMSInternalException: 'passes',
  DependencyTimeoutException: 'passes',
  KeyUnavailableException: 'passes',
  TimeoutError: 'passes',
  DisabledException: 'Enable the key.',
  KMSInvalidStateException: 'Enable the key, or cancel its deletion.',
  NotFoundException: 'Check KeyService:Key and Region.',
  AccessDeniedException: 'Allow kms:Sign and kms:GetPublicKey in the policy of the key.',
  CredentialsProviderError: 'Give the process credentials: its role, environment or profile.',
  ExpiredTokenException: 'Renew the credentials of the process.',
  UnrecognizedClientException: 'Check the credentials of the process.',
  InvalidSignatureException: 'Check the credentials and the clock of the machine.',
};

/** Errors that say that the key makes no signature of this kind. */
const UNSUITABLE = /^(InvalidKeyUsage|Validation|UnsupportedOperation)Exception$/;

const ALGORITHMS = {
  'rsa-pkcs1': 'RSASSA_PKCS1_V1_5_SHA_',
  'rsa-pss': 'RSASSA_PSS_SHA_',
  ecdsa: 'ECDSA_SHA_',
} as const;

type Sdk = typeof import('@aws-sdk/client-kms');

/** @throws {CryptoError} `key.unavailable` without the package */
async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-kms');
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CryptoError(
      'key.unavailable',
      `A key of AWS KMS needs a package that is not installed. Run: npm install ${KMS_PACKAGE}`,
    );
  }
}

export function awsKmsDriver(
  { key, region, address }: AwsKmsPlace,
  { connections, proxy }: JsonConnections,
): KeyDriver {
  const name = `The KMS key ${key}`;
  const opened = loadSdk().then((sdk) => ({
    sdk,
    client: new sdk.KMSClient({
      ...(region !== undefined && { region }),
      ...(address !== undefined && { endpoint: address }),
      // Repeated by the caller, who knows the time that is left.
      maxAttempts: 1,
      requestHandler: {
        httpAgent: { maxSockets: connections },
        httpsAgent:
          proxy === undefined
            ? { maxSockets: connections }
            : tunnelAgent(new URL(proxy), { maxSockets: connections, keepAlive: true }),
      },
    }),
  }));
  // Reported by the first request.
  opened.catch(() => {});
  return {
    name,
    async confirm(publicKey: KeyObject, { signal }: RequestLimit) {
      const { sdk, client } = await opened;
      const { PublicKey: der } = await client
        .send(new sdk.GetPublicKeyCommand({ KeyId: key }), { abortSignal: signal })
        .catch((error: unknown) => Promise.reject(explained(name, error)));
      const found = der && createPublicKey({ key: Buffer.from(der), format: 'der', type: 'spki' });
      if (found?.equals(publicKey) !== true) throw mismatch(name);
    },
    async sign(data: ToBeSigned, { signal }: RequestLimit) {
      const { sdk, client } = await opened;
      const { Signature: value } = await client
        .send(new sdk.SignCommand({ KeyId: key, ...messageOf(name, data) }), { abortSignal: signal })
        .catch((error: unknown) => Promise.reject(explained(name, error)));
      if (value !== undefined) return Buffer.from(value);
      throw unavailable(name, 'its answer holds no signature', 'Check KeyService:Address.');
    },
    close: () => void opened.then(({ client }) => client.destroy()).catch(() => {}),
  };
}

interface Message {
  readonly Message: Buffer;
  readonly MessageType: 'DIGEST' | 'RAW';
  readonly SigningAlgorithm: SigningAlgorithmSpec;
}

function messageOf(name: string, { toBeSigned, hash, algorithm }: ToBeSigned): Message {
  if (algorithm.scheme !== 'ed25519')
    return {
      Message: hash,
      MessageType: 'DIGEST',
      SigningAlgorithm: algorithmName(algorithm.scheme, algorithm),
    };
  if (toBeSigned.length <= MAX_RAW_BYTES)
    return { Message: toBeSigned, MessageType: 'RAW', SigningAlgorithm: 'ED25519_SHA_512' };
  throw new CryptoError(
    'key.unsupported',
    `${name} signs at most ${MAX_RAW_BYTES} bytes with Ed25519, and this signature has ${toBeSigned.length}. Use an RSA or EC key.`,
  );
}

function algorithmName(
  scheme: keyof typeof ALGORITHMS,
  { digest }: Pick<SignatureAlgorithm, 'digest'>,
): SigningAlgorithmSpec {
  return `${ALGORITHMS[scheme]}${digest.slice(3) as '256' | '384' | '512'}`;
}

function explained(name: string, error: unknown): Error {
  const {
    name: code,
    message,
    $metadata,
  } = error as {
    readonly name: string;
    readonly message: string;
    readonly $metadata?: { readonly httpStatusCode?: number; readonly clockSkewCorrected?: boolean };
  };
  const status = $metadata?.httpStatusCode;
  const remedy = Object.hasOwn(ERRORS, code) ? ERRORS[code] : undefined;
  // The client has learned the time of the service, and signs the next request by it.
  if (code === 'InvalidSignatureException' && $metadata?.clockSkewCorrected === true)
    return new ServiceBusy('the clock of the machine is some minutes wrong');
  // An error of the system, such as a refused connection.
  const isLost = status === undefined && (error as { code?: unknown }).code !== undefined;
  if (remedy === 'passes' || isLost || status === 429 || (status ?? 0) >= 500)
    return new ServiceBusy(
      isLost ? `it can't be reached (${(error as { code: unknown }).code})` : `it answers with ${code}`,
    );
  if (UNSUITABLE.test(code))
    return new CryptoError(
      'key.unsupported',
      `${name} makes no such signature (${message.slice(0, 300)}). Its kind allows one DigestAlgorithm with EC keys, such as SHA384 with P-384.`,
    );
  return code === 'NotFoundException'
    ? new CryptoError('key.not-found', `${name} does not exist. ${remedy}`)
    : unavailable(
        name,
        status === undefined ? `${code}, ${message.slice(0, 300)}` : `${code}, HTTP status ${status}`,
        remedy ?? 'Check KeyService:Region and the credentials of the process.',
      );
}
