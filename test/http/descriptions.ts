/** The descriptions of both services and their routes, without a running service. */
import { systemClock } from '#runtime/model/clock.js';
import type { Batch } from '../../actors/index.ts';
import type {
  OperatorActivity,
  OperatorKeys,
  OperatorMails,
  OperatorWebhooks,
  PortalService,
} from '../../actors/portal/api.ts';
import { batchApi } from '../../http/batch/reference.ts';
import { batchRoutes } from '../../http/batch/server.ts';
import type { Authenticator } from '../../http/core/access/auth.ts';
import type { NamedKeys } from '../../http/core/access/named-keys.ts';
import { describeApi, type OpenApiDocument } from '../../http/core/openapi/document.ts';
import type { AnyRoute } from '../../http/core/router.ts';
import type { BatchMetrics } from '../../http/index.ts';
import { portalApi } from '../../http/portal/reference.ts';
import { portalRoutes } from '../../http/portal/server.ts';

export const SETTINGS = {
  apiKeyHeader: 'X-API-Key',
  cookieName: 'batch-auth',
  maxUploadBytes: 1024,
  host: '127.0.0.1',
  allowedHosts: ['*'],
};

/** The description of the batch service, without a running service. */
export function batchDocument(): OpenApiDocument {
  return describeApi(batchTable(), batchApi(SETTINGS, 'test'));
}

/** Every route of the batch service, without working handlers. */
export function batchTable(): readonly AnyRoute[] {
  const { cookieName, apiKeyHeader } = SETTINGS;
  const authenticator = { cookieName, apiKeyHeader, challenge: '' } as Authenticator;
  const parts = {
    service: { jobs: {}, inspection: {} } as Batch,
    clock: systemClock,
    pages: { version: 'test', pollSeconds: 5, systemInfo: [] },
    metrics: {} as BatchMetrics,
    mails: {} as OperatorMails,
    portalWebhooks: {} as OperatorWebhooks,
    portalKeys: {} as OperatorKeys,
    portalActivity: {} as OperatorActivity,
  };
  return batchRoutes(parts, SETTINGS, {
    authenticator,
    wrongKeys: { count: () => {} },
    namedKeys: {} as NamedKeys,
  });
}

/** Every route of the portal, without working handlers. */
export function portalTable(pageRoutes: readonly AnyRoute[] = []): readonly AnyRoute[] {
  const nothing = new Proxy({}, { get: () => ({ maxBytes: 106_954_752 }) }) as PortalService;
  return portalRoutes(nothing, 'test', pageRoutes);
}

export function portalDocument(pageRoutes: readonly AnyRoute[] = []): OpenApiDocument {
  return describeApi(portalTable(pageRoutes), portalApi('test'));
}
