/** Options of `verify`, and its result for one file. */
import type { ValidationReport } from '../core/validation-report.ts';
import type { TrustSettings } from '../validation/trust.ts';

/** Trust without `--trust`. */
export interface OwnTrust {
  /** DER. */
  readonly roots: readonly Buffer[];
  readonly intermediates: readonly Buffer[];
  /** Sources of the roots, for people. */
  readonly names: readonly string[];
}

/** Verdict of a second implementation. */
export interface Opinion {
  readonly verdict: 'agrees' | 'disagrees' | 'not-comparable';
  /** One sentence for each disagreement and for each signature that could not be compared. */
  readonly details: readonly string[];
}

export interface VerifyOptions {
  /** Name of the program in messages about its options. @default 'sealwright-signatures' */
  readonly program?: string;
  readonly json: boolean;
  /** True: prints the validation report of ETSI TS 119 102-2 of the only file instead. */
  readonly report?: boolean;
  /** Overrides the format that the extension suggests. */
  readonly format: ValidationReport['format'] | undefined;
  /** Files of trusted roots, PEM or DER; without any, no certificate is trusted. */
  readonly trust: readonly string[];
  /** Trust of the program itself; undefined when `trust` says whom to trust. */
  readonly own?: OwnTrust | undefined;
  /** Folder of European trusted lists that qualify signatures and whose services are trusted; undefined: none. */
  readonly trustLists?: string | undefined;
  /** Folder with the certificates that the list of lists starts from, and the address of the journal that prints them. */
  readonly listAnchors?: string | undefined;
  readonly listJournal?: string | undefined;
  /** Files of certificates that may stand between signer and root. */
  readonly intermediates: readonly string[];
  /** Files of certificates that may be a signer's, for signatures that hold none. */
  readonly certificate?: readonly string[] | undefined;
  /** Files that detached signatures cover, by name. */
  readonly content: readonly string[] | undefined;
  /** False: whose certificate it is, and whether that was valid, is not part of the verdict. */
  readonly chain: boolean;
  readonly revocation: TrustSettings['revocation'];
  /** True: authorities are asked what the file does not answer. */
  readonly online?: boolean;
  /** Opens encrypted PDFs. */
  readonly password?: string | undefined;
  /** True: a second implementation judges each file too, and a disagreement fails it. */
  readonly independent?: boolean;
  /** Time of validation, milliseconds since the epoch. */
  readonly at: number;
}

/** Result of one file. */
export interface FileVerdict {
  readonly file: string;
  readonly format: ValidationReport['format'];
  readonly ok: boolean;
  /** Null when the file can't be read. */
  readonly report: ValidationReport | null;
  /** Verdict of the second implementation; left out when it was not asked or the file can't be read. */
  readonly independent?: Opinion;
  readonly error: { readonly code: string; readonly message: string } | null;
}
