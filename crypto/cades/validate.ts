/** Inspects a CAdES file: enveloping or detached, in DER, BER or text, of any size (EN 319 122-1). */

import { basename } from 'node:path';
import { OID } from '../asn1/oids.ts';
import { Asn1Error, childrenOf, readElement, TAG } from '../asn1/read.ts';
import { parseSignedData } from '../cms/parse.ts';
import type { Source } from '../core/files.ts';
import { HEADER_BYTES, isCmsHeader, unsupportedForm } from '../core/header-format.ts';
import { CryptoError } from '../core/types.ts';
import { type Finding, failed, passed, warned } from '../core/validation-report.ts';
import { BYTES_HASHED_PER_STEP, WorkBudget } from '../core/work-budget.ts';
import { NO_EVIDENCE } from '../evidence/authorities.ts';
import { readTimestampResponse } from '../evidence/timestamp-authority.ts';
import { type FileSignatures, type SignatureInfo, timestampInfo } from '../validation/signature-info.ts';
import { inspectCms } from '../validation/signed-data/signed-data-report.ts';
import { timestampSignature } from '../validation/timestamp-signature.ts';
import { type Certificate, certificatesIn, readableCertificates } from '../x509/certificate.ts';
import { hashNamed } from '../x509/signature-algorithms.ts';
import { signatureSource } from './armor-reader.ts';
import { MAX_TAIL } from './ber-file-reader.ts';
import { contentTypeName, contentTypeOf } from './content-type.ts';
import {
  type ContentDigests,
  digestOf,
  readSignatureFile,
  type SignatureFile,
  type UnreadableFile,
} from './signed-content.ts';

interface InspectCadesOptions {
  /** Content of a detached signature. */
  readonly content?: Source;
  /** Candidates for certificates that the file lacks; untrusted. */
  readonly certificates?: readonly Certificate[];
}

/** Most signature files inside each other. */
const MAX_DEPTH = 4;

/**
 * Reads the file once, and its content again only for a digest that the file did not announce. Malformed bytes are
 * findings. Content that is itself a signature follows with its signatures, whose names begin with `content: `. A
 * time-stamp token is reported as a time-stamp of the content given beside it (RFC 3161 §2.4.2), as is the one in an
 * authority's answer.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function inspectCades(file: Source, options: InspectCadesOptions = {}): FileSignatures {
  const { content, certificates = [] } = options;
  const answer = answerIn(file);
  if (answer !== undefined) return inspectAnswer(answer, options);
  const read = readSignatureFile(file, content);
  if ('reason' in read) return { signatures: [], findings: [unreadable(file, read)] };
  const work = WorkBudget.forFile(file.size + (content?.size ?? 0));
  const kind = kindOf(read);
  if (kind === 'certificates') return { signatures: [], findings: [NO_SIGNER], work };
  if (kind === 'time-stamp') return { ...looseTimestamp(file, read, options), work };
  const context: InspectionContext = { certificates, work };
  const inside = signaturesInside(read.content, context, 1);
  return {
    signatures: [...signaturesOf(read, context), ...inside.signatures],
    findings: [
      ...(content === undefined ? [] : read.content.compare()),
      ...outside(read),
      ...inside.findings,
    ],
    ...(read.place && { content: [read.place] }),
    work,
  };
}

/** Values common to the signatures of one file. */
export interface InspectionContext {
  /** Candidates for certificates that the file lacks; untrusted. */
  readonly certificates: readonly Certificate[];
  readonly work: WorkBudget;
}

function signaturesOf(
  { der, content }: SignatureFile,
  { certificates, work }: InspectionContext,
): FileSignatures['signatures'] {
  const { bytes, length = 0 } = content;
  return inspectCms(der, {
    format: 'Cades',
    scope: content.scope,
    signingTime: 'present',
    contentDigest: (hash) => content.of(hash),
    content: () => {
      work.spend(length / BYTES_HASHED_PER_STEP);
      return bytes;
    },
    around: { certificates, evidence: NO_EVIDENCE },
  });
}

/** A structure that can't be read counts as a signature, which reports the reason. */
function kindOf({ der }: SignatureFile): 'signature' | 'certificates' | 'time-stamp' {
  try {
    const { signers, contentType } = parseSignedData(der);
    if (contentType === OID.timestampInfo) return 'time-stamp';
    return signers.length === 0 ? 'certificates' : 'signature';
  } catch {
    return 'signature';
  }
}

const NO_SIGNER: Finding = failed(
  'file.unsupported',
  'This is a CMS structure without a signer, such as a bundle of certificates; it signs nothing.',
  'GENERIC',
);

function looseTimestamp(file: Source, read: SignatureFile, options: InspectCadesOptions): FileSignatures {
  const source = signatureSource(file, 'first');
  const length = source.size - read.bytesAfter;
  if (length > MAX_TAIL) {
    return {
      signatures: [],
      findings: [failed('file.unsupported', 'The time-stamp is too large.', 'GENERIC')],
    };
  }
  return { signatures: [tokenSignature(source.read(0, length), options)], findings: outside(read) };
}

function tokenSignature(der: Buffer, { content, certificates = [] }: InspectCadesOptions): SignatureInfo {
  const description = content === undefined ? 'a file that is not at hand' : basename(content.path);
  const covered = (algorithm: string) => {
    const hash = hashNamed(algorithm);
    return hash === undefined || content === undefined ? undefined : digestOf(content, hash);
  };
  const stamp = timestampInfo('content', der, covered, certificates);
  const place = { format: 'Cades', name: 'time-stamp', scope: { kind: 'content', description } } as const;
  return timestampSignature(stamp, place, certificates);
}

