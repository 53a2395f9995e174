/** Reads the signed file back from disk, checks it as a stranger would, and gives it its name in the output folder. */
import { join } from 'node:path';
import { answerOf, type HandlerParts, type JobHandler, jobFailed, rounded } from './parts.ts';

/**
 * Waits until Verifying is durable: a published file whose job is still Queued after a power cut would be
 * signed and published a second time.
 */
export function releaseHandler({
  pool,
  clock,
  disk,
  layout,
  outputCollision,
}: HandlerParts): JobHandler<'release'> {
  return {
    after: 'durable',
    async run(effect, attempt) {
      const released = answerOf(
        await pool.run({
          task: 'release',
          jobId: attempt.actor.id,
          fileName: effect.fileName,
          format: effect.format,
          profile: effect.profileName,
          content: effect.input,
          remote: effect.remote === true,
          subfolder: effect.subfolder ?? '',
          collision: outputCollision,
          at: clock.now(),
        }),
      );
      // Here rather than on the pool: jobs that are released together share one sync of the folder.
      await disk.directory(join(layout.output, effect.subfolder ?? ''));
      const { outputFileName, verified, encrypted, times } = released;
      return {
        type: 'RELEASED',
        outputFileName,
        ...(!verified && { verified }),
        ...(encrypted && { encrypted }),
        times: {
          ...(times.verify !== undefined && { verify: rounded(times.verify) }),
          ...(times.encrypt !== undefined && { encrypt: rounded(times.encrypt) }),
          output: rounded(times.output),
        },
      };
    },
    failed: jobFailed,
  };
}
