/**
 * Refuses files whose streams or images decode to more than a thread may use: pdf.js decodes without bound, and outside the
 * limit of the heap. All bytes are searched, and not the objects: readers differ in which objects of a damaged file they find.
 * Source: docs/decisions/0430-picture-of-the-first-page.md.
 */
import { constants, inflateRawSync } from 'node:zlib';
import { MAX_SAMPLES, Unrecorded } from './recorded-canvas.ts';

/** Most bytes that all streams of a file decode to: files of 4 MiB have about 20 MiB. */
const MAX_DECODED = 64 << 20;
/** Most streams of a file; each costs about 50 µs. */
const MAX_STREAMS = 20_000;
/** Most places of one kind in the bytes of a stream: 64 MiB of random bytes have some thousands. */
const MAX_PLACES = 50_000;
/** Most samples of a side of an image in a file with masks, which `maxImageSize` of pdf.js does not cover. */
const MAX_SIDE = 6_000;

/** Characters that end a name (ISO 32000-2, 7.2.3). */
const END = String.raw`(?=[\0\t\n\f\r ()<>[\]{}/%]|$)`;
const SPACE = String.raw`[\0\t\n\f\r ]*`;
/** Encryption, and filters whose output is not counted here. */
const UNCOUNTED = new RegExp(
  `/(?:Encrypt|LZW|LZWDecode|RL|RunLengthDecode|CCF|CCITTFaxDecode|JBIG2Decode|JPX|JPXDecode|AHx|ASCIIHexDecode|BrotliDecode)${END}`,
);
/** A coding in letters, which is decoded here where the file itself names it, and not one of its streams. */
const LETTERS = new RegExp(`/(?:A85|ASCII85Decode)${END}`);
/** Not `/SMask /None` of a graphics state, and not a range of colors. */
const MASK = new RegExp(`/(?:SMask(?!${SPACE}/None)|Mask(?!${SPACE}\\[))${END}`);
const SIDE = new RegExp(`/(?:Width|Height|W|H)${END}`, 'g');
/** A number of up to four digits, no reference; or something else than a number, such as the widths of letters. */
const SIDE_VALUE = new RegExp(
  String.raw`${SPACE}(?:(\d{1,4})(?:\.\d*)?(?![\d.])(?!${SPACE}[\d%])|[[/<(])`,
  'y',
);
/** The word before the line end that the data of a stream follows. */
const STREAM = /stream/g;
/** Bytes before the data of an image in a content stream. */
const IMAGE = /ID[\0\t\n\f\r ()<>[\]{}/%]/g;
/** The frame of a JPEG, and its height, width, number of components, and table of the first one (ISO/IEC 10918-1, B.2.2). */
const FRAME = /\xff[\xc0-\xc2](?=.{3}(.{2})(.{2})(.)..(.))/gs;

/** @throws {Unrecorded} */
export function assertBoundedDecoding(file: Buffer): void {
  const search = new Search(file);
  search.finish();
}

class Search {
  readonly #open: Buffer[] = [];
  #left = MAX_DECODED;
  #lettersLeft = MAX_DECODED;
  #streams = 0;
  #hasMask = false;
  #hasLongSide = false;
  #hasLetters: boolean | undefined;
  readonly #longest = { Width: 0, Height: 0, W: 0, H: 0 };

  constructor(file: Buffer) {
    this.#open.push(file);
  }

