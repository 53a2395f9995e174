/** Stages the input in the working folder and signs it there; verifies and publishes small files in the same task. */
import { join } from 'node:path';
import type { Release } from '../../../machines/batch/job-context.ts';
import { isStorageCode } from '../../pool/disk-errors.ts';
import type { PoolResults } from '../../pool/tasks.ts';
import { outputName } from '../../shared/file-names.ts';
import {
  interrupted,
  type JobHandler,
  type JobHandlerDependencies,
  jobFailed,
  messageOf,
  NO_TIME_LIMIT,
  passwordOf,
  rounded,
} from './effect-handler.ts';

/**
 * Waits until Processing is durable: after a power cut, a job that is Queued again would be signed and published twice.
 */
export function signHandler(dependencies: JobHandlerDependencies): JobHandler<'sign'> {
  const { pool, clock, disk, layout, outputCollision, certificates, storage, secrets } = dependencies;
  return {
    after: 'durable',
    timeLimitMs: NO_TIME_LIMIT,
    async run(effect, attempt) {
      // Synchronous for a cached verdict: one turn of the event loop per small file adds up.
      const checking = effect.operation === 'Extend' ? undefined : certificates?.check(effect.profileName);
      if (checking !== undefined) await checking;
      const { input, signed, signMs, stageMs, release } = messageOf(
        await pool.run(
          {
            task: 'sign',
            jobId: attempt.actor.id,
            fileName: effect.fileName,
            originalPath: effect.originalPath,
            format: effect.format,
            profile: effect.profileName,
            subfolder: effect.subfolder ?? '',
            ...passwordOf(effect, secrets),
            ...(effect.operation && { operation: effect.operation }),
            ...(effect.files && { files: effect.files }),
            collision: outputCollision,
            at: clock.now(),
          },
          { bytes: effect.bytes },
        ),
      );
      const message = {
        type: 'SIGNED',
        input,
        signed,
        ms: rounded(signMs),
        stageMs: rounded(stageMs),
      } as const;
      if (release === undefined) {
        await disk.file(join(layout.processing, attempt.actor.id, outputName(effect.fileName)));
        return message;
      }
      if (release.ok) return { ...message, release: await released(effect, release.result, dependencies) };
      // Keeps the signed file. A separate release effect follows and waits for disk space.
      if (isStorageCode(release.code)) {
        storage.report({ code: release.code, reason: release.message });
        return message;
      }
      return { ...message, release: { type: 'FAIL', code: release.code, message: release.message } };
    },
    failed: jobFailed,
    interrupted,
  };
}

/**
 * Reads the signed file back from disk, verifies it independently and publishes it in the output folder.
 * Waits until Verifying is durable: after a power cut, a job that is Queued again would be signed and published twice.
 */
export function releaseHandler(dependencies: JobHandlerDependencies): JobHandler<'release'> {
  const { pool, clock, outputCollision, secrets } = dependencies;
  return {
    after: 'durable',
    timeLimitMs: NO_TIME_LIMIT,
    async run(effect, attempt) {
      const task = {
        task: 'release',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        format: effect.format,
        profile: effect.profileName,
        content: effect.input,
        remote: effect.remote === true,
        subfolder: effect.subfolder ?? '',
        ...passwordOf(effect, secrets),
        ...(effect.operation && { operation: effect.operation }),
        ...(effect.files && { files: effect.files }),
        collision: outputCollision,
        at: clock.now(),
      } as const;
      const answer = await pool.run(task, { bytes: effect.input?.length });
      return released(effect, messageOf(answer), dependencies);
    },
    failed: jobFailed,
    interrupted,
  };
}

/** The message about the release, once the name of the output is durable. */
async function released(
  { subfolder = '' }: { readonly subfolder?: string },
  { outputFileName, verified, independent, encrypted, times }: PoolResults['release'],
  { disk, layout }: Pick<JobHandlerDependencies, 'disk' | 'layout'>,
): Promise<Release> {
  // On the main thread, not in the pool: jobs released at the same time share one sync of the folder.
  await disk.directory(join(layout.output, subfolder));
  return {
    type: 'RELEASED',
    outputFileName,
    ...(!verified && { verified }),
    ...(independent && { independent }),
    ...(encrypted && { encrypted }),
    times: {
      ...(times.verify !== undefined && { verify: rounded(times.verify) }),
      ...(times.encrypt !== undefined && { encrypt: rounded(times.encrypt) }),
      output: rounded(times.output),
    },
  };
}
