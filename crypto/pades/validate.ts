/**
 * Finds out all there is to know about the signatures of a PDF from its bytes alone: what each covers, whether it is
 * intact, and what later revisions changed (ETSI EN 319 142-1; ISO 32000-2, 12.8). Nobody is trusted here; `judge` is.
 */
import { readableCertificates } from '../certificates/certificate.ts';
import type { Source } from '../files/source.ts';
import { type ByteSource, openIntactPdf, PdfDamage, type PdfDocument, withPdf } from '../pdf/index.ts';
import { CryptoError } from '../types.ts';
import type { FileFacts, Finding, SignatureFacts, TimestampFacts } from '../validation/facts.ts';
import type { SignatureScope } from '../validation/report.ts';
import { TOO_MUCH_WORK, withinWork } from '../validation/too-much-work.ts';
import { Work } from '../work.ts';
import { FileDigests } from './file-digests.ts';
import { type FoundSignature, findSignatures } from './signatures.ts';
import { blockSource } from './validation/block-source.ts';
import {
  type EmbeddedEvidence,
  embeddedEvidence,
  NO_EMBEDDED_EVIDENCE,
} from './validation/embedded-evidence.ts';
import { judgeChanges } from './validation/judged-changes.ts';
import { failed, passed, placeFindings } from './validation/place-findings.ts';
import { type LaterRevision, RevisionHistory } from './validation/revisions.ts';
import {
  documentTimestamp,
  isTimestamp,
  type LaterTimestamp,
  type PlacedSignature,
  signatureFacts,
  timestampSignatureFacts,
  unreadFacts,
} from './validation/signature-facts.ts';

/** More signatures than this are not judged: each costs public-key operations. */
const MOST_SIGNATURES = 500;

/** Of the work for one file: comparing revisions leaves the rest for signatures, time-stamps and paths. */
const SHARE_OF_REVISIONS = 0.6;
/** For one signature: its structure is read, and public-key operations are made. */
const STEPS_PER_SIGNATURE = 500;

/**
 * The signatures in the order of what they cover, document time-stamps among them; unusable ones first.
 *
 * Findings about their place in the file: `pdf.byte-range`, `pdf.contents`, `pdf.field`, `pdf.overlap`,
 * `pdf.revision`, `pdf.structure`, `pdf.changes`, `pdf.covering`, `pdf.sub-filter`, `pdf.signers`, `pdf.claimed-time`, `pdf.cert`,
 * `pdf.filter`; then those of `cmsFacts`, or of the time-stamp. Bad bytes are findings and never throw. What takes more
 * work than is done for one file is left open by `file.work`.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function padesFacts(source: Source, work: Work = Work.forFile(source.size)): FileFacts {
  const facts = withinWork(
    () => factsWithin(source, work),
    () => ({ signatures: [], findings: [TOO_MUCH_WORK] }),
  );
  return { ...facts, work };
}

/** @throws {OutOfWork} when not even the signatures can be found */
function factsWithin(source: Source, work: Work): FileFacts {
  try {
    const blocks = blockSource(source);
    return intactFacts(source, blocks, openIntactPdf(blocks, work), work);
  } catch (error) {
    if (!(error instanceof PdfDamage)) return unreadable(error);
    return repairedFacts(source, error.message, work);
  }
}

function intactFacts(source: Source, blocks: ByteSource, pdf: PdfDocument, work: Work): FileFacts {
  const found = findSignatures(pdf, MOST_SIGNATURES + 1);
  if (found.length > MOST_SIGNATURES) return tooMany();
  const history = new RevisionHistory(blocks, pdf, work.part(SHARE_OF_REVISIONS));
  return {
    signatures: new PdfFacts({ source, pdf, found, history, work }).all(),
    findings: [passed('pdf.structure', 'The PDF is intact.')],
  };
}

/** What such a file shows depends on how a reader mends it, so no signature in it proves anything. */
function repairedFacts(source: Source, reason: string, work: Work): FileFacts {
  try {
    return withPdf(
      source,
      (pdf) => {
        const found = findSignatures(pdf, MOST_SIGNATURES + 1);
        if (found.length > MOST_SIGNATURES) return tooMany();
        const finding = failed(
          'pdf.structure',
          'The cross-reference of the file is damaged: what it shows was not signed.',
          reason,
        );
        const facts = new PdfFacts({ source, pdf, found, history: undefined, work, damage: finding });
        return { signatures: facts.all(), findings: [finding] };
      },
      work,
    );
  } catch (error) {
    return unreadable(error);
  }
}

function tooMany(): FileFacts {
  return {
    signatures: [],
    findings: [failed('pdf.signatures', `The file has more than ${MOST_SIGNATURES} signatures.`)],
  };
}

