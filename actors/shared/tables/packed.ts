/** Arrays of numbers in one piece of memory. */

export type Bytes = Float64Array | Uint32Array | Uint16Array | Uint8Array;

const ALIGNMENT = 8;

export interface Packed {
  readonly bytes: Uint8Array;
  /** Number of elements of each array. */
  readonly lengths: readonly number[];
}

export function pack(arrays: readonly Bytes[]): Packed {
  const bytes = new Uint8Array(arrays.reduce((sum, { byteLength }) => sum + aligned(byteLength), 0));
  let at = 0;
  for (const { buffer, byteOffset, byteLength } of arrays) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += aligned(byteLength);
  }
  return { bytes, lengths: arrays.map(({ length }) => length) };
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}

/** Gives the arrays one after the other. */
export class Unpacked {
  readonly #packed: Packed;
  #next = 0;
  #at = 0;

  constructor(packed: Packed) {
    this.#packed = packed;
  }

  next<Values extends Bytes>(
    kind: new (buffer: ArrayBufferLike, at: number, length: number) => Values,
  ): Values {
    const { bytes, lengths } = this.#packed;
    const array = new kind(bytes.buffer, bytes.byteOffset + this.#at, lengths[this.#next] ?? 0);
    this.#next += 1;
    this.#at += aligned(array.byteLength);
    return array;
  }
}
