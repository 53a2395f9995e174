/**
 * The batch service's listener.
 */
import { tmpdir } from 'node:os';
import type { Clock, Ids, Log } from '@sealwright/runtime';
import type { Operations } from '../../actors/batch/api/bulk.ts';
import type { ActorInspection } from '../../actors/batch/api/inspection.ts';
import type { BatchService } from '../../actors/batch/api/service.ts';
import type { WebhookDeliveries } from '../../actors/batch/api/webhooks.ts';
import type {
  OperatorActivity,
  OperatorKeys,
  OperatorMails,
  OperatorWebhooks,
} from '../../actors/portal/api.ts';
import { type Authenticator, createAuthenticator } from '../core/access/auth.ts';
import { createCallerFinder } from '../core/access/caller.ts';
import { openEndedSessions } from '../core/access/ended-sessions.ts';
import { createOneTimeLogins, type OneTimeLogins } from '../core/access/one-time-logins.ts';
import { createOperatorCheck } from '../core/access/operator-check.ts';
import { createRateLimiter } from '../core/access/rate-limit.ts';
import { memorySessionKeys, openSessionKeyRing, type SessionKeyStore } from '../core/access/session-keys.ts';
import { createSessions } from '../core/access/sessions.ts';
import { createWrongKeys, type WrongKeys } from '../core/access/wrong-keys.ts';
import { BlockPool } from '../core/body/block-pool.ts';
import { Dispatcher } from '../core/dispatch.ts';
import { FAVICON_ROUTE } from '../core/icon.ts';
import { type HttpServer, Listener } from '../core/listener.ts';
import { createLoadGuard, type LoadGuard } from '../core/load-guard.ts';
import { operatorFrame, withReference } from '../core/openapi/routes.ts';
import { limiterOf, type OtherNodes } from '../core/other-nodes.ts';
import { PlainRequests } from '../core/plain-requests.ts';
import { createAccessCheck } from '../core/request/access-check.ts';
import type { RequestObservation } from '../core/request/request-outcome.ts';
import { createRequestIds } from '../core/request-ids.ts';
import { type AnyRoute, Router } from '../core/router.ts';
import type { HttpSettings } from '../core/settings.ts';
import { controlRoutes } from './control.ts';
import { batchConventions } from './conventions.ts';
import { fileRoutes } from './files.ts';
import { inspectionRoutes, portalActivityRoute, portalKeyRoute } from './inspection.ts';
import { bulkRoutes, jobRoutes, operationRoutes } from './jobs.ts';
import { mailRoutes } from './mails.ts';
import { type BatchMetrics, metricsRoutes } from './metrics.ts';
import { type PageSettings, pageLinks, pageRoutes } from './pages.ts';
import { batchApi } from './reference.ts';
import { FAILED_LOGINS, sessionRoutes } from './session.ts';
import { SharedAnswers } from './shared-answers.ts';
import { systemRoutes } from './system.ts';
import { validateRoutes } from './validate.ts';
import { portalWebhookRoutes, webhookRoutes } from './webhooks.ts';

/** Without inspection no request can know a version, so nothing is shared. */
const NO_VERSIONS = { version: '', includes: () => false };
const UNREPORTED_ROUTES: PageSettings = { version: 'development', pollSeconds: 5, systemInfo: [] };

export interface BatchServerDependencies {
  readonly service: BatchService;
  readonly settings: HttpSettings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Storage of the session keys. @default in memory: sessions end with the process */
  readonly sessionKeys?: SessionKeyStore;
  /** Storage of the sessions ended by logout. @default in memory */
  readonly endedSessions?: SessionKeyStore;
  /** Login links. @default none are issued */
  readonly oneTimeLogins?: OneTimeLogins;
  /** Program data on the pages. @default none, refreshed every 5 seconds */
  readonly pages?: PageSettings;
  /** Collects metrics; without it `GET /api/metrics` does not exist. */
  readonly metrics?: BatchMetrics;
  /** Inspects actors; without it `/api/actors` and `/api/runtime` do not exist. */
  readonly inspection?: ActorInspection;
  /** Bulk operations with progress; without it `/api/operations` does not exist. */
  readonly operations?: Operations;
  /** Webhooks for the ends of jobs; without it `/api/webhooks` does not exist. */
  readonly webhooks?: WebhookDeliveries;
  /** The mails of the portal in this process; without it `/api/mails` and its page do not exist. */
  readonly mails?: OperatorMails | undefined;
  /** Webhook deliveries of the portal in this process; without it `/api/webhooks/portal` does not exist. */
  readonly portalWebhooks?: OperatorWebhooks | undefined;
  /** Keys of the portal's applications; without it `/api/portal/keys` does not exist. */
  readonly portalKeys?: OperatorKeys | undefined;
  /** Activity of the portal; without it `/api/portal/activity` does not exist. */
  readonly portalActivity?: OperatorActivity | undefined;
  /** Resources shared by all listeners of a process. @default its own */
  readonly load?: LoadGuard;
  /** Other nodes of the service. @default none */
  readonly nodes?: OtherNodes | undefined;
  /** Called with the outcome of every request. */
  readonly observe?: (observation: RequestObservation) => void;
}

