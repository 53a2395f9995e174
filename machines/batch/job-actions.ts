/** Actions of the job machine: the effects, lines of the journal and changes of its transitions. */
import { assign, setup } from 'xstate';
import {
  CLEARED,
  cancelMessage,
  INDEPENDENT_MESSAGES,
  type JobContext,
  type JobEffect,
  type JobEvent,
  type JobInput,
  type JobMessage,
  type JobState,
  RESTART_MESSAGE,
  type Release,
} from './job-context.ts';

export const machine = setup({
  types: {
    context: {} as JobContext,
    input: {} as JobInput,
    events: {} as JobMessage,
    emitted: {} as JobEvent,
  },
  actions: {
    // The runtime reads the parameters of these three; the functions never run.
    effect: (_, _effect: JobEffect) => {},
    note: (_, _line: { readonly message: string; readonly state?: JobState }) => {},
    dropEffects: () => {},
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
    clearable: ({ context }) => !context.untidy && !context.webhooksPending,
  },
});

export const requestRelease = {
  type: 'effect',
  params: ({ context }: { context: JobContext }): JobEffect => ({
    do: 'release',
    fileName: context.fileName,
    format: context.format,
    profileName: context.profileName,
    input: context.input && { sha256: context.input.sha256, length: context.input.length },
    ...(context.method === 'RemoteSigner' && { remote: true }),
    ...(context.sealedPassword && { sealedPassword: context.sealedPassword }),
    ...(context.operation && { operation: context.operation }),
    ...(context.files && { files: context.files }),
    ...(context.subfolder && { subfolder: context.subfolder }),
  }),
} as const;

export const recordSigned = [
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
export const requestCancelRemote = {
  type: 'effect',
  params: ({ context, event }: { context: JobContext; event: JobMessage }): JobEffect => ({
    do: 'cancelRemote',
    profileName: context.profileName,
    documentId: context.remoteDocumentId ?? '',
    reason: (event.type === 'CANCEL' && event.reason?.trim()) || 'Canceled by operator',
  }),
} as const;

export const requestWebhooks = machine.enqueueActions(({ context, enqueue }) => {
  if (context.webhooksPending) enqueue({ type: 'effect', params: { do: 'enqueueWebhooks' } });
});

export const webhooksEnqueued = { actions: machine.assign({ webhooksPending: false }) } as const;

export const withoutUploadKey = { actions: 'forgetKey' } as const;

export const clearing = { target: CLEARED, guard: 'clearable' } as const;

/**
 * Asks to move the job's files to the error folder.
 * @param mayBePublished true for a job that was signed here or was being published: only these can have left a file in
 * the output folder
 */
export const requestQuarantine = (mayBePublished: boolean) =>
  ({
    type: 'effect',
    params: ({ context }: { context: JobContext }): JobEffect => ({
      do: 'quarantine',
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

export const recordDiverged = {
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

/**
 * Records trouble after the end of a job as a system event: a job's history has one line per transition (docs/batch-values.md §1
 * row 7).
 */
export const recordTrouble = (kind: 'InputNotRemoved' | 'RemoteCancelFailed') =>
  ({
    type: 'effect',
    params: ({ event }: { event: JobMessage }): JobEffect => ({
      do: 'recordEvent',
      kind,
      at: event.at,
      actor: 'system',
      jobId: null,
      code: kind === 'InputNotRemoved' ? 'job.input-not-removed' : 'remote.unreachable',
      message: 'message' in event ? event.message : '',
    }),
  }) as const;

export const emitReleased = machine.emit(({ event }) => {
  const { verified = true, independent } = event as Release;
  return { type: 'released', verified, independent: independent?.verdict ?? null };
});

export const emitDiverged = machine.emit({ type: 'inputDiverged' });

/**
 * Transition to Failed: drops pending effects, records the reason, asks for the quarantine.
 * @param mayBePublished as for `requestQuarantine`
 */
export const failing = (mayBePublished: boolean) =>
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

export const noteClaim = { type: 'note', params: { message: 'Claimed by worker.' } } as const;

export const requestWork = (work: 'sign' | 'dispatch') =>
  ({
    type: 'effect',
    params: ({ context }: { context: JobContext }): JobEffect => ({
      do: work,
      originalPath: context.originalPath,
      fileName: context.fileName,
      format: context.format,
      profileName: context.profileName,
      ...(work === 'sign' && context.sealedPassword && { sealedPassword: context.sealedPassword }),
      ...(work === 'sign' && context.operation && { operation: context.operation }),
      ...(work === 'sign' && context.files && { files: context.files }),
      ...(work === 'sign' && context.subfolder && { subfolder: context.subfolder }),
      ...(work === 'dispatch' && context.remoteDocument && { existing: context.remoteDocument }),
      ...(work === 'sign' && context.seen && { bytes: context.seen.size }),
    }),
  }) as const;

export const noteCancel = {
  type: 'note',
  params: ({ event }: { event: JobMessage }) => ({
    message: cancelMessage(event.type === 'CANCEL' ? event.reason : null),
  }),
} as const;

/** Source: docs/batch-values.md §4, history texts. */
export function releaseMessage({ verified, independent }: Release): string {
  if (verified === false) return 'Published without verification.';
  if (independent === undefined) return 'Verified and published.';
  const message = INDEPENDENT_MESSAGES[independent.verdict];
  return independent.reason === '' ? message : `${message} ${independent.reason}`;
}
