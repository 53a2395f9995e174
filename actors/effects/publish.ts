/** Gives the verified file its name in the output folder. */
import { answerOf, type HandlerParts, type JobHandler, jobFailed } from './parts.ts';

/**
 * Waits until Verifying is durable: a published file whose job is still Queued after a power cut would be
 * signed and published a second time.
 */
export function publishHandler({ pool, outputCollision }: HandlerParts): JobHandler<'publish'> {
  return {
    after: 'durable',
    async run(effect, attempt) {
      const result = await pool.run({
        task: 'publish',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        collision: outputCollision,
      });
      return { type: 'PUBLISHED', ...answerOf(result) };
    },
    failed: jobFailed,
  };
}
