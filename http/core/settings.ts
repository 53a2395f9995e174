/** Settings of the HTTP servers; every value is present and validated by the configuration reader. */

import type { Clock } from '@sealwright/runtime';
import type { ForwardedTrust } from './access/caller.ts';
import type { RateWindow } from './access/rate-limit.ts';

/** Settings of any listener. */
export interface ListenSettings {
  /** Address to listen on, e.g. `127.0.0.1`. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Address of the service in its API description. @default unknown */
  readonly publicUrl?: string;
  /** Serve https directly; both are PEM files. */
  readonly tls?: { readonly certificatePath: string; readonly keyPath: string };
  /** `Hosting:HttpLibrary`. @default auto: uWebSockets where its binary loads, `node:http` elsewhere */
  readonly httpLibrary?: 'auto' | 'node';
  /** `Hosting:KeepAliveSeconds`. @default 75 */
  readonly keepAliveSeconds?: number | undefined;
  /** Clock of the time-outs of connections under `node:http`. @default that of the server */
  readonly connectionClock?: Pick<Clock, 'after'>;
  /** Time for which `close()` waits for requests under way, in milliseconds (`Hosting:ShutdownTimeoutSeconds`). */
  readonly shutdownTimeout: number;
  /** `AllowedHosts`: names, `*.name`, or `*` for every host. */
  readonly allowedHosts: readonly string[];
  /** `Hosting:RequireHttps`: requests over http are sent to https. */
  readonly requireHttps: boolean;
  /** Trusted proxies; undefined when `Hosting:ForwardedHeaders:Enabled` is false. */
  readonly forwarded: ForwardedTrust | undefined;
  /**
   * Folder for bodies that arrive faster than the handler reads them (unnamed files, removed with the process).
   * Prefer the disk of the input folder to a file system in memory. @default the system's temporary folder
   */
  readonly spoolFolder?: string;
  /** `X-Run-Id` of the answers to `GET /api/health`, by which commands tell this process from another program. @default none */
  readonly runId?: string;
  /** True: error bodies contain no internal details. */
  readonly production: boolean;
}

export interface HttpSettings extends ListenSettings {
  /** `Auth:ApiKey`. Empty: every protected route answers `auth.misconfigured`. */
  readonly apiKey: string;
  /** `Auth:PreviousApiKey`: a second key that is accepted during rotation. Empty: none. */
  readonly previousApiKey: string;
  /** `Auth:ApiKeyHeader`, as configured; matched without regard to case. */
  readonly apiKeyHeader: string;
  /** `Batch:PublicUrl`, without a slash at its end. @default the host of the request, if it is known */
  readonly callbackUrl?: string | undefined;
  /** `Auth:CookieName`. */
  readonly cookieName: string;
  /** `Auth:SessionHours`: lifetime of an idle session, hours. Whole number from 1 to 24. */
  readonly sessionHours: number;
  /** `Identity:SessionMinutes`: time after which an operator signs in at the provider again. @default that of `sessionHours` */
  readonly personMinutes?: number;
  /** `Upload:MaxBytes`: maximum size of an uploaded file, bytes. */
  readonly maxUploadBytes: number;
  /** `Metrics:RequireApiKey`. @default true */
  readonly metricsNeedKey?: boolean;
  readonly rateLimiting: {
    readonly enabled: boolean;
    readonly upload: RateWindow;
    readonly actions: RateWindow;
  };
}
