/** The public names of the two HTTP services: what `service/` and `commands/` use. */

export { encodeJob, readJobFilter } from './batch/jobs.ts';
export { type BatchMetrics, createBatchMetrics } from './batch/metrics.ts';
export { type BatchServerDependencies, createBatchServer } from './batch/server.ts';
export { readiness } from './batch/system.ts';
export { readEndedSessions, readKeyFile } from './core/access/access-files.ts';
export type { ForwardedTrust } from './core/access/caller.ts';
export { createOneTimeLogins } from './core/access/one-time-logins.ts';
export { createHealthListener } from './core/health-listener.ts';
export type { HttpServer } from './core/listener.ts';
export { createLoadGuard } from './core/load-guard.ts';
export type { HttpSettings, ListenSettings } from './core/settings.ts';
export { SignOn, type SignOnProvider } from './core/sign-on/sign-on.ts';
export { loadUws, unavailableUws } from './core/transport/uws.ts';
export type { UserProviders } from './portal/accounts/provider-pages.ts';
export { portalPageRoutes } from './portal/page-routes.ts';
export { createPortalServer } from './portal/server.ts';
