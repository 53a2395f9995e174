/**
 * Shapes of the batch service's replies, and their construction from records.
 *
 * Source: docs/batch-values.md §0, §3 and §4.
 */

import type { Millis } from '@sealwright/runtime';
import { z } from 'zod';
import { HEALTH_STATUSES, type HealthCheck } from '../../actors/batch/api/inspection.ts';
import type { JobDetail, JobView } from '../../actors/batch/api/jobs.ts';
import type { FolderView, PipelineView, RescanReport } from '../../actors/batch/api/service.ts';
import { JOB_FORMATS, JOB_SOURCES, JOB_STATES } from '../../machines/batch/job-context.ts';
import { SYSTEM_EVENT_KINDS } from '../../machines/batch/system-event.ts';

export const timestamp = z.iso.datetime({ precision: 3 });
const jobState = z.enum(JOB_STATES);
export const jobFormat = z.enum(JOB_FORMATS);

const jobFields = {
  id: z.guid(),
  fileName: z.string(),
  originalPath: z.string(),
  format: jobFormat,
  source: z.enum(JOB_SOURCES),
  status: jobState,
  createdAt: timestamp,
  updatedAt: timestamp,
  parentJobId: z.guid().nullable(),
  errorMessage: z.string().nullable(),
  profileName: z.string(),
  folder: z.string().nullable(),
  outputEncrypted: z.boolean(),
};

const jobShape = z.strictObject(jobFields).meta({ id: 'Job' });

export const jobDetailShape = z
  .strictObject({
    ...jobFields,
    errorCode: z.string().nullable(),
    remoteDocumentId: z.string().nullable(),
    awaitingSignerSince: timestamp.nullable(),
    queuedAt: timestamp,
    inputSha256: z.string().nullable(),
    outputSha256: z.string().nullable(),
    outputFileName: z.string().nullable(),
    history: z.array(z.strictObject({ id: z.int(), timestamp, status: jobState, message: z.string() })),
  })
  .meta({ id: 'JobWithHistory' });

export const jobListShape = z
  .strictObject({
    items: z.array(jobShape),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
  })
  .meta({ id: 'JobList' });

export const uploadAcceptedShape = z
  .strictObject({
    jobId: z.guid(),
    fileName: z.string(),
    originalPath: z.string(),
    format: jobFormat,
    status: z.literal('Queued'),
  })
  .meta({ id: 'UploadAccepted' });

export const retryShape = z
  .strictObject({
    newJobId: z.guid(),
    parentJobId: z.guid(),
    status: z.literal('Queued'),
  })
  .meta({ id: 'Retry' });

export const cancelShape = z
  .strictObject({ jobId: z.guid(), status: z.literal('Canceled') })
  .meta({ id: 'Cancellation' });

export const pipelineShape = z
  .strictObject({
    paused: z.boolean(),
    pausedAtUtc: timestamp.nullable(),
    resumedAtUtc: timestamp.nullable(),
    pausedBy: z.enum(['system', 'operator']),
    reason: z.string().nullable(),
    held: z.strictObject({ reason: z.string(), since: timestamp }).nullable(),
    maxConcurrency: z.int(),
    jobsInFlight: z.int(),
    jobsInFlightByFormat: z.strictObject({ pades: z.int(), cades: z.int(), xades: z.int(), total: z.int() }),
  })
  .meta({ id: 'PipelineState' });

export const foldersShape = z
  .strictObject({
    folders: z.array(
      z.strictObject({
        name: z.string(),
        path: z.string(),
        exists: z.boolean(),
        status: z.enum(['Initializing', 'Running', 'Stopped']),
        lastEnqueueAt: timestamp.nullable(),
        lastError: z.string().nullable(),
        processedCount: z.int(),
        fileCount: z.int(),
        fileCountCapped: z.boolean(),
        profile: z.string(),
      }),
    ),
  })
  .meta({ id: 'Folders' });

const rescanCounts = {
  scanned: z.int(),
  enqueued: z.int(),
  alreadyActive: z.int(),
  ignored: z.int(),
  errors: z.int(),
};

export const rescanShape = z
  .strictObject({
    folders: z.array(
      z.strictObject({
        name: z.string(),
        path: z.string(),
        ...rescanCounts,
        enqueuedFiles: z.array(z.string()),
      }),
    ),
    totals: z.strictObject({ folders: z.int(), ...rescanCounts }),
  })
  .meta({ id: 'Rescan' });

export const cleanupShape = z.strictObject({ deleted: z.int(), message: z.string() }).meta({ id: 'Cleanup' });

