/** What the HTTP face needs to know; every value present and checked by whoever reads the configuration. */

/** One fixed window per client address. */
export interface RateWindow {
  /** Requests let through per window. Whole number, at least 1. */
  readonly permits: number;
  /** Length of the window in seconds. Whole number, at least 1. */
  readonly windowSeconds: number;
}

export interface HttpSettings {
  /** Address to listen on, e.g. `127.0.0.1`. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** `Auth:ApiKey`. Empty: every protected route answers `auth.misconfigured`. */
  readonly apiKey: string;
  /** `Auth:PreviousApiKey`: a second key that is accepted during rotation. Empty: none. */
  readonly previousApiKey: string;
  /** `Auth:ApiKeyHeader`, as written; matched without case. */
  readonly apiKeyHeader: string;
  /** `Upload:MaxBytes`: most bytes of one uploaded file. */
  readonly maxUploadBytes: number;
  /**
   * Folder for bodies that come faster than they can be written away (nameless files, gone with the process).
   * Better on the disk of the input folder than in memory. @default the system's temporary folder
   */
  readonly spoolFolder?: string;
  /** True: problem bodies carry no detail, no path and no exception. */
  readonly production: boolean;
  readonly rateLimiting: {
    readonly enabled: boolean;
    readonly upload: RateWindow;
    readonly actions: RateWindow;
  };
  /** Serve https directly; both are PEM files. */
  readonly tls?: { readonly certificatePath: string; readonly keyPath: string };
  /** How long `close()` waits for requests under way, in milliseconds (`Hosting:ShutdownTimeoutSeconds`). */
  readonly shutdownTimeout: number;
}
