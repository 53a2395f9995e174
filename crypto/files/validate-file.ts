/**
 * Entry point of validation: a file and trust settings in, a report with reasons out.
 *
 * Requests validation material that a file lacks, once per file.
 */
import { basename } from 'node:path';
import { inspectAsic, mayBeContainer } from '../asic/validate.ts';
import { readTimestampedData } from '../cades/timestamped-data.ts';
import { inspectCades } from '../cades/validate.ts';
import { openSource, type Source, SourceRange } from '../core/files.ts';
import { formatOfHeader, HEADER_BYTES } from '../core/header-format.ts';
import { assertRequest } from '../core/request-checks.ts';
import { CryptoError, type InputFile } from '../core/types.ts';
import {
  type Finding,
  failed,
  type SignatureRecord,
  type ValidationReport,
  type ValidationResults,
  warned,
} from '../core/validation-report.ts';
import { WorkBudget } from '../core/work-budget.ts';
import {
  type Evidence,
  type EvidenceSource,
  type GatheredEvidence,
  NO_EVIDENCE,
} from '../evidence/authorities.ts';
import { joinEvidence } from '../evidence/embedded-evidence.ts';
import { timestampSigner } from '../evidence/timestamp-checks.ts';
import { inspectPades } from '../pades/validate.ts';
import { listedIn } from '../validation/chain.ts';
import { withoutCopies } from '../validation/copied-signatures.ts';
import {
  evidenceInTimestamp,
  type FileSignatures,
  type SignatureInfo,
  UNUSED_CONTENT,
} from '../validation/signature-info.ts';
import { timestampSignature } from '../validation/timestamp-signature.ts';
import type { TrustSettings, ValidationRequest } from '../validation/trust.ts';
import { validateSignatures } from '../validation/validate-signature.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { type ContentFinder, inspectXades, type SignedContent } from '../xades/validate.ts';
import { secondFormats } from './second-format.ts';

/** Findings that further validation material can resolve. */
const OPEN: ReadonlySet<string> = new Set(['revocation.unknown', 'revocation.older', 'chain.path']);

/**
 * True when further certificates or responses could resolve an open check of a signature. A check that passed may hold
 * an open one: soft revocation checks only warn inside of a trusted chain.
 */
function isOpen({ errors, warnings, passedChecks }: ValidationResults): boolean {
  return (
    [...errors, ...warnings].some(({ type }) => OPEN.has(type)) ||
    [...errors, ...warnings, ...passedChecks].some(({ inner }) => inner !== undefined && isOpen(inner))
  );
}

interface CollectedEvidence {
  readonly evidence: Evidence;
  /** Open signatures, each with its unresolved checks. */
  readonly signatures: readonly SignatureInfo[];
}

/**
 * Collects evidence for all open signatures of a file at their proven times.
 * @param records of the same signatures, in the same order
 */
async function collectOnlineEvidence(
  signatures: readonly SignatureInfo[],
  records: readonly SignatureRecord[],
  trust: TrustSettings,
  source: EvidenceSource,
): Promise<CollectedEvidence> {
  const gathered = await Promise.all(
    signatures.map((facts, index) => {
      const record = records[index];
      return record === undefined || !isOpen(record.results)
        ? { evidence: NO_EVIDENCE, facts }
        : requestEvidence(facts, record, trust, source);
    }),
  );
  return {
    evidence: joinEvidence(...gathered.map(({ evidence }) => evidence)),
    signatures: gathered.map(({ facts }) => facts),
  };
}

async function requestEvidence(
  facts: SignatureInfo,
  record: SignatureRecord,
  trust: TrustSettings,
  source: EvidenceSource,
): Promise<{ readonly evidence: Evidence; readonly facts: SignatureInfo }> {
  const stamps = facts.timestamps.flatMap(({ token }) => (token === undefined ? [] : [token]));
  const signers = [facts.certificate, ...stamps.map((token) => timestampSigner(token, facts.certificates))];
  const ends = signers.flatMap((certificate) => (certificate === undefined ? [] : [certificate.der]));
  const others = [...facts.certificates, ...stamps.flatMap(({ certificates }) => certificates)];
  const [own, below] = await Promise.all([
    collectFor(source, ends, {
      others: others.map(({ der }) => der),
      at: record.bestTime,
      listed: listedFor(facts, record, trust),
    }),
    collectOnlineEvidence(facts.counterSignatures, record.counterSignatures, trust, source),
  ]);
  const warnings = own.problems.map((message): Finding => warned('revocation.online', message));
  return {
    evidence: joinEvidence(own.evidence, below.evidence),
    facts: { ...facts, findings: [...facts.findings, ...warnings], counterSignatures: below.signatures },
  };
}

