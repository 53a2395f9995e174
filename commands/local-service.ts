/** Requests to the service that runs on this machine with this configuration. */
import { isIP } from 'node:net';
import { createHttpClient, type OutgoingRequest } from '../actors/http-client/index.ts';
import { systemClock } from '../runtime/clocks-and-failures.ts';
import type { ListenUrl, Settings } from '../settings.ts';

export interface LocalAnswer {
  readonly status: number;
  readonly body: string;
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

/**
 * Sends a request to a listener of this configuration. With `Hosting:Tls` the connection is encrypted and the
 * certificate is not checked: it names the public host, and the connection does not leave this machine.
 * Rejects with the system's error when nothing answers.
 */
export async function requestLocal(
  { hosting }: Pick<Settings, 'hosting'>,
  { host, port }: Pick<ListenUrl, 'host' | 'port'>,
  path: string,
  { method = 'GET', headers = {}, body }: Partial<Pick<OutgoingRequest, 'method' | 'headers' | 'body'>> = {},
): Promise<LocalAnswer> {
  const scheme = hosting.tls.certificatePath === undefined ? 'http' : 'https';
  const address = LOOPBACK.get(host) ?? host;
  const url = new URL(`${scheme}://${isIP(address) === 6 ? `[${address}]` : address}:${port}${path}`);
  const client = createHttpClient({ idleConnections: 0, checkCertificates: false });
  const timeout = new AbortController();
  const cancel = systemClock.after(TIMEOUT_MS, () =>
    timeout.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)),
  );
  try {
    const { signal } = timeout;
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
    return { status: response.statusCode ?? 0, body: Buffer.concat(pieces).toString('utf8') };
  } finally {
    cancel();
    client.close();
  }
}
