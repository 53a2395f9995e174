/** Checks the place and the coverage of a signature (ISO 32000-2, 12.8.1; ETSI EN 319 142-1, clause 5.3). */

import { CryptoError } from '../../core/types.ts';
import { type Finding, failed, passed, warned } from '../../core/validation-report.ts';
import { nameByParents, type PdfDocument, PdfSyntaxError } from '../../pdf/index.ts';
import { signatureEntries } from '../fields/signature-entries.ts';
import { type FoundSignature, findSignatures } from '../fields/signatures.ts';
import type { DocumentState } from './document-state.ts';

/** Most signatures read in each signed state. */
const MAX_SIGNATURES = 500;

/**
 * @param pdf the document with the signature
 * @param next the signature whose coverage ends next, if any
 * @param state document of the covered bytes, or the reason why they are not one
 */
export function placementFindings(
  pdf: PdfDocument,
  found: FoundSignature,
  next: FoundSignature | undefined,
  state: DocumentState | string | undefined,
): readonly Finding[] {
  const { coverage, coverageFault, cms, contentsFault, alsoIn, isInForm } = found;
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
  if (coverage !== undefined && found.isRangeIndirect) {
    const message = '/ByteRange is an object of its own, which other programs may not find.';
    findings.push(warned('pdf.byte-range', message));
  }
  findings.push(
    contentsFault === undefined
      ? passed('pdf.contents', 'The space of the signature holds one structure and zeros.')
      : (cms === undefined ? failed : warned)('pdf.contents', contentsFault),
  );
  if (alsoIn.length > 0) {
    findings.push(
      failed(
        'pdf.field',
        'Several fields share one signature.',
        'FORMAT_FAILURE',
        [found.field, ...alsoIn].join(', '),
      ),
    );
  }
  if (!isInForm) {
    findings.push(
      warned(
        'pdf.field',
        'The form of the file does not list the field of the signature, so other programs may not show it.',
        found.field,
      ),
    );
  }
  findings.push(...signatureEntries(pdf, found.dict, found.subFilter));
  const named = nameByParents(pdf, found.fieldDict);
  if (isInForm && named !== found.field) {
    const message = 'The field of the signature names other parents than those that list it.';
    findings.push(warned('pdf.field', message, `${found.field}, by its parents ${named}`));
  }
  if (coverage === undefined) return findings;
  const limit = next?.coverage?.placeholderStart;
  if (limit !== undefined && coverage.end > limit) {
    findings.push(failed('pdf.overlap', `The signature covers a part of the one in field ${next?.field}.`));
  }
  if (state === undefined || typeof state === 'string') {
    findings.push(
      failed('pdf.revision', 'The signature covers no whole revision of the file.', 'FORMAT_FAILURE', state),
    );
  } else if (state.pdf !== pdf && !isIn(state, found)) {
    findings.push(failed('pdf.revision', 'The signature is not part of the revision it covers.'));
  } else findings.push(passed('pdf.revision', 'The signature covers a whole revision of the file.'));
  return findings;
}

/** True when the signed document contains this signature in a field of the same name. */
function isIn(state: DocumentState, { coverage, field }: FoundSignature): boolean {
  try {
    return findSignatures(state.pdf, MAX_SIGNATURES).some(
      (own) =>
        own.field === field &&
        own.coverage?.placeholderStart === coverage?.placeholderStart &&
        own.coverage?.end === coverage?.end,
    );
  } catch (error) {
    if (error instanceof PdfSyntaxError || error instanceof CryptoError) return false;
    throw error;
  }
}