type TimestampAnswer = ReturnType<typeof readTimestampResponse>;

/** Reads a TimeStampResp, as `.tsr` files hold it; undefined for other files. A certificate has a third field. */
function answerIn(file: Source): TimestampAnswer | undefined {
  if (file.size > MAX_TAIL || !beginsWithTwoSequences(file.read(0, Math.min(HEADER_BYTES, file.size))))
    return undefined;
  const der = file.read(0, file.size);
  try {
    const fields = childrenOf(readElement(der));
    return fields.length <= 2 && fields[0]?.tag === TAG.sequence ? readTimestampResponse(der) : undefined;
  } catch (error) {
    if (error instanceof Asn1Error) return undefined;
    throw error;
  }
}

/** CMS structures begin with the name of a type instead, so that no large signature is read twice. */
function beginsWithTwoSequences(head: Buffer): boolean {
  const length = head[1] ?? 0;
  return head[0] === TAG.sequence && head[length < 0x80 ? 2 : 2 + (length & 0x7f)] === TAG.sequence;
}

function inspectAnswer(
  { status, text, token }: TimestampAnswer,
  options: InspectCadesOptions,
): FileSignatures {
  const work = WorkBudget.forFile(options.content?.size ?? 0);
  if (status <= 1 && token !== undefined)
    return { signatures: [tokenSignature(token, options)], findings: [], work };
  const message = `The authority granted no time-stamp: its answer has the status ${status}${text === '' ? '' : ` (${text})`}.`;
  return { signatures: [], findings: [failed('timestamp.status', message, 'GENERIC')], work };
}

function signaturesInside(
  content: ContentDigests,
  context: InspectionContext,
  depth: number,
): FileSignatures {
  const { inside } = content;
  if (inside === undefined || !isCmsHeader(inside.start)) return NOTHING;
  if (depth === MAX_DEPTH) return notExamined(`signatures inside each other are examined ${MAX_DEPTH} deep`);
  const file = content.openInside();
  if (file === undefined) return notExamined('it is in pieces and too large to join');
  const read = readSignatureFile(file, undefined);
  if ('reason' in read) return notExamined(`it can't be read: ${read.reason.replace(/\.$/, '')}`);
  // Bundles of certificates and time-stamps are content like any other.
  if (kindOf(read) !== 'signature') return NOTHING;
  if (read.content.inside === undefined) return notExamined('what it is over is not inside it');
  const further = signaturesInside(read.content, context, depth + 1);
  const signatures = [...signaturesOf(read, context), ...further.signatures];
  return {
    signatures: signatures.map((one) => ({ ...one, name: `content: ${one.name}`, isInContent: true })),
    findings: [
      passed('content.signed', 'The content is itself a signature, which is judged too.'),
      ...outside(read),
      ...further.findings,
    ],
  };
}

const NOTHING: FileSignatures = { signatures: [], findings: [] };

function notExamined(reason: string): FileSignatures {
  const message = `The content seems to be a signature, which was not examined: ${reason}.`;
  return { signatures: [], findings: [warned('content.signed', message)] };
}

/** Reports what stands before and after the signature in its file. */
function outside({ bytesAfter, hasTextBefore, behind }: SignatureFile): Finding[] {
  const findings: Finding[] = [];
  if (hasTextBefore) {
    findings.push(warned('structure.leading', 'Text stands before the signature, which nothing covers.'));
  }
  if (bytesAfter > 0 || behind === 'text') {
    const message = 'Bytes follow the end of the signature, which nothing covers.';
    findings.push(warned('structure.trailing', message, bytesAfter > 0 ? `${bytesAfter}` : undefined));
  }
  if (behind === 'signature') findings.push(SEVERAL);
  return findings;
}

/** Says what the file is when it is no signature. What is not supported leaves it INDETERMINATE. */
function unreadable(file: Source, { reason, isBeyondLimit }: UnreadableFile): Finding {
  const form = unsupportedForm(file.read(0, Math.min(HEADER_BYTES, file.size)));
  if (form !== undefined)
    return failed('file.unsupported', `This is ${form}, a form that is not supported.`, 'GENERIC');
  const type = namedType(file);
  if (type !== undefined && type !== OID.signedData)
    return failed('file.unsupported', `This is ${contentTypeName(type)}.`, 'GENERIC', type);
  if (holdsCertificates(file)) return CERTIFICATES;
  const subIndication = isBeyondLimit === true ? 'GENERIC' : 'FORMAT_FAILURE';
  return failed('structure.cms', `This is no CMS signature: ${reason}`, subIndication);
}

const CERTIFICATES: Finding = failed(
  'file.unsupported',
  'This is a certificate, which signs no file. One that a signature lacks is given with `--certificate`.',
  'GENERIC',
);

/** Most bytes of a file that may be certificates. */
const MAX_CERTIFICATES = 1 << 20;

const SEVERAL: Finding = failed(
  'file.unsupported',
  'The file holds several signatures in PEM, of which the first is examined. Verify each in a file of its own.',
  'GENERIC',
);

function holdsCertificates(file: Source): boolean {
  if (file.size > MAX_CERTIFICATES) return false;
  return certificatesIn(file.read(0, file.size)).some((der) => readableCertificates(der).length > 0);
}

function namedType(file: Source): string | undefined {
  try {
    return contentTypeOf(file);
  } catch (error) {
    if (error instanceof CryptoError && error.code === 'cms.malformed') return undefined;
    throw error;
  }
}
