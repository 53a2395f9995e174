/** The client of servers that speak the S3 protocol, loaded at first use. Source: docs/decisions/0279-object-store.md. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { type Clock, Fatal } from '@sealwright/runtime';

export interface S3Connection {
  /** Undefined: the one of the region. */
  readonly endpoint: string | undefined;
  readonly region: string;
  /** Undefined: the client looks for keys in the environment, its files and the machine. */
  readonly accessKeyId: string | undefined;
  readonly secretAccessKey: string | undefined;
  readonly forcePathStyle: boolean;
}

/** Version that is tested; package.json names it as well. */
export const S3_PACKAGE = '@aws-sdk/client-s3@3.1175.0';

/** Limit of a request, and of a pause within an answer, milliseconds. */
export const TIMEOUT_MS = 10_000;
const CONNECT_TIMEOUT_MS = 3_000;
const ATTEMPTS = 3;
/** Connections at the same time. A download of a slow client keeps one; at the limit every other request fails. */
const MAX_SOCKETS = 1000;

export type Sdk = typeof import('@aws-sdk/client-s3');

/** An error of the client; its texts are not reliable. */
export interface ClientError {
  readonly name: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

export function statusOf(error: unknown): number | undefined {
  return (error as ClientError).$metadata?.httpStatusCode;
}

/** Errors that pass, or concern everything, although they have the status of a refusal. */
const NO_REFUSAL = /RequestTime|Expired|SlowDown|Throttl|InvalidToken|InvalidAccessKey|SignatureDoes/;

/** True where the server answers and refuses this request: a further attempt rarely helps. */
export function isRefused(error: unknown): boolean {
  const status = statusOf(error);
  return (status === 403 || status === 400) && !NO_REFUSAL.test((error as ClientError).name);
}

/** False for the whole file where a later part of it was asked for: a server may ignore ranges. */
export function beginsAt({ ContentRange }: { readonly ContentRange?: string | undefined }, from: number) {
  return from === 0 || ContentRange?.startsWith(`bytes ${from}-`) === true;
}

/** @throws {Fatal} `settings.no-package` */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Fatal(
      'settings.no-package',
      `A bucket needs a package that is not installed. Run: npm install ${S3_PACKAGE}`,
    );
  }
}

export function makeClient(sdk: Sdk, connection: S3Connection, requestTimeout: number): S3Client {
  const { endpoint, region, forcePathStyle, accessKeyId, secretAccessKey } = connection;
  return new sdk.S3Client({
    ...(endpoint !== undefined && { endpoint }),
    region,
    forcePathStyle,
    maxAttempts: ATTEMPTS,
    ...(accessKeyId !== undefined &&
      secretAccessKey !== undefined && { credentials: { accessKeyId, secretAccessKey } }),
    // Some servers refuse the checksums that the client adds otherwise, or store their framing.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
      // Without it the client prints a warning and goes on waiting.
      throwOnRequestTimeout: true,
    },
  });
}

/** Time for a request with its repetitions, by the time limit of one. */
const REPETITION_FACTOR = 1.5;

/** Limits the time of a request, also with its repetitions: those of a silent server would triple it. */
export async function within<Answer>(
  clock: Pick<Clock, 'after'>,
  requestTimeout: number,
  send: (limits: { readonly requestTimeout: number; readonly abortSignal: AbortSignal }) => Promise<Answer>,
  stopping?: AbortSignal,
): Promise<Answer> {
  const ending = new AbortController();
  const end = () => ending.abort();
  let isLate = false;
  const cancel = clock.after(requestTimeout * REPETITION_FACTOR, () => {
    isLate = true;
    end();
  });
  // Not `AbortSignal.any`: until it is gone itself, a signal of Node 20 keeps a mark of each one that was made of it.
  if (stopping?.aborted === true) end();
  stopping?.addEventListener('abort', end, { once: true });
  try {
    return await send({ requestTimeout, abortSignal: ending.signal });
  } catch (error) {
    if (!isLate) throw error;
    throw Object.assign(new Error('The store did not answer in time.'), { name: 'TimeoutError' });
  } finally {
    cancel();
    stopping?.removeEventListener('abort', end);
  }
}

/** Says why a request failed. @param right that the request needs */
export function explained(location: string, right: string, error: unknown): string {
  const { name } = error as ClientError;
  const status = statusOf(error);
  if (status === 403) return `${location} refuses ${right}${/^Unknown/.test(name) ? '' : ` (${name})`}`;
  if (name === 'NoSuchBucket') return `${location} does not exist`;
  const code = (error as { code?: unknown }).code;
  return `${location} cannot be used: ${right} failed with ${code ?? (/^Unknown/.test(name) ? status : name)}`;
}

/** The body of an answer; fails when it pauses for longer than the limit, milliseconds. */
export function withoutPauses(
  body: Readable,
  clock: Pick<Clock, 'after'>,
  limit: number,
  failureOf: (error: unknown) => Error,
): Readable {
  const stream = Readable.from(pieces(body, clock, limit, failureOf), { objectMode: false });
  // The generator ends the body only after it has begun.
  return stream.once('close', () => body.destroy());
}

async function* pieces(
  body: Readable,
  clock: Pick<Clock, 'after'>,
  limit: number,
  failureOf: (error: unknown) => Error,
): AsyncGenerator<Buffer> {
  const late = () => body.destroy(new Error('the answer paused for too long'));
  const chunks = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      const cancel = clock.after(limit, late);
      const { done, value } = await chunks.next().finally(cancel);
      if (done === true) return;
      yield value as Buffer;
    }
  } catch (error) {
    throw failureOf(error);
  } finally {
    body.destroy();
  }
}
