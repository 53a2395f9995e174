/** Services of a national list that stand behind a certificate, and their states over time (TS 119 615 §4.3). */

import type { WorkBudget } from '../core/work-budget.ts';
import type { ResponderStanding } from '../evidence/ocsp.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { isSameEntity } from '../x509/path-search.ts';
import type { ListedProvider, ListedService, ServiceEntry, TrustedList } from './trusted-list.ts';

const SERVICE_TYPE = 'http://uri.etsi.org/TrstSvc/Svctype/';
/** Issues qualified certificates. */
export const CA_QC: string = `${SERVICE_TYPE}CA/QC`;
/** Issues qualified time-stamps. */
export const TSA_QTST: string = `${SERVICE_TYPE}TSA/QTST`;
/** Says whether qualified certificates were revoked. */
const OCSP_QC = `${SERVICE_TYPE}Certstatus/OCSP/QC`;
const OCSP = `${SERVICE_TYPE}Certstatus/OCSP`;

/** Services that stand on a path, and those that answer beside it: of these, none leads to another certificate. */
const ON_PATHS: ReadonlySet<string> = new Set([CA_QC, TSA_QTST]);
const RESPONDERS: ReadonlySet<string> = new Set([OCSP_QC, OCSP]);

/** 2016-07-01 in Brussels, when Regulation (EU) 910/2014 applied. Milliseconds since the epoch. */
export const REGULATION_FROM = Date.UTC(2016, 5, 30, 22);

export interface MatchedService {
  readonly provider: Pick<ListedProvider, 'names'>;
  readonly service: Pick<ListedService, 'name' | 'entries'>;
  /** It issued the certificate itself: no authority stands between. */
  readonly isIssuer: boolean;
}

interface IndexedService extends Omit<MatchedService, 'isIssuer'> {
  readonly certificate: Certificate;
}

/** `other`: a state that nothing is concluded from. */
export type ServiceState = 'granted' | 'withdrawn' | 'other';

const STATUS = 'http://uri.etsi.org/TrstSvc/TrustedList/Svcstatus/';

/** State under the regulation and under the directive before it, by status; what is not named is `other`. */
const STATES: ReadonlyMap<string, readonly [regulation: ServiceState, directive: ServiceState]> = new Map([
  [`${STATUS}granted`, ['granted', 'other']],
  [`${STATUS}withdrawn`, ['withdrawn', 'withdrawn']],
  [`${STATUS}undersupervision`, ['other', 'granted']],
  [`${STATUS}supervisionincessation`, ['other', 'granted']],
  [`${STATUS}accredited`, ['other', 'granted']],
  [`${STATUS}supervisionceased`, ['other', 'withdrawn']],
  [`${STATUS}supervisionrevoked`, ['other', 'withdrawn']],
  [`${STATUS}accreditationceased`, ['other', 'withdrawn']],
  [`${STATUS}accreditationrevoked`, ['other', 'withdrawn']],
]);

/** State at a time, milliseconds since the epoch. */
export function stateOf({ status }: Pick<ServiceEntry, 'status'>, time: number): ServiceState {
  return STATES.get(status)?.[time >= REGULATION_FROM ? 0 : 1] ?? 'other';
}

/**
 * Entry that holds at a time; undefined before the first. `disordered` when the entries do not follow each other, newest
 * first: then nothing is concluded (PRO-4.3.4-03A).
 */
export function entryAt(
  { entries }: Pick<ListedService, 'entries'>,
  time: number,
): ServiceEntry | 'disordered' | undefined {
  if (entries.some(({ since }, index) => index > 0 && since >= (entries[index - 1]?.since ?? 0)))
    return 'disordered';
  return entries.find(({ since }) => since <= time);
}

type Index = ReadonlyMap<string, readonly IndexedService[]>;

const indexes = new WeakMap<TrustedList, Map<ReadonlySet<string>, Index>>();

/** Services by the key of their subject. Certificates that are not read belong to services that nobody matches. */
function indexOf(list: TrustedList, wanted: ReadonlySet<string> = ON_PATHS): Index {
  const ofList = indexes.get(list) ?? new Map<ReadonlySet<string>, Index>();
  indexes.set(list, ofList);
  const known = ofList.get(wanted);
  if (known !== undefined) return known;
  const all = list.providers.flatMap((provider) =>
    provider.services
      .filter(({ entries }) => entries.some(({ type }) => wanted.has(type)))
      .flatMap((service) =>
        service.certificates
          .flatMap(readableCertificates)
          .map((certificate) => ({ provider, service, certificate })),
      ),
  );
  const index = new Map<string, IndexedService[]>();
  for (const one of all) {
    const same = index.get(one.certificate.subjectKey);
    if (same === undefined) index.set(one.certificate.subjectKey, [one]);
    else same.push(one);
  }
  ofList.set(wanted, index);
  return index;
}

/** Signatures of certificates that are checked for one certificate; paths have three or four. */
const MAX_CHECKED = 256;
/** Cost of one of them. */
const STEPS_PER_CHECK = 100;
/** Certificates whose names are compared in one step. */
const NAMES_PER_STEP = 20;

interface SearchRequest {
  readonly certificate: Certificate;
  /** Certificates that may stand above it; untrusted. */
  readonly others: readonly Certificate[];
  readonly list: TrustedList;
  readonly work?: WorkBudget | undefined;
}

interface FoundServices {
  readonly services: readonly MatchedService[];
  /** False when there were more certificates than are tried, so that services may be missing. */
  readonly isComplete: boolean;
}

