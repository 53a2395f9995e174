/** Reads the signed file back from disk, checks it as a stranger would, and gives it its name in the output folder. */
import { join } from 'node:path';
import type { Release } from '../../machines/job-context.ts';
import type { PoolResults } from '../pool/tasks.ts';
import { answerOf, type HandlerParts, type JobHandler, jobFailed, rounded } from './parts.ts';

/**
 * Waits until Verifying is durable: a published file whose job is still Queued after a power cut would be
 * signed and published a second time.
 */
export function releaseHandler(parts: HandlerParts): JobHandler<'release'> {
  const { pool, clock, outputCollision } = parts;
  return {
    after: 'durable',
    async run(effect, attempt) {
      const answer = await pool.run({
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
      });
      return released(effect, answerOf(answer), parts);
    },
    failed: jobFailed,
  };
}

/** What the job is told of its release, once the output's name is durable. */
export async function released(
  { subfolder = '' }: { readonly subfolder?: string },
  { outputFileName, verified, encrypted, times }: PoolResults['release'],
  { disk, layout }: Pick<HandlerParts, 'disk' | 'layout'>,
): Promise<Release> {
  // Here rather than on the pool: jobs that are released together share one sync of the folder.
  await disk.directory(join(layout.output, subfolder));
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
}