/** DER of the listed services at which a path of the signature or of a time-stamp may end. */
function listedFor(
  { certificate, certificates, timestamps, isTimestamp, claimedTime }: SignatureInfo,
  { bestTime: time }: SignatureRecord,
  trust: TrustSettings,
): Buffer[] {
  const genTime = isTimestamp ? claimedTime : undefined;
  const purpose = isTimestamp ? 'timestamp' : 'signature';
  const own = certificate && listedIn({ certificate, others: certificates, trust, purpose, time, genTime });
  const stamps = timestamps.flatMap(({ token }) => {
    const signer = token && timestampSigner(token, certificates);
    if (token === undefined || signer === undefined) return [];
    const others = [...token.certificates, ...certificates];
    return listedIn({ certificate: signer, others, trust, purpose: 'timestamp', time: token.genTime });
  });
  return [...(own ?? []), ...stamps].map(({ der }) => der);
}

async function collectFor(
  source: EvidenceSource,
  ends: readonly Buffer[],
  {
    others,
    at,
    listed,
  }: { readonly others: readonly Buffer[]; readonly at: number; readonly listed: readonly Buffer[] },
): Promise<GatheredEvidence> {
  if (source.gather !== undefined) return source.gather(ends, others, at, listed);
  try {
    return { evidence: await source.collect(ends, others, at), problems: [] };
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error;
    return { evidence: NO_EVIDENCE, problems: [error.message] };
  }
}

/** A signed file with what belongs to it. */
export interface SignedFileRequest<Input extends InputFile = string> {
  /** Format of the file; `Cades` or `Xades` also accepts a container, which is recognised by its first bytes. */
  readonly format: ValidationReport['format'];
  /** The signed file, or the detached signature. */
  readonly path: Input;
  /** The content of detached signatures: one file, or several, which references select by name. */
  readonly content?: Input | readonly Input[];
  /**
   * Files that follow each other in the file at `path`: the signed file first, then its content. @default the file is
   * the signed one
   */
  readonly files?: readonly { readonly name: string; readonly length: number }[];
  /** Password of an encrypted PDF. */
  readonly password?: string;
  /**
   * DER of candidates for a signer's certificate that a signature does not hold; untrusted, as
   * `trust.intermediates`, which are candidates too. A candidate counts when signed attributes name it by its digest;
   * without such attributes, when its key made the value, and, in CMS, it has the issuer and serial number or the key
   * identifier of the signer. @default none
   */
  readonly certificates?: readonly Buffer[];
}

export interface ValidateFileRequest<Input extends InputFile = string>
  extends SignedFileRequest<Input>,
    ValidationRequest {}

/**
 * Validates the signatures of one file. Malformed bytes and invalid signatures are a report, never an
 * exception. When the embedded evidence is not sufficient, or older than what it must prove, `trust.online` is called
 * once, if given.
 * Source: EN 319 102-1 §5.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.too-large`; `certificate.malformed` for a trust
 * anchor that can't be read; `request.invalid`
 */
export async function validateFile(request: ValidateFileRequest<InputFile>): Promise<ValidationReport> {
  assertRequest(Object.keys(READERS), request, ['at']);
  const { trust, certificates = [] } = request;
  if (!Array.isArray(trust?.anchors))
    throw new CryptoError('request.invalid', '`trust.anchors` is no list of certificates; it may be empty.');
  const given = [...certificates, ...(trust.intermediates ?? [])];
  return readSignatures({ ...request, certificates: given }).validate(request);
}

/** The signatures of a file that was read. */
export interface ReadSignatures {
  /**
   * Validates them as `validateFile` does, without reading the file; of `trust.intermediates`, none is a candidate for a
   * signer's certificate. @throws {CryptoError} `certificate.malformed`
   */
  validate(request: ValidationRequest): Promise<ValidationReport>;
}

/**
 * Reads the signatures of one file, for validations that differ in time or trust.
 * @throws {CryptoError} `input.unreadable`, `input.changed`, `input.too-large`, `request.invalid`
 */
