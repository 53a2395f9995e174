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
 * | Completed      | TIDY_FAILED      | Completed      |                          |
 * | Completed      | CLEAR            | Cleared        |                          |
 * | Failed         | RETRIED          | Failed         |                          |
 * | Failed         | QUARANTINED      | Failed         |                          |
 * | Failed         | CLEAR            | Cleared        |                          |
 * | Canceled       | QUARANTINED      | Canceled       |                          |
 * | Canceled       | CLEAR            | Cleared        |                          |
 * | Queued         | FORGET_KEY       | Queued         |                          |
 * | Processing     | FORGET_KEY       | Processing     |                          |
 * | Verifying      | FORGET_KEY       | Verifying      |                          |
 * | AwaitingSigner | FORGET_KEY       | AwaitingSigner |                          |
 * | Completed      | FORGET_KEY       | Completed      |                          |
 * | Failed         | FORGET_KEY       | Failed         |                          |
 * | Canceled       | FORGET_KEY       | Canceled       |                          |
 *
 * `release` is to verify and, when that succeeded, to encrypt and publish: one piece of work, so that nothing is
 * published that was verified by an earlier life of the process. Where signing and releasing were one piece of work, as
 * they are for small files, SIGNED carries what came of the release: the job goes on to RELEASED or FAIL in the same
 * step and asks for nothing.
 *
 * FAIL and RESTARTED also drop what the job had asked for and not yet been given.
 *
 * TIDIED with `diverged` also asks for `recordEvent`.
 *
 * CLEAR is not accepted while files still have to be put away. Cleared is no state that is kept: the actor ends.
 *
 * Source: Batch Signing Service API, "States and transitions"; history texts from batch-gaps §4, remote portal §8,
 * clearing §14.
 */
import { assign, raise, setup } from 'xstate';
import {
  CLEARED,
  cancelMessage,
  DIVERGED_MESSAGE,
  type JobContext,
  type JobEffect,
  type JobEvent,
  type JobInput,
  type JobState,
  RESTART_MESSAGE,
  type SigningMethod,
} from './job-context.ts';

const machine = setup({
  types: {
    context: {} as JobContext,
    input: {} as JobInput,
    events: {} as JobEvent,
  },
  actions: {
    // The runtime reads the parameters of these three; they never run.
    effect: (_, _effect: JobEffect) => {},
    note: (_, _line: { readonly message: string; readonly state?: JobState }) => {},
    dropEffects: () => {},
    // On the way of every job one assignment does all of a transition: each copies the whole context.
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
          }
        : {},
    ),
    forgetKey: assign({ uploadKey: null }),
    recordFailure: assign(({ event }) =>
      event.type === 'FAIL'
        ? { errorMessage: event.message, errorCode: event.code, untidy: true, endedAt: event.at }
        : { errorMessage: RESTART_MESSAGE, errorCode: null, untidy: true, endedAt: event.at },
    ),
  },
  guards: {
    tidy: ({ context }) => !context.untidy,
  },
});

const askRelease = {
  type: 'effect',
  params: ({ context }: { context: JobContext }): JobEffect => ({
    do: 'release',
    fileName: context.fileName,
    format: context.format,
    profileName: context.profileName,
    input: context.input && { sha256: context.input.sha256, length: context.input.length },
    ...(context.method === 'RemoteSigner' && { remote: true }),
    ...(context.subfolder && { subfolder: context.subfolder }),
  }),
} as const;

const keepSigned = [
  'keepSigned',
  // The step may end in another state; this line stands for this one.
  { type: 'note', params: { message: 'Signed.', state: 'Verifying' } },
] as const;

/** What the remote portal is told about a document that is canceled there. Source: batch-gaps §8, step "cancel". */
const askCancelRemote = {
  type: 'effect',
  params: ({ context, event }: { context: JobContext; event: JobEvent }): JobEffect => ({
    do: 'cancelRemote',
    profileName: context.profileName,
    documentId: context.remoteDocumentId ?? '',
    reason: (event.type === 'CANCEL' && event.reason?.trim()) || 'Canceled by operator',
  }),
} as const;

const forgettingKey = { actions: 'forgetKey' } as const;

const clearing = { target: CLEARED, guard: 'tidy' } as const;

/** Only a job that was signed here, or was being published, can have left a file in the output folder. */
const askQuarantine = (publishing: boolean) =>
  ({
    type: 'effect',
    params: ({ context }: { context: JobContext }): JobEffect => ({
      do: 'quarantine',
      fileName: context.fileName,
      profileName: context.profileName,
      mayBePublished: publishing,
      ...(context.subfolder && { subfolder: context.subfolder }),
    }),
  }) as const;

const noteError = {
  type: 'note',
  params: ({ context }: { context: JobContext }) => ({ message: context.errorMessage ?? '' }),
} as const;

