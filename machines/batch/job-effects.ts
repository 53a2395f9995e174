/** Effects of a job. Each carries the input of its handler, so that no handler reads the job again. */
import { declareEffect, type WithoutTime } from '@sealwright/runtime/actions';
import type { ProfileName } from '../ids.ts';
import type {
  FileDigest,
  FileStamp,
  JobFormat,
  JobInput,
  JobMessage,
  RemoteDocumentReference,
  StagedInput,
} from './job-context.ts';
import { recordEvent } from './system-event.ts';

type Outcome = WithoutTime<JobMessage>;

/** A job as the effects know it that read its input. */
interface Original {
  readonly originalPath: string;
  readonly fileName: string;
  readonly format: JobFormat;
  readonly profileName: ProfileName;
  /** Of the input of a folder, when it was last looked at: one that differs is still being written. */
  readonly seen?: FileStamp;
  /** As in `JobContext`. */
  readonly inputChanges?: number;
}

type Wanted = Pick<JobInput, 'sealedPassword' | 'operation' | 'parameters' | 'files' | 'subfolder'>;

export interface SignInput extends Original, Wanted {
  /** Length of the input when it was enqueued; absent if unknown. */
  readonly bytes?: number;
}

/** Stages and signs; for small files also verifies and publishes. */
export const sign = declareEffect('sign', { types: {} as { input: SignInput; outcome: Outcome } });

export interface DispatchInput extends Original {
  /** Used instead of a new one if its content is the same and it can still be signed or was. */
  readonly existing?: RemoteDocumentReference;
}

/** Stages, uploads and creates the document on the remote portal, or attaches to an existing one. */
export const dispatch = declareEffect('dispatch', {
  types: {} as { input: DispatchInput; outcome: Outcome },
});

/** Best effort: the document is no longer needed. */
export const cancelRemote = declareEffect('cancelRemote', {
  types: {} as {
    input: { readonly profileName: ProfileName; readonly documentId: string; readonly reason: string };
    outcome: Outcome | null;
  },
});

export interface ReleaseInput extends Wanted {
  readonly fileName: string;
  readonly format: JobFormat;
  readonly profileName: ProfileName;
  /** Properties of the staged input; null when unknown. */
  readonly input: FileDigest | null;
  /** True: the remote portal signed it, so its signer is not that of a local profile. */
  readonly remote?: boolean;
}

/** Verifies the signed file, encrypts it where wanted, and publishes it. */
export const release = declareEffect('release', { types: {} as { input: ReleaseInput; outcome: Outcome } });

/** Stores a delivery for each webhook that is called for such an end. */
export const enqueueWebhooks = declareEffect('enqueueWebhooks', { types: {} as { outcome: Outcome } });

export interface TidyInput {
  readonly originalPath: string;
  readonly fileName: string;
  readonly input: StagedInput | null;
}

/** Removes the original once its signed output is published and the job is Completed. */
export const tidy = declareEffect('tidy', { types: {} as { input: TidyInput; outcome: Outcome } });

/** Moves the job's files to the error folder. */
export const quarantine = declareEffect('quarantine', {
  types: {} as {
    input: {
      readonly fileName: string;
      readonly profileName: ProfileName;
      /** True when the output folder may hold a file that was linked but not committed. */
      readonly mayBePublished: boolean;
      /** Of the output folder, as in `JobInput`. */
      readonly subfolder?: string;
    };
    outcome: Outcome;
  },
});

export const JOB_EFFECTS = [
  sign,
  dispatch,
  cancelRemote,
  release,
  enqueueWebhooks,
  tidy,
  quarantine,
  recordEvent,
] as const;
