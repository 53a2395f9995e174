/**
 * Inspects the signatures of a PDF: the bytes each covers, its integrity, and the changes of later revisions
 * (ETSI EN 319 142-1; ISO 32000-2, 12.8). Trust is evaluated in `validateSignatures`.
 */
import { LRUCache } from 'lru-cache';
import type { Source } from '../core/files.ts';
import { CryptoError } from '../core/types.ts';
import { type Finding, failed, passed, type SignatureScope, warned } from '../core/validation-report.ts';
import {
  BYTES_HASHED_PER_STEP,
  WORK_BUDGET_EXCEEDED,
  WorkBudget,
  withinWorkBudget,
} from '../core/work-budget.ts';
import {
  type ByteSource,
  openIntactPdf,
  type PdfDocument,
  PdfSyntaxError,
  pages,
  TREE_FAULTS,
  type TreeFault,
  treeFaults,
  withPdf,
} from '../pdf/index.ts';
import type { FileSignatures, SignatureInfo, TimestampInfo } from '../validation/signature-info.ts';
import { type Certificate, readableCertificates } from '../x509/certificate.ts';
import { type FoundSignature, findSignatures } from './fields/signatures.ts';
import { FileDigests } from './incremental-file.ts';
import { drawsFromElsewhere } from './shown-values/content-elsewhere.ts';
import {
  documentTimestamp,
  isTimestamp,
  type LaterTimestamp,
  type LocatedSignature,
  signatureReport,
  timestampReport,
  unreadableReport,
} from './signature-report.ts';
import {
  type EmbeddedEvidence,
  embeddedEvidence,
  NO_EMBEDDED_EVIDENCE,
} from './validation/embedded-evidence.ts';
import { checkChanges } from './validation/judged-changes.ts';
import { placementFindings } from './validation/placement-findings.ts';
import { type LaterRevision, RevisionHistory } from './validation/revisions.ts';

/** Most signatures inspected; each costs public-key operations. */
const MAX_SIGNATURES = 500;

/** Share of the work budget for comparing revisions; the rest is for signatures, time-stamps and paths. */
const REVISION_WORK_SHARE = 0.6;
/** Steps for one signature: parsing its structure and public-key operations. */
const STEPS_PER_SIGNATURE = 500;

/**
 * Returns the signatures in the order of their coverage, document time-stamps included; unusable ones first.
 *
 * Findings about their place in the file: `pdf.byte-range`, `pdf.contents`, `pdf.field`, `pdf.overlap`,
 * `pdf.revision`, `pdf.structure`, `pdf.changes`, `pdf.covering`, `pdf.sub-filter`, `pdf.signers`,
 * `pdf.claimed-time`, `pdf.cert`, `pdf.filter`, `pdf.elsewhere`, `pdf.pages`, `pdf.repair`, `pdf.entries`; then those of `inspectCms`, or of the time-stamp. Malformed bytes are
 * findings and never throw. Checks beyond the work budget are reported as undecided by `file.work`.
 * @param given candidates for certificates that the file lacks; untrusted
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function inspectPades(
  source: Source,
  work: WorkBudget = WorkBudget.forFile(source.size),
  given: readonly Certificate[] = [],
): FileSignatures {
  const facts = withinWorkBudget(
    () => inspectWithinBudget({ source, work, given }),
    () => ({ signatures: [], findings: [WORK_BUDGET_EXCEEDED] }),
  );
  return { ...facts, work };
}

/** @throws {WorkBudgetExceeded} when even the search for signatures exceeds the budget */
function inspectWithinBudget(file: PdfToInspect): FileSignatures {
  try {
    const blocks = blockSource(file.source);
    return inspectIntact(file, blocks, openIntactPdf(blocks, file.work));
  } catch (error) {
    if (!(error instanceof PdfSyntaxError)) return unreadable(error);
    return inspectRepaired(file, error.message);
  }
}

interface PdfToInspect {
  readonly source: Source;
  readonly work: WorkBudget;
  readonly given: readonly Certificate[];
}

function inspectIntact(file: PdfToInspect, blocks: ByteSource, pdf: PdfDocument): FileSignatures {
  const { work } = file;
  const found = findSignatures(pdf, MAX_SIGNATURES + 1);
  if (found.length > MAX_SIGNATURES) return tooMany();
  const history = new RevisionHistory(blocks, pdf, work.part(REVISION_WORK_SHARE));
  return {
    signatures: new PdfInspection({ ...file, pdf, found, history }).all(),
    findings: [
      passed('pdf.structure', 'The PDF is intact.'),
      ...removedSignatures(blocks, found),
      ...contentElsewhere(pdf),
      ...pageTree(pdf),
      ...(pdf.xref.isMixed === true ? [MIXED] : []),
    ],
  };
}