export interface BatchRoutesDependencies
  extends Pick<
    BatchServerDependencies,
    | 'service'
    | 'pages'
    | 'metrics'
    | 'inspection'
    | 'mails'
    | 'operations'
    | 'webhooks'
    | 'portalWebhooks'
    | 'portalKeys'
    | 'portalActivity'
  > {
  readonly settings: Pick<
    HttpSettings,
    'maxUploadBytes' | 'apiKeyHeader' | 'cookieName' | 'metricsNeedKey' | 'runId'
  >;
  readonly clock: Pick<Clock, 'now' | 'elapsed' | 'after'>;
  readonly authenticator: Authenticator;
  readonly wrongKeys: WrongKeys;
}

/** Every route of the batch service, its pages and its description. */
export function batchRoutes(dependencies: BatchRoutesDependencies): readonly AnyRoute[] {
  const {
    service,
    settings,
    clock,
    authenticator,
    wrongKeys,
    pages = UNREPORTED_ROUTES,
    metrics,
    inspection,
    mails,
    operations,
    webhooks,
    portalWebhooks,
    portalKeys,
    portalActivity,
  } = dependencies;
  const shared = new SharedAnswers(inspection?.changes ?? NO_VERSIONS, clock);
  const routes = [
    ...sessionRoutes(authenticator, createRateLimiter(FAILED_LOGINS, clock), service.events),
    ...(metrics === undefined
      ? []
      : metricsRoutes(
          () => metrics.expose(service, inspection, webhooks, portalActivity),
          settings.metricsNeedKey ?? true,
        )),
    ...fileRoutes(service.jobs, settings),
    ...validateRoutes(service, {
      maxUploadBytes: settings.maxUploadBytes,
      version: pages.version,
      links: pageLinks(mails !== undefined),
    }),
    ...jobRoutes(service.jobs, shared),
    ...bulkRoutes(service.bulk),
    ...(operations === undefined ? [] : operationRoutes(operations)),
    ...(webhooks === undefined ? [] : webhookRoutes(webhooks, shared)),
    ...(portalWebhooks === undefined ? [] : portalWebhookRoutes(portalWebhooks, shared)),
    ...(portalKeys === undefined ? [] : [portalKeyRoute(portalKeys, shared)]),
    ...(portalActivity === undefined ? [] : [portalActivityRoute(portalActivity, shared)]),
    ...controlRoutes(service, shared),
    ...(inspection === undefined ? [] : inspectionRoutes(inspection, shared)),
    ...(mails === undefined ? [] : mailRoutes(mails, shared)),
    ...systemRoutes(service.health, clock, createOperatorCheck(authenticator, wrongKeys), settings.runId),
    FAVICON_ROUTE,
    ...pageRoutes(pages, mails !== undefined),
  ];
  return withReference(
    routes,
    batchApi(settings, pages.version),
    operatorFrame(pageLinks(mails !== undefined)),
  );
}

export function createBatchServer(dependencies: BatchServerDependencies): HttpServer {
  const {
    settings,
    clock,
    ids,
    log,
    nodes,
    oneTimeLogins = createOneTimeLogins(dependencies),
  } = dependencies;
  const { rateLimiting } = settings;
  const authenticator = createAuthenticator(settings, openSessions(dependencies), oneTimeLogins);
  const wrongKeys = createWrongKeys(clock);
  const dispatcher = new Dispatcher({
    router: new Router(batchRoutes({ ...dependencies, authenticator, wrongKeys })),
    conventions: batchConventions,
    accessCheck: createAccessCheck(authenticator, settings, wrongKeys),
    findCaller: createCallerFinder(settings.tls !== undefined, settings.forwarded),
    challenge: authenticator.challenge,
    limiters: rateLimiting.enabled
      ? {
          upload: limiterOf(nodes, 'upload', rateLimiting.upload, clock),
          actions: limiterOf(nodes, 'actions', rateLimiting.actions, clock),
        }
      : undefined,
    requestIds: createRequestIds(ids),
    pool: new BlockPool(),
    spoolFolder: settings.spoolFolder ?? tmpdir(),
    plain: new PlainRequests(batchConventions),
    load: dependencies.load ?? createLoadGuard(clock, log),
    clock,
    log,
    production: settings.production,
    nodes,
    observe: (observation) => {
      dependencies.metrics?.request(observation);
      dependencies.observe?.(observation);
    },
  });
  return new Listener(dispatcher, settings, clock, log);
}

function openSessions(dependencies: BatchServerDependencies) {
  const { settings, clock, ids, log } = dependencies;
  const { sessionKeys = memorySessionKeys(), endedSessions = memorySessionKeys() } = dependencies;
  return createSessions({
    ring: openSessionKeyRing(sessionKeys, { clock, ids, log }),
    ended: openEndedSessions(endedSessions, { clock, log }),
    lifetime: settings.sessionHours * 3_600_000,
    apiKey: settings.apiKey,
    clock,
    ids,
  });
}
