/**
 * What is to be found out about the signers of a CMS SignedData from its bytes alone (RFC 5652 §5, EN 319 122-1):
 * for CAdES files, for the CMS inside a PDF, and for the quick check after signing.
 */
import { createHash } from 'node:crypto';
import { Asn1Error } from '../asn1/error.ts';
import { OID } from '../asn1/oids.ts';
import { type Evidence, NO_EVIDENCE } from '../authorities.ts';
import { type Certificate, readableCertificates } from '../certificates/certificate.ts';
import type { SignatureFormat } from '../types.ts';
import { type Finding, NOTHING_KNOWN, type SignatureFacts } from '../validation/facts.ts';
import type { SignatureScope } from '../validation/report.ts';
import {
  checkContentType,
  checkMessageDigest,
  checkProtection,
  checkUniqueness,
  claimedTime,
  contentIdentifierOf,
  policyOf,
} from './facts-attributes.ts';
import { type BoundCertificate, bindCertificate } from './facts-certificate.ts';
import { evidenceInAttributes, evidenceInData, evidenceInTimestamp, joinEvidence } from './facts-evidence.ts';
import { levelOf } from './facts-level.ts';
import { timestampsOf } from './facts-timestamps.ts';
import { algorithmsOf, checkValue } from './facts-value.ts';
import { HASH_BY_OID, type HashName } from './hashes.ts';
import { parseSignedData, parseSignerInfo, type SignedData, type SignerInfo } from './parse.ts';

export interface CmsFactsOptions {
  readonly format: SignatureFormat;
  /** Digest of the content; undefined when the content is not at hand. What it throws comes through. */
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  readonly scope: SignatureScope;
  /** Type the content must have, dotted. Left out: any, as long as it is the signed one. */
  readonly contentType?: string;
  /** False: content inside the structure is an attempt to put it in the place of the real one (PDF). @default true */
  readonly contentInside?: boolean;
  /** Whether a signing-time attribute must be there (CAdES) or must not (PAdES); otherwise it is no baseline signature. */
  readonly signingTime?: 'present' | 'absent';
  /** `'if-present'` makes a missing binding a warning (signatures older than CAdES). @default 'if-present' */
  readonly signingCertificate?: 'required' | 'if-present';
  /** Further certificates to look for the signer in, and revocation values, from around the structure. */
  readonly around?: { readonly certificates: readonly Certificate[]; readonly evidence: Evidence };
  /** @default `signer 1`, `signer 2` … */
  readonly name?: string;
}

/** Counter-signatures below one signature, all depths together, and how deep they may go. */
const MAX_COUNTER_SIGNATURES = 32;
const MAX_COUNTER_DEPTH = 4;

/**
 * One entry per SignerInfo, and a single one that failed when the structure can't be read or has no signer. `der`
 * must be exactly the structure. Never throws for bad bytes.
 *
 * Findings, in this order: `structure.cms`, `structure.content`, `certificate.signer`, `certificate.binding`,
 * `attributes.signed`, `attributes.content-type`, `digest.content`, `attributes.signing-time`,
 * `algorithm.protection`, `algorithm.agreement`, `signature.value`, `timestamp.outdated`.
 */
export function cmsFacts(der: Buffer, options: CmsFactsOptions): SignatureFacts[] {
  try {
    return signedDataFacts(parseSignedData(der), options);
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return [brokenFacts(`The CMS structure can't be read: ${error.message}.`, options)];
  }
}

/** As `cmsFacts`, for a structure that has been read already. */
export function signedDataFacts(data: SignedData, options: CmsFactsOptions): SignatureFacts[] {
  if (data.signers.length === 0) return [brokenFacts('The CMS structure has no signer.', options)];
  const own = data.certificates.flatMap(readableCertificates);
  const certificates = [...own, ...(options.around?.certificates ?? [])];
  return data.signers.map((signer, index) => {
    const context: SignerContext = {
      data,
      options,
      certificates,
      contentDigest: options.contentDigest,
      name: options.name ?? `signer ${index + 1}`,
      scope: options.scope,
      counter: undefined,
      budget: { left: MAX_COUNTER_SIGNATURES },
    };
    return guardedFacts(signer, context);
  });
}

interface SignerContext {
  readonly data: SignedData;
  readonly options: CmsFactsOptions;
  readonly certificates: readonly Certificate[];
  readonly contentDigest: (hash: HashName) => Buffer | undefined;
  readonly name: string;
  readonly scope: SignatureScope;
  /** Depth, for a counter-signature; it covers a signature value and has no type of content. */
  readonly counter: number | undefined;
  readonly budget: { left: number };
}

/** A signer whose attributes can't be read is one that failed; the others are looked at all the same. */
function guardedFacts(signer: SignerInfo, context: SignerContext): SignatureFacts {
  try {
    return signerFacts(signer, context);
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    const broken = brokenFacts(`The signature can't be read: ${error.message}.`, context.options);
    return { ...broken, name: context.name, scope: context.scope, certificates: context.certificates };
  }
}

