/** A portal's server over real sockets, on top of a portal in memory. */
import type { ExecutionContext } from 'ava';
import { systemClock } from '#runtime/model/clock.js';
import { systemIds } from '#runtime/model/ids.js';
import type { Clock } from '#runtime/model/ports.js';
import type { PortalService } from '../../../actors/portal/api.ts';
import { describeApi, type OpenApiDocument } from '../../../http/core/openapi/document.ts';
import type { AnyRoute } from '../../../http/core/router.ts';
import { createPortalServer, type HttpServer, type ListenSettings } from '../../../http/index.ts';
import { portalApi } from '../../../http/portal/reference.ts';
import { portalRoutes } from '../../../http/portal/server.ts';
import { PORTAL_REFUSALS, type PortalRefusalCode } from '../../../machines/portal/portal-refusals.ts';
import { AnswerBook, assertAnswersDescribed, checkAnswersOf, describedOnce } from '../answers.ts';
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

/** Every route of the portal, without working handlers. */
export function portalTable(pageRoutes: readonly AnyRoute[] = []): readonly AnyRoute[] {
  const nothing = new Proxy({}, { get: () => ({ maxBytes: 106_954_752 }) }) as PortalService;
  return portalRoutes(nothing, 'test', pageRoutes);
}

export function portalDocument(pageRoutes: readonly AnyRoute[] = []): OpenApiDocument {
  return describeApi(portalTable(pageRoutes), portalApi('test'));
}

/** @param pageRoutes all routes of pages, where the service has them */
export function portalBook(pageRoutes: readonly AnyRoute[] = []): AnswerBook {
  const name = pageRoutes.length === 0 ? 'portal' : 'portal-with-pages';
  const document = describedOnce(name, () => portalDocument(pageRoutes));
  return new AnswerBook(document, {
    codes: {
      400: ['BadRequest'],
      404: [undefined],
      405: ['MethodNotAllowed'],
      500: ['InternalError'],
      503: ['ServiceBusy'],
    },
    trailingSlash: true,
    schema: (status) => ({ 400: 'BadRequest', 404: 'NotFound' })[status] ?? 'Error',
  });
}

let book: AnswerBook | undefined;

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
  book ??= portalBook();
  checkAnswersOf(t, url, book);
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

/** Asserts a refusal, in the form of its status; returns its body. */
export async function assertRefused(
  t: ExecutionContext,
  response: Response,
  code: PortalRefusalCode,
): Promise<{ message: string; errors?: Record<string, string[]>; details?: Record<string, string> | null }> {
  const text = await response.text();
  t.is(response.status, PORTAL_REFUSALS[code].status, text);
  t.is(response.headers.get('content-type'), 'application/json; charset=utf-8');
  t.regex(text, /^[\x20-\x7e]+$/, 'one line of ASCII');
  const body = JSON.parse(text);
  const members = { 400: ['code', 'message', 'errors'], 404: ['message', 'resourceName', 'resourceId'] };
  const wanted = members[response.status as 400 | 404] ?? ['code', 'message', 'details'];
  t.deepEqual(Object.keys(body), wanted);
  if (response.status !== 404) t.is(body.code, code);
  return body;
}
