/** Moves the working folder of a job that did not complete to `error/<job id>/`; the input stays in place. */
import { Retryable } from '@sealwright/runtime';
import type { JobHandler, JobHandlerDependencies } from './effect-handler.ts';

/** Waits until the end of the job is durable, because the effect may withdraw an unpublished output. */
export function quarantineHandler({ pool }: JobHandlerDependencies): JobHandler<'quarantine'> {
  return {
    after: 'durable',
    async run(effect, attempt) {
      const answer = await pool.run({
        task: 'quarantine',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        mayBePublished: effect.mayBePublished,
        subfolder: effect.subfolder ?? '',
      });
      // The error folder may be writable later; until then the content stays in processing/.
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      return { type: 'QUARANTINED' };
    },
  };
}
