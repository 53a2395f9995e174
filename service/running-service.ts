/** Interface of the service for its starter: start, information, and stop. */
import type { Logging } from '../logging.ts';
import type { Settings } from '../settings.ts';

/** Information about the running service. Every path is absolute. */
export interface ServiceInfo {
  /** URL of the batch API; undefined when it is not served. */
  readonly batchUrl: string | undefined;
  /** Undefined when the portal is not served. */
  readonly portal:
    | {
        readonly url: string;
        /** Folder of written mails; undefined with a relay. */
        readonly mailFolder: string | undefined;
        /** Keys of the first organization and of the monitor. `secret` undefined: it is configured. */
        readonly keys: readonly {
          readonly organization: string;
          readonly application: string;
          readonly secret: { readonly path: string; readonly made: string | undefined } | undefined;
        }[];
      }
    | undefined;
  readonly store: { readonly engine: string; readonly location: string };
  readonly output: string;
  readonly apiKey:
    | { readonly from: 'configuration' }
    /** Configured, but empty. */
    | { readonly from: 'nowhere' }
    /** `made` holds the key at the start that generated it. */
    | { readonly from: 'file'; readonly path: string; readonly made: string | undefined };
  /** `path`: the file it came from; empty for none. */
  readonly certificate: { readonly subject: string; readonly path: string; readonly development: boolean };
  /** In the order of the configuration. */
  readonly profiles: readonly {
    readonly name: string;
    /** Source of its certificate, or the remote portal that signs for it. */
    readonly source: string;
    readonly verify: boolean;
    readonly encrypt: boolean;
    /** Undefined: no local certificate is used. */
    readonly validate: boolean | undefined;
  }[];
  readonly paused: boolean;
  /** Warnings, as sentences. */
  readonly warnings: readonly string[];
}

/** A service that answers requests and watches folders. */
export interface RunningService {
  readonly facts: ServiceInfo;
  /** Creates a link that logs a person in to the operator pages once; undefined without these pages or an API key. */
  loginLink(): string | undefined;
  /** Creates a link that signs the first administrator of the portal in once; undefined with a relay or without a portal. */
  administratorLink(): Promise<string | undefined>;
  /** Resolves with the reason when the service cannot continue. */
  readonly lost: Promise<string>;
  /** Resolves when an operator asked this node to drain. */
  readonly draining: Promise<void>;
  /** Accepts nothing new, waits for work in progress up to the shutdown timeout, closes everything. */
  stop(): Promise<void>;
}

/** Inputs of a start that are not configuration. */
export interface StartOptions {
  readonly version: string;
  /** Fault points to arm (`SEALWRIGHT_FAULTS`); undefined = none. */
  readonly faults: string | undefined;
}

export type Serve = (settings: Settings, log: Logging, options: StartOptions) => Promise<RunningService>;
