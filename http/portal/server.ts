/**
 * The portal's listener.
 */

import { z } from 'zod';
import type { PortalService } from '../../actors/portal/api.ts';
import type { RateWindow } from '../core/access/rate-limit.ts';
import { createWrongKeys } from '../core/access/wrong-keys.ts';
import { FAVICON_ROUTE } from '../core/icon.ts';
import type { HttpServer } from '../core/listener.ts';
import { withReference } from '../core/openapi/routes.ts';
import { assetNames, assetRoutes } from '../core/page-assets.ts';
import { healthy } from '../core/reply.ts';
import type { AnyRoute } from '../core/router.ts';
import { createServer, type HttpProcess } from '../core/server.ts';
import type { ListenSettings } from '../core/settings.ts';
import { createPortalAccessCheck } from './access-check.ts';
import { portalConventions } from './conventions.ts';
import { createBodyReading } from './input/body-reading.ts';
import { portalApi } from './reference.ts';
import { portalRoute } from './route.ts';
import { contentRoutes } from './routes/content.ts';
import { documentListRoutes, documentOperationRoutes } from './routes/document-list.ts';
import { documentRoutes } from './routes/documents.ts';
import { documentFolderRoutes, folderRoutes } from './routes/folders.ts';
import {
  draftRoutes,
  editorSessionRoutes,
  generationRoutes,
  marksSessionRoutes,
  savedFlowRoutes,
  templateRoutes,
} from './routes/kept-requests.ts';
import { mailRoutes, notificationRoutes } from './routes/mails.ts';
import { brandingRoutes, organizationRoutes } from './routes/organizations.ts';
import { reportRoutes } from './routes/reports.ts';
import { signatureRoutes } from './routes/signatures.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { userRoutes } from './routes/users.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { signingRoutes } from './signing/signing-routes.ts';

/** `/api/health`, an additional route. */
function systemRoutes(runId: string | undefined): readonly AnyRoute[] {
  const answer = healthy(runId);
  return [
    portalRoute({
      method: 'GET',
      path: '/api/health',
      group: 'System',
      summary: 'Reports that the process is running.',
      description:
        'For process supervisors and load balancers: it does not report whether work can be done. Needs no key.',
      auth: 'anonymous',
      exemptFromLoadShedding: true,
      exemptFromEntryRules: true,
      answerHeaders: ['X-Run-Id'],
      responses: { 200: z.strictObject({ status: z.literal('Healthy').describe('Current state.') }) },
      refusals: [],
      handle: () => answer,
    }),
  ];
}

export interface PortalServerDependencies extends HttpProcess {
  readonly service: PortalService;
  readonly settings: ListenSettings;
  /** Version of the program in the API description. @default development */
  readonly version?: string;
  /** Path of the host below which the portal is served, without a slash at its end. @default none */
  readonly basePath?: string;
  /** Pages for people and their assets. @default none */
  readonly pageRoutes?: readonly AnyRoute[];
}

/** Rate limit of validation by key, per client. Source: docs/portal-values.md §17 and §21. */
const VALIDATION_RATE: RateWindow = { permits: 10, windowSeconds: 1 };

/** Rate limit of uploads of participants, per client; ours. Twenty files may come at once. */
const UPLOAD_RATE: RateWindow = { permits: 30, windowSeconds: 10 };

/** URL prefix of the reference page's assets; the pages for participants have their own. */
const REFERENCE_ASSETS = '/scalar/assets';

/** Every route of the portal, its pages and its description. */
export function portalRoutes(
  service: PortalService,
  version: string,
  pageRoutes: readonly AnyRoute[] = [],
  runId?: string,
): readonly AnyRoute[] {
  const { documents, folders, idempotency, signing, validation, webhooks } = service;
  const fonts = assetNames('batch').filter((name) => name.endsWith('.woff2'));
  const routes = [
    ...uploadRoutes(service.uploads, idempotency),
    ...documentRoutes(documents, service.documentEdits, idempotency),
    ...documentListRoutes(documents, service.documentExports),
    ...documentOperationRoutes(service.documentOperations),
    ...documentFolderRoutes(documents, folders),
    ...contentRoutes(documents, service.documentPackages),
    ...signingRoutes(signing, service.uploads),
    ...signatureRoutes(validation),
    ...notificationRoutes(documents, service.pendingReminders),
    ...folderRoutes(folders),
    ...draftRoutes(service.drafts, idempotency),
    ...editorSessionRoutes(service.editorSessions, service.uploads),
    ...templateRoutes(service.templates, idempotency),
    ...savedFlowRoutes(service.savedFlows, idempotency),
    ...marksSessionRoutes(service.marksSessions),
    ...generationRoutes(service.generations, idempotency),
    ...reportRoutes(service.reports),
    ...userRoutes(service.users, service.administration),
    ...organizationRoutes(service.administration, webhooks),
    ...brandingRoutes(service.branding),
    ...webhookRoutes(webhooks),
    ...mailRoutes(service.mails, documents),
    ...systemRoutes(runId),
    ...pageRoutes,
    FAVICON_ROUTE,
    ...assetRoutes(['reference.js', 'pages.css', 'reference.css', ...fonts], {
      prefix: REFERENCE_ASSETS,
      group: 'Description',
      auth: 'anonymous',
    }),
  ];
  return withReference(routes, portalApi(version), {
    groups: [],
    auth: { document: 'anonymous', page: 'anonymous' },
    assets: REFERENCE_ASSETS,
    keyHeader: 'X-Api-Key',
  });
}

export function createPortalServer(dependencies: PortalServerDependencies): HttpServer {
  const { service, settings, version = 'development', basePath = '', pageRoutes } = dependencies;
  const bodies = createBodyReading(dependencies.log);
  const api = {
    routes: portalRoutes(service, version, pageRoutes, settings.runId),
    trailingSlash: true,
    conventions: portalConventions(bodies, basePath),
    accessCheck: createPortalAccessCheck(service, settings, createWrongKeys(dependencies.clock)),
    challenge: 'ApiKey header="X-Api-Key"',
    rates: { validation: VALIDATION_RATE, upload: UPLOAD_RATE },
  };
  const listener = createServer(api, settings, dependencies);
  return {
    listen: () => listener.listen(),
    async close() {
      await listener.close();
      await bodies.close();
    },
  };
}
