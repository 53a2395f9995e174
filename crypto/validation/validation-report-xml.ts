/**
 * Validation report of ETSI TS 119 102-2 (v1.2.1 and later, namespace `http://uri.etsi.org/19102/v1.2.1#`), built
 * from the engine's report: one `SignatureValidationReport` per signature, with each check as a validation
 * constraint, and certificates and time-stamps as validation objects.
 *
 * Not included: a signature of the report. `SignatureValidationPolicy` is implied: the engine has one policy, and lists its
 * checks. `SignersDocument` refers to the submitted file, or to the files given beside a detached signature, and has the
 * digest of the first.
 */
import {
  type CertificateRecord,
  qualificationText,
  type SignatureQualification,
  type SignatureRecord,
  type TimestampQualification,
  type TimestampRecord,
  type ValidationItem,
  type ValidationReport,
  type ValidationResults,
} from '../core/validation-report.ts';

const NAMESPACE = 'http://uri.etsi.org/19102/v1.2.1#';
const DS = 'http://www.w3.org/2000/09/xmldsig#';
const XADES = 'http://uri.etsi.org/01903/v1.3.2#';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';
const URN = 'urn:etsi:019102';
/** Type of a check in `ReportData`, and prefix of constraint identifiers; the check names are the engine's. */
const CHECK = 'urn:sealwright:check';

interface ValidationReportFile {
  /** Display name of the validated file. */
  readonly name: string;
  /** Lower-case hex SHA-256 of the file. */
  readonly sha256: string;
  /** Time of validation, milliseconds since the epoch. */
  readonly at: number;
  /** Files given as the content of a detached signature. @default none */
  readonly contents?: readonly { readonly name: string; readonly sha256: string }[];
}

/** Name of the only policy of the engine. Source: ETSI EN 319 102-1; decision 0008. */
const POLICY_NAME = 'Checks of ETSI EN 319 102-1 as listed in this report';

/**
 * Builds the report as an XML document in UTF-8.
 *
 * ValidationReport = SignatureValidationReport+, SignatureValidationObjects?, SignatureValidator?, ds:Signature?
 * SignatureValidationReport = SignatureIdentifier?, ValidationConstraintsEvaluationReport?, ValidationTimeInfo?,
 *     SignersDocument?, SignatureAttributes?, SignerInformation?, SignatureQuality?, SignatureValidationProcess?,
 *     SignatureValidationStatus { MainIndication, SubIndication*, … }
 * Source: TS 119 102-2 §4.
 */
export function validationReportXml(report: ValidationReport, file: ValidationReportFile): string {
  const objects = new ObjectList();
  const document = objects.add(
    `${URN}:validationObject:signedData`,
    digestXml(Buffer.from(file.sha256, 'hex')),
  );
  const contents = (file.contents ?? []).map(({ sha256 }) =>
    objects.add(`${URN}:validationObject:signedData`, digestXml(Buffer.from(sha256, 'hex'))),
  );
  const digest = digestXml(Buffer.from(file.contents?.[0]?.sha256 ?? file.sha256, 'hex'));
  const documents = { file: document, signed: contents.length === 0 ? [document] : contents, digest };
  const everySignature = report.signatures.flatMap(withCounterSignatures);
  const signatures =
    everySignature.length === 0
      ? [noSignatureXml(report, file, document)]
      : everySignature.map((record, index) =>
          signatureXml(record, index + 1, { report, file, documents, objects }),
        );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<ValidationReport xmlns="${NAMESPACE}" xmlns:ds="${DS}" xmlns:xades="${XADES}">`,
    ...signatures,
    `<SignatureValidationObjects>${objects.xml()}</SignatureValidationObjects>`,
    '</ValidationReport>',
    '',
  ].join('\n');
}

function withCounterSignatures(record: SignatureRecord): readonly SignatureRecord[] {
  return [record, ...record.counterSignatures.flatMap(withCounterSignatures)];
}

/** Validation objects by identifier; equal certificates share one object. */
class ObjectList {
  readonly #known = new Map<string, string>();
  readonly #xml: string[] = [];

  /** Adds an object. @returns the identifier */
  add(type: string, representation: string, more = ''): string {
    const key = `${type} ${representation} ${more}`;
    const cached = this.#known.get(key);
    if (cached !== undefined) return cached;
    const id = `object-${this.#xml.length + 1}`;
    this.#known.set(key, id);
    this.#xml.push(
      `<ValidationObject id="${id}"><ObjectType>${type}</ObjectType><ValidationObjectRepresentation>${representation}</ValidationObjectRepresentation>${more}</ValidationObject>`,
    );
    return id;
  }

  certificate({ thumbprint }: CertificateRecord): string {
    return this.add(`${URN}:validationObject:certificate`, digestXml(Buffer.from(thumbprint, 'base64')));
  }

  timestamp(stamp: TimestampRecord): string {
    const status = statusXml('SignatureValidationStatus', stamp, stamp.results, {
      qualification: stamp.qualification,
    });
    const { genTime } = stamp;
    const time = genTime === undefined ? 'time unknown' : iso(genTime);
    const named = element('direct', `${stamp.displayName}, ${time}, ${stamp.kind}`);
    const poe =
      genTime === undefined
        ? ''
        : `<POE>${element('POETime', iso(genTime))}${element('TypeOfProof', `${URN}:poetype:validation`)}</POE>`;
    return this.add(
      `${URN}:validationObject:timestamp`,
      named,
      `${poe}<ValidationReport>${constraintsXml(stamp.results)}${status}</ValidationReport>`,
    );
  }

  xml(): string {
    return this.#xml.join('\n');
  }
}

