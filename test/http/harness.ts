/** A running server over real sockets, and a raw client. */
import net from 'node:net';
import type { MemoryStore } from '@sealwright/runtime/testing';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import type { Clock, Log, LogProperties } from '#runtime/model/ports.js';
import type { Batch, BatchOptions } from '../../actors/index.ts';
import type { BatchOperations } from '../../clients/typescript/batch.d.ts';
import { Client } from '../../clients/typescript/client.ts';
import { REFUSALS } from '../../contracts/batch/refusals.ts';
import { createLoadGuard } from '../../http/core/load-guard.ts';
import type { RequestObservation } from '../../http/core/request/request-outcome.ts';
import {
  type BatchServerDependencies,
  createBatchServer,
  type HttpServer,
  type HttpSettings,
} from '../../http/index.ts';
import { assertAnswersDescribed, checkAnswersOf } from './answers.ts';
import { memoryMails } from './batch/memory-mails.ts';
import { memoryPortalWebhooks } from './batch/memory-portal-webhooks.ts';
import { openTestService, type TestService } from './batch/test-service.ts';
import { HTTP_LIBRARY } from './library.ts';

export const KEY = 'a-key-for-tests-0123456789';

export interface LogLine {
  readonly level: string;
  readonly text: string;
  readonly properties: LogProperties;
}

export interface TestServer {
  readonly url: string;
  readonly port: number;
  readonly service: TestService;
  readonly server: HttpServer;
  readonly lines: LogLine[];
  readonly seen: RequestObservation[];
  /** The client of `clients/`, with the API key. */
  readonly api: Client<BatchOperations>;
  /** A request with the API key. */
  call(path: string, init?: RequestInit): Promise<Response>;
}

export const BASE_SETTINGS: HttpSettings = {
  host: '127.0.0.1',
  port: 0,
  apiKey: KEY,
  previousApiKey: '',
  apiKeyHeader: 'X-API-Key',
  cookieName: 'batch-auth',
  sessionHours: 8,
  allowedHosts: ['*'],
  requireHttps: false,
  forwarded: undefined,
  maxUploadBytes: 1_000_000,
  production: false,
  rateLimiting: {
    enabled: false,
    upload: { permits: 30, windowSeconds: 60 },
    actions: { permits: 60, windowSeconds: 60 },
  },
  shutdownTimeout: 10_000,
  httpLibrary: HTTP_LIBRARY,
  // As in the other library, whose clock is not simulated.
  connectionClock: systemClock,
};

/**
 * Starts a server on a free port; the end of the test closes it and removes its files. Every reply to `fetch` is
 * validated by the API description.
 */
export async function startServer(
  t: ExecutionContext,
  settings: Partial<HttpSettings> = {},
  clock: Clock = systemClock,
  more: Partial<
    Pick<
      BatchServerDependencies,
      | 'metrics'
      | 'load'
      | 'mails'
      | 'portalWebhooks'
      | 'portalKeys'
      | 'portalActivity'
      | 'sessionKeys'
      | 'tokens'
      | 'sessionSecret'
      | 'signOn'
      | 'oneTimeLogins'
    >
  > & {
    readonly batch?: Partial<BatchOptions>;
    readonly inspection?: Batch['inspection'];
    /** @default a new one, which is closed with the server */
    readonly store?: MemoryStore;
    /** Of the actors. @default the machine's */
    readonly serviceClock?: Clock;
  } = {},
): Promise<TestServer> {
  const service = await openTestService(more.batch, more.serviceClock, more.store);
  if (more.inspection !== undefined) Object.assign(service, { inspection: more.inspection });
  const lines: LogLine[] = [];
  const seen: RequestObservation[] = [];
  const server = createBatchServer({
    mails: memoryMails(),
    portalWebhooks: memoryPortalWebhooks(),
    portalKeys: { keys: async () => ({ items: [], complete: true }) },
    portalActivity: {
      load: async () => ({
        documents: {},
        mails: { counts: {}, oldestWaiting: null },
        webhooks: { counts: {}, oldestWaiting: null },
      }),
      activity: async () => ({
        since: 0,
        interval: 1000,
        complete: true,
        incomplete: [],
        webhooks: { delivered: [1], failed: [0] },
        documents: { created: [2], concluded: [1], refused: [0] },
        mails: { sent: [3], failed: [0] },
      }),
    },
    service,
    settings: { ...BASE_SETTINGS, ...settings },
    clock,
    // Simulated clocks run only the timers of the test.
    load: createLoadGuard(systemClock, recorder(lines)),
    ids: systemIds,
    log: recorder(lines),
    observe: (observation) => seen.push(observation),
    ...more,
  });
  t.teardown(async () => {
    await server.close();
    await service.remove();
    assertAnswersDescribed();
  });
  const { url } = await server.listen();
  checkAnswersOf(t, url);
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('x-api-key')) headers.set('x-api-key', KEY);
    return fetch(`${url}${path}`, { ...init, headers });
  };
  const api = new Client<BatchOperations>({ url, key: KEY });
  return { url, port: Number(new URL(url).port), service, server, lines, seen, api, call };
}

