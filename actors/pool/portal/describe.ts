/** Describes each signature of a file: signer, certificate and validity. */
import {
  certificatesInBundle,
  type ValidationReport,
  validateFile,
  validationReportXml,
} from '@sealwright/signatures';
import { type Agreement, compareReports, type IndependentReport } from '../../../independent/index.ts';
import { fileDigest } from '../../shared/files/digest.ts';
import { describedFile } from '../../shared/signing/signature-records.ts';
import { reportOf } from '../independent-check.ts';
import type { DescribeTask, PortalResults } from '../portal-tasks.ts';
import type { WorkerProfileRuntime } from '../worker-profiles.ts';
import { type PortalTaskContext, profileOf } from './portal-task-context.ts';
import { revocationSource } from './revocation-answers.ts';
import { signedFormat } from './signed-format.ts';

export async function describe(
  task: DescribeTask,
  thread: PortalTaskContext,
): Promise<PortalResults['portal.describe']> {
  const { path, content, at } = task;
  const format = task.format ?? signedFormat(path, task.contentType);
  if (format === undefined) return { fault: null, signatures: [] };
  const { roots, intermediates, revocation } = thread.profiles.trust;
  const seal = profileOf(thread, task.profile);
  const online = revocationSource(thread);
  const report = await validateFile({
    format,
    path,
    ...(content !== null && { content }),
    ...(task.certificates !== undefined && {
      certificates: certificatesInBundle(Buffer.from(task.certificates)),
    }),
    trust: {
      anchors: [...roots, ...profileAnchors(seal)],
      intermediates: [...intermediates, ...(seal.signer?.chain ?? [])],
      revocation,
      lists: thread.profiles.lists?.(),
      // A certificate accepted while no roots were configured is checked without roots again.
      ...(roots.length === 0 && task.accepted !== undefined && { acceptedUnproven: task.accepted }),
      ...(online !== undefined && { online }),
    },
    at,
  });
  const judged = seal.verifyIndependently
    ? withOpinion(report, await reportOf(report.format, path, content ?? undefined, at))
    : report;
  if (task.withReport !== true) return describedFile(judged);
  const file = { name: task.documentId, sha256: fileDigest(path), at };
  return { ...describedFile(judged), report: validationReportXml(judged, file) };
}

/** Adds the verdict of the second implementation to the result of the whole file. */
function withOpinion(report: ValidationReport, opinion: IndependentReport): ValidationReport {
  const { verdict, details } = compareReports(report.signatures, opinion);
  const { results } = report;
  const item = { type: 'independent.agreement', message: OPINIONS[verdict], detail: details.join(' ') };
  return {
    ...report,
    results: {
      isValid: results.isValid && verdict !== 'disagrees',
      passedChecks: verdict === 'agrees' ? [...results.passedChecks, item] : results.passedChecks,
      errors: verdict === 'disagrees' ? [...results.errors, item] : results.errors,
      warnings: verdict === 'not-comparable' ? [...results.warnings, item] : results.warnings,
    },
  };
}

const OPINIONS: { readonly [verdict in Agreement]: string } = {
  agrees: 'An independent implementation agrees.',
  disagrees: 'An independent implementation disagrees.',
  'not-comparable': 'The independent implementation cannot judge all of the file.',
};

/** Trust anchors of the profile: certificates the service seals with are trusted also without a known root. */
function profileAnchors({ anchors, signer }: WorkerProfileRuntime): readonly Buffer[] {
  return anchors.length > 0 || signer === undefined ? anchors : [signer.certificate];
}
