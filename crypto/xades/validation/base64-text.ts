/** Base64 in pieces of any length, decoded as it comes. */
import type { ByteSink, XmlListener } from '../../xml/index.ts';

/** What can't be decoded; the message is the end of a sentence. */
export class Base64Fault extends Error {}

/** Characters gathered before they are decoded. */
const PIECE = 64 * 1024;

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
    // Padding may come in two pieces, so what ends is known at the end only.
    this.#pending += bare;
    if (this.#pending.length >= PIECE && !bare.endsWith('=')) this.#decode(this.#pending.length & ~3);
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

/** The text of one element, which must hold no other element: else what is decoded would not be what is there. */
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
    for (let at = start; at < end; at += PIECE)
      this.#decoder.add(this.#utf8.toString('latin1', at, Math.min(end, at + PIECE)));
  }

  character(code: number): void {
    this.#decoder.add(String.fromCodePoint(code));
  }

  instruction(): void {}
  comment(): void {}
}
