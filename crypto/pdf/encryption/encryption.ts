/**
 * Reads and writes what an encrypted PDF holds, once its key is known (ISO 32000-2, 7.6).
 */
import { createHmac } from 'node:crypto';
import { mapStrings } from '../source-text.ts';
import { skipSpace, startsWith } from '../syntax.ts';
import {
  asDict,
  asInteger,
  asName,
  endOfValue,
  isArray,
  items,
  type PdfDict,
  type Piece,
  type Reference,
  type StringCipher,
} from '../values.ts';
import { BLOCK, type CryptMethod, openBytes, sealBytes } from './crypt-method.ts';

/** What the file's permissions let somebody do who opens it without a password (table 22). */
export interface FormPermissions {
  /** Fill in fields that exist, signature fields included. */
  readonly fillFields: boolean;
  /** Make new fields. */
  readonly createFields: boolean;
}

export interface EncryptionParts {
  readonly key: Buffer;
  readonly strings: CryptMethod;
  readonly streams: CryptMethod;
  readonly embeddedFiles: CryptMethod;
  /** Methods by the names that streams may call them by. */
  readonly filters: ReadonlyMap<string, CryptMethod>;
  readonly encryptMetadata: boolean;
  readonly permissions: FormPermissions;
  /** Number of the encryption dictionary, which is not encrypted itself; undefined when it is in the trailer. */
  readonly dictNumber: number | undefined;
}

export class Encryption {
  readonly permissions: FormPermissions;
  readonly #parts: EncryptionParts;
  constructor(parts: EncryptionParts) {
    this.#parts = parts;
    this.permissions = parts.permissions;
  }

  /** For the strings of an object that lies in the file itself; undefined when they are clear. */
  strings(object: Reference): StringCipher | undefined {
    const { key, strings, dictNumber } = this.#parts;
    if (strings === 'identity' || object.number === dictNumber) return undefined;
    return { open: (bytes) => openBytes(strings, key, object, bytes) };
  }

  /** The data of a stream, decrypted and still packed. */
  openStream(object: Reference, dict: PdfDict, data: Buffer): Buffer {
    return openBytes(this.#methodOf(dict), this.#parts.key, object, data);
  }

  /**
   * The value of an object to be written, with its strings and stream data encrypted.
   * @param body clear, one byte per character; a stream names its length directly
   * @param seed tells this writing from others of the same object; equal seeds and bodies give equal bytes
   */
  seal(object: Reference, body: string, seed: string): string {
    const { key, strings } = this.#parts;
    const bytes = Buffer.from(body, 'latin1');
    const start = skipSpace(bytes, 0);
    const end = endOfValue(bytes, start);
    let count = 0;
    // Nobody who lacks the key can foretell these vectors, and two that are equal belong to equal data.
    const vector = (clear: Buffer): Buffer =>
      createHmac('sha256', key)
        .update(`${seed} ${object.number} ${object.generation} ${count++} `)
        .update(clear)
        .digest()
        .subarray(0, BLOCK);
    const text = (from: number, to: number): string =>
      strings === 'identity'
        ? bytes.toString('latin1', from, to)
        : mapStrings(bytes, from, to, (clear) => sealBytes(strings, key, object, clear, vector(clear)));
    const keyword = skipSpace(bytes, end);
    if (!startsWith(bytes, keyword, 'stream')) return text(0, bytes.length);
    const dict = asDict({ bytes, at: -1, start, end });
    const written = dict?.get('Length');
    const length = asInteger(written);
    const from = keyword + (bytes[keyword + 6] === 0x0d ? 8 : 7);
    if (dict === undefined || written === undefined || length === undefined || from + length > bytes.length) {
      throw new TypeError(`The stream to be written as object ${object.number} does not say how long it is.`);
    }
    const clear = bytes.subarray(from, from + length);
    const method = this.#methodOf(dict);
    const data = method === 'identity' ? clear : sealBytes(method, key, object, clear, vector(clear));
    return [
      `${text(0, written.start)}${data.length}${text(written.end, end)}`,
      bytes.toString('latin1', end, from),
      data.toString('latin1'),
      bytes.toString('latin1', from + length),
    ].join('');
  }

  #methodOf(dict: PdfDict): CryptMethod {
    const { filters, streams, embeddedFiles, encryptMetadata } = this.#parts;
    const type = asName(dict.get('Type'));
    // Needed before anything can be decrypted (7.5.8.2).
    if (type === 'XRef') return 'identity';
    const named = cryptFilterOf(dict);
    if (named !== undefined) return filters.get(named) ?? 'identity';
    if (type === 'Metadata' && !encryptMetadata) return 'identity';
    return type === 'EmbeddedFile' ? embeddedFiles : streams;
  }
}

/** The name a stream's own Crypt filter gives, which must be its first one (7.4.10). */
function cryptFilterOf(dict: PdfDict): string | undefined {
  const first = firstOf(dict.get('Filter'));
  if (asName(first) !== 'Crypt') return undefined;
  const parameters = firstOf(dict.get('DecodeParms'));
  return asName(parameters && asDict(parameters)?.get('Name')) ?? 'Identity';
}

function firstOf(piece: Piece | undefined): Piece | undefined {
  if (piece === undefined || !isArray(piece)) return piece;
  const [first] = items(piece);
  return first;
}
