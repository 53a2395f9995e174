/**
 * Findings about the signers of a CMS SignedData from its bytes alone (RFC 5652 §5, EN 319 122-1): for CAdES files,
 * the CMS of a PDF signature, and the verification after signing.
 */
import { createHash } from 'node:crypto';
import { OID } from '../../asn1/oids.ts';
import { Asn1Error, Asn1LimitError, type Element, encoded } from '../../asn1/read.ts';
import {
  archiveImprintData,
  coveredElements,
  type HashIndex,
  indexFault,
  readHashIndex,
} from '../../cms/archive-imprint.ts';
import {
  algorithmsOf,
  attributesFault,
  checkContentType,
  checkMessageDigest,
  checkOrder,
  checkProtection,
  checkUniqueness,
  claimedRolesOf,
  claimedTime,
  contentIdentifierOf,
  policyOf,
  signatureFault,
  unsupportedFinding,
  valueFindings,
} from '../../cms/attribute-checks.ts';
import { attributeWarnings } from '../../cms/attribute-rules.ts';
import { parseSignedData, parseSignerInfo, type SignedData, type SignerInfo } from '../../cms/parse.ts';
import { type BoundCertificate, bindCertificate } from '../../cms/signing-certificate.ts';
import { CryptoError, type SignatureFormat } from '../../core/types.ts';
import { type Finding, failed, passed, type SignatureScope, warned } from '../../core/validation-report.ts';
import { WORK_BUDGET_EXCEEDED, WorkBudget, withinWorkBudget } from '../../core/work-budget.ts';
import { type Evidence, NO_EVIDENCE } from '../../evidence/authorities.ts';
import { evidenceInAttributes, evidenceInData, joinEvidence } from '../../evidence/embedded-evidence.ts';
import { checkToken } from '../../evidence/timestamp-checks.ts';
import { imprintOf, type TimestampToken } from '../../evidence/timestamp-reader.ts';
import { algorithmName } from '../../x509/algorithm-names.ts';
import { type Certificate, readableCertificates, readCertificate } from '../../x509/certificate.ts';
import { HASH_BY_OID, type HashName, hashNamed, signatureMethod } from '../../x509/signature-algorithms.ts';
import { type SignedBytes, unsupportedAlgorithm } from '../../x509/signature-values.ts';
import type { PolicyUse } from '../icp-brasil.ts';
import {
  evidenceInTimestamp,
  levelOf,
  readTimestampInfo,
  type SignatureInfo,
  type TimestampInfo,
  timestampInfo,
  UNKNOWN_SIGNATURE_INFO,
} from '../signature-info.ts';

interface TimestampedSigner {
  readonly data: SignedData;
  readonly signer: SignerInfo;
  /** Computes the digest of the content; undefined when it is not available. */
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  readonly certificates: readonly Certificate[];
}

/** Limit of time-stamps of one signature; each costs a public-key operation. Renewed archives have a handful. */
const MAX_TIMESTAMPS = 32;

interface FoundTimestamps {
  /** Oldest first: an archive time-stamp covers only earlier data, and not necessarily all of it. */
  readonly timestamps: readonly TimestampInfo[];
  readonly findings: readonly Finding[];
}

/** Time-stamps of a SignerInfo in the order of proof (EN 319 122-1 §5.2.8, §5.3, §5.5.3). */
function timestampsOf(stamped: TimestampedSigner): FoundTimestamps {
  const { signer, contentDigest, certificates } = stamped;
  const signed = valuesOf(signer.attributes?.values, OID.contentTimestamp);
  const plain = valuesOf(signer.unsignedAttributes?.values, OID.signatureTimestamp);
  const archived = valuesOf(signer.unsignedAttributes?.values, OID.archiveTimestampV3);
  if (signed.length + plain.length + archived.length > MAX_TIMESTAMPS) {
    const message = `More than ${MAX_TIMESTAMPS} time-stamps are not looked at.`;
    return {
      timestamps: [],
      findings: [warned('timestamp.count', message)],
    };
  }
  const content = signed.map((value) =>
    timestampInfo('content', encoded(value), (name) => digestNamed(name, contentDigest), certificates),
  );
  const signature = plain.map((value) =>
    timestampInfo('signature', encoded(value), imprintOf(signer.signature), certificates),
  );
  const archives = archived
    .map((value) => archiveTimestampInfo(value, stamped))
    .sort((left, right) => timeOf(left) - timeOf(right));
  return { timestamps: [...content, ...inOrderOfProof(signature, archives)], findings: [] };
}

