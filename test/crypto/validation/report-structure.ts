/**
 * Structure checker for validation reports (ETSI TS 119 102-2): order and number of elements, types of values,
 * identifiers and references. The published schema can't be redistributed; this table covers the elements that the
 * product writes, and any other element is an error.
 */
import { DOMParser, type Element } from '@xmldom/xmldom';

/** Children in order, with `?`, `*`, `+`; `|` lists are unordered; otherwise a value type. */
const CONTENT: { readonly [element: string]: string } = {
  ValidationReport: 'SignatureValidationReport+ SignatureValidationObjects?',
  SignatureValidationReport:
    'SignatureIdentifier? ValidationConstraintsEvaluationReport? ValidationTimeInfo? SignersDocument? SignatureAttributes? SignerInformation? SignatureValidationProcess? SignatureValidationStatus',
  'ValidationObject/ValidationReport': 'ValidationConstraintsEvaluationReport? SignatureValidationStatus',
  SignatureIdentifier: 'HashOnly DocHashOnly DAIdentifier?',
  ValidationConstraintsEvaluationReport: 'SignatureValidationPolicy? ValidationConstraint*',
  SignatureValidationPolicy: 'SignaturePolicyIdentifier PolicyName?',
  SignaturePolicyIdentifier: 'SignaturePolicyImplied',
  SignersDocument: 'DigestAlgAndValue SignersDocumentRef',
  ValidationConstraint:
    'ValidationConstraintIdentifier ValidationConstraintParameter* ConstraintStatus ValidationStatus?',
  ValidationConstraintParameter: 'Type Value?',
  ConstraintStatus: 'Status',
  ValidationStatus: 'MainIndication SubIndication* AssociatedValidationReportData*',
  SignatureValidationStatus: 'MainIndication SubIndication* AssociatedValidationReportData*',
  AssociatedValidationReportData: 'RelatedValidationObject* AdditionalValidationReportData?',
  AdditionalValidationReportData: 'ReportData+',
  ReportData: 'Type Value?',
  ValidationTimeInfo: 'ValidationTime BestSignatureTime',
  BestSignatureTime: 'POETime TypeOfProof POEObject?',
  POE: 'POETime TypeOfProof POEObject?',
  SignatureAttributes:
    'any: SigningTime SigPolicyIdentifier SignatureProductionPlace SignerRole AllDataObjectsTimeStamp SignatureTimeStamp ArchiveTimeStamp DocTimeStamp Reason',
  SigningTime: 'AttributeObject* Time',
  SigPolicyIdentifier: 'AttributeObject* SigPolicyId',
  SignatureProductionPlace: 'AttributeObject* AddressString+',
  SignerRole: 'AttributeObject* RoleDetails+',
  RoleDetails: 'Role EndorsementType',
  AllDataObjectsTimeStamp: 'AttributeObject* TimeStampValue',
  SignatureTimeStamp: 'AttributeObject* TimeStampValue',
  ArchiveTimeStamp: 'AttributeObject* TimeStampValue',
  DocTimeStamp: 'AttributeObject* TimeStampValue',
  Reason: 'AttributeObject* ReasonElement',
  SignerInformation: 'SignerCertificate Signer?',
  SignatureValidationProcess: 'SignatureValidationProcessID?',
  SignatureValidationObjects: 'ValidationObject+',
  ValidationObject: 'ObjectType ValidationObjectRepresentation POE? ValidationReport?',
  ValidationObjectRepresentation: 'any: direct DigestAlgAndValue',
  DigestAlgAndValue: 'DigestMethod DigestValue',
};

