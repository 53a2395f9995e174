/**
 * Workload identity federation of Google Cloud: a token that the platform of this process gives is exchanged for one of
 * Google, and that one, where the file names an account, for one of the account. Source: RFC 8693 §2.1.
 *
 * | `credential_source` | Token of the platform                               |
 * |---------------------|-----------------------------------------------------|
 * | `file`              | in a file that the platform renews                  |
 * | `url`               | from an address of the platform                     |
 * | anything else       | refused: no program is run, and no request signed   |
 */
import { readFile } from 'node:fs/promises';
import { isObject, type JsonAnswer, type JsonClient, type JsonRequest } from './json-requests.ts';
import { type RequestLimit, unavailable } from './key-service.ts';

type Members = JsonAnswer['body'];

interface Exchange {
  /** For messages. */
  readonly name: string;
  readonly client: JsonClient;
  readonly limit: RequestLimit;
  /** Scope of the last token. */
  readonly scope: string;
}

/** Scope of a token that is exchanged for one of an account. */
const PLATFORM = 'https://www.googleapis.com/auth/cloud-platform';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** Bytes of a token; those of platforms have some thousand. */
const MAX_TOKEN = 16_384;

/** @returns the last request, whose answer holds the token @throws {ServiceBusy} {CryptoError} `key.unavailable` */
export async function federatedRequest(members: Members, exchange: Exchange): Promise<JsonRequest> {
  const { name, client, limit, scope } = exchange;
  const { audience, subject_token_type: type, service_account_impersonation_url: account } = members;
  const own = account === undefined ? scope : PLATFORM;
  const request: JsonRequest = {
    method: 'POST',
    url: addressIn(members, 'token_url', name),
    headers: {},
    form: {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      requested_token_type: ACCESS_TOKEN,
      audience: String(audience),
      scope: own,
      subject_token_type: String(type),
      subject_token: await platformToken(members['credential_source'], exchange),
    },
  };
  if (account === undefined) return request;
  const url = addressIn(members, 'service_account_impersonation_url', name);
  const { status, body } = await client.send(request, limit);
  const { access_token: token, error, error_description: text } = body;
  if (status === 200 && typeof token === 'string')
    return {
      method: 'POST',
      url,
      headers: { authorization: `Bearer ${token}` },
      body: { scope: [scope], lifetime: '3600s' },
    };
  const said = [error, text].filter((one) => typeof one === 'string').join(': ');
  throw unavailable(name, `HTTP status ${status}, ${said.slice(0, 300)}`, EXCHANGE_REMEDY);
}

const EXCHANGE_REMEDY =
  'Check the pool, the provider and its condition, and that the platform’s token is for this audience.';

/** The members of an answer as RFC 6749 has them: that of an account has others. @param now milliseconds since the epoch */
export function tokenOf(body: Members, now: number): Members {
  const { accessToken, expireTime } = body;
  if (typeof accessToken !== 'string') return body;
  const end = Date.parse(String(expireTime));
  return { access_token: accessToken, ...(end > now && { expires_in: Math.floor((end - now) / 1000) }) };
}

/** Without encryption a token could be read; loopback is for development. */
function addressIn(members: Members, member: string, name: string): string {
  const text = String(members[member]);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHere = url?.protocol === 'http:' && /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(url.hostname);
  if (url?.protocol === 'https:' || isHere) return text;
  throw unavailable(name, `its ${member} is no https address`, 'Write a new file.');
}

async function platformToken(source: unknown, { name, client, limit }: Exchange): Promise<string> {
  const { file, url, headers, format } = isObject(source) ? source : {};
  if (typeof file === 'string') return tokenIn(await contentOf(file, name), format, name);
  if (typeof url !== 'string')
    throw unavailable(
      name,
      'the token of its platform is in no file and at no address',
      'Use a configuration with `file` or `url` in credential_source.',
    );
  const sent = isObject(headers) ? Object.entries(headers) : [];
  const answer = await client.send(
    {
      method: 'GET',
      url,
      headers: Object.fromEntries(sent.map(([key, value]) => [key.toLowerCase(), String(value)])),
    },
    limit,
  );
  if (answer.status === 200) return tokenIn(answer.text ?? '', format, name);
  throw unavailable(
    name,
    `the platform answers with HTTP status ${answer.status}`,
    'Check url and headers in credential_source.',
  );
}

async function contentOf(file: string, name: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw unavailable(name, `${file} can't be read: ${code}`, 'Check the file of credential_source.');
  }
}

function tokenIn(content: string, format: unknown, name: string): string {
  const { type = 'text', subject_token_field_name: field } = isObject(format) ? format : {};
  const token = type === 'json' ? memberOf(content, String(field)) : content.trim();
  if (typeof token === 'string' && token !== '' && token.length <= MAX_TOKEN) return token;
  throw unavailable(name, 'the platform gave no token', 'Check the format in credential_source.');
}

function memberOf(content: string, member: string): unknown {
  try {
    const value: unknown = JSON.parse(content);
    return isObject(value) && Object.hasOwn(value, member) ? value[member] : undefined;
  } catch {
    return undefined;
  }
}
