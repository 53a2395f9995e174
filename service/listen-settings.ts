/** Maps the configuration to the options of the two listeners. */
import type { ForwardedTrust, HttpSettings, ListenSettings } from '../http/index.ts';
import type { Settings } from '../settings.ts';

/** Options of the batch service's listener. */
export function batchListenSettings(settings: Settings, apiKey: string, runId: string): HttpSettings {
  const { upload, actions, enabled } = settings.rateLimiting;
  return {
    ...commonSettings(settings),
    runId,
    host: settings.batch.url.host,
    port: settings.batch.url.port,
    apiKey,
    previousApiKey: settings.auth.previousApiKey ?? '',
    apiKeyHeader: settings.auth.apiKeyHeader,
    cookieName: settings.auth.cookieName,
    sessionHours: settings.auth.sessionHours,
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
export function portalListenSettings(settings: Settings, runId: string): ListenSettings {
  const { host, port } = settings.portal.url;
  return { ...commonSettings(settings), runId, host, port };
}

function commonSettings(settings: Settings) {
  const { certificatePath, keyPath } = settings.hosting.tls;
  return {
    allowedHosts: settings.allowedHosts,
    requireHttps: settings.hosting.requireHttps,
    forwarded: forwardedTrust(settings),
    httpLibrary: settings.hosting.httpLibrary,
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
