/** Moves the working folder of a job that did not complete to `error/<job id>/`; the input stays where it is. */
import { Retryable } from '../../runtime/index.ts';
import type { HandlerParts, JobHandler } from './parts.ts';

/** Waits until the end of the job is durable, since it may take an uncommitted output back. */
export function quarantineHandler({ pool }: HandlerParts): JobHandler<'quarantine'> {
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
      // An error folder that cannot be written now can be later; the content stays in processing/ until then.
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      return { type: 'QUARANTINED' };
    },
  };
}