function unreadable(error: unknown): FileFacts {
  if (!(error instanceof CryptoError) || !error.code.startsWith('pdf.')) throw error;
  const open = error.code === 'pdf.malformed' ? 'FORMAT_FAILURE' : 'GENERIC';
  return { signatures: [], findings: [{ ...failed('pdf.structure', error.message), subIndication: open }] };
}

interface FactsParts {
  readonly source: Source;
  readonly pdf: PdfDocument;
  readonly found: readonly FoundSignature[];
  readonly history: RevisionHistory | undefined;
  readonly work: Work;
  /** Why nothing in the file proves anything. */
  readonly damage?: Finding;
}

/** Goes on to the end when the work runs out, and says for every signature that something was left open. */
class PdfFacts {
  readonly #parts: FactsParts;
  #isOpen = false;

  constructor(parts: FactsParts) {
    this.#parts = parts;
  }

  all(): readonly SignatureFacts[] {
    const { pdf, found, work } = this.#parts;
    const placed = this.#placed();
    const store = this.#within(
      () => embeddedEvidence(pdf),
      () => NO_EMBEDDED_EVIDENCE,
    );
    const { evidence } = store;
    const certificates = evidence.certificates.flatMap(readableCertificates);
    const timestamps = placed.map((one) =>
      isTimestamp(one.found) ? laterTimestamp(store, one, documentTimestamp(one, certificates)) : undefined,
    );
    const facts = placed.map((one, index) => {
      const own = timestamps[index];
      const after = found[index]?.coverage === undefined ? [] : timestamps.slice(index + 1);
      const around = { pdf, certificates, evidence, later: after.filter((stamp) => stamp !== undefined) };
      return this.#within(
        () => {
          work.spend(STEPS_PER_SIGNATURE);
          return own === undefined
            ? signatureFacts(one, around)
            : timestampSignatureFacts(one, own.facts, around);
        },
        () => ({ ...unreadFacts(one, around), findings: one.findings }),
      );
    });
    return this.#isOpen
      ? facts.map((one) => ({ ...one, findings: [...one.findings, TOO_MUCH_WORK] }))
      : facts;
  }

  #within<T>(look: () => T, otherwise: () => T): T {
    return withinWork(look, () => {
      this.#isOpen = true;
      return otherwise();
    });
  }

  #placed(): readonly PlacedSignature[] {
    const { source, found, history } = this.#parts;
    const digests = new FileDigests(source, found, undefined);
    const later =
      history === undefined
        ? []
        : this.#within(
            () => laterRevisions(history, found),
            () => undefined,
          );
    return found.map((one, index): PlacedSignature => {
      const place = this.#within(
        () => this.#place(one, index, later),
        () => ({ scope: UNKNOWN_SCOPE, findings: [], changes: [] }),
      );
      return { found: one, ...place, contentDigest: digests.of(one) };
    });
  }

  /** @param later undefined when comparing revisions took too much work */
  #place(
    one: FoundSignature,
    index: number,
    later: readonly LaterRevision[] | undefined,
  ): Omit<PlacedSignature, 'found' | 'contentDigest'> {
    const { source, pdf, found, history, work, damage } = this.#parts;
    const next = found.slice(index + 1).find(({ coverage }) => coverage !== undefined);
    if (history === undefined) {
      const findings = placeFindings(pdf, one, next, damage?.detail);
      const scope = scopeOf(one, source.size, undefined, []);
      return { scope, findings: [...(damage === undefined ? [] : [damage]), ...findings], changes: [] };
    }
    const state = one.coverage === undefined ? undefined : history.stateAt(one.coverage.end);
    const findings = placeFindings(pdf, one, next, state);
    if (later === undefined) return { scope: UNKNOWN_SCOPE, findings, changes: [] };
    const judged = judgeChanges(pdf, one, history, work, later, found);
    return {
      scope: scopeOf(one, source.size, history, later),
      findings: [...findings, ...(judged?.findings ?? [])],
      changes: judged?.records ?? [],
    };
  }
}

const UNKNOWN_SCOPE: SignatureScope = { kind: 'revision', description: 'nothing that can be told' };

function laterTimestamp(
  { isCovered, hasAnswerIn }: EmbeddedEvidence,
  { found: { coverage } }: PlacedSignature,
  facts: TimestampFacts,
): LaterTimestamp {
  if (coverage === undefined) return { facts: { ...facts, covers: () => false }, coversEvidence: false };
  return {
    facts: { ...facts, covers: (der) => isCovered(der, coverage) },
    coversEvidence: hasAnswerIn(coverage),
  };
}

/** What came after the first signature that covers a revision. */
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
