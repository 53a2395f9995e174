/**
 * The handlers of a job's effects.
 *
 * Stages the input in the working folder and signs it there; verifies and publishes small files in the same task.
 *
 * Removes the original once its signed output is published and the job is Completed.
 */

import { dirname, join } from 'node:path';
import {
  describeFailure,
  type EffectAttempt,
  type EffectRun,
  Fatal,
  type HandledEffect,
  isRetryable,
  Retryable,
} from '@sealwright/runtime';
import type { Release } from '../../../machines/batch/job-context.ts';
import * as effects from '../../../machines/batch/job-effects.ts';
import { recordEvent } from '../../../machines/batch/system-event.ts';
import { INPUT_BUSY, isStorageCode } from '../../pool/disk-errors.ts';
import type { PoolResults } from '../../pool/tasks.ts';
import type { DiskSync } from '../../shared/disk-sync.ts';
import { outputName, possibleOutputNames } from '../../shared/file-names.ts';
import { finalErrors } from '../../shared/final-errors.ts';
import { type EventLog, eventIdOf, withJob } from '../job-records/events.ts';
import { JOB } from '../job-records/kinds.ts';
import { type BucketOriginals, isInBucket } from '../objects/bucket-originals.ts';
import { isObject } from '../objects/job-objects.ts';
import { stampedInput, withOriginal } from '../objects/originals.ts';
import { cancelRemoteHandler, dispatchHandler } from './dispatch.ts';
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

/** Attempts with increasing pauses before the job reports that an operator must act. */
const MAX_ATTEMPTS = 12;
/** The same while a bucket is away, which its check says: one in five minutes, for about a month. */
const MAX_OUTAGE_ATTEMPTS = 10_000;
/** The same for a file that the service may not remove: a further attempt rarely helps. */
const MAX_REFUSED_ATTEMPTS = 3;
/** Attempts to open an input that may be readable in a moment: about 15 seconds, as for an object. */
const MAX_BUSY_ATTEMPTS = 5;

/**
 * Waits until Completed is durable, because the removal is final, and finishes when the removal is durable: an original
 * that a power cut restores would be signed again.
 */
export function tidyHandler({
  pool,
  disk,
  objects,
  originals,
}: Pick<JobHandlerDependencies, 'pool' | 'disk' | 'objects' | 'originals'>) {
  return effects.tidy.handledBy({
    tries: MAX_OUTAGE_ATTEMPTS,
    async run(effect, attempt) {
      // Of a file also what the runtime ends, as by its limit of time, counts; it is not seen below.
      if (isFile(effect.originalPath) && attempt.failures >= MAX_ATTEMPTS)
        throw new Fatal('job.input-not-removed', 'Each attempt took too long.');
      try {
        return await tidy(effect, attempt);
      } catch (error) {
        const { code, message } = describeFailure(error);
        const isOutage = !isFile(effect.originalPath) && code === 'storage.unavailable';
        if (isOutage || attempt.failures + 1 < MAX_ATTEMPTS) throw error;
        throw new Fatal(code, message);
      }
    },
    failed: (_, failure) => ({
      type: 'TIDY_FAILED',
      message: `The input could not be removed and stays in place. ${failure.message}`,
    }),
  });
  async function tidy(effect: effects.TidyInput, attempt: EffectAttempt): Promise<JobMessageContent> {
    const answer = await pool.run({
      task: 'tidy',
      jobId: attempt.actor.id,
      fileName: effect.fileName,
      originalPath: effect.originalPath,
      input: isFile(effect.originalPath) ? effect.input : null,
    });
    if (!answer.ok) throw new Retryable(answer.code, answer.message);
    if (isInBucket(effect.originalPath)) return removeFromBucket(effect, originals);
    if (isObject(effect.originalPath)) {
      await objects?.removeInput(effect.originalPath);
      return { type: 'TIDIED', diverged: false };
    }
    const { refused } = answer.result;
    if (refused !== undefined) {
      const remedy = `Remove it, and give the user of the service the right to remove files there (${refused}).`;
      if (attempt.failures + 1 < MAX_REFUSED_ATTEMPTS) throw new Retryable('job.input-not-removed', remedy);
      throw new Fatal('job.input-not-removed', remedy);
    }
    if (effect.input && !answer.result.diverged) await syncIfPresent(disk, dirname(effect.originalPath));
    return { type: 'TIDIED', diverged: answer.result.diverged };
  }
}

