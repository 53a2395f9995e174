/**
 * Requests for single objects without the layers of the client, which take most of the processor time of a small
 * request: signed by its signer, sent over its connections.
 *
 * The client itself makes the first request, which shows the place of the bucket, and repeats each request that gets an
 * error: it knows repetitions, names of errors and differences of clocks.
 *
 * Source: docs/decisions/0283-requests-to-object-stores.md.
 */
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { encoded } from './presign.ts';

type Headers = Readonly<Record<string, string>>;

export interface PlainRequest {
  readonly method: 'DELETE' | 'GET' | 'HEAD' | 'PUT';
  /** Whole, with any prefix. */
  readonly key: string;
  /** Names in lower case. */
  readonly headers?: Headers;
  readonly body?: Buffer;
}

export interface Limits {
  readonly requestTimeout?: number;
  readonly abortSignal?: AbortSignal;
}

export interface PlainAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Headers;
  readonly body: Readable;
}

/** Address of the objects of the bucket: what of a request is the same for all of them. */
interface Place {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly host: string;
}

const EMPTY_SHA256 = createHash('sha256').digest('hex');

/** End of the scope of a signature with the keys of an account; other kinds are left to the client. */
const SCOPE = '/s3/aws4_request,';

/** Statuses that say all there is to say; others are asked again by the client. */
const PLAIN: Readonly<Record<PlainRequest['method'], readonly number[]>> = {
  DELETE: [200, 204],
  GET: [200, 206],
  HEAD: [200, 404],
  PUT: [200, 412],
};

export class PlainRequests {
  readonly #config: S3Client['config'];
  #place: Place | undefined;

  constructor(
    client: S3Client,
    bucket: string,
    private readonly now: () => number,
  ) {
    this.#config = client.config;
    client.middlewareStack.add(
      (next) => (args) => {
        const { Bucket, Key } = args.input as { readonly Bucket?: string; readonly Key?: string };
        if (Bucket === bucket && Key !== undefined) this.#place ??= placeOf(args.request, Key);
        return next(args);
      },
      { step: 'deserialize', priority: 'high', name: 'placeOfBucket' },
    );
  }

  /**
   * Undefined: ask the client; the request may have been done. Rejects when the signal aborts.
   */
  async send(
    { method, key, headers, body }: PlainRequest,
    limits: Limits = {},
  ): Promise<PlainAnswer | undefined> {
    const place = this.#place;
    if (place === undefined) return undefined;
    const { host, path, ...address } = place;
    const { systemClockOffset, requestHandler } = this.#config;
    try {
      const signer = await this.#config.signer();
      const signed = await signer.sign(
        {
          ...address,
          method,
          path: `${path}${pathOf(key)}`,
          query: {},
          headers: {
            ...headers,
            host,
            'x-amz-content-sha256': body === undefined ? EMPTY_SHA256 : sha256(body),
            ...(body !== undefined && { 'content-length': String(body.length) }),
          },
          ...(body !== undefined && { body }),
        },
        // The client has learned by how much the clock of the server differs.
        {
          signingDate: new Date(this.now() + systemClockOffset),
          signingRegion: await this.#config.region(),
          signingService: 's3',
        },
      );
      const { response } = await requestHandler.handle(signed, limits);
      const { statusCode: status } = response;
      const answer = { status, headers: response.headers, body: response.body as Readable };
      if (PLAIN[method].includes(status)) {
        if (method !== 'GET') answer.body.resume();
        return answer;
      }
      answer.body.destroy();
      return undefined;
    } catch (error) {
      if (limits.abortSignal?.aborted === true) throw error;
      return undefined;
    }
  }
}

function placeOf(request: unknown, key: string): Place | undefined {
  const { protocol, hostname, port, path, headers } = request as Omit<Place, 'host'> & { headers: Headers };
  const end = pathOf(key);
  if (!headers['authorization']?.includes(SCOPE) || !path.endsWith(end)) return undefined;
  return {
    protocol,
    hostname,
    ...(port !== undefined && { port }),
    path: path.slice(0, -end.length),
    host: headers['host'] ?? hostname,
  };
}

function pathOf(key: string): string {
  return key.split('/').map(encoded).join('/');
}

function sha256(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Returns what an answer says about its object, as the client returns it. */
export function headOf({ headers }: PlainAnswer) {
  const { 'content-length': length, 'last-modified': modified, 'x-amz-meta-owner': owner } = headers;
  return {
    ContentLength: Number(length ?? 0),
    LastModified: new Date(modified ?? 0),
    ...(owner !== undefined && { Metadata: { owner } }),
  };
}
