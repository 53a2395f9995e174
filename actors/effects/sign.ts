/** Stages the input into the working folder and signs it there; a small file is verified and published as well. */
import { join } from 'node:path';
import { outputName } from '../file-names.ts';
import { answerOf, type HandlerParts, type JobHandler, jobFailed, rounded } from './parts.ts';
import { released } from './release.ts';

/**
 * Waits until Processing is durable: a published file whose job is still Queued after a power cut would be signed and
 * published a second time.
 */
export function signHandler(parts: HandlerParts): JobHandler<'sign'> {
  const { pool, clock, disk, layout, outputCollision, certificates } = parts;
  return {
    after: 'durable',
    async run(effect, attempt) {
      // No promise where the verdict is at hand: a turn of the event loop for each of many small files adds up.
      const checking = certificates?.check(effect.profileName);
      if (checking !== undefined) await checking;
      const { input, signed, signMs, stageMs, release } = answerOf(
        await pool.run({
          task: 'sign',
          jobId: attempt.actor.id,
          fileName: effect.fileName,
          originalPath: effect.originalPath,
          format: effect.format,
          profile: effect.profileName,
          subfolder: effect.subfolder ?? '',
          collision: outputCollision,
          at: clock.now(),
        }),
      );
      const told = { type: 'SIGNED', input, signed, ms: rounded(signMs), stageMs: rounded(stageMs) } as const;
      if (release === undefined) {
        await disk.file(join(layout.processing, attempt.actor.id, outputName(effect.fileName)));
        return told;
      }
      if (release.ok) return { ...told, release: await released(effect, release.result, parts) };
      return { ...told, release: { type: 'FAIL', code: release.code, message: release.message } };
    },
    failed: jobFailed,
  };
}
