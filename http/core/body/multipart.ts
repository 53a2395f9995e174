/**
 * Streaming parser of multipart/form-data with bounded memory: bytes in, parts out.
 *
 * Source: RFC 7578; RFC 2046 §5.1.1 (delimiters, preamble, epilogue); RFC 2183 and RFC 6266 (file names);
 * RFC 8187, which replaced RFC 5987 (`filename*`); RFC 2231 §3 (`filename*0`); RFC 2047 (encoded words).
 */
import { isAscii } from 'node:buffer';
import { decodeWindows1252 } from '../../../actors/shared/files/windows-1252.ts';

export type MultipartEvent =
  /** Start of a part. `fileName` is undefined for a plain field, and may be empty. */
  | {
      readonly type: 'part';
      readonly name: string;
      readonly fileName: string | undefined;
      /** Its Content-Type as sent; undefined when absent. */
      readonly contentType: string | undefined;
    }
  /** Content bytes of the current part, never empty; a view into the chunk that was passed in. */
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'part-end' };

export type MultipartFault =
  | 'boundary-missing'
  | 'head-malformed'
  | 'head-too-large'
  | 'too-many-parts'
  | 'encoding-unsupported'
  | 'truncated';

/** Thrown for a body that is not a valid form. */
export class MultipartError extends Error {
  readonly code: `multipart.${MultipartFault}`;
  constructor(fault: MultipartFault, message: string) {
    super(message);
    this.name = 'MultipartError';
    this.code = `multipart.${fault}`;
  }
}

export interface MultipartLimits {
  /** Maximum size of one part's headers, bytes. @default 8192 */
  readonly headBytes?: number;
  /** Maximum number of parts. @default 64 */
  readonly parts?: number;
}

