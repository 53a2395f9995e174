/** Evaluates the changes of later revisions against one signature. */

import { type ChangeRecord, type Finding, failed, passed, warned } from '../../core/validation-report.ts';
import type { WorkBudget } from '../../core/work-budget.ts';
import type { PdfDocument } from '../../pdf/index.ts';
import type { FoundSignature } from '../fields/signatures.ts';
import { type Change, policyOf, policyViolation } from './change-policy.ts';
import type { LaterRevision, RevisionHistory } from './revisions.ts';

interface ChangeReport {
  readonly records: readonly ChangeRecord[];
  readonly findings: readonly Finding[];
}

/** Type of the findings; they do not invalidate the time of a document time-stamp. */
export const CHANGES = 'pdf.changes';

/** Steps for one change, which becomes an entry of the report for each earlier signature. */
const STEPS_PER_CHANGE = 20;

/** Most changes of one revision that are reported for one signature. */
const MAX_CHANGES = 50;

/**
 * Reports the worst changes of each revision, and the number of the others.
 * @param all signatures of the file
 * @throws WorkBudgetExceeded
 */
export function checkChanges(
  pdf: PdfDocument,
  { coverage, dict, fieldDict }: FoundSignature,
  history: RevisionHistory,
  work: WorkBudget,
  later: readonly LaterRevision[],
  all: readonly FoundSignature[],
): ChangeReport | undefined {
  if (coverage === undefined || typeof history.stateAt(coverage.end) === 'string') return undefined;
  const policy = policyOf(pdf, dict, fieldDict);
  const records: ChangeRecord[] = [];
  const findings: Finding[] = [];
  for (const { number, end, changes } of later) {
    if (end <= coverage.end) continue;
    const judged = changes.map((change) => {
      work.spend(STEPS_PER_CHANGE);
      return judgedChange(
        change,
        number,
        policy.level,
        policyViolation(change, policy) ?? objectionToSigner(change, end, all),
      );
    });
    const ranked = judged.toSorted((left, right) => rank(left) - rank(right));
    for (const { record, finding } of ranked.slice(0, MAX_CHANGES)) {
      records.push(record);
      if (finding !== undefined) findings.push(finding);
    }
    const more = ranked.slice(MAX_CHANGES);
    if (more.length > 0) {
      const permitted = more.every(({ record }) => record.permitted);
      records.push({
        revision: number,
        permitted,
        description: `revision ${number} has ${more.length} more changes`,
      });
    }
  }
  if (findings.every(({ status }) => status !== 'failed')) {
    const nothing = records.length === 0;
    const message = nothing
      ? 'Nothing was changed after signing.'
      : 'All changes after signing are permitted.';
    findings.unshift(passed(CHANGES, message, nothing ? undefined : listed(records)));
  }
  return { records, findings };
}

interface JudgedChange {
  readonly record: ChangeRecord;
  /** A failure for a change that is not permitted, or a warning about a permitted one. */
  readonly finding: Finding | undefined;
}

/** Orders changes worst first: forbidden, permitted with a warning, permitted. */
function rank({ record, finding }: JudgedChange): number {
  return record.permitted ? (finding === undefined ? 2 : 1) : 0;
}

function judgedChange(
  change: Change,
  revision: number,
  level: number,
  objection: string | undefined,
): JudgedChange {
  const what = `revision ${revision} ${change.description}`;
  const permitted = objection === undefined;
  const description = permitted ? what : `${what}: ${objection}`;
  const record = { revision, permitted, description };
  if (!permitted)
    return { record, finding: failed(CHANGES, `A change after signing is not permitted: ${description}.`) };
  if (change.kind === 'unlisted') {
    const message = 'A signature was taken out of the form, so other programs may not show it.';
    return { record, finding: warned('pdf.field', message, description) };
  }
  if (change.kind === 'form' && change.undecided !== undefined) {
    const message = 'A field was filled in, and whether it shows its value has to be looked at.';
    return { record, finding: undecided('pdf.field-appearance', message, change.undecided) };
  }
  if (change.kind === 'annotation' && change.undecided !== undefined) {
    const message = 'Whether a comment hides or changes what was signed has to be looked at.';
    return {
      record,
      finding: undecided('pdf.comment', message, `${description}, which ${change.undecided}`),
    };
  }
  if (change.kind === 'metadata' && change.isNoticed) {
    const message = 'What programs show about the document was changed, or how they open it.';
    return { record, finding: warned('pdf.metadata', message, description) };
  }
  // A signature without a level says nothing about comments.
  if (change.kind === 'annotation' && (change.drawn || level < 3)) {
    const message = change.drawn ? 'A comment draws on the page.' : 'A comment was added or changed.';
    return { record, finding: warned('pdf.comment', message, description) };
  }
  if (change.kind === 'signature' && change.covered !== 'nothing') {
    const message = 'Whether a later signature hides what was signed has to be looked at.';
    const where = change.covered === 'image' ? 'it lies over a picture' : 'what is below it cannot be read';
    const detail = `${description}: ${where}`;
    return { record, finding: warned('pdf.covering', message, detail) };
  }
  if (change.kind === 'signature' && change.isVisible) {
    const message = 'A later signature can be seen on the page.';
    return { record, finding: warned('pdf.covering', message, description) };
  }
  return { record, finding: undefined };
}

/** Leaves the signature INDETERMINATE. */
function undecided(type: string, message: string, detail: string): Finding {
  return failed(type, message, 'GENERIC', detail);
}

/** Lists the first changes for people. */
function listed(records: readonly ChangeRecord[]): string {
  const more = records.length - MAX_LISTED;
  const named = records.slice(0, MAX_LISTED).map(({ description }) => description);
  return more > 0 ? `${named.join('; ')}; and ${more} more` : named.join('; ');
}

const MAX_LISTED = 20;

/** Returns the objection to a new signature field: without coverage, a signature is only drawn content. */
function objectionToSigner(change: Change, end: number, all: readonly FoundSignature[]): string | undefined {
  if (change.kind !== 'timestamp' && (change.kind !== 'signature' || !change.signs)) return undefined;
  const covered = all.some(
    ({ field, coverage, cms }) => field === change.field && coverage?.end === end && cms !== undefined,
  );
  return covered ? undefined : 'it does not cover the revision it came with';
}
