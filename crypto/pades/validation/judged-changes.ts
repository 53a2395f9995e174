/**
 * What later revisions did, as one signature sees it.
 */
import type { PdfDocument } from '../../pdf/index.ts';
import type { Finding } from '../../validation/facts.ts';
import type { ChangeRecord } from '../../validation/report.ts';
import type { Work } from '../../work.ts';
import type { FoundSignature } from '../signatures.ts';
import type { Change } from './change.ts';
import { objectionTo, policyOf } from './change-policy.ts';
import { failed, passed } from './place-findings.ts';
import type { LaterRevision, RevisionHistory } from './revisions.ts';

export interface JudgedChanges {
  readonly records: readonly ChangeRecord[];
  readonly findings: readonly Finding[];
}

/** Type of the findings; what they say is nothing against the time a document time-stamp proves. */
export const CHANGES = 'pdf.changes';

/** Each is also an entry of the report, for each signature before it. */
const STEPS_PER_CHANGE = 20;

/** @param all signatures of the file @throws OutOfWork */
export function judgeChanges(
  pdf: PdfDocument,
  { coverage, dict, fieldDict }: FoundSignature,
  history: RevisionHistory,
  work: Work,
  later: readonly LaterRevision[],
  all: readonly FoundSignature[],
): JudgedChanges | undefined {
  if (coverage === undefined || typeof history.stateAt(coverage.end) === 'string') return undefined;
  const policy = policyOf(pdf, dict, fieldDict);
  const records: ChangeRecord[] = [];
  const findings: Finding[] = [];
  for (const { number, end, changes } of later) {
    if (end <= coverage.end) continue;
    for (const change of changes) {
      work.spend(STEPS_PER_CHANGE);
      const objection = objectionTo(change, policy) ?? objectionToSigner(change, end, all);
      const what = `revision ${number} ${change.description}`;
      const permitted = objection === undefined;
      const description = permitted ? what : `${what}: ${objection}`;
      records.push({ revision: number, permitted, description });
      if (!permitted)
        findings.push(failed(CHANGES, `A change after signing is not permitted: ${description}.`));
      else if (change.kind === 'signature' && change.covers) {
        const message =
          'A later signature can be seen on the page; whether it hides something is not judged.';
        findings.push({ status: 'warning', type: 'pdf.covering', message, detail: description });
      }
    }
  }
  if (findings.every(({ status }) => status !== 'failed')) {
    const nothing = records.length === 0;
    const message = nothing
      ? 'Nothing was changed after signing.'
      : 'All changes after signing are permitted.';
    findings.unshift(passed(CHANGES, message));
  }
  return { records, findings };
}

/** What looks like a signature and covers nothing is only something that was drawn. */
function objectionToSigner(change: Change, end: number, all: readonly FoundSignature[]): string | undefined {
  if (change.kind !== 'timestamp' && (change.kind !== 'signature' || !change.signs)) return undefined;
  const covered = all.some(
    ({ field, coverage, cms }) => field === change.field && coverage?.end === end && cms !== undefined,
  );
  return covered ? undefined : 'it does not cover the revision it came with';
}
