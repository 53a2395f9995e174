/**
 * A signing job, from its arrival to its published output.
 *
 * | from           | message          | to             | effects                  |
 * |----------------|------------------|----------------|--------------------------|
 * | Queued         | CLAIM            | Processing     | sign                     |
 * | Queued         | CLAIM_REMOTE     | Processing     | dispatch                 |
 * | Queued         | CANCEL           | Canceled       |                          |
 * | Processing     | SIGNED           | Verifying      | release                  |
 * | Processing     | DISPATCHED       | AwaitingSigner |                          |
 * | Processing     | INPUT_AWAY       | Queued         |                          |
 * | Processing     | FAIL             | Failed         | quarantine, recordEvent  |
 * | Processing     | RESTARTED        | Failed         | quarantine, recordEvent  |
 * | Verifying      | RELEASED         | Completed      | tidy                     |
 * | Verifying      | FAIL             | Failed         | quarantine, recordEvent  |
 * | Verifying      | RESTARTED        | Failed         | quarantine, recordEvent  |
 * | AwaitingSigner | CONCLUDED        | Verifying      | release                  |
 * | AwaitingSigner | FAIL             | Failed         | quarantine, recordEvent  |
 * | AwaitingSigner | CANCEL           | Canceled       | quarantine, cancelRemote |
 * | Completed      | TIDIED           | Completed      |                          |
 * | Completed      | TIDY_FAILED      | Completed      | recordEvent              |
 * | Completed      | CLEAR            | Cleared        |                          |
 * | Failed         | RETRIED          | Failed         |                          |
 * | Failed         | QUARANTINED      | Failed         |                          |
 * | Failed         | CLEAR            | Cleared        |                          |
 * | Canceled       | QUARANTINED      | Canceled       |                          |
 * | Canceled       | REMOTE_CANCEL_FAILED | Canceled   | recordEvent              |
 * | Canceled       | CLEAR            | Cleared        |                          |
 * | Queued         | FORGET_KEY       | Queued         |                          |
 * | Processing     | FORGET_KEY       | Processing     |                          |
 * | Verifying      | FORGET_KEY       | Verifying      |                          |
 * | AwaitingSigner | FORGET_KEY       | AwaitingSigner |                          |
 * | Completed      | FORGET_KEY       | Completed      |                          |
 * | Failed         | FORGET_KEY       | Failed         |                          |
 * | Canceled       | FORGET_KEY       | Canceled       |                          |
 * | Completed      | WEBHOOKS_ENQUEUED | Completed     |                          |
 * | Failed         | WEBHOOKS_ENQUEUED | Failed        |                          |
 * | Canceled       | WEBHOOKS_ENQUEUED | Canceled      |                          |
 *
 * `release` verifies the signed file and then encrypts and publishes it, in one effect: a process publishes only what it
 * has verified itself. Small files are signed and released in one task; SIGNED then carries the result of the release,
 * and the same step goes on with RELEASED or FAIL and requests no `release`.
 *
 * FAIL and RESTARTED also drop the pending effects of the job.
 *
 * TIDIED with `diverged` also asks for `recordEvent`.
 *
 * A job with `webhooksPending` also asks for `enqueueWebhooks` when it enters Completed, Failed or Canceled, and is not
 * cleared before WEBHOOKS_ENQUEUED.
 *
 * CLEAR is not accepted while files still have to be moved or removed. Cleared is not stored: the actor ends.
 *
 * Source: docs/batch-values.md §0; history texts from docs/batch-values.md §4, remote portal §8,
 * clearing §14.
 */
import { dropEffects, note } from '@sealwright/runtime/actions';
import { assign, raise, setup } from 'xstate';
import {
  CLEARED,
  cancelMessage,
  DIVERGED_MESSAGE,
  INDEPENDENT_MESSAGES,
  type JobContext,
  type JobEvent,
  type JobInput,
  type JobMessage,
  RESTART_MESSAGE,
  type Release,
  type SigningMethod,
  TAKEN_OVER_MESSAGE,
} from './job-context.ts';
import * as effects from './job-effects.ts';
import { recordEvent, type SystemEventContext } from './system-event.ts';