function valuesOf(
  values: ReadonlyMap<string, readonly Element[]> | undefined,
  type: string,
): readonly Element[] {
  return values?.get(type) ?? [];
}

function digestNamed(
  name: string,
  contentDigest: (hash: HashName) => Buffer | undefined,
): Buffer | undefined {
  const hash = hashNamed(name);
  return hash === undefined ? undefined : contentDigest(hash);
}

function archiveTimestampInfo(value: Element, stamped: TimestampedSigner): TimestampInfo {
  let index: HashIndex | undefined;
  const facts = readTimestampInfo('archive', encoded(value), (token) => {
    const found = indexIn(token, stamped);
    if ('fault' in found) {
      const message = `What the time-stamp covers is not what is there: ${found.fault}.`;
      const subIndication = 'HASH_FAILURE';
      return [failed('timestamp.index', message, subIndication)];
    }
    index = found;
    return checkToken(token, (name) => archiveDigest(name, found, stamped), stamped.certificates);
  });
  return { ...facts, covers: covering(index, stamped) };
}

/** Tests if the archive hash index names the bytes; computed on demand. */
function covering(
  index: HashIndex | undefined,
  { data, signer }: TimestampedSigner,
): NonNullable<TimestampInfo['covers']> {
  let parts: readonly Buffer[] | undefined;
  return (der) => {
    if (index === undefined) return false;
    parts ??= coveredElements(index, data, signer);
    return parts.some((part) => part.includes(der));
  };
}

function indexIn(
  token: TimestampToken,
  { data, signer }: TimestampedSigner,
): HashIndex | { readonly fault: string } {
  try {
    const index = readHashIndex(token.signedData);
    const fault = indexFault(index, data, signer);
    return fault === undefined ? index : { fault };
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return { fault: error.message };
  }
}

function archiveDigest(name: string, index: HashIndex, stamped: TimestampedSigner): Buffer | undefined {
  const hash = hashNamed(name);
  const content = hash === undefined ? undefined : stamped.contentDigest(hash);
  if (hash === undefined || content === undefined) return undefined;
  const data = archiveImprintData(stamped.data, stamped.signer, content, index.encoding);
  return createHash(hash).update(data).digest();
}

/** Orders the time-stamps; one that no archive time-stamp covers was added after all of them. */
function inOrderOfProof(
  plain: readonly TimestampInfo[],
  archives: readonly TimestampInfo[],
): TimestampInfo[] {
  const ordered: TimestampInfo[] = [];
  const left = new Set(plain);
  for (const archive of archives) {
    for (const stamp of left) {
      if (stamp.token === undefined || archive.covers?.(stamp.token.der) !== true) continue;
      ordered.push(stamp);
      left.delete(stamp);
    }
    ordered.push(archive);
  }
  return [...ordered, ...left];
}

function timeOf({ token }: TimestampInfo): number {
  return token?.genTime ?? 0;
}

export interface InspectCmsOptions {
  readonly format: SignatureFormat;
  /** Computes the digest of the content; undefined when the content is not available. Errors are passed on. */
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  /**
   * The content itself, for signers without signed attributes, whose signature is over it; undefined when it is not
   * available. Errors are passed on, but for a spent work budget. @default not available
   */
  readonly content?: () => SignedBytes | undefined;
  readonly scope: SignatureScope;
  /** Required content type, dotted OID. Left out: any, as long as it equals the signed one. */
  readonly contentType?: string;
  /** False: encapsulated content is an attempt to replace the real content (PDF). @default true */
  readonly contentInside?: boolean;
  /** Requires the signing-time attribute (CAdES) or forbids it (PAdES) for baseline signatures. */
  readonly signingTime?: 'present' | 'absent';
  /** `'if-present'` makes a missing binding a warning (signatures older than CAdES). @default 'if-present' */
  readonly signingCertificate?: 'required' | 'if-present';
  /** Certificates and revocation values outside the structure. */
  readonly around?: { readonly certificates: readonly Certificate[]; readonly evidence: Evidence };
  /** @default `signer 1`, `signer 2` … */
  readonly name?: string;
}

