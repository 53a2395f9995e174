/** What each pool thread is given when it starts: keys are loaded once per thread, never per task. */
import type { SerializedSigner } from '../../crypto/index.ts';

export interface WorkerProfile {
  readonly name: string;
  /** Undefined: files of this profile are signed elsewhere. */
  readonly signer: SerializedSigner | undefined;
  /** DER trust anchors that a signature must chain to; empty = the chain is not checked. */
  readonly anchors: readonly Uint8Array[];
}

export interface WorkerSetup {
  readonly processing: string;
  readonly output: string;
  readonly error: string;
  readonly profiles: readonly WorkerProfile[];
  /** Armed fault points, as text; see `runtime/faults.ts`. */
  readonly faults: string;
}
