/** Converts a stored job to its API view. */

import type { JournalLine } from '@sealwright/runtime';
import type { JobDetail, JobView } from '../../../contracts/batch/jobs.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import type { JobActor } from './job-index.ts';

export function jobView(actor: JobActor): JobView {
  const context = actor.context;
  return {
    id: actor.id as JobId,
    fileName: context.fileName,
    originalPath: context.originalPath,
    format: context.format,
    source: context.source,
    status: actor.state as JobState,
    createdAt: context.createdAt,
    updatedAt: context.updatedAt,
    parentJobId: context.parentJobId,
    errorMessage: context.errorMessage,
    errorCode: context.errorCode,
    profileName: context.profileName,
    folder: context.folder,
    outputEncrypted: context.outputEncrypted,
  };
}

export function jobDetail(actor: JobActor, journal: readonly JournalLine[]): JobDetail {
  const context = actor.context;
  const published = context.output ?? context.signed;
  return {
    ...jobView(actor),
    remoteDocumentId: context.remoteDocumentId,
    awaitingSignerSince: context.awaitingSignerSince,
    queuedAt: context.queuedAt,
    inputSha256: context.input?.sha256 ?? null,
    outputSha256: context.outputFileName === null ? null : (published?.sha256 ?? null),
    outputFileName: context.outputFileName,
    warnings: [...(context.warnings ?? [])],
    history: journal.map((line) => ({
      id: line.id,
      timestamp: line.at as Millis,
      status: line.state as JobState,
      message: line.message,
      ...(typeof line.data?.['by'] === 'string' && { actor: line.data['by'] }),
    })),
  };
}