function signatureXml(
  record: SignatureRecord,
  number: number,
  {
    report,
    file: { at },
    documents,
    objects,
  }: {
    readonly report: ValidationReport;
    readonly file: ValidationReportFile;
    readonly documents: {
      readonly file: string;
      readonly signed: readonly string[];
      readonly digest: string;
    };
    readonly objects: ObjectList;
  },
): string {
  const { certificate, bestTime, name } = record;
  const stamps = record.timestamps.map((stamp) => ({ stamp, id: objects.timestamp(stamp) }));
  const proof = stamps.find(({ stamp }) => stamp.genTime === bestTime);
  const related = [...new Set([documents.file, ...documents.signed]), ...stamps.map(({ id }) => id)];
  return [
    '<SignatureValidationReport>',
    `<SignatureIdentifier id="signature-${number}"><HashOnly>false</HashOnly><DocHashOnly>false</DocHashOnly>${element('DAIdentifier', name)}</SignatureIdentifier>`,
    constraintsXml(merged(report.results, record.results), POLICY),
    `<ValidationTimeInfo>${element('ValidationTime', iso(at))}<BestSignatureTime>${element('POETime', iso(bestTime))}${element('TypeOfProof', `${URN}:poetype:validation`)}${proof === undefined ? '' : `<POEObject VOReference="${proof.id}"/>`}</BestSignatureTime></ValidationTimeInfo>`,
    // The only form that every version of the schema allows.
    `<SignersDocument>${documents.digest}<SignersDocumentRef VOReference="${documents.signed.join(' ')}"/></SignersDocument>`,
    attributesXml(record, stamps),
    certificate === undefined
      ? ''
      : `<SignerInformation><SignerCertificate VOReference="${objects.certificate(certificate)}"/>${element('Signer', certificate.subjectName)}</SignerInformation>`,
    qualityXml(record),
    `<SignatureValidationProcess>${element('SignatureValidationProcessID', `${URN}:validationprocess:${processOf(record)}`)}</SignatureValidationProcess>`,
    statusXml('SignatureValidationStatus', statusIn(report, record), merged(report.results, record.results), {
      related,
      qualification: record.qualification,
    }),
    '</SignatureValidationReport>',
  ]
    .filter((line) => line !== '')
    .join('\n');
}

/** Qualification of the signature (TS 119 102-2 §4.2.10). */
function qualityXml({ qualification }: SignatureRecord): string {
  if (qualification === undefined) return '';
  const text = `urn:sealwright:qualification:${qualificationText(qualification)}`;
  return `<SignatureQuality>${element('SignatureQualityInformation', text)}</SignatureQuality>`;
}