  finish(): void {
    for (let bytes = this.#open.pop(); bytes !== undefined; bytes = this.#open.pop()) {
      const text = bytes.toString('latin1');
      this.#readNames(text);
      // A decoded stream may be encoded a second time.
      const starts = [0, ...startsOfData(text)];
      let marker = -1;
      let hasJpeg = false;
      for (const start of starts) {
        // Readers skip what is before the first marker.
        if (marker < start) marker = placeOf(text, '\xff', start);
        hasJpeg ||= text[marker + 1] === '\xd8';
        this.#inflate(bytes, start);
        if (this.#hasLetters === true) this.#decodeLetters(bytes, start);
      }
      if (hasJpeg) assertSmallFrames(text);
    }
    // Without the image that pdf.js leaves out, the picture would be another page.
    if (this.#longest.Width * this.#longest.Height > MAX_SAMPLES)
      throw new Unrecorded('an image of many samples');
    if (this.#hasMask && this.#hasLongSide) throw new Unrecorded('a mask of many samples');
  }

  #readNames(text: string): void {
    const isEscaped = placesOf(text, /#[\da-f]{2}/gi).length > 0;
    const names = isEscaped
      ? text.replace(/#([\da-f]{2})/gi, (_, digits: string) =>
          String.fromCharCode(Number.parseInt(digits, 16)),
        )
      : text;
    const hasLetters = LETTERS.test(names);
    this.#hasLetters ??= hasLetters;
    if (UNCOUNTED.test(names) || (hasLetters && !this.#hasLetters))
      throw new Unrecorded('streams in a coding that is not counted');
    this.#hasMask ||= MASK.test(names);
    for (const { 0: name, index } of placesOf(names, SIDE)) {
      SIDE_VALUE.lastIndex = index + name.length;
      const value = SIDE_VALUE.exec(names);
      const side = value === null ? Number.POSITIVE_INFINITY : Number(value[1] ?? 0);
      const key = name.slice(1) as 'Width' | 'Height' | 'W' | 'H';
      this.#hasLongSide ||= side > MAX_SIDE;
      this.#longest[key] = Math.max(this.#longest[key], side);
    }
  }

  #inflate(bytes: Buffer, start: number): void {
    if (!hasZlibHeader(bytes, start)) return;
    this.#add(inflated(bytes.subarray(start + 2), this.#left));
  }

  #decodeLetters(bytes: Buffer, start: number): void {
    const end = bytes.indexOf(0x7e, start);
    const letters = bytes.subarray(start, end === -1 ? bytes.length : end);
    this.#lettersLeft -= letters.length;
    if (this.#lettersLeft < 0) throw new Unrecorded('many streams in letters');
    this.#add(decodedLetters(letters, this.#left));
  }

  #add(decoded: Buffer): void {
    this.#streams += 1;
    if (this.#streams > MAX_STREAMS) throw new Unrecorded('many streams');
    this.#left -= decoded.length;
    if (this.#left <= 0) throw new Unrecorded('streams that decode to many bytes');
    if (decoded.length > 0) this.#open.push(decoded);
  }
}

function startsOfData(text: string): readonly number[] {
  const starts = placesOf(text, IMAGE).map(({ 0: found, index }) => index + found.length);
  const lineEnd = /\r\n?|\n/g;
  let start = -1;
  for (const { index } of placesOf(text, STREAM)) {
    if (start > index) continue;
    lineEnd.lastIndex = index;
    if (!lineEnd.test(text)) break;
    start = lineEnd.lastIndex;
    starts.push(start);
  }
  return starts.sort((one, other) => one - other);
}

function placesOf(text: string, pattern: RegExp): readonly RegExpExecArray[] {
  const places: RegExpExecArray[] = [];
  for (const place of text.matchAll(pattern)) {
    if (places.length === MAX_PLACES) throw new Unrecorded('many names or streams');
    places.push(place);
  }
  return places;
}

/** Infinity where the text has none. */
function placeOf(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at === -1 ? Number.POSITIVE_INFINITY : at;
}

/** As pdf.js tests it (RFC 1950 §2.2). */
function hasZlibHeader(bytes: Buffer, at: number): boolean {
  return at + 2 < bytes.length && ((bytes[at] ?? 0) & 15) === 8 && bytes.readUInt16BE(at) % 31 === 0;
}

/** The bytes of a stream in ASCII85, as pdf.js decodes it: any other letter counts as one of the coding. More than `most` where they are cut. */
function decodedLetters(data: Buffer, most: number): Buffer {
  const made = Buffer.alloc(Math.min(most, data.length * 4) + 4);
  let length = 0;
  let group = 0;
  let count = 0;
  for (const letter of data) {
    if (length + 4 > made.length) break;
    if (letter === 0x20 || letter === 9 || letter === 10 || letter === 13) continue;
    const isZero = letter === 0x7a && count === 0;
    group = isZero ? 0 : group * 85 + (letter - 0x21);
    count = isZero ? 5 : count + 1;
    if (count < 5) continue;
    made.writeInt32BE(group | 0, length);
    length += 4;
    group = 0;
    count = 0;
  }
  // Of an incomplete group one byte less than it has letters.
  for (let at = count; at > 0 && at < 5; at += 1) group = group * 85 + 84;
  if (count > 1 && length + 4 <= made.length) {
    made.writeInt32BE(group | 0, length);
    length += count - 1;
  }
  return Buffer.from(made.subarray(0, length));
}

function inflated(data: Buffer, most: number): Buffer {
  try {
    // Neither a checksum nor an end is needed, as in pdf.js.
    return inflateRawSync(data, { maxOutputLength: most, finishFlush: constants.Z_SYNC_FLUSH });
  } catch (error) {
    const isLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new Unrecorded(isLong ? 'streams that decode to many bytes' : 'a damaged stream');
  }
}

function assertSmallFrames(text: string): void {
  for (const [, height = '', width = '', components = '', table = ''] of placesOf(text, FRAME)) {
    const isFrame = numberOf(components) >= 1 && numberOf(components) <= 4 && numberOf(table) <= 15;
    const lines = numberOf(height);
    // A height of 0 is told after the samples.
    if (isFrame && (lines === 0 ? 0xffff : lines) * numberOf(width) > MAX_SAMPLES)
      throw new Unrecorded('a picture of many samples');
  }
}

/** The most significant byte is first. */
function numberOf(bytes: string): number {
  return Buffer.from(bytes, 'latin1').readUIntBE(0, bytes.length);
}
