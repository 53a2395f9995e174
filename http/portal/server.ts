/**
 * The portal's listener.
 */
import { z } from 'zod';
import type { PortalService, Reports, Validation } from '../../actors/portal/api.ts';
import { countDocuments, getReport, reportDocuments } from '../../contracts/portal/reports.ts';
import {
  getValidationReport,
  validateByKey,
  validateDocument,
  validateUpload,
} from '../../contracts/portal/signing/validation.ts';
import { PortalRefusal } from '../../machines/portal/portal-refusals.ts';
import type { TokenRule } from '../core/access/access-tokens.ts';
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
import { withProof } from './accounts/proof-pages.ts';
import { portalConventions } from './conventions.ts';
import { handle } from './handle.ts';
import { createBodyReading } from './input/body-reading.ts';
import { documentId } from './input/ids.ts';
import { portalApi } from './reference.ts';
import { portalRoute } from './route.ts';
import { contentRoutes } from './routes/content.ts';
import { deputyRoutes } from './routes/deputies.ts';
import { documentListRoutes, documentOperationRoutes } from './routes/document-list.ts';
import { documentRoutes } from './routes/documents.ts';
import { documentFolderRoutes, folderRoutes } from './routes/folders.ts';
import { mailRoutes, notificationRoutes } from './routes/mails.ts';
import { brandingRoutes, organizationRoutes } from './routes/organizations.ts';
import { retentionRoutes } from './routes/retention.ts';
import {
  draftRoutes,
  editorSessionRoutes,
  generationRoutes,
  marksSessionRoutes,
  publicLinkRoutes,
  savedFlowRoutes,
  templateRoutes,
} from './routes/saved-requests.ts';
import { scimRoutes } from './routes/scim.ts';
import { signingProviderRoutes } from './routes/signing-providers.ts';
import { uploadRoutes } from './routes/uploads.ts';
import { userRoutes } from './routes/users.ts';
import { waitingRoutes } from './routes/waiting.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { signingRoutes } from './signing/signing-routes.ts';
import { storedFileReply } from './stored-file.ts';
import { createTokenTenants } from './token-tenants.ts';

/** Validation by key and of signed files. */
function signatureRoutes(validation: Validation): readonly AnyRoute[] {
  return [
    handle(validateByKey, ({ tenant, params }) => validation.byKey(tenant, params.key)),
    handle(validateDocument, ({ tenant, params }) => validation.byDocument(tenant, documentId(params.id))),
    handle(getValidationReport, async ({ tenant, params }) => {
      const body = await validation.reportOf(tenant, documentId(params.id));
      const contentType = 'application/xml; charset=utf-8';
      return { kind: 'asset', status: 200, contentType, body, headers: [] };
    }),
    handle(validateUpload, ({ tenant, body }) => validation.ofUpload(tenant, body)),
  ];
}

/** Monitoring reports. */
function reportRoutes(reports: Reports): readonly AnyRoute[] {
  return [
    handle(reportDocuments, ({ body }) => reports.documents(body)),
    handle(countDocuments, ({ body }) => reports.totals(body)),
    handle(getReport, async ({ params, query, header }) => {
      if (query.access_ticket === undefined) throw new PortalRefusal('NotFound');
      return storedFileReply(await reports.file(params.id.toLowerCase(), query.access_ticket), header);
    }),
  ];
}

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
  /** `Identity:Tokens`; those of the batch service are left out. @default none */
  readonly tokens?: readonly TokenRule[];
}

/** Rate limit of validation by key, per client. Source: docs/portal-values.md §17 and §21. */
const VALIDATION_RATE: RateWindow = { permits: 10, windowSeconds: 1 };

/** Rate limit of uploads of participants, per client; ours. Twenty files may come at once. */
const UPLOAD_RATE: RateWindow = { permits: 30, windowSeconds: 10 };

/** Rate limit of visitors of links for anybody, per client: a room with people behind one address is served. */
const VISIT_RATE: RateWindow = { permits: 60, windowSeconds: 3_600 };

/** URL prefix of the reference page's assets; the pages for participants have their own. */
const REFERENCE_ASSETS = '/scalar/assets';

/** Every route of the portal, its pages and its description. */
export function portalRoutes(
  service: PortalService,
  version: string,
  pageRoutes: readonly AnyRoute[] = [],
  { runId, publicUrl }: Pick<ListenSettings, 'runId' | 'publicUrl'> = {},
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
    ...waitingRoutes(service.waiting),
    ...deputyRoutes(service.deputies, service.deputySigning),
    ...signatureRoutes(validation),
    ...notificationRoutes(documents, service.pendingReminders),
    ...folderRoutes(folders, service.folderGrants),
    ...retentionRoutes(service.retention, service.legalHolds, service.erasures),
    ...draftRoutes(service.drafts, idempotency),
    ...editorSessionRoutes(service.editorSessions, service.uploads),
    ...templateRoutes(service.templates, idempotency),
    ...publicLinkRoutes(service.publicLinks, service.linkVisits, service.linkDevices, idempotency),
    ...savedFlowRoutes(service.savedFlows, idempotency),
    ...marksSessionRoutes(service.marksSessions),
    ...generationRoutes(service.generations, idempotency),
    ...reportRoutes(service.reports),
    ...userRoutes(service.users, service.administration, service.userSessions),
    ...organizationRoutes(service.administration, webhooks),
    ...brandingRoutes(service.branding),
    ...webhookRoutes(webhooks),
    ...signingProviderRoutes(service.signingProviders),
    ...mailRoutes(service.mails, documents),
    ...systemRoutes(runId),
    ...withProof(pageRoutes, service.secondFactors),
    FAVICON_ROUTE,
    ...assetRoutes(['reference.js', 'pages.css', 'reference.css', ...fonts], {
      prefix: REFERENCE_ASSETS,
      group: 'Description',
      auth: 'anonymous',
    }),
  ];
  return withReference(routes, portalApi(version, publicUrl), {
    groups: [],
    auth: { document: 'anonymous', page: 'anonymous' },
    assets: REFERENCE_ASSETS,
    keyHeader: 'X-Api-Key',
  });
}

export function createPortalServer(dependencies: PortalServerDependencies): HttpServer {
  const { service, settings, version = 'development', basePath = '', pageRoutes, tokens = [] } = dependencies;
  const bodies = createBodyReading(dependencies.log);
  const tokenTenants = createTokenTenants(tokens, service.tenants, dependencies);
  const api = {
    // SCIM describes itself at /scim/v2/Schemas, in the form that its clients read; OpenAPI documents have no place for it.
    routes: [
      ...portalRoutes(service, version, pageRoutes, settings),
      ...scimRoutes(service.provisioning, service.publicUrl),
    ],
    trailingSlash: true,
    conventions: portalConventions(bodies, basePath),
    accessCheck: createPortalAccessCheck(
      service,
      settings,
      createWrongKeys(dependencies.clock),
      tokenTenants,
    ),
    challenge: `ApiKey header="X-Api-Key"${tokenTenants === undefined ? '' : ', Bearer'}`,
    rates: { validation: VALIDATION_RATE, upload: UPLOAD_RATE, visit: VISIT_RATE },
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
