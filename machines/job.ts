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
import type { FolderName, JobId, Millis, ProfileName } from './ids.ts';
import type { RecordEffect } from './system-event.ts';

export const JOB_FORMATS = ['Pades', 'Cades', 'Xades'] as const;
export type JobFormat = (typeof JOB_FORMATS)[number];

export const JOB_SOURCES = ['Watcher', 'Upload', 'Retry'] as const;
export type JobSource = (typeof JOB_SOURCES)[number];

export const JOB_STATES = [
  'Queued',
  'Processing',
  'Verifying',
  'AwaitingSigner',
  'Completed',
  'Failed',
  'Canceled',
] as const;
export type JobState = (typeof JOB_STATES)[number];

/** What a job that was cleared is in while it is being forgotten; never stored. */
export const CLEARED = 'Cleared';

/** Nothing happens to a job in one of these any more. */
export const TERMINAL_STATES: readonly JobState[] = ['Completed', 'Failed', 'Canceled'];

/** Where a job is signed. */
export type SigningMethod = 'Local' | 'RemoteSigner';

/** How long the stages of a job took, milliseconds; what did not happen is missing. */
export interface StageTimes {
  /** Copying the input into the working folder, which `sign` contains. */
  readonly stage?: number;
  readonly sign?: number;
  readonly verify?: number;
  /** Making the envelope, which `output` contains. */
  readonly encrypt?: number;
  /** Encrypting and publishing. */
  readonly output?: number;
}

/** A job in one of these owns its input path: no second job may have it. */
export const ACTIVE_STATES: readonly JobState[] = ['Queued', 'Processing', 'Verifying', 'AwaitingSigner'];
/** These count against `Pipeline:MaxConcurrency`. */
export const IN_FLIGHT_STATES: readonly JobState[] = ['Processing', 'Verifying'];

/** Recorded on jobs that the service found in flight when it started. Source: batch-gaps §4. */
export const RESTART_MESSAGE =
  'Service restarted while the job was in flight; marked Failed by startup recovery.';

/** History line of a job whose input was rewritten while it ran. Source: batch-gaps §7. */
export const DIVERGED_MESSAGE =
  'job.input-diverged: The input was rewritten while the job was running; it stays in place and is taken as a new file.';

/** Size in bytes and modification time in milliseconds: tells one content of a path from the next. */
export interface FileStamp {
  readonly size: number;
  readonly mtimeMs: number;
}

/** Digest (lower-case hex) and length in bytes of one file. */
export interface FileDigest {
  readonly sha256: string;
  readonly length: number;
}

/** What was read when the input was signed. */
export interface StagedInput {
  /** Lower-case hex. */
  readonly sha256: string;
  readonly length: number;
  readonly mtimeMs: number;
  readonly inode: string;
  /** When the reading began: a modification time well before it proves that no later write has the same one. */
  readonly readAt: Millis;
}

export interface JobInput {
  readonly fileName: string;
  /** Absolute path of the input file. */
  readonly originalPath: string;
  readonly format: JobFormat;
  readonly source: JobSource;
  readonly profileName: ProfileName;
  readonly folder: FolderName | null;
  /**
   * Directory of the input below its folder, with `/` between names; its output goes to the same one below the output
   * folder. Left out: none. Source: batch-gaps §5, `Storage:Inputs[].Recursive`.
   */
  readonly subfolder?: string;
  readonly parentJobId: JobId | null;
  /** Sorts jobs by their making; unique and growing, also within one millisecond. */
  readonly order: number;
  /** Stands for `originalPath` where a key of fixed length is needed. */
  readonly pathKey: string;
  /** The input as it was seen when the job was made. */
  readonly seen: FileStamp | null;
  /** Stands for the client's own word for this upload; null or left out where it gave none, or once it has expired. */
  readonly uploadKey?: string | null;
  readonly at: Millis;
  /** First history line. */
  readonly message: string;
}

