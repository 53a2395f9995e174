/** Reads values of certificate extensions (RFC 5280 §4.2.1, §4.2.2). */
import {
  Asn1Error,
  childrenOf,
  contents,
  type Element,
  enter,
  oidText,
  smallInteger,
  TAG,
} from '../asn1/read.ts';
import { type GeneralName, httpUrls, readGeneralName } from './names.ts';

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

/** Permitted and excluded subtrees (RFC 5280 §4.2.1.10). */
export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
}

/** Returns the elements of a SEQUENCE OF. @throws {Asn1Error} */
export function elementsOf(value: Element): Element[] {
  if (value.tag !== TAG.sequence) throw new Asn1Error('extension malformed', value.start);
  return childrenOf(value);
}

/**
 * Reads basicConstraints (RFC 5280 §4.2.1.9). @throws {Asn1Error}
 *     BasicConstraints ::= SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER OPTIONAL }
 */
export function readBasicConstraints(value: Element): {
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
export function readKeyUsage(element: Element): KeyUsage {
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
export function readNameConstraints(value: Element): NameConstraints {
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
export function readPolicyMappings(value: Element): PolicyMapping[] {
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
export function readPolicyConstraints(value: Element): {
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
export function readAuthorityInformation(value: Element): {
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