/** Limit of counter-signatures below one signature in all depths, and of their depth. */
const MAX_COUNTER_SIGNATURES = 32;
const MAX_COUNTER_DEPTH = 4;

/**
 * Examines each SignerInfo; a structure that is unreadable or without signer gives one failed entry. `der` must be
 * exactly the structure. Never throws for invalid bytes.
 *
 * SignedData ::= SEQUENCE { version INTEGER, digestAlgorithms SET OF AlgorithmIdentifier, encapContentInfo SEQUENCE {
 *     eContentType OBJECT IDENTIFIER, eContent [0] EXPLICIT OCTET STRING OPTIONAL }, certificates [0] IMPLICIT OPTIONAL,
 *     crls [1] IMPLICIT OPTIONAL, signerInfos SET OF SignerInfo }
 *
 * Findings, in this order: `structure.cms`, `structure.content`, `certificate.signer`, `certificate.binding`,
 * `attributes.signed`, `attributes.content-type`, `digest.content`, `attributes.signing-time`,
 * `algorithm.protection`, `algorithm.agreement`, `signature.value`, and those of `attributeWarnings`.
 */
export function inspectCms(der: Buffer, options: InspectCmsOptions): SignatureInfo[] {
  try {
    return inspectParsedSignedData(parseSignedData(der), options);
  } catch (error) {
    return [unreadableInfo('The CMS structure', error, options)];
  }
}

/** Examines a structure that is already parsed, as `inspectCms`. */
export function inspectParsedSignedData(data: SignedData, options: InspectCmsOptions): SignatureInfo[] {
  if (data.signers.length === 0) {
    const finding = failed('structure.signer', 'The CMS structure has no signer.', 'SIG_CONSTRAINTS_FAILURE');
    return [withoutSignature(finding, options)];
  }
  const unreadable = unreadableCertificates(data.certificates);
  const inside = data.certificates.flatMap(readableCertificates);
  const certificates = [...inside, ...(options.around?.certificates ?? [])];
  return data.signers.map((signer, index) => {
    const context: SignerContext = {
      data,
      options,
      inside,
      certificates,
      contentDigest: options.contentDigest,
      content: options.content ?? (() => undefined),
      unreadable,
      name: options.name ?? `signer ${index + 1}`,
      scope: options.scope,
      counter: undefined,
      budget: new WorkBudget({ limit: MAX_COUNTER_SIGNATURES }),
    };
    return guardedInfo(signer, context);
  });
}

interface SignerContext {
  readonly data: SignedData;
  readonly options: InspectCmsOptions;
  /** Of the structure. */
  readonly inside: readonly Certificate[];
  /** Of the structure, then those around it. */
  readonly certificates: readonly Certificate[];
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  readonly content: NonNullable<InspectCmsOptions['content']>;
  /** Warnings about certificates in the structure. */
  readonly unreadable: readonly Finding[];
  readonly name: string;
  readonly scope: SignatureScope;
  /** Depth of a counter-signature; it covers a signature value and has no content type. */
  readonly counter: number | undefined;
  readonly budget: WorkBudget;
}

/** Examines one signer; unreadable attributes fail that signer only. */
function guardedInfo(signer: SignerInfo, context: SignerContext): SignatureInfo {
  try {
    return signerInfo(signer, context);
  } catch (error) {
    const broken = unreadableInfo('The signature', error, context.options);
    return { ...broken, name: context.name, scope: context.scope, certificates: context.certificates };
  }
}