function signerFacts(signer: SignerInfo, context: SignerContext): SignatureFacts {
  const { data, options, certificates, name, scope } = context;
  const bound = bindCertificate(signer, certificates, options.signingCertificate === 'required');
  const structure = structureFindings(context);
  const { attributes } = signer;
  const claimed = attributes === undefined ? undefined : claimedTime(attributes);
  const identifier = attributes === undefined ? undefined : contentIdentifierOf(attributes);
  const found = timestampsOf({ data, signer, contentDigest: context.contentDigest, certificates });
  const carried = evidenceInAttributes(attributes, signer.unsignedAttributes);
  const evidence = joinEvidence(evidenceInData(data), carried, options.around?.evidence ?? NO_EVIDENCE);
  const findings = [
    ...structure,
    ...bound.findings,
    ...attributeFindings(signer, context, bound, claimed),
    ...found.findings,
  ];
  const { timestamps } = found;
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
    policy: attributes === undefined ? undefined : policyOf(attributes),
    ...(identifier !== undefined && { contentIdentifier: identifier }),
    counterSignatures: counterSignatures(signer, context),
    isTimestamp: false,
  };
}

function structureFindings({ data, options, counter }: SignerContext): Finding[] {
  const signers = data.signers.length === 1 ? 'one signer' : `${data.signers.length} signers`;
  const read: Finding = {
    status: 'passed',
    type: 'structure.cms',
    message: 'The CMS structure can be read.',
    detail: `${signers}, ${data.certificates.length} certificates`,
  };
  if (options.contentInside !== false || counter !== undefined) return [read];
  if (data.content !== undefined) {
    return [read, failedFormat('structure.content', 'Content inside takes the place of the signed content.')];
  }
  return [read, { status: 'passed', type: 'structure.content', message: 'The content is outside.' }];
}

function attributeFindings(
  signer: SignerInfo,
  context: SignerContext,
  { certificate }: BoundCertificate,
  claimed: number | undefined,
): Finding[] {
  const { attributes } = signer;
  const { data, options, counter } = context;
  if (attributes === undefined) {
    // RFC 5652 allows this for plain data, but then nothing tells content from attributes made for other content.
    return [failedFormat('attributes.signed', 'There are no signed attributes.')];
  }
  const uniqueness = checkUniqueness(attributes);
  if (uniqueness.status === 'failed') return [uniqueness];
  const hash = HASH_BY_OID.get(signer.digestAlgorithm);
  if (hash === undefined) {
    const message = `The digest algorithm ${signer.digestAlgorithm} is not known.`;
    const unknown = { status: 'failed', type: 'digest.algorithm', message } as const;
    return [uniqueness, { ...unknown, subIndication: 'CRYPTO_CONSTRAINTS_FAILURE' }];
  }
  const actual = counter === undefined ? data.contentType : undefined;
  const expected = counter === undefined ? (options.contentType ?? actual) : undefined;
  const protection = checkProtection(attributes, signer);
  return [
    uniqueness,
    checkContentType(attributes, expected, actual),
    checkMessageDigest(attributes, hash, context.contentDigest(hash)),
    ...signingTimeFindings(options, claimed),
    ...(protection === undefined ? [] : [protection]),
    ...(certificate === undefined ? [] : checkValue(signer, attributes, hash, certificate)),
  ];
}

function signingTimeFindings({ signingTime }: CmsFactsOptions, claimed: number | undefined): Finding[] {
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

/** Whether it has all that baseline B asks for (EN 319 122-1 §6.3); whether that is right is another question. */
function isBaseline(
  { data, options, counter }: SignerContext,
  { bound }: BoundCertificate,
  claimed: number | undefined,
): boolean {
  const timed =
    options.signingTime === undefined || (options.signingTime === 'present') === (claimed !== undefined);
  return bound && timed && (counter !== undefined || data.contentType === OID.data);
}

/** RFC 5652 §11.4: SignerInfos over the signature value of this one. */
function counterSignatures(signer: SignerInfo, context: SignerContext): SignatureFacts[] {
  const depth = (context.counter ?? 0) + 1;
  const values = signer.unsignedAttributes?.values.get(OID.counterSignature) ?? [];
  const facts: SignatureFacts[] = [];
  for (const [index, value] of values.entries()) {
    if (depth > MAX_COUNTER_DEPTH || context.budget.left === 0) break;
    context.budget.left--;
    const name = `${context.name}, counter-signature ${index + 1}`;
    const scope: SignatureScope = { kind: 'signature', description: `the signature of ${context.name}` };
    const contentDigest = (hash: HashName) => createHash(hash).update(signer.signature).digest();
    const inner: SignerContext = { ...context, name, scope, contentDigest, counter: depth };
    facts.push(readCounter(() => guardedFacts(parseSignerInfo(value), inner), inner));
  }
  return facts;
}

function readCounter(read: () => SignatureFacts, { name, scope, options }: SignerContext): SignatureFacts {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Asn1Error)) throw error;
    return { ...brokenFacts(`The counter-signature can't be read: ${error.message}.`, options), name, scope };
  }
}

function failedFormat(type: string, message: string): Finding {
  return { status: 'failed', type, message, subIndication: 'FORMAT_FAILURE' };
}

/** A signature about which nothing is known but why. */
function brokenFacts(message: string, { format, scope, name }: CmsFactsOptions): SignatureFacts {
  const findings = [failedFormat('structure.cms', message)];
  return { ...NOTHING_KNOWN, format, name: name ?? 'signer 1', scope, findings };
}
