/** The listeners of the service: that of each API, and the one for health checks. */

import type { ActorStore, Clock, Ids } from '@sealwright/runtime';
import type { Services } from '../actors/index.ts';
import {
  type BatchMetrics,
  createBatchServer,
  createHealthListener,
  type createLoadGuard,
  type createOneTimeLogins,
  createPortalServer,
  type ForwardedTrust,
  type HttpSettings,
  type ListenSettings,
  portalPageRoutes,
  readiness,
} from '../http/index.ts';
import type { Logging } from '../logging.ts';
import type { Settings } from '../settings.ts';
import type { IdentitySetup } from './identity.ts';
import { jobSecretBytes, type KeyFolder, SESSION_FILE } from './key-folder.ts';

/** Service behind the listeners; `working` receives the functions that close them. */
export interface OpenService {
  readonly settings: Settings;
  readonly version: string;
  readonly runId: string;
  readonly services: Services;
  readonly store: ActorStore;
  readonly keys: KeyFolder;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logging;
  readonly metrics: BatchMetrics;
  /** Both services answer on one thread, so the load of one delays the other. */
  readonly load: ReturnType<typeof createLoadGuard>;
  readonly working: (() => Promise<void>)[];
  /** Undefined: there are no identity providers. */
  readonly identity: IdentitySetup | undefined;
}

/** Returns the URL of the batch API; undefined when it is not served. */
export async function listenForBatch(
  service: OpenService,
  apiKey: string,
  oneTimeLogins: ReturnType<typeof createOneTimeLogins>,
): Promise<string | undefined> {
  const { settings, version, services, store, keys, clock, ids, log, load, metrics } = service;
  if (!settings.batch.enabled) return undefined;
  const { batch, portal } = services;
  const server = createBatchServer({
    service: batch,
    mails: portal?.mails,
    portalWebhooks: portal?.operatorWebhooks,
    portalKeys: portal?.operatorKeys,
    portalActivity: portal?.activity,
    signOn: service.identity?.operators,
    settings: batchListenSettings(settings, apiKey, service.runId),
    clock,
    ids,
    log,
    load,
    metrics,
    oneTimeLogins,
    nodes: store.nodes,
    pages: {
      version,
      pollSeconds: settings.dashboard.pollIntervalSeconds,
      systemInfo: systemInfo(settings, {
        version,
        store: store.describe().engine,
        node: process.version,
        host: hostMode(process.env),
      }),
    },
    sessionKeys: {
      load: () => keys.read(SESSION_FILE),
      save: (text) => keys.replace(SESSION_FILE, text),
    },
    sessionSecret: settings.runtime.store === 'postgres' ? await jobSecretBytes(keys, ids) : undefined,
    tokens: settings.identity.tokens,
  });
  const { url } = await server.listen();
  service.working.push(() => server.close());
  return url;
}

/** Returns the URL of the portal; undefined when it is not served. */
export async function listenForPortal(service: OpenService): Promise<string | undefined> {
  const { settings, version, services, store, clock, ids, log, load, metrics } = service;
  if (services.portal === undefined) return undefined;
  const listener = createPortalServer({
    service: services.portal,
    settings: portalListenSettings(settings, service.runId),
    clock,
    ids,
    log,
    version,
    load,
    nodes: store.nodes,
    tokens: settings.identity.tokens,
    observe: metrics.portalRequest,
    basePath: new URL(settings.portal.publicUrl ?? 'http://host').pathname.replace(/\/$/, ''),
    pageRoutes: portalPageRoutes(services.portal, {
      clock,
      ids,
      nodes: store.nodes,
      providers: service.identity?.users,
      used: services.batch.access.used,
    }),
  });
  const { url } = await listener.listen();
  service.working.push(() => listener.close());
  return url;
}

/** Opens the listener of `Hosting:HealthUrl`, where it is configured. */
export async function listenForHealth({ settings, services, clock, working }: OpenService): Promise<void> {
  const { healthUrl } = settings.hosting;
  if (healthUrl === undefined) return;
  const listener = createHealthListener({
    ...healthUrl,
    readiness: () => readiness(services.batch.health, clock, false),
  });
  await listener.listen();
  working.push(() => listener.close());
}