/** False for an object that cannot be read: what it says is judged where it matters. */
function isReadable(look: () => void): boolean {
  try {
    look();
    return true;
  } catch (error) {
    if (!(error instanceof PdfSyntaxError) && !(error instanceof CryptoError)) throw error;
    return false;
  }
}

/** Most objects of pages that are looked at for content of other files. */
const MAX_DRAWN = 100_000;

function contentElsewhere(pdf: PdfDocument): readonly Finding[] {
  const type = 'pdf.elsewhere';
  const found: number[] = [];
  const unexamined = (): Finding[] =>
    found.length > 0 ? [] : [warned(type, 'Not all pages were examined for content of other files.')];
  const rest = withinWorkBudget(
    () => (isReadable(() => findElsewhere(pdf, found)) ? [] : unexamined()),
    unexamined,
  );
  const message = 'Pages draw what stands in other files, which no signature covers.';
  return found.length === 0 ? rest : [warned(type, message, found.join(', '))];
}

function findElsewhere(pdf: PdfDocument, found: number[]): void {
  const budget = new WorkBudget({ limit: MAX_DRAWN });
  const seen = new Set<number>();
  let page = 0;
  for (const tree of pages(pdf)) {
    page++;
    if (drawsFromElsewhere(pdf, tree, seen, () => budget.spend(1)) && found.push(page) === MAX_LISTED) return;
  }
}

const MIXED: Finding = warned(
  'pdf.repair',
  'The file has cross-references of both kinds, which some programs repair; they may call its signatures broken.',
);

/** Names pages that not all programs show alike. */
function pageTree(pdf: PdfDocument): readonly Finding[] {
  const found: TreeFault[] = [];
  const budget = new WorkBudget({ limit: MAX_DRAWN });
  const rest = withinWorkBudget(
    () => {
      isReadable(() => {
        for (const fault of treeFaults(pdf, () => budget.spend(1))) if (found.push(fault) > MAX_LISTED) break;
      });
      return [];
    },
    () => [warned('pdf.pages', 'Not all of the page tree was examined.')],
  );
  if (found.length === 0) return rest;
  const more = found.length > MAX_LISTED ? ' and more' : '';
  const named = found.slice(0, MAX_LISTED).map(({ page, fault }) => `page ${page} ${TREE_FAULTS[fault]}`);
  const message =
    'The tree of pages has faults, which programs mend in ways of their own: look at the pages.';
  return [warned('pdf.pages', message, named.join(', ') + more)];
}

/** Inspects a damaged file. Its display depends on the repair of each reader, so no signature in it proves anything. */
function inspectRepaired(file: PdfToInspect, reason: string): FileSignatures {
  const { source, work } = file;
  try {
    return withPdf(
      source,
      (pdf) => {
        const found = findSignatures(pdf, MAX_SIGNATURES + 1);
        if (found.length > MAX_SIGNATURES) return tooMany();
        const finding = failed(
          'pdf.structure',
          'The cross-reference of the file is damaged: what it shows was not signed.',
          'FORMAT_FAILURE',
          reason,
        );
        const facts = new PdfInspection({ ...file, pdf, found, history: undefined, damage: finding });
        return { signatures: facts.all(), findings: [finding] };
      },
      work,
    );
  } catch (error) {
    return unreadable(error);
  }
}

function tooMany(): FileSignatures {
  return {
    signatures: [],
    findings: [failed('pdf.signatures', `The file has more than ${MAX_SIGNATURES} signatures.`, 'GENERIC')],
  };
}

function unreadable(error: unknown): FileSignatures {
  if (!(error instanceof CryptoError) || !error.code.startsWith('pdf.')) throw error;
  const open = error.code === 'pdf.malformed' ? 'FORMAT_FAILURE' : 'GENERIC';
  return { signatures: [], findings: [failed('pdf.structure', error.message, open)] };
}

interface PdfInspectionOptions extends PdfToInspect {
  readonly pdf: PdfDocument;
  readonly found: readonly FoundSignature[];
  readonly history: RevisionHistory | undefined;
  /** Reason why no signature in the file proves anything. */
  readonly damage?: Finding;
}

/** Inspects all signatures; when the work budget is spent, reports each signature as incomplete. */
class PdfInspection {
  readonly #options: PdfInspectionOptions;
  #isOpen = false;

  constructor(options: PdfInspectionOptions) {
    this.#options = options;
  }

