/**
 * Internal errors of the PDF reader, and its budget. The errors never leave `crypto/pdf`: after the first one, the reader
 * rebuilds the cross-reference once; a second one becomes a CryptoError `pdf.malformed`.
 */
import { WorkBudget } from '../../core/work-budget.ts';

/** The syntax is wrong at a known offset; the message is a sentence for people. */
export class PdfSyntaxError extends Error {}

/** The view ends inside a value; a larger view may contain the rest. */
export class UnexpectedEndOfFile extends PdfSyntaxError {}

/**
 * Creates the budget for reading a file, in bytes, so that a crafted file costs at most a fixed multiple of its size.
 * @param size bytes of the file
 * @param whole shared with the other processing of the file, if given
 */
export function readingBudget(size: number, whole?: WorkBudget): WorkBudget {
  return new WorkBudget({
    limit: 4 * size + (64 << 20),
    whole,
    toWhole: (bytes) => 1 + bytes / BYTES_PER_STEP,
    exceeded: () => new PdfSyntaxError('Reading the structure takes more work than its size explains.'),
  });
}

/** Bytes read or decoded in one step. */
const BYTES_PER_STEP = 128;