export const eventListShape = z
  .strictObject({
    items: z.array(
      z.strictObject({
        id: z.guid(),
        timestamp,
        kind: z.enum(SYSTEM_EVENT_KINDS),
        actor: z.string(),
        jobId: z.guid().nullable(),
        code: z.string().nullable(),
        message: z.string(),
      }),
    ),
    page: z.int(),
    pageSize: z.int(),
    totalCount: z.int(),
  })
  .meta({ id: 'EventList' });

export const whoamiShape = z
  .strictObject({ operator: z.string(), scheme: z.enum(['ApiKey', 'Cookie']) })
  .meta({ id: 'Identity' });

export const healthShape = z.strictObject({ status: z.literal('Healthy') }).meta({ id: 'Health' });

export const readyShape = z
  .strictObject({
    status: z.enum(['Ready', 'NotReady']),
    checkedAtUtc: timestamp,
    checks: z.array(
      z.strictObject({
        name: z.string(),
        status: z.enum(HEALTH_STATUSES),
        detail: z.string().nullable().describe('Reasons and paths are shown to those who send the key.'),
      }),
    ),
  })
  .meta({ id: 'Readiness' });

/** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
export function isoTime(at: Millis): string {
  return new Date(at).toISOString();
}

export function jobBody(job: JobView): z.infer<typeof jobShape> {
  return {
    id: job.id,
    fileName: job.fileName,
    originalPath: job.originalPath,
    format: job.format,
    source: job.source,
    status: job.status,
    createdAt: isoTime(job.createdAt),
    updatedAt: isoTime(job.updatedAt),
    parentJobId: job.parentJobId,
    errorMessage: job.errorMessage,
    profileName: job.profileName,
    folder: job.folder,
    outputEncrypted: job.outputEncrypted,
  };
}

export function jobDetailBody(job: JobDetail): z.infer<typeof jobDetailShape> {
  return {
    ...jobBody(job),
    errorCode: job.errorCode,
    remoteDocumentId: job.remoteDocumentId,
    awaitingSignerSince: job.awaitingSignerSince === null ? null : isoTime(job.awaitingSignerSince),
    queuedAt: isoTime(job.queuedAt),
    inputSha256: job.inputSha256,
    outputSha256: job.outputSha256,
    outputFileName: job.outputFileName,
    history: job.history.map((line) => ({
      id: line.id,
      timestamp: isoTime(line.timestamp),
      status: line.status,
      message: line.message,
    })),
  };
}

export function pipelineBody(state: PipelineView): z.infer<typeof pipelineShape> {
  const { Pades: pades, Cades: cades, Xades: xades } = state.inFlight;
  const total = pades + cades + xades;
  return {
    paused: state.paused,
    pausedAtUtc: state.pausedAt === null ? null : isoTime(state.pausedAt),
    resumedAtUtc: state.resumedAt === null ? null : isoTime(state.resumedAt),
    pausedBy: state.pausedBy,
    reason: state.reason,
    held: state.held && { reason: state.held.reason, since: isoTime(state.held.since) },
    maxConcurrency: state.maxConcurrency,
    jobsInFlight: total,
    jobsInFlightByFormat: { pades, cades, xades, total },
  };
}

export function foldersBody(folders: readonly FolderView[]): z.infer<typeof foldersShape> {
  return {
    folders: folders.map((folder) => ({
      ...folder,
      lastEnqueueAt: folder.lastEnqueueAt === null ? null : isoTime(folder.lastEnqueueAt),
    })),
  };
}

export function rescanBody({ folders }: RescanReport): z.infer<typeof rescanShape> {
  const totals = {
    folders: folders.length,
    scanned: 0,
    enqueued: 0,
    alreadyActive: 0,
    ignored: 0,
    errors: 0,
  };
  for (const folder of folders) {
    totals.scanned += folder.scanned;
    totals.enqueued += folder.enqueued;
    totals.alreadyActive += folder.alreadyActive;
    totals.ignored += folder.ignored;
    totals.errors += folder.errors;
  }
  return {
    folders: folders.map((folder) => ({ ...folder, enqueuedFiles: [...folder.enqueuedFiles] })),
    totals,
  };
}

/** @param isOperator true when the caller may see paths, certificate names and reasons */
export function readyBody(
  checks: readonly HealthCheck[],
  at: Millis,
  isOperator: boolean,
): z.infer<typeof readyShape> {
  return {
    status: checks.some(({ status }) => status === 'Unhealthy') ? 'NotReady' : 'Ready',
    checkedAtUtc: isoTime(at),
    checks: checks.map(({ name, status, detail, publicDetail = null }) => ({
      name,
      status,
      detail: isOperator ? detail : publicDetail,
    })),
  };
}