export function readSignatures(request: SignedFileRequest<InputFile>): ReadSignatures {
  assertRequest(Object.keys(READERS), request, []);
  const { format, facts, size } = inspectFiles(request);
  let isFirst = true;
  return {
    validate(validation) {
      // What was read has cost a part of the first one's work.
      const work = isFirst ? facts.work : WorkBudget.forFile(size);
      isFirst = false;
      return validateRead(format, { ...facts, ...(work && { work }) }, validation);
    },
  };
}

async function validateRead(
  format: ValidationReport['format'],
  facts: FileSignatures,
  request: ValidationRequest,
): Promise<ValidationReport> {
  const { trust } = request;
  const report = validateSignatures(format, facts, request);
  const open = report.signatures.some(({ results }) => isOpen(results));
  if (trust.online === undefined || trust.revocation === 'none' || !open) return report;
  const { evidence, signatures } = await collectOnlineEvidence(
    facts.signatures,
    report.signatures,
    trust,
    trust.online,
  );
  const known = trust.evidence === undefined ? evidence : joinEvidence(trust.evidence, evidence);
  return validateSignatures(
    format,
    { ...facts, signatures },
    { ...request, trust: { ...trust, evidence: known, asked: evidence } },
  );
}

/** Opens and inspects the files; closes them before any service is called. */
function inspectFiles({
  format: requested,
  path,
  content,
  files,
  password,
  certificates = [],
}: SignedFileRequest<InputFile>): {
  readonly format: ValidationReport['format'];
  readonly facts: FileSignatures;
  /** Of the signed file, bytes. */
  readonly size: number;
} {
  const sources: Source[] = [];
  try {
    const open = (name: InputFile): Source => {
      const source = openSource(name, password);
      sources.push(source);
      return source;
    };
    const whole = open(path);
    const [source = whole, ...parts] = files === undefined || files.length < 2 ? [] : partsOf(whole, files);
    const contents = [
      ...parts,
      ...(content === undefined ? [] : Array.isArray(content) ? content : [content]).map(open),
    ];
    const format = requested !== 'Pades' && mayBeContainer(source) ? 'Asic' : requested;
    const given = certificates.flatMap(readableCertificates);
    const facts = withoutCopies(READERS[format]({ source, contents, given }));
    for (const one of sources) one.assertUnchanged();
    const findings = [
      ...facts.findings,
      ...secondFormats(source, format, facts.content),
      ...(contents.length > 0 && HOLDS_ITS_CONTENT[format] ? [UNUSED_CONTENT] : []),
    ];
    const { size } = source;
    return { format, size, facts: { work: WorkBudget.forFile(size), ...facts, findings } };
  } finally {
    for (const source of sources) source.close();
  }
}

/** @throws {CryptoError} `input.changed` when the file ends before its parts do */
function partsOf(whole: Source, files: NonNullable<ValidateFileRequest<InputFile>['files']>): Source[] {
  let start = 0;
  return files.map(({ name, length }) => {
    const part = new SourceRange(whole, name, start, length);
    start += length;
    if (start > whole.size)
      throw new CryptoError('input.changed', `${whole.path} is shorter than the files it was made of.`);
    return part;
  });
}

/** Formats whose signatures are over content inside the file only. */
const HOLDS_ITS_CONTENT: { readonly [format in ValidationReport['format']]: boolean } = {
  Asic: true,
  Pades: true,
  Cades: false,
  Xades: false,
};

interface OpenedFiles {
  readonly source: Source;
  readonly contents: readonly Source[];
  /** Candidates for certificates that the file lacks. */
  readonly given: readonly Certificate[];
}

type Reader = (opened: OpenedFiles) => FileSignatures;

const READERS: { readonly [format in ValidationReport['format']]: Reader } = {
  Asic: ({ source, given }) => inspectAsic(source, given),
  Pades: ({ source, given }) => inspectPades(source, undefined, given),
  Cades: (opened) => inspectTimestampedData(opened) ?? inspectCadesWithContents(opened),
  Xades: ({ source, contents, given }) => inspectXadesWithContents(source, contents, given),
};

/** Most files of time-stamped data inside each other. */
const MAX_STAMPED = 4;

/**
 * Inspects what time-stamped data holds (RFC 5544), and its time-stamps, which prove that the signatures inside existed;
 * undefined for other files.
 */
