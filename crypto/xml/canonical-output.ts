/**
 * Where canonical bytes are put together: ranges of the source that are canonical as they stand are passed on as one,
 * everything else goes through a chunk. Escaping and line ends are those of Canonical XML 1.0 §2.3.
 */
import { CryptoError } from '../types.ts';
import { AMPERSAND, CR, GREATER, LESS, LF, QUOTE, TAB, writeCodePoint } from './characters.ts';
import { MAX_CANONICAL_GROWTH } from './limits.ts';

/** Takes canonical bytes in order. The buffer is used again afterwards. */
export interface ByteSink {
  update(bytes: Buffer): unknown;
}

/** Ranges of the source at least this long go to the sink directly instead of through the chunk. */
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
  /** A range of the source that is canonical and not yet passed on; runs that follow each other grow it. */
  #runStart = 0;
  #runEnd = 0;
  /** Bytes that may still come: one namespace name repeated on every tag must not make gigabytes of a document. */
  #room: number;

  constructor(source: Buffer, sink: ByteSink, length: number) {
    this.#source = source;
    this.#sink = sink;
    this.#chunk = Buffer.allocUnsafe(Math.min(CHUNK, length + 64));
    this.#room = MAX_CANONICAL_GROWTH * (length + CHUNK);
  }

  /** A range of the source, passed on as it is. */
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

  /** One character of text. */
  character(code: number): void {
    const escaped = ESCAPES.text[code];
    if (escaped !== undefined) this.bytes(escaped);
    else if (code < 0x80) this.byte(code);
    else {
      this.#reserve(4);
      this.#filled = writeCodePoint(this.#chunk, this.#filled, code);
    }
  }

  /** The value of an attribute. */
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

  /** Source bytes with line ends made LF. */
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

  /** Passes on what is still held back. */
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
    // No range of the source may join on until the next one has begun.
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

  /** Makes sure that so many bytes fit; they come after the run that is held back. */
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