/** Actions of the job machine: the effects, lines of the journal and changes of its transitions. */
const machine = setup({
  types: {
    context: {} as JobContext,
    input: {} as JobInput,
    events: {} as JobMessage,
    emitted: {} as JobEvent,
  },
  actions: {
    sign: effects.sign.action,
    dispatch: effects.dispatch.action,
    cancelRemote: effects.cancelRemote.action,
    release: effects.release.action,
    enqueueWebhooks: effects.enqueueWebhooks.action,
    tidy: effects.tidy.action,
    quarantine: effects.quarantine.action,
    recordEvent: recordEvent.action,
    note,
    dropEffects,
    // For the transitions of every job, one assignment makes all changes: each assignment copies the whole context.
    touch: assign({ updatedAt: ({ event }) => event.at }),
    end: assign({ endedAt: ({ event }) => event.at }),
    keepSigned: assign(({ event }) =>
      event.type === 'SIGNED'
        ? {
            updatedAt: event.at,
            input: event.input,
            signed: event.signed,
            times: {
              ...(event.stageMs !== undefined && { stage: event.stageMs }),
              ...(event.ms !== undefined && { sign: event.ms }),
            },
            ...(event.warnings && { warnings: event.warnings }),
          }
        : {},
    ),
    forgetKey: assign({ uploadKey: null }),
    recordFailure: assign(({ event }) =>
      event.type === 'FAIL'
        ? { errorMessage: event.message, errorCode: event.code, untidy: true, endedAt: event.at }
        : { errorMessage: restartMessage(event), errorCode: null, untidy: true, endedAt: event.at },
    ),
  },
  guards: {
    clearable: ({ context }) => !context.untidy && !context.webhooksPending,
  },
});

function restartMessage(event: JobMessage): string {
  return event.type === 'RESTARTED' && event.takenOver ? TAKEN_OVER_MESSAGE : RESTART_MESSAGE;
}

/** Members of a job that its caller gave, as far as there are any. */
const wantedOf = ({ sealedPassword, operation, parameters, files, subfolder }: JobContext) => ({
  ...(sealedPassword && { sealedPassword }),
  ...(operation && { operation }),
  ...(parameters && { parameters }),
  ...(files && { files }),
  ...(subfolder && { subfolder }),
});

const requestRelease = {
  type: 'release',
  params: ({ context }: { context: JobContext }): effects.ReleaseInput => ({
    fileName: context.fileName,
    format: context.format,
    profileName: context.profileName,
    input: context.input && { sha256: context.input.sha256, length: context.input.length },
    ...(context.method === 'RemoteSigner' && { remote: true }),
    ...wantedOf(context),
  }),
} as const;

const recordSigned = [
  'keepSigned',
  // The step may end in another state; this line belongs to this state.
  {
    type: 'note',
    params: ({ context }: { context: JobContext }) => ({
      message: context.operation === 'Extend' ? 'Extended.' : 'Signed.',
      state: 'Verifying' as const,
    }),
  },
] as const;

/** Reason given to the remote portal for a canceled document. Source: docs/batch-values.md §8, step "cancel". */
const requestCancelRemote = {
  type: 'cancelRemote',
  params: ({ context, event }: { context: JobContext; event: JobMessage }) => ({
    profileName: context.profileName,
    documentId: context.remoteDocumentId ?? '',
    reason: (event.type === 'CANCEL' && event.reason?.trim()) || 'Canceled by operator',
  }),
} as const;

const requestWebhooks = machine.enqueueActions(({ context, enqueue }) => {
  if (context.webhooksPending) enqueue({ type: 'enqueueWebhooks', params: undefined });
});

const webhooksEnqueued = { actions: machine.assign({ webhooksPending: false }) } as const;

const withoutUploadKey = { actions: 'forgetKey' } as const;

