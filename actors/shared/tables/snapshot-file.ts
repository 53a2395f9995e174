/**
 * A file of numbers and bytes with a head, written and read in parts: whole and as it was written, or not at all.
 *
 * | part | content |
 * |---|---|
 * | first | the parts, at most 4 MiB each |
 * | then | JSON: name, head, length and CRC-32 of each part |
 * | last 8 bytes | length and CRC-32 of that JSON |
 */
import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';

const PART_BYTES = 1 << 22;
const TAIL_BYTES = 8;
const MAX_HEAD_BYTES = 1 << 28;
/** Share of the disk that stays free. */
const LEFT_FREE = 0.1;

export type Bytes = Float64Array | Uint32Array | Uint16Array | Uint8Array;

interface Head {
  readonly name: string;
  readonly about: unknown;
  readonly parts: readonly (readonly [bytes: number, crc: number])[];
}

function partsOf(bytes: Bytes): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  const all = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < all.length; at += PART_BYTES) parts.push(all.subarray(at, at + PART_BYTES));
  return parts;
}

/** True if the disk has room for so many bytes. */
export async function hasRoom(folder: string, bytes: number): Promise<boolean> {
  await mkdir(folder, { recursive: true, mode: 0o750 });
  const { bavail, blocks, bsize } = await statfs(folder);
  return bavail * bsize - bytes > blocks * bsize * LEFT_FREE;
}

/** Writes a file, or none. @param write passes the content to `add`, and returns the head */
export async function writeSnapshotFile(
  path: string,
  name: string,
  write: (add: (bytes: Bytes) => Promise<void>) => Promise<unknown>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const file = await open(path, 'w', 0o640);
  const parts: [number, number][] = [];
  try {
    const about = await write(async (bytes) => {
      for (const part of partsOf(bytes)) {
        parts.push([part.length, crc32(part)]);
        await file.writeFile(part);
      }
    });
    const head = Buffer.from(JSON.stringify({ name, about, parts } satisfies Head));
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeUInt32LE(head.length, 0);
    tail.writeUInt32LE(crc32(head), 4);
    await file.writeFile(Buffer.concat([head, tail]));
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
  await file.close();
}

/** Reads a file. @throws for one that is not as it was written */
export class SnapshotFile {
  readonly #file: FileHandle;
  readonly #head: Head;
  #next = 0;
  #at = 0;

  private constructor(file: FileHandle, head: Head) {
    this.#file = file;
    this.#head = head;
  }

  static async open(path: string): Promise<SnapshotFile> {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const tail = await readAt(file, Buffer.alloc(TAIL_BYTES), size - TAIL_BYTES);
      const length = tail.readUInt32LE(0);
      if (length > MAX_HEAD_BYTES) throw new RangeError(`${path} has a head of ${length} bytes.`);
      const head = await readAt(file, Buffer.alloc(length), size - TAIL_BYTES - length);
      if (crc32(head) !== tail.readUInt32LE(4)) throw new RangeError(`${path} has another head.`);
      return new SnapshotFile(file, JSON.parse(head.toString()));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get name(): string {
    return this.#head.name;
  }

  get about(): unknown {
    return this.#head.about;
  }

  /** Reads as much as was added. */
  async read<Into extends Bytes>(into: Into): Promise<Into> {
    for (const part of partsOf(into)) {
      const [bytes, crc] = this.#head.parts[this.#next] ?? [];
      this.#next += 1;
      if (bytes !== part.length) throw new RangeError(`Part ${this.#next} has ${bytes} bytes.`);
      await readAt(this.#file, part, this.#at);
      this.#at += part.length;
      if (crc32(part) !== crc) throw new RangeError(`Part ${this.#next} has other bytes.`);
    }
    return into;
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

async function readAt<Into extends Uint8Array>(file: FileHandle, into: Into, at: number): Promise<Into> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await file.read(into, done, into.length - done, at + done);
    if (bytesRead === 0) throw new RangeError('The file ends too early.');
    done += bytesRead;
  }
  return into;
}