/** Builds the entry for a file without signatures (TS 119 102-2 §4.3.4.2). */
function noSignatureXml(
  { results }: ValidationReport,
  { at }: ValidationReportFile,
  document: string,
): string {
  return [
    '<SignatureValidationReport>',
    constraintsXml(results, POLICY),
    `<ValidationTimeInfo>${element('ValidationTime', iso(at))}<BestSignatureTime>${element('POETime', iso(at))}${element('TypeOfProof', `${URN}:poetype:validation`)}</BestSignatureTime></ValidationTimeInfo>`,
    '<SignatureValidationStatus>',
    element('MainIndication', `${URN}:mainindication:NoSignatureFound`),
    reportDataXml(results, { related: [document] }),
    '</SignatureValidationStatus>',
    '</SignatureValidationReport>',
  ].join('\n');
}

/** Returns the validation process by level (EN 319 102-1 §5.3, §5.5 and §5.6). */
function processOf({ level }: SignatureRecord): 'Basic' | 'LTVM' | 'LTA' {
  return level === 'LTA' ? 'LTA' : level === 'LT' || level === 'T' ? 'LTVM' : 'Basic';
}

const STAMP_ELEMENTS: { readonly [kind in TimestampRecord['kind']]: string } = {
  content: 'AllDataObjectsTimeStamp',
  signature: 'SignatureTimeStamp',
  archive: 'ArchiveTimeStamp',
  document: 'DocTimeStamp',
};

function attributesXml(
  { signingTime, policy, reason, location, claimedRoles = [] }: SignatureRecord,
  stamps: readonly { readonly stamp: TimestampRecord; readonly id: string }[],
): string {
  const parts = [
    signingTime === undefined
      ? ''
      : `<SigningTime Signed="true">${element('Time', iso(signingTime))}</SigningTime>`,
    policy === undefined
      ? ''
      : `<SigPolicyIdentifier Signed="true">${element('SigPolicyId', `urn:oid:${policy}`)}</SigPolicyIdentifier>`,
    location === undefined
      ? ''
      : `<SignatureProductionPlace Signed="true">${element('AddressString', location)}</SignatureProductionPlace>`,
    claimedRoles.length === 0
      ? ''
      : `<SignerRole Signed="true">${claimedRoles.map(roleXml).join('')}</SignerRole>`,
    ...stamps.map(({ stamp: { kind, genTime }, id }) => {
      const name = STAMP_ELEMENTS[kind];
      if (genTime === undefined) return '';
      return `<${name}><AttributeObject VOReference="${id}"/>${element('TimeStampValue', iso(genTime))}</${name}>`;
    }),
    reason === undefined ? '' : `<Reason Signed="true">${element('ReasonElement', reason)}</Reason>`,
  ].join('');
  return parts === '' ? '' : `<SignatureAttributes>${parts}</SignatureAttributes>`;
}

function roleXml(role: string): string {
  return `<RoleDetails>${element('Role', role)}${element('EndorsementType', 'claimed')}</RoleDetails>`;
}

/** SignaturePolicyIdentifier with an implied policy, and its name (TS 119 102-2 §4.2.5). */
const POLICY = `<SignatureValidationPolicy><SignaturePolicyIdentifier><xades:SignaturePolicyImplied/></SignaturePolicyIdentifier>${element('PolicyName', POLICY_NAME)}</SignatureValidationPolicy>`;

function constraintsXml({ passedChecks, errors, warnings }: ValidationResults, policy = ''): string {
  const constraints = [
    ...passedChecks.map((item) => constraintXml(item, 'passed')),
    ...warnings.map((item) => constraintXml(item, 'passed')),
    ...errors.map((item) => constraintXml(item, 'failed')),
  ];
  return `<ValidationConstraintsEvaluationReport>${policy}${constraints.join('\n')}</ValidationConstraintsEvaluationReport>`;
}

function constraintXml({ type, message, detail }: ValidationItem, outcome: 'passed' | 'failed'): string {
  const text = detail === undefined ? message : `${message} (${detail})`;
  return `<ValidationConstraint>${element('ValidationConstraintIdentifier', `${CHECK}:${type}`)}<ValidationConstraintParameter>${element('Type', `${CHECK}:finding`)}${element('Value', text)}</ValidationConstraintParameter><ConstraintStatus>${element('Status', `${URN}:constraintStatus:applied`)}</ConstraintStatus><ValidationStatus>${element('MainIndication', `${URN}:mainindication:${outcome}`)}</ValidationStatus></ValidationConstraint>`;
}