function inspectTimestampedData(opened: OpenedFiles, depth = 1): FileSignatures | undefined {
  const stamped = readTimestampedData(opened.source, opened.contents[0]);
  if (stamped === undefined) return undefined;
  if ('status' in stamped) return { signatures: [], findings: [stamped] };
  const { content, place, stamps, scope, evidence } = stamped;
  const inside = content === undefined ? NOTHING : inspectInside({ ...opened, source: content }, depth);
  const inner = inside.signatures.map((one) => ({
    ...one,
    name: `content: ${one.name}`,
    isInContent: true as const,
    timestamps: [...one.timestamps, ...stamps],
    evidence: joinEvidence(one.evidence, evidence, ...stamps.map(evidenceInTimestamp)),
  }));
  const proofs = stamps.map((stamp, index) => {
    const place = { format: 'Cades', name: `time-stamp ${index + 1}`, scope } as const;
    const later = { timestamps: stamps.slice(index + 1), evidence };
    return { ...timestampSignature(stamp, place, opened.given), ...later };
  });
  return { ...inside, content: place === undefined ? [] : [place], signatures: [...inner, ...proofs] };
}

const NOTHING: FileSignatures = { signatures: [], findings: [] };

function inspectInside(opened: OpenedFiles, depth: number): FileSignatures {
  const { source } = opened;
  const format = formatOfHeader(source.read(0, Math.min(HEADER_BYTES, source.size)));
  if (format === undefined) return NOTHING;
  if (format !== 'Cades') return READERS[format](opened);
  if (depth === MAX_STAMPED) return { signatures: [], findings: [NESTED] };
  return inspectTimestampedData(opened, depth + 1) ?? inspectCadesWithContents(opened);
}

const NESTED: Finding = failed(
  'file.unsupported',
  `Time-stamped data inside each other is examined ${MAX_STAMPED} deep.`,
  'GENERIC',
);

/** Inspects a CMS signature with the first file whose digest is the signed one. */
function inspectCadesWithContents({ source, contents, given: certificates }: OpenedFiles): FileSignatures {
  const [first, ...more] = contents;
  if (first === undefined) return inspectCades(source, { certificates });
  let inspected = inspectCades(source, { content: first, certificates });
  if (more.length === 0) return inspected;
  for (const content of more) {
    if (hasContent(inspected)) break;
    const other = inspectCades(source, { content, certificates });
    if (hasContent(other)) inspected = other;
  }
  // The signature is over at most one of them.
  return { ...inspected, findings: [...inspected.findings, unused(more.length)] };
}

function hasContent({ signatures }: FileSignatures): boolean {
  return signatures.some(({ findings }) =>
    findings.some(({ type, status }) => COVERS_CONTENT.has(type) && status === 'passed'),
  );
}

/** Findings that hold only with the right content. */
const COVERS_CONTENT: ReadonlySet<string> = new Set(['digest.content', 'timestamp.imprint']);

/** Inspects an XML signature whose references name its files; other files are ignored. */
export function inspectXadesWithContents(
  source: Source,
  contents: readonly Source[],
  given: readonly Certificate[] = [],
): FileSignatures {
  const [first, ...more] = contents;
  if (first === undefined) return inspectXades(source, { given });
  const used = new Set<SignedContent>();
  const content: ContentFinder = (uri) => (uri === undefined ? undefined : contentNamedBy(uri, contents));
  const inspected = inspectXades(source, { content: more.length === 0 ? first : content, used, given });
  const left = contents.length - used.size;
  if (left === 0) return inspected;
  const finding = more.length === 0 ? UNUSED_CONTENT : unused(left);
  return { ...inspected, findings: [...inspected.findings, finding] };
}

function unused(count: number) {
  return { ...UNUSED_CONTENT, message: `No signature is over ${count} of the files given beside it.` };
}

/** Returns the one file whose path ends with the reference; else the one whose name is its last segment. */
function contentNamedBy(uri: string, contents: readonly Source[]): Source | undefined {
  const path = decoded(uri.split(/[?#]/, 1)[0] ?? '').replace(/^\.\//, '');
  const whole = contents.filter((content) => content.path === path || content.path.endsWith(`/${path}`));
  const named = contents.filter((content) => basename(content.path) === basename(path));
  const [found, another] = whole.length > 0 ? whole : named;
  return another === undefined ? found : undefined;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
