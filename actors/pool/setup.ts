/** What each pool thread is given when it starts: keys are loaded once per thread, never per task. */
import type { SerializedSigner } from '../../crypto/index.ts';
import type { OutputForm } from '../file-names.ts';
import type { SigningChoices } from '../profiles.ts';
import type { TrustOptions } from '../trust.ts';

/** Plain data, cloned on its way: bytes that leave as buffers arrive as `Uint8Array`. */
export interface WorkerProfile {
  readonly name: string;
  /** Undefined: files of this profile are signed elsewhere. */
  readonly signer: SerializedSigner | undefined;
  readonly choices: SigningChoices;
  readonly form: OutputForm;
  /** False: what was signed is published without a look at it. */
  readonly verify: boolean;
  /** What the remote portal signed is compared with what was sent. */
  readonly compareContent: boolean;
  /** DER trust anchors that a signature must chain to; empty = the chain is not checked. */
  readonly anchors: readonly Uint8Array[];
}

export interface WorkerSetup {
  readonly processing: string;
  readonly output: string;
  readonly error: string;
  readonly profiles: readonly WorkerProfile[];
  readonly trust: TrustOptions;
  /** Key of the encryption envelopes, 32 bytes; undefined: no profile encrypts. */
  readonly encryptionKey: Uint8Array | undefined;
  /** Armed fault points, as text; see `runtime/faults.ts`. */
  readonly faults: string;
}
