/**
 * Credentials for Google Cloud, found where its own programs find them: the file that `GOOGLE_APPLICATION_CREDENTIALS`
 * names, else the identity of the machine. Source: RFC 7523 §2.1 for service accounts; `google-federation.ts`.
 */
import { sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Clock } from '@sealwright/runtime/core';
import type { TokenSource } from './access-tokens.ts';
import { federatedRequest, tokenOf } from './google-federation.ts';
import { isObject, type JsonAnswer, type JsonClient, type JsonRequest } from './json-requests.ts';
import { unavailable } from './key-service.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloudkms';
const TOKEN_ADDRESS = 'https://oauth2.googleapis.com/token';
const METADATA_HOST = 'metadata.google.internal';
/** Lifetime of the statement that is exchanged for a token, seconds; the longest that is accepted. */
const STATEMENT_SECONDS = 3600;

export function googleTokenSource(
  env: Readonly<Record<string, string | undefined>>,
  clock: Pick<Clock, 'now'>,
  client: JsonClient,
): TokenSource {
  const file = env['GOOGLE_APPLICATION_CREDENTIALS'];
  const name = `The account in ${file}`;
  if (file)
    return {
      name,
      remedy:
        'Check that its key exists and that the clock of the machine is right; else write a new file (GOOGLE_APPLICATION_CREDENTIALS).',
      async request(limit) {
        const members = await membersOf(file);
        return members['type'] === 'external_account'
          ? federatedRequest(members, { name, client, limit, scope: SCOPE })
          : requestOf(members, file, clock.now());
      },
      tokenOf: (body) => tokenOf(body, clock.now()),
    };
  const host = env['GCE_METADATA_HOST'] || METADATA_HOST;
  return {
    name: 'The service account of this machine',
    remedy: 'Attach a service account to the machine, or set GOOGLE_APPLICATION_CREDENTIALS.',
    request: () => ({
      method: 'GET',
      url: `http://${host}/computeMetadata/v1/instance/service-accounts/default/token?scopes=${encodeURIComponent(SCOPE)}`,
      headers: { 'metadata-flavor': 'Google' },
    }),
  };
}

async function membersOf(file: string): Promise<JsonAnswer['body']> {
  const remedy = 'Correct GOOGLE_APPLICATION_CREDENTIALS, or write a new file.';
  try {
    const members: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (isObject(members)) return members;
  } catch (error) {
    const { code = 'it is no JSON' } = error as NodeJS.ErrnoException;
    throw unavailable(`The account in ${file}`, code, remedy);
  }
  throw unavailable(`The account in ${file}`, 'it is no JSON object', remedy);
}

function requestOf(members: JsonAnswer['body'], file: string, now: number): JsonRequest {
  const { type } = members;
  const url = String(members['token_uri'] ?? TOKEN_ADDRESS);
  try {
    if (type === 'service_account')
      return {
        method: 'POST',
        url,
        headers: {},
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          assertion: statement(members, url, Math.floor(now / 1000)),
        },
      };
  } catch {
    throw unavailable(`The account in ${file}`, 'its private_key is no key', 'Write a new file.');
  }
  if (type === 'authorized_user') {
    const { client_id, client_secret, refresh_token } = members;
    const text = { client_id, client_secret, refresh_token } as Record<string, string>;
    return { method: 'POST', url, headers: {}, form: { ...text, grant_type: 'refresh_token' } };
  }
  throw unavailable(
    `The account in ${file}`,
    `its type ${String(type).slice(0, 40)} is not supported`,
    'Use the file of a service account or of workload identity federation, or attach an account to the machine.',
  );
}

/** JWT with RS256 (RFC 7515 §3.1). */
function statement(
  { client_email, private_key, private_key_id }: JsonAnswer['body'],
  url: string,
  now: number,
) {
  const part = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const header = part({
    alg: 'RS256',
    typ: 'JWT',
    ...(private_key_id !== undefined && { kid: private_key_id }),
  });
  const claims = part({ iss: client_email, scope: SCOPE, aud: url, iat: now, exp: now + STATEMENT_SECONDS });
  const value = sign('sha256', Buffer.from(`${header}.${claims}`), String(private_key));
  return `${header}.${claims}.${value.toString('base64url')}`;
}
