/**
 * Where PDF bytes come from. A file, or a buffer in memory.
 */
export interface ByteSource {
  /** Bytes. */
  readonly size: number;
  /**
   * The bytes [offset, offset + length), fewer only at the end of the source.
   * The buffer may be a view of shared memory: it is read and never written.
   */
  read(offset: number, length: number): Buffer;
}

/** A source over bytes that are in memory already. */
export function bufferSource(bytes: Buffer): ByteSource {
  return {
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
  };
}

/** Some bytes and the place in them that was asked for. */
export interface View {
  readonly bytes: Buffer;
  /** Offset in the file of `bytes[0]`. */
  readonly at: number;
  /** Index in `bytes` of the offset that was asked for. */
  readonly start: number;
}

/** Up to this size a source is read in one piece, and every view shares that piece. */
const WHOLE = 1 << 20;
/** Smallest read from a larger source: one covers most objects of a structure. */
const PAGE = 8 << 10;

/**
 * Reads views of a source, remembering the last one: neighbouring structures cost one read.
 */
export class Views {
  readonly source: ByteSource;
  #last: { readonly bytes: Buffer; readonly at: number };
  constructor(source: ByteSource) {
    this.source = source;
    this.#last = { bytes: source.read(0, source.size <= WHOLE ? source.size : PAGE), at: 0 };
  }

  /** A view that holds at least `length` bytes from `offset` on, or all there are up to the end of the file. */
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

  /** True when nothing of the file lies behind this view. */
  reachesEnd(view: View): boolean {
    return view.at + view.bytes.length >= this.source.size;
  }
}