const CRLF = Buffer.from('\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 13;
const DASH = 45;

/**
 * RFC 2046 §5.1.1: 1 to 70 of these characters, not ending in a space; and `*`, which one client uses in its
 * boundaries.
 */
const BOUNDARY = /^[0-9A-Za-z'()+_,\-./:=?* ]{0,69}[0-9A-Za-z'()+_,\-./:=?*]$/;

/**
 * Returns the boundary of a Content-Type; undefined when the type is not multipart/form-data. Throws
 * `multipart.boundary-missing` when it is, without a valid boundary.
 */
export function multipartBoundary(contentType: string): string | undefined {
  const semicolon = contentType.indexOf(';');
  const type = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (type !== 'multipart/form-data') return undefined;
  const boundary = semicolon < 0 ? undefined : parameters(contentType.slice(semicolon)).get('boundary');
  if (boundary === undefined || !BOUNDARY.test(boundary)) {
    throw new MultipartError('boundary-missing', 'Content-Type names no boundary.');
  }
  return boundary;
}

/** Call `feed` with chunks in order, split anywhere; then `finish`. */
export class MultipartReader {
  readonly #delimiter: Buffer;
  readonly #headBytes: number;
  readonly #parts: number;
  /** Bytes that may start a token that the next chunk completes. */
  #held: Buffer = CRLF; // The first delimiter has no line end before it; this stands in for one.
  #state: 'preamble' | 'head' | 'body' | 'epilogue' = 'preamble';
  #partsSeen = 0;

  constructor(boundary: string, limits: MultipartLimits = {}) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#headBytes = limits.headBytes ?? 8192;
    this.#parts = limits.parts ?? 64;
  }

  /** Yields the events that the chunk completes. Consume all events: parsing advances only as they are read. */
  *feed(chunk: Buffer): Generator<MultipartEvent, void, undefined> {
    let rest = this.#joined(chunk);
    this.#held = EMPTY;
    while (rest.length > 0 && this.#state !== 'epilogue') {
      if (this.#state === 'head') {
        const end = this.#headEnd(rest);
        if (end === undefined) {
          // Copied: the memory of a chunk is used again once the next one is asked for.
          this.#held = Buffer.from(rest);
          return;
        }
        if (end === 'epilogue') {
          this.#state = 'epilogue';
          return;
        }
        const part = this.#openPart(rest.subarray(0, end));
        rest = rest.subarray(end + HEAD_END.length);
        this.#state = 'body';
        yield part;
        continue;
      }
      const found = rest.indexOf(this.#delimiter);
      const upTo = found >= 0 ? found : rest.length - this.#possibleStart(rest);
      if (this.#state === 'body' && upTo > 0) yield { type: 'data', bytes: rest.subarray(0, upTo) };
      if (found < 0) {
        // Copied, so that a few bytes do not keep a whole chunk alive.
        this.#held = Buffer.from(rest.subarray(upTo));
        return;
      }
      if (this.#state === 'body') yield { type: 'part-end' };
      this.#state = 'head';
      rest = rest.subarray(found + this.#delimiter.length);
    }
  }

  /** Held bytes and the chunk; copied only where bytes are held. */
  #joined(chunk: Buffer): Buffer {
    if (this.#held.length === 0) return chunk;
    const first = this.#delimiter.subarray(CRLF.length);
    if (this.#held !== CRLF || !chunk.subarray(0, first.length).equals(first))
      return Buffer.concat([this.#held, chunk]);
    this.#state = 'head';
    return chunk.subarray(first.length);
  }

  /** Throws `multipart.truncated` unless the closing delimiter was read. */
  finish(): void {
    if (this.#state !== 'epilogue') {
      throw new MultipartError('truncated', 'The form ends before its closing delimiter.');
    }
  }

  /** End of the headers after a delimiter; undefined when more bytes are needed. */
  #headEnd(rest: Buffer): number | 'epilogue' | undefined {
    if (rest[0] === DASH) {
      if (rest.length === 1) return undefined;
      if (rest[1] === DASH) return 'epilogue';
      throw new MultipartError('head-malformed', 'A delimiter is followed by neither a line end nor "--".');
    }
    const end = rest.indexOf(HEAD_END);
    if (end > this.#headBytes || (end < 0 && rest.length > this.#headBytes + HEAD_END.length)) {
      throw new MultipartError('head-too-large', `The headers of a part exceed ${this.#headBytes} bytes.`);
    }
    return end < 0 ? undefined : end;
  }

  #openPart(head: Buffer): MultipartEvent {
    this.#partsSeen += 1;
    if (this.#partsSeen > this.#parts) {
      throw new MultipartError('too-many-parts', `The form has more than ${this.#parts} parts.`);
    }
    const [padding = '', ...lines] = decodeText(head).split('\r\n');
    if (padding !== '' && !/^[ \t]*$/.test(padding)) {
      throw new MultipartError('head-malformed', 'A delimiter is followed by neither a line end nor "--".');
    }
    let disposition: string | undefined;
    let contentType: string | undefined;
    for (const line of unfold(lines)) {
      const colon = line.indexOf(':');
      if (colon < 1) throw new MultipartError('head-malformed', 'A line of a part has no header name.');
      const name = line.slice(0, colon).trim().toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (name === 'content-disposition') disposition ??= value;
      if (name === 'content-type') contentType ??= value;
      // RFC 7578 §4.7 deprecates the header; the stored bytes would be the encoded ones, not the file's.
      if (name === 'content-transfer-encoding' && !/^(?:7bit|8bit|binary)$/i.test(value)) {
        throw new MultipartError('encoding-unsupported', 'Parts must be sent as they are, not encoded.');
      }
    }
    const given = disposition === undefined ? undefined : parameters(dropToken(disposition));
    return {
      type: 'part',
      name: formText(given?.get('name')) ?? '',
      fileName:
        extendedValue(given?.get('filename*')) ??
        formText(wordsText(given?.get('filename'))) ??
        sectionedValue(given, 'filename'),
      contentType,
    };
  }

  /** Number of bytes at the end of `bytes` that may start a delimiter. */
  #possibleStart(bytes: Buffer): number {
    const longest = Math.min(this.#delimiter.length - 1, bytes.length);
    let from = bytes.indexOf(CR, bytes.length - longest);
    while (from >= 0) {
      const length = bytes.length - from;
      if (bytes.compare(this.#delimiter, 0, length, from) === 0) return length;
      from = bytes.indexOf(CR, from + 1);
    }
    return 0;
  }
}

const EMPTY = Buffer.alloc(0);

/** Header lines that begin with a blank continue the line before. */
function unfold(lines: readonly string[]): string[] {
  const whole: string[] = [];
  for (const line of lines) {
    if ((line.startsWith(' ') || line.startsWith('\t')) && whole.length > 0)
      whole.push(`${whole.pop()} ${line.trim()}`);
    else whole.push(line);
  }
  return whole;
}

/** `form-data; a=b` → `; a=b`. */
function dropToken(value: string): string {
  const semicolon = value.indexOf(';');
  return semicolon < 0 ? '' : value.slice(semicolon);
}

/** `name=value` pairs after each `;`, names in lower case; the first of each name counts. */
function parameters(text: string): Map<string, string> {
  const found = new Map<string, string>();
  const pair = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^;]*))/g;
  for (const match of text.matchAll(pair)) {
    const name = match[1]?.toLowerCase();
    if (name === undefined || found.has(name)) continue;
    // Only these two characters are escaped: some clients send whole Windows paths with single backslashes.
    found.set(name, match[2]?.replace(/\\(["\\])/g, '$1') ?? (match[3] ?? '').trim());
  }
  return found;
}

/** Decodes the escapes of names in forms. Source: HTML Living Standard, "multipart/form-data encoding algorithm". */
function formText(value: string | undefined): string | undefined {
  return value?.includes('%') ? value.replace(/%(?:22|0[ad])/gi, decodeURIComponent) : value;
}

/** `UTF-8''na%C3%AFve.pdf` → `naïve.pdf`; undefined for other forms. */
function extendedValue(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const match = /^(utf-8|iso-8859-1)'[^']*'(.*)$/i.exec(value);
  if (match === null) return undefined;
  const [, charset = '', encoded = ''] = match;
  if (!/^(?:[^%]|%[0-9a-f]{2})*$/i.test(encoded)) return undefined;
  const bytes = encoded.replace(/%(..)/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const raw = Buffer.from(bytes, 'latin1');
  return decoded(charset, raw);
}

/**
 * Joins a value in sections (`filename*0*`, `filename*1`, …), as libraries for mail write long names. The encoded ones are
 * decoded together: a character may be divided between two. Undefined without a first section.
 */
function sectionedValue(given: ReadonlyMap<string, string> | undefined, name: string): string | undefined {
  const isEncoded = given?.has(`${name}*0*`) === true;
  let joined: string | undefined;
  for (let index = 0; ; index++) {
    const encoded = given?.get(`${name}*${index}*`);
    const plain = given?.get(`${name}*${index}`);
    const section = encoded ?? (isEncoded && plain !== undefined ? encodeURIComponent(plain) : plain);
    if (section === undefined) return isEncoded ? extendedValue(joined) : joined;
    joined = `${joined ?? ''}${section}`;
  }
}

/**
 * Decodes the encoded words of a name (RFC 2047), which libraries of .NET and Java send although forms do not use them.
 * White space between two words does not count. A word that cannot be decoded stays as it is, with its neighbours.
 */
function wordsText(value: string | undefined): string | undefined {
  if (!value?.includes('=?')) return value;
  return value.replace(/=\?[^?\s]+\?[bq]\?[^?\s]*\?=(?:\s+=\?[^?\s]+\?[bq]\?[^?\s]*\?=)*/gi, (words) => {
    let text = '';
    let bytes = EMPTY;
    let charset = '';
    for (const word of words.split(/\s+/)) {
      const [, given = '', kind = '', encoded = ''] = word.split('?');
      // RFC 2231 §5: a language may follow.
      const [name = ''] = given.toLowerCase().split('*');
      if (name !== charset) {
        const before = decoded(charset, bytes);
        if (before === undefined) return words;
        text += before;
        bytes = EMPTY;
        charset = name;
      }
      // A character may be divided between two words.
      bytes = Buffer.concat([bytes, /b/i.test(kind) ? Buffer.from(encoded, 'base64') : quotedBytes(encoded)]);
    }
    const last = decoded(charset, bytes);
    return last === undefined ? words : text + last;
  });
}

/** Bytes of the Q encoding. Source: RFC 2047 §4.2. */
function quotedBytes(encoded: string): Buffer {
  const octets = encoded
    .replaceAll('_', ' ')
    .replace(/=([\da-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
  return Buffer.from(octets, 'latin1');
}

/** UTF-8, as RFC 7578 §5.1 expects; other bytes are taken as Windows-1252, as browsers do with Latin-1. */
function decodeText(bytes: Buffer): string {
  // A decoder costs more than all else of a part.
  if (isAscii(bytes)) return bytes.toString('latin1');
  return decoded('utf-8', bytes) ?? decodeWindows1252(bytes);
}

/** Undefined: the charset is unknown, or the bytes are not of it. */
function decoded(charset: string, bytes: Buffer): string | undefined {
  if (bytes.length === 0) return '';
  try {
    const decoder = new TextDecoder(charset, { fatal: true, ignoreBOM: true });
    return decoder.encoding === 'windows-1252' ? decodeWindows1252(bytes) : decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
