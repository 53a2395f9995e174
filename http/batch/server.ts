/**
 * The batch service's listener.
 */
import type { Batch } from '../../actors/index.ts';
import type {
  OperatorActivity,
  OperatorKeys,
  OperatorMails,
  OperatorWebhooks,
} from '../../actors/portal/api.ts';
import { ACCESS_SCOPES, accessOf } from '../../contracts/batch/access.ts';
import { listEvents } from '../../contracts/batch/events.ts';
import { cleanUp, listFolders, rescanFolders } from '../../contracts/batch/folders.ts';
import { pausePipeline, readPipeline, resumePipeline } from '../../contracts/batch/pipeline.ts';
import { listProfiles, readFailures, readSeries, readStatistics } from '../../contracts/batch/statistics.ts';
import { createTokenCheck, rightsOf, type TokenRule } from '../core/access/access-tokens.ts';
import { type Authenticator, createAuthenticator, type Identity } from '../core/access/auth.ts';
import { createKeyLimits, type NamedKeys, openNamedKeys } from '../core/access/named-keys.ts';
import { createOneTimeLogins, type OneTimeLogins } from '../core/access/one-time-logins.ts';
import { createOperatorCheck } from '../core/access/operator-check.ts';
import { boundFolder } from '../core/access/permission.ts';
import { createRateLimiter } from '../core/access/rate-limit.ts';
import {
  deriveSessionKeyRing,
  memorySessionKeys,
  openSessionKeyRing,
  type SessionKeyStore,
} from '../core/access/session-keys.ts';
import { createSessions } from '../core/access/sessions.ts';
import { createWrongKeys, type WrongKeys } from '../core/access/wrong-keys.ts';
import { FAVICON_ROUTE } from '../core/icon.ts';
import type { HttpServer } from '../core/listener.ts';
import { operatorFrame, withReference } from '../core/openapi/routes.ts';
import { createAccessCheck, withTokens } from '../core/request/access-check.ts';
import type { AnyRoute } from '../core/router.ts';
import { createServer, type HttpProcess } from '../core/server.ts';
import type { HttpSettings } from '../core/settings.ts';
import { noSignOn, type SignOn } from '../core/sign-on/sign-on.ts';
import { batchConventions } from './conventions.ts';
import { fileRoutes } from './files.ts';
import { handle } from './handle.ts';
import { inspectionRoutes, portalActivityRoute, portalKeyRoute } from './inspection.ts';
import { bulkRoutes, jobRoutes, operationRoutes } from './jobs.ts';
import { keyRoutes } from './keys.ts';
import { mailRoutes } from './mails.ts';
import { type BatchMetrics, metricsRoutes } from './metrics.ts';
import { namedOperator, operatorOf } from './operator.ts';
import { FAILED_LOGINS, sessionRoutes } from './operator-session.ts';
import { type PageSettings, pageGroups, pageRoutes } from './pages.ts';
import { providerLimits, providerLoginRoutes } from './provider-login.ts';
import { batchApi } from './reference.ts';
import { createAddressOf } from './return-address.ts';
import { SharedAnswers } from './shared-answers.ts';
import { systemRoutes } from './system.ts';
import { validateRoutes } from './validation.ts';
import { portalWebhookRoutes, webhookRoutes } from './webhooks.ts';

/**
 * Pipeline, input folders, cleanup, events, profiles and statistics.
 *
 * Source: docs/batch-values.md §0, §3 and §15.
 */
function controlRoutes(
  { pipeline, folders, retention, events, profiles, statistics, jobs }: Batch,
  shared: SharedAnswers,
): readonly AnyRoute[] {
  return [
    handle(listProfiles, () => ({ profiles: profiles.list() })),
    handle(readStatistics, ({ query }) => statistics.over(query.window), { shared }),
    handle(
      readSeries,
      async ({ query }) => ({
        ...(await statistics.series(query.window, query.intervals)),
        oldestQueuedAt: await pipeline.oldestQueuedAt(),
      }),
      { shared },
    ),
    handle(readFailures, () => jobs.failures(), { shared }),
    handle(readPipeline, () => pipeline.state(), { shared }),
    handle(pausePipeline, ({ body, identity }) => pipeline.pause(body.reason, namedOperator(identity))),
    handle(resumePipeline, ({ body, identity }) => pipeline.resume(body.reason, namedOperator(identity))),
    handle(listFolders, async () => ({ folders: await folders.list() }), { shared }),
    handle(rescanFolders, ({ query, identity }) => {
      const name = boundFolder(identity, query.folder)?.trim();
      return folders.rescan(name === '' ? undefined : name, operatorOf(identity));
    }),
    handle(cleanUp, async ({ identity }) => {
      if (!retention.isConfigured)
        return { deleted: 0, message: 'No retention policy is configured; nothing was removed.' };
      const deleted = await retention.sweep(operatorOf(identity));
      return { deleted, message: `${deleted} finished jobs were removed by age; files stay.` };
    }),
    handle(listEvents, async ({ query: { kind: kinds, page, pageSize } }) => {
      const { items, totalCount } = await events.list({ kinds, page, pageSize });
      return { items, page, pageSize, totalCount };
    }),
  ];
}

