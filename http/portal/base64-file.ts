/**
 * A file as Base64 inside a JSON text, made while it is sent: files of a hundred megabytes need a few hundred KiB.
 */
import type { FileHandle } from 'node:fs/promises';
import type { ByteSource } from '../reply.ts';

/** A multiple of three, so that no piece but the last is padded. */
const PIECE_BYTES = 192 * 1024 * 3;

/** `before` + the file in Base64 + `after`; read in order, from the start. */
export class Base64File implements ByteSource {
  readonly length: number;
  readonly #file: FileHandle;
  readonly #fileLength: number;
  readonly #after: string;
  #ready: Buffer;
  #taken = 0;
  #read = 0;
  #finished = false;

  constructor(file: FileHandle, fileLength: number, before: string, after: string) {
    this.#file = file;
    this.#fileLength = fileLength;
    this.#ready = Buffer.from(before);
    this.#after = after;
    this.length = Buffer.byteLength(before) + 4 * Math.ceil(fileLength / 3) + Buffer.byteLength(after);
  }

  async read(into: Buffer, offset: number, length: number): Promise<{ readonly bytesRead: number }> {
    if (this.#taken === this.#ready.length) await this.#refill();
    const bytesRead = this.#ready.copy(into, offset, this.#taken, this.#taken + length);
    this.#taken += bytesRead;
    return { bytesRead };
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #refill(): Promise<void> {
    this.#taken = 0;
    const wanted = Math.min(PIECE_BYTES, this.#fileLength - this.#read);
    if (wanted === 0) {
      this.#ready = Buffer.from(this.#finished ? '' : this.#after);
      this.#finished = true;
      return;
    }
    const piece = Buffer.allocUnsafe(wanted);
    let filled = 0;
    while (filled < wanted) {
      const { bytesRead } = await this.#file.read(piece, filled, wanted - filled, this.#read + filled);
      if (bytesRead === 0) throw new Error('The file became shorter while it was sent.');
      filled += bytesRead;
    }
    this.#read += wanted;
    this.#ready = Buffer.from(piece.toString('base64'), 'latin1');
  }
}
