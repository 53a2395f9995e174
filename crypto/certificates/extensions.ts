/** Extensions of an X.509 v3 certificate (RFC 5280 §4.2), as far as paths, revocation and people need them. */
import { Asn1Error } from '../asn1/error.ts';
import {
  Cursor,
  childrenOf,
  contents,
  type Element,
  enter,
  octets,
  oidText,
  readWhole,
  smallInteger,
} from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { type GeneralName, httpUrls, readGeneralName, readGeneralNames } from './general-names.ts';

export interface CertificateExtensions {
  /** From basicConstraints; `pathLength` counts the CA certificates allowed below. */
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
  /** Dotted certificate policies; undefined when the extension is absent. */
  readonly policies: readonly string[] | undefined;
  readonly policyMappings: readonly PolicyMapping[];
  /** Certificates that may follow before a policy must be explicit, before mappings stop, before anyPolicy stops. */
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
  readonly inhibitAnyPolicy: number | undefined;
  readonly nameConstraints: NameConstraints | undefined;
  /** id-pkix-ocsp-nocheck (RFC 6960 §4.2.2.2.1): the revocation of this responder is not looked at. */
  readonly ocspNoCheck: boolean;
  /** Dotted identifiers of qcStatements (EN 319 412-5), noted and not judged. */
  readonly statements: readonly string[];
  /** Dotted identifiers of critical extensions this file doesn't understand. */
  readonly unknownCritical: readonly string[];
}

export interface KeyUsage {
  readonly digitalSignature: boolean;
  readonly nonRepudiation: boolean;
  readonly keyEncipherment: boolean;
  readonly dataEncipherment: boolean;
  readonly keyAgreement: boolean;
  readonly keyCertSign: boolean;
  readonly cRLSign: boolean;
}

export interface PolicyMapping {
  readonly issuer: string;
  readonly subject: string;
}

/** RFC 5280 §4.2.1.10. */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

type Draft = { -readonly [name in keyof CertificateExtensions]: CertificateExtensions[name] };

/** Reads the value of one extension into the draft. @throws {Asn1Error} */
type Reader = (draft: Draft, value: Element, critical: boolean) => void;

/**
 * The extensions that a path or a verdict rests on: malformed, the whole certificate is.
 * All of them count as understood when critical.
 */
const ESSENTIAL: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['2.5.29.19', readBasicConstraints],
  [
    '2.5.29.15',
    (draft, value) => {
      draft.keyUsage = readKeyUsage(value);
    },
  ],
  [
    '2.5.29.37',
    (draft, value, critical) => {
      draft.extendedKeyUsage = elementsOf(value).map(oidText);
      draft.extendedKeyUsageCritical = critical;
    },
  ],
  [
    '2.5.29.14',
    (draft, value) => {
      draft.subjectKeyId = octets(value);
    },
  ],
  [
    '2.5.29.17',
    (draft, value) => {
      draft.alternativeNames = elementsOf(value).map(readGeneralName);
    },
  ],
  ['2.5.29.30', readNameConstraints],
  [
    '2.5.29.32',
    (draft, value) => {
      draft.policies = elementsOf(value).map((policy) => oidText(enter(policy, TAG.sequence).take()));
    },
  ],
  ['2.5.29.33', readPolicyMappings],
  ['2.5.29.36', readPolicyConstraints],
  [
    '2.5.29.54',
    (draft, value) => {
      draft.inhibitAnyPolicy = smallInteger(value);
    },
  ],
]);

/** Extensions that only help to find things, or are for people: malformed, they count as absent. */
const HELPFUL: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  [
    '2.5.29.35',
    (draft, value) => {
      const id = enter(value, TAG.sequence).takeIf(TAG.context0);
      if (id !== undefined) draft.authorityKeyId = contents(id);
    },
  ],
  [
    '2.5.29.31',
    (draft, value) => {
      draft.crlUrls = readDistributionPoints(value);
    },
  ],
  ['1.3.6.1.5.5.7.1.1', readAuthorityInformation],
  [
    '1.3.6.1.5.5.7.48.1.5',
    (draft) => {
      draft.ocspNoCheck = true;
    },
  ],
  [
    '1.3.6.1.5.5.7.1.3',
    (draft, value) => {
      draft.statements = elementsOf(value).map((statement) => oidText(enter(statement, TAG.sequence).take()));
    },
  ],
]);

/**
 * @param elements the Extension elements; none for a certificate without them
 * @throws {Asn1Error} when one that matters is malformed, or any appears twice
 */
