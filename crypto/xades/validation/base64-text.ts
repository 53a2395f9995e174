/** Incremental Base64 decoding. */
import type { ByteSink, XmlListener } from '../../xml/index.ts';

/** Text that is not Base64; the message is the end of a sentence. */
export class Base64Fault extends Error {}

/** Characters collected before decoding. */
const CHUNK_CHARACTERS = 64 * 1024;

export class Base64Decoder {
  readonly #sink: ByteSink;
  #pending = '';
  #ended = false;

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** @throws {Base64Fault} for anything but the alphabet, white space and padding at the end */
  add(text: string): void {
    const bare = text.replace(/[ \t\r\n]+/g, '');
    if (bare === '') return;
    if (this.#ended || !/^[A-Za-z0-9+/]*={0,2}$/.test(bare)) throw new Base64Fault('it is not base64');
    // Padding can be split between chunks, so the end is known only in `finish`.
    this.#pending += bare;
    if (this.#pending.length >= CHUNK_CHARACTERS && !bare.endsWith('='))
      this.#decode(this.#pending.length & ~3);
  }

  /** @throws {Base64Fault} */
  finish(): void {
    if (this.#pending.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(this.#pending))
      throw new Base64Fault('it is not base64');
    this.#decode(this.#pending.length);
    this.#ended = true;
  }

  #decode(length: number): void {
    if (length > 0) this.#sink.update(Buffer.from(this.#pending.slice(0, length), 'base64'));
    this.#pending = this.#pending.slice(length);
  }
}

/**
 * Decodes the text of one element. The element must contain no other element, or the decoded text would differ from
 * the content.
 */
export class Base64Element implements XmlListener {
  readonly #utf8: Buffer;
  readonly #decoder: Base64Decoder;
  #depth = 0;

  constructor(utf8: Buffer, decoder: Base64Decoder) {
    this.#utf8 = utf8;
    this.#decoder = decoder;
  }

  startElement(): void {
    if (++this.#depth > 1) throw new Base64Fault('elements stand in it');
  }

  endElement(): void {
    this.#depth--;
  }

  text(start: number, end: number): void {
    for (let at = start; at < end; at += CHUNK_CHARACTERS)
      this.#decoder.add(this.#utf8.toString('latin1', at, Math.min(end, at + CHUNK_CHARACTERS)));
  }

  character(code: number): void {
    this.#decoder.add(String.fromCodePoint(code));
  }

  instruction(): void {}
  comment(): void {}
}