function signerInfo(signer: SignerInfo, context: SignerContext): SignatureInfo {
  const { data, options, certificates, name, scope } = context;
  const bound = bindCertificate(
    signer,
    {
      inside: context.inside,
      outside: options.around?.certificates ?? [],
      fits: (certificate) => fits(signer, context, certificate),
    },
    options.signingCertificate === 'required',
  );
  const structure = structureFindings(context);
  const { attributes } = signer;
  const claimed = attributes === undefined ? undefined : claimedTime(attributes);
  const identifier = attributes === undefined ? undefined : contentIdentifierOf(attributes);
  const claimedRoles = attributes === undefined ? [] : claimedRolesOf(attributes);
  const found = timestampsOf({ data, signer, contentDigest: context.contentDigest, certificates });
  const carried = evidenceInAttributes(attributes, signer.unsignedAttributes);
  const evidence = joinEvidence(evidenceInData(data), carried, options.around?.evidence ?? NO_EVIDENCE);
  const findings = [
    ...structure,
    ...bound.findings,
    ...attributeFindings(signer, context, bound, claimed),
    ...attributeWarnings(attributes, signer.unsignedAttributes),
    ...found.findings,
    ...evidenceRecords(signer),
  ];
  const { timestamps } = found;
  const policy = attributes === undefined ? undefined : policyOf(attributes);
  return {
    format: options.format,
    level: isBaseline(context, bound, claimed) ? levelOf(timestamps, evidence) : undefined,
    name,
    scope,
    findings,
    certificate: bound.certificate,
    certificates: [...certificates, ...carried.certificates.flatMap(readableCertificates)],
    evidence: joinEvidence(evidence, ...timestamps.map(evidenceInTimestamp)),
    claimedTime: claimed,
    algorithms: [...algorithmsOf(signer, bound.certificate), ...bound.algorithms],
    timestamps,
    changes: [],
    policy: policy?.id,
    ...(policy !== undefined && { policyUse: policyUse(signer, context, policy.digest) }),
    counterSignatures: counterSignatures(signer, context),
    isTimestamp: false,
    value: signer.signature,
    claimedRoles,
    ...(identifier !== undefined && { contentIdentifier: identifier }),
  };
}

function policyUse(
  { attributes, unsignedAttributes, signatureAlgorithm, digestAlgorithm }: SignerInfo,
  { inside }: SignerContext,
  digest: PolicyUse['digest'],
): PolicyUse {
  const method = signatureMethod(signatureAlgorithm.id);
  return {
    digest,
    method: `${method?.scheme} ${method?.hash ?? HASH_BY_OID.get(digestAlgorithm)}`,
    naming: attributes?.values.has(OID.signingCertificateV2) === true ? 2 : undefined,
    inside,
    unsigned: new Set(unsignedAttributes?.values.keys()),
  };
}

/** False when another value was computed with the key of the certificate, or the key cannot have made one. */
function fits(signer: SignerInfo, { content }: SignerContext, certificate: Certificate): boolean {
  const hash = HASH_BY_OID.get(signer.digestAlgorithm);
  // The digest is reported as unsupported.
  if (hash === undefined) return true;
  const { attributes } = signer;
  const fault = withinWorkBudget(
    () => {
      if (attributes !== undefined) return attributesFault(signer, attributes, hash, certificate);
      const signed = content();
      return signed === undefined ? undefined : signatureFault(signer, signed, hash, certificate);
    },
    () => undefined,
  );
  return fault === undefined || fault.kind === 'unsupported' || fault.kind === 'digests';
}

function structureFindings({ data, options, counter, unreadable }: SignerContext): Finding[] {
  const signers = data.signers.length === 1 ? 'one signer' : `${data.signers.length} signers`;
  const read: Finding = passed(
    'structure.cms',
    'The CMS structure can be read.',
    `${signers}, ${data.certificates.length} certificates`,
  );
  const inside = counter === undefined ? unreadable : [];
  if (options.contentInside !== false || counter !== undefined) return [read, ...inside];
  if (data.content !== undefined) {
    return [
      read,
      ...inside,
      failed('structure.content', 'Content inside takes the place of the signed content.'),
    ];
  }
  return [read, ...inside, passed('structure.content', 'The content is outside.')];
}