const UNREPORTED_ROUTES: PageSettings = { version: 'development', pollSeconds: 5, systemInfo: [] };

export interface BatchServerDependencies extends HttpProcess {
  readonly service: Batch;
  readonly settings: HttpSettings;
  /** Storage of the session keys. @default in memory: sessions end with the process */
  readonly sessionKeys?: SessionKeyStore;
  /** The nodes of a store derive the session keys from it. @default they are in `sessionKeys` */
  readonly sessionSecret?: Buffer | undefined;
  /** Identity providers of operators. @default none */
  readonly signOn?: SignOn | undefined;
  /** `Identity:Tokens`; those of organizations are left out. @default none */
  readonly tokens?: readonly TokenRule[];
  /** Login links. @default none are issued */
  readonly oneTimeLogins?: OneTimeLogins;
  /** Program data on the pages. @default none, refreshed every 5 seconds */
  readonly pages?: PageSettings;
  /** Collects metrics; without it `GET /api/metrics` does not exist. */
  readonly metrics?: BatchMetrics;
  /** The mails of the portal in this process; without it `/api/mails` and its page do not exist. */
  readonly mails?: OperatorMails | undefined;
  /** Webhook deliveries of the portal in this process; without it `/api/webhooks/portal` does not exist. */
  readonly portalWebhooks?: OperatorWebhooks | undefined;
  /** Keys of the portal's applications; without it `/api/portal/keys` does not exist. */
  readonly portalKeys?: OperatorKeys | undefined;
  /** Activity of the portal; without it `/api/portal/activity` does not exist. */
  readonly portalActivity?: OperatorActivity | undefined;
}

/** Every route of the batch service, its pages and its description. */
export function batchRoutes(
  {
    service,
    clock,
    signOn = noSignOn(),
    pages = UNREPORTED_ROUTES,
    metrics,
    mails,
    portalWebhooks,
    portalKeys,
    portalActivity,
  }: Omit<BatchServerDependencies, 'settings' | 'ids' | 'log'>,
  settings: Pick<
    HttpSettings,
    | 'maxUploadBytes'
    | 'apiKeyHeader'
    | 'cookieName'
    | 'metricsNeedKey'
    | 'runId'
    | 'publicUrl'
    | 'callbackUrl'
    | 'allowedHosts'
    | 'host'
  >,
  {
    authenticator,
    wrongKeys,
    namedKeys,
  }: { readonly authenticator: Authenticator; readonly wrongKeys: WrongKeys; readonly namedKeys: NamedKeys },
): readonly AnyRoute[] {
  const shared = new SharedAnswers(service.inspection.changes, clock);
  const addressOf = createAddressOf(settings);
  const routes = [
    ...sessionRoutes(authenticator, createRateLimiter(FAILED_LOGINS, clock), service.events, {
      signOn,
      addressOf,
    }),
    ...providerLoginRoutes(signOn, authenticator, providerLimits(clock), {
      events: service.events,
      clock,
      addressOf,
    }),
    ...(metrics === undefined
      ? []
      : metricsRoutes(() => metrics.expose(service, portalActivity), settings.metricsNeedKey ?? true)),
    ...fileRoutes(service.jobs, settings),
    ...validateRoutes(service.validation, {
      maxUploadBytes: settings.maxUploadBytes,
      version: pages.version,
      groups: pageGroups(mails !== undefined),
    }),
    ...jobRoutes(service.jobs, shared),
    ...bulkRoutes(service.bulk),
    ...operationRoutes(service.operations),
    ...webhookRoutes(service.webhooks, shared),
    ...(portalWebhooks === undefined ? [] : portalWebhookRoutes(portalWebhooks, shared)),
    ...(portalKeys === undefined ? [] : [portalKeyRoute(portalKeys, shared)]),
    ...(portalActivity === undefined ? [] : [portalActivityRoute(portalActivity, shared)]),
    ...keyRoutes(namedKeys, service, clock),
    ...controlRoutes(service, shared),
    ...inspectionRoutes(service.inspection, shared),
    ...(mails === undefined ? [] : mailRoutes(mails, shared)),
    ...systemRoutes(service.health, clock, createOperatorCheck(authenticator, wrongKeys), settings.runId),
    FAVICON_ROUTE,
    ...pageRoutes(pages, mails !== undefined),
  ];
  return withReference(
    routes,
    batchApi(settings, pages.version),
    operatorFrame(pageGroups(mails !== undefined)),
  ).map(withAccess);
}

