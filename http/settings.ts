/** What the HTTP face needs to know; every value present and checked by whoever reads the configuration. */

import type { ForwardedTrust } from './caller.ts';

/** One fixed window per client address. */
export interface RateWindow {
  /** Requests let through per window. Whole number, at least 1. */
  readonly permits: number;
  /** Length of the window in seconds. Whole number, at least 1. */
  readonly windowSeconds: number;
  /** Requests beyond the permits that wait for a later window, per client. @default 0 */
  readonly queueLimit?: number;
}

/** Of a listener, whatever it serves. */
export interface ListenSettings {
  /** Address to listen on, e.g. `127.0.0.1`. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Serve https directly; both are PEM files. */
  readonly tls?: { readonly certificatePath: string; readonly keyPath: string };
  /** How long `close()` waits for requests under way, in milliseconds (`Hosting:ShutdownTimeoutSeconds`). */
  readonly shutdownTimeout: number;
  /** `AllowedHosts`: names, `*.name`, or `*` for all. */
  readonly allowedHosts: readonly string[];
  /** `Hosting:RequireHttps`: requests over http are sent to https. */
  readonly requireHttps: boolean;
  /** Which proxies are believed about the client; undefined when `Hosting:ForwardedHeaders:Enabled` is false. */
  readonly forwarded: ForwardedTrust | undefined;
  /**
   * Folder for bodies that come faster than they can be written away (nameless files, gone with the process).
   * Better on the disk of the input folder than in memory. @default the system's temporary folder
   */
  readonly spoolFolder?: string;
  /** True: refusals tell nothing about the inside. */
  readonly production: boolean;
}

export interface HttpSettings extends ListenSettings {
  /** `Auth:ApiKey`. Empty: every protected route answers `auth.misconfigured`. */
  readonly apiKey: string;
  /** `Auth:PreviousApiKey`: a second key that is accepted during rotation. Empty: none. */
  readonly previousApiKey: string;
  /** `Auth:ApiKeyHeader`, as written; matched without case. */
  readonly apiKeyHeader: string;
  /** `Auth:CookieName`. */
  readonly cookieName: string;
  /** `Auth:SessionHours`: how long a session lasts that is not used. Whole number from 1 to 24. */
  readonly sessionHours: number;
  /** `Upload:MaxBytes`: most bytes of one uploaded file. */
  readonly maxUploadBytes: number;
  /** `Metrics:RequireApiKey`. @default true */
  readonly metricsNeedKey?: boolean;
  readonly rateLimiting: {
    readonly enabled: boolean;
    readonly upload: RateWindow;
    readonly actions: RateWindow;
  };
}
