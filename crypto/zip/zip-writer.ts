/** Writes ZIP files of stored members; equal members and time give equal bytes. */
import type { ZipEntry } from './zip-directory.ts';
import {
  centralRecord,
  dosTime,
  endRecords,
  FLAG,
  localRecord,
  METHOD,
  type MemberHeader,
} from './zip-records.ts';

/** Receives the bytes in order. */
interface ZipSink {
  write(...parts: readonly Uint8Array[]): void;
}

/** A member to write. */
interface NewMember {
  readonly name: string;
  /** Length in bytes. */
  readonly size: number;
  readonly crc32: number;
}

const VERSION = 20;
const NOTHING = Buffer.alloc(0);

export class ZipWriter {
  readonly #sink: ZipSink;
  readonly #time: { readonly time: number; readonly date: number };
  readonly #records: Buffer[] = [];
  #at = 0;

  /** @param at modification time of the members, milliseconds since the epoch */
  constructor(sink: ZipSink, at: number) {
    this.#sink = sink;
    this.#time = dosTime(at);
  }

  /** Adds a member; its bytes must match `size` and `crc32`. */
  add({ name, size, crc32 }: NewMember, pieces: Iterable<Uint8Array>): void {
    const bytes = Buffer.from(name);
    const header: MemberHeader = {
      ...this.#time,
      madeBy: VERSION,
      needed: VERSION,
      // ASCII is the same with and without the flag; container readers compare `mimetype` byte by byte.
      flags: bytes.length === name.length ? 0 : FLAG.utf8,
      method: METHOD.stored,
      crc32,
      compressed: size,
      size,
      name: bytes,
      extra: NOTHING,
      comment: NOTHING,
      internalAttributes: 0,
      externalAttributes: 0,
    };
    this.#records.push(centralRecord(header, this.#at));
    this.#put(localRecord(header));
    for (const piece of pieces) this.#put(piece);
  }

  /** Copies a member of another file, including its header. @param pieces from `start` to `end` of the entry */
  addStored({ header }: ZipEntry, pieces: Iterable<Uint8Array>): void {
    this.#records.push(centralRecord(header, this.#at));
    for (const piece of pieces) this.#put(piece);
  }

  finish(comment: Buffer = NOTHING): void {
    const directory = {
      offset: this.#at,
      length: this.#records.reduce((sum, { length }) => sum + length, 0),
      count: this.#records.length,
    };
    this.#sink.write(Buffer.concat([...this.#records, endRecords(directory, comment)]));
  }

  #put(bytes: Uint8Array): void {
    this.#sink.write(bytes);
    this.#at += bytes.length;
  }
}
