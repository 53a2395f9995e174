/** Stages the input into the working folder and signs it there. */
import { join } from 'node:path';
import { outputName } from '../file-names.ts';
import { answerOf, type HandlerParts, type JobHandler, jobFailed, rounded } from './parts.ts';

/** May start before its step is durable: a job found Queued or Processing after a power cut starts or fails cleanly. */
export function signHandler({ pool, clock, disk, layout, certificates }: HandlerParts): JobHandler<'sign'> {
  return {
    after: 'visible',
    async run(effect, attempt) {
      // No promise where the verdict is at hand: a turn of the event loop for each of many small files adds up.
      const checking = certificates?.check(effect.profileName);
      if (checking !== undefined) await checking;
      const answer = await pool.run({
        task: 'sign',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        originalPath: effect.originalPath,
        format: effect.format,
        profile: effect.profileName,
        at: clock.now(),
      });
      const signed = answerOf(answer);
      await disk.file(join(layout.processing, attempt.actor.id, outputName(effect.fileName)));
      return { type: 'SIGNED', ...signed, ms: rounded(answer.ms), stageMs: rounded(signed.stageMs) };
    },
    failed: jobFailed,
  };
}
