/** Reads the elements of a BER file of any size in order (X.690 §8); holds one window of it in memory. */
import {
  Asn1Error,
  Asn1LimitError,
  encoded,
  type Header,
  MAX_HEADER,
  MAX_SEGMENT_DEPTH,
  readElement,
  readHeader,
  TAG,
} from '../asn1/read.ts';
import type { Source } from '../core/files.ts';

/** Most bytes of certificates, revocation lists and signers together; a large revocation list has a few megabytes. */
export const MAX_TAIL = 16 << 20;

/** Most bytes of version, digest algorithms and content type together. */
const MAX_START = 4096;

/** Most segments of a constructed OCTET STRING; writers make segments of a few kilobytes. */
const MAX_SEGMENTS = 1_000_000;

const WINDOW = 64 << 10;

/** An open constructed element. */
interface Level {
  /** Offset of its end, exclusive; for the indefinite form, that of its parent. */
  readonly end: number;
  readonly indefinite: boolean;
}

/** Reads a file element by element. */
export class BerReader {
  readonly #source: Source;
  #at = 0;
  /** Ends of the open elements of known length, the innermost last. */
  readonly #ends: number[];
  #window: Buffer = Buffer.alloc(0);
  #windowAt = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#ends = [source.size];
  }

  get at(): number {
    return this.#at;
  }

  peekTag(): number {
    return this.#header().tag;
  }

  enter(tag: number): Level {
    const header = this.#header();
    if (header.tag !== tag) throw new Asn1Error('unexpected element', this.#at);
    const from = this.#at + header.headerLength;
    const indefinite = header.length < 0;
    const end = indefinite ? this.#limit() : from + header.length;
    if (end > this.#limit()) throw new Asn1Error('length runs past the end', this.#at);
    this.#ends.push(end);
    this.#at = from;
    return { end, indefinite };
  }

  atEnd(level: Level): boolean {
    if (!level.indefinite) return this.#at >= level.end;
    const { tag, length } = this.#header();
    return tag === 0 && length === 0;
  }

  leave(level: Level): void {
    if (!this.atEnd(level) || (!level.indefinite && this.#at !== level.end)) {
      throw new Asn1Error('unexpected element', this.#at);
    }
    if (level.indefinite) this.#at += 2;
    this.#ends.pop();
  }

  /** Returns the next element with its header, at most a few kilobytes. */
  readSmall(): Buffer {
    const bytes = this.#fill(Math.min(MAX_START, this.#limit() - this.#at));
    const element = readElement(bytes);
    this.#at += element.next;
    return Buffer.from(encoded(element));
  }

  /** Passes the bytes of one primitive OCTET STRING on. Returns their number. */
  readOctets(take: (chunk: Buffer) => void): number {
    const { tag, headerLength, length } = this.#header();
    if (tag !== TAG.octetString) throw new Asn1Error('expected an octet string', this.#at);
    const from = this.#at + headerLength;
    if (length > this.#limit() - from) throw new Asn1Error('length runs past the end', this.#at);
    this.#at = from;
    if (length <= WINDOW) take(this.#fill(length));
    else for (const chunk of this.#source.chunks(from, from + length)) take(chunk);
    this.#at += length;
    return length;
  }

  /** Passes the segments of a constructed OCTET STRING on, those inside each other too (X.690 §8.7.3). Returns their bytes. */
  readSegments(take: (chunk: Buffer) => void): number {
    const open = [this.enter(TAG.octetStringConstructed)];
    let length = 0;
    for (let count = 0; ; ) {
      const level = open.at(-1);
      if (level === undefined) return length;
      if (this.atEnd(level)) {
        this.leave(level);
        open.pop();
        continue;
      }
      if (++count > MAX_SEGMENTS) throw new Asn1LimitError('content cut into too many pieces', this.#at);
      if (this.peekTag() !== TAG.octetStringConstructed) {
        length += this.readOctets(take);
        continue;
      }
      if (open.length === MAX_SEGMENT_DEPTH)
        throw new Asn1LimitError('octet string nested too deeply', this.#at);
      open.push(this.enter(TAG.octetStringConstructed));
    }
  }

  /** Returns the elements left inside a level, at most `count`. */
  readRest(level: Level, count: number): Buffer[] {
    const length = level.end - this.#at;
    if (length > MAX_TAIL) throw new Asn1LimitError('certificates and signers are too large', this.#at);
    const bytes = this.#source.read(this.#at, length);
    const elements: Buffer[] = [];
    let at = 0;
    while (at < bytes.length && !(level.indefinite && bytes[at] === 0 && bytes[at + 1] === 0)) {
      const element = readElement(bytes, at);
      if (elements.length === count) throw new Asn1Error('unexpected element', this.#at + at);
      elements.push(encoded(element));
      at = element.next;
    }
    this.#at += at;
    return elements;
  }

  #header(): Header {
    return readHeader(this.#fill(Math.min(MAX_HEADER, this.#limit() - this.#at)), 0, MAX_HEADER);
  }

  #limit(): number {
    return this.#ends[this.#ends.length - 1] ?? 0;
  }

  /** Returns the next `length` bytes without moving; at most one window. */
  #fill(length: number): Buffer {
    const offset = this.#at - this.#windowAt;
    if (offset < 0 || offset + length > this.#window.length) {
      this.#window = this.#source.read(this.#at, WINDOW);
      this.#windowAt = this.#at;
      return this.#window.subarray(0, length);
    }
    return this.#window.subarray(offset, offset + length);
  }
}
