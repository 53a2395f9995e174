/** Byte range of a file as a separate source. Closing it leaves the file open. */
import type { Source } from './source.ts';

export class SourceRange implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #whole: Source;
  readonly #start: number;

  /** @param path name in messages @param start offset in `whole`, bytes */
  constructor(whole: Source, path: string, start: number, size: number) {
    this.path = path;
    this.size = size;
    this.mtimeMs = whole.mtimeMs;
    this.inode = whole.inode;
    this.#whole = whole;
    this.#start = start;
  }

  read(offset: number, length: number): Buffer {
    const from = Math.min(Math.max(offset, 0), this.size);
    return this.#whole.read(this.#start + from, Math.min(Math.max(length, 0), this.size - from));
  }

  chunks(from = 0, to = this.size): Iterable<Buffer> {
    return this.#whole.chunks(this.#start + from, this.#start + Math.min(to, this.size));
  }

  assertUnchanged(): void {
    this.#whole.assertUnchanged();
  }

  close(): void {}
}
