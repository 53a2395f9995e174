/**
 * Time-stamps of a signature and the data each one must cover (EN 319 132-1 §5.2.8, §5.3, §5.5). Token checks are
 * shared with the other formats; this file computes the message imprints.
 */
import { createHash } from 'node:crypto';
import { type Finding, failed, warned } from '../../core/validation-report.ts';
import { type Evidence, NO_EVIDENCE } from '../../evidence/authorities.ts';
import { joinEvidence, readableAnswers } from '../../evidence/embedded-evidence.ts';
import type { ImprintSource } from '../../evidence/timestamp-reader.ts';
import { readTimestampInfo, type TimestampInfo, timestampInfo } from '../../validation/signature-info.ts';
import type { Certificate } from '../../x509/certificate.ts';
import { hashNamed } from '../../x509/signature-algorithms.ts';
import type { ByteSink, CanonicalMethod } from '../../xml/index.ts';
import { DS, XADES, XADES_141 } from '../elements/identifiers.ts';
import { DEFAULT_CANONICAL } from './algorithms.ts';
import type { QualifyingProperties } from './qualifying-properties.ts';
import { DataFault, type FoundData, type ReferenceContext, writeData, writeNode } from './reference-data.ts';
import {
  attributeOf,
  base64Of,
  childrenNamed,
  FormFault,
  is,
  type SignatureNode,
  subIndicationOf,
  UnsupportedFault,
} from './signature-node.ts';
import { type ReferenceFormat, readableBase64 } from './signed-info.ts';
import { canonicalMethod, TransformFault } from './transforms.ts';

/** A reference of SignedInfo; `data` is undefined when it can't be obtained. */
interface LocatedReference {
  readonly form: ReferenceFormat;
  readonly data: FoundData | undefined;
  readonly isProperties: boolean;
}

interface StampedSignature {
  readonly context: ReferenceContext;
  readonly signature: SignatureNode;
  readonly references: readonly LocatedReference[];
  readonly properties: QualifyingProperties;
  readonly certificates: readonly Certificate[];
}

interface FoundTimestamps {
  /** Content time-stamps first, then document order: each one covers only earlier ones. */
  readonly timestamps: readonly TimestampInfo[];
  readonly findings: readonly Finding[];
}

/** Limit of time-stamps in one signature; each costs a public-key operation. Renewed archives have a handful. */
const MAX_TIMESTAMPS = 32;

/** Kinds that the report names and that prove nothing here. */
const OUTDATED: ReadonlyMap<string, string> = new Map([
  [`${XADES} RefsOnlyTimeStamp`, 'a time-stamp over references alone'],
  [`${XADES} SigAndRefsTimeStamp`, 'a time-stamp over the signature and references'],
  [`${XADES_141} RefsOnlyTimeStampV2`, 'a time-stamp over references alone'],
  [`${XADES_141} SigAndRefsTimeStampV2`, 'a time-stamp over the signature and references'],
  [`${XADES} ArchiveTimeStamp`, 'an archive time-stamp of the older form'],
]);

export function timestampsOf(stamped: StampedSignature): FoundTimestamps {
  const { properties } = stamped;
  const findings: Finding[] = [];
  const timestamps: TimestampInfo[] = [];
  const all = [...(properties.signed?.timestamps ?? []), ...properties.unsigned];
  for (const node of all) {
    const outdated = OUTDATED.get(`${node.namespace} ${node.local}`);
    if (outdated !== undefined) {
      findings.push(warned('timestamp.outdated', `It has ${outdated}, which is not looked at.`));
      continue;
    }
    const kind = kindOf(node);
    if (kind === undefined) continue;
    if (timestamps.length >= MAX_TIMESTAMPS) {
      findings.push(warned('timestamp.count', `More than ${MAX_TIMESTAMPS} time-stamps are not looked at.`));
      break;
    }
    timestamps.push(...tokensOf(node, kind, stamped));
  }
  return { timestamps, findings: [...findings, ...orderFindings(timestamps)] };
}

