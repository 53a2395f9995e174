/**
 * What the engine found out about a signature, in the shape of the portal's signature record.
 * Source: portal-gaps §17.
 */
import type {
  CertificateRecord,
  SignatureRecord,
  TimestampRecord,
  ValidationItem,
  ValidationReport,
  ValidationResults,
} from '../../crypto/index.ts';
import { plainLine } from '../../machines/plain-text.ts';
import type { SignatureView, TimestampView, ValidationItemView, ValidationResultsView } from './api.ts';

/** A signature as it was found in a file. */
export interface DescribedSignature {
  /** The PDF field, the Id in XML, the content identifier in CMS (`signer 1` without one). */
  readonly name: string;
  /** As of somebody's own certificate; who signed electronically is known by those who sealed it. */
  readonly view: SignatureView;
}

/** What there is to say about the signatures of a file. Plain data. */
export interface DescribedFile {
  /** A sentence about why the file cannot be read; null when it can. */
  readonly fault: string | null;
  readonly signatures: readonly DescribedSignature[];
}

/** Said of a file that is whole and has no signature. */
const NO_SIGNATURE = 'file.signatures';

export function describedFile(report: ValidationReport): DescribedFile {
  const fault = report.results.errors.find(({ type }) => type !== NO_SIGNATURE);
  return {
    fault: report.signatures.length === 0 ? (fault?.message ?? null) : null,
    signatures: report.signatures.map((record) => ({
      name: nameInFile(record),
      view: signatureView(record, report.results),
    })),
  };
}

/** What a signature of ours is known by in its file. */
export function nameInFile({
  contentIdentifier,
  name,
}: Pick<SignatureRecord, 'contentIdentifier' | 'name'>): string {
  return contentIdentifier ?? name;
}

/** @param file what is wrong with the file is wrong with each of its signatures */
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
    signatureTimestamps: timestamps.filter(({ kind }) => kind === 'signature').map(timestampView),
    archiveTimestamps: timestamps
      .filter(({ kind }) => kind === 'archive' || kind === 'document')
      .map(timestampView),
    validationResults: resultsView({
      ...results,
      errors: [...results.errors, ...file.errors],
      warnings: [...results.warnings, ...file.warnings],
    }),
    evidences: null,
  };
}

type Holder = Pick<
  SignatureView,
  'subjectName' | 'emailAddress' | 'issuerName' | 'identifier' | 'companyName' | 'companyIdentifier'
>;

/** Unknown names are empty, not null: clients show them as they are. */
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
  // Whoever issues certificates may write anything into them.
  const subjectName = plainLine(certificate.subjectName);
  // National numbers stand behind the name, too, in certificates that carry them.
  const [, name = subjectName, number] = /^(.*):(\d{11}|\d{14})$/.exec(subjectName) ?? [];
  const isCompany = companyNumber !== undefined;
  return {
    subjectName: name,
    emailAddress: certificate.emailAddress ?? null,
    issuerName: plainLine(certificate.issuerName),
    identifier:
      personNumber ?? withoutPrefix(certificate.identifier) ?? (number?.length === 11 ? number : null),
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

function timestampView({ displayName, genTime, certificate }: TimestampRecord): TimestampView {
  return {
    displayName: plainLine(displayName),
    genTime,
    validityStart: certificate?.validityStart ?? null,
    validityEnd: certificate?.validityEnd ?? null,
  };
}

export function resultsView({
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
