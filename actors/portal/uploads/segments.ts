/** Segments of uploads that are not complete: files in a folder, or objects that all nodes reach. */
import { createReadStream, mkdirSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Retryable } from '@sealwright/runtime';
import type { UploadId } from '../../../machines/ids.ts';
import type { SegmentRange } from '../../../machines/portal/segmented-upload.ts';
import type { DiskSync } from '../../shared/files/disk-sync.ts';
import type { ObjectStore } from '../../shared/objects/object-store.ts';
import { type BlobSink, unavailable } from './blob-sink.ts';

export interface Segments {
  open(id: UploadId): Promise<void>;
  /** Stores the segment durably; replaces an earlier one. False when the upload has no place any more. */
  place(id: UploadId, range: SegmentRange, sink: BlobSink): Promise<boolean>;
  /** @param start first byte of the segment that is read, from 0 */
  read(id: UploadId, range: SegmentRange, start: number): Promise<AsyncIterable<Buffer>>;
  /** Removes all segments of an upload. */
  remove(id: string): Promise<void>;
  /** Names of the uploads that have segments. */
  names(): Promise<Iterable<string>>;
}

/** Below `segments/<id>/<from>-<to>` of a folder. */
export class SegmentFolder implements Segments {
  readonly #folder: string;

  /** @param root absolute path of `{Storage:Root}/portal`, on the file system of the blobs */
  constructor(
    root: string,
    private readonly disk: DiskSync,
  ) {
    this.#folder = join(root, 'segments');
    mkdirSync(this.#folder, { recursive: true, mode: 0o750 });
  }

  async open(id: UploadId): Promise<void> {
    await mkdir(join(this.#folder, id), { mode: 0o750 });
    await this.disk.directory(this.#folder);
  }

  async place(id: UploadId, range: SegmentRange, sink: BlobSink): Promise<boolean> {
    const folder = join(this.#folder, id);
    const { path } = await sink.finish();
    try {
      await rename(path, join(folder, segmentName(range)));
      await this.disk.directory(folder);
      return true;
    } catch (error) {
      await rm(path, { force: true });
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw unavailable(error);
    }
  }

  async read(id: UploadId, range: SegmentRange, start: number): Promise<AsyncIterable<Buffer>> {
    return createReadStream(join(this.#folder, id, segmentName(range)), { start, highWaterMark: 256 * 1024 });
  }

  /** A late segment can come into the folder meanwhile. */
  remove(id: string): Promise<void> {
    return rm(join(this.#folder, id), { recursive: true, force: true, maxRetries: 20, retryDelay: 10 });
  }

  names(): Promise<string[]> {
    return readdir(this.#folder);
  }
}

/** Under the keys `segments/<id>/<from>-<to>` of an object store. */
export class SegmentObjects implements Segments {
  constructor(private readonly objects: ObjectStore) {}

  async open(): Promise<void> {}

  async place(id: UploadId, range: SegmentRange, sink: BlobSink): Promise<boolean> {
    const { path } = await sink.finish();
    try {
      await this.objects.put(segmentKey(id, range), { path, length: sink.length }, { replace: true });
      return true;
    } finally {
      await rm(path, { force: true });
    }
  }

  async read(id: UploadId, range: SegmentRange, start: number): Promise<AsyncIterable<Buffer>> {
    const found = await this.objects.get(segmentKey(id, range), { from: start });
    if (found !== undefined) return found.stream;
    throw new Retryable('storage.unavailable', 'A piece of the upload is missing in the object store.');
  }

  async remove(id: string): Promise<void> {
    for await (const key of this.#keys(`${SEGMENTS}${id}/`)) await this.objects.remove(key);
  }

  async names(): Promise<Set<string>> {
    const names = new Set<string>();
    for await (const key of this.#keys(SEGMENTS)) names.add(key.slice(SEGMENTS.length).split('/')[0] ?? '');
    return names;
  }

  async *#keys(prefix: string): AsyncGenerator<string> {
    let next: string | undefined;
    do {
      const page = await this.objects.list(prefix, next);
      for (const { key } of page.objects) yield key;
      next = page.next;
    } while (next !== undefined);
  }
}

const SEGMENTS = 'segments/';

function segmentKey(id: UploadId, range: SegmentRange): string {
  return `${SEGMENTS}${id}/${segmentName(range)}`;
}

function segmentName([from, to]: SegmentRange): string {
  return `${from}-${to}`;
}
