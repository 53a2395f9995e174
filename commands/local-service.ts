/** Requests to the service that runs on this machine with this configuration. */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '@sealwright/runtime/core';
import { createHttpClient, type OutgoingRequest } from '@sealwright/signatures/http';
import { API_KEY_FILE } from '../service/key-folder.ts';
import { readServiceFile } from '../service/service-file.ts';
import type { Settings } from '../settings.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly body: string;
  /** `X-Run-Id`, of answers to `GET /api/health`. */
  readonly runId: string | undefined;
}

/** Time limit of a request with its answer, milliseconds. */
const TIMEOUT_MS = 5000;
/** Longest answer that is read, bytes. */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** Wildcard addresses, and the address to connect to instead. */
const LOOPBACK: ReadonlyMap<string, string> = new Map([
  ['0.0.0.0', '127.0.0.1'],
  ['::', '::1'],
]);

/** Origin at which this machine reaches a listener, also one of all addresses. */
export function reachable(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const address = LOOPBACK.get(host) ?? host;
  return `${protocol}//${isIP(address) === 6 ? `[${address}]` : address}${port === '' ? '' : `:${port}`}`;
}

/** Reports that no request can be sent to the service; the message is a part of a sentence about `url`. */
export class NoService extends Error {
  override readonly name = 'NoService';
  /** The address that was tried. */
  readonly url: string;
  constructor(url: string, message: string) {
    super(message);
    this.url = url;
  }
}

/**
 * Finds the address of the service that runs on this store, from what it wrote beside its lock, and makes sure that it is the
 * one that answers there: a key must not go to another program.
 * @param isOwnNode as of `readServiceFile`
 * @throws {NoService}
 */
export async function findService(
  settings: Settings,
  api: 'batch' | 'portal',
  isOwnNode = false,
): Promise<string> {
  const configured = settings[api].url.href;
  const running = readServiceFile(settings, isOwnNode);
  if (running === undefined) {
    const answer = await requestLocal(configured, '/api/health').catch((error: Error) => error.message);
    if (typeof answer === 'string') throw new NoService(configured, `does not answer: ${answer}`);
    throw new NoService(
      configured,
      `is another program: no service runs on this machine with Storage:Root ${settings.storage.root}`,
    );
  }
  const url = api === 'batch' ? running.batchUrl : running.portalUrl;
  if (url === null)
    throw new NoService(
      configured,
      `is not served: process ${running.process.pid} runs without that API (${api === 'batch' ? 'Batch' : 'Portal'}:Enabled)`,
    );
  const answer = await requestLocal(url, '/api/health').catch((error: Error) => error.message);
  if (typeof answer === 'string') throw new NoService(url, `does not answer: ${answer}`);
  if (answer.runId !== running.runId)
    throw new NoService(url, `is another program, not the service of process ${running.process.pid}`);
  if (answer.status !== 200) throw new NoService(url, `answers with status ${answer.status}`);
  return url;
}

/**
 * Sends a request to a listener on this machine. Over https the certificate is not checked: it names the public host, and
 * the connection does not leave this machine. Rejects with the system's error when nothing answers.
 * @param listener URL of its socket
 */
export async function requestLocal(
  listener: string,
  path: string,
  { method = 'GET', headers = {}, body }: Partial<Pick<OutgoingRequest, 'method' | 'headers' | 'body'>> = {},
): Promise<LocalAnswer> {
  const url = new URL(`${reachable(listener)}${path}`);
  return withClient(TIMEOUT_MS, async (client, signal) => {
    const response = await client.send({
      url,
      method,
      headers,
      body,
      policy: 'any',
      repeatable: false,
      signal,
    });
    const pieces: Buffer[] = [];
    let length = 0;
    for await (const piece of response) {
      length += piece.length;
      if (length > MAX_ANSWER_BYTES) throw new Error('the answer is too long');
      pieces.push(piece);
    }
    const runId = response.headers['x-run-id'];
    return {
      status: response.statusCode ?? 0,
      body: Buffer.concat(pieces).toString('utf8'),
      runId: typeof runId === 'string' ? runId : undefined,
    };
  });
}

/** @param signal ends the request when the time is over */
async function withClient<Answer>(
  limitMs: number,
  send: (client: ReturnType<typeof createHttpClient>, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const client = createHttpClient({ idleConnections: 0, checkCertificates: false });
  const timeout = new AbortController();
  const cancel = systemClock.after(limitMs, () =>
    timeout.abort(new Error(`no answer within ${limitMs / 1000} s`)),
  );
  try {
    return await send(client, timeout.signal);
  } finally {
    cancel();
    client.close();
  }
}

/**
 * Headers of a request with a key: the address of the listener is mostly not among `AllowedHosts`, and where
 * `Hosting:RequireHttps` counts on a proxy, this machine speaks as one.
 */
export function localHeaders({
  allowedHosts,
  auth,
  storage,
  hosting,
}: Settings): Readonly<Record<string, string>> {
  const [first = '*'] = allowedHosts.includes('*') ? [] : allowedHosts;
  const host = isIP(first) === 6 ? `[${first}]` : first.replace(/^\*\./, 'local.');
  return {
    ...(host !== '*' && { host }),
    ...(hosting.requireHttps && { 'x-forwarded-proto': 'https' }),
    [auth.apiKeyHeader.toLowerCase()]: localApiKey({ auth, storage }),
  };
}

const METHODS = ['GET', 'HEAD', 'POST'] as const;
/** Time limit of a request of `localFetch` with its answer, milliseconds: files may be long. */
const LONG_TIMEOUT_MS = 600_000;

/** `fetch` for the listeners of this machine, as `requestLocal`, with host and scheme of `localHeaders`. Bodies are in memory. */
export function localFetch(settings: Settings): typeof fetch {
  const { [settings.auth.apiKeyHeader.toLowerCase()]: _, ...entry } = localHeaders(settings);
  return (input, init) => fetchLocal(new Request(input, init), entry);
}

async function fetchLocal(request: Request, entry: Readonly<Record<string, string>>): Promise<Response> {
  const method = METHODS.find((one) => one === request.method);
  if (method === undefined) throw new TypeError(`${request.method} is not sent to the service.`);
  return withClient(LONG_TIMEOUT_MS, async (client, signal) => {
    const response = await client.send({
      url: new URL(request.url),
      method,
      headers: { ...Object.fromEntries(request.headers), ...entry },
      body: request.body === null ? undefined : Buffer.from(await request.arrayBuffer()),
      policy: 'any',
      repeatable: false,
      signal: AbortSignal.any([request.signal, signal]),
    });
    const body: Buffer[] = await response.toArray();
    const { statusCode: status = 0, headers } = response;
    const isBare = method === 'HEAD' || [204, 205, 304].includes(status);
    const given = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
    return new Response(isBare ? null : Buffer.concat(body), { status, headers: given });
  });
}

/** The configured API key, else the one the service made for itself; empty when there is neither. */
export function localApiKey({ auth, storage }: Pick<Settings, 'auth' | 'storage'>): string {
  if (auth.apiKey !== undefined) return auth.apiKey;
  try {
    return readFileSync(join(storage.keysPath, API_KEY_FILE), 'utf8').trim();
  } catch {
    return '';
  }
}
