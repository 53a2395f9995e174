/** Data that each pool thread receives at its start: keys are loaded once per thread, never per task. */
import type { QualificationDemand, SerializedSigner } from '@sealwright/signatures';
import type { OutputFormat } from '../shared/files/output-names.ts';
import type { ServiceSigner } from '../shared/key-services/key-service.ts';
import type { SigningChoices } from '../shared/signing/profiles.ts';
import type { TrustOptions } from '../shared/signing/trust-options.ts';

/** Plain data, cloned on its way: bytes that leave as buffers arrive as `Uint8Array`. */
export interface WorkerProfile {
  readonly name: string;
  /** Undefined: files of this profile are signed elsewhere, or its certificate and key could not be loaded. */
  readonly signer: SerializedSigner | ServiceSigner | undefined;
  readonly choices: SigningChoices;
  readonly form: OutputFormat;
  /** False: the signed file is published without verification. */
  readonly verify: boolean;
  /** True: a second implementation judges what was verified. */
  readonly verifyIndependently: boolean;
  /** `Require`. */
  readonly demand?: QualificationDemand | undefined;
  /** Everything the remote portal signed is compared with what was sent. */
  readonly compareContent: boolean;
  /** DER trust anchors that a signature must chain to; empty = the chain is not checked. */
  readonly anchors: readonly Uint8Array[];
}

export interface WorkerSetup {
  /** Threads of a kind, which share the limits of key services. @default 1 */
  readonly threads?: number;
  readonly processing: string;
  /** Folder with the working folders of all nodes; undefined: there is one process. */
  readonly allProcessing?: string | undefined;
  readonly output: string;
  /** True: the main thread publishes, in an object store. @default false */
  readonly publishesElsewhere?: boolean | undefined;
  readonly error: string;
  readonly profiles: readonly WorkerProfile[];
  readonly trust: TrustOptions;
  /** Key of the encryption envelopes, 32 bytes; undefined: no profile encrypts. */
  readonly encryptionKey: Uint8Array | undefined;
  /** Of the `LeaseDeadline` of this node; undefined: there is one process. */
  readonly lease?: SharedArrayBuffer | undefined;
  /** Of the clock that all nodes share; undefined: there is one process. */
  readonly clock?: SharedArrayBuffer | undefined;
  /** Armed fault points, as text; see `runtime/model/faults.ts`. */
  readonly faults: string;
}

/** Data of one thread at its start. */
export interface ThreadData {
  readonly setup: WorkerSetup;
  /** Of a `HeartbeatCell`. */
  readonly heartbeat: SharedArrayBuffer;
  /** True: the thread runs the code of small tasks once before it takes one; see `warmUp`. */
  readonly isWarmedUp: boolean;
}
