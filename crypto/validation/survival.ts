/** Whether the signatures that a file had are as good as they were, now that something was added to it. */
import type { SignatureRecord, ValidationReport } from './report.ts';

/**
 * True when nothing is wrong with a signature itself and with what was done after it; whether its signer is trusted is
 * another question.
 */
export function isIntact({ results, changes }: SignatureRecord): boolean {
  return results.errors.every(({ type }) => type === 'chain') && changes.every(({ permitted }) => permitted);
}

/**
 * Sentences about signatures that were good in `before` and are not, or are gone, in `after`. One that was broken before
 * is its signer's business. Both reports have to be made with the same trust, at the same time.
 */
export function harmedSignatures(before: ValidationReport, after: ValidationReport): readonly string[] {
  const harmed: string[] = [];
  for (const record of before.signatures) {
    if (!isIntact(record)) continue;
    const now = counterpart(record, after);
    if (now === undefined) harmed.push(`The signature ${record.name} is gone.`);
    else if (!isIntact(now))
      harmed.push(`The signature ${record.name} is not good any more: ${faultOf(now)}`);
    else if (record.indication === 'TOTAL-PASSED' && now.indication !== 'TOTAL-PASSED')
      harmed.push(`The signature ${record.name} does not pass any more: ${faultOf(now)}`);
  }
  return harmed;
}

/** The same signature in another report. */
export function counterpart(
  record: SignatureRecord,
  { signatures }: ValidationReport,
): SignatureRecord | undefined {
  return signatures.find(
    ({ name, isTimestamp, signingTime, certificate }) =>
      name === record.name &&
      isTimestamp === record.isTimestamp &&
      signingTime === record.signingTime &&
      certificate?.thumbprint === record.certificate?.thumbprint,
  );
}

function faultOf({ results, changes }: SignatureRecord): string {
  const [error] = results.errors.filter(({ type }) => type !== 'chain');
  const change = changes.find(({ permitted }) => !permitted);
  return error?.detail ?? error?.message ?? change?.description ?? 'its signer is not trusted any more.';
}