function kindOf(node: SignatureNode): TimestampInfo['kind'] | undefined {
  if (is(node, XADES, 'SignatureTimeStamp')) return 'signature';
  if (is(node, XADES_141, 'ArchiveTimeStamp')) return 'archive';
  if (is(node, XADES, 'AllDataObjectsTimeStamp') || is(node, XADES, 'IndividualDataObjectsTimeStamp'))
    return 'content';
  return undefined;
}

/**
 * Reads XAdESTimeStampType: one canonicalization, one or more tokens over the same bytes.
 *
 * XAdESTimeStampType = Include*, ds:CanonicalizationMethod?, (EncapsulatedTimeStamp | XMLTimeStamp)+, @Id?
 */
function tokensOf(
  node: SignatureNode,
  kind: TimestampInfo['kind'],
  stamped: StampedSignature,
): TimestampInfo[] {
  const tokens = childrenNamed(node, XADES, 'EncapsulatedTimeStamp');
  if (tokens.length === 0) return [broken(kind, `${node.local} holds no time-stamp that can be read.`)];
  return tokens.slice(0, MAX_TIMESTAMPS).map((token) => {
    let der: Buffer | undefined;
    try {
      der = base64Of(token);
      const method = methodOf(node);
      const imprint = imprintSource((sink) => writeCovered(node, method, stamped, sink));
      const facts = timestampInfo(kind, der, imprint, stamped.certificates);
      return kind === 'archive' ? { ...facts, covers: coveredBefore(node, stamped.properties) } : facts;
    } catch (error) {
      if (!(error instanceof DataFault || error instanceof FormFault || error instanceof TransformFault)) {
        throw error;
      }
      const subIndication =
        error instanceof DataFault
          ? error.subIndication
          : error instanceof FormFault
            ? subIndicationOf(error)
            : 'GENERIC';
      const message = `What the time-stamp covers can't be told: ${error.message}.`;
      const fault = broken(kind, message, subIndication);
      // The time in the token is readable all the same.
      return der === undefined ? fault : readTimestampInfo(kind, der, () => fault.findings);
    }
  });
}

/** Lists the parts that an archive time-stamp proves: the signed parts and earlier properties. */
function coveredBefore(
  node: SignatureNode,
  { unsigned }: QualifyingProperties,
): NonNullable<TimestampInfo['covers']> {
  const at = unsigned.indexOf(node);
  return (der) => !holds(unsigned.slice(at), der) || holds(unsigned.slice(0, at), der);
}

function holds(properties: readonly SignatureNode[], der: Buffer): boolean {
  const { certificates, crls, ocsps } = evidenceIn(properties);
  const tokens = properties
    .flatMap((property) => childrenNamed(property, XADES, 'EncapsulatedTimeStamp'))
    .flatMap(readableBase64);
  return [...certificates, ...crls, ...ocsps, ...tokens].some((part) => part.includes(der));
}

function methodOf(node: SignatureNode): CanonicalMethod {
  const [method] = childrenNamed(node, DS, 'CanonicalizationMethod');
  // An empty name is written for the method that counts where none is named.
  if (method === undefined || attributeOf(method, 'Algorithm') === '') return DEFAULT_CANONICAL;
  return canonicalMethod(method);
}

function imprintSource(write: (sink: ByteSink) => void): ImprintSource {
  return (algorithm) => {
    const name = hashNamed(algorithm);
    if (name === undefined) return undefined;
    const hash = createHash(name);
    write(hash);
    return hash.digest();
  };
}

