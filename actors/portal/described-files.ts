/**
 * What is known about the signatures of files, looked at in the pool and remembered for a while: who asks again, and
 * who asks while somebody looks, gets the same.
 */
import { createHash } from 'node:crypto';
import type { Millis } from '../../machines/ids.ts';
import { PortalRefusal } from '../../machines/portal-refusals.ts';
import type { BlobRef, DocumentFormat } from '../../machines/portal-words.ts';
import type { Clock } from '../../runtime/index.ts';
import type { SigningPool } from '../pool/pool.ts';
import type { Blobs } from './blobs.ts';
import type { DescribedFile } from './signature-records.ts';

/** Files remembered; a record of ten signatures takes some 100 KiB. */
const REMEMBERED = 200;
/** Certificates expire and are revoked: what was good may not be so later. Milliseconds. */
const GOOD_FOR = 5 * 60_000;

export interface DescribedFilesParts {
  readonly pool: Pick<SigningPool, 'run'>;
  readonly blobs: Pick<Blobs, 'pathOf'>;
  readonly clock: Pick<Clock, 'now'>;
  /** What the service seals with. */
  readonly sealProfile: string;
}

export interface FileToDescribe {
  readonly file: BlobRef;
  /** What a detached signature is over. */
  readonly content: BlobRef | null;
  readonly format: DocumentFormat | null;
  readonly contentType: string | null;
  /** For the log. */
  readonly documentId: string;
}

export class DescribedFiles {
  readonly #parts: DescribedFilesParts;
  readonly #known = new Map<string, { readonly at: Millis; readonly file: Promise<DescribedFile> }>();

  constructor(parts: DescribedFilesParts) {
    this.#parts = parts;
  }

  /** Refusals: `ServiceBusy` when the pool cannot look now. */
  async describe(asked: FileToDescribe): Promise<DescribedFile> {
    const key = keyOf(asked);
    const now = this.#parts.clock.now();
    const known = this.#known.get(key);
    if (known !== undefined && now < known.at + GOOD_FOR && now >= known.at) return known.file;
    const file = this.#look(asked, now);
    this.#known.delete(key);
    this.#known.set(key, { at: now, file });
    const [oldest] = this.#known.keys();
    if (this.#known.size > REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
    try {
      return await file;
    } catch (error) {
      if (this.#known.get(key)?.file === file) this.#known.delete(key);
      throw error;
    }
  }

  async #look({ file, content, format, contentType, documentId }: FileToDescribe, at: Millis) {
    const { pool, blobs, sealProfile } = this.#parts;
    const answer = await pool.run({
      task: 'portal.describe',
      documentId,
      path: blobs.pathOf(file),
      content: content && blobs.pathOf(content),
      format,
      contentType,
      profile: sealProfile,
      at,
    });
    if (answer.ok) return answer.result;
    if (answer.code === 'input.too-large') throw new PortalRefusal('DocumentUnreadable');
    throw new PortalRefusal('ServiceBusy', undefined, { retryAfterSeconds: 5 });
  }
}

function keyOf({ file, content, format, contentType }: FileToDescribe): string {
  return createHash('sha256')
    .update(JSON.stringify([file.sha256, content?.sha256 ?? null, format, contentType]))
    .digest('hex');
}