  all(): readonly SignatureInfo[] {
    const { pdf, found, work, given } = this.#options;
    const placed = this.#placed();
    const store = this.#within(
      () => embeddedEvidence(pdf),
      () => NO_EMBEDDED_EVIDENCE,
    );
    const { evidence } = store;
    const certificates = [...evidence.certificates.flatMap(readableCertificates), ...given];
    const timestamps = placed.map((one, index) =>
      isTimestamp(one.found)
        ? laterTimestamp(store, found.slice(0, index + 1), documentTimestamp(one, certificates))
        : undefined,
    );
    const facts = placed.map((one, index) => {
      const own = timestamps[index];
      const after = found[index]?.coverage === undefined ? [] : timestamps.slice(index + 1);
      const around = { pdf, certificates, evidence, later: after.filter((stamp) => stamp !== undefined) };
      return this.#within(
        () => {
          work.spend(STEPS_PER_SIGNATURE);
          return own === undefined ? signatureReport(one, around) : timestampReport(one, own.facts, around);
        },
        () => ({ ...unreadableReport(one, around), findings: one.findings }),
      );
    });
    return this.#isOpen
      ? facts.map((one) => ({ ...one, findings: [...one.findings, WORK_BUDGET_EXCEEDED] }))
      : facts;
  }

  #within<T>(look: () => T, otherwise: () => T): T {
    return withinWorkBudget(look, () => {
      this.#isOpen = true;
      return otherwise();
    });
  }

  #placed(): readonly LocatedSignature[] {
    const { source, found, history } = this.#options;
    const digests = new FileDigests(source, found, undefined);
    const later =
      history === undefined
        ? []
        : this.#within(
            () => laterRevisions(history, found),
            () => undefined,
          );
    return found.map((one, index): LocatedSignature => {
      const place = this.#within(
        () => this.#place(one, index, later),
        () => ({ scope: UNKNOWN_SCOPE, findings: [], changes: [] }),
      );
      return { found: one, ...place, contentDigest: digests.of(one), content: this.#contentOf(one) };
    });
  }

  /** Reads the covered bytes, and charges the work of hashing them. */
  #contentOf({ coverage }: FoundSignature): LocatedSignature['content'] {
    const { source, work } = this.#options;
    if (coverage === undefined) return undefined;
    return (take) => {
      work.spend(coverage.end / BYTES_HASHED_PER_STEP);
      for (const chunk of source.chunks(0, coverage.placeholderStart)) take(chunk);
      for (const chunk of source.chunks(coverage.placeholderEnd, coverage.end)) take(chunk);
    };
  }

  /** @param later undefined when comparing revisions exceeded the work budget */
  #place(
    one: FoundSignature,
    index: number,
    later: readonly LaterRevision[] | undefined,
  ): Omit<LocatedSignature, 'found' | 'contentDigest' | 'content'> {
    const { source, pdf, found, history, work, damage } = this.#options;
    const next = found.slice(index + 1).find(({ coverage }) => coverage !== undefined);
    if (history === undefined) {
      const findings = placementFindings(pdf, one, next, damage?.detail);
      const scope = scopeOf(one, source.size, undefined, []);
      return { scope, findings: [...(damage === undefined ? [] : [damage]), ...findings], changes: [] };
    }
    const state = one.coverage === undefined ? undefined : history.stateAt(one.coverage.end);
    const findings = placementFindings(pdf, one, next, state);
    if (later === undefined) return { scope: UNKNOWN_SCOPE, findings, changes: [] };
    const judged = checkChanges(pdf, one, { history, work, later, all: found });
    return {
      scope: scopeOf(one, source.size, history, later),
      findings: [...findings, ...(judged?.findings ?? [])],
      changes: judged?.records ?? [],
    };
  }
}

const UNKNOWN_SCOPE: SignatureScope = { kind: 'revision', description: 'nothing that can be told' };

/** @param found signatures up to that of the time-stamp, which covers those whose bytes end before its own value */
function laterTimestamp(
  { isCovered, hasAnswerIn }: EmbeddedEvidence,
  found: readonly FoundSignature[],
  facts: TimestampInfo,
): LaterTimestamp {
  const coverage = found.at(-1)?.coverage;
  if (coverage === undefined) return { facts: { ...facts, covers: () => false }, coversEvidence: false };
  const inside = found.filter((one) => (one.coverage?.end ?? Number.NaN) <= coverage.placeholderStart);
  const isInSignature = (der: Buffer): boolean => inside.some(({ cms }) => cms?.includes(der) === true);
  return {
    // What a signature carries is covered with it, also when the store repeats it later.
    facts: { ...facts, covers: (der) => isCovered(der, coverage) || isInSignature(der) },
    coversEvidence: hasAnswerIn(coverage),
  };
}

/** Returns the revisions after the first signature that covers a revision. */
function laterRevisions(
  history: RevisionHistory,
  found: readonly FoundSignature[],
): readonly LaterRevision[] {
  const ends = found
    .flatMap(({ coverage }) => coverage?.end ?? [])
    .filter((end) => typeof history.stateAt(end) !== 'string');
  const [first] = ends;
  return first === undefined ? [] : history.after(first, ends);
}

