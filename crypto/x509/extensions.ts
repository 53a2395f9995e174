/** Extensions of an X.509 v3 certificate (RFC 5280 §4.2) that path validation, revocation and reports use. */
import {
  Asn1Error,
  Cursor,
  childrenOf,
  contents,
  type Element,
  enter,
  octets,
  oidText,
  readWhole,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { sequence, tlv } from '../asn1/write.ts';
import { type GeneralName, httpUrls, nameKey, readGeneralName, readGeneralNames } from './names.ts';

/** DistributionPointName: full names, or a name relative to the issuer of the CRL. */
interface PointName {
  readonly full: readonly GeneralName[];
  /** Content of the RelativeDistinguishedName. */
  readonly relative: Buffer | undefined;
}

/** DistributionPoint (RFC 5280 §4.2.1.13, §5.2.5): names under which a CA publishes partial revocation lists. */
export interface CrlPoint {
  /** Undefined: the CRL issuer alone identifies the point. */
  readonly name: PointName | undefined;
  /** Bits of ReasonFlags, the first one highest; undefined: all. */
  readonly reasons: number | undefined;
  /** DER of the names of its CRL issuers; empty: the issuer of the certificate. */
  readonly crlIssuers: readonly Buffer[];
}

/** All reasons of a list: bits 1 to 8; bit 0 is unused. */
export const ALL_REASONS = 0x7f80;
/** ReasonFlags certificateHold (RFC 5280 §4.2.1.13). */
export const HOLD_REASON = 0x0200;

/**
 * Reads cRLDistributionPoints. @throws {Asn1Error}
 *     CRLDistributionPoints ::= SEQUENCE OF DistributionPoint
 *     DistributionPoint ::= SEQUENCE {
 *      distributionPoint  [0] EXPLICIT DistributionPointName OPTIONAL,
 *      reasons            [1] IMPLICIT ReasonFlags OPTIONAL,
 *      cRLIssuer          [2] IMPLICIT GeneralNames OPTIONAL }
 */
export function readCrlPoints(value: Element): CrlPoint[] {
  return elementsOf(value).map((point) => {
    const fields = enter(point, TAG.sequence);
    const name = fields.nextIf(TAG.context0Constructed);
    const reasons = fields.nextIf(0x81);
    const issuers = fields.nextIf(0xa2);
    fields.end();
    return {
      name: name === undefined ? undefined : readPointName(name),
      reasons: reasons === undefined ? undefined : readReasonFlags(reasons),
      crlIssuers: (issuers === undefined ? [] : readGeneralNames(issuers)).flatMap((one) =>
        one.kind === 'directory' ? [one.name] : [],
      ),
    };
  });
}

/**
 * Reads a DistributionPointName. @param element the [0] around the choice. @throws {Asn1Error}
 *     DistributionPointName ::= CHOICE {
 *      fullName                 [0] IMPLICIT GeneralNames,
 *      nameRelativeToCRLIssuer  [1] IMPLICIT RelativeDistinguishedName }
 */
export function readPointName(element: Element): PointName {
  const cursor = new Cursor(element);
  const full = cursor.nextIf(TAG.context0Constructed);
  if (full !== undefined) return { full: readGeneralNames(full), relative: undefined };
  const relative = cursor.nextIf(TAG.context1Constructed);
  if (relative === undefined) throw new Asn1Error('a distribution point has no name', element.start);
  return { full: [], relative: contents(relative) };
}

/** Returns the BIT STRING as a number. */
export function readReasonFlags(element: Element): number {
  const [, first = 0, second = 0] = contents(element);
  return ((first << 8) | second) & ALL_REASONS;
}

/** Returns the addresses of points without a separate CRL issuer. */
export function pointUrls(points: readonly CrlPoint[]): string[] {
  return points.flatMap(({ name, reasons, crlIssuers }) =>
    reasons === undefined && crlIssuers.length === 0 ? httpUrls(name?.full ?? []) : [],
  );
}

/** Returns keys that are equal for matching names. @param issuer DER of the name that completes relative ones */
export function comparableNames({ full, relative }: PointName, issuer: Buffer): string[] {
  if (relative !== undefined) return [directory(completed(issuer, relative))];
  return full.flatMap((name) =>
    name.kind === 'directory' ? [directory(name.name)] : name.kind === 'uri' ? [`uri ${name.text}`] : [],
  );
}

export function directory(name: Buffer): string {
  return `directory ${nameKey(name)}`;
}

function completed(issuer: Buffer, relative: Buffer): Buffer {
  return sequence(contents(readWhole(issuer)), tlv(TAG.set, relative));
}

/** Reads values of certificate extensions (RFC 5280 §4.2.1, §4.2.2). */
interface KeyUsage {
  readonly digitalSignature: boolean;
  readonly nonRepudiation: boolean;
  readonly keyEncipherment: boolean;
  readonly dataEncipherment: boolean;
  readonly keyAgreement: boolean;
  readonly keyCertSign: boolean;
  readonly cRLSign: boolean;
}

interface PolicyMapping {
  readonly issuer: string;
  readonly subject: string;
}

/** Permitted and excluded subtrees (RFC 5280 §4.2.1.10). */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

/** Returns the elements of a SEQUENCE OF. @throws {Asn1Error} */
function elementsOf(value: Element): Element[] {
  if (value.tag !== TAG.sequence) throw new Asn1Error('extension malformed', value.start);
  return childrenOf(value);
}

/**
 * Reads basicConstraints (RFC 5280 §4.2.1.9). @throws {Asn1Error}
 *     BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER OPTIONAL }
 */
function readBasicConstraints(value: Element): {
  readonly ca: boolean;
  readonly pathLength: number | undefined;
} {
  const fields = enter(value, TAG.sequence);
  const authority = fields.nextIf(TAG.boolean);
  const length = fields.nextIf(TAG.integer);
  return {
    ca: authority !== undefined && contents(authority)[0] !== 0,
    pathLength: length === undefined ? undefined : smallInteger(length),
  };
}

/**
 * Reads keyUsage, without encipherOnly and decipherOnly (RFC 5280 §4.2.1.3). @throws {Asn1Error}
 *     KeyUsage ::= BIT STRING { digitalSignature(0), nonRepudiation(1), keyEncipherment(2), dataEncipherment(3),
 *      keyAgreement(4), keyCertSign(5), cRLSign(6), encipherOnly(7), decipherOnly(8) }
 */
function readKeyUsage(element: Element): KeyUsage {
  if (element.tag !== TAG.bitString) throw new Asn1Error('key usage malformed', element.start);
  const bits = contents(element)[1] ?? 0;
  return {
    digitalSignature: (bits & 0x80) !== 0,
    nonRepudiation: (bits & 0x40) !== 0,
    keyEncipherment: (bits & 0x20) !== 0,
    dataEncipherment: (bits & 0x10) !== 0,
    keyAgreement: (bits & 0x08) !== 0,
    keyCertSign: (bits & 0x04) !== 0,
    cRLSign: (bits & 0x02) !== 0,
  };
}

/**
 * Reads nameConstraints (RFC 5280 §4.2.1.10). @throws {Asn1Error}
 *     NameConstraints ::= SEQUENCE {
 *      permittedSubtrees  [0] IMPLICIT SEQUENCE OF GeneralSubtree OPTIONAL,
 *      excludedSubtrees   [1] IMPLICIT SEQUENCE OF GeneralSubtree OPTIONAL }
 */
function readNameConstraints(value: Element): NameConstraints {
  const fields = enter(value, TAG.sequence);
  const permitted = fields.nextIf(TAG.context0Constructed);
  const excluded = fields.nextIf(TAG.context1Constructed);
  fields.end();
  return { permitted: readSubtrees(permitted), excluded: readSubtrees(excluded) };
}

/**
 * Reads subtrees; minimum is 0 and maximum absent in this profile (RFC 5280 §4.2.1.10).
 *     GeneralSubtree ::= SEQUENCE { base GeneralName, minimum [0] INTEGER DEFAULT 0, maximum [1] INTEGER OPTIONAL }
 */
function readSubtrees(element: Element | undefined): GeneralName[] {
  return (element === undefined ? [] : childrenOf(element)).map((subtree) => {
    const fields = enter(subtree, TAG.sequence);
    const name = readGeneralName(fields.next());
    const minimum = fields.nextIf(TAG.context0);
    if (minimum !== undefined && contents(minimum).some((octet) => octet !== 0)) {
      throw new Asn1Error('a name constraint has a minimum', subtree.start);
    }
    fields.end();
    return name;
  });
}

/**
 * Reads policyMappings (RFC 5280 §4.2.1.5). @throws {Asn1Error}
 *     PolicyMappings ::= SEQUENCE OF SEQUENCE { issuerDomainPolicy CertPolicyId, subjectDomainPolicy CertPolicyId }
 */
function readPolicyMappings(value: Element): PolicyMapping[] {
  return elementsOf(value).map((mapping) => {
    const fields = enter(mapping, TAG.sequence);
    return { issuer: oidText(fields.next()), subject: oidText(fields.next()) };
  });
}

/**
 * Reads policyConstraints (RFC 5280 §4.2.1.11). @throws {Asn1Error}
 *     PolicyConstraints ::= SEQUENCE {
 *      requireExplicitPolicy  [0] IMPLICIT INTEGER OPTIONAL,
 *      inhibitPolicyMapping   [1] IMPLICIT INTEGER OPTIONAL }
 */
function readPolicyConstraints(value: Element): {
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
} {
  const fields = enter(value, TAG.sequence);
  const explicit = fields.nextIf(TAG.context0);
  const mapping = fields.nextIf(TAG.context0 + 1);
  fields.end();
  // Implicit tags: read the elements as INTEGERs.
  const count = (element: Element | undefined) =>
    element === undefined ? undefined : smallInteger({ ...element, tag: TAG.integer });
  return { requireExplicitPolicy: count(explicit), inhibitPolicyMapping: count(mapping) };
}

const OCSP_ACCESS = '1.3.6.1.5.5.7.48.1';
const ISSUER_ACCESS = '1.3.6.1.5.5.7.48.2';

/**
 * Reads authorityInfoAccess (RFC 5280 §4.2.2.1). @throws {Asn1Error}
 *     AuthorityInfoAccessSyntax ::= SEQUENCE OF SEQUENCE {
 *      accessMethod OBJECT IDENTIFIER, accessLocation GeneralName }
 */
function readAuthorityInformation(value: Element): {
  readonly ocspUrls: readonly string[];
  readonly issuerUrls: readonly string[];
} {
  const descriptions = elementsOf(value).map((description) => {
    const fields = enter(description, TAG.sequence);
    return { method: oidText(fields.next()), location: readGeneralName(fields.next()) };
  });
  const at = (wanted: string) =>
    httpUrls(descriptions.flatMap(({ method, location }) => (method === wanted ? [location] : [])));
  return { ocspUrls: at(OCSP_ACCESS), issuerUrls: at(ISSUER_ACCESS) };
}

export interface CertificateExtensions {
  /** From basicConstraints; `pathLength` is the number of CA certificates permitted below. */
  readonly ca: boolean;
  /** False for certificates of versions 1 and 2, which have none. */
  readonly hasExtensions: boolean;
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
  /** Dotted identifiers of qcStatements (EN 319 412-5). */
  readonly statements: readonly string[];
  /** Dotted identifiers in QcType, and capitals of the countries in QcCClegislation; none when absent. */
  readonly statedTypes: readonly string[];
  readonly statedCountries: readonly string[];
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
  ['1.3.6.1.5.5.7.1.3', readStatements],
  ['1.3.6.1.5.5.7.48.1.5', () => ({ ocspNoCheck: true })],
]);

