/** Extensions of an X.509 v3 certificate (RFC 5280 §4.2) that path validation, revocation and reports use. */
import {
  Asn1Error,
  contents,
  type Element,
  enter,
  octets,
  oidText,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { type CrlPoint, pointUrls, readCrlPoints } from './distribution-points.ts';
import {
  elementsOf,
  type KeyUsage,
  type NameConstraints,
  type PolicyMapping,
  readAuthorityInformation,
  readBasicConstraints,
  readKeyUsage,
  readNameConstraints,
  readPolicyConstraints,
  readPolicyMappings,
} from './extension-values.ts';
import { type GeneralName, readGeneralName } from './names.ts';

export type { KeyUsage, NameConstraints } from './extension-values.ts';

export interface CertificateExtensions {
  /** From basicConstraints; `pathLength` is the number of CA certificates permitted below. */
  readonly ca: boolean;
  readonly pathLength: number | undefined;
  /** From keyUsage; undefined when the extension is absent. */
  readonly keyUsage: KeyUsage | undefined;
  /** Dotted purposes of extendedKeyUsage; undefined when absent. */
  readonly extendedKeyUsage: readonly string[] | undefined;
  readonly extendedKeyUsageCritical: boolean;
  /** Value of subjectKeyIdentifier; undefined when absent. */
  readonly subjectKeyId: Buffer | undefined;
  /** keyIdentifier of authorityKeyIdentifier; undefined when absent. */
  readonly authorityKeyId: Buffer | undefined;
  readonly alternativeNames: readonly GeneralName[];
  /** http and https addresses: OCSP responders, the issuer's certificate, CRLs. */
  readonly ocspUrls: readonly string[];
  readonly issuerUrls: readonly string[];
  readonly crlUrls: readonly string[];
  /** From cRLDistributionPoints; none when absent. */
  readonly crlPoints: readonly CrlPoint[];
  /** http and https addresses of delta CRLs, from freshestCRL (§4.2.1.15). */
  readonly freshestCrlUrls: readonly string[];
  /** Dotted certificate policies; undefined when the extension is absent. */
  readonly policies: readonly string[] | undefined;
  readonly policyMappings: readonly PolicyMapping[];
  /** Certificates that may follow before a policy must be explicit, before mappings end, before anyPolicy ends. */
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
  readonly inhibitAnyPolicy: number | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  /** id-pkix-ocsp-nocheck (RFC 6960 §4.2.2.2.1): the revocation of this responder is not checked. */
  readonly ocspNoCheck: boolean;
  /** Dotted identifiers of qcStatements (EN 319 412-5); reported, not judged. */
  readonly statements: readonly string[];
  /** Dotted identifiers of critical extensions that are not supported. */
  readonly unknownCritical: readonly string[];
}

/** Reads the value of one extension. @throws {Asn1Error} */
type Reader = (value: Element, critical: boolean) => Partial<CertificateExtensions>;

/**
 * Extensions that path validation depends on: when one is malformed, the certificate is malformed.
 * All of them are supported when critical.
 */
const ESSENTIAL: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['2.5.29.14', (value) => ({ subjectKeyId: octets(value) })],
  ['2.5.29.15', (value) => ({ keyUsage: readKeyUsage(value) })],
  ['2.5.29.17', (value) => ({ alternativeNames: elementsOf(value).map(readGeneralName) })],
  ['2.5.29.19', readBasicConstraints],
  ['2.5.29.30', (value) => ({ nameConstraints: readNameConstraints(value) })],
  ['2.5.29.32', (value) => ({ policies: elementsOf(value).map(firstIdentifier) })],
  ['2.5.29.33', (value) => ({ policyMappings: readPolicyMappings(value) })],
  ['2.5.29.36', readPolicyConstraints],
  [
    '2.5.29.37',
    (value, critical) => ({
      extendedKeyUsage: elementsOf(value).map(oidText),
      extendedKeyUsageCritical: critical,
    }),
  ],
  ['2.5.29.54', (value) => ({ inhibitAnyPolicy: smallInteger(value) })],
]);

