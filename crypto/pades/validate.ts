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
import { FileDigests } from './file-digests.ts';
import { type FoundSignature, findSignatures } from './signatures.ts';
import { blockSource } from './validation/block-source.ts';
import { evidenceIn } from './validation/embedded-evidence.ts';
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
} from './validation/signature-facts.ts';

/** More signatures than this are not judged: each costs public-key operations. */
const MOST_SIGNATURES = 500;

/**
 * The signatures in the order of what they cover, document time-stamps among them; unusable ones first.
 *
 * Findings about their place in the file: `pdf.byte-range`, `pdf.contents`, `pdf.field`, `pdf.overlap`,
 * `pdf.revision`, `pdf.structure`, `pdf.changes`, `pdf.covering`, `pdf.sub-filter`, `pdf.signers`, `pdf.claimed-time`, `pdf.cert`,
 * `pdf.filter`; then those of `cmsFacts`, or of the time-stamp. Bad bytes are findings and never throw.
 * @throws {CryptoError} `input.unreadable`, `input.changed`
 */
export function padesFacts(source: Source): FileFacts {
  try {
    const blocks = blockSource(source);
    return intactFacts(source, blocks, openIntactPdf(blocks));
  } catch (error) {
    if (!(error instanceof PdfDamage)) return unreadable(error);
    return repairedFacts(source, error.message);
  }
}

function intactFacts(source: Source, blocks: ByteSource, pdf: PdfDocument): FileFacts {
  const found = findSignatures(pdf, MOST_SIGNATURES + 1);
  if (found.length > MOST_SIGNATURES) return tooMany();
  const history = new RevisionHistory(blocks, pdf);
  return {
    signatures: allFacts(source, pdf, found, history),
    findings: [passed('pdf.structure', 'The PDF is intact.')],
  };
}

/** What such a file shows depends on how a reader mends it, so no signature in it proves anything. */
function repairedFacts(source: Source, reason: string): FileFacts {
  try {
    return withPdf(source, (pdf) => {
      const found = findSignatures(pdf, MOST_SIGNATURES + 1);
      if (found.length > MOST_SIGNATURES) return tooMany();
      const finding = failed(
        'pdf.structure',
        'The cross-reference of the file is damaged: what it shows was not signed.',
        reason,
      );
      return { signatures: allFacts(source, pdf, found, undefined, finding), findings: [finding] };
    });
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

function allFacts(
  source: Source,
  pdf: PdfDocument,
  found: readonly FoundSignature[],
  history: RevisionHistory | undefined,
  damage?: Finding,
): readonly SignatureFacts[] {
  const digests = new FileDigests(source, found, undefined);
  const later = history === undefined ? [] : laterRevisions(history, found);
  const placed = found.map((one, index): PlacedSignature => {
    const next = found.slice(index + 1).find(({ coverage }) => coverage !== undefined);
    const state = one.coverage === undefined ? undefined : history?.stateAt(one.coverage.end);
    const judged = history === undefined ? undefined : judgeChanges(pdf, one, history, later, found);
    const findings =
      history === undefined
        ? placeFindings(pdf, one, next, damage?.detail)
        : placeFindings(pdf, one, next, state);
    return {
      found: one,
      scope: scopeOf(one, source.size, history, later),
      findings: [...(damage === undefined ? [] : [damage]), ...findings, ...(judged?.findings ?? [])],
      changes: judged?.records ?? [],
      contentDigest: digests.of(one),
    };
  });
  const evidence = evidenceIn(pdf);
  const certificates = evidence.certificates.flatMap(readableCertificates);
  const timestamps = placed.map((one) =>
    isTimestamp(one.found) ? laterTimestamp(history, one, documentTimestamp(one, certificates)) : undefined,
  );
  return placed.map((one, index) => {
    const own = timestamps[index];
    const after = one.found.coverage === undefined ? [] : timestamps.slice(index + 1);
    const around = { pdf, certificates, evidence, later: after.filter((stamp) => stamp !== undefined) };
    return own === undefined ? signatureFacts(one, around) : timestampSignatureFacts(one, own.facts, around);
  });
}

function laterTimestamp(
  history: RevisionHistory | undefined,
  { found }: PlacedSignature,
  facts: TimestampFacts,
): LaterTimestamp {
  const state = found.coverage === undefined ? undefined : history?.stateAt(found.coverage.end);
  if (state === undefined || typeof state === 'string') return { facts, coversEvidence: false };
  const { crls, ocsps } = evidenceIn(state.pdf);
  return { facts, coversEvidence: crls.length + ocsps.length > 0 };
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
  if (coverage === undefined) return { kind: 'revision', description: 'nothing that can be told' };
  const isLast = coverage.end === size || later.every(({ end }) => end <= coverage.end);
  if (isLast && history !== undefined) return { kind: 'document', description: 'the whole file' };
  const number = history?.numberAt(coverage.end);
  if (history === undefined || number === undefined)
    return { kind: 'revision', description: `the first ${coverage.end} bytes` };
  return { kind: 'revision', description: `revision ${number} of ${history.count}` };
}
