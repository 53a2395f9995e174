/** What actors need of the world outside: small ports, each with the real adapter and one for tests. */
import type { FileDigest, JobFormat } from '../machines/job-context.ts';

/** One document for one person to sign. */
export interface RemoteDocument {
  /** Name of the file; also the document's. */
  readonly fileName: string;
  readonly contentType: string;
  readonly format: JobFormat;
  readonly participant: {
    readonly name: string;
    readonly email: string;
    readonly identifier: string;
    readonly allowElectronicSignature: boolean;
  };
}

export interface RemoteStatus {
  /** As the portal names it: `Pending`, `Concluded`, … */
  readonly status: string;
  /** Why it was refused or canceled, when the portal says so. */
  readonly reason: string | null;
}

/** Calls of the remote portal, as named in metrics. Source: batch-gaps §8, "`op` label values". */
export type RemoteOperation = 'upload' | 'create' | 'poll' | 'download' | 'cancel';

/**
 * The remote portal. Every call rejects with a `RemoteFailure`; none is tried again in here.
 * Source: batch-gaps §8.
 */
export interface RemotePortal {
  /** Sends the file; resolves with the id of the upload. */
  upload(file: { readonly path: string; readonly length: number }, document: RemoteDocument): Promise<string>;
  /** Resolves with the id of the document. Called twice it makes two. */
  create(uploadId: string, document: RemoteDocument): Promise<string>;
  status(documentId: string): Promise<RemoteStatus>;
  /** Writes the signed file to `target`, which must not exist; it is on disk when this resolves, gone when it rejects. */
  download(documentId: string, target: string): Promise<FileDigest>;
  cancel(documentId: string, reason: string): Promise<void>;
}

/** Why a call failed, and whether another try may help. */
export class RemoteFailure extends Error {
  readonly code = 'remote.unreachable';
  readonly operation: RemoteOperation;
  /** Network, time-out, 408, 425, 429 and 5xx; anything else is permanent. */
  readonly transient: boolean;
  /** Milliseconds the portal asked to be left alone (`Retry-After`). */
  readonly retryAfter: number | undefined;
  constructor(
    operation: RemoteOperation,
    message: string,
    more: { readonly transient: boolean; readonly retryAfter?: number },
  ) {
    super(message);
    this.name = 'RemoteFailure';
    this.operation = operation;
    this.transient = more.transient;
    this.retryAfter = more.retryAfter;
  }
}
