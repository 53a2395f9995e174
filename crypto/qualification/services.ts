/** Services of a national list that stand behind a certificate, and their states over time (TS 119 615 §4.3). */
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import type { ListedProvider, ListedService, ServiceEntry, TrustedList } from './trusted-list.ts';

const SERVICE_TYPE = 'http://uri.etsi.org/TrstSvc/Svctype/';
/** Issues qualified certificates. */
export const CA_QC: string = `${SERVICE_TYPE}CA/QC`;
/** Issues qualified time-stamps. */
export const TSA_QTST: string = `${SERVICE_TYPE}TSA/QTST`;

/** 2016-07-01 in Brussels, when Regulation (EU) 910/2014 applied. Milliseconds since the epoch. */
export const REGULATION_FROM = Date.UTC(2016, 5, 30, 22);

export interface MatchedService {
  readonly provider: Pick<ListedProvider, 'names'>;
  readonly service: Pick<ListedService, 'name' | 'entries'>;
}

interface IndexedService extends MatchedService {
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

const indexes = new WeakMap<TrustedList, ReadonlyMap<string, readonly IndexedService[]>>();

/** Services by the key of their subject. Certificates that are not read belong to services that nobody matches. */
function indexOf(list: TrustedList): ReadonlyMap<string, readonly IndexedService[]> {
  const known = indexes.get(list);
  if (known !== undefined) return known;
  const all = list.providers.flatMap((provider) =>
    provider.services
      .filter(({ entries }) => entries.some(({ type }) => type === CA_QC || type === TSA_QTST))
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
  indexes.set(list, index);
  return index;
}

/** Certificates that may be visited for one certificate; paths have three or four. */
const MAX_VISITED = 64;

/**
 * Finds the services whose key and name a certificate or an authority above it has. Paths of all lengths count, not that
 * up to the first anchor alone. Authorities come from `others` and from the list.
 */
export function servicesBehind(
  certificate: Certificate,
  others: readonly Certificate[],
  list: TrustedList,
): MatchedService[] {
  const index = indexOf(list);
  const found = new Map<MatchedService['service'], MatchedService>();
  const seen = new Set<string>();
  const left = [certificate];
  for (let member = left.pop(); member !== undefined && seen.size < MAX_VISITED; member = left.pop()) {
    if (seen.has(member.fingerprint)) continue;
    seen.add(member.fingerprint);
    const { subjectKey, publicKeyInfo, issuerKey } = member;
    for (const one of index.get(subjectKey) ?? [])
      if (one.certificate.publicKeyInfo.equals(publicKeyInfo)) found.set(one.service, one);
    const issuers = [
      ...(index.get(issuerKey) ?? []).map((one) => one.certificate),
      ...others.filter((other) => other.subjectKey === issuerKey),
    ].slice(0, MAX_VISITED);
    for (const issuer of issuers)
      if (!seen.has(issuer.fingerprint) && member.signedBy(issuer)) left.push(issuer);
  }
  return [...found.values()];
}

/**
 * Certificates of services of a type that were in good standing at a time: paths may end there. Those of another name
 * than the certificate and the authorities above it do not help, so they are left out.
 */
export function anchorsIn(
  list: TrustedList,
  type: string,
  { time, names }: { readonly time: number; readonly names: ReadonlySet<string> },
): Certificate[] {
  return [...names]
    .flatMap((name) => indexOf(list).get(name) ?? [])
    .filter(({ service }) => {
      const entry = entryAt(service, time);
      return typeof entry === 'object' && entry.type === type && stateOf(entry, time) === 'granted';
    })
    .map(({ certificate }) => certificate);
}