function writeCovered(
  node: SignatureNode,
  method: CanonicalMethod,
  stamped: StampedSignature,
  sink: ByteSink,
): void {
  const { context, signature } = stamped;
  const write = (part: SignatureNode): void => void writeNode(context, part, method, sink);
  // The form of XAdES 1.1.1.
  if (childrenNamed(node, XADES, 'HashDataInfo').length > 0)
    throw new UnsupportedFault('it names its parts by HashDataInfo');
  if (is(node, XADES, 'SignatureTimeStamp')) {
    const values = childrenNamed(signature, DS, 'SignatureValue');
    // It is always over the value; some programs name that too.
    const names = childrenNamed(node, XADES, 'Include').map((one) => attributeOf(one, 'URI') ?? '');
    if (!names.every((uri) => values.some((value) => uri === `#${attributeOf(value, 'Id') ?? ''}`)))
      throw new FormFault('it names what it covers, which a signature time-stamp does not');
    values.forEach(write);
  } else if (is(node, XADES_141, 'ArchiveTimeStamp')) {
    writeArchived(node, method, stamped, sink);
  } else if (is(node, XADES, 'AllDataObjectsTimeStamp')) {
    for (const reference of stamped.references) {
      if (!reference.isProperties) writeReference(stamped, reference, method, sink);
    }
  } else {
    for (const include of childrenNamed(node, XADES, 'Include')) {
      writeReference(stamped, includedReference(stamped, include), method, sink);
    }
  }
}

/** Writes the imprint's data (§5.5.2.2): referenced data, signature parts, earlier properties, other objects. */
function writeArchived(
  node: SignatureNode,
  method: CanonicalMethod,
  stamped: StampedSignature,
  sink: ByteSink,
): void {
  const { context, signature, properties, references } = stamped;
  if (childrenNamed(node, XADES, 'Include').length > 0)
    throw new FormFault('an archive time-stamp whose parts are distributed is not read');
  const before = properties.unsigned.slice(0, properties.unsigned.indexOf(node));
  writeArchivedStart(context, signature, {
    references: references.map(dataOf),
    unsigned: before,
    method,
    sink,
  });
  writeArchivedObjects(context, signature, method, sink);
}

function writeReference(
  { context, signature }: StampedSignature,
  reference: LocatedReference,
  method: CanonicalMethod,
  sink: ByteSink,
): void {
  writeData(context, dataOf(reference), { signature, sink, method });
}

/** Returns the data of a reference. @throws {DataFault} */
function dataOf({ form, data }: LocatedReference): FoundData {
  if (data !== undefined) return data;
  throw new DataFault(
    'SIGNED_DATA_NOT_FOUND',
    `what the reference "${form.uri ?? ''}" is over is not at hand`,
  );
}

/** Finds the reference of SignedInfo that xades:Include names by Id (§5.1.4.4.3). */
function includedReference({ references }: StampedSignature, include: SignatureNode): LocatedReference {
  if (include.older !== undefined)
    throw new UnsupportedFault(`it names its parts as XAdES ${include.older} does`);
  const uri = attributeOf(include, 'URI') ?? '';
  const named = references.filter(({ form }) => form.id !== undefined && uri === `#${form.id}`);
  const [reference, ...more] = named;
  if (reference === undefined || more.length > 0 || attributeOf(include, 'referencedData') !== 'true') {
    throw new FormFault('it covers something else than the data of references');
  }
  return reference;
}

/** Reports a time-stamp older than one it covers (EN 319 102-1 §5.6.2). */
function orderFindings(timestamps: readonly TimestampInfo[]): Finding[] {
  let latest = Number.NEGATIVE_INFINITY;
  for (const { kind, token } of timestamps) {
    if (token === undefined) continue;
    // Signature time-stamps are parallel; an archive time-stamp covers all earlier ones.
    if ((kind === 'archive' || kind === 'signature') && token.genTime < latest) {
      const message = 'A time-stamp is older than one that it covers.';
      return [failed('timestamp.order', message, 'TIMESTAMP_ORDER_FAILURE')];
    }
    if (kind !== 'signature') latest = Math.max(latest, token.genTime);
  }
  return [];
}

function broken(
  kind: TimestampInfo['kind'],
  message: string,
  subIndication?: DataFault['subIndication'],
): TimestampInfo {
  return { kind, token: undefined, findings: [failed('timestamp.structure', message, subIndication)] };
}