export function recorder(lines: LogLine[]): Log {
  const at =
    (level: string) =>
    (text: string, properties: LogProperties = {}) => {
      lines.push({ level, text, properties });
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

const problemShape = z.strictObject({
  type: z.url(),
  title: z.string(),
  status: z.int(),
  code: z.string(),
  traceId: z.string().regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
  requestId: z.string().regex(/^0H[0-9A-V]{11}:[0-9A-F]{8}$/),
  errors: z.record(z.string(), z.array(z.string())).optional(),
  detail: z.string().optional(),
  instance: z.string().optional(),
  exception: z.string().optional(),
});

export type ProblemBody = z.infer<typeof problemShape>;

/** Asserts a refusal in full form; returns its body. */
export async function assertProblem(
  t: ExecutionContext,
  response: Response,
  code: string,
): Promise<ProblemBody> {
  t.is(response.headers.get('content-type'), 'application/problem+json');
  const text = await response.text();
  const body = problemShape.parse(JSON.parse(text));
  t.is(body.code, code, text);
  t.is(body.status, response.status);
  t.is(response.headers.get('x-request-id'), body.requestId);
  t.is(response.status, REFUSALS[code as keyof typeof REFUSALS]?.status ?? response.status);
  t.is(body.errors === undefined || response.status === 400, true);
  return body;
}

/** A multipart body with one file and optional fields. */
export function form(parts: readonly (readonly [name: string, value: string | File])[]): FormData {
  const data = new FormData();
  for (const [name, value] of parts) data.append(name, value);
  return data;
}

export function pdf(bytes: string | Uint8Array = '%PDF-1.7 test', name = 'a.pdf'): File {
  const content = typeof bytes === 'string' ? bytes : new Uint8Array(bytes);
  return new File([content], name, { type: 'application/pdf' });
}

/** A connection that sends exact bytes and records the reply. */
export class RawClient {
  readonly socket: net.Socket;
  received = '';
  /** True once either side has closed it. */
  closed = false;
  readonly whenClosed: Promise<void>;
  #waiting: { readonly pattern: RegExp; readonly resolve: () => void }[] = [];

  private constructor(socket: net.Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      this.received += chunk.toString('latin1');
      for (const { pattern, resolve } of this.#waiting) if (pattern.test(this.received)) resolve();
    });
    this.whenClosed = new Promise((resolve) => {
      socket.on('close', () => {
        this.closed = true;
        for (const { resolve: wake } of this.#waiting) wake();
        resolve();
      });
    });
  }

  static connect(port: number): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawClient(socket)));
    });
  }

  /** Resolves when the kernel has taken the bytes. */
  send(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.closed) resolve();
      else this.socket.write(data, () => resolve());
    });
  }

  /** Resolves when the received text matches, or the connection is closed. */
  until(pattern: RegExp): Promise<void> {
    if (this.closed || pattern.test(this.received)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ pattern, resolve }));
  }

  /** Resets the connection, as a crashed client does. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}
