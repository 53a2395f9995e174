/** Ports of the actors to external services. Each has an adapter and a test implementation. */
import type { FileDigest, JobFormat } from '../../../machines/batch/job-context.ts';

/** One document for one signer. */
export interface RemoteDocument {
  /** Name of the file and of the document. */
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

interface RemoteStatus {
  /** Status of the portal: `Pending`, `Concluded`, … */
  readonly status: string;
  /** Reason of a refusal or cancellation, when the portal reports one. */
  readonly reason: string | null;
}

/** Calls of the remote portal, as named in metrics. Source: docs/batch-values.md §8. */
export type RemoteOperation = 'upload' | 'create' | 'poll' | 'download' | 'cancel';

/**
 * The remote portal. Calls reject with a `RemoteFailure`; a download also rejects with errors of the disk. No call is
 * retried here. Source: docs/batch-values.md §8.
 */
export interface RemotePortal {
  /** Uploads the file; resolves with the id of the upload. */
  upload(file: { readonly path: string; readonly length: number }, document: RemoteDocument): Promise<string>;
  /** Creates a document; resolves with its id. Not idempotent. */
  create(uploadId: string, document: RemoteDocument): Promise<string>;
  status(documentId: string): Promise<RemoteStatus>;
  /** Writes the signed file to `target`, which must not exist. Synced on success, removed on failure. */
  download(documentId: string, target: string): Promise<FileDigest>;
  cancel(documentId: string, reason: string): Promise<void>;
}

/** Failure of a call. `transient`: a retry may succeed. */
export class RemoteFailure extends Error {
  readonly code = 'remote.unreachable';
  readonly operation: RemoteOperation;
  /** Network error, time-out, 408, 425, 429 and 5xx; all others are permanent. */
  readonly transient: boolean;
  /** Pause requested by the portal (`Retry-After`), milliseconds. */
  readonly retryAfter: number | undefined;
  /** False: the request did not reach the portal and had no effect. */
  readonly sent: boolean;
  constructor(
    operation: RemoteOperation,
    message: string,
    more: { readonly transient: boolean; readonly retryAfter?: number; readonly sent?: boolean },
  ) {
    super(message);
    this.name = 'RemoteFailure';
    this.operation = operation;
    this.transient = more.transient;
    this.retryAfter = more.retryAfter;
    this.sent = more.sent ?? true;
  }
}

/** Refusal of a call by the open circuit breaker of its endpoint. */
export class CircuitOpen extends RemoteFailure {
  constructor(operation: RemoteOperation, reason: string) {
    const text = `The remote portal is not called (${operation}), because its last calls failed: ${reason}`;
    super(operation, text, { transient: true, sent: false });
    this.name = 'CircuitOpen';
  }
}
