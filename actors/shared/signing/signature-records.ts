/** Converts validation results to the portal's signature records. Source: docs/portal-values.md §17. */

import type {
  CertificateRecord,
  SignatureQualification,
  SignatureRecord,
  TimestampRecord,
  ValidationItem,
  ValidationReport,
  ValidationResults,
} from '@sealwright/signatures';
import { plainLine } from '../../../contracts/plain-text.ts';
import type {
  SignatureView,
  TimestampView,
  ValidationItem as ValidationItemView,
  ValidationResults as ValidationResultsView,
} from '../../../contracts/portal/signing/validation.ts';

/** A signature of a file. */
export interface DescribedSignature {
  /** The PDF field, the Id in XML, the content identifier in CMS (`signer 1` without one). */
  readonly name: string;
  /** Tells it among all signatures: Base64 of the SHA-256 of its value; undefined where that can't be read. */
  readonly value: string | undefined;
  /** View of the certificate holder; for electronic signatures the sealing service. */
  readonly view: SignatureView;
}

/** Validation result of a file. Plain data. */
export interface DescribedFile {
  /** Reason why the file cannot be read; null when it can. */
  readonly fault: string | null;
  readonly signatures: readonly DescribedSignature[];
  /** The report of ETSI TS 119 102-2, if requested. */
  readonly report?: string;
}

/** Result code of an intact file without signatures. */
const NO_SIGNATURE = 'file.signatures';

export function describedFile(report: ValidationReport): DescribedFile {
  const fault = report.results.errors.find(({ type }) => type !== NO_SIGNATURE);
  return {
    fault: report.signatures.length === 0 ? (fault?.message ?? null) : null,
    signatures: report.signatures.map((record) => ({
      name: nameInFile(record),
      value: record.valueSha256,
      view: signatureView(record, report.results),
    })),
  };
}

/** Identifies a signature made here in its file. */
export function nameInFile({
  contentIdentifier,
  name,
}: Pick<SignatureRecord, 'contentIdentifier' | 'name'>): string {
  return contentIdentifier ?? name;
}

/** @param file problems of the file apply to each of its signatures */
function signatureView(record: SignatureRecord, file: ValidationResults): SignatureView {
  const { certificate, signingTime, isTimestamp, timestamps, results, bestTime } = record;
  return {
    ...holderOf(certificate),
    isElectronic: false,
    isTimestamp,
    signingTime: signingTime ?? (isTimestamp ? bestTime : null),
    certificateThumbprint: certificate?.thumbprint ?? '',
    validityStart: certificate?.validityStart ?? null,
    validityEnd: certificate?.validityEnd ?? null,
    signatureTimestamps: timestamps.filter(({ kind }) => kind === 'signature').flatMap(timestampViews),
    archiveTimestamps: timestamps
      .filter(({ kind }) => kind === 'archive' || kind === 'document')
      .flatMap(timestampViews),
    validationResults: resultsView({
      ...results,
      passedChecks: [...results.passedChecks, ...file.passedChecks.filter(isAboutAgreement)],
      // A signature over this one is not shown by itself, so that nothing else would say that it is not good.
      errors: [...results.errors, ...results.warnings.filter(isAboutCounter), ...file.errors],
      warnings: [...results.warnings.filter((item) => !isAboutCounter(item)), ...file.warnings],
    }),
    attributeCertificates: [],
    qualification: qualificationView(record.qualification),
    evidences: null,
  };
}

/** Gives null where the lists say nothing. */
function qualificationView(
  found: SignatureQualification | undefined,
): NonNullable<SignatureView['qualification']> | null {
  if (found === undefined) return null;
  const { territory = null, service = null, provider = null, list = null } = found;
  return { ...found, territory, service, provider, list };
}

function isAboutAgreement({ type }: ValidationItem): boolean {
  return type === 'independent.agreement';
}

function isAboutCounter({ type }: ValidationItem): boolean {
  return type === 'counter-signature';
}

type Holder = Pick<
  SignatureView,
  'subjectName' | 'emailAddress' | 'issuerName' | 'identifier' | 'companyName' | 'companyIdentifier'
>;

/** Unknown names are empty, not null, as clients display them directly. */
function holderOf(certificate: CertificateRecord | undefined): Holder {
  if (certificate === undefined) {
    return {
      subjectName: '',
      emailAddress: null,
      issuerName: '',
      identifier: null,
      companyName: null,
      companyIdentifier: null,
    };
  }
  const { personNumber, companyNumber } = certificate;
  // Certificates may contain arbitrary text.
  const name = plainLine(certificate.subjectName);
  const isCompany = companyNumber !== undefined;
  return {
    subjectName: name,
    emailAddress: certificate.emailAddress ?? null,
    issuerName: plainLine(certificate.issuerName),
    identifier: personNumber ?? withoutPrefix(certificate.identifier) ?? null,
    companyName: isCompany
      ? name
      : certificate.companyName === undefined
        ? null
        : plainLine(certificate.companyName),
    companyIdentifier: companyNumber ?? withoutPrefix(certificate.companyIdentifier) ?? null,
  };
}

/** Without the kind and country in front (ETSI EN 319 412-1 §5.1.3): `PNOBR-`, `VATDE-`. */
function withoutPrefix(identifier: string | undefined): string | undefined {
  return identifier?.replace(/^[A-Z]{3}[A-Z]{2}-/, '');
}

/** Empty for a time-stamp that can't be read: the wire requires its time. The reasons are in the results. */
function timestampViews({ displayName, genTime, certificate }: TimestampRecord): TimestampView[] {
  if (genTime === undefined) return [];
  return [
    {
      displayName: plainLine(displayName),
      genTime,
      validityStart: certificate?.validityStart ?? null,
      validityEnd: certificate?.validityEnd ?? null,
    },
  ];
}

function resultsView({
  passedChecks,
  errors,
  warnings,
}: Pick<ValidationResults, 'passedChecks' | 'errors' | 'warnings'>): ValidationResultsView {
  return {
    isValid: errors.length === 0,
    passedChecks: passedChecks.map(itemView),
    errors: errors.map(itemView),
    warnings: warnings.map(itemView),
  };
}

function itemView({ type, message, detail, inner }: ValidationItem): ValidationItemView {
  return {
    type,
    message,
    detail: detail ?? null,
    innerValidationResults: inner === undefined ? null : resultsView(inner),
  };
}
