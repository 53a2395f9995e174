/** Makes the server of an API from its routes and conventions. */
import { tmpdir } from 'node:os';
import type { Clock, Ids, Log } from '@sealwright/runtime';
import { createCallerFinder } from './access/caller.ts';
import type { RateWindow } from './access/rate-limit.ts';
import { BlockPool } from './body/block-pool.ts';
import type { Conventions } from './conventions.ts';
import { Dispatcher } from './dispatch.ts';
import { type HttpServer, Listener } from './listener.ts';
import { createLoadGuard, type LoadGuard } from './load-guard.ts';
import { limiterOf, type OtherNodes } from './other-nodes.ts';
import { PlainRequests } from './plain-requests.ts';
import type { AccessCheck } from './request/access-check.ts';
import type { RequestObserver } from './request/request-outcome.ts';
import { createRequestIds } from './request-ids.ts';
import { type AnyRoute, type RatePolicy, Router } from './router.ts';
import type { ListenSettings } from './settings.ts';

/** The process in which a server runs. */
export interface HttpProcess {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Resources shared by all listeners of a process. @default its own */
  readonly load?: LoadGuard;
  /** Other nodes of the service. @default none */
  readonly nodes?: OtherNodes | undefined;
  /** Called with the outcome of every request. */
  readonly observe?: RequestObserver | undefined;
}

export interface Api {
  readonly routes: readonly AnyRoute[];
  /** True: a path with a slash at its end is the same path. @default false */
  readonly trailingSlash?: boolean;
  readonly conventions: Conventions;
  readonly accessCheck: AccessCheck;
  /** Value of `WWW-Authenticate` on every 401. */
  readonly challenge: string;
  /** Undefined where rate limiting is switched off. */
  readonly rates: { readonly [policy in RatePolicy]?: RateWindow } | undefined;
}

export function createServer(
  { routes, trailingSlash = false, conventions, accessCheck, challenge, rates }: Api,
  settings: ListenSettings,
  { clock, ids, log, nodes, load = createLoadGuard(clock, log), observe }: HttpProcess,
): HttpServer {
  const limiters =
    rates &&
    Object.fromEntries(
      Object.entries(rates).map(([policy, rate]) => [policy, limiterOf(nodes, policy, rate, clock)]),
    );
  const dispatcher = new Dispatcher({
    conventions,
    accessCheck,
    challenge,
    limiters,
    nodes,
    load,
    clock,
    log,
    observe,
    router: new Router(routes, { trailingSlash }),
    findCaller: createCallerFinder(settings.tls !== undefined, settings.forwarded),
    requestIds: createRequestIds(ids),
    pool: new BlockPool(),
    spoolFolder: settings.spoolFolder ?? tmpdir(),
    plain: new PlainRequests(conventions),
    production: settings.production,
  });
  return new Listener(dispatcher, settings, clock, log);
}
