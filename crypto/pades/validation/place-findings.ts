/**
 * Whether a signature lies where it says and covers what it must (ISO 32000-2, 12.8.1; ETSI EN 319 142-1, clause 5.3).
 */
import { PdfDamage, type PdfDocument } from '../../pdf/index.ts';
import { CryptoError } from '../../types.ts';
import type { Finding } from '../../validation/facts.ts';
import { type FoundSignature, findSignatures } from '../signatures.ts';
import type { DocumentState } from './document-state.ts';

/** Signatures looked for in each signed state. */
const MOST_SIGNATURES = 500;

export const passed = (type: string, message: string, detail?: string): Finding => ({
  status: 'passed',
  type,
  message,
  ...(detail === undefined ? {} : { detail }),
});

export const failed = (type: string, message: string, detail?: string): Finding => ({
  status: 'failed',
  type,
  message,
  ...(detail === undefined ? {} : { detail }),
  subIndication: 'FORMAT_FAILURE',
});

/**
 * @param pdf the document it was found in
 * @param next the signature whose coverage ends next, if any
 * @param state what the covered bytes are by themselves, or why they are nothing
 */
export function placeFindings(
  pdf: PdfDocument,
  found: FoundSignature,
  next: FoundSignature | undefined,
  state: DocumentState | string | undefined,
): readonly Finding[] {
  const { coverage, coverageFault, contentsFault, alsoIn } = found;
  const findings: Finding[] = [];
  findings.push(
    coverage === undefined
      ? failed('pdf.byte-range', coverageFault ?? 'The signature covers nothing.')
      : passed(
          'pdf.byte-range',
          'The signature covers everything before its end but itself.',
          `${coverage.end} bytes`,
        ),
  );
  findings.push(
    contentsFault === undefined
      ? passed('pdf.contents', 'The space of the signature holds one structure and zeros.')
      : failed('pdf.contents', contentsFault),
  );
  if (alsoIn.length > 0) {
    findings.push(
      failed('pdf.field', 'Several fields share one signature.', [found.field, ...alsoIn].join(', ')),
    );
  }
  if (coverage === undefined) return findings;
  const limit = next?.coverage?.holeStart;
  if (limit !== undefined && coverage.end > limit) {
    findings.push(failed('pdf.overlap', `The signature covers a part of the one in field ${next?.field}.`));
  }
  if (state === undefined || typeof state === 'string') {
    findings.push(failed('pdf.revision', 'The signature covers no whole revision of the file.', state));
  } else if (state.pdf !== pdf && !isIn(state, found)) {
    findings.push(failed('pdf.revision', 'The signature is not part of the revision it covers.'));
  } else findings.push(passed('pdf.revision', 'The signature covers a whole revision of the file.'));
  return findings;
}

/** The document that was signed has this very signature, in a field of the same name. */
function isIn(state: DocumentState, { coverage, field }: FoundSignature): boolean {
  try {
    return findSignatures(state.pdf, MOST_SIGNATURES).some(
      (own) =>
        own.field === field &&
        own.coverage?.holeStart === coverage?.holeStart &&
        own.coverage?.end === coverage?.end,
    );
  } catch (error) {
    if (error instanceof PdfDamage || error instanceof CryptoError) return false;
    throw error;
  }
}