/** Options of the batch service's listener. */
function batchListenSettings(settings: Settings, apiKey: string, runId: string): HttpSettings {
  const { upload, actions, enabled } = settings.rateLimiting;
  return {
    ...commonSettings(settings),
    runId,
    publicUrl: settings.batch.publicUrl ?? settings.batch.url.href,
    callbackUrl: settings.batch.publicUrl,
    host: settings.batch.url.host,
    port: settings.batch.url.port,
    apiKey,
    previousApiKey: settings.auth.previousApiKey ?? '',
    apiKeyHeader: settings.auth.apiKeyHeader,
    cookieName: settings.auth.cookieName,
    sessionHours: settings.auth.sessionHours,
    personMinutes: settings.identity.sessionMinutes,
    maxUploadBytes: settings.upload.maxBytes,
    metricsNeedKey: settings.metrics.requireApiKey,
    rateLimiting: {
      enabled,
      upload: rateWindow(upload),
      actions: rateWindow(actions),
    },
  };
}

/** Options of the portal's listener. */
function portalListenSettings(settings: Settings, runId: string): ListenSettings {
  const { host, port, href } = settings.portal.url;
  return { ...commonSettings(settings), runId, host, port, publicUrl: settings.portal.publicUrl ?? href };
}

function commonSettings(settings: Settings) {
  const { certificatePath, keyPath } = settings.hosting.tls;
  return {
    allowedHosts: settings.allowedHosts,
    requireHttps: settings.hosting.requireHttps,
    forwarded: forwardedTrust(settings),
    httpLibrary: settings.hosting.httpLibrary,
    keepAliveSeconds: settings.hosting.keepAliveSeconds,
    spoolFolder: settings.storage.root,
    production: settings.production,
    shutdownTimeout: settings.hosting.shutdownTimeoutSeconds * 1000,
    ...(certificatePath !== undefined && keyPath !== undefined && { tls: { certificatePath, keyPath } }),
  };
}

function rateWindow(limit: Settings['rateLimiting']['upload']) {
  return {
    permits: limit.permitsPerWindow,
    windowSeconds: limit.windowSeconds,
    queueLimit: limit.queueLimit,
  };
}

function forwardedTrust({ hosting }: Settings): ForwardedTrust | undefined {
  const { enabled, trustAnyProxy, knownProxies, knownNetworks, forwardLimit } = hosting.forwardedHeaders;
  if (!enabled) return undefined;
  return { anyProxy: trustAnyProxy, proxies: knownProxies, networks: knownNetworks, limit: forwardLimit };
}

/**
 * Returns names and values for `/system` in display order; never a secret. Source: docs/batch-values.md §10 (`/system`).
 */
function systemInfo(
  settings: Settings,
  program: { readonly version: string; readonly store: string; readonly node: string; readonly host: string },
): readonly (readonly [name: string, value: string])[] {
  const { profiles } = settings.signing;
  const levels = profiles.map(({ name, level = 'B' }) =>
    profiles.length > 1 ? `${level} (${name})` : level,
  );
  return [
    ['Version', program.version],
    ['Environment', settings.environment],
    ['Host', program.host],
    ['Node', program.node],
    ['Storage root', settings.storage.root],
    ['Store', program.store],
    ['Signature level', levels.length === 0 ? 'B' : levels.join(', ')],
    ['Encryption', settings.encryption.enabled ? 'on' : 'off'],
    ['Jobs at once', String(settings.pipeline.maxConcurrency)],
  ];
}

/** Detects the service manager, if possible. */
function hostMode(env: { readonly [name: string]: string | undefined }): string {
  if (env['NOTIFY_SOCKET'] !== undefined || env['INVOCATION_ID'] !== undefined) return 'systemd';
  return env['container'] === undefined ? 'command line' : 'container';
}
