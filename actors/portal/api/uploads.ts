/** Uploads to the portal (docs/portal-values.md §4). */
import type { UploadId } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';

/** A file on its way to the disk. `write` returns a promise while the disk is behind. */
export interface UploadSink {
  readonly length: number;
  write(bytes: Buffer): Promise<void> | undefined;
  abort(): Promise<void>;
}

export interface UploadView {
  readonly id: UploadId;
  readonly name: string;
  readonly contentType: string;
  readonly size: number;
  /** MD5, Base64. */
  readonly md5: string;
  /** Lower-case hex. */
  readonly sha256: string;
  /** Path with a ticket that shows the file without a key. */
  readonly location: string;
}

/** A stored file to send. */
export interface StoredFile {
  readonly path: string;
  readonly length: number;
  readonly contentType: string;
  readonly fileName: string;
  /** Strong entity tag, quoted. */
  readonly etag: string;
}

export interface PortalUploads {
  readonly maxBytes: number;
  /** A place for the bytes of one upload; nothing is known of it until `accept`. */
  open(): Promise<UploadSink>;
  /** The upload is durable when this resolves. */
  accept(
    tenant: Tenant,
    sink: UploadSink,
    file: { readonly name: string; readonly contentType: string },
  ): Promise<UploadView>;
  /** Creates a ticket for a segmented upload. */
  openSegmented(tenant: Tenant): Promise<string>;
  /** Resolves when the ticket of a segmented upload is valid. Refusals: `NotFound`. */
  checkSegmentTicket(ticket: string): Promise<void>;
  /**
   * Accepts one segment, `from`-`to` inclusive of `total`. Resolves with the upload when it is complete; segments may
   * be repeated and arrive in any order. No API key: the ticket names the organization.
   */
  acceptSegment(
    ticket: string,
    range: { readonly from: number; readonly to: number; readonly total: number },
    sink: UploadSink,
    file: { readonly name: string; readonly contentType: string },
  ): Promise<UploadView | undefined>;
  /** Refusals: `NotFound`. */
  preview(ticket: string): Promise<StoredFile>;
}
