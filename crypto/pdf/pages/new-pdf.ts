/** Writes a new PDF object by object, in bounded memory (ISO 32000-2, 7.5). */
import { createHash } from 'node:crypto';
import type { Target } from '../../core/files.ts';
import { CryptoError } from '../../core/types.ts';
import type { Reference } from '../syntax/values.ts';
import { type ObjectSink, referenceText } from '../update/incremental-update.ts';

/** Position to roll back to when a part fails. */
interface Mark {
  readonly length: number;
  readonly offsets: number;
}

/** PDF 1.7, supported by every reader, and four bytes that mark the file as binary. */
const HEADER = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1');
/** Most objects; a table of them takes ten megabytes. */
const MAX_OBJECTS = 500_000;
/** A table has ten digits for an offset. */
const MAX_BYTES = 9_999_999_999;
/** Bytes written in one call. */
const BUFFER_BYTES = 256 << 10;

export class NewPdf implements ObjectSink {
  readonly #target: Target;
  readonly #limit: number;
  /** Offsets by number; 0 = not yet written. */
  readonly #offsets: number[] = [0];
  #buffered: Buffer[] = [];
  #waiting = 0;

  /** @param limit most bytes of the file */
  constructor(target: Target, limit: number = MAX_BYTES) {
    this.#target = target;
    this.#limit = Math.min(limit, MAX_BYTES);
    this.#append(HEADER);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#target.length + this.#waiting;
  }

  /** Reserves a number for an object to be written. @throws {CryptoError} `input.too-large` */
  reserve(): Reference {
    if (this.#offsets.length > MAX_OBJECTS) throw tooLarge(`more than ${MAX_OBJECTS} objects`);
    return { number: this.#offsets.push(0) - 1, generation: 0 };
  }

  /** @throws {CryptoError} `input.too-large` */
  put(reference: Reference, body: string): void {
    this.#startObject(reference);
    this.#append(Buffer.from(`${reference.number} 0 obj\n${body}\nendobj\n`, 'latin1'));
  }

  add(body: string): Reference {
    const reference = this.reserve();
    this.put(reference, body);
    return reference;
  }

  /** @param dict keys and values without length @param data of `length` bytes in all */
  writeStream(reference: Reference, dict: string, length: number, data: Iterable<Buffer>): void {
    this.#startObject(reference);
    this.#append(Buffer.from(`${reference.number} 0 obj\n<<${dict}/Length ${length}>>\nstream\n`, 'latin1'));
    for (const chunk of data) this.#append(chunk);
    this.#append(Buffer.from('\nendstream\nendobj\n', 'latin1'));
  }

  mark(): Mark {
    this.#flush();
    return { length: this.#target.length, offsets: this.#offsets.length };
  }

  /** Rolls back to the mark; numbers reserved before it stay reserved. */
  rollbackTo({ length, offsets }: Mark): void {
    this.#buffered = [];
    this.#waiting = 0;
    this.#target.truncate(length);
    this.#offsets.length = offsets;
    for (let number = 0; number < offsets; number++) {
      if ((this.#offsets[number] ?? 0) >= length) this.#offsets[number] = 0;
    }
  }

  /**
   * Writes cross-reference and trailer; equal documents have equal identifiers. @param seed identifies the sources of
   * the document
   */
  finish(root: Reference, info: Reference, seed: string): void {
    const at = this.length;
    const size = this.#offsets.length;
    this.#append(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n`, 'latin1'));
    let rows = '';
    for (let number = 1; number < size; number++) {
      const offset = this.#offsets[number] ?? 0;
      rows += offset === 0 ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`;
      if (rows.length > BUFFER_BYTES) {
        this.#append(Buffer.from(rows, 'latin1'));
        rows = '';
      }
    }
    const id = createHash('sha256').update(`${seed} ${at}`).digest('hex').slice(0, 32);
    this.#append(
      Buffer.from(
        `${rows}trailer\n<</Size ${size}/Root ${referenceText(root)}/Info ${referenceText(info)}` +
          `/ID[<${id}><${id}>]>>\nstartxref\n${at}\n%%EOF\n`,
        'latin1',
      ),
    );
    this.#flush();
  }

  #startObject({ number }: Reference): void {
    this.#offsets[number] = this.length;
  }

  #append(bytes: Buffer): void {
    if (this.length + bytes.length > this.#limit) throw tooLarge(`more than ${this.#limit} bytes`);
    // Chunks of a file are only valid until the next one is read.
    this.#buffered.push(bytes.length < BUFFER_BYTES ? Buffer.from(bytes) : bytes);
    this.#waiting += bytes.length;
    if (this.#waiting >= BUFFER_BYTES) this.#flush();
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#target.write(...this.#buffered);
    this.#buffered = [];
    this.#waiting = 0;
  }
}

function tooLarge(what: string): CryptoError {
  return new CryptoError('input.too-large', `The PDF to be made would have ${what}.`);
}
