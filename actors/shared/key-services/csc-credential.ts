/** A credential of the API of the Cloud Signature Consortium: what it signs, and who authorizes it. Source: CSC API 2.0.0.2, 11.5 and 11.6. */
import { type KeyObject, X509Certificate } from 'node:crypto';
import { CryptoError } from '@sealwright/signatures';
import { secretsIn } from './csc-secrets.ts';
import { isObject, type JsonAnswer } from './json-requests.ts';
import { mismatch, unavailable } from './key-service.ts';

export interface Credential {
  /** Identifiers of algorithms. */
  readonly algorithms: readonly string[];
  /** Most hashes of one authorization. */
  readonly multisign: number;
  /** Ids of the passwords that an authorization takes. */
  readonly passwords: readonly string[];
}

/** Hashes of one batch, whatever a credential allows. */
const MAX_BATCH = 100;

/**
 * Reads the answer of `credentials/info`.
 * @throws {CryptoError} `key.unavailable`, `key.mismatch`, `key.unsupported`
 */
export function readCredential(name: string, body: JsonAnswer['body'], wanted: KeyObject): Credential {
  const key = isObject(body['key']) ? body['key'] : {};
  const cert = isObject(body['cert']) ? body['cert'] : {};
  if (key['status'] !== 'enabled')
    throw unavailable(name, `its key is ${String(key['status'])}`, 'Have the provider enable it.');
  const { status = 'valid', certificates } = cert;
  if (status !== 'valid')
    throw unavailable(name, `its certificate is ${String(status)}`, 'Renew the credential at the provider.');
  const [own] = Array.isArray(certificates) ? certificates : [];
  if (publicKeyOf(own)?.equals(wanted) !== true) throw mismatch(name);
  return {
    algorithms: Array.isArray(key['algo']) ? key['algo'].map(String) : [],
    multisign: Math.min(MAX_BATCH, Math.max(1, Math.floor(Number(body['multisign']) || 1))),
    passwords: passwordsOf(name, body),
  };
}

function publicKeyOf(certificate: unknown): KeyObject | undefined {
  try {
    return new X509Certificate(Buffer.from(String(certificate), 'base64')).publicKey;
  } catch {
    return undefined;
  }
}

/** Values that are always the same: nobody is asked for them. @throws {CryptoError} `key.unsupported` */
function passwordsOf(name: string, body: JsonAnswer['body']): readonly string[] {
  const auth = isObject(body['auth']) ? body['auth'] : undefined;
  const mode = auth === undefined ? body['authMode'] : auth['mode'];
  if (mode === 'implicit') return [];
  const secrets = secretsIn(body);
  if (mode === 'explicit' && secrets?.every(({ kind }) => kind === 'password') === true)
    return secrets.map(({ id }) => id);
  const kinds = secrets?.map(({ id, kind }) => `${id}: ${kind}`).join(', ') ?? 'other means';
  throw new CryptoError(
    'key.unsupported',
    `${name} is authorized by a person (${String(mode)}${kinds === '' ? '' : `, ${kinds}`}). Use a credential for seals, whose authorization is implicit or takes a PIN alone.`,
  );
}