/** Adds what a caller of the route needs. @throws where nothing is decided about it */
function withAccess(route: AnyRoute): AnyRoute {
  if (route.auth === 'anonymous') return route;
  const access = accessOf(route);
  if (access === undefined)
    throw new Error(`contracts/batch/access.ts does not say who may call ${route.method} ${route.path}.`);
  return { ...route, access };
}

export function createBatchServer(dependencies: BatchServerDependencies): HttpServer {
  const {
    settings,
    clock,
    metrics,
    observe,
    oneTimeLogins = createOneTimeLogins(dependencies),
  } = dependencies;
  const { enabled, upload, actions } = settings.rateLimiting;
  const namedKeys = openNamedKeys(dependencies.service.access.keys, dependencies);
  const authenticator = createAuthenticator(settings, openSessions(dependencies), oneTimeLogins, namedKeys);
  const wrongKeys = createWrongKeys(clock);
  const keyCheck = createAccessCheck(authenticator, settings, wrongKeys, createKeyLimits(clock));
  const tokens = dependencies.tokens?.filter(({ organization }) => organization === undefined) ?? [];
  // Without a configured key nobody is admitted.
  const hasTokens = tokens.length > 0 && settings.apiKey !== '';
  const api = {
    routes: batchRoutes(dependencies, settings, { authenticator, wrongKeys, namedKeys }),
    conventions: batchConventions,
    accessCheck: hasTokens
      ? withTokens(keyCheck, authenticator.apiKeyHeader, tokenIdentities(tokens, dependencies), wrongKeys)
      : keyCheck,
    challenge: hasTokens ? `${authenticator.challenge}, Bearer` : authenticator.challenge,
    rates: enabled ? { upload, actions } : undefined,
  };
  return createServer(api, settings, {
    ...dependencies,
    observe: (observation) => {
      metrics?.request(observation);
      observe?.(observation);
    },
  });
}

/** Callers by their access tokens. */
function tokenIdentities(
  rules: readonly TokenRule[],
  parts: Pick<BatchServerDependencies, 'clock' | 'log'>,
): (token: string) => Promise<Identity | undefined> {
  const verify = createTokenCheck(rules, parts);
  return async (text) => {
    const token = await verify(text);
    if (token === undefined) return undefined;
    const { clientId, subject, issuer } = token;
    const name = subject === clientId ? clientId : `${clientId}/${subject}`;
    const operator = `client:${name}@${new URL(issuer).host}`;
    const { expiresAt, rule } = token;
    const scopes = rightsOf(token, ACCESS_SCOPES);
    return { operator, scheme: 'Bearer', scopes, expiresAt, tokenRights: rule.rights };
  };
}

function openSessions(dependencies: BatchServerDependencies) {
  const { settings, clock, ids, log } = dependencies;
  const { sessionKeys = memorySessionKeys(), sessionSecret, service } = dependencies;
  return createSessions({
    ring: sessionSecret
      ? deriveSessionKeyRing(sessionSecret, sessionKeys.load(), { clock, log })
      : openSessionKeyRing(sessionKeys, { clock, ids, log }),
    ended: service.access.ended,
    lifetime: settings.sessionHours * 3_600_000,
    ...(settings.personMinutes !== undefined && { personLifetime: settings.personMinutes * 60_000 }),
    apiKey: settings.apiKey,
    clock,
    ids,
  });
}
