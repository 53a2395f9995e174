/** Validation results of files, computed in the pool and cached. Concurrent requests for one file share a task. */

import { createHash } from 'node:crypto';
import type { Clock } from '@sealwright/runtime';
import { LRUCache } from 'lru-cache';
import type { Millis, OrganizationId } from '../../../machines/ids.ts';
import { PortalRefusal } from '../../../machines/portal/portal-refusals.ts';
import type { BlobRef, DocumentFormat } from '../../../machines/portal/portal-types.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { DescribedFile } from '../../shared/signing/signature-records.ts';
import { poolRefusal } from '../shared/pool-refusal.ts';
import type { Blobs } from '../uploads/blobs.ts';

/** Files remembered; a record of ten signatures takes some 100 KiB. */
const CACHE_SIZE = 200;
/** Certificates expire and are revoked: what was good may not be so later. Milliseconds. */
const CACHE_MS = 5 * 60_000;

export interface FileToDescribe {
  readonly file: BlobRef;
  /** Content of a detached signature. */
  readonly content: BlobRef | null;
  readonly format: DocumentFormat | null;
  readonly contentType: string | null;
  /** SHA-256 of participants' certificates that were accepted here, lower-case hex. */
  readonly accepted: readonly string[];
  /** PEM of certificates that the file may lack. */
  readonly certificates?: string;
  /** For the log. */
  readonly documentId: string;
  /** Whose turn in the pool it takes. */
  readonly organizationId: OrganizationId;
}

export class DescribedFiles {
  readonly #cached = new LRUCache<string, { readonly at: Millis; readonly file: Promise<DescribedFile> }>({
    max: CACHE_SIZE,
  });

  constructor(
    private readonly pool: Pick<SigningPool, 'run'>,
    private readonly blobs: Pick<Blobs, 'localPath'>,
    private readonly clock: Pick<Clock, 'now'>,
    /** Profile of the service's seals. */
    private readonly sealProfile: string,
  ) {}

  /** Refusals: `DocumentUnreadable`; `ServiceBusy` when the pool is full. */
  async describe(request: FileToDescribe): Promise<DescribedFile> {
    const key = keyOf(request);
    const now = this.clock.now();
    const cached = this.#cached.get(key);
    if (cached !== undefined && now < cached.at + CACHE_MS && now >= cached.at) return cached.file;
    const file = this.#inspect(request, now);
    this.#cached.set(key, { at: now, file });
    try {
      return await file;
    } catch (error) {
      if (this.#cached.get(key)?.file === file) this.#cached.delete(key);
      throw error;
    }
  }

  /** The report of ETSI TS 119 102-2, not cached. Refusals: `DocumentUnreadable`, `ServiceBusy`. */
  async report(file: FileToDescribe): Promise<string> {
    const { fault, report } = await this.#inspect(file, this.clock.now(), true);
    if (fault !== null || report === undefined) throw new PortalRefusal('DocumentUnreadable');
    return report;
  }

  async #inspect(
    {
      file,
      content,
      format,
      contentType,
      accepted,
      certificates,
      documentId,
      organizationId,
    }: FileToDescribe,
    at: Millis,
    withReport = false,
  ) {
    const { pool, blobs, sealProfile } = this;
    const task = {
      task: 'portal.describe',
      documentId,
      path: await blobs.localPath(file),
      content: content && (await blobs.localPath(content)),
      format,
      contentType,
      profile: sealProfile,
      at,
      ...(accepted.length > 0 && { accepted }),
      ...(certificates !== undefined && { certificates }),
      ...(withReport && { withReport }),
    } as const;
    const bytes = file.length + (content?.length ?? 0);
    const answer = await pool.run(task, { organization: organizationId, bytes });
    if (answer.ok) return answer.result;
    if (answer.code === 'input.too-large') throw new PortalRefusal('DocumentUnreadable');
    throw poolRefusal(answer);
  }
}

function keyOf({ file, content, format, contentType, accepted, certificates }: FileToDescribe): string {
  const parts = [file.sha256, content?.sha256 ?? null, format, contentType, accepted, certificates ?? null];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
