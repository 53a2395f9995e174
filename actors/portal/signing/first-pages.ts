/**
 * First pages of documents, which a browser shows before its own drawing of the file is ready: their sizes, which a page
 * begins with, and their pictures, which it asks for. Both are read in the pool when a page of the document is opened, and
 * kept in memory by the content of the file. Source: docs/decisions/0430-picture-of-the-first-page.md.
 */
import { LRUCache } from 'lru-cache';
import type { BlobRef } from '../../../machines/portal/portal-types.ts';
import type { ServiceRuntime } from '../../hosting/service-plan.ts';
import type { SigningPool } from '../../pool/pool.ts';
import type { PortalResults } from '../../pool/portal-tasks.ts';
import type { SigningPageView } from '../api/signing.ts';
import type { Blobs } from '../uploads/blobs.ts';

type FirstPage = NonNullable<NonNullable<SigningPageView['document']>['firstPage']>;

type Size = PortalResults['portal.first-page-size'] & { readonly picture?: never };

/** Bytes of all pictures that are kept. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** Bytes that an entry counts for besides its picture. */
const ENTRY_BYTES = 200;
/**
 * A longer file is shown without its picture: to read it would delay others. Its size is read only where the file is on this
 * machine and intact.
 */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Files that are drawn at the same time, and of one organization. Others are shown without their picture. */
const MAX_DRAWING = 4;
const MAX_DRAWING_OF_ONE = 2;
/** Files whose size is read at the same time, and of one organization: milliseconds each. Others are shown without it. */
const MAX_READING = 32;
const MAX_READING_OF_ONE = 16;
/** Failures that the file causes each time: it is not read again. */
const REPEATED_FAILURES: ReadonlySet<string> = new Set(['document.unreadable', 'pool.memory-exceeded']);
/** Failures that the file may cause, or a busy machine. */
const UNCERTAIN_FAILURES: ReadonlySet<string> = new Set(['pool.worker-lost', 'pool.deadline']);
/** Time for which a file is not read again after one of them, milliseconds. */
const UNCERTAIN_MS = 5 * 60_000;
/** Time for which a page waits for the size, milliseconds; the next visit has it. */
const MAX_SIZE_WAIT_MS = 600;
/** Time for which a picture is waited for, milliseconds. The browser loads its own drawing meanwhile. */
const MAX_PICTURE_WAIT_MS = 5_000;

/** The document for which a page is read, and its organization. */
interface Wanted {
  readonly documentId: string;
  readonly organization: string;
}

interface Needs {
  readonly runtime: Pick<ServiceRuntime, 'clock'>;
  readonly pool: Pick<SigningPool, 'run' | 'threads'>;
  readonly blobs: Pick<Blobs, 'localPath' | 'pathHere'>;
}

export class FirstPages {
  readonly #sizes: FileResults<Size>;
  readonly #pictures: FileResults<PortalResults['portal.first-page']>;

  constructor(private readonly needs: Needs) {
    const { pool } = needs;
    this.#sizes = new FileResults<Size>(needs, {
      // Of an intact file, some parts alone are read; to repair one reads all of it.
      run: (file, { organization, bytes }) => {
        const isRepaired = bytes <= MAX_FILE_BYTES;
        return pool.run({ task: 'portal.first-page-size', ...file, isRepaired }, { organization });
      },
      atOnce: MAX_READING,
      ofOne: MAX_READING_OF_ONE,
    });
    this.#pictures = new FileResults(needs, {
      run: (file, scope) => pool.run({ task: 'portal.first-page', ...file }, scope),
      // At most half of the threads draw: the others sign.
      atOnce: Math.min(MAX_DRAWING, Math.max(1, Math.floor(pool.threads / 2))),
      ofOne: MAX_DRAWING_OF_ONE,
    });
  }

  /** Undefined for a file that is no PDF, or whose size is not read in time. Begins to draw the picture. */
  async of(blob: BlobRef, wanted: Wanted): Promise<FirstPage | undefined> {
    const size = await this.#inTime(this.#sizes.of(blob, wanted), MAX_SIZE_WAIT_MS);
    if (size === undefined) return undefined;
    const drawing = this.#drawing(blob, wanted);
    if (drawing instanceof Promise) return { ...size, picture: 'coming' };
    return { ...size, picture: drawing?.picture === undefined ? 'none' : 'ready' };
  }

  /** An SVG in Brotli. Undefined for a file without one, or whose picture is not drawn in time. */
  async pictureOf(blob: BlobRef, wanted: Wanted): Promise<Uint8Array | undefined> {
    return (await this.#inTime(this.#drawing(blob, wanted), MAX_PICTURE_WAIT_MS))?.picture;
  }

  #drawing(blob: BlobRef, wanted: Wanted): ReturnType<FileResults<PortalResults['portal.first-page']>['of']> {
    return blob.length > MAX_FILE_BYTES ? undefined : this.#pictures.of(blob, wanted);
  }

  #inTime<Found>(found: Found | Promise<Found>, ms: number): Promise<Found | undefined> {
    return new Promise((resolve) => {
      if (!(found instanceof Promise)) return resolve(found);
      const cancel = this.needs.runtime.clock.after(ms, () => resolve(undefined));
      void found.then((result) => {
        cancel();
        resolve(result);
      });
    });
  }
}

