/** Decrypts and encrypts the contents of a PDF with its file encryption key (ISO 32000-2, 7.6). */
import { createHmac } from 'node:crypto';
import { mapStrings } from '../syntax/strings.ts';
import { skipSpace, startsWith } from '../syntax/syntax.ts';
import {
  asDict,
  asInteger,
  asName,
  type ByteSlice,
  endOfValue,
  isArray,
  items,
  type PdfDict,
  type Reference,
  type StringCipher,
} from '../syntax/values.ts';
import { BLOCK, type CryptMethod, decryptBytes, encryptBytes } from './crypt-method.ts';

/** Permissions of a user who opens the file without the owner password (table 22). */
export interface FormPermissions {
  /** Fill in existing fields, signature fields included. */
  readonly fillFields: boolean;
  /** Create fields. */
  readonly createFields: boolean;
}

interface EncryptionSettings {
  readonly key: Buffer;
  readonly strings: CryptMethod;
  readonly streams: CryptMethod;
  readonly embeddedFiles: CryptMethod;
  /** Methods by the name of their crypt filter. */
  readonly filters: ReadonlyMap<string, CryptMethod>;
  readonly encryptMetadata: boolean;
  readonly permissions: FormPermissions;
  /** Number of the encryption dictionary, which is not encrypted; undefined for a direct object in the trailer. */
  readonly dictNumber: number | undefined;
}

export class Encryption {
  readonly permissions: FormPermissions;
  readonly #parts: EncryptionSettings;
  constructor(parts: EncryptionSettings) {
    this.#parts = parts;
    this.permissions = parts.permissions;
  }

  /** Returns the cipher for the strings of an object outside of object streams; undefined without encryption. */
  strings(object: Reference): StringCipher | undefined {
    const { key, strings, dictNumber } = this.#parts;
    if (strings === 'identity' || object.number === dictNumber) return undefined;
    return { open: (bytes) => decryptBytes(strings, key, object, bytes) };
  }

  /** Decrypts the data of a stream, which stays encoded. */
  openStream(object: Reference, dict: PdfDict, data: Buffer): Buffer {
    return decryptBytes(this.#methodOf(dict), this.#parts.key, object, data);
  }

  /**
   * Encrypts strings and stream data of an object.
   * @param body plaintext, one byte per character; a stream has a direct /Length
   * @param seed distinguishes this revision; equal seeds and bodies give equal bytes
   */
  encrypt(object: Reference, body: string, seed: string): string {
    const { key, strings } = this.#parts;
    const bytes = Buffer.from(body, 'latin1');
    const start = skipSpace(bytes, 0);
    const end = endOfValue(bytes, start);
    let count = 0;
    // The initialization vectors are unpredictable without the key, and equal ones belong to equal data.
    const vector = (clear: Buffer): Buffer =>
      createHmac('sha256', key)
        .update(`${seed} ${object.number} ${object.generation} ${count++} `)
        .update(clear)
        .digest()
        .subarray(0, BLOCK);
    const text = (from: number, to: number): string =>
      strings === 'identity'
        ? bytes.toString('latin1', from, to)
        : mapStrings(bytes, from, to, (clear) =>
            encryptBytes(strings, key, { object, clear, vector: vector(clear) }),
          );
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
    const data =
      method === 'identity' ? clear : encryptBytes(method, key, { object, clear, vector: vector(clear) });
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
    // Cross-reference streams are needed before decryption (7.5.8.2).
    if (type === 'XRef') return 'identity';
    const named = cryptFilterOf(dict);
    if (named !== undefined) return filters.get(named) ?? 'identity';
    if (type === 'Metadata' && !encryptMetadata) return 'identity';
    return type === 'EmbeddedFile' ? embeddedFiles : streams;
  }
}

/** Returns the name in a stream's own Crypt filter, which must be its first filter (7.4.10). */
function cryptFilterOf(dict: PdfDict): string | undefined {
  const first = firstOf(dict.get('Filter'));
  if (asName(first) !== 'Crypt') return undefined;
  const parameters = firstOf(dict.get('DecodeParms'));
  return asName(parameters && asDict(parameters)?.get('Name')) ?? 'Identity';
}

function firstOf(slice: ByteSlice | undefined): ByteSlice | undefined {
  if (slice === undefined || !isArray(slice)) return slice;
  const [first] = items(slice);
  return first;
}
