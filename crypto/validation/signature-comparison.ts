/** Comparison of a file's signatures before and after a change to the file. */
import type { SignatureRecord, ValidationReport } from '../core/validation-report.ts';

/**
 * True when a signature and the changes after it pass, independent of trust in the signer.
 */
export function isIntact({ results, changes }: SignatureRecord): boolean {
  return results.errors.every(({ type }) => type === 'chain') && changes.every(({ permitted }) => permitted);
}

/**
 * Returns sentences about signatures that were intact in `before` and are broken or missing in `after`. Both reports
 * must be made with the same trust settings and time.
 */
export function brokenSignatures(before: ValidationReport, after: ValidationReport): readonly string[] {
  const harmed: string[] = [];
  for (const record of before.signatures) {
    if (!isIntact(record)) continue;
    const now = matchingSignature(record, after);
    if (now === undefined) harmed.push(`The signature ${record.name} is gone.`);
    else if (!isIntact(now))
      harmed.push(`The signature ${record.name} is not good any more: ${faultOf(now)}`);
    else if (record.indication === 'TOTAL-PASSED' && now.indication !== 'TOTAL-PASSED')
      harmed.push(`The signature ${record.name} does not pass any more: ${faultOf(now)}`);
  }
  return harmed;
}

/** Finds the same signature in another report. */
export function matchingSignature(
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
