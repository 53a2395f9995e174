import { Retryable } from '@sealwright/runtime';
import * as effects from '../../../machines/batch/job-effects.ts';
import { possibleOutputNames } from '../../shared/files/output-names.ts';
import type { JobHandlerDependencies } from './effect-handler.ts';

/**
 * Moves the working folder of a job that did not complete to `error/<job id>/`; the input stays in place. Waits until the end of the
 * job is durable, because the effect may withdraw an unpublished output.
 */
export function quarantineHandler({ pool, objects }: JobHandlerDependencies) {
  return effects.quarantine.handledBy({
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
      if (objects !== undefined) {
        const { actor } = attempt;
        const names = possibleOutputNames(effect.fileName, actor.id);
        if (effect.mayBePublished) await objects.withdraw(actor.id, effect.subfolder ?? '', names);
        await objects.moveErrors(actor.id);
      }
      return { type: 'QUARANTINED' };
    },
  });
}
