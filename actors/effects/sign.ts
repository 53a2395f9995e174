/** Stages the input into the working folder and signs it there. */
import { join } from 'node:path';
import { outputName } from '../file-names.ts';
import { answerOf, type HandlerParts, type JobHandler, jobFailed } from './parts.ts';

/** May start before its step is durable: a job found Queued or Processing after a power cut starts or fails cleanly. */
export function signHandler({ pool, clock, disk, layout }: HandlerParts): JobHandler<'sign'> {
  return {
    after: 'visible',
    async run(effect, attempt) {
      const signed = answerOf(
        await pool.run({
          task: 'sign',
          jobId: attempt.actor.id,
          fileName: effect.fileName,
          originalPath: effect.originalPath,
          format: effect.format,
          profile: effect.profileName,
          at: clock.now(),
        }),
      );
      await disk.file(join(layout.processing, attempt.actor.id, outputName(effect.fileName)));
      return { type: 'SIGNED', ...signed };
    },
    failed: jobFailed,
  };
}