/** What the job was made from, and what has become of it. */
export interface JobContext extends Omit<JobInput, 'at'> {
  readonly createdAt: Millis;
  readonly queuedAt: Millis;
  readonly updatedAt: Millis;
  readonly input: StagedInput | null;
  /** Digest and length of the signed file in the processing folder. */
  readonly signed: FileDigest | null;
  /** Path below the output folder, once published; a name, except for what comes from a subfolder. */
  readonly outputFileName: string | null;
  readonly outputEncrypted: boolean;
  /** Digest and length of the file in the output folder, where it is another than `signed`. */
  readonly output?: FileDigest | null;
  readonly method?: SigningMethod;
  readonly claimedAt?: Millis | null;
  /** When the job became Completed, Failed or Canceled. */
  readonly endedAt?: Millis | null;
  readonly times?: StageTimes;
  readonly remoteDocumentId: string | null;
  readonly awaitingSignerSince: Millis | null;
  readonly errorMessage: string | null;
  readonly errorCode: string | null;
  /** True while the input or the working folder still has to be put away; the job keeps its path until then. */
  readonly untidy: boolean;
  /** True when the input of a completed job could not be removed: what was signed is not taken a second time. */
  readonly inputLeft: boolean;
}

/** Verified and published. */
export interface Release {
  readonly type: 'RELEASED';
  readonly outputFileName: string;
  /** Left out: it was. */
  readonly verified?: boolean;
  /** Present for an encrypted output: the file as published. */
  readonly encrypted?: FileDigest;
  readonly times?: Omit<StageTimes, 'sign' | 'stage'>;
}

export interface Failure {
  readonly type: 'FAIL';
  readonly code: string | null;
  readonly message: string;
}

export type JobEvent = { readonly at: Millis } & (
  | { readonly type: 'CLAIM' }
  | { readonly type: 'CLAIM_REMOTE' }
  | { readonly type: 'CANCEL'; readonly reason: string | null }
  | {
      readonly type: 'SIGNED';
      readonly input: StagedInput;
      readonly signed: FileDigest;
      readonly ms?: number;
      /** Of `ms`. */
      readonly stageMs?: number;
      /** What came of releasing it, where that is done already. */
      readonly release?: Release | Failure;
    }
  | { readonly type: 'DISPATCHED'; readonly documentId: string; readonly input: StagedInput }
  | { readonly type: 'CONCLUDED'; readonly signed: FileDigest }
  | Release
  | Failure
  | { readonly type: 'RESTARTED' }
  | { readonly type: 'TIDIED'; readonly diverged: boolean }
  | { readonly type: 'TIDY_FAILED'; readonly message: string }
  | { readonly type: 'QUARANTINED' }
  | { readonly type: 'RETRIED'; readonly jobId: JobId }
  | { readonly type: 'CLEAR' }
  | { readonly type: 'FORGET_KEY' }
);

/** Work a job asks for. Each carries what its handler needs, so that no handler reads the job again. */
export type JobEffect =
  | RecordEffect
  | {
      /** Stage and sign; verify and publish as well what is small. */
      readonly do: 'sign';
      readonly originalPath: string;
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profileName: ProfileName;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    }
  | {
      /** Stage, upload and create the document on the remote portal. */
      readonly do: 'dispatch';
      readonly originalPath: string;
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profileName: ProfileName;
    }
  | {
      /** Best effort: the document is of no use any more. */
      readonly do: 'cancelRemote';
      readonly profileName: ProfileName;
      readonly documentId: string;
      readonly reason: string;
    }
  | {
      readonly do: 'release';
      readonly fileName: string;
      readonly format: JobFormat;
      readonly profileName: ProfileName;
      /** What was staged; null when nothing is known of it. */
      readonly input: FileDigest | null;
      /** True: the remote portal signed it, so its signer is not that of a local profile. */
      readonly remote?: boolean;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    }
  | {
      readonly do: 'tidy';
      readonly originalPath: string;
      readonly fileName: string;
      readonly input: StagedInput | null;
    }
  | {
      readonly do: 'quarantine';
      readonly fileName: string;
      readonly profileName: ProfileName;
      /** True when the output folder may hold a file that was linked but never committed. */
      readonly mayBePublished: boolean;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    };

/** `Operator canceled: <reason>.` or `Operator canceled.`; one trailing full stop of the reason is dropped. */
export function cancelMessage(reason: string | null): string {
  const text = reason?.trim().replace(/\.$/, '').trim();
  return text ? `Operator canceled: ${text}.` : 'Operator canceled.';
}

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
