/** A portal's server over real sockets, on top of a portal in memory. */
import type { ExecutionContext } from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import type { Clock } from '#runtime/model/ports.js';
import { createPortalServer, type HttpServer, type ListenSettings } from '../../../http/index.ts';
import { assertAnswersDescribed, bookOf, checkAnswersOf } from '../answers.ts';
import { type LogLine, recorder } from '../harness.ts';
import { HTTP_LIBRARY } from '../library.ts';
import { createMemoryPortal, KEY, type MemoryPortal } from './memory-portal.ts';

export interface TestPortal extends MemoryPortal {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  readonly lines: LogLine[];
  /** A request with an ordinary key, unless the headers contain another. */
  call(path: string, init?: RequestInit): Promise<Response>;
  /** A request with a JSON body. @default POST */
  send(path: string, body: unknown, init?: RequestInit): Promise<Response>;
}

export const SETTINGS: ListenSettings = {
  host: '127.0.0.1',
  port: 0,
  allowedHosts: ['*'],
  requireHttps: false,
  forwarded: undefined,
  production: false,
  shutdownTimeout: 10_000,
  httpLibrary: HTTP_LIBRARY,
  connectionClock: systemClock,
};

/** Starts on a free port; closed at the end of the test. Every reply is validated by the description. */
export async function startPortal(
  t: ExecutionContext,
  settings: Partial<ListenSettings> = {},
  more: { readonly maxBytes?: number; readonly clock?: Clock } = {},
): Promise<TestPortal> {
  const portal = await createMemoryPortal(more.maxBytes);
  const lines: LogLine[] = [];
  const server = createPortalServer({
    service: portal.service,
    settings: { ...SETTINGS, ...settings },
    clock: more.clock ?? systemClock,
    ids: systemIds,
    log: recorder(lines),
  });
  t.teardown(async () => {
    await server.close();
    await portal.remove();
    assertAnswersDescribed();
  });
  const { url } = await server.listen();
  checkAnswersOf(t, url, bookOf('portal'));
  const call = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('x-api-key')) headers.set('x-api-key', KEY);
    return fetch(`${url}${path}`, { ...init, headers });
  };
  const send = (path: string, body: unknown, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return call(path, { method: 'POST', ...init, headers, body: text });
  };
  return { ...portal, url, port: Number(new URL(url).port), server, lines, call, send };
}
