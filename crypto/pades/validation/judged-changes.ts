/** Evaluates the changes of later revisions against one signature. */

import { type ChangeRecord, type Finding, failed, passed, warned } from '../../core/validation-report.ts';
import type { WorkBudget } from '../../core/work-budget.ts';
import type { PdfDocument } from '../../pdf/index.ts';
import type { FoundSignature } from '../fields/signatures.ts';
import { type Change, decisionOn, policyOf } from './change-policy.ts';
import { type Decision, ruleOfKind } from './change-rules.ts';
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
 * @throws WorkBudgetExceeded
 */
export function checkChanges(
  pdf: PdfDocument,
  { coverage, dict, fieldDict }: FoundSignature,
  {
    history,
    work,
    later,
    all,
  }: {
    readonly history: RevisionHistory;
    readonly work: WorkBudget;
    readonly later: readonly LaterRevision[];
    /** Signatures of the file. */
    readonly all: readonly FoundSignature[];
  },
): ChangeReport | undefined {
  if (coverage === undefined || typeof history.stateAt(coverage.end) === 'string') return undefined;
  const policy = policyOf(pdf, dict, fieldDict);
  const records: ChangeRecord[] = [];
  const findings: Finding[] = [];
  for (const { number, end, changes } of later) {
    if (end <= coverage.end) continue;
    const judged = listedOf(changes).map((change) => {
      work.spend(STEPS_PER_CHANGE);
      const { decision, reason } = decisionOn(change, policy);
      return judgedChange(change, number, decision, reason ?? objectionToSigner(change, end, all));
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

/** A revision with other changes is known by these. */
function listedOf(changes: readonly Change[]): readonly Change[] {
  const others = changes.filter(({ kind }) => kind !== 'continuation');
  return others.length > 0 ? others : changes;
}

function judgedChange(
  change: Change,
  revision: number,
  decision: Decision,
  objection: string | undefined,
): JudgedChange {
  const what = `revision ${revision} ${change.description}`;
  const permitted = objection === undefined;
  const description = permitted ? what : `${what}: ${objection}`;
  const record = { revision, permitted, description };
  if (!permitted)
    return { record, finding: failed(CHANGES, `A change after signing is not permitted: ${description}.`) };
  if (decision === 'permit') return { record, finding: undefined };
  const [type, message] = ruleOfKind(change.kind).finding ?? [CHANGES, 'A change has to be looked at.'];
  const detail = change.detail ?? description;
  // What is undecided leaves the signature INDETERMINATE.
  const finding =
    decision === 'warn' ? warned(type, message, detail) : failed(type, message, 'GENERIC', detail);
  return { record, finding };
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
  if (change.signs !== true) return undefined;
  const covered = all.some(
    ({ field, coverage, cms }) => field === change.field && coverage?.end === end && cms !== undefined,
  );
  return covered ? undefined : 'it does not cover the revision it came with';
}
