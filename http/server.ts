/**
 * The batch service's listener.
 */
import { tmpdir } from 'node:os';
import type { ActorInspection, BatchService } from '../actors/api.ts';
import type { OperatorMails } from '../actors/portal/api.ts';
import type { Clock, Ids, Log } from '../runtime/index.ts';
import { type Authenticator, createAuthenticator } from './auth.ts';
import { actionRoutes } from './batch/actions.ts';
import { actorRoutes } from './batch/actors.ts';
import { bulkRoutes } from './batch/bulk.ts';
import { batchConventions } from './batch/conventions.ts';
import { eventRoutes } from './batch/events.ts';
import { figureRoutes } from './batch/figures.ts';
import { fileRoutes } from './batch/files.ts';
import { jobRoutes } from './batch/jobs.ts';
import { mailRoutes } from './batch/mails.ts';
import { type BatchMetrics, metricsRoutes } from './batch/metrics.ts';
import { type PageSettings, pageLinks, pageRoutes } from './batch/pages.ts';
import { pipelineRoutes } from './batch/pipeline.ts';
import { batchApi } from './batch/reference.ts';
import { FAILED_LOGINS, sessionRoutes } from './batch/session.ts';
import { systemRoutes } from './batch/system.ts';
import { BlockPool } from './block-pool.ts';
import { createCallerFinder } from './caller.ts';
import { Dispatcher } from './dispatch.ts';
import { createGate } from './gate.ts';
import { type HttpServer, Listener } from './listener.ts';
import { createLoadGuard, type LoadGuard } from './load-guard.ts';
import { operatorFrame, withReference } from './openapi/routes.ts';
import { PlainRequests } from './plain-requests.ts';
import { createRateLimiter } from './rate-limit.ts';
import { createRequestIds } from './request-ids.ts';
import type { RequestObservation } from './request-outcome.ts';
import { type AnyRoute, Router } from './router.ts';
import { memorySessionKeys, openSessionKeyRing, type SessionKeyStore } from './session-keys.ts';
import { createSessions } from './sessions.ts';
import type { HttpSettings } from './settings.ts';

const UNTOLD: PageSettings = { version: 'development', pollSeconds: 5, facts: [] };

export interface BatchServerParts {
  readonly service: BatchService;
  readonly settings: HttpSettings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Where the keys of sessions are kept. @default in memory: sessions end with the process */
  readonly sessionKeys?: SessionKeyStore;
  /** What the pages say of the program. @default nothing, refreshed every 5 seconds */
  readonly pages?: PageSettings;
  /** Counts, and is asked by `GET /api/metrics`, which is not there without it. */
  readonly metrics?: BatchMetrics;
  /** Looks at actors; `/api/actors` and `/api/runtime` are not there without it. */
  readonly inspection?: ActorInspection;
  /** The mails of the portal of this process; `/api/mails` and its page are not there without it. */
  readonly mails?: OperatorMails | undefined;
  /** What all listeners of a process share. @default one of its own */
  readonly load?: LoadGuard;
  /** Told about every request once it is over. */
  readonly observe?: (observation: RequestObservation) => void;
}

export interface BatchRoutesParts
  extends Pick<BatchServerParts, 'service' | 'pages' | 'metrics' | 'inspection' | 'mails'> {
  readonly settings: Pick<HttpSettings, 'maxUploadBytes' | 'apiKeyHeader' | 'cookieName' | 'metricsNeedKey'>;
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>;
  readonly authenticator: Authenticator;
}

/** Every route of the batch service, its pages and its description. */
export function batchRoutes(parts: BatchRoutesParts): readonly AnyRoute[] {
  const { service, settings, clock, authenticator, pages = UNTOLD, metrics, inspection, mails } = parts;
  const routes = [
    ...sessionRoutes(authenticator, createRateLimiter(FAILED_LOGINS, clock)),
    ...(metrics === undefined
      ? []
      : metricsRoutes(() => metrics.expose(service, inspection), settings.metricsNeedKey ?? true)),
    ...fileRoutes(service.jobs, settings),
    ...jobRoutes(service.jobs),
    ...bulkRoutes(service.bulk),
    ...figureRoutes(service.profiles, service.statistics),
    ...pipelineRoutes(service.pipeline),
    ...actionRoutes(service.folders),
    ...eventRoutes(service.events),
    ...(inspection === undefined ? [] : actorRoutes(inspection)),
    ...(mails === undefined ? [] : mailRoutes(mails)),
    ...systemRoutes(service.readiness, clock),
    ...pageRoutes(pages, mails !== undefined),
  ];
  return withReference(
    routes,
    batchApi(settings, pages.version),
    operatorFrame(pageLinks(mails !== undefined)),
  );
}

export function createBatchServer(parts: BatchServerParts): HttpServer {
  const { settings, clock, ids, log } = parts;
  const { rateLimiting } = settings;
  const authenticator = createAuthenticator(settings, openSessions(parts));
  const dispatcher = new Dispatcher({
    router: new Router(batchRoutes({ ...parts, authenticator })),
    conventions: batchConventions,
    gate: createGate(authenticator, settings),
    findCaller: createCallerFinder(settings.tls !== undefined, settings.forwarded),
    challenge: authenticator.challenge,
    limiters: rateLimiting.enabled
      ? {
          upload: createRateLimiter(rateLimiting.upload, clock),
          actions: createRateLimiter(rateLimiting.actions, clock),
        }
      : undefined,
    requestIds: createRequestIds(ids),
    pool: new BlockPool(),
    spoolFolder: settings.spoolFolder ?? tmpdir(),
    plain: new PlainRequests(batchConventions),
    load: parts.load ?? createLoadGuard(clock, log),
    clock,
    log,
    production: settings.production,
    observe: (observation) => {
      parts.metrics?.request(observation);
      parts.observe?.(observation);
    },
  });
  return new Listener(dispatcher, settings, clock, log);
}

function openSessions({ settings, clock, ids, log, sessionKeys = memorySessionKeys() }: BatchServerParts) {
  return createSessions({
    ring: openSessionKeyRing(sessionKeys, { clock, ids, log }),
    lifetime: settings.sessionHours * 3_600_000,
    apiKey: settings.apiKey,
    clock,
    ids,
  });
}