function attributeFindings(
  signer: SignerInfo,
  context: SignerContext,
  { certificate }: BoundCertificate,
  claimed: number | undefined,
): Finding[] {
  const { attributes } = signer;
  const { data, options, counter } = context;
  if (attributes === undefined) return plainFindings(signer, context, certificate);
  const uniqueness = checkUniqueness(attributes);
  if (uniqueness.status === 'failed') return [uniqueness];
  const hash = HASH_BY_OID.get(signer.digestAlgorithm);
  if (hash === undefined) {
    return [uniqueness, unknownDigest(signer)];
  }
  const actual = counter === undefined ? data.contentType : undefined;
  const expected = counter === undefined ? (options.contentType ?? actual) : undefined;
  const protection = checkProtection(attributes, signer);
  const order = checkOrder(attributes);
  return [
    uniqueness,
    checkContentType(attributes, expected, actual),
    checkMessageDigest(attributes, hash, context.contentDigest(hash)),
    ...signingTimeFindings(options, claimed),
    ...(order === undefined ? [] : [order]),
    ...(protection === undefined ? [] : [protection]),
    ...(certificate === undefined
      ? unsupportedFindings(signer)
      : valueFindings(signer, attributesFault(signer, attributes, hash, certificate))),
  ];
}

function unknownDigest({ digestAlgorithm }: SignerInfo): Finding {
  const message = `The digest algorithm ${algorithmName(digestAlgorithm)} is not supported.`;
  return failed('digest.algorithm', message, 'CRYPTO_CONSTRAINTS_FAILURE');
}

/** Names an unknown signature algorithm also where no certificate is at hand. */
function unsupportedFindings({ signatureAlgorithm }: SignerInfo): Finding[] {
  const fault = unsupportedAlgorithm(signatureAlgorithm);
  return fault === undefined ? [] : [unsupportedFinding(fault)];
}

/**
 * Examines a signature without signed attributes, which is over the content itself (RFC 5652 §5.4). Its value can be right, but
 * nothing that it covers names its certificate, and other content could be read as the attributes of such a signature.
 */
function plainFindings(
  signer: SignerInfo,
  { data, counter, content }: SignerContext,
  certificate: Certificate | undefined,
): Finding[] {
  if (counter === undefined && data.contentType !== OID.data) {
    const message = 'There are no signed attributes, which content of this type must have.';
    return [failed('attributes.signed', message, 'FORMAT_FAILURE', data.contentType)];
  }
  const hash = HASH_BY_OID.get(signer.digestAlgorithm);
  if (hash === undefined) return [WITHOUT_ATTRIBUTES, unknownDigest(signer)];
  if (certificate === undefined) return [WITHOUT_ATTRIBUTES, ...unsupportedFindings(signer)];
  const value = withinWorkBudget(
    () => {
      const signed = content();
      if (signed === undefined) return [NO_CONTENT];
      const fault = signatureFault(signer, signed, hash, certificate);
      return [...(fault === undefined ? [COVERED_CONTENT] : []), ...valueFindings(signer, fault)];
    },
    () => [WORK_BUDGET_EXCEEDED],
  );
  return [WITHOUT_ATTRIBUTES, ...value];
}

const WITHOUT_ATTRIBUTES: Finding = failed(
  'attributes.signed',
  'There are no signed attributes, so nothing that was signed names the certificate.',
  'SIG_CONSTRAINTS_FAILURE',
);
const COVERED_CONTENT: Finding = passed('digest.content', 'The signature value is over the content itself.');
const NO_CONTENT: Finding = failed(
  'digest.content',
  'The signed content is not at hand.',
  'SIGNED_DATA_NOT_FOUND',
);

function signingTimeFindings({ signingTime }: InspectCmsOptions, claimed: number | undefined): Finding[] {
  if (signingTime === undefined) return [];
  const good = (signingTime === 'present') === (claimed !== undefined);
  const missing = 'The time of signing is not claimed, which baseline signatures have to.';
  const surplus =
    'The time of signing stands inside the CMS structure, where baseline signatures of PDFs have none.';
  const message = good
    ? 'The claimed time of signing stands where it has to.'
    : signingTime === 'present'
      ? missing
      : surplus;
  return [{ status: good ? 'passed' : 'warning', type: 'attributes.signing-time', message }];
}