function scopeOf(
  { coverage }: FoundSignature,
  size: number,
  history: RevisionHistory | undefined,
  later: readonly LaterRevision[],
): SignatureScope {
  if (coverage === undefined) return UNKNOWN_SCOPE;
  const isLast = coverage.end === size || later.every(({ end }) => end <= coverage.end);
  if (isLast && history !== undefined) return { kind: 'document', description: 'the whole file' };
  const number = history?.numberAt(coverage.end);
  if (history === undefined || number === undefined)
    return { kind: 'revision', description: `the first ${coverage.end} bytes` };
  return { kind: 'revision', description: `revision ${number} of ${history.count}` };
}

/** Smaller sources are in memory. */
const MIN_CACHED_SOURCE_BYTES = 1 << 20;
const BLOCK_BYTES = 64 << 10;
/** Longest read served from a block; each block overlaps the next by this length. */
const MAX_CACHED_READ_BYTES = 16 << 10;
const CACHE_SIZE = 24;

function blockSource(source: ByteSource): ByteSource {
  if (source.size <= MIN_CACHED_SOURCE_BYTES) return source;
  const blocks = new LRUCache<number, Buffer>({ max: CACHE_SIZE });
  const block = (start: number): Buffer => {
    const cached = blocks.get(start);
    if (cached !== undefined) return cached;
    const bytes = source.read(start, BLOCK_BYTES + MAX_CACHED_READ_BYTES);
    blocks.set(start, bytes);
    return bytes;
  };
  return {
    size: source.size,
    password: source.password,
    read(offset, length) {
      if (length > MAX_CACHED_READ_BYTES || offset < 0) return source.read(offset, length);
      const start = offset - (offset % BLOCK_BYTES);
      return block(start).subarray(offset - start, offset - start + length);
    },
  };
}

/** Bytes searched at once. */
const CHUNK_BYTES = 1 << 20;
/** Longest entry that is read, bytes. */
const ENTRY_BYTES = 256;
const KEY = '/ByteRange';
const RANGE = /^\/ByteRange\s*\[\s*0\s+(\d{1,15})\s+(\d{1,15})\s+(\d{1,15})\s*\]/;
/** A byte range that is an object of its own, and the object. */
const REFERENCE = /^\/ByteRange\s+\d+\s+\d+\s+R/;
const OBJECT_KEY = 'obj';
const OBJECT_RANGE = /^obj\s*\[\s*0\s+(\d{1,15})\s+(\d{1,15})\s+(\d{1,15})\s*\]/;
/** Most offsets or pages in a message. */
const MAX_LISTED = 5;

/**
 * Finds signatures that an earlier revision has and the newest one does not: somebody took them out, and nobody checks
 * what they covered. They are found by their byte range, as by readers without a parser.
 */
function removedSignatures(source: ByteSource, found: readonly FoundSignature[]): readonly Finding[] {
  const known = new Set<number>();
  for (const { dict } of found) {
    const contents = dict.get('Contents');
    if (contents !== undefined) known.add(contents.at + contents.start);
  }
  const removed = new Set<number>();
  let hasReference = false;
  const search = (key: string, range: RegExp): void => {
    for (let at = 0; at < source.size; at += CHUNK_BYTES) {
      const bytes = source.read(at, Math.min(CHUNK_BYTES + ENTRY_BYTES, source.size - at));
      for (let index = bytes.indexOf(key); index >= 0; index = bytes.indexOf(key, index + 1)) {
        if (index >= CHUNK_BYTES) break;
        const text = bytes.toString('latin1', index, index + ENTRY_BYTES);
        const [, start, end, rest] = range.exec(text) ?? [];
        hasReference ||= start === undefined && REFERENCE.test(text);
        if (start === undefined || known.has(Number(start))) continue;
        if (isPlaceholder(source, Number(start), Number(end), Number(rest))) removed.add(Number(start));
      }
    }
  };
  search(KEY, RANGE);
  if (hasReference) search(OBJECT_KEY, OBJECT_RANGE);
  if (removed.size === 0) return [];
  return [
    warned(
      'pdf.removed-signature',
      removed.size === 1
        ? 'An earlier revision has a signature that was taken out of the document: it is not checked.'
        : `Earlier revisions have ${removed.size} signatures that were taken out of the document: they are not checked.`,
      `at offset ${[...removed].slice(0, MAX_LISTED).join(', ')}`,
    ),
  ];
}

/** True where the byte range leaves out exactly one hexadecimal string, as that of a real signature does. */
function isPlaceholder(source: ByteSource, start: number, end: number, rest: number): boolean {
  if (!(start < end && end + rest <= source.size)) return false;
  return source.read(start, 1)[0] === 0x3c && source.read(end - 1, 1)[0] === 0x3e;
}