function isFile(originalPath: string): boolean {
  return !isObject(originalPath) && !isInBucket(originalPath);
}

async function removeFromBucket(
  { originalPath, input }: effects.TidyInput,
  originals: BucketOriginals | undefined,
): Promise<JobMessageContent> {
  if (originals === undefined || input?.etag === undefined)
    throw new Fatal(
      'job.input-not-removed',
      `Remove ${originalPath}; Storage:Inputs names no bucket any more.`,
    );
  try {
    const { etag, mtimeMs } = input;
    const outcome = await originals.remove(originalPath, { etag, mtimeMs });
    return { type: 'TIDIED', diverged: outcome === 'changed' };
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code !== 'input.unreadable' || isRetryable(error)) throw error;
    throw new Fatal(
      'job.input-not-removed',
      `Remove ${originalPath}, and give the service the right (${message}).`,
    );
  }
}

/** Syncs a folder; ignores a folder that no longer exists. */
async function syncIfPresent(disk: DiskSync, folder: string): Promise<void> {
  try {
    await disk.directory(folder);
  } catch (error) {
    const { code, message } = describeFailure(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw new Retryable(code, message);
  }
}

/**
 * Moves the working folder of a job that did not complete to `error/<job id>/`; the input stays in place. Waits until the end of the
 * job is durable, because the effect may withdraw an unpublished output.
 */
function quarantineHandler({ pool, objects }: JobHandlerDependencies) {
  return effects.quarantine.handledBy({
    async run(effect, attempt) {
      const answer = await pool.run({
        task: 'quarantine',
        jobId: attempt.actor.id,
        fileName: effect.fileName,
        mayBePublished: effect.mayBePublished,
        subfolder: effect.subfolder ?? '',
      });
      // The error folder may be writable later; until then the content stays in processing/.
      if (!answer.ok) throw new Retryable(answer.code, answer.message);
      if (objects !== undefined) {
        const { actor } = attempt;
        const names = possibleOutputNames(effect.fileName, actor.id);
        if (effect.mayBePublished) await objects.withdraw(actor.id, effect.subfolder ?? '', names);
        await objects.moveErrors(actor.id);
      }
      return { type: 'QUARANTINED' };
    },
  });
}

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
function signHandler(dependencies: JobHandlerDependencies) {
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
        if (!result.ok && authorities?.failed(effect.profileName, result))
          return { type: 'INPUT_AWAY', message: result.message.replace(/\.$/, ''), isAuthority: true };
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
 * Reads the signed file back from disk, verifies it independently and publishes it in the output folder.
 * Waits until Verifying is durable: after a power cut, a job that is Queued again would be signed and published twice.
 */
function releaseHandler(dependencies: JobHandlerDependencies) {
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

/** Handlers of a job's effects, but for that of its webhooks. */
export function jobHandlers(dependencies: JobHandlerDependencies): readonly HandledEffect<unknown>[] {
  return [
    signHandler(dependencies),
    dispatchHandler(dependencies),
    cancelRemoteHandler(dependencies),
    releaseHandler(dependencies),
    tidyHandler(dependencies),
    quarantineHandler(dependencies),
    recordEventHandler(dependencies.events),
  ];
}

/** Records a system event for `GET /api/events`. Source: docs/batch-values.md §15. */
export function recordEventHandler(events: Pick<EventLog, 'record'>) {
  return recordEvent.handledBy({
    after: 'visible',
    async run(event, { key, actor }) {
      await events.record(withJob(event, actor.kind === JOB.kind ? actor.id : null), eventIdOf(key));
      return null;
    },
  });
}
