/**
 * Findings about one signature from its bytes, without trust decisions: the input of `validateSignature`, common to
 * all formats. A format determines coverage, digests and values; this folder judges chains, revocation, times and
 * algorithms by date.
 */

import type { AlgorithmUse, Finding } from '../core/finding.ts';
import type { SignatureFormat, SignatureLevel } from '../core/types.ts';
import type { ChangeRecord, SignatureScope } from '../core/validation-report.ts';
import type { WorkBudget } from '../core/work-budget.ts';
import { type Evidence, NO_EVIDENCE } from '../evidence/authorities.ts';
import type { TimestampToken } from '../evidence/timestamp-token.ts';
import type { Certificate } from '../x509/certificate.ts';

export interface TimestampInfo {
  readonly kind: 'content' | 'signature' | 'archive' | 'document';
  /** Undefined when the token can't be read; `findings` have the reason. */
  readonly token: TimestampToken | undefined;
  /** Findings; always includes the check of the message imprint. */
  readonly findings: readonly Finding[];
  /**
   * For an archive or document time-stamp: true when it proves these bytes, the DER of an older time-stamp or of a
   * revocation response in the file. Left out: it proves everything in the file.
   */
  readonly covers?: (der: Buffer) => boolean;
}

export interface SignatureInfo {
  readonly format: SignatureFormat;
  /** Level by the present properties, whether or not they are valid. */
  readonly level: SignatureLevel | undefined;
  readonly name: string;
  /** As in `SignatureRecord`. */
  readonly isInContent?: true;
  readonly scope: SignatureScope;
  /** Findings in order: structure, digests, certificate binding, value. */
  readonly findings: readonly Finding[];
  readonly certificate: Certificate | undefined;
  /** Certificates in and around the signature; all untrusted. */
  readonly certificates: readonly Certificate[];
  /** Revocation values and certificates in and around the signature. */
  readonly evidence: Evidence;
  /** Claimed signing time, milliseconds since the epoch. */
  readonly claimedTime: number | undefined;
  readonly algorithms: readonly AlgorithmUse[];
  /**
   * Time-stamps, oldest first. An archive or document time-stamp proves the signature and earlier data that it
   * `covers`.
   */
  readonly timestamps: readonly TimestampInfo[];
  readonly changes: readonly ChangeRecord[];
  /** Dotted OID. */
  readonly policy: string | undefined;
  readonly counterSignatures: readonly SignatureInfo[];
  readonly isTimestamp: boolean;
  readonly reason?: string;
  readonly location?: string;
  /** Content identifier of CMS (RFC 5035 §2.10), when it is printable. */
  readonly contentIdentifier?: string;
}

/** Default values for a signature that can't be read. */
export const UNKNOWN_SIGNATURE_INFO = {
  level: undefined,
  findings: [],
  certificate: undefined,
  certificates: [],
  evidence: NO_EVIDENCE,
  claimedTime: undefined,
  algorithms: [],
  timestamps: [],
  changes: [],
  policy: undefined,
  counterSignatures: [],
  isTimestamp: false,
} as const satisfies Partial<SignatureInfo>;

/** Result of a format for one file. */
export interface FileSignatures {
  readonly signatures: readonly SignatureInfo[];
  /** Findings about the file as a whole. */
  readonly findings: readonly Finding[];
  /** Remaining work budget of the file, used for judging it. */
  readonly work?: WorkBudget;
}
