/**
 * Findings about one signature from its bytes, without trust decisions: the input of `validateSignature`, common to
 * all formats. A format determines coverage, digests and values; this folder judges chains, revocation, times and
 * algorithms by date.
 */
import { CryptoError, type SignatureFormat, type SignatureLevel } from '../core/types.ts';
import {
  type AlgorithmUse,
  type ChangeRecord,
  type Finding,
  failed,
  type Indication,
  type SignatureScope,
  type SubIndication,
  type ValidationItem,
  type ValidationResults,
} from '../core/validation-report.ts';
import type { WorkBudget } from '../core/work-budget.ts';
import { type Evidence, NO_EVIDENCE } from '../evidence/authorities.ts';
import { evidenceInAttributes, evidenceInData, joinEvidence } from '../evidence/embedded-evidence.ts';
import { checkToken } from '../evidence/timestamp-checks.ts';
import { type ImprintSource, readTimestampToken, type TimestampToken } from '../evidence/timestamp-reader.ts';
import type { Certificate } from '../x509/certificate.ts';
import type { PolicyUse } from './icp-brasil.ts';
import { proofOf, type TotalSubIndication } from './proven-failures.ts';

/** Sub-indications of TOTAL-FAILED (EN 319 102-1 table 5); all others are INDETERMINATE. */
const TOTAL: ReadonlySet<SubIndication> = new Set<TotalSubIndication>([
  'FORMAT_FAILURE',
  'HASH_FAILURE',
  'SIG_CRYPTO_FAILURE',
  'REVOKED',
  'EXPIRED',
  'NOT_YET_VALID',
]);

interface Verdict {
  readonly indication: Indication;
  readonly subIndication?: SubIndication;
}

/** A check to be added to the results. */
export interface Check {
  readonly type: string;
  readonly message: string;
  readonly detail?: string | undefined;
  readonly inner?: ValidationResults | undefined;
}

/** Returns the indication for a sub-indication. */
function indicationOf(subIndication: SubIndication): Indication {
  return TOTAL.has(subIndication) ? 'TOTAL-FAILED' : 'INDETERMINATE';
}

/** Collects checks into validation results and derives their verdict. */
export class ResultsBuilder {
  readonly #passed: ValidationItem[] = [];
  readonly #errors: ValidationItem[] = [];
  readonly #warnings: ValidationItem[] = [];
  #proven: SubIndication | undefined;
  #open: SubIndication | undefined;

  passed(check: Check): void {
    this.#passed.push(itemOf(check));
  }

  warning(check: Check): void {
    this.#warnings.push(itemOf(check));
  }

  /** A reason for TOTAL-FAILED that the table of proven failures does not name leaves the verdict open. */
  failed(subIndication: SubIndication, check: Check): void {
    this.#errors.push(itemOf(check));
    if (!TOTAL.has(subIndication)) this.#open ??= subIndication;
    else if (proofOf(check.type, subIndication) === undefined) this.#open ??= 'GENERIC';
    else this.#proven ??= subIndication;
  }

  finding({ status, subIndication, ...check }: Finding): void {
    if (status === 'passed') this.passed(check);
    else if (status === 'warning') this.warning(check);
    else this.failed(subIndication ?? 'FORMAT_FAILURE', check);
  }

  /** Derives the verdict: TOTAL-FAILED outranks INDETERMINATE; otherwise the first failure decides. */
  verdict(): Verdict {
    const subIndication = this.#proven ?? this.#open;
    if (subIndication === undefined) return { indication: 'TOTAL-PASSED' };
    return { indication: indicationOf(subIndication), subIndication };
  }

  results(): ValidationResults {
    return {
      isValid: this.#errors.length === 0,
      passedChecks: this.#passed,
      errors: this.#errors,
      warnings: this.#warnings,
    };
  }
}

function itemOf({ type, message, detail, inner }: Check): ValidationItem {
  return {
    type,
    message,
    ...(detail === undefined ? {} : { detail }),
    ...(inner === undefined ? {} : { inner }),
  };
}

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
  /** Left out where nothing names a policy. */
  readonly policyUse?: PolicyUse | undefined;
  readonly counterSignatures: readonly SignatureInfo[];
  readonly isTimestamp: boolean;
  /** The signature value, by which copies of it are told; left out where it can't be read. */
  readonly value?: Buffer;
  readonly claimedRoles?: readonly string[];
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
  /** Bytes of the file that are signed as content, in order; those of formats that have other bytes. @default none */
  readonly content?: readonly (readonly [from: number, to: number])[];
  /** Remaining work budget of the file, used for judging it. */
  readonly work?: WorkBudget;
}

/**
 * Reads a token and checks its message imprint; an unreadable token gives a failed finding.
 * @param der TimeStampToken
 * @param covered digest of the bytes it must cover
 * @param others candidates for the authority's certificate when the token lacks it
 */
export function timestampInfo(
  kind: TimestampInfo['kind'],
  der: Buffer,
  covered: ImprintSource,
  others: readonly Certificate[] = [],
): TimestampInfo {
  return readTimestampInfo(kind, der, (token) => checkToken(token, covered, others));
}

/** Checks a time-stamp, as `timestampInfo`, when the covered data depends on the token. */
export function readTimestampInfo(
  kind: TimestampInfo['kind'],
  der: Buffer,
  check: (token: TimestampToken) => readonly Finding[],
): TimestampInfo {
  try {
    const token = readTimestampToken(der);
    return { kind, token, findings: check(token) };
  } catch (error) {
    if (!(error instanceof CryptoError) || error.code !== 'timestamp.malformed') throw error;
    return unreadableTimestamp(kind, error.message);
  }
}

/** True when the token is readable and its imprint is right; broken ones do not count for a level. */
export function isIntactTimestamp({ token, findings }: TimestampInfo): boolean {
  return token !== undefined && findings.every(({ status }) => status !== 'failed');
}

/** Builds the result for an unreadable time-stamp. */
function unreadableTimestamp(kind: TimestampInfo['kind'], message: string): TimestampInfo {
  const finding = failed('timestamp.structure', message);
  return { kind, token: undefined, findings: [finding] };
}

/** Finding for a given content file that no signature covers. */
export const UNUSED_CONTENT: Finding = failed(
  'content.given',
  'The signatures are over what the file itself holds: the content given beside it plays no part.',
  'GENERIC',
);

/** Collects the evidence in a time-stamp about its authority. */
export function evidenceInTimestamp({ token }: TimestampInfo): Evidence {
  if (token === undefined) return NO_EVIDENCE;
  const [signer] = token.signedData.signers;
  return joinEvidence(evidenceInData(token.signedData), evidenceInAttributes(signer?.unsignedAttributes));
}

/** Returns the baseline level for the intact parts of a B signature (EN 319 122-1 §6.3), independent of trust. */
export function levelOf(timestamps: readonly TimestampInfo[], { crls, ocsps }: Evidence): SignatureLevel {
  const has = (kind: TimestampInfo['kind']) =>
    timestamps.some((stamp) => stamp.kind === kind && isIntactTimestamp(stamp));
  if (!has('signature')) return 'B';
  if (crls.length + ocsps.length === 0) return 'T';
  return has('archive') ? 'LTA' : 'LT';
}
