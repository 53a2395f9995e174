/** Comparison of a file's signatures before and after a change to the file. */
import type { SignatureRecord, ValidationItem, ValidationReport } from '../core/validation-report.ts';

/**
 * True when a signature and the changes after it pass, independent of trust in the signer and of what its policy demands.
 */
export function isIntact({ results, changes }: SignatureRecord): boolean {
  const isSound = results.errors.every(({ type }) => type === 'chain' || type.startsWith('policy.'));
  return isSound && changes.every(({ permitted }) => permitted);
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

/**
 * Returns sentences about what is wrong in `after` and was not in `before`: errors of the file, and broken signatures and
 * counter-signatures beyond those that were broken. Both reports must be made with the same trust settings and time.
 * Names do not count: those of CMS and XML are positions, which a further signature changes. Signatures of the content
 * are no faults of the file.
 */
export function newFaults(before: ValidationReport | undefined, after: ValidationReport): readonly string[] {
  const known = new Set(before?.results.errors.map(sentenceOf));
  const faults = after.results.errors.map(sentenceOf).filter((error) => !known.has(error));
  const left = new Map<string, number>();
  for (const record of brokenOf(before?.signatures ?? []))
    left.set(keyOf(record), (left.get(keyOf(record)) ?? 0) + 1);
  for (const record of brokenOf(after.signatures)) {
    const count = left.get(keyOf(record)) ?? 0;
    if (count === 0) faults.push(`The signature ${record.name} is not good: ${faultOf(record)}`);
    else left.set(keyOf(record), count - 1);
  }
  return faults;
}

function brokenOf(signatures: readonly SignatureRecord[]): readonly SignatureRecord[] {
  const own = signatures.filter(({ isInContent }) => isInContent !== true);
  return own.flatMap((record) => [
    ...(isIntact(record) ? [] : [record]),
    ...brokenOf(record.counterSignatures),
  ]);
}

function keyOf({ certificate, signingTime, isTimestamp }: SignatureRecord): string {
  return `${certificate?.thumbprint} ${signingTime} ${isTimestamp}`;
}

function sentenceOf({ type, message, detail }: ValidationItem): string {
  return `${type}: ${message}${detail === undefined ? '' : ` (${detail})`}`;
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
