/**
 * The portal's listener.
 */
import { tmpdir } from 'node:os';
import type { PortalService } from '../../actors/portal/api.ts';
import type { Clock, Ids, Log } from '../../runtime/index.ts';
import { BlockPool } from '../block-pool.ts';
import { createCallerFinder } from '../caller.ts';
import { Dispatcher } from '../dispatch.ts';
import { type HttpServer, Listener } from '../listener.ts';
import { createLoadGuard, type LoadGuard } from '../load-guard.ts';
import { withReference } from '../openapi/routes.ts';
import { assetRoutes } from '../pages/assets.ts';
import { PAGES_STYLE, REFERENCE_STYLE } from '../pages/styles.ts';
import { PlainRequests } from '../plain-requests.ts';
import { createRateLimiter } from '../rate-limit.ts';
import { createRequestIds } from '../request-ids.ts';
import type { RequestObservation } from '../request-outcome.ts';
import { type AnyRoute, Router } from '../router.ts';
import type { ListenSettings, RateWindow } from '../settings.ts';
import { contentRoutes } from './content.ts';
import { portalConventions } from './conventions.ts';
import { documentChangeRoutes } from './document-changes.ts';
import { documentFolderRoutes } from './document-folders.ts';
import { documentListRoutes } from './document-list.ts';
import { documentRoutes } from './documents.ts';
import { folderRoutes } from './folders.ts';
import { createPortalGate } from './gate.ts';
import { generationRoutes } from './generation.ts';
import { mailRoutes } from './mails.ts';
import { marksSessionRoutes } from './marks-sessions.ts';
import { notificationRoutes } from './notifications.ts';
import { organizationRoutes } from './organizations.ts';
import { portalApi } from './reference.ts';
import { reportRoutes } from './reports.ts';
import { savedFlowRoutes } from './saved-flows.ts';
import { signatureRoutes } from './signatures.ts';
import { signingRoutes } from './signing.ts';
import { systemRoutes } from './system.ts';
import { uploadRoutes } from './uploads.ts';
import { userRoutes } from './users.ts';
import { webhookRoutes } from './webhooks.ts';

export interface PortalServerParts {
  readonly service: PortalService;
  readonly settings: ListenSettings;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of the program, shown in the API description. @default development */
  readonly version?: string;
  /** Pages for people and their assets. @default none */
  readonly pageRoutes?: readonly AnyRoute[];
  /** What all listeners of a process share. @default one of its own */
  readonly load?: LoadGuard;
  /** Told about every request once it is over. */
  readonly observe?: (observation: RequestObservation) => void;
}

/** Of validation by key, per client. Source: portal-gaps §17 and §21. */
const VALIDATION_RATE: RateWindow = { permits: 10, windowSeconds: 1 };

/** Where the parts of the reference page are; the pages for participants have places of their own. */
const REFERENCE_ASSETS = '/scalar/assets';

/** Every route of the portal, its pages and its description. */
export function portalRoutes(
  service: PortalService,
  version: string,
  pageRoutes: readonly AnyRoute[] = [],
): readonly AnyRoute[] {
  const { documents, folders, idempotency, signing, validation, webhooks } = service;
  const routes = [
    ...uploadRoutes(service.uploads, idempotency),
    ...documentRoutes(documents, idempotency),
    ...documentListRoutes(documents),
    ...documentChangeRoutes(documents),
    ...documentFolderRoutes(documents, folders),
    ...contentRoutes(documents),
    ...signingRoutes(signing),
    ...signatureRoutes(validation),
    ...notificationRoutes(documents),
    ...folderRoutes(folders),
    ...savedFlowRoutes(service.savedFlows),
    ...marksSessionRoutes(service.marksSessions),
    ...generationRoutes(service.generations, idempotency),
    ...reportRoutes(service.reports),
    ...userRoutes(service.users, service.administration),
    ...organizationRoutes(service.administration, webhooks),
    ...webhookRoutes(webhooks),
    ...mailRoutes(service.mails, documents),
    ...systemRoutes(),
    ...pageRoutes,
    ...assetRoutes(
      ['browser.js', 'reference.js'],
      { 'pages.css': PAGES_STYLE, 'reference.css': REFERENCE_STYLE },
      { prefix: REFERENCE_ASSETS, auth: 'anonymous' },
    ),
  ];
  return withReference(routes, portalApi(version), {
    links: [{ href: '/scalar/v1', text: 'API' }],
    auth: { document: 'anonymous', page: 'anonymous' },
    assets: REFERENCE_ASSETS,
    keyHeader: 'X-Api-Key',
  });
}

export function createPortalServer(parts: PortalServerParts): HttpServer {
  const { service, settings, clock, ids, log, version = 'development', pageRoutes } = parts;
  const dispatcher = new Dispatcher({
    router: new Router(portalRoutes(service, version, pageRoutes), { trailingSlash: true }),
    conventions: portalConventions,
    gate: createPortalGate(service.tenants, settings),
    findCaller: createCallerFinder(settings.tls !== undefined, settings.forwarded),
    challenge: 'ApiKey header="X-Api-Key"',
    limiters: { validation: createRateLimiter(VALIDATION_RATE, clock) },
    requestIds: createRequestIds(ids),
    pool: new BlockPool(),
    spoolFolder: settings.spoolFolder ?? tmpdir(),
    plain: new PlainRequests(portalConventions),
    load: parts.load ?? createLoadGuard(clock, log),
    clock,
    log,
    production: settings.production,
    observe: parts.observe,
  });
  return new Listener(dispatcher, settings, clock, log);
}
