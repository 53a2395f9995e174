/** The public names of the two HTTP services: what `service/` and `commands/` use. */

export { type BatchMetrics, createBatchMetrics, type MetricsSubjects } from './batch/metrics.ts';
export { readJobFilter } from './batch/queries.ts';
export { jobDetailBody } from './batch/shapes.ts';
export type { ForwardedTrust } from './caller.ts';
export type { HttpServer } from './listener.ts';
export { createLoadGuard } from './load-guard.ts';
export { portalPageRoutes } from './portal/pages/routes.ts';
export { createPortalServer, type PortalServerParts } from './portal/server.ts';
export type { RequestObservation } from './request-outcome.ts';
export { type BatchServerParts, createBatchServer } from './server.ts';
export type { SessionKeyStore } from './session-keys.ts';
export type { HttpSettings, ListenSettings, RateWindow } from './settings.ts';
export { loadUws } from './uws.ts';
