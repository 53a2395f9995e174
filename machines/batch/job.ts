/**
 * A signing job, from its arrival to its published output.
 *
 * | from           | event            | to             | effects                  |
 * |----------------|------------------|----------------|--------------------------|
 * | Queued         | CLAIM            | Processing     | sign                     |
 * | Queued         | CLAIM_REMOTE     | Processing     | dispatch                 |
 * | Queued         | CANCEL           | Canceled       |                          |
 * | Processing     | SIGNED           | Verifying      | release                  |
 * | Processing     | DISPATCHED       | AwaitingSigner |                          |
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
import { assign, raise } from 'xstate';
import {
  clearing,
  emitDiverged,
  emitReleased,
  failing,
  machine,
  noteCancel,
  noteClaim,
  recordDiverged,
  recordSigned,
  recordTrouble,
  releaseMessage,
  requestCancelRemote,
  requestQuarantine,
  requestRelease,
  requestWebhooks,
  requestWork,
  webhooksEnqueued,
  withoutUploadKey,
} from './job-actions.ts';
import { CLEARED, DIVERGED_MESSAGE, type JobMessage, type SigningMethod } from './job-context.ts';

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
    ...(input.uploadSha256 && { uploadSha256: input.uploadSha256 }),
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
    // Last, so that jobs with and without it share the shape of all other members.
    ...(input.subfolder && { subfolder: input.subfolder }),
    ...(input.files && { files: input.files }),
    ...(input.remoteDocument && { remoteDocument: input.remoteDocument }),
    ...(input.operation && { operation: input.operation }),
    ...(input.sealedPassword && { sealedPassword: input.sealedPassword }),
    ...(input.webhooksPending && { webhooksPending: true }),
  }),
  initial: 'Queued',
  states: {
    Queued: {
      entry: { type: 'note', params: ({ context }) => ({ message: context.message }) },
      on: {
        FORGET_KEY: withoutUploadKey,
        CLAIM: {
          target: 'Processing',
          actions: [
            assign(({ event }) => ({ updatedAt: event.at, claimedAt: event.at })),
            noteClaim,
            requestWork('sign'),
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
            requestWork('dispatch'),
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
              type: 'effect',
              params: ({ context }) => ({
                do: 'tidy',
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
            { type: 'note', params: ({ event }) => ({ message: `Retried as job ${event.jobId}.` }) },
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
