/** Reads the signed file back from disk and checks it as a stranger would. */
import { answerOf, type HandlerParts, type JobHandler, jobFailed } from './parts.ts';

/** May start before its step is durable: it changes nothing. */
export function verifyHandler({ pool, clock }: HandlerParts): JobHandler<'verify'> {
  return {
    after: 'visible',
    async run(effect, attempt) {
      answerOf(
        await pool.run({
          task: 'verify',
          jobId: attempt.actor.id,
          fileName: effect.fileName,
          format: effect.format,
          profile: effect.profileName,
          content: effect.input,
          at: clock.now(),
        }),
      );
      return { type: 'VERIFIED' };
    },
    failed: jobFailed,
  };
}
