/**
 * Stages the input in the working folder and signs it there, then verifies and publishes it; small files in one task.
 */
import { join } from 'node:path';
import { type EffectRun, Fatal, Retryable } from '@sealwright/runtime';
import type { Release } from '../../../machines/batch/job-context.ts';
import * as effects from '../../../machines/batch/job-effects.ts';
import { INPUT_BUSY, isStorageCode } from '../../pool/disk-errors.ts';
import type { PoolResults } from '../../pool/tasks.ts';
import { finalErrors } from '../../shared/failures/final-errors.ts';
import { outputName } from '../../shared/files/output-names.ts';
import { stampedInput, withOriginal } from '../objects/originals.ts';
import {
  interrupted,
  type JobHandlerDependencies,
  type JobMessageContent,
  jobFailed,
  messageOf,
  NO_TIME_LIMIT,
  passwordOf,
  rounded,
  storageFault,
  waitsForInput,
  whileWritable,
} from './effect-handler.ts';

/** Attempts to open an input that may be readable in a moment: about 15 seconds, as for an object. */
const MAX_BUSY_ATTEMPTS = 5;

/** Members of the tasks that sign and release a file. */
function orderOf(
  jobId: string,
  effect: effects.SignInput | effects.ReleaseInput,
  { clock, outputCollision, secrets }: JobHandlerDependencies,
) {
  return {
    jobId,
    fileName: effect.fileName,
    format: effect.format,
    profile: effect.profileName,
    subfolder: effect.subfolder ?? '',
    ...passwordOf(effect, secrets),
    ...(effect.operation && { operation: effect.operation }),
    ...(effect.parameters && { parameters: effect.parameters }),
    ...(effect.files && { files: effect.files }),
    collision: outputCollision,
    at: clock.now(),
  };
}

/**
 * Waits until Processing is durable: after a power cut, a job that is Queued again would be signed and published twice.
 */
export function signHandler(dependencies: JobHandlerDependencies) {
  const { pool, disk, layout, objects, certificates, storage, authorities } = dependencies;
  return effects.sign.handledBy({
    timeoutMs: NO_TIME_LIMIT,
    run: waitsForRoom(
      storage,
      ({ bytes }) => bytes,
      async (effect: effects.SignInput, attempt) => {
        // Synchronous for a cached verdict: one turn of the event loop per small file adds up.
        const checking = effect.operation === 'Extend' ? undefined : certificates?.check(effect.profileName);
        if (checking !== undefined) await checking;
        const read = await withOriginal(effect.originalPath, dependencies, (originalPath) =>
          pool.run(
            {
              task: 'sign',
              originalPath,
              ...orderOf(attempt.actor.id, effect, dependencies),
              ...(effect.seen && originalPath === effect.originalPath && { seen: effect.seen }),
            },
            { bytes: effect.bytes },
          ),
        );
        if ('away' in read) return { type: 'INPUT_AWAY', message: read.away };
        const { result, stamp } = read;
        if (!result.ok && result.code === INPUT_BUSY) {
          if (attempt.failures + 1 < MAX_BUSY_ATTEMPTS) throw new Retryable(result.code, result.message);
          throw new Fatal('input.unreadable', result.message);
        }
        const waitedFor = result.ok ? undefined : authorities?.failed(effect.profileName, result);
        if (!result.ok && waitedFor !== undefined)
          return {
            type: 'INPUT_AWAY',
            message: result.message.replace(/\.$/, ''),
            ...(waitedFor === 'key service' ? { isKeyService: true } : { isAuthority: true }),
          };
        const waits = result.ok ? undefined : await waitsForInput(result, effect);
        if (waits !== undefined) return waits;
        const { input, signed, signMs, stageMs, release, warnings } = messageOf(result);
        const message = {
          type: 'SIGNED',
          input: stampedInput(input, stamp),
          signed,
          ms: rounded(signMs),
          stageMs: rounded(stageMs),
          ...(warnings && { warnings }),
        } as const;
        if (release === undefined) {
          if (objects === undefined)
            await disk.file(join(layout.processing, attempt.actor.id, outputName(effect.fileName)));
          return message;
        }
        if (release.ok) {
          try {
            const done = await released(attempt.actor.id, effect, release.result, dependencies);
            return { ...message, release: done };
          } catch (error) {
            const fault = storageFault(error);
            if (fault === undefined) throw error;
            storage.report(fault);
            return message;
          }
        }
        // Keeps the signed file. A separate release effect follows and waits for disk space.
        if (isStorageCode(release.code)) {
          storage.report({ code: release.code, reason: release.message });
          return message;
        }
        return { ...message, release: { type: 'FAIL', code: release.code, message: release.message } };
      },
    ),
    failed: jobFailed,
    interrupted,
  });
}

/**
 * Reads the signed file back from disk, verifies it, encrypts it where the profile says so, and publishes it.
 * Waits until Verifying is durable: after a power cut, a job that is Queued again would be signed and published twice.
 */
export function releaseHandler(dependencies: JobHandlerDependencies) {
  const { pool, storage } = dependencies;
  return effects.release.handledBy({
    timeoutMs: NO_TIME_LIMIT,
    run: waitsForRoom(
      storage,
      ({ input }) => input?.length,
      async (effect: effects.ReleaseInput, attempt) => {
        const task = {
          task: 'release',
          content: effect.input,
          remote: effect.remote === true,
          ...orderOf(attempt.actor.id, effect, dependencies),
        } as const;
        const answer = await pool.run(task, { bytes: effect.input?.length });
        return released(attempt.actor.id, effect, messageOf(answer), dependencies);
      },
    ),
    failed: jobFailed,
    interrupted,
  });
}

/** The message about the release, once the name of the output is durable. */
async function released(
  jobId: string,
  { subfolder = '' }: { readonly subfolder?: string },
  { outputFileName: name, unpublished, verified, independent, encrypted, times }: PoolResults['release'],
  { disk, layout, objects, clock }: Pick<JobHandlerDependencies, 'disk' | 'layout' | 'objects' | 'clock'>,
): Promise<Release> {
  const start = clock.elapsed();
  const outputFileName =
    unpublished && objects
      ? join(subfolder, await objects.publish({ ...unpublished, jobId, subfolder }))
      : name;
  // On the main thread, not in the pool: jobs released at the same time share one sync of the folder.
  if (unpublished === undefined) await disk.directory(join(layout.output, subfolder));
  return {
    type: 'RELEASED',
    outputFileName,
    ...(!verified && { verified }),
    ...(independent && { independent }),
    ...(encrypted && { encrypted }),
    times: {
      ...(times.verify !== undefined && { verify: rounded(times.verify) }),
      ...(times.encrypt !== undefined && { encrypt: rounded(times.encrypt) }),
      output: rounded(times.output + (unpublished ? clock.elapsed() - start : 0)),
    },
  };
}

/** Makes work wait while the pipeline is held, and end after an error that nobody foresaw. */
function waitsForRoom<Input>(
  storage: JobHandlerDependencies['storage'],
  bytesOf: (input: Input) => number | undefined,
  run: (input: Input, attempt: EffectRun) => Promise<JobMessageContent>,
): typeof run {
  return finalErrors((input, attempt) =>
    whileWritable(storage, attempt, () => run(input, attempt), bytesOf(input)),
  );
}
