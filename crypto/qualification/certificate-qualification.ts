/**
 * Whether a certificate was qualified, for what, and whether its key lies in a qualified device (TS 119 615 §4.4, §4.5).
 * A pure function of the services behind the certificate and two times. What no table names is undetermined.
 */
import { nameFields } from '../x509/names.ts';
import { type JudgedCertificate, meets } from './criteria.ts';
import {
  CA_QC,
  entryAt,
  INFORMATION,
  type MatchedService,
  REGULATION_FROM,
  type ServiceState,
  stateOf,
} from './services.ts';
import type { ServiceEntry } from './trusted-list.ts';

export type CertificateUse = 'signature' | 'seal' | 'web';
export type Answer = 'yes' | 'no' | 'undetermined';

/** Answer of the lists about a certificate. */
export interface CertificateQualification {
  /** Use that it is qualified for; `none`: it is not qualified. */
  readonly qualified: CertificateUse | 'none' | 'undetermined';
  /** For a key in a qualified device. */
  readonly device: Answer;
  /** Use that the certificate itself states. */
  readonly stated: CertificateUse | undefined;
  /** Sentences for people: why, and what was noticed. */
  readonly reasons: readonly string[];
}

/** Prefixes of qualifiers; the second is that of lists before the regulation. */
const QUALIFIER_PREFIXES: readonly string[] = [
  INFORMATION,
  'http://uri.etsi.org/TrstSvc/eSigDir-1999-93-EC-TrustedList/SvcInfoExt/',
];

const QUALIFIERS = [
  'QCStatement',
  'NotQualified',
  'QCForESig',
  'QCForESeal',
  'QCForWSA',
  'QCForLegalPerson',
  'QCWithQSCD',
  'QCNoQSCD',
  'QCQSCDStatusAsInCert',
  'QCQSCDManagedOnBehalf',
  'QCWithSSCD',
  'QCNoSSCD',
  'QCSSCDStatusAsInCert',
] as const;
type Qualifier = (typeof QUALIFIERS)[number];

interface Use {
  /** URI in the list that a service issues for this use. */
  readonly information: string;
  readonly qualifier: Qualifier;
  /** Identifier in QcType. */
  readonly stated: string;
}

const USES: { readonly [use in CertificateUse]: Use } = {
  signature: {
    information: `${INFORMATION}ForeSignatures`,
    qualifier: 'QCForESig',
    stated: '0.4.0.1862.1.6.1',
  },
  seal: { information: `${INFORMATION}ForeSeals`, qualifier: 'QCForESeal', stated: '0.4.0.1862.1.6.2' },
  web: {
    information: `${INFORMATION}ForWebSiteAuthentication`,
    qualifier: 'QCForWSA',
    stated: '0.4.0.1862.1.6.3',
  },
};
const ALL_USES: readonly CertificateUse[] = ['signature', 'seal', 'web'];

const COMPLIANCE = '0.4.0.1862.1.1';
const IN_DEVICE = '0.4.0.1862.1.4';
/** Policies of the directive: qualified, and qualified with a device. */
const QCP = '0.4.0.1456.1.2';
const QCP_WITH_DEVICE = '0.4.0.1456.1.1';

/** Services behind a certificate, with the list they stand in. */
export interface MatchedServices {
  readonly territory: string;
  readonly services: readonly MatchedService[];
}

/** @param time best proven time of the signature, milliseconds since the epoch */
export function qualifyCertificate(
  certificate: JudgedCertificate,
  matched: MatchedServices,
  time: number,
): CertificateQualification {
  const reasons: string[] = [];
  const stated = statedUse(certificate);
  const fault = providerFault(certificate, matched);
  if (matched.services.length === 0) {
    return { qualified: 'none', device: 'no', stated, reasons: [NOT_LISTED] };
  }
  if (fault !== undefined)
    return { qualified: 'undetermined', device: 'undetermined', stated, reasons: [fault] };
  const atIssuance = judgeAt(certificate, matched, { time: certificate.notBefore, reasons });
  const atUse = judgeAt(certificate, matched, { time, reasons });
  const qualified = agreed(atIssuance.qualified, atUse.qualified, reasons);
  return { qualified, device: atUse.device, stated, reasons: [...new Set(reasons)] };
}

const NOT_LISTED = 'No service on the list of the country issued the certificate.';

/** Both times must give one answer (PRO-4.4.4-34 to -36). */
function agreed(issuance: Judgement, use: Judgement, reasons: string[]): Judgement {
  if (issuance === use) return use;
  const times = 'when the certificate was issued and when it was used';
  if (issuance === 'none' || use === 'none') {
    reasons.push(`It was not qualified both ${times}.`);
    return 'none';
  }
  reasons.push(`The list does not say the same for the time ${times}.`);
  return 'undetermined';
}