const QC_TYPE = '0.4.0.1862.1.6';
const QC_LEGISLATION = '0.4.0.1862.1.7';

/**
 * Reads qcStatements (RFC 3739 §3.2.6; EN 319 412-5 §4.2.3, §4.2.4). @throws {Asn1Error}
 *     QCStatements ::= SEQUENCE OF SEQUENCE { statementId OBJECT IDENTIFIER, statementInfo ANY OPTIONAL }
 *     QcType ::= SEQUENCE OF OBJECT IDENTIFIER
 *     QcCClegislation ::= SEQUENCE OF PrintableString
 */
function readStatements(value: Element): Partial<CertificateExtensions> {
  const read = elementsOf(value).map((statement) => {
    const [id, information] = childrenOf(statement);
    if (id === undefined) throw new Asn1Error('a statement has no identifier', statement.start);
    return { id: oidText(id), information };
  });
  const listed = (wanted: string) =>
    read.flatMap(({ id, information }) =>
      id === wanted && information !== undefined ? elementsOf(information) : [],
    );
  return {
    statements: read.map(({ id }) => id),
    statedTypes: listed(QC_TYPE).map(oidText),
    statedCountries: listed(QC_LEGISLATION).map((one) => contents(one).toString('latin1').toUpperCase()),
  };
}

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
  hasExtensions: false,
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
  statedTypes: [],
  statedCountries: [],
  unknownCritical: [],
};

/**
 * Reads all extensions of a certificate.
 * @param elements the Extension elements; none for a certificate without them
 * @throws {Asn1Error} when an essential one is malformed, or any appears twice
 */
export function readExtensions(elements: readonly Element[]): CertificateExtensions {
  const found: CertificateExtensions = { ...ABSENT, hasExtensions: elements.length > 0 };
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
