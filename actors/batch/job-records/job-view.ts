/** Converts a stored job to its API view. */

import type { JournalLine } from '@sealwright/runtime';
import type { JobDetail, JobView } from '../../../contracts/batch/jobs.ts';
import type { JobState } from '../../../machines/batch/job-context.ts';
import type { JobId, Millis } from '../../../machines/ids.ts';
import type { JobActor } from './job-index.ts';

/** Encoders of replies and webhooks leave out what they do not show. */
export function jobView({ id, state, context }: JobActor): JobView {
  return { ...context, id: id as JobId, status: state as JobState, sizeBytes: context.seen?.size ?? null };
}

export function jobDetail(actor: JobActor, journal: readonly JournalLine[]): JobDetail {
  const context = actor.context;
  const published = context.output ?? context.signed;
  return {
    ...context,
    ...jobView(actor),
    inputSha256: context.input?.sha256 ?? null,
    outputSha256: context.outputFileName === null ? null : (published?.sha256 ?? null),
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
