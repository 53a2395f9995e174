/** Qualification of a signature and of a time-stamp by trusted lists: the word for it, and why (TS 119 615 §4.7). */
import type {
  Indication,
  ListIssue,
  SignatureQualification,
  SignatureWord,
  TimestampQualification,
} from '../core/validation-report.ts';
import type { WorkBudget } from '../core/work-budget.ts';
import type { StandingOf } from '../evidence/ocsp.ts';
import { type Certificate, readableCertificates, readCertificate } from '../x509/certificate.ts';
import { nameFields } from '../x509/names.ts';
import {
  type CertificateQualification,
  folded,
  qualifyCertificate,
  territoryOf,
} from './certificate-qualification.ts';
import {
  anchorsIn,
  CA_QC,
  isGranted,
  type MatchedService,
  REGULATION_FROM,
  servicesBehind,
  standingOf,
  TSA_QTST,
} from './services.ts';
import { dayOf, notesOn, type TrustedList } from './trusted-list.ts';

/** Authentic national lists. */
export interface TrustLists {
  /** The list of a country by its territory; undefined: there is none, or it is not authentic. */
  listOf(territory: string): TrustedList | undefined;
  /**
   * End of the list of lists unless it is renewed, milliseconds since the epoch; later, every answer is open (PRO-4.1.4-13).
   * @default never
   */
  readonly endsAt?: number | undefined;
}

/** Adds that the list of lists is late: what it answers is not for certain then. */
function unlessLate<
  Answer extends { readonly isIndeterminate: boolean; readonly reasons: readonly string[] },
>(answer: Answer, { lists: { endsAt }, now }: Pick<QualificationRequest, 'lists' | 'now'>): Answer {
  if (endsAt === undefined || now <= endsAt) return answer;
  const late = `The European list of lists was to be renewed by ${dayOf(endsAt)}.`;
  return { ...answer, isIndeterminate: true, reasons: [...answer.reasons, late] };
}

interface KnownCertificates {
  readonly lists: TrustLists;
  readonly certificate: Certificate;
  /** Certificates that may stand above it; untrusted. */
  readonly others: readonly Certificate[];
}

interface QualificationRequest extends KnownCertificates {
  /** Proven time, milliseconds since the epoch. */
  readonly time: number;
  /** Time of validation, milliseconds since the epoch. */
  readonly now: number;
  readonly work?: WorkBudget | undefined;
}

/** Says what a signature is. @param indication verdict on the signature itself */
export function qualifySignature(
  request: QualificationRequest,
  indication: Indication,
): SignatureQualification {
  return unlessLate(signatureAnswer(request, indication), request);
}

function signatureAnswer(
  { lists, certificate, others, time, now, work }: QualificationRequest,
  indication: Indication,
): SignatureQualification {
  const territory = territoryIn(certificate.issuer);
  const list = territory === undefined ? undefined : lists.listOf(territory);
  if (territory === undefined || list === undefined) {
    return {
      ...wordFor(UNLISTED, indication),
      qualifiedFor: 'undetermined',
      device: 'undetermined',
      ...(territory !== undefined && { territory }),
      reasons: [territory === undefined ? NO_COUNTRY : `There is no authentic list of ${territory}.`],
    };
  }
  const found = servicesBehind({ certificate, others, list, work });
  const services = found.services.filter(({ service }) => service.entries.some(({ type }) => type === CA_QC));
  const judged = found.isComplete
    ? qualifyCertificate(certificate, { territory, services }, time)
    : { ...UNLISTED, reasons: [TOO_MANY] };
  return {
    ...wordFor(judged, indication),
    qualifiedFor: judged.qualified,
    device: judged.device,
    territory,
    ...serviceNamed(services),
    list: issueOf(list),
    reasons: [...judged.reasons, ...notesOn(list, now)],
  };
}

const TOO_MANY = 'There are too many certificates to try.';
const NO_COUNTRY = 'The issuer of the certificate names no country.';
const UNLISTED: Pick<CertificateQualification, 'qualified' | 'device' | 'stated'> = {
  qualified: 'undetermined',
  device: 'undetermined',
  stated: undefined,
};

function territoryIn(name: Buffer): string | undefined {
  const { country } = nameFields(name);
  return country === undefined ? undefined : territoryOf(country);
}

function issueOf({ sequence, issued }: TrustedList): ListIssue {
  return { sequence, issued };
}

function serviceNamed([first]: readonly MatchedService[]): Pick<
  SignatureQualification,
  'service' | 'provider'
> {
  if (first === undefined) return {};
  const [provider] = first.provider.names;
  return { service: first.service.name, ...(provider !== undefined && { provider }) };
}

/** Words by what the certificate is qualified for and by the use it states, without and with a qualified device. */
const WORDS = {
  signature: { yes: 'QESig', no: 'AdESig-QC' },
  seal: { yes: 'QESeal', no: 'AdESeal-QC' },
} as const;
const UNQUALIFIED = { signature: 'AdESig', seal: 'AdESeal', web: 'AdES' } as const;

