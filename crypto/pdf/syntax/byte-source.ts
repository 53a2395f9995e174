/** Source of PDF bytes: a file, or a buffer in memory. */
export interface ByteSource {
  /** Bytes. */
  readonly size: number;
  /** Password of an encrypted PDF; without it, only files that need none are opened. */
  readonly password?: string | undefined;
  /**
   * Reads the bytes [offset, offset + length), fewer only at the end of the source.
   * May return a view of shared memory: read-only.
   */
  read(offset: number, length: number): Buffer;
}

/** Creates a source over bytes in memory. */
export function bufferSource(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** Bytes around a requested offset. */
export interface View {
  readonly bytes: Buffer;
  /** Offset in the file of `bytes[0]`. */
  readonly at: number;
  /** Index in `bytes` of the requested offset. */
  readonly start: number;
}

/** Sources up to this size, in bytes, are read once; all views share that buffer. */
const WHOLE = 1 << 20;
/** Smallest read from a larger source: covers most objects of a structure. */
const PAGE = 8 << 10;

/** Reads views of a source and caches the last one: neighbouring objects cost one read. */
export class Views {
  readonly source: ByteSource;
  #last: { readonly bytes: Buffer; readonly at: number };
  constructor(source: ByteSource) {
    this.source = source;
    this.#last = { bytes: source.read(0, source.size <= WHOLE ? source.size : PAGE), at: 0 };
  }

  /** Returns a view with at least `length` bytes from `offset`, or with all bytes up to the end of the file. */
  view(offset: number, length: number): View {
    const last = this.#last;
    const end = Math.min(offset + length, this.source.size);
    if (offset >= last.at && end <= last.at + last.bytes.length) {
      return { bytes: last.bytes, at: last.at, start: offset - last.at };
    }
    const bytes = this.source.read(offset, Math.max(length, PAGE));
    this.#last = { bytes, at: offset };
    return { bytes, at: offset, start: 0 };
  }

  /** True when the view reaches the end of the file. */
  reachesEnd(view: View): boolean {
    return view.at + view.bytes.length >= this.source.size;
  }
}