/** A name with its key, in all certificates that were issued for it. */
interface Entity {
  readonly certificates: readonly Certificate[];
  /** Certificates below it until that of the signer. */
  readonly depth: number;
}

/**
 * Finds the services whose key and name a certificate or an authority above it has. Paths of all lengths count, not that
 * up to the first anchor alone. Authorities come from the list, then from `others`: only those that may issue certificates.
 */
export function servicesBehind({ certificate, others, list, work }: SearchRequest): FoundServices {
  const index = indexOf(list);
  const all = new Map<string, Certificate[]>();
  const mayIssue = (one: Certificate): boolean =>
    (one.ca && one.keyUsage?.keyCertSign !== false) ||
    (index.get(one.subjectKey) ?? []).some((listed) => isSameEntity(listed.certificate, one));
  const known = (name: string): readonly Certificate[] => {
    const found = all.get(name);
    if (found !== undefined) return found;
    const listed = (index.get(name) ?? []).map((one) => one.certificate);
    const named = [...listed, ...others.filter((one) => one.subjectKey === name && mayIssue(one))];
    all.set(name, named);
    return named;
  };
  const found = new Map<MatchedService['service'], MatchedService>();
  const seen = new Set([entityOf(certificate)]);
  const left: Entity[] = [{ certificates: [certificate], depth: 0 }];
  let checked = 0;
  for (const { certificates, depth } of left) {
    for (const { provider, service } of servicesOf(certificates[0], index)) {
      const isIssuer = depth === 1 || found.get(service)?.isIssuer === true;
      found.set(service, { provider, service, isIssuer });
    }
    for (const member of certificates) {
      if (work?.trySpend(others.length / NAMES_PER_STEP) === false)
        return { services: [...found.values()], isComplete: false };
      for (const issuer of known(member.issuerKey)) {
        if (seen.has(entityOf(issuer))) continue;
        if (++checked > MAX_CHECKED || work?.trySpend(STEPS_PER_CHECK) === false)
          return { services: [...found.values()], isComplete: false };
        if (!member.signedBy(issuer)) continue;
        seen.add(entityOf(issuer));
        const same = known(issuer.subjectKey).filter((one) => isSameEntity(one, issuer));
        left.push({ certificates: same, depth: depth + 1 });
      }
    }
  }
  return { services: [...found.values()], isComplete: true };
}

function servicesOf(
  member: Certificate | undefined,
  index: ReadonlyMap<string, readonly IndexedService[]>,
): readonly IndexedService[] {
  if (member === undefined) return [];
  return (index.get(member.subjectKey) ?? []).filter((one) => isSameEntity(one.certificate, member));
}

function entityOf({ subjectKey, publicKeyInfo }: Certificate): string {
  return `${subjectKey} ${publicKeyInfo.toString('base64')}`;
}

/** Prefix of what a list says further of a service. */
export const INFORMATION = 'http://uri.etsi.org/TrstSvc/TrustedList/SvcInfoExt/';
/** One of them must stand at a service whose certificates sign documents, since the regulation. */
const FOR_DOCUMENTS: readonly string[] = [`${INFORMATION}ForeSignatures`, `${INFORMATION}ForeSeals`];

/** True for a service of that type in good standing. @param time milliseconds since the epoch */
export function isGranted(service: Pick<ListedService, 'entries'>, type: string, time: number): boolean {
  const entry = entryAt(service, time);
  if (typeof entry !== 'object' || entry.type !== type || entry.isUnread) return false;
  const isForThat =
    type !== CA_QC || time < REGULATION_FROM || entry.information.some((one) => FOR_DOCUMENTS.includes(one));
  return isForThat && stateOf(entry, time) === 'granted';
}

/**
 * Certificates of services of a type that were in good standing at each of the times: paths may end there. Those of another
 * name than the certificate and the authorities above it do not help, so they are left out.
 */
export function anchorsIn(
  list: TrustedList,
  type: string,
  { times, names }: { readonly times: readonly number[]; readonly names: ReadonlySet<string> },
): Certificate[] {
  return [...names]
    .flatMap((name) => indexOf(list).get(name) ?? [])
    .filter(({ service }) => times.every((time) => isGranted(service, type, time)))
    .map(({ certificate }) => certificate);
}

/**
 * Standing of an OCSP responder at a time, milliseconds since the epoch. It is granted for certificates below a service of
 * its own provider; any entry that withdraws it counts before one that grants it.
 * @param issuers the issuer of a certificate that it answers about, and those above
 */
export function standingOf(
  list: TrustedList,
  responder: Certificate,
  issuers: readonly Certificate[],
  time: number,
): ResponderStanding {
  const entries = servicesOf(responder, indexOf(list, RESPONDERS)).flatMap(({ provider, service }) => {
    const entry = entryAt(service, time);
    return typeof entry === 'object' && RESPONDERS.has(entry.type) ? [{ provider, entry }] : [];
  });
  if (entries.some(({ entry }) => stateOf(entry, time) === 'withdrawn')) return 'withdrawn';
  const providers = issuers.flatMap((issuer) =>
    servicesOf(issuer, indexOf(list)).flatMap(({ provider, service }) =>
      service.entries.some(({ type }) => type === CA_QC) ? [provider] : [],
    ),
  );
  const isGrantedHere = entries.some(
    ({ provider, entry }) =>
      entry.type === OCSP_QC &&
      !entry.isUnread &&
      stateOf(entry, time) === 'granted' &&
      providers.includes(provider),
  );
  return isGrantedHere ? 'granted' : 'unlisted';
}
