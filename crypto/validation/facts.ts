/**
 * What a format finds out about one signature from bytes alone, before anybody is trusted: the input of `judge`, which
 * is the same for all formats. A format decides what is covered and whether digests and values are right; chains,
 * revocation, times and algorithms by date are judged once, in this folder.
 */

import { type Evidence, NO_EVIDENCE } from '../authorities.ts';
import type { Certificate } from '../certificates/certificate.ts';
import type { TimestampToken } from '../timestamps/token.ts';
import type { SignatureFormat, SignatureLevel } from '../types.ts';
import type { Work } from '../work.ts';
import type { ChangeRecord, SignatureScope, SubIndication } from './report.ts';

/** One thing that was checked. A failed one without a sub-indication means FORMAT_FAILURE. */
export interface Finding {
  readonly status: 'passed' | 'warning' | 'failed';
  /** As `ValidationItem.type`. */
  readonly type: string;
  readonly message: string;
  readonly detail?: string;
  readonly subIndication?: SubIndication;
}

/** An algorithm that something rests on, for the policy that ends algorithms by date. */
export interface AlgorithmUse {
  /** Lower-case: `sha1`, `sha256`, `rsa-pkcs1`, `rsa-pss`, `ecdsa`, `ed25519`, or the dotted or URI name of an unknown one. */
  readonly name: string;
  /** Of the key, for signature algorithms. */
  readonly bits?: number;
  /** For people: `content digest`, `signature value`. */
  readonly where: string;
  /** True where only a second preimage could harm, which no listed hash has yet given: a weak one is a warning. */
  readonly preimage?: boolean;
}

export interface TimestampFacts {
  readonly kind: 'content' | 'signature' | 'archive' | 'document';
  /** Undefined when it can't be read; `findings` say why. */
  readonly token: TimestampToken | undefined;
  /** At least whether its imprint is that of the bytes it has to cover. */
  readonly findings: readonly Finding[];
  /**
   * Of an archive or document time-stamp: whether it proves these bytes, which are the DER of an older time-stamp or of
   * an answer about revocation in the file. Left out: it proves all there is.
   */
  readonly covers?: (der: Buffer) => boolean;
}

export interface SignatureFacts {
  readonly format: SignatureFormat;
  /** The level its parts make up, whether or not they turn out to be good. */
  readonly level: SignatureLevel | undefined;
  readonly name: string;
  readonly scope: SignatureScope;
  /** In the order of finding: structure, digests, binding of the certificate, value. */
  readonly findings: readonly Finding[];
  readonly certificate: Certificate | undefined;
  /** All certificates found in the signature and around it. Nothing is trusted for being here. */
  readonly certificates: readonly Certificate[];
  /** Revocation values (and certificates) found in the signature and around it. */
  readonly evidence: Evidence;
  /** Claimed, milliseconds since the epoch. */
  readonly claimedTime: number | undefined;
  readonly algorithms: readonly AlgorithmUse[];
  /** Oldest first. An archive or document time-stamp proves the signature, and what it `covers` of all that is before it. */
  readonly timestamps: readonly TimestampFacts[];
  readonly changes: readonly ChangeRecord[];
  /** Dotted. */
  readonly policy: string | undefined;
  readonly counterSignatures: readonly SignatureFacts[];
  readonly isTimestamp: boolean;
  readonly reason?: string;
  readonly location?: string;
  /** CMS (RFC 5035 §2.10), when it is printable. */
  readonly contentIdentifier?: string;
}

/** A signature of which nothing is known but its place. */
export const NOTHING_KNOWN = {
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
} as const satisfies Partial<SignatureFacts>;

/** What a format finds in one file. */
export interface FileFacts {
  readonly signatures: readonly SignatureFacts[];
  /** What concerns the file and not one signature. */
  readonly findings: readonly Finding[];
  /** What is left of the work allowed for the file, to go on with when judging it. */
  readonly work?: Work;
}