const clearing = { target: CLEARED, guard: 'clearable' } as const;

/**
 * Asks to move the job's files to the error folder.
 * @param mayBePublished true for a job that was signed here or was being published: only these can have left a file in
 * the output folder
 */
const requestQuarantine = (mayBePublished: boolean) =>
  ({
    type: 'quarantine',
    params: ({ context }: { context: JobContext }) => ({
      fileName: context.fileName,
      profileName: context.profileName,
      mayBePublished,
      ...(context.subfolder && { subfolder: context.subfolder }),
    }),
  }) as const;

const noteError = {
  type: 'note',
  params: ({ context }: { context: JobContext }) => ({ message: context.errorMessage ?? '' }),
} as const;

const recordFailed = {
  type: 'recordEvent',
  params: ({ context }: { context: JobContext }): SystemEventContext => ({
    kind: 'JobFailed',
    at: context.updatedAt,
    actor: 'system',
    jobId: null,
    code: context.errorCode,
    message: `${context.fileName}: ${context.errorMessage ?? ''}`,
  }),
} as const;

const recordDiverged = {
  type: 'recordEvent',
  params: ({ context }: { context: JobContext }): SystemEventContext => ({
    kind: 'InputDiverged',
    at: context.updatedAt,
    actor: 'system',
    jobId: null,
    code: 'job.input-diverged',
    message: `${context.originalPath} was rewritten while its job was running.`,
  }),
} as const;

/**
 * Records trouble after the end of a job as a system event: a job's history has one line per transition (docs/batch-values.md §1
 * row 7).
 */
const recordTrouble = (kind: 'InputNotRemoved' | 'RemoteCancelFailed') =>
  ({
    type: 'recordEvent',
    params: ({ event }: { event: JobMessage }): SystemEventContext => ({
      kind,
      at: event.at,
      actor: 'system',
      jobId: null,
      code: kind === 'InputNotRemoved' ? 'job.input-not-removed' : 'remote.unreachable',
      message: 'message' in event ? event.message : '',
    }),
  }) as const;

const emitReleased = machine.emit(({ event }) => {
  const { verified = true, independent } = event as Release;
  return { type: 'released', verified, independent: independent?.verdict ?? null };
});

const emitDiverged = machine.emit({ type: 'inputDiverged' });

/**
 * Transition to Failed: drops pending effects, records the reason, asks for the quarantine.
 * @param mayBePublished as for `requestQuarantine`
 */
const failing = (mayBePublished: boolean) =>
  ({
    target: 'Failed',
    actions: [
      'dropEffects',
      'touch',
      'recordFailure',
      noteError,
      requestQuarantine(mayBePublished),
      recordFailed,
      requestWebhooks,
    ],
  }) as const;

const noteClaim = { type: 'note', params: { message: 'Claimed by worker.' } } as const;

const originalOf = ({
  originalPath,
  fileName,
  format,
  profileName,
  folder,
  seen,
  inputChanges,
}: JobContext) => ({
  originalPath,
  fileName,
  format,
  profileName,
  ...(folder !== null && seen && { seen }),
  ...(inputChanges !== undefined && { inputChanges }),
});

const requestSign = {
  type: 'sign',
  params: ({ context }: { context: JobContext }): effects.SignInput => ({
    ...originalOf(context),
    ...wantedOf(context),
    ...(context.seen && { bytes: context.seen.size }),
  }),
} as const;

const requestDispatch = {
  type: 'dispatch',
  params: ({ context }: { context: JobContext }): effects.DispatchInput => ({
    ...originalOf(context),
    ...(context.remoteDocument && { existing: context.remoteDocument }),
  }),
} as const;

const noteCancel = {
  type: 'note',
  params: ({ event }: { event: JobMessage }) => ({
    message: cancelMessage(event.type === 'CANCEL' ? event.reason : null),
    ...(event.type === 'CANCEL' && event.by && { data: { by: event.by } }),
  }),
} as const;

