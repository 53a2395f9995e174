/**
 * Report of a validation for people, the portal's signature record (docs/portal-values.md §17) and `sealwright verify`.
 * Plain data; indications as in EN 319 102-1 §5.1.3.
 */
import type { SignatureFormat, SignatureLevel } from './types.ts';

/** Verdict. Source: EN 319 102-1 §5.1.3. */
export type Indication = 'TOTAL-PASSED' | 'INDETERMINATE' | 'TOTAL-FAILED';

/** EN 319 102-1 tables 5 and 6. */
export type SubIndication =
  | 'FORMAT_FAILURE'
  | 'HASH_FAILURE'
  | 'SIG_CRYPTO_FAILURE'
  | 'REVOKED'
  | 'EXPIRED'
  | 'NOT_YET_VALID'
  | 'SIG_CONSTRAINTS_FAILURE'
  | 'CHAIN_CONSTRAINTS_FAILURE'
  | 'CERTIFICATE_CHAIN_GENERAL_FAILURE'
  | 'CRYPTO_CONSTRAINTS_FAILURE'
  | 'POLICY_PROCESSING_ERROR'
  | 'SIGNATURE_POLICY_NOT_AVAILABLE'
  | 'TIMESTAMP_ORDER_FAILURE'
  | 'NO_SIGNING_CERTIFICATE_FOUND'
  | 'NO_CERTIFICATE_CHAIN_FOUND'
  | 'REVOKED_NO_POE'
  | 'REVOKED_CA_NO_POE'
  | 'OUT_OF_BOUNDS_NO_POE'
  | 'OUT_OF_BOUNDS_NOT_REVOKED'
  | 'CRYPTO_CONSTRAINTS_FAILURE_NO_POE'
  | 'NO_POE'
  | 'TRY_LATER'
  | 'SIGNED_DATA_NOT_FOUND'
  | 'GENERIC';

/** One check and its result. */
export interface ValidationItem {
  /** Stable, dotted, lower-case: `digest.content`, `chain.anchor`. */
  readonly type: string;
  /** A sentence for people. */
  readonly message: string;
  /** Values, names and times that were read. */
  readonly detail?: string;
  /** Checks this one depends on: those of a time-stamp, of a certificate on the path. */
  readonly inner?: ValidationResults;
}

/** Source: docs/portal-values.md §17, `validationResults`. */
export interface ValidationResults {
  /** No errors. */
  readonly isValid: boolean;
  readonly passedChecks: readonly ValidationItem[];
  readonly errors: readonly ValidationItem[];
  readonly warnings: readonly ValidationItem[];
}

/**
 * Fields of a certificate for people. Names as in its subject; undefined when absent.
 * Source: RFC 5280 §4.1; EN 319 412-1 §5.
 */
export interface CertificateRecord {
  /** Without the identity number that may stand beside it. */
  readonly subjectName: string;
  readonly issuerName: string;
  readonly emailAddress: string | undefined;
  /** serialNumber of the subject (a person's identifier), national prefixes kept; else the number beside the name. */
  readonly identifier: string | undefined;
  /** Digits of the national number of the person or of the company in its alternative names. */
  readonly personNumber?: string | undefined;
  readonly companyNumber?: string | undefined;
  readonly companyName: string | undefined;
  /** organizationIdentifier of the subject. */
  readonly companyIdentifier: string | undefined;
  /** Base64 of the SHA-256 of the certificate. */
  readonly thumbprint: string;
  /** Milliseconds since the epoch. */
  readonly validityStart: number;
  readonly validityEnd: number;
}

/**
 * What the trusted lists of the European Union make of a signature. `QESig`, `QESeal`: qualified; `…-QC`: advanced with a
 * qualified certificate; `AdESig`, `AdESeal`, `AdES` (its certificate does not say which): advanced; `Unknown`: the lists
 * do not allow an answer; `NotAdES`: the signature fails.
 */
export type SignatureWord =
  | 'QESig'
  | 'QESeal'
  | 'AdESig-QC'
  | 'AdESeal-QC'
  | 'AdESig'
  | 'AdESeal'
  | 'AdES'
  | 'Unknown'
  | 'NotAdES';

/** Source: ETSI TS 119 615 §4.4, §4.5. */
export interface SignatureQualification {
  readonly word: SignatureWord;
  /** True for an INDETERMINATE signature: it would be that. */
  readonly isIndeterminate: boolean;
  readonly qualifiedFor: 'signature' | 'seal' | 'web' | 'none' | 'undetermined';
  /** For its key in a qualified device. */
  readonly device: 'yes' | 'no' | 'undetermined';
  /** Territory of the list; undefined when the issuer names no country. */
  readonly territory?: string;
  /** Names of the listed service behind it and of its provider. */
  readonly service?: string;
  readonly provider?: string;
  readonly list?: ListIssue;
  /** Sentences for people, also about a list that is not of the time of validation. */
  readonly reasons: readonly string[];
}

/** Issue of a list. */
export interface ListIssue {
  readonly sequence: number;
  /** Milliseconds since the epoch. */
  readonly issued: number;
}

/** The word as reports write it: `QESig`, `INDETERMINATE-QESig`. */
export function qualificationText({
  word,
  isIndeterminate,
}: Pick<SignatureQualification | TimestampQualification, 'word' | 'isIndeterminate'>): string {
  return isIndeterminate ? `INDETERMINATE-${word}` : word;
}

