/**
 * Pictures of the first pages of documents, which a browser shows before its own drawing of the file is ready. They are drawn
 * in the pool when a page of the document is opened, and kept in memory by the content of the file.
 * Source: docs/decisions/0430-picture-of-the-first-page.md.
 */
import { LRUCache } from 'lru-cache';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { PortalResults } from '../../pool/portal-tasks.ts';
import type { Blobs } from '../uploads/blobs.ts';

export type FirstPage = PortalResults['portal.first-page'];

/** Bytes of all pictures that are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Bytes that an entry counts for besides its picture. */
const ENTRY_BYTES = 200;
/** A longer file is shown without its picture: to read it would delay others. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Files that are drawn at the same time, and of one organization. Others are shown without their picture. */
const MAX_DRAWING = 4;
const MAX_DRAWING_OF_ONE = 2;
/** Failures that the file causes each time: it is not drawn again. */
const REPEATED_FAILURES: ReadonlySet<string> = new Set(['document.unreadable', 'pool.memory-exceeded']);
/** Failures that the file may cause, or a busy machine. */
const UNCERTAIN_FAILURES: ReadonlySet<string> = new Set(['pool.worker-lost', 'pool.deadline']);
/** Time for which a file is not drawn again after one of them, milliseconds. */
const UNCERTAIN_MS = 5 * 60_000;
/** Time for which a page waits for the picture, milliseconds; the next visit has it. */
const MAX_WAIT_MS = 600;

/** The document for which a page is drawn, and its organization. */
interface Wanted {
  readonly documentId: string;
  readonly organization: string;
}

interface DrawnEntry {
  readonly page: FirstPage | undefined;
  /** Time of the clock from which it is drawn again, milliseconds; absent: never. */
  readonly until?: number;
}

export class FirstPages {
  readonly #kept = new LRUCache<string, DrawnEntry>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ page }) => ENTRY_BYTES + (page?.picture?.length ?? 0),
  });
  readonly #drawing = new Map<
    string,
    { readonly organization: string; readonly page: Promise<FirstPage | undefined> }
  >();

  constructor(
    private readonly needs: {
      readonly runtime: Pick<ServiceRuntime, 'clock'>;
      readonly pool: Pick<SigningPool, 'run' | 'threads'>;
      readonly blobs: Pick<Blobs, 'localPath'>;
    },
  ) {}

  /** Undefined for a file that is no PDF, or whose page is not drawn in time. */
  of(blob: BlobRef, wanted: Wanted): Promise<FirstPage | undefined> {
    const { sha256, length } = blob;
    const kept = this.#kept.get(sha256);
    if (kept !== undefined && this.needs.runtime.clock.elapsed() < (kept.until ?? Number.POSITIVE_INFINITY))
      return Promise.resolve(kept.page);
    if (length > MAX_FILE_BYTES) return Promise.resolve(undefined);
    let drawing = this.#drawing.get(sha256);
    if (drawing === undefined) {
      const { organization } = wanted;
      if (!this.#mayDraw(organization)) return Promise.resolve(undefined);
      const page = this.#draw(blob, wanted).finally(() => this.#drawing.delete(sha256));
      drawing = { organization, page };
      this.#drawing.set(sha256, drawing);
    }
    return this.#inTime(drawing.page);
  }

  /** At most half of the threads draw: the others sign. */
  #mayDraw(organization: string): boolean {
    const most = Math.min(MAX_DRAWING, Math.max(1, Math.floor(this.needs.pool.threads / 2)));
    const ofOne = Array.from(this.#drawing.values()).filter((one) => one.organization === organization);
    return this.#drawing.size < most && ofOne.length < MAX_DRAWING_OF_ONE;
  }

  #inTime(drawing: Promise<FirstPage | undefined>): Promise<FirstPage | undefined> {
    return new Promise((resolve) => {
      const cancel = this.needs.runtime.clock.after(MAX_WAIT_MS, () => resolve(undefined));
      void drawing.then((page) => {
        cancel();
        resolve(page);
      });
    });
  }

  /** Never rejects: the document is shown without its picture. */
  async #draw(blob: BlobRef, { documentId, organization }: Wanted): Promise<FirstPage | undefined> {
    try {
      const path = await this.needs.blobs.localPath(blob);
      const answer = await this.needs.pool.run(
        { task: 'portal.first-page', documentId, path },
        { organization, bytes: blob.length },
      );
      if (answer.ok) this.#kept.set(blob.sha256, { page: answer.result });
      else this.#keepFailure(blob, answer.code);
      return answer.ok ? answer.result : undefined;
    } catch {
      return undefined;
    }
  }

  #keepFailure({ sha256 }: BlobRef, code: string): void {
    if (REPEATED_FAILURES.has(code)) this.#kept.set(sha256, { page: undefined });
    else if (UNCERTAIN_FAILURES.has(code))
      this.#kept.set(sha256, { page: undefined, until: this.needs.runtime.clock.elapsed() + UNCERTAIN_MS });
    // What a thread could not do at this time, such as a full pool, may be possible later.
  }
}