const recordFailed = {
  type: 'effect',
  params: ({ context }: { context: JobContext }): JobEffect => ({
    do: 'recordEvent',
    kind: 'JobFailed',
    at: context.updatedAt,
    actor: 'system',
    jobId: null,
    code: context.errorCode,
    message: `${context.fileName}: ${context.errorMessage ?? ''}`,
  }),
} as const;

const recordDiverged = {
  type: 'effect',
  params: ({ context }: { context: JobContext }): JobEffect => ({
    do: 'recordEvent',
    kind: 'InputDiverged',
    at: context.updatedAt,
    actor: 'system',
    jobId: null,
    code: 'job.input-diverged',
    message: `${context.originalPath} was rewritten while its job was running.`,
  }),
} as const;

/** The way into Failed: pending work is dropped, the reason kept, the working folder put aside. */
const failing = (publishing: boolean) =>
  ({
    target: 'Failed',
    actions: ['dropEffects', 'touch', 'recordFailure', noteError, askQuarantine(publishing), recordFailed],
  }) as const;

const noteClaim = { type: 'note', params: { message: 'Claimed by worker.' } } as const;

const askWork = (work: 'sign' | 'dispatch') =>
  ({
    type: 'effect',
    params: ({ context }: { context: JobContext }): JobEffect => ({
      do: work,
      originalPath: context.originalPath,
      fileName: context.fileName,
      format: context.format,
      profileName: context.profileName,
      ...(work === 'sign' && context.subfolder && { subfolder: context.subfolder }),
    }),
  }) as const;

const noteCancel = {
  type: 'note',
  params: ({ event }: { event: JobEvent }) => ({
    message: cancelMessage(event.type === 'CANCEL' ? event.reason : null),
  }),
} as const;

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
    // Last, so that jobs with it and without share the shape of all other members.
    ...(input.subfolder && { subfolder: input.subfolder }),
  }),
  initial: 'Queued',
  states: {
    Queued: {
      entry: { type: 'note', params: ({ context }) => ({ message: context.message }) },
      on: {
        FORGET_KEY: forgettingKey,
        CLAIM: {
          target: 'Processing',
          actions: [
            assign(({ event }) => ({ updatedAt: event.at, claimedAt: event.at })),
            noteClaim,
            askWork('sign'),
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
            askWork('dispatch'),
          ],
        },
        CANCEL: { target: 'Canceled', actions: ['touch', 'end', noteCancel] },
      },
    },
    Processing: {
      on: {
        FORGET_KEY: forgettingKey,
        SIGNED: [
          {
            guard: ({ event }) => event.release !== undefined,
            target: 'Verifying',
            actions: [...keepSigned, raise(({ event }) => ({ ...event.release, at: event.at }) as JobEvent)],
          },
          { target: 'Verifying', actions: [...keepSigned, askRelease] },
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
                message: `Dispatched to the remote portal (document ${event.documentId}).`,
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
        FORGET_KEY: forgettingKey,
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
              untidy: true,
            })),
            {
              type: 'note',
              params: ({ event }) => ({
                message:
                  event.verified === false ? 'Published without verification.' : 'Verified and published.',
              }),
            },
            {
              type: 'effect',
              params: ({ context }) => ({
                do: 'tidy',
                originalPath: context.originalPath,
                fileName: context.fileName,
                input: context.input,
              }),
            },
          ],
        },
        FAIL: failing(true),
        RESTARTED: failing(true),
      },
    },
    AwaitingSigner: {
      on: {
        FORGET_KEY: forgettingKey,
        CONCLUDED: {
          target: 'Verifying',
          actions: [
            'touch',
            assign({ signed: ({ event }) => event.signed }),
            { type: 'note', params: { message: 'Remote document concluded; content downloaded.' } },
            askRelease,
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
            askQuarantine(false),
            askCancelRemote,
          ],
        },
      },
    },
    Completed: {
      on: {
        FORGET_KEY: forgettingKey,
        CLEAR: clearing,
        TIDIED: [
          {
            guard: ({ event }) => event.diverged,
            actions: [
              'touch',
              assign({ untidy: false }),
              { type: 'note', params: { message: DIVERGED_MESSAGE } },
              recordDiverged,
            ],
          },
          { actions: assign({ untidy: false }) },
        ],
        TIDY_FAILED: {
          actions: [
            'touch',
            assign({ untidy: false, inputLeft: true }),
            { type: 'note', params: ({ event }) => ({ message: event.message }) },
          ],
        },
      },
    },
    Failed: {
      on: {
        FORGET_KEY: forgettingKey,
        RETRIED: {
          actions: [
            'touch',
            { type: 'note', params: ({ event }) => ({ message: `Retried as job ${event.jobId}.` }) },
          ],
        },
        QUARANTINED: { actions: assign({ untidy: false }) },
        CLEAR: clearing,
      },
    },
    Canceled: {
      on: {
        FORGET_KEY: forgettingKey,
        QUARANTINED: { actions: assign({ untidy: false }) },
        CLEAR: clearing,
      },
    },
    [CLEARED]: {},
  },
});
