/** Qualification of a signature and of a time-stamp by trusted lists: the word for it, and why (TS 119 615 §4.7). */
import type {
  Indication,
  SignatureQualification,
  SignatureWord,
  TimestampQualification,
} from '../core/validation-report.ts';
import type { Certificate } from '../x509/certificate.ts';
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
  entryAt,
  type MatchedService,
  REGULATION_FROM,
  servicesBehind,
  stateOf,
  TSA_QTST,
} from './services.ts';
import type { TrustedList } from './trusted-list.ts';

/** Authentic national lists. */
export interface TrustLists {
  /** The list of a country by its territory; undefined: there is none, or it is not authentic. */
  listOf(territory: string): TrustedList | undefined;
}

interface QualificationRequest {
  readonly lists: TrustLists;
  readonly certificate: Certificate;
  /** Certificates that may stand above it; untrusted. */
  readonly others: readonly Certificate[];
  /** Proven time, milliseconds since the epoch. */
  readonly time: number;
}

/** Says what a signature is. @param indication verdict on the signature itself */
export function qualifySignature(
  { lists, certificate, others, time }: QualificationRequest,
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
  const services = servicesBehind(certificate, others, list);
  const judged = qualifyCertificate(certificate, { territory, services }, time);
  return {
    ...wordFor(judged, indication),
    qualifiedFor: judged.qualified,
    device: judged.device,
    territory,
    ...serviceNamed(services),
    reasons: judged.reasons,
  };
}

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

/** Says what a time-stamp is. @param request `time`: the time that it names @param now milliseconds since the epoch */
export function qualifyTimestamp(
  { lists, certificate, others, time }: QualificationRequest,
  indication: Indication,
  now: number,
): TimestampQualification {
  const territory = territoryIn(certificate.subject);
  const list = territory === undefined ? undefined : lists.listOf(territory);
  if (indication === 'TOTAL-FAILED') return { word: 'NotTimestamp', reasons: [] };
  if (list === undefined) {
    const reason =
      territory === undefined
        ? 'The authority names no country.'
        : `There is no authentic list of ${territory}.`;
    return { word: 'Unknown', reasons: [reason] };
  }
  const { organization = '' } = nameFields(certificate.subject);
  const services = servicesBehind(certificate, others, list);
  const isOf = ({ provider }: MatchedService) =>
    provider.names.some((name) => folded(name) === folded(organization));
  const isGranted = ({ service }: MatchedService, at: number): boolean => {
    const entry = entryAt(service, at);
    return typeof entry === 'object' && entry.type === TSA_QTST && stateOf(entry, at) === 'granted';
  };
  const own = services.filter(isOf);
  const isQualified =
    time >= REGULATION_FROM &&
    own.some((one) => isGranted(one, time)) &&
    own.some((one) => isGranted(one, now));
  if (!isQualified)
    return { word: 'TSA', reasons: ['No service for qualified time-stamps stands behind it.'] };
  return { word: 'QTSA', reasons: [] };
}

/** Certificates of listed services that a path may end at. @param use of the certificate at its beginning */
export function listedAnchors(
  { lists, certificate, others, time }: QualificationRequest,
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
    return list === undefined ? [] : anchorsIn(list, use === 'signature' ? CA_QC : TSA_QTST, { time, names });
  });
}
