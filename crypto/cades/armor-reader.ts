/** Reads the bytes of a signature that is encoded as text, at any size: PEM (RFC 7468 §8), MIME, or bare Base64. */

import { IN_MEMORY_BYTES, type Source } from '../core/files.ts';
import { HEADER_BYTES, MAX_ENCODINGS, type TextEncoding, textEncodingOf } from '../core/header-format.ts';
import { CryptoError } from '../core/types.ts';

const END = /\r?\n?-----END (PKCS7|CMS|PKCS #7 SIGNED DATA)-----\s*$/;
const FIRST_END = /\r?\n?-----END (PKCS7|CMS|PKCS #7 SIGNED DATA)-----/;
const NEXT_BEGIN = /-----BEGIN (PKCS7|CMS|PKCS #7 SIGNED DATA)-----/;

/** Most bytes of the closing label, or of the white space at the end of other forms. */
const LABEL_ROOM = 256;

/** Texts up to this size, in bytes, are decoded whole with any line lengths; longer ones need lines of one length. */
const IRREGULAR_LIMIT = 4 << 20;

/** Most characters of a longer text decoded at once, so that the chunks stay small. */
const CHUNK_CHARACTERS = 48 << 10;

/** Returns how the outermost layer of a file is encoded as text; undefined for DER and BER. */
export function textEncoding(file: Source): TextEncoding | undefined {
  return textEncodingOf(file.read(0, HEADER_BYTES));
}

/**
 * Returns what stands behind the first signature of a file in PEM: `cat signature.pem certificate.pem` makes such files. Larger
 * ones count as having nothing, and are refused for what they have.
 */
export function behindArmor(file: Source): 'nothing' | 'text' | 'signature' {
  const encoding = textEncoding(file);
  if (encoding?.form !== 'pem' || file.size - encoding.start > IRREGULAR_LIMIT) return 'nothing';
  const rest = file.read(encoding.start, file.size - encoding.start).toString('latin1');
  const found = FIRST_END.exec(rest);
  const behind = found === null ? '' : rest.slice(found.index + found[0].length);
  return behind.trim() === '' ? 'nothing' : NEXT_BEGIN.test(behind) ? 'signature' : 'text';
}

/**
 * Opens the DER or BER of a signature file, through several layers of text if need be; closing the result closes the
 * file.
 * @param first reads the first signature of a file in PEM and leaves what follows. @default a file with more is refused
 * @throws {CryptoError} `cms.malformed` when the text is not Base64 or its end is missing
 */
export function signatureSource(file: Source, first?: 'first'): Source {
  let source = file;
  for (let layer = 0; layer < MAX_ENCODINGS; layer++) {
    const encoding = textEncoding(source);
    if (encoding === undefined) {
      if (/^\s*-----BEGIN /.test(source.read(0, LABEL_ROOM).toString('latin1')))
        throw malformed('its labels are not those of a signature');
      return source;
    }
    source = decodedSource(
      source,
      encoding,
      layer === 0 && first !== undefined && behindArmor(file) !== 'nothing',
    );
  }
  return source;
}

function decodedSource(file: Source, { form, start }: TextEncoding, hasMore: boolean): Source {
  if (hasMore) {
    const text = file.read(start, file.size - start).toString('latin1');
    return decodedWhole(file, start, start + (FIRST_END.exec(text)?.index ?? 0));
  }
  const room = Math.min(file.size - start, LABEL_ROOM);
  const end = file.read(file.size - room, room).toString('latin1');
  const closing = form === 'pem' ? END.exec(end)?.index : end.trimEnd().length;
  if (closing === undefined) throw malformed('its labels are not those of a signature');
  const to = file.size - room + closing;
  if (to <= start) throw malformed('there is nothing in it');
  return to - start <= IRREGULAR_LIMIT ? decodedWhole(file, start, to) : new ArmoredSource(file, start, to);
}

function malformed(reason: string): CryptoError {
  return new CryptoError('cms.malformed', `The text of the file can't be read: ${reason}.`);
}

/** Decodes Base64 without white space; `Buffer.from` alone would ignore invalid characters. */
function decode(text: string): Buffer {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) throw malformed('it is not Base64');
  return Buffer.from(text, 'base64');
}

function decodedWhole(file: Source, from: number, to: number): Source {
  const text = file.read(from, to - from).toString('latin1');
  const bytes = decode(text.replace(/\s+/g, ''));
  return {
    path: file.path,
    size: bytes.length,
    mtimeMs: file.mtimeMs,
    inode: file.inode,
    read(offset, length) {
      const at = Math.max(offset, 0);
      return bytes.subarray(at, at + Math.max(length, 0));
    },
    *chunks(start = 0, end = bytes.length) {
      for (let at = start; at < Math.min(end, bytes.length); at += IN_MEMORY_BYTES) {
        yield bytes.subarray(at, Math.min(at + IN_MEMORY_BYTES, end));
      }
    },
    assertUnchanged: () => file.assertUnchanged(),
    close: () => file.close(),
  };
}

/** Base64 in lines of one length, or in a single line, so that the position of every byte can be computed. */
class ArmoredSource implements Source {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
  readonly inode: string;
  readonly #file: Source;
  readonly #from: number;
  readonly #to: number;
  /** Characters of a line without and with its line ending. */
  readonly #characters: number;
  readonly #stride: number;

  constructor(file: Source, from: number, to: number) {
    const first = /^([^\r\n]*)(\r?\n)/.exec(file.read(from, 1024).toString('latin1'));
    const [, line = '', ending = ''] = first ?? [];
    // Without line ends, any division will do.
    const characters = first === null ? CHUNK_CHARACTERS : line.length;
    if (characters === 0 || characters % 4 !== 0) throw malformed('its lines are of no usual length');
    this.path = file.path;
    this.mtimeMs = file.mtimeMs;
    this.inode = file.inode;
    this.#file = file;
    this.#from = from;
    this.#to = to;
    this.#characters = characters;
    this.#stride = characters + ending.length;
    const lines = Math.floor((to - from) / this.#stride);
    const last = (to - from) % this.#stride;
    const padding = /={0,2}$/.exec(file.read(to - 2, 2).toString('latin1'))?.[0].length ?? 0;
    this.size = ((lines * this.#characters + last) / 4) * 3 - padding;
    if (!Number.isInteger(this.size)) throw malformed('its lines are not of one length');
  }

  read(offset: number, length: number): Buffer {
    const start = Math.min(Math.max(offset, 0), this.size);
    const end = Math.min(start + Math.max(length, 0), this.size);
    const bytes = Buffer.allocUnsafe(end - start);
    for (let at = start; at < end; at += CHUNK_CHARACTERS) {
      this.#decode(at, Math.min(at + CHUNK_CHARACTERS, end)).copy(bytes, at - start);
    }
    return bytes;
  }

  *chunks(from = 0, to = this.size): Generator<Buffer> {
    const end = Math.min(to, this.size);
    for (let at = from; at < end; at += CHUNK_CHARACTERS)
      yield this.#decode(at, Math.min(at + CHUNK_CHARACTERS, end));
  }

  #decode(start: number, end: number): Buffer {
    const perLine = (this.#characters / 4) * 3;
    const firstLine = Math.floor(start / perLine);
    const lines = Math.ceil(end / perLine) - firstLine;
    const at = this.#from + firstLine * this.#stride;
    const raw = this.#file.read(at, Math.min(lines * this.#stride, this.#to - at));
    const bytes = decode(this.#withoutEndings(raw));
    const skip = start - firstLine * perLine;
    if (bytes.length < skip + end - start) throw malformed('its lines are not of one length');
    return bytes.subarray(skip, skip + end - start);
  }

  #withoutEndings(raw: Buffer): string {
    const text = Buffer.allocUnsafe(raw.length);
    let length = 0;
    for (let from = 0; from < raw.length; from += this.#stride) {
      const end = from + this.#characters;
      length += raw.copy(text, length, from, end);
      for (let at = end; at < Math.min(from + this.#stride, raw.length); at++) {
        if (raw[at] !== 0x0a && raw[at] !== 0x0d) throw malformed('its lines are not of one length');
      }
    }
    return text.toString('latin1', 0, length);
  }

  assertUnchanged(): void {
    this.#file.assertUnchanged();
  }

  close(): void {
    this.#file.close();
  }
}
