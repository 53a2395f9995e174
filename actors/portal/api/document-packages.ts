/** Files of several documents in one (docs/decisions/0128-files-of-several-documents.md). */
import type { DownloadType } from '../../../contracts/portal/words.ts';
import type { DocumentId } from '../../../machines/ids.ts';
import type { Tenant } from './callers.ts';
import type { StoredFile } from './uploads.ts';

/** A file that is made for one download. */
export interface TemporaryFile extends StoredFile {
  /** Removes it; call in every case. */
  remove(): Promise<void>;
}

export interface DocumentPackages {
  /** ZIP of the files. Refusals: those of `content` for any document, `LimitExceeded`, `TooManyRequests`. */
  archive(tenant: Tenant, ids: readonly DocumentId[], type: DownloadType): Promise<TemporaryFile>;
  /**
   * One PDF of their pages, without their signatures. Refusals: as `archive`, `EnvelopeRequiresPdf`,
   * `DocumentUnreadable`.
   */
  combine(tenant: Tenant, ids: readonly DocumentId[], type: DownloadType): Promise<TemporaryFile>;
}