/** Extensions that only help to find values, or are for people: malformed ones are treated as absent. */
const NON_ESSENTIAL: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['2.5.29.31', (value) => pointsOf(readCrlPoints(value))],
  ['2.5.29.35', (value) => ({ authorityKeyId: readAuthorityKeyId(value) })],
  ['2.5.29.46', (value) => ({ freshestCrlUrls: pointUrls(readCrlPoints(value)) })],
  ['1.3.6.1.5.5.7.1.1', readAuthorityInformation],
  ['1.3.6.1.5.5.7.1.3', (value) => ({ statements: elementsOf(value).map(firstIdentifier) })],
  ['1.3.6.1.5.5.7.48.1.5', () => ({ ocspNoCheck: true })],
]);

function firstIdentifier(element: Element): string {
  return oidText(enter(element, TAG.sequence).next());
}

function pointsOf(crlPoints: readonly CrlPoint[]): Partial<CertificateExtensions> {
  return { crlPoints, crlUrls: pointUrls(crlPoints) };
}

/**
 * Reads the key identifier of authorityKeyIdentifier (RFC 5280 §4.2.1.1).
 *     AuthorityKeyIdentifier ::= SEQUENCE {
 *      keyIdentifier  [0] IMPLICIT OCTET STRING OPTIONAL,
 *      authorityCertIssuer [1] …, authorityCertSerialNumber [2] … }
 */
function readAuthorityKeyId(value: Element): Buffer | undefined {
  const id = enter(value, TAG.sequence).nextIf(TAG.context0);
  return id === undefined ? undefined : contents(id);
}

const ABSENT: CertificateExtensions = {
  ca: false,
  pathLength: undefined,
  keyUsage: undefined,
  extendedKeyUsage: undefined,
  extendedKeyUsageCritical: false,
  subjectKeyId: undefined,
  authorityKeyId: undefined,
  alternativeNames: [],
  ocspUrls: [],
  issuerUrls: [],
  crlUrls: [],
  crlPoints: [],
  freshestCrlUrls: [],
  policies: undefined,
  policyMappings: [],
  requireExplicitPolicy: undefined,
  inhibitPolicyMapping: undefined,
  inhibitAnyPolicy: undefined,
  nameConstraints: undefined,
  ocspNoCheck: false,
  statements: [],
  unknownCritical: [],
};

/**
 * Reads all extensions of a certificate.
 * @param elements the Extension elements; none for a certificate without them
 * @throws {Asn1Error} when an essential one is malformed, or any appears twice
 */
export function readExtensions(elements: readonly Element[]): CertificateExtensions {
  const found: CertificateExtensions = { ...ABSENT };
  const unknownCritical: string[] = [];
  for (const { id, critical, value } of splitExtensions(elements)) {
    const essential = ESSENTIAL.get(id);
    const nonEssential = NON_ESSENTIAL.get(id);
    if (essential !== undefined) Object.assign(found, essential(readWhole(value), critical));
    else if (nonEssential !== undefined) Object.assign(found, readIfPossible(nonEssential, value, critical));
    else if (critical) unknownCritical.push(id);
  }
  return { ...found, unknownCritical };
}

function readIfPossible(reader: Reader, value: Buffer, critical: boolean): Partial<CertificateExtensions> {
  try {
    return reader(readWhole(value), critical);
  } catch (error) {
    if (critical) throw error;
    return {};
  }
}

/** One extension of a certificate, a CRL or an OCSP response. */
export interface Extension {
  /** Dotted. */
  readonly id: string;
  readonly critical: boolean;
  /** Contents of extnValue. */
  readonly value: Buffer;
}

/**
 * Reads Extensions (RFC 5280 §4.1.2.9). @throws {Asn1Error} also when one appears twice (§4.2)
 *     Extensions ::= SEQUENCE OF SEQUENCE {
 *      extnID OBJECT IDENTIFIER, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING }
 */
export function splitExtensions(elements: readonly Element[]): Extension[] {
  const seen = new Set<string>();
  return elements.map((element) => {
    const parts = enter(element, TAG.sequence);
    const id = oidText(parts.next());
    if (seen.has(id)) throw new Asn1Error('an extension appears twice', element.start);
    seen.add(id);
    const flag = parts.nextIf(TAG.boolean);
    return { id, critical: flag !== undefined && contents(flag)[0] !== 0, value: octets(parts.next()) };
  });
}