interface CachedResult<Result> {
  readonly result: Result | undefined;
  /** Time of the clock from which the file is read again, milliseconds; absent: never. */
  readonly until?: number;
}

type Answer<Result> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly code: string };

/** Results of one task by the content of the file, and those that threads work on. */
class FileResults<Result extends { readonly picture?: Uint8Array }> {
  readonly #kept = new LRUCache<string, CachedResult<Result>>({
    maxSize: MAX_KEPT_BYTES,
    sizeCalculation: ({ result }) => ENTRY_BYTES + (result?.picture?.length ?? 0),
  });
  readonly #open = new Map<
    string,
    { readonly organization: string; readonly result: Promise<Result | undefined> }
  >();

  constructor(
    private readonly needs: Needs,
    private readonly work: {
      run(
        file: { readonly documentId: string; readonly path: string },
        scope: { readonly organization: string; readonly bytes: number },
      ): Promise<Answer<Result>>;
      readonly atOnce: number;
      readonly ofOne: number;
    },
  ) {}

  /** A promise for what a thread works on, which never rejects; otherwise what is kept. Undefined: nothing. */
  of(blob: BlobRef, wanted: Wanted): Result | Promise<Result | undefined> | undefined {
    const { sha256 } = blob;
    const kept = this.#kept.get(sha256);
    if (kept !== undefined && this.needs.runtime.clock.elapsed() < (kept.until ?? Number.POSITIVE_INFINITY))
      return kept.result;
    const open = this.#open.get(sha256);
    if (open !== undefined) return open.result;
    const { organization } = wanted;
    const ofOne = Array.from(this.#open.values()).filter((one) => one.organization === organization);
    if (this.#open.size >= this.work.atOnce || ofOne.length >= this.work.ofOne) return undefined;
    const result = this.#run(blob, wanted).finally(() => this.#open.delete(sha256));
    this.#open.set(sha256, { organization, result });
    return result;
  }

  /** Never rejects: the document is shown without it. */
  async #run(blob: BlobRef, { documentId, organization }: Wanted): Promise<Result | undefined> {
    try {
      const { blobs } = this.needs;
      const path = await (blob.length > MAX_FILE_BYTES ? blobs.pathHere(blob) : blobs.localPath(blob));
      if (path === undefined) return undefined;
      const answer = await this.work.run({ documentId, path }, { organization, bytes: blob.length });
      if (answer.ok) this.#kept.set(blob.sha256, { result: answer.result });
      else this.#keepFailure(blob, answer.code);
      return answer.ok ? answer.result : undefined;
    } catch {
      return undefined;
    }
  }

  #keepFailure({ sha256 }: BlobRef, code: string): void {
    if (REPEATED_FAILURES.has(code)) this.#kept.set(sha256, { result: undefined });
    else if (UNCERTAIN_FAILURES.has(code))
      this.#kept.set(sha256, { result: undefined, until: this.needs.runtime.clock.elapsed() + UNCERTAIN_MS });
    // What a thread could not do at this time, such as a full pool, may be possible later.
  }
}
