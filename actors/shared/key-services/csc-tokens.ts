/**
 * Access to a service of the Cloud Signature Consortium: the grant of the client, or its name and password. Both are in
 * `CSC_CLIENT_ID` and `CSC_CLIENT_SECRET`. Source: CSC API 2.0.0.2, 8.3, 8.4.4 and 11.2; RFC 6749 §2.3.1.
 */
import { CryptoError } from '@sealwright/signatures';
import type { TokenSource } from './access-tokens.ts';
import type { JsonAnswer, JsonRequest } from './json-requests.ts';
import { type RequestLimit, unavailable } from './key-service.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** @param info the answer of `info` */
export function cscTokenSource(
  base: string,
  env: Environment,
  info: (limit: RequestLimit) => Promise<JsonAnswer>,
): TokenSource {
  const { CSC_CLIENT_ID: id = '', CSC_CLIENT_SECRET: secret = '' } = env;
  const name = `The client ${id} of ${base}`;
  return {
    name,
    remedy: 'Check CSC_CLIENT_ID and CSC_CLIENT_SECRET, and that the provider allows the client.',
    async request(limit) {
      if (id === '' || secret === '')
        throw unavailable(name, 'it has no name or secret', 'Set CSC_CLIENT_ID and CSC_CLIENT_SECRET.');
      return requestFor(base, { id, secret }, await info(limit));
    },
  };
}

function requestFor(
  base: string,
  { id, secret }: { readonly id: string; readonly secret: string },
  { status, body }: JsonAnswer,
): JsonRequest {
  const { authType, oauth2, methods } = body;
  const types = Array.isArray(authType) ? authType.map(String) : [];
  const listed = Array.isArray(methods) ? methods.map(String) : [];
  if (status !== 200 || types.length === 0)
    throw unavailable(
      `The service ${base}`,
      `its info has HTTP status ${status}`,
      'Check KeyService:Address.',
    );
  if (!listed.includes('signatures/signHash'))
    throw new CryptoError(
      'key.unsupported',
      `The service ${base} signs no hashes (${listed.join(', ').slice(0, 300)}). Use another one.`,
    );
  const issuer = String(oauth2 ?? base).replace(/\/$/, '');
  if (base.startsWith('https:') && !issuer.startsWith('https:'))
    throw new CryptoError(
      'key.unsupported',
      `The service ${base} names ${issuer.slice(0, 200)} for its tokens; the secret would go there unencrypted. Ask the provider for an address with https.`,
    );
  if (types.includes('oauth2client'))
    return {
      method: 'POST',
      url: `${issuer}/oauth2/token`,
      headers: {},
      form: { grant_type: 'client_credentials', scope: 'service', client_id: id, client_secret: secret },
    };
  if (types.includes('basic'))
    return {
      method: 'POST',
      url: `${base}/auth/login`,
      headers: { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` },
      body: {},
    };
  throw new CryptoError(
    'key.unsupported',
    `The service ${base} lets only persons in (${types.join(', ').slice(0, 100)}). Ask the provider for access by oauth2client or basic.`,
  );
}
