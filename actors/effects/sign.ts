/** Stages the input into the working folder and signs it there. */
import { answerOf, type HandlerParts, type JobHandler, jobFailed } from './parts.ts';

/** May start before its step is durable: a job found Queued or Processing after a power cut starts or fails cleanly. */
export function signHandler({ pool, clock }: HandlerParts): JobHandler<'sign'> {
  return {
    after: 'visible',
    async run(effect, attempt) {
      const result = await pool.run({
        task: 'sign',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        originalPath: effect.originalPath,
        format: effect.format,
        profile: effect.profileName,
        at: clock.now(),
      });
      return { type: 'SIGNED', ...answerOf(result) };
    },
    failed: jobFailed,
  };
}