/** `QTSA`: qualified. Source: ETSI TS 119 615 §4.7. */
export interface TimestampQualification {
  readonly word: 'QTSA' | 'TSA' | 'Unknown' | 'NotTimestamp';
  /** True for an INDETERMINATE time-stamp: it would be that. */
  readonly isIndeterminate: boolean;
  readonly list?: ListIssue;
  /** As those of a signature. */
  readonly reasons: readonly string[];
}

/** A time-stamp and its verdict. Source: RFC 3161 §2.4.2; EN 319 102-1 §5.4. */
export interface TimestampRecord {
  readonly kind: 'content' | 'signature' | 'archive' | 'document';
  /** Name of the time-stamp authority. */
  readonly displayName: string;
  /** Milliseconds since the epoch; undefined when the time-stamp can't be read. */
  readonly genTime: number | undefined;
  readonly certificate: CertificateRecord | undefined;
  readonly indication: Indication;
  readonly subIndication?: SubIndication;
  /** Left out without trusted lists. */
  readonly qualification?: TimestampQualification;
  readonly results: ValidationResults;
}

/** Content that a signature covers. */
export interface SignatureScope {
  readonly kind: 'document' | 'revision' | 'element' | 'content' | 'container' | 'signature';
  /** Text for people: `the whole file`, `revision 2 of 3`, `element #total`, `report.txt`. */
  readonly description: string;
}

/** A later change to a PDF and the decision whether the signature permits it (ISO 32000-2 §12.8.2.2). */
export interface ChangeRecord {
  /** 1-based revision of the file with the change. */
  readonly revision: number;
  readonly permitted: boolean;
  readonly description: string;
}

/** A signature and its verdict. Source: EN 319 102-1 §5.1.3. */
export interface SignatureRecord {
  readonly format: SignatureFormat;
  /** Highest baseline level whose values are all present and, above B, whose time-stamp is trusted; undefined below B. */
  readonly level: SignatureLevel | undefined;
  readonly indication: Indication;
  readonly subIndication?: SubIndication;
  readonly certificate: CertificateRecord | undefined;
  /** Claimed, milliseconds since the epoch. */
  readonly signingTime: number | undefined;
  /** Earliest proven time of the signature; the time of validation without proof. */
  readonly bestTime: number;
  /** True for a document time-stamp, which is a signature of its own in a PDF. */
  readonly isTimestamp: boolean;
  /** Names the signature in its file: the PDF field, the Id in XML, which needs no signature, `signer 1` in CMS. */
  readonly name: string;
  /** Tells the signature among others: Base64 of the SHA-256 of its value; left out where that can't be read. */
  readonly valueSha256?: string;
  /** True for a signature of the content of a CMS signature, not of the file. */
  readonly isInContent?: true;
  readonly scope: SignatureScope;
  readonly timestamps: readonly TimestampRecord[];
  readonly changes: readonly ChangeRecord[];
  readonly counterSignatures: readonly SignatureRecord[];
  /** Dotted identifier of its explicit policy. */
  readonly policy: string | undefined;
  /** Statements of the signer about itself, which nothing proves; left out where there are none. Up to 10, of 2,000 characters. */
  readonly claimedRoles?: readonly string[];
  /** PDF: stated reason and location. */
  readonly reason?: string;
  readonly location?: string;
  /** CMS: content identifier (RFC 5035 §2.10), when it is printable. */
  readonly contentIdentifier?: string;
  /** Left out without trusted lists, and for document time-stamps. */
  readonly qualification?: SignatureQualification;
  readonly results: ValidationResults;
}

/** The verdict on a file. Source: EN 319 102-1 §5.1. */
export interface ValidationReport {
  readonly format: SignatureFormat | 'Asic';
  /** TOTAL-PASSED only when there is a signature and all signatures, counter-signatures and the file pass. */
  readonly indication: Indication;
  readonly signatures: readonly SignatureRecord[];
  /** Checks of the whole file: unreadable, no signature, attacks on the container. */
  readonly results: ValidationResults;
}

/** One check. A failed one without a sub-indication means FORMAT_FAILURE. */
export interface Finding {
  readonly status: 'passed' | 'warning' | 'failed';
  /** As `ValidationItem.type`. */
  readonly type: string;
  readonly message: string;
  readonly detail?: string;
  readonly subIndication?: SubIndication;
}

export function passed(type: string, message: string, detail?: string): Finding {
  return detail === undefined
    ? { status: 'passed', type, message }
    : { status: 'passed', type, message, detail };
}

/** A check that does not decide, and that people should know of. */
export function warned(type: string, message: string, detail?: string): Finding {
  return detail === undefined
    ? { status: 'warning', type, message }
    : { status: 'warning', type, message, detail };
}

export function failed(
  type: string,
  message: string,
  subIndication: SubIndication = 'FORMAT_FAILURE',
  detail?: string,
): Finding {
  const finding = { status: 'failed', type, message, subIndication } as const;
  return detail === undefined ? finding : { ...finding, detail };
}

/** An algorithm in use, for the policy that ends algorithms by date. */
export interface AlgorithmUse {
  /** Lower-case: `sha1`, `sha256`, `rsa-pkcs1`, `rsa-pss`, `ecdsa`, `ed25519`, or the dotted or URI name of an unknown one. */
  readonly name: string;
  /** Bits of the key, for signature algorithms. */
  readonly bits?: number;
  /** Text for people: `content digest`, `signature value`. */
  readonly where: string;
  /** True when only a second preimage could harm, which is unknown for every listed hash: a weak one is a warning. */
  readonly preimage?: boolean;
}