function statusXml(
  name: string,
  { indication, subIndication }: Pick<SignatureRecord, 'indication' | 'subIndication'>,
  results: ValidationResults,
  more: MoreData,
): string {
  const sub =
    subIndication === undefined ? '' : element('SubIndication', `${URN}:subindication:${subIndication}`);
  const main = element('MainIndication', `${URN}:mainindication:${indication.toLowerCase()}`);
  return `<${name}>${main}${sub}${reportDataXml(results, more)}</${name}>`;
}

/** A signature does not pass in a file that does not: a reader of the report may look at its signatures alone. */
function statusIn(
  { results }: ValidationReport,
  { indication, subIndication }: SignatureRecord,
): Pick<SignatureRecord, 'indication' | 'subIndication'> {
  if (indication !== 'TOTAL-PASSED' || results.errors.length === 0)
    return { indication, ...(subIndication && { subIndication }) };
  return { indication: 'INDETERMINATE', subIndication: 'GENERIC' };
}

interface MoreData {
  /** Identifiers of validation objects. */
  readonly related?: readonly string[];
  readonly qualification?: SignatureQualification | TimestampQualification | undefined;
}

/** The word, the issue of the list that says so, and the reasons. */
function qualificationItems(qualification: SignatureQualification | TimestampQualification) {
  const { list, reasons } = qualification;
  const issue = list && `list ${list.sequence} of ${iso(list.issued)}`;
  const word = { message: qualificationText(qualification), detail: issue };
  return [word, ...reasons.map((message) => ({ message, detail: undefined }))].map(
    (item) => ['qualification', item] as const,
  );
}

function reportDataXml(
  { errors, warnings, passedChecks }: ValidationResults,
  { related = [], qualification }: MoreData,
): string {
  // A trusted chain holds its own warnings, such as a missing answer about revocation.
  const within = passedChecks.flatMap(({ inner }) => inner?.warnings ?? []);
  const data = [
    ...errors.map((item) => ['error', item] as const),
    ...[...warnings, ...within].map((item) => ['warning', item] as const),
    ...(qualification === undefined ? [] : qualificationItems(qualification)),
  ].map(
    ([kind, { message, detail }]) =>
      `<ReportData>${element('Type', `${CHECK}:${kind}`)}${element('Value', detail === undefined ? message : `${message} (${detail})`)}</ReportData>`,
  );
  if (data.length === 0 && related.length === 0) return '';
  const objects = related.map((id) => `<RelatedValidationObject VOReference="${id}"/>`).join('');
  const additional =
    data.length === 0
      ? ''
      : `<AdditionalValidationReportData>${data.join('')}</AdditionalValidationReportData>`;
  return `<AssociatedValidationReportData>${objects}${additional}</AssociatedValidationReportData>`;
}

/** Merges the file's failures into the results of a signature. */
function merged(file: ValidationResults, own: ValidationResults): ValidationResults {
  return {
    isValid: file.isValid && own.isValid,
    passedChecks: [...own.passedChecks, ...file.passedChecks],
    errors: [...own.errors, ...file.errors],
    warnings: [...own.warnings, ...file.warnings],
  };
}

function digestXml(digest: Buffer): string {
  return `<DigestAlgAndValue><ds:DigestMethod Algorithm="${SHA256}"/><ds:DigestValue>${digest.toString('base64')}</ds:DigestValue></DigestAlgAndValue>`;
}

function iso(at: number): string {
  return new Date(at).toISOString();
}

function element(name: string, text: string): string {
  return `<${name}>${xmlText(text)}</${name}>`;
}

const ESCAPES: { readonly [character: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '\r': '&#13;',
};

/** Replaces characters outside XML 1.0 §2.2 by U+FFFD, since names in certificates can contain any. */
function xmlText(text: string): string {
  return (
    text
      .replace(/\p{Cs}/gu, '\ufffd')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
      .replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? '')
  );
}