const VALUE: { readonly [element: string]: RegExp } = {
  HashOnly: /^(true|false)$/,
  DocHashOnly: /^(true|false)$/,
  DigestValue: /^[A-Za-z0-9+/]+={0,2}$/,
  ...Object.fromEntries(
    ['ValidationTime', 'POETime', 'Time', 'TimeStampValue'].map((name) => [
      name,
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
    ]),
  ),
  ...Object.fromEntries(
    [
      'MainIndication',
      'SubIndication',
      'Status',
      'Type',
      'TypeOfProof',
      'ObjectType',
      'ValidationConstraintIdentifier',
      'SignatureValidationProcessID',
      'SigPolicyId',
    ].map((name) => [name, /^urn:[A-Za-z0-9:._-]+$/]),
  ),
};
const REFERENCES: readonly string[] = [
  'POEObject',
  'SignerCertificate',
  'RelatedValidationObject',
  'AttributeObject',
  'SignersDocumentRef',
];
const TEXTS: readonly string[] = [
  'PolicyName',
  'SignaturePolicyImplied',
  'DAIdentifier',
  'Value',
  'Signer',
  'AddressString',
  'Role',
  'EndorsementType',
  'ReasonElement',
  'direct',
];
const NAMESPACES: { readonly [element: string]: string } = {
  SignaturePolicyImplied: 'http://uri.etsi.org/01903/v1.3.2#',
  DigestMethod: 'http://www.w3.org/2000/09/xmldsig#',
  DigestValue: 'http://www.w3.org/2000/09/xmldsig#',
};
const NAMESPACE = 'http://uri.etsi.org/19102/v1.2.1#';

/** Returns one sentence per error; none for a valid report. */
export function structureFaults(xml: string): readonly string[] {
  const faults: string[] = [];
  const onError = (level: string, message: string) => {
    if (level !== 'warning') faults.push(message);
  };
  const document = new DOMParser({ onError }).parseFromString(xml, 'text/xml');
  const root = document.documentElement;
  if (root?.localName !== 'ValidationReport') return [...faults, 'The root is no ValidationReport.'];
  const ids = new Set<string>();
  const references: string[] = [];
  walk(root, faults, ids, references);
  for (const id of references) if (!ids.has(id)) faults.push(`There is no object ${id}.`);
  return faults;
}

function walk(element: Element, faults: string[], ids: Set<string>, references: string[]): void {
  const name = element.localName ?? '';
  if (element.namespaceURI !== (NAMESPACES[name] ?? NAMESPACE))
    faults.push(`${name} is in another namespace.`);
  const id = element.getAttribute('id');
  if (id !== null) {
    if (ids.has(id) || !/^[A-Za-z_][\w.-]*$/.test(id)) faults.push(`The id ${id} is taken or malformed.`);
    ids.add(id);
  }
  const reference = element.getAttribute('VOReference');
  if (reference !== null) references.push(...reference.split(' '));
  const children = [...element.children];
  const within = `${element.parentElement?.localName ?? ''}/${name}`;
  const content = CONTENT[within] ?? CONTENT[name];
  if (content !== undefined)
    checkChildren(
      name,
      content,
      children.map(({ localName }) => localName ?? ''),
      faults,
    );
  else if (REFERENCES.includes(name)) {
    if (reference === null) faults.push(`${name} refers to nothing.`);
  } else if (VALUE[name] !== undefined) {
    if (!VALUE[name].test(element.textContent ?? '')) faults.push(`${name} is ${element.textContent}.`);
  } else if (name === 'DigestMethod') {
    if (element.getAttribute('Algorithm') === null) faults.push('DigestMethod names no algorithm.');
  } else if (!TEXTS.includes(name)) faults.push(`${name} is not known.`);
  for (const child of children) walk(child, faults, ids, references);
}

function checkChildren(name: string, content: string, children: readonly string[], faults: string[]): void {
  if (content.startsWith('any: ')) {
    const known = content.slice(5).split(' ');
    for (const child of children) if (!known.includes(child)) faults.push(`${name} holds ${child}.`);
    if (children.length === 0) faults.push(`${name} is empty.`);
    return;
  }
  const pattern = content
    .split(' ')
    .map((part) => part.replace(/^(\w+)([?*+]?)$/, '(?:$1 )$2'))
    .join('');
  const found = children.map((child) => `${child} `).join('');
  if (!new RegExp(`^${pattern}$`).test(found)) faults.push(`${name} holds ${found}and not ${content}.`);
}