function wordFor(
  { qualified, device, stated }: Pick<CertificateQualification, 'qualified' | 'device' | 'stated'>,
  indication: Indication,
): Pick<SignatureQualification, 'word' | 'isIndeterminate'> {
  if (indication === 'TOTAL-FAILED') return { word: 'NotAdES', isIndeterminate: false };
  return { word: wordOf(qualified, device, stated), isIndeterminate: indication === 'INDETERMINATE' };
}

export function wordOf(
  qualified: CertificateQualification['qualified'],
  device: CertificateQualification['device'],
  stated: CertificateQualification['stated'],
): SignatureWord {
  if (qualified === 'undetermined') return 'Unknown';
  if (qualified === 'signature' || qualified === 'seal')
    return WORDS[qualified][device === 'yes' ? 'yes' : 'no'];
  return stated === undefined ? 'AdES' : UNQUALIFIED[stated];
}

/** Says what a time-stamp is. @param request `time`: the time that it names */
export function qualifyTimestamp(
  request: QualificationRequest,
  indication: Indication,
): TimestampQualification {
  return unlessLate(timestampAnswer(request, indication), request);
}

function timestampAnswer(
  { lists, certificate, others, time, now, work }: QualificationRequest,
  indication: Indication,
): TimestampQualification {
  const isIndeterminate = indication === 'INDETERMINATE';
  const territory = territoryIn(certificate.subject);
  const list = territory === undefined ? undefined : lists.listOf(territory);
  if (indication === 'TOTAL-FAILED') return { word: 'NotTimestamp', isIndeterminate, reasons: [] };
  if (list === undefined) {
    const reason =
      territory === undefined
        ? 'The authority names no country.'
        : `There is no authentic list of ${territory}.`;
    return { word: 'Unknown', isIndeterminate, reasons: [reason] };
  }
  const base = { isIndeterminate, list: issueOf(list) };
  const notes = notesOn(list, now);
  const { organization = '' } = nameFields(certificate.subject);
  const { services, isComplete } = servicesBehind({ certificate, others, list, work });
  if (!isComplete) return { ...base, word: 'Unknown', reasons: [TOO_MANY, ...notes] };
  const isOf = ({ provider }: MatchedService) =>
    provider.names.some((name) => folded(name) === folded(organization));
  const isQualified =
    time >= REGULATION_FROM &&
    services.filter(isOf).some(({ service }) => [time, now].every((at) => isGranted(service, TSA_QTST, at)));
  if (isQualified) return { ...base, word: 'QTSA', reasons: notes };
  const reason = 'No service for qualified time-stamps stands behind it.';
  return { ...base, word: 'TSA', reasons: [reason, ...notes] };
}

/** Says what a signature by a certificate would be at this time. @param der the certificate @param others that may stand above it */
export function qualifySigner(
  der: Buffer,
  others: readonly Buffer[],
  { lists, at }: { readonly lists: TrustLists; readonly at: number },
): SignatureQualification {
  const known = { certificate: readCertificate(der), others: others.flatMap(readableCertificates) };
  return qualifySignature({ ...known, lists, time: at, now: at }, 'TOTAL-PASSED');
}

/**
 * Certificates of listed services that a path may end at. @param request `times`: milliseconds since the epoch at all of
 * which the service was granted @param use of the certificate at its beginning
 */
export function listedAnchors(
  { lists, certificate, others, times }: KnownCertificates & { readonly times: readonly number[] },
  use: 'signature' | 'timestamp',
): Certificate[] {
  const territories = new Set([territoryIn(certificate.issuer), territoryIn(certificate.subject)]);
  const names = new Set([
    certificate.subjectKey,
    certificate.issuerKey,
    ...others.map(({ issuerKey }) => issuerKey),
  ]);
  return [...territories].flatMap((territory) => {
    const list = territory === undefined ? undefined : lists.listOf(territory);
    return list === undefined
      ? []
      : anchorsIn(list, use === 'signature' ? CA_QC : TSA_QTST, { times, names });
  });
}

/** DER of listed services that a path may end at now, for a signer or a time-stamp authority. @param der its certificate @param others that may stand above it */
export function servicesFor(
  der: Buffer,
  others: readonly Buffer[],
  { lists, at }: { readonly lists: TrustLists; readonly at: number },
): readonly Buffer[] {
  const certificate = readCertificate(der);
  const known = { lists, certificate, others: others.flatMap(readableCertificates), times: [at] };
  return [...listedAnchors(known, 'signature'), ...listedAnchors(known, 'timestamp')].map((one) => one.der);
}

/** Standing of OCSP responders on the list of the country whose authority they answer for. */
export function responderStanding(lists: TrustLists): StandingOf {
  return (responder, issuers, at) => {
    const territory = territoryIn(issuers[0].subject);
    const list = territory === undefined ? undefined : lists.listOf(territory);
    return list === undefined ? 'unlisted' : standingOf(list, responder, issuers, at);
  };
}