export function readExtensions(elements: readonly Element[]): CertificateExtensions {
  const draft: Draft = {
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
  const unknownCritical: string[] = [];
  for (const { id, critical, value } of splitExtensions(elements)) {
    const essential = ESSENTIAL.get(id);
    const helpful = HELPFUL.get(id);
    if (essential !== undefined) essential(draft, readWhole(value), critical);
    else if (helpful !== undefined) readIfPossible(helpful, draft, value, critical);
    else if (critical) unknownCritical.push(id);
  }
  return { ...draft, unknownCritical };
}

function readIfPossible(reader: Reader, draft: Draft, value: Buffer, critical: boolean): void {
  try {
    reader(draft, readWhole(value), critical);
  } catch (error) {
    if (critical) throw error;
  }
}

/** One extension of a certificate, a CRL or an OCSP answer. */
export interface Extension {
  /** Dotted. */
  readonly id: string;
  readonly critical: boolean;
  /** What is inside the OCTET STRING. */
  readonly value: Buffer;
}

/** @throws {Asn1Error} also when one appears twice (RFC 5280 §4.2) */
export function splitExtensions(elements: readonly Element[]): Extension[] {
  const seen = new Set<string>();
  return elements.map((element) => {
    const parts = enter(element, TAG.sequence);
    const id = oidText(parts.take());
    if (seen.has(id)) throw new Asn1Error('an extension appears twice', element.start);
    seen.add(id);
    const flag = parts.takeIf(TAG.boolean);
    return { id, critical: flag !== undefined && contents(flag)[0] !== 0, value: octets(parts.take()) };
  });
}

/** Elements of a SEQUENCE OF. @throws {Asn1Error} */
function elementsOf(value: Element): Element[] {
  if (value.tag !== TAG.sequence) throw new Asn1Error('extension malformed', value.start);
  return childrenOf(value);
}

function readBasicConstraints(draft: Draft, value: Element): void {
  const fields = enter(value, TAG.sequence);
  const authority = fields.takeIf(TAG.boolean);
  draft.ca = authority !== undefined && contents(authority)[0] !== 0;
  const length = fields.takeIf(TAG.integer);
  if (length !== undefined) draft.pathLength = smallInteger(length);
}

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

function readNameConstraints(draft: Draft, value: Element): void {
  const fields = enter(value, TAG.sequence);
  const permitted = fields.takeIf(TAG.context0Constructed);
  const excluded = fields.takeIf(TAG.context1Constructed);
  fields.end();
  draft.nameConstraints = { permitted: readSubtrees(permitted), excluded: readSubtrees(excluded) };
}

/** GeneralSubtree: minimum is 0 and maximum absent in this profile (RFC 5280 §4.2.1.10). */
function readSubtrees(element: Element | undefined): GeneralName[] {
  return (element === undefined ? [] : childrenOf(element)).map((subtree) => {
    const fields = enter(subtree, TAG.sequence);
    const name = readGeneralName(fields.take());
    const minimum = fields.takeIf(TAG.context0);
    if (minimum !== undefined && contents(minimum).some((octet) => octet !== 0)) {
      throw new Asn1Error('a name constraint has a minimum', subtree.start);
    }
    fields.end();
    return name;
  });
}

function readPolicyMappings(draft: Draft, value: Element): void {
  draft.policyMappings = elementsOf(value).map((mapping) => {
    const fields = enter(mapping, TAG.sequence);
    return { issuer: oidText(fields.take()), subject: oidText(fields.take()) };
  });
}

function readPolicyConstraints(draft: Draft, value: Element): void {
  const fields = enter(value, TAG.sequence);
  const explicit = fields.takeIf(TAG.context0);
  const mapping = fields.takeIf(TAG.context0 + 1);
  fields.end();
  if (explicit !== undefined) draft.requireExplicitPolicy = smallInteger({ ...explicit, tag: TAG.integer });
  if (mapping !== undefined) draft.inhibitPolicyMapping = smallInteger({ ...mapping, tag: TAG.integer });
}

/** Full names of distribution points (RFC 5280 §4.2.1.13); those of other CRL issuers or some reasons are left out. */
function readDistributionPoints(value: Element): string[] {
  return elementsOf(value).flatMap((point) => {
    const fields = enter(point, TAG.sequence);
    const name = fields.takeIf(TAG.context0Constructed);
    if (name === undefined || !fields.done) return [];
    const full = new Cursor(name).takeIf(TAG.context0Constructed);
    return full === undefined ? [] : httpUrls(readGeneralNames(full));
  });
}

const OCSP_ACCESS = '1.3.6.1.5.5.7.48.1';
const ISSUER_ACCESS = '1.3.6.1.5.5.7.48.2';

function readAuthorityInformation(draft: Draft, value: Element): void {
  const descriptions = elementsOf(value).map((description) => {
    const fields = enter(description, TAG.sequence);
    return { method: oidText(fields.take()), location: readGeneralName(fields.take()) };
  });
  const at = (wanted: string) =>
    httpUrls(descriptions.flatMap(({ method, location }) => (method === wanted ? [location] : [])));
  draft.ocspUrls = at(OCSP_ACCESS);
  draft.issuerUrls = at(ISSUER_ACCESS);
}
