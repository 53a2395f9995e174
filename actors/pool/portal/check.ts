/**
 * Verifies a document whose flow is complete: every expected signature is present and valid, and nothing else is wrong
 * that was not in the upload, whose faults people saw before they signed.
 *
 * The final verification of a document in the task that adds its last signature.
 */
import {
  augmentFile,
  brokenSignatures,
  newFaults,
  type SignatureRecord,
  type ValidationItem,
  type ValidationReport,
  validateFile,
  verifyFile,
} from '@sealwright/signatures';
import { removeIfPresent } from '../../shared/files/directories.ts';
import { nameInFile } from '../../shared/signing/signature-records.ts';
import type { CheckTask, ExpectedSignature, PortalResults, ServiceSignatureTask } from '../portal-tasks.ts';
import { TaskFailure } from '../task-failure.ts';
import { type PortalTaskContext, profileOf } from './portal-task-context.ts';

/**
 * True when the signed file holds all expected signatures and the new one, all valid. False leaves the verdict, with
 * its reason, to a task of its own.
 * @param certificate of the new signature, lower-case hex SHA-256
 */
export async function passesFinalCheck(
  task: Pick<ServiceSignatureTask, 'check' | 'documentId' | 'format' | 'input' | 'output' | 'profile'>,
  certificate: string,
  thread: PortalTaskContext,
): Promise<boolean> {
  const { check, documentId, format, input, output, profile } = task;
  if (check === null) return false;
  const { fieldName, at, original } = check;
  const expected: readonly ExpectedSignature[] = [...check.expected, { fieldName, certificate }];
  const isBeside = format === 'Cades';
  try {
    if (isAloneAndValid(task, certificate, thread)) return true;
    await checkSignatures(
      {
        task: 'portal.check',
        documentId,
        format,
        profile,
        input: isBeside ? input : output,
        signatures: isBeside ? output : null,
        expected,
        original,
        at,
        output: null,
      },
      thread,
    );
    return true;
  } catch {
    return false;
  }
}

/**
 * True when a PDF has the new signature alone and the quick check finds no fault: it reads the file anew, as full
 * validation does, in half its time. False decides nothing.
 */
function isAloneAndValid(
  { check, format, output, profile }: Pick<ServiceSignatureTask, 'check' | 'format' | 'output' | 'profile'>,
  certificate: string,
  thread: PortalTaskContext,
): boolean {
  if (check === null || check.fieldName === null || check.expected.length > 0) return false;
  if (format !== 'Pades' || (profileOf(thread, profile).choices.level ?? 'B') !== 'B') return false;
  const { fieldName: only, at } = check;
  return verifyFile({ format, path: output, signer: certificate, only, at }).ok;
}

/** @throws {TaskFailure} `verification.failed`, naming missing and invalid signatures */
export async function checkSignatures(
  task: CheckTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.check']> {
  const { format, input, signatures, output, at } = task;
  const { services } = profileOf(thread, task.profile);
  const path = signatures ?? input;
  const content = signatures === null ? {} : { content: input };
  await assertGood(path, task, thread);
  if (output === null || services.timestamps === undefined) return { output: null };
  removeIfPresent(output);
  const stamped = await augmentFile({ format, input: path, ...content, output, to: 'T', at }, services);
  await assertGood(output, task, thread);
  return { output: stamped.output };
}

/** @throws {TaskFailure} `verification.failed` */
async function assertGood(path: string, task: CheckTask, thread: PortalTaskContext): Promise<void> {
  const { format, input, signatures, original, at, expected } = task;
  const { roots, intermediates } = thread.profiles.trust;
  const judge = (file: string): Promise<ValidationReport> =>
    validateFile({
      format,
      path: file,
      trust: { anchors: roots, intermediates, revocation: 'none', algorithms: 'as-listed' },
      at,
      ...(signatures !== null && { content: input }),
    });
  const report = await judge(path);
  const found = expected.map((_, index) => recordOf(report.signatures, expected, index));
  // What only the expected signatures are in needs no comparison.
  const hasMore = !report.results.isValid || report.signatures.some((record) => !found.includes(record));
  const before = hasMore && signatures === null && original !== null ? await judge(original) : undefined;
  const misses = [
    ...expected.flatMap((one, index) => missingSignatures(one, found[index])),
    ...newFaults(before, report),
    ...(before === undefined ? [] : brokenSignatures(before, report)),
  ];
  if (misses.length > 0)
    throw new TaskFailure('verification.failed', `Verification failed. ${[...new Set(misses)].join('; ')}`);
}

/** Finds the record of an expected signature: by its name, else by its certificate, one record per signature. */
function recordOf(
  records: readonly SignatureRecord[],
  expected: readonly ExpectedSignature[],
  index: number,
): SignatureRecord | undefined {
  const wanted = expected[index];
  if (wanted === undefined) return undefined;
  const thumbprint = Buffer.from(wanted.certificate, 'hex').toString('base64');
  const same = records.filter(
    ({ isTimestamp, certificate }) => !isTimestamp && certificate?.thumbprint === thumbprint,
  );
  if (wanted.fieldName !== null) return same.find((record) => nameInFile(record) === wanted.fieldName);
  const before = expected.slice(0, index).filter(({ certificate }) => certificate === wanted.certificate);
  return same[before.length];
}

/** Lists missing and invalid signatures. Checks integrity, not the certificate chain, which is left to validation. */
function missingSignatures(
  { fieldName, certificate }: ExpectedSignature,
  record: SignatureRecord | undefined,
): readonly string[] {
  if (record === undefined) return [`signature: ${fieldName ?? certificate} is not in the file.`];
  return [
    ...record.results.errors
      .filter(({ type }) => type !== 'chain' && !type.startsWith('chain.'))
      .map(sentence),
    ...record.changes
      .filter(({ permitted }) => !permitted)
      .map(({ description }) => `changes: ${description}`),
  ];
}

function sentence({ type, message, detail }: ValidationItem): string {
  return `${type}: ${message}${detail === undefined ? '' : ` (${detail})`}`;
}
