/**
 * Rules of the lists of qualifying properties, closed (EN 319 132-1 §4.3, §5 and annex A, EN 319 132-2 §5, §6): a
 * property that the table does not name is named in the report.
 */
import { type Finding, warned } from '../../core/validation-report.ts';
import { XADES, XADES_141 } from '../elements/identifiers.ts';
import { printable } from './reference-data.ts';
import type { SignatureNode } from './signature-node.ts';

/** Namespaces of a property: `1` for that of XAdES 1.3.2, `2` for that of XAdES 1.4.1. */
type Versions = '1' | '2' | '12';

type List =
  | 'SignedSignatureProperties'
  | 'SignedDataObjectProperties'
  | 'UnsignedSignatureProperties'
  | 'UnsignedDataObjectProperties';

/** By list and local name. */
export const PROPERTY_RULES: { readonly [list in List]: { readonly [local: string]: Versions } } = {
  SignedSignatureProperties: {
    SigningTime: '1',
    SigningCertificate: '1',
    SigningCertificateV2: '1',
    SignaturePolicyIdentifier: '1',
    SignatureProductionPlace: '1',
    SignatureProductionPlaceV2: '1',
    SignerRole: '1',
    SignerRoleV2: '1',
  },
  SignedDataObjectProperties: {
    DataObjectFormat: '1',
    CommitmentTypeIndication: '1',
    AllDataObjectsTimeStamp: '1',
    IndividualDataObjectsTimeStamp: '1',
  },
  UnsignedSignatureProperties: {
    CounterSignature: '1',
    SignatureTimeStamp: '1',
    CompleteCertificateRefs: '1',
    CompleteCertificateRefsV2: '2',
    CompleteRevocationRefs: '1',
    AttributeCertificateRefs: '1',
    AttributeCertificateRefsV2: '2',
    AttributeRevocationRefs: '1',
    SigAndRefsTimeStamp: '1',
    SigAndRefsTimeStampV2: '2',
    RefsOnlyTimeStamp: '1',
    RefsOnlyTimeStampV2: '2',
    CertificateValues: '1',
    RevocationValues: '1',
    AttrAuthoritiesCertValues: '1',
    AttributeRevocationValues: '1',
    ArchiveTimeStamp: '12',
    TimeStampValidationData: '2',
    AnyValidationData: '2',
    RenewedDigests: '2',
    SignaturePolicyStore: '2',
    SealingEvidenceRecords: '12',
  },
  UnsignedDataObjectProperties: {},
};

/** Most properties in the message. */
const MAX_LISTED = 10;

/** Warning `attributes.unknown` for what the lists below `properties` hold beside the table. @param properties QualifyingProperties */
export function propertyWarnings(properties: SignatureNode | undefined): Finding[] {
  const lists = properties?.children.flatMap(({ children }) => children) ?? [];
  const unknown = lists.flatMap((list) =>
    list.children.filter((property) => !isNamed(list, property)).map(({ local }) => printable(local)),
  );
  if (unknown.length === 0) return [];
  const message = 'The signature has properties that are not known here; what they say was not looked at.';
  return [warned('attributes.unknown', message, [...new Set(unknown)].slice(0, MAX_LISTED).join(', '))];
}

function isNamed(list: SignatureNode, { namespace, local }: SignatureNode): boolean {
  const rules: { readonly [list: string]: { readonly [local: string]: Versions } } = PROPERTY_RULES;
  const known = Object.hasOwn(rules, list.local) ? rules[list.local] : undefined;
  const versions = known !== undefined && Object.hasOwn(known, local) ? known[local] : undefined;
  if (namespace === XADES) return versions?.includes('1') === true;
  // Evidence records have a namespace of their own version.
  if (local === 'SealingEvidenceRecords') return versions !== undefined;
  return namespace === XADES_141 && versions?.includes('2') === true;
}