type Judgement = CertificateQualification['qualified'];

function statedUse({ statements, statedTypes }: JudgedCertificate): CertificateUse | undefined {
  const uses = ALL_USES.filter((use) => statedTypes.includes(USES[use].stated));
  if (uses.length === 0 && statedTypes.length === 0 && statements.includes(COMPLIANCE)) return 'signature';
  return uses.length === 1 ? uses[0] : undefined;
}

/** Services of differently named providers, or a provider that the certificate does not name as its issuer. */
function providerFault({ issuer }: JudgedCertificate, { services }: MatchedServices): string | undefined {
  const providers = new Set(services.map(({ provider }) => provider.names.map(folded).sort().join('\n')));
  if (providers.size > 1) return 'Services of several providers stand behind the certificate.';
  const { organization } = nameFields(issuer);
  // Issuers for natural persons need not name an organization (EN 319 412-2 §4.2.3.1).
  if (organization === undefined)
    return services.some(({ isIssuer }) => isIssuer)
      ? undefined
      : 'The issuer names no provider, and is no service on the list itself.';
  const isNamed = services.some(({ provider }) =>
    provider.names.some((one) => folded(one) === folded(organization)),
  );
  return isNamed ? undefined : 'The issuer has another name than the provider on the list.';
}

export function folded(name: string): string {
  return name.normalize('NFKC').toLowerCase().trim().replace(/\s+/g, ' ');
}

interface Moment {
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly reasons: string[];
}

function judgeAt(
  certificate: JudgedCertificate,
  { services, territory }: MatchedServices,
  moment: Moment,
): { readonly qualified: Judgement; readonly device: Answer } {
  const { time, reasons } = moment;
  const entries = services.map(({ service }) => entryAt(service, time));
  if (entries.includes('disordered')) {
    reasons.push('The history of a service on the list is out of order.');
    return { qualified: 'undetermined', device: 'undetermined' };
  }
  const issuing = entries.filter((one) => typeof one === 'object').filter(({ type }) => type === CA_QC);
  const country = otherCountry(certificate, territory);
  if (country !== undefined) {
    const name = territoryOf(country) ?? 'another country';
    reasons.push(`The certificate is qualified by the law of ${name}.`);
    return { qualified: 'none', device: 'no' };
  }
  const isRegulated = time >= REGULATION_FROM;
  const answers = ALL_USES.map((use) => {
    const entriesOfUse = isRegulated
      ? issuing.filter(({ information }) => information.includes(USES[use].information))
      : use === 'signature'
        ? issuing
        : [];
    return { use, entries: entriesOfUse, answer: answerFor(certificate, use, entriesOfUse, moment) };
  });
  const positive = answers.filter(({ answer }) => answer === 'yes');
  const [found] = positive;
  const open = answers.some(({ answer }) => answer === 'undetermined');
  if (positive.length > 1) reasons.push('The list makes the certificate qualified for several uses.');
  const qualified = positive.length > 1 ? 'undetermined' : (found?.use ?? (open ? 'undetermined' : 'none'));
  return { qualified, device: deviceAt(certificate, found?.entries ?? issuing, moment) };
}

/** Country whose law makes it qualified, other than that of the list (EN 319 412-5 §4.2.4). */
function otherCountry({ statedCountries }: JudgedCertificate, territory: string): string | undefined {
  return statedCountries.find((country) => territoryOf(country) !== territory);
}

/** Lists of two countries bear other letters than certificates do. */
const TERRITORIES: ReadonlyMap<string, string> = new Map([
  ['GR', 'EL'],
  ['GB', 'UK'],
]);

/** Letters by which lists name a country; undefined for what is none. */
export function territoryOf(country: string): string | undefined {
  const capitals = country.trim().toUpperCase();
  if (!/^[A-Z]{2}$/.test(capitals)) return undefined;
  return TERRITORIES.get(capitals) ?? capitals;
}

function answerFor(
  certificate: JudgedCertificate,
  use: CertificateUse,
  entries: readonly ServiceEntry[],
  { time, reasons }: Moment,
): Answer {
  if (entries.length === 0) return 'no';
  const states = new Set(entries.map((entry): ServiceState => stateOf(entry, time)));
  const [state] = states;
  if (states.size > 1) {
    reasons.push('Services on the list contradict each other.');
    return 'undetermined';
  }
  if (state !== 'granted') {
    reasons.push(`The service was ${state === 'withdrawn' ? 'withdrawn' : 'in another state than granted'}.`);
    return state === 'withdrawn' ? 'no' : 'undetermined';
  }
  const qualifiers = qualifiersOf(certificate, entries, reasons);
  return qualifiers === undefined
    ? 'undetermined'
    : answerOf(certificate, use, qualifiers, time >= REGULATION_FROM);
}

