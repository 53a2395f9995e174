/**
 * Output buffer of canonicalization: ranges of the source that are already canonical are passed on joined, everything
 * else goes through a chunk. Escaping and line ends follow Canonical XML 1.0 §2.3.
 */
import { CryptoError } from '../core/types.ts';
import { AMPERSAND, CR, GREATER, LESS, LF, QUOTE, TAB, writeCodePoint } from './characters.ts';
import { MAX_CANONICAL_GROWTH } from './limits.ts';

/** Receives canonical bytes in order. The buffer is reused after the call. */
export interface ByteSink {
  update(bytes: Buffer): unknown;
}

/** Minimum length of a source range that goes to the sink directly instead of through the chunk. */
const DIRECT = 1024;
const CHUNK = 16 * 1024;

const ESCAPES = {
  text: escapes([
    [AMPERSAND, '&amp;'],
    [LESS, '&lt;'],
    [GREATER, '&gt;'],
    [CR, '&#xD;'],
  ]),
  value: escapes([
    [AMPERSAND, '&amp;'],
    [LESS, '&lt;'],
    [QUOTE, '&quot;'],
    [TAB, '&#x9;'],
    [LF, '&#xA;'],
    [CR, '&#xD;'],
  ]),
};

function escapes(pairs: readonly (readonly [number, string])[]): readonly (Buffer | undefined)[] {
  const table: (Buffer | undefined)[] = new Array(128).fill(undefined);
  for (const [byte, text] of pairs) table[byte] = Buffer.from(text);
  return table;
}

export class CanonicalOutput {
  readonly #source: Buffer;
  readonly #sink: ByteSink;
  readonly #chunk: Buffer;
  #filled = 0;
  /** Start of the pending source range; adjacent ranges extend it. */
  #runStart = 0;
  #runEnd = 0;
  /**
   * Bytes of output still allowed: a long namespace name repeated on every tag must not turn a document into
   * gigabytes.
   */
  #room: number;

  constructor(source: Buffer, sink: ByteSink, length: number) {
    this.#source = source;
    this.#sink = sink;
    this.#chunk = Buffer.allocUnsafe(Math.min(CHUNK, length + 64));
    this.#room = MAX_CANONICAL_GROWTH * (length + CHUNK);
  }

  /** Writes a range of the source unchanged. */
  run(start: number, end: number): void {
    if (start === this.#runEnd) {
      this.#runEnd = end;
      return;
    }
    this.#endRun();
    this.#runStart = start;
    this.#runEnd = end;
  }

  bytes(bytes: Buffer): void {
    this.#endRun();
    if (bytes.length < DIRECT) {
      this.#copy(bytes, 0, bytes.length);
    } else {
      this.#flush();
      this.#pass(bytes);
    }
  }

  byte(byte: number): void {
    this.#reserve(1);
    this.#chunk[this.#filled++] = byte;
  }

  /** Writes one character of text. */
  character(code: number): void {
    const escaped = ESCAPES.text[code];
    if (escaped !== undefined) this.bytes(escaped);
    else if (code < 0x80) this.byte(code);
    else {
      this.#reserve(4);
      this.#filled = writeCodePoint(this.#chunk, this.#filled, code);
    }
  }

  /** Writes the value of an attribute. */
  value(value: Buffer): void {
    let start = 0;
    for (let at = 0; at < value.length; at++) {
      const escaped = ESCAPES.value[value[at] as number];
      if (escaped === undefined) continue;
      if (at > start) this.bytes(value.subarray(start, at));
      this.bytes(escaped);
      start = at + 1;
    }
    if (start < value.length) this.bytes(value.subarray(start));
  }

  /** Writes source bytes with line ends normalised to LF. */
  lines(start: number, end: number): void {
    let from = start;
    for (let at = start; at < end; at++) {
      if (this.#source[at] !== CR) continue;
      this.run(from, at);
      from = at + 1;
      if (from >= end || this.#source[from] !== LF) this.byte(LF);
    }
    this.run(from, end);
  }

  /** Flushes the pending range and the chunk. */
  finish(): void {
    this.#endRun();
    this.#flush();
  }

  #endRun(): void {
    const length = this.#runEnd - this.#runStart;
    if (length > 0) {
      if (length >= DIRECT) {
        this.#flush();
        this.#pass(this.#source.subarray(this.#runStart, this.#runEnd));
      } else {
        this.#copy(this.#source, this.#runStart, this.#runEnd);
      }
    }
    // Prevents the next source range from joining an earlier one.
    this.#runStart = this.#runEnd = -1;
  }

  #copy(from: Buffer, start: number, end: number): void {
    if (this.#filled + end - start > this.#chunk.length) this.#flush();
    if (end - start > this.#chunk.length) {
      this.#pass(from.subarray(start, end));
      return;
    }
    if (end - start <= 32) {
      const chunk = this.#chunk;
      let at = this.#filled;
      for (let index = start; index < end; index++) chunk[at++] = from[index] as number;
      this.#filled = at;
    } else {
      this.#filled += from.copy(this.#chunk, this.#filled, start, end);
    }
  }

  /** Reserves space in the chunk for so many bytes after the pending range. */
  #reserve(length: number): void {
    this.#endRun();
    if (this.#filled + length > this.#chunk.length) this.#flush();
  }

  #flush(): void {
    if (this.#filled === 0) return;
    this.#pass(this.#chunk.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #pass(bytes: Buffer): void {
    this.#room -= bytes.length;
    if (this.#room < 0) {
      throw new CryptoError(
        'input.too-large',
        `The canonical form of the XML is more than ${MAX_CANONICAL_GROWTH} times as long as the XML itself.`,
      );
    }
    this.#sink.update(bytes);
  }
}
