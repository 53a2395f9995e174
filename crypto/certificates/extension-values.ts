/** Values of single extensions of a certificate (RFC 5280 §4.2.1, §4.2.2). */
import { Asn1Error } from '../asn1/error.ts';
import { Cursor, childrenOf, contents, type Element, enter, oidText, smallInteger } from '../asn1/read.ts';
import { TAG } from '../asn1/tags.ts';
import { type GeneralName, httpUrls, readGeneralName, readGeneralNames } from './general-names.ts';

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

/** Elements of a SEQUENCE OF. @throws {Asn1Error} */
export function elementsOf(value: Element): Element[] {
  if (value.tag !== TAG.sequence) throw new Asn1Error('extension malformed', value.start);
  return childrenOf(value);
}

/** @throws {Asn1Error} */
export function readBasicConstraints(value: Element): {
  readonly ca: boolean;
  readonly pathLength: number | undefined;
} {
  const fields = enter(value, TAG.sequence);
  const authority = fields.takeIf(TAG.boolean);
  const length = fields.takeIf(TAG.integer);
  return {
    ca: authority !== undefined && contents(authority)[0] !== 0,
    pathLength: length === undefined ? undefined : smallInteger(length),
  };
}

/** Its nine named bits, but the two about key agreement (RFC 5280 §4.2.1.3). @throws {Asn1Error} */
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

/** @throws {Asn1Error} */
export function readNameConstraints(value: Element): NameConstraints {
  const fields = enter(value, TAG.sequence);
  const permitted = fields.takeIf(TAG.context0Constructed);
  const excluded = fields.takeIf(TAG.context1Constructed);
  fields.end();
  return { permitted: readSubtrees(permitted), excluded: readSubtrees(excluded) };
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

/** @throws {Asn1Error} */
export function readPolicyMappings(value: Element): PolicyMapping[] {
  return elementsOf(value).map((mapping) => {
    const fields = enter(mapping, TAG.sequence);
    return { issuer: oidText(fields.take()), subject: oidText(fields.take()) };
  });
}

/** @throws {Asn1Error} */
export function readPolicyConstraints(value: Element): {
  readonly requireExplicitPolicy: number | undefined;
  readonly inhibitPolicyMapping: number | undefined;
} {
  const fields = enter(value, TAG.sequence);
  const explicit = fields.takeIf(TAG.context0);
  const mapping = fields.takeIf(TAG.context0 + 1);
  fields.end();
  // IMPLICIT INTEGERs.
  const count = (element: Element | undefined) =>
    element === undefined ? undefined : smallInteger({ ...element, tag: TAG.integer });
  return { requireExplicitPolicy: count(explicit), inhibitPolicyMapping: count(mapping) };
}

/** Full names of distribution points (RFC 5280 §4.2.1.13); those of other CRL issuers or some reasons are left out. @throws {Asn1Error} */
export function readDistributionPoints(value: Element): string[] {
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

/** authorityInfoAccess (RFC 5280 §4.2.2.1). @throws {Asn1Error} */
export function readAuthorityInformation(value: Element): {
  readonly ocspUrls: readonly string[];
  readonly issuerUrls: readonly string[];
} {
  const descriptions = elementsOf(value).map((description) => {
    const fields = enter(description, TAG.sequence);
    return { method: oidText(fields.take()), location: readGeneralName(fields.take()) };
  });
  const at = (wanted: string) =>
    httpUrls(descriptions.flatMap(({ method, location }) => (method === wanted ? [location] : [])));
  return { ocspUrls: at(OCSP_ACCESS), issuerUrls: at(ISSUER_ACCESS) };
}