/** Qualifiers that hold for a certificate; undefined when that is not known. */
function qualifiersOf(
  certificate: JudgedCertificate,
  entries: readonly ServiceEntry[],
  reasons: string[],
): ReadonlySet<Qualifier> | undefined {
  const held = new Set<Qualifier>();
  if (entries.some(({ isUnread }) => isUnread)) {
    reasons.push('The list has a critical extension that is not known.');
    return undefined;
  }
  for (const { qualifiers, criteria, isCritical } of entries.flatMap((entry) => entry.qualifications)) {
    const isMet = meets(certificate, criteria);
    if (isMet === false) continue;
    if (isMet === undefined) {
      reasons.push('The list has a criterion that is not known.');
      return undefined;
    }
    for (const uri of qualifiers) {
      const known = qualifierOf(uri);
      if (known !== undefined) held.add(known);
      else {
        reasons.push('The list has a qualifier that is not known.');
        if (isCritical) return undefined;
      }
    }
  }
  return held;
}

function qualifierOf(uri: string): Qualifier | undefined {
  return QUALIFIERS.find((name) => QUALIFIER_PREFIXES.some((prefix) => uri === `${prefix}${name}`));
}

/** Qualifiers that contradict each use. */
const AGAINST: { readonly [use in CertificateUse]: readonly Qualifier[] } = {
  signature: ['QCForESeal', 'QCForWSA', 'QCForLegalPerson'],
  seal: ['QCForESig', 'QCForWSA'],
  web: ['QCForESig', 'QCForESeal'],
};

function answerOf(
  { statements, statedTypes, policies = [] }: JudgedCertificate,
  use: CertificateUse,
  qualifiers: ReadonlySet<Qualifier>,
  isRegulated: boolean,
): Answer {
  const isStated = qualifiers.has('QCStatement');
  if (AGAINST[use].some((one) => qualifiers.has(one))) return 'undetermined';
  if (qualifiers.has('NotQualified')) return isStated ? 'undetermined' : 'no';
  const isCompliant = statements.includes(COMPLIANCE);
  if (!isRegulated) {
    const byPolicy = policies.includes(QCP) || policies.includes(QCP_WITH_DEVICE);
    return isCompliant || isStated || byPolicy ? 'yes' : 'no';
  }
  if (!isCompliant && !isStated) return 'no';
  if (qualifiers.has(USES[use].qualifier)) return 'yes';
  const isNamed = statedTypes.includes(USES[use].stated);
  if (statedTypes.length > 0) return !isNamed ? 'no' : statedTypes.length === 1 ? 'yes' : 'undetermined';
  if (!isCompliant) return 'undetermined';
  return use === 'signature' ? 'yes' : 'no';
}

/** Qualifiers of the directive, each with that of the regulation which must stand beside it since (PRO-4.5.4-04). */
const TWINS: readonly (readonly [Qualifier, Qualifier])[] = [
  ['QCWithSSCD', 'QCWithQSCD'],
  ['QCNoSSCD', 'QCNoQSCD'],
  ['QCSSCDStatusAsInCert', 'QCQSCDStatusAsInCert'],
];

function deviceAt(
  certificate: JudgedCertificate,
  entries: readonly ServiceEntry[],
  { time, reasons }: Moment,
): Answer {
  const qualifiers = qualifiersOf(certificate, entries, reasons);
  if (qualifiers === undefined) return 'undetermined';
  const isRegulated = time >= REGULATION_FROM;
  const isAlone = TWINS.some(([older, newer]) => qualifiers.has(older) && !qualifiers.has(newer));
  const [yes, no, asStated] = isRegulated
    ? ([['QCWithQSCD', 'QCQSCDManagedOnBehalf'], 'QCNoQSCD', 'QCQSCDStatusAsInCert'] as const)
    : ([['QCWithSSCD'], 'QCNoSSCD', 'QCSSCDStatusAsInCert'] as const);
  const isYes = yes.some((one) => qualifiers.has(one));
  const isNo = qualifiers.has(no);
  const contradictions = [isYes, isNo, qualifiers.has(asStated)].filter(Boolean).length > 1;
  if (contradictions || (isRegulated && isAlone)) {
    reasons.push('What the list says about the device contradicts itself.');
    return 'undetermined';
  }
  if (isYes) return 'yes';
  if (isNo) return 'no';
  const byPolicy = !isRegulated && certificate.policies?.includes(QCP_WITH_DEVICE) === true;
  return byPolicy || certificate.statements.includes(IN_DEVICE) ? 'yes' : 'no';
}