/** Source: docs/batch-values.md §4, history texts. */
function releaseMessage({ verified, independent }: Release): string {
  if (verified === false) return 'Published without verification.';
  if (independent === undefined) return 'Verified and published.';
  const message = INDEPENDENT_MESSAGES[independent.verdict];
  return independent.reason === '' ? message : `${message} ${independent.reason}`;
}

function waitedFor({
  isAuthority,
  isKeyService,
}: Extract<JobMessage, { readonly type: 'INPUT_AWAY' }>): string {
  if (isKeyService) return 'key service';
  return isAuthority ? 'time-stamp authority' : 'input';
}

export const jobMachine = machine.createMachine({
  id: 'job',
  context: ({ input }) => ({
    fileName: input.fileName,
    originalPath: input.originalPath,
    format: input.format,
    source: input.source,
    profileName: input.profileName,
    folder: input.folder,
    parentJobId: input.parentJobId,
    order: input.order,
    pathKey: input.pathKey,
    seen: input.seen,
    uploadKey: input.uploadKey ?? null,
    message: input.message,
    createdAt: input.at,
    queuedAt: input.at,
    updatedAt: input.at,
    input: null,
    signed: null,
    outputFileName: null,
    outputEncrypted: false,
    output: null,
    method: 'Local' as SigningMethod,
    claimedAt: null,
    endedAt: null,
    times: {},
    remoteDocumentId: null,
    awaitingSignerSince: null,
    errorMessage: null,
    errorCode: null,
    untidy: false,
    inputLeft: false,
    ...(input.uploadSha256 && { uploadSha256: input.uploadSha256 }),
    ...(input.subfolder && { subfolder: input.subfolder }),
    ...(input.files && { files: input.files }),
    ...(input.remoteDocument && { remoteDocument: input.remoteDocument }),
    ...(input.operation && { operation: input.operation }),
    ...(input.parameters && { parameters: input.parameters }),
    ...(input.sealedPassword && { sealedPassword: input.sealedPassword }),
    ...(input.by && { by: input.by }),
    ...(input.webhooksPending && { webhooksPending: true }),
  }),
  initial: 'Queued',
  states: {
    Queued: {
      entry: {
        type: 'note',
        params: ({ context: { message, by }, event }) =>
          event.type === 'INPUT_AWAY'
            ? { message: `Waits for its ${waitedFor(event)}: ${event.message}.` }
            : { message, ...(by && { data: { by } }) },
      },
      on: {
        FORGET_KEY: withoutUploadKey,
        CLAIM: {
          target: 'Processing',
          actions: [
            assign(({ event }) => ({ updatedAt: event.at, claimedAt: event.at })),
            noteClaim,
            requestSign,
          ],
        },
        CLAIM_REMOTE: {
          target: 'Processing',
          actions: [
            assign(({ event }) => ({
              updatedAt: event.at,
              claimedAt: event.at,
              method: 'RemoteSigner' as SigningMethod,
            })),
            noteClaim,
            requestDispatch,
          ],
        },
        CANCEL: { target: 'Canceled', actions: ['touch', 'end', noteCancel, requestWebhooks] },
      },
    },
    Processing: {
      on: {
        FORGET_KEY: withoutUploadKey,
        SIGNED: [
          {
            guard: ({ event }) => event.release !== undefined,
            target: 'Verifying',
            actions: [
              ...recordSigned,
              raise(({ event }) => ({ ...event.release, at: event.at }) as JobMessage),
            ],
          },
          { target: 'Verifying', actions: [...recordSigned, requestRelease] },
        ],
        DISPATCHED: {
          target: 'AwaitingSigner',
          actions: [
            'touch',
            assign({
              remoteDocumentId: ({ event }) => event.documentId,
              input: ({ event }) => event.input,
              awaitingSignerSince: ({ event }) => event.at,
            }),
            {
              type: 'note',
              params: ({ event }) => ({
                message:
                  event.attachedTo === undefined
                    ? `Dispatched to the remote portal (document ${event.documentId}).`
                    : `Attached to the document ${event.documentId} that job ${event.attachedTo} dispatched to the remote portal.`,
              }),
            },
          ],
        },
        INPUT_AWAY: {
          target: 'Queued',
          actions: assign(({ context, event }) => ({
            updatedAt: event.at,
            claimedAt: null,
            ...(event.seen && { seen: event.seen, inputChanges: (context.inputChanges ?? 0) + 1 }),
            // The profile may have become a local one by the next claim.
            method: 'Local' as SigningMethod,
          })),
        },
        FAIL: failing(true),
        RESTARTED: failing(true),
      },
    },
    Verifying: {
      on: {
        FORGET_KEY: withoutUploadKey,
        RELEASED: {
          target: 'Completed',
          actions: [
            assign(({ context, event }) => ({
              updatedAt: event.at,
              endedAt: event.at,
              outputFileName: event.outputFileName,
              outputEncrypted: event.encrypted !== undefined,
              output: event.encrypted ?? null,
              times: { ...context.times, ...event.times },
              ...(context.sealedPassword && { sealedPassword: '' }),
              untidy: true,
            })),
            {
              type: 'note',
              params: ({ event }) => ({ message: releaseMessage(event) }),
            },
            emitReleased,
            {
              type: 'tidy',
              params: ({ context }) => ({
                originalPath: context.originalPath,
                fileName: context.fileName,
                input: context.input,
              }),
            },
            requestWebhooks,
          ],
        },
        FAIL: failing(true),
        RESTARTED: failing(true),
      },
    },
    AwaitingSigner: {
      on: {
        FORGET_KEY: withoutUploadKey,
        CONCLUDED: {
          target: 'Verifying',
          actions: [
            'touch',
            assign({ signed: ({ event }) => event.signed }),
            { type: 'note', params: { message: 'Remote document concluded; content downloaded.' } },
            requestRelease,
          ],
        },
        FAIL: failing(false),
        CANCEL: {
          target: 'Canceled',
          actions: [
            'touch',
            'end',
            assign({ untidy: true }),
            noteCancel,
            requestQuarantine(false),
            requestCancelRemote,
            requestWebhooks,
          ],
        },
      },
    },
    Completed: {
      on: {
        FORGET_KEY: withoutUploadKey,
        WEBHOOKS_ENQUEUED: webhooksEnqueued,
        CLEAR: clearing,
        TIDIED: [
          {
            guard: ({ event }) => event.diverged,
            actions: [
              'touch',
              assign({ untidy: false }),
              { type: 'note', params: { message: DIVERGED_MESSAGE } },
              recordDiverged,
              emitDiverged,
            ],
          },
          { actions: assign({ untidy: false }) },
        ],
        TIDY_FAILED: {
          actions: [
            'touch',
            assign({ untidy: false, inputLeft: true }),
            {
              type: 'note',
              params: ({ event }) => ({ message: `job.input-not-removed: ${event.message}` }),
            },
            recordTrouble('InputNotRemoved'),
          ],
        },
      },
    },
    Failed: {
      on: {
        FORGET_KEY: withoutUploadKey,
        RETRIED: {
          actions: [
            'touch',
            {
              type: 'note',
              params: ({ event: { jobId, by } }) => ({
                message: `Retried as job ${jobId}.`,
                ...(by && { data: { by } }),
              }),
            },
          ],
        },
        QUARANTINED: { actions: assign({ untidy: false }) },
        WEBHOOKS_ENQUEUED: webhooksEnqueued,
        CLEAR: clearing,
      },
    },
    Canceled: {
      on: {
        FORGET_KEY: withoutUploadKey,
        QUARANTINED: { actions: assign({ untidy: false }) },
        REMOTE_CANCEL_FAILED: { actions: recordTrouble('RemoteCancelFailed') },
        WEBHOOKS_ENQUEUED: webhooksEnqueued,
        CLEAR: clearing,
      },
    },
    [CLEARED]: {},
  },
});
