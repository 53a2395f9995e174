/**
 * A PDF written from its first byte on, object by object, in bounded memory (ISO 32000-2, 7.5).
 */
import { createHash } from 'node:crypto';
import type { Target } from '../files/target.ts';
import type { ObjectSink } from '../pades/appearance/stream-object.ts';
import { referenceText } from '../pades/draft.ts';
import type { Reference } from '../pdf/index.ts';
import { CryptoError } from '../types.ts';

/** The state to go back to when what was written since turns out to be worthless. */
export interface Mark {
  readonly length: number;
  readonly offsets: number;
}

/** Known by every reader: 1.7, and four bytes that tell other programs that the file is no text. */
const HEADER = Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1');
/** More objects than any real document has; a table of them takes ten megabytes. */
const MOST_OBJECTS = 500_000;
/** Ten digits are all a table has for an offset. */
const MOST_BYTES = 9_999_999_999;
/** Written together, bytes. */
const GATHERED = 256 << 10;

export class NewPdf implements ObjectSink {
  readonly #target: Target;
  readonly #limit: number;
  /** By number; 0 = nothing written yet. */
  readonly #offsets: number[] = [0];
  #gathered: Buffer[] = [];
  #waiting = 0;

  /** @param limit bytes the file may have */
  constructor(target: Target, limit: number = MOST_BYTES) {
    this.#target = target;
    this.#limit = Math.min(limit, MOST_BYTES);
    this.#append(HEADER);
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#target.length + this.#waiting;
  }

  /** A number for an object that is still to be described. @throws {CryptoError} `input.too-large` */
  reserve(): Reference {
    if (this.#offsets.length > MOST_OBJECTS) throw tooLarge(`more than ${MOST_OBJECTS} objects`);
    return { number: this.#offsets.push(0) - 1, generation: 0 };
  }

  /** @throws {CryptoError} `input.too-large` */
  put(reference: Reference, body: string): void {
    this.#begin(reference);
    this.#append(Buffer.from(`${reference.number} 0 obj\n${body}\nendobj\n`, 'latin1'));
  }

  add(body: string): Reference {
    const reference = this.reserve();
    this.put(reference, body);
    return reference;
  }

  /** @param dict keys and values without length @param data of `length` bytes in all */
  putStream(reference: Reference, dict: string, length: number, data: Iterable<Buffer>): void {
    this.#begin(reference);
    this.#append(Buffer.from(`${reference.number} 0 obj\n<<${dict}/Length ${length}>>\nstream\n`, 'latin1'));
    for (const piece of data) this.#append(piece);
    this.#append(Buffer.from('\nendstream\nendobj\n', 'latin1'));
  }

  mark(): Mark {
    this.#flush();
    return { length: this.#target.length, offsets: this.#offsets.length };
  }

  /** Numbers reserved before the mark stay, and are to be described again. */
  backTo({ length, offsets }: Mark): void {
    this.#gathered = [];
    this.#waiting = 0;
    this.#target.cutTo(length);
    this.#offsets.length = offsets;
    for (let number = 0; number < offsets; number++) {
      if ((this.#offsets[number] ?? 0) >= length) this.#offsets[number] = 0;
    }
  }

  /** Writes the end; equal documents have equal identifiers. @param seed names what the document was made of */
  finish(root: Reference, info: Reference, seed: string): void {
    const at = this.length;
    const size = this.#offsets.length;
    this.#append(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n`, 'latin1'));
    let rows = '';
    for (let number = 1; number < size; number++) {
      const offset = this.#offsets[number] ?? 0;
      rows += offset === 0 ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`;
      if (rows.length > GATHERED) {
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

  #begin({ number }: Reference): void {
    this.#offsets[number] = this.length;
  }

  #append(bytes: Buffer): void {
    if (this.length + bytes.length > this.#limit) throw tooLarge(`more than ${this.#limit} bytes`);
    // Pieces of a file are only good until the next one is read.
    this.#gathered.push(bytes.length < GATHERED ? Buffer.from(bytes) : bytes);
    this.#waiting += bytes.length;
    if (this.#waiting >= GATHERED) this.#flush();
  }

  #flush(): void {
    if (this.#waiting === 0) return;
    this.#target.write(...this.#gathered);
    this.#gathered = [];
    this.#waiting = 0;
  }
}

function tooLarge(what: string): CryptoError {
  return new CryptoError('input.too-large', `The PDF to be made would have ${what}.`);
}