// Data that an archive time-stamp of a signature in a document covers (EN 319 132-1 §5.5.2): all signed data, parts
// of the signature, the unsigned properties before the time-stamp, and the other objects.

/**
 * Writes the covered data up to and including the existing unsigned properties.
 * @throws {DataFault}
 */
export function writeArchivedStart(
  context: ReferenceContext,
  signature: SignatureNode,
  {
    references,
    unsigned,
    method,
    sink,
  }: {
    /** Data of each reference of SignedInfo, in order. */
    readonly references: readonly FoundData[];
    /** The properties before the time-stamp. */
    readonly unsigned: readonly SignatureNode[];
    readonly method: CanonicalMethod;
    readonly sink: ByteSink;
  },
): void {
  for (const data of references) writeData(context, data, { signature, sink, method });
  for (const local of ['SignedInfo', 'SignatureValue', 'KeyInfo']) {
    for (const node of childrenNamed(signature, DS, local)) writeNode(context, node, method, sink);
  }
  for (const property of unsigned) writeNode(context, property, method, sink);
}

/**
 * Writes the objects after the unsigned properties: every object except the one with the qualifying properties.
 * @throws {DataFault}
 */
export function writeArchivedObjects(
  context: ReferenceContext,
  signature: SignatureNode,
  method: CanonicalMethod,
  sink: ByteSink,
): void {
  for (const object of childrenNamed(signature, DS, 'Object')) {
    if (childrenNamed(object, XADES, 'QualifyingProperties').length === 0)
      writeNode(context, object, method, sink);
  }
}

// Certificates and revocation values in a signature for later validation (EN 319 132-1 §5.4).

/** Limit of values in one signature; one renewed for decades has a few dozen. */
const MAX_VALUES = 2000;

const HOLDERS: ReadonlySet<string> = new Set([
  `${XADES} CertificateValues`,
  `${XADES} RevocationValues`,
  `${XADES} AttrAuthoritiesCertValues`,
  `${XADES} AttributeRevocationValues`,
  `${XADES_141} TimeStampValidationData`,
  `${XADES_141} AnyValidationData`,
]);

/**
 * Collects the evidence; counts values that cannot be read. @param unsigned unsigned properties of the signature
 *
 * CertificateValues, AttrAuthoritiesCertValues = EncapsulatedX509Certificate*
 * RevocationValues, AttributeRevocationValues  = CRLValues { EncapsulatedCRLValue+ }?, OCSPValues { EncapsulatedOCSPValue+ }?
 */
export function evidenceIn(unsigned: readonly SignatureNode[]): Evidence {
  const certificates: Buffer[] = [];
  const crls: Buffer[] = [];
  const ocsps: Buffer[] = [];
  let left = MAX_VALUES;
  let unread = 0;
  const values = (nodes: readonly SignatureNode[], local: string): Buffer[] => {
    const found = nodes.flatMap((node) => childrenNamed(node, XADES, local)).slice(0, left);
    left -= found.length;
    const decoded = found.flatMap(readableBase64);
    unread += found.length - decoded.length;
    return decoded;
  };
  const collect = (node: SignatureNode): void => {
    certificates.push(...values([node], 'EncapsulatedX509Certificate'));
    crls.push(...values(childrenNamed(node, XADES, 'CRLValues'), 'EncapsulatedCRLValue'));
    ocsps.push(...values(childrenNamed(node, XADES, 'OCSPValues'), 'EncapsulatedOCSPValue'));
  };
  for (const node of unsigned) {
    if (!HOLDERS.has(`${node.namespace} ${node.local}`)) continue;
    collect(node);
    for (const inner of node.children) if (HOLDERS.has(`${inner.namespace} ${inner.local}`)) collect(inner);
  }
  return joinEvidence({ ...NO_EVIDENCE, unread }, { certificates, ...readableAnswers({ crls, ocsps }) });
}