/** True when the attributes of baseline B are present (EN 319 122-1 §6.3), valid or not. */
function isBaseline(
  { data, options, counter }: SignerContext,
  { bound }: BoundCertificate,
  claimed: number | undefined,
): boolean {
  const timed =
    options.signingTime === undefined || (options.signingTime === 'present') === (claimed !== undefined);
  return bound && timed && (counter !== undefined || data.contentType === OID.data);
}

/** Examines SignerInfos over this one's signature value (RFC 5652 §11.4); one beyond the limits fails. */
function counterSignatures(signer: SignerInfo, context: SignerContext): SignatureInfo[] {
  const depth = (context.counter ?? 0) + 1;
  const values = signer.unsignedAttributes?.values.get(OID.counterSignature) ?? [];
  const facts: SignatureInfo[] = [];
  if (signer.unsignedAttributes?.empty.has(OID.counterSignature) === true) {
    const name = `${context.name}, counter-signature`;
    facts.push({ ...withoutSignature(EMPTY_COUNTER_SIGNATURE, context.options), name });
  }
  for (const [index, value] of values.entries()) {
    const name = `${context.name}, counter-signature ${index + 1}`;
    const scope: SignatureScope = { kind: 'signature', description: `the signature of ${context.name}` };
    if (depth > MAX_COUNTER_DEPTH || !context.budget.trySpend(1)) {
      const message = 'There are more counter-signatures, or deeper ones, than are looked at.';
      const finding = failed('structure.count', message, 'GENERIC');
      facts.push({ ...withoutSignature(finding, context.options), name, scope });
      break;
    }
    const contentDigest = (hash: HashName) => createHash(hash).update(signer.signature).digest();
    const content = () => signer.signature;
    const inner: SignerContext = { ...context, name, scope, contentDigest, content, counter: depth };
    facts.push(readCounter(() => guardedInfo(parseSignerInfo(value), inner), inner));
  }
  return facts;
}

const EMPTY_COUNTER_SIGNATURE: Finding = failed(
  'counter-signature',
  'A counter-signature holds no signature.',
  'GENERIC',
);

function readCounter(read: () => SignatureInfo, { name, scope, options }: SignerContext): SignatureInfo {
  try {
    return read();
  } catch (error) {
    return { ...unreadableInfo('The counter-signature', error, options), name, scope };
  }
}

function evidenceRecords({ unsignedAttributes }: SignerInfo): Finding[] {
  const types = [OID.evidenceRecordInternal, OID.evidenceRecordExternal];
  if (!types.some((type) => unsignedAttributes?.values.has(type))) return [];
  return [warned('evidence-record', 'The signature has evidence records, which are not evaluated.')];
}

/** Reports ignored certificates with reasons, such as a duplicate extension (RFC 5280 §4.2). */
function unreadableCertificates(certificates: readonly Buffer[]): Finding[] {
  const reasons = certificates.flatMap((der) => {
    try {
      readCertificate(der);
      return [];
    } catch (error) {
      if (error instanceof CryptoError) return [error.message];
      throw error;
    }
  });
  if (reasons.length === 0) return [];
  const message = 'A certificate in the signature cannot be read and is passed over.';
  const detail = [...new Set(reasons)].slice(0, 5).join(' ');
  return [warned('certificate.unreadable', message, detail)];
}

/** Builds the result for an unreadable signature; what is beyond a limit of the reader may be right. @throws other errors */
function unreadableInfo(what: string, error: unknown, options: InspectCmsOptions): SignatureInfo {
  if (!(error instanceof Asn1Error)) throw error;
  const subIndication = error instanceof Asn1LimitError ? 'GENERIC' : 'FORMAT_FAILURE';
  const finding = failed('structure.cms', `${what} can't be read: ${error.message}.`, subIndication);
  return withoutSignature(finding, options);
}

function withoutSignature(
  finding: Finding,
  { format, scope, name = 'signer 1' }: InspectCmsOptions,
): SignatureInfo {
  return { ...UNKNOWN_SIGNATURE_INFO, format, name, scope, findings: [finding] };
}
