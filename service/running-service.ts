/** What whoever runs the service is given: how to start it, what it says of itself, and how it ends. */
import type { Logging } from '../logging.ts';
import type { Settings } from '../settings.ts';

/** What only the running service can tell. Every path is absolute. */
export interface ServiceFacts {
  /** Where the batch API answers; undefined when it is not served. */
  readonly batchUrl: string | undefined;
  /** Undefined when the portal is not served. */
  readonly portal:
    | {
        readonly url: string;
        /** Where mails are written; undefined with a relay. */
        readonly mailFolder: string | undefined;
        /** That of the first organization, then that of the monitor. `secret` undefined: as configured. */
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
    /** `made` holds the key on the one start that made it. */
    | { readonly from: 'file'; readonly path: string; readonly made: string | undefined };
  /** `path`: the file it came from; empty for none. */
  readonly certificate: { readonly subject: string; readonly path: string; readonly development: boolean };
  /** In the order of the configuration. */
  readonly profiles: readonly {
    readonly name: string;
    /** Where its certificate comes from, or that it is signed elsewhere. */
    readonly source: string;
    readonly verify: boolean;
    readonly encrypt: boolean;
    /** Undefined: no certificate of ours is used. */
    readonly validate: boolean | undefined;
  }[];
  readonly paused: boolean;
  /** Sentences that need attention. */
  readonly warnings: readonly string[];
}

/** A service that answers requests and watches folders. */
export interface RunningService {
  readonly facts: ServiceFacts;
  /** Resolves, with the reason, should the service be unable to go on; never while it works. */
  readonly lost: Promise<string>;
  /** Takes nothing new, waits for what is under way up to the shutdown timeout, closes everything. */
  stop(): Promise<void>;
}

/** Circumstances of a start that are not configuration. */
export interface StartOptions {
  readonly version: string;
  /** Fault points to arm (`SEALWRIGHT_FAULTS`); undefined = none. */
  readonly faults: string | undefined;
}

export type Serve = (settings: Settings, log: Logging, options: StartOptions) => Promise<RunningService>;
