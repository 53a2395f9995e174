/** What `verify` is asked, and what it says of one file. */
import type { TrustSettings, ValidationReport } from '../crypto/index.ts';

export interface VerifyOptions {
  readonly json: boolean;
  /** Overrides the format that the extension suggests. */
  readonly format: ValidationReport['format'] | undefined;
  /** Files of trusted roots, PEM or DER; with none nobody is trusted. */
  readonly trust: readonly string[];
  /** Files of certificates that may stand between signer and root. */
  readonly intermediates: readonly string[];
  /** What detached signatures are over. */
  readonly content: string | undefined;
  /** False: whose certificate it is, and whether that was valid, is not part of the verdict. */
  readonly chain: boolean;
  readonly revocation: TrustSettings['revocation'];
  /** True: authorities are asked what the file does not answer. */
  readonly online?: boolean;
  /** Time of validation, milliseconds since the epoch. */
  readonly at: number;
}

/** What is said of one file. */
export interface FileVerdict {
  readonly file: string;
  readonly format: ValidationReport['format'];
  readonly ok: boolean;
  /** Null when the file can't be read. */
  readonly report: ValidationReport | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}
